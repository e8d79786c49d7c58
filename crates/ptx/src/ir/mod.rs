//! The representation of a module.

mod asynchronous;
mod instruction;
mod layout;
mod lines;
mod location;
mod matrix;
mod module;
mod operand;
mod operation;
mod tensor;
mod texture;
mod types;
mod video;
mod warpgroup;

pub use asynchronous::*;
pub use instruction::*;
pub use layout::*;
pub(crate) use lines::LineTable;
pub use matrix::*;
pub use module::*;
pub use operand::*;
pub use operation::*;
pub use tensor::*;
pub use texture::*;
pub use types::*;
pub use video::*;
pub use warpgroup::*;
