//! Errors in declarations: the module's header, variables, registers, functions.

use crate::Type;

/// A declaration is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum DeclarationError {
    #[error("the text has no `{0}`")]
    MissingHeader(&'static str),
    #[error("unknown PTX version {text}; the newest supported one is {}.{}", newest.0, newest.1)]
    UnknownVersion { text: String, newest: (u32, u32) },
    #[error("`{0}` is not a target")]
    UnknownTarget(String),
    #[error("{0}-bit addresses are not supported")]
    AddressSize(u64),
    #[error("unknown directive `{0}`")]
    UnknownDirective(String),
    #[error("not supported (yet): `{0}`")]
    Unsupported(String),
    #[error("`{0}` is declared twice")]
    Duplicate(String),
    #[error("`{name}` was declared differently before: {difference}")]
    Mismatch { name: String, difference: &'static str },
    #[error("an alignment is a power of two up to 4096, not {0}")]
    BadAlignment(u64),
    #[error("`{0}` is larger than any memory")]
    TooLarge(String),
    #[error("expanded, this would make the module far longer than its text")]
    TooManyCopies,
    #[error("`{0}` has no size")]
    MissingSize(String),
    #[error("a {what} cannot be declared here")]
    NotHere { what: &'static str },
    #[error("a variable of type `.{}` cannot be in `.{space}`", ty.name())]
    BadType { ty: Type, space: &'static str },
    #[error("{0} registers of one name are more than PTX allows")]
    TooManyRegisters(u64),
    #[error("`{0}` cannot have an initial value")]
    CannotInitialize(String),
    #[error("the initial value is larger than `{0}`")]
    InitializerTooLong(String),
    #[error("{found} cannot initialise a `.{}`", ty.name())]
    BadInitializer { ty: Type, found: &'static str },
    #[error("`.{directive}` takes {expected}")]
    BadDirective { directive: String, expected: &'static str },
    #[error("`.{directive}` needs {needed}")]
    NeedsDirective { directive: String, needed: &'static str },
    #[error("`.{directive}` needs `.target sm_{target}` or later")]
    NeedsTarget { directive: String, target: u32 },
    #[error("`{what}` needs `.version {}.{}` or later", version.0, version.1)]
    NeedsVersion { what: String, version: (u32, u32) },
    #[error("the kernel `{0}` cannot return a result")]
    KernelWithResult(String),
    #[error("`{0}` has several results, so each must be a `.reg`")]
    SeveralResults(String),
    #[error("the parameters of `{0}` take more than {1} bytes")]
    TooManyParameters(String, u64),
    #[error("`{alias}` cannot be an alias of `{of}`: {reason}")]
    BadAlias { alias: String, of: String, reason: &'static str },
}

impl DeclarationError {
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            DeclarationError::MissingHeader(".version") => "start the text with a line such as `.version 7.0`".into(),
            DeclarationError::MissingHeader(".target") => "put a line such as `.target sm_75` after `.version`".into(),
            DeclarationError::UnknownTarget(_) => "name one such as sm_75 or sm_90".into(),
            DeclarationError::AddressSize(_) => "compile for 64 bits: `.address_size 64`".into(),
            DeclarationError::MissingSize(_) => {
                "write its size in the brackets; only `.extern` and initialised arrays may leave it out".into()
            }
            DeclarationError::CannotInitialize(_) => "only `.global` and `.const` variables have initial values".into(),
            _ => return None,
        })
    }
}
