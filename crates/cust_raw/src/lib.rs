//! (under construction)
pub use cudarc::driver::sys::*;
