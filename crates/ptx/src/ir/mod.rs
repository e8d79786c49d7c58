//! The representation of a module.

mod instruction;
mod module;
mod types;

pub use instruction::*;
pub(crate) use module::line_column;
pub use module::*;
pub use types::*;
