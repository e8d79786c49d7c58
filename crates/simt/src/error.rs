//! Load errors: why a module, or one of its kernels, cannot be run. Decoding creates them; pure
//! data and messages.

use ptx::{Module, Span};

/// Why a module, or one of its kernels, cannot be run, and where in the PTX.
///
/// [`Program::load`](crate::Program::load) returns one when the module as a whole is at fault. An
/// unsupported instruction affects only the kernels that can reach it: launching these returns the
/// same error, and all others run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{module}:{line}:{column}: {}", self.described())]
pub struct LoadError {
    /// The module's name.
    pub module: String,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Column in the PTX, from 1.
    pub column: u32,
    /// The text of the instruction or declaration.
    pub text: String,
    /// What is wrong with it.
    pub reason: LoadErrorReason,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says what its fields are
pub enum LoadErrorReason {
    #[error("the simulator does not support {what}")]
    Unsupported { what: String },
    #[error("function `{name}` is called, but the module has no body for it")]
    NoBody { name: String },
    #[error(
        "`{name}` belongs to CUDA's device runtime: launches by kernels (dynamic parallelism) are not supported; launch each kernel from \
         the host"
    )]
    DeviceRuntime { name: String },
    #[error("variable `{name}` is extern, but the module does not define it")]
    ExternVariable { name: String },
    #[error("the call does not fit `{name}`: {what}")]
    CallMismatch { name: String, what: String },
    #[error("{what} cannot be used here")]
    Misplaced { what: String },
    #[error("cannot allocate the module's variables: {0}")]
    Memory(crate::MemoryError),
    #[error("cannot allocate the heap for `malloc`: {0}")]
    Heap(crate::MemoryError),
}

impl LoadError {
    /// What is wrong and the text of it: all but the position.
    pub fn described(&self) -> String {
        match self.text.as_str() {
            "" => self.reason.to_string(),
            text => format!("{}: `{text}`", self.reason),
        }
    }

    pub(crate) fn new(module: &Module, span: Span, reason: LoadErrorReason) -> Self {
        let (line, column) = module.line_column(span.start);
        Self { module: module.name.clone(), line, column, text: span_text(module, span), reason }
    }
}

/// The text of a span, on one line.
pub(crate) fn span_text(module: &Module, span: Span) -> String {
    let text = module.text.get(span.start as usize..span.end as usize).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
