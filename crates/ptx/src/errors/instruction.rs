//! Errors in opcodes and modifiers: unknown, unsupported, or not available for the module's
//! `.target` and `.version`.

/// An opcode, or its modifiers, are wrong or not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum InstructionError {
    #[error("unknown instruction `{0}`")]
    UnknownOpcode(String),
    #[error("not supported (yet): `{0}`")]
    Unsupported(String),
    #[error("`{opcode}` does not take the modifier `.{modifier}` here")]
    UnknownModifier { opcode: String, modifier: String },
    #[error("`{opcode}` needs {what} here, not `.{modifier}`")]
    OtherModifier { opcode: String, what: &'static str, modifier: String },
    #[error("`{opcode}` does not take the type `.{ty}`{}", behind(.with))]
    WrongType { opcode: String, ty: String, with: String },
    #[error("`{0}` needs a type")]
    MissingType(String),
    #[error("`{opcode}` needs {what}")]
    MissingModifier { opcode: String, what: &'static str },
    #[error("`{opcode}` of type `.{ty}` does not take the modifier `.{modifier}`")]
    ModifierOfType { opcode: String, ty: String, modifier: String },
    #[error("no variant `{0}`: incompatible shape, types or modifiers")]
    NoSuchProduct(String),
    #[error("no variant `{0}`: incompatible shape, type or layout")]
    NoSuchFragment(String),
    #[error("`{instruction}` needs `.target sm_{target}` or later")]
    NeedsTarget { instruction: String, target: u32 },
    #[error("`{instruction}` needs `.version {}.{}` or later", version.0, version.1)]
    NeedsVersion { instruction: String, version: (u32, u32) },
    #[error("`{instruction}` needs `.target {target}`")]
    OtherTarget { instruction: String, target: &'static str },
    #[error("a vector of {lanes} x `.{ty}` is too wide for one access")]
    VectorTooWide { lanes: u32, ty: String },
}

fn behind(modifiers: &str) -> String {
    if modifiers.is_empty() { String::new() } else { format!(" with `{modifiers}`") }
}

impl InstructionError {
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            InstructionError::MissingType(opcode) => format!("add one, for example `{opcode}.b32`"),
            InstructionError::VectorTooWide { .. } => "one access takes up to 16 bytes: use two".into(),
            _ => return None,
        })
    }
}
