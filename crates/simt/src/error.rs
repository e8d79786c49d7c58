//! Errors of the calls that the host makes between launches: loading a module, and managing device
//! memory.

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
    Memory(MemoryError),
    #[error("cannot allocate the heap for `malloc`: {0}")]
    Heap(MemoryError),
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

/// Errors of device memory between launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The simulated device has no room left.
    #[error("out of device memory: {requested} bytes requested, {free} of {limit} bytes free")]
    OutOfMemory {
        /// Bytes requested.
        requested: u64,
        /// Bytes not in use.
        free: u64,
        /// Bytes that the device has.
        limit: u64,
    },
    /// The host has no room left for the device's memory.
    #[error("the host cannot allocate {requested} bytes for device memory")]
    HostOutOfMemory {
        /// Bytes requested.
        requested: u64,
    },
    /// No range of addresses is left that is as long.
    #[error("no addresses are left for {requested} bytes: the simulator has 8 TiB of them")]
    NoAddresses {
        /// Bytes requested.
        requested: u64,
    },
    /// The heap is in use, so its size cannot change.
    #[error("the heap has {bytes} bytes: its size cannot change once a program that uses it is loaded")]
    HeapInUse {
        /// Its size.
        bytes: u64,
    },
    /// A copy, fill or free outside any live allocation.
    #[error("{bytes} bytes at {address:#x} are not within one allocation")]
    NotAllocated {
        /// First address.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}
