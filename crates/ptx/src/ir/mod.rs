//! The representation of a module: plain data that `parser` and `typing` fill in and that `simt`
//! and `host` read.
//!
//! [`Module`] and what it declares are in `module`; a function's body is a list of [`Instruction`]s
//! (`instruction`), which name an operation (a file for each family) with its modifiers, types and
//! state spaces (`types`) and operands (`operand`). `names` gives values their words in PTX, for
//! `typing` and `print`. `effects` is the table of what an instruction reads and does. `lines` maps
//! bytes to lines and columns. Nothing here parses or checks: an operation that exists is one that
//! `typing` has accepted.

mod asynchronous;
mod compute;
mod effects;
mod instruction;
mod lanes;
mod lines;
mod matrix;
mod memory;
mod module;
mod names;
mod operand;
mod operation;
mod special;
mod tensor;
mod texture;
mod types;
mod video;
mod warpgroup;

pub use asynchronous::*;
pub use compute::*;
pub use effects::*;
pub use instruction::*;
pub use lanes::*;
pub(crate) use lines::LineTable;
pub use lines::Span;
pub use matrix::*;
pub use memory::*;
pub use module::*;
pub(crate) use names::FromName;
pub use operand::*;
pub(crate) use operation::ModeFlag;
pub use operation::*;
pub use special::*;
pub use tensor::*;
pub use texture::*;
pub use types::*;
pub use video::*;
pub use warpgroup::*;
