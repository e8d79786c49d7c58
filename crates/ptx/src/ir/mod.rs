//! The representation of a module.

mod hopper;
mod instruction;
mod layout;
mod lines;
mod location;
mod module;
mod operand;
mod operation;
mod texture;
mod types;
mod video;

pub use hopper::asynchronous::*;
pub use hopper::matrix::*;
pub use hopper::tensor::*;
pub use hopper::warpgroup::*;
pub use instruction::*;
pub use layout::*;
pub(crate) use lines::LineTable;
pub use module::*;
pub use operand::*;
pub use operation::*;
pub use texture::*;
pub use types::*;
pub use video::*;
