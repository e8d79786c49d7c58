//! Errors in operands: how many, of what kind, how wide.

use crate::Type;

/// An operand does not fit its instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum OperandError {
    #[error("`{opcode}` takes {expected} here, not {found}")]
    Count { opcode: String, expected: String, found: usize },
    #[error("expected {expected}, found {found}")]
    Kind { expected: &'static str, found: &'static str },
    #[error("`{name}` is a `.{}`, which does not fit the type `.{}`", found.name(), expected.name())]
    Type { name: String, found: Type, expected: Type },
    #[error("`{name}` is a `.{}`, narrower than the type `.{}`", found.name(), expected.name())]
    TooNarrow { name: String, found: Type, expected: Type },
    #[error("`{name}` is a `.{}`, which cannot hold an address", found.name())]
    NotAnAddress { name: String, found: Type },
    #[error("{found} does not fit the type `.{}`", expected.name())]
    Constant { found: &'static str, expected: Type },
    #[error("an address does not fit the type `.{}`", .0.name())]
    AddressAs(Type),
    #[error("`{name}` is in `.{found}`, but the instruction accesses {expected}")]
    Space { name: String, found: &'static str, expected: String },
    #[error("absolute addresses are allowed only in `.local`")]
    AbsoluteAddress,
    #[error("a vector of {} is needed here, not one of {found}", counted(*.expected, "part"))]
    VectorLength { expected: usize, found: usize },
    #[error("the parts of the vector have {found} bits in total, but the type has {expected}")]
    PackedWidth { expected: u32, found: u32 },
    #[error("the size of a copy must be 4, 8 or 16")]
    CopySize,
    #[error("the size of a bulk copy must be a multiple of 16, and at most 1048560")]
    BulkCopySize,
    #[error("the constant must be from {low} to {high}")]
    OutOfRange { low: u64, high: u64 },
    #[error("the constant must be 1 or -1")]
    NotASign,
    #[error("the number of registers must be a multiple of 8 from 24 to 256")]
    RegisterCount,
    #[error("`{name}` has {}, not {found}", counted(*.expected, .what))]
    CallCount { name: String, what: &'static str, expected: usize, found: usize },
    #[error("{what} {index} of `{name}` has {expected} bytes, not {found}")]
    CallSize { name: String, what: &'static str, index: usize, expected: u64, found: u64 },
    #[error("`{0}` is a kernel, which cannot be called")]
    CallOfKernel(String),
    #[error("an indirect call needs a `.callprototype` or `.calltargets` after its arguments")]
    NoPrototype,
    #[error("the functions of `{0}` take different arguments, or return different results")]
    DifferentTargets(String),
    #[error("`.{selector}` is not a selector here; use {known}")]
    Selector { selector: String, known: &'static str },
    #[error("`{0}` cannot be written")]
    ReadOnly(String),
}

/// `1 operand`, `2 operands`
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl OperandError {
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            OperandError::Type { expected, .. } | OperandError::TooNarrow { expected, .. } => {
                format!("declare a register for it with `.reg .b{}`", expected.bits())
            }
            OperandError::NotAnAddress { .. } => "use a register of type `.b64` (or `.b32`) for an address".into(),
            OperandError::Constant { expected: Type::F32, .. } => "write 1.0, or 0f and 8 hexadecimal digits".into(),
            OperandError::Constant { expected: Type::F64, .. } => "write 1.0, or 0d and 16 hexadecimal digits".into(),
            OperandError::Space { .. } => "name the variable's own space in the instruction".into(),
            _ => return None,
        })
    }
}
