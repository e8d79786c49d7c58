//! Errors in names: not declared, or declared as something else.

use std::fmt;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NameKind {
    Register,
    VectorRegister,
    Predicate,
    SpecialRegister,
    Variable,
    Function,
    Label,
    BranchTargets,
    CallTargets,
    CallPrototype,
    File,
}

impl fmt::Display for NameKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NameKind::Register => "register",
            NameKind::VectorRegister => "vector register",
            NameKind::Predicate => "predicate register",
            NameKind::SpecialRegister => "special register",
            NameKind::Variable => "variable",
            NameKind::Function => "function",
            NameKind::Label => "label",
            NameKind::BranchTargets => "list of branch targets",
            NameKind::CallTargets => "list of call targets",
            NameKind::CallPrototype => "call prototype",
            NameKind::File => "file",
        })
    }
}

/// A name is not declared, or stands for something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum NameError {
    #[error("`{0}` is not declared")]
    Undeclared(String),
    #[error("there is no label `{0}` in this function")]
    NoLabel(String),
    #[error("`{name}` is beyond the {count} registers declared as `{prefix}<{count}>`")]
    BeyondRange { name: String, prefix: String, count: u32 },
    #[error("`{name}` is a {found}, not a {expected}")]
    WrongKind { name: String, expected: NameKind, found: NameKind },
    #[error("`{name}` has no part `.{part}`")]
    NoPart { name: String, part: String },
    #[error("`{0}` is a vector: name a part of it, such as `{0}.x`")]
    NeedsPart(String),
    #[error("`{0}` is a special register, which only `mov`, and `cvt` between integers, can read")]
    SpecialRegister(String),
    #[error("`.loc` names file {0}, but there is no `.file {0}`")]
    NoFile(u32),
}

impl NameError {
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            NameError::Undeclared(name) if name.starts_with('%') => {
                format!("declare it before its use, for example `.reg .b32 {name};`")
            }
            NameError::Undeclared(_) => "declare it before its use".into(),
            NameError::BeyondRange { .. } => "make the range longer".into(),
            _ => return None,
        })
    }
}
