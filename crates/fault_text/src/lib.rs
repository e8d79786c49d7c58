//! Faults of kernels as text, with the lines of source that they are in: [`findings`] of the
//! sanitizer, and the [`trap`] that stopped a launch. The programs `host` and `learn`, and the
//! driver that runs on the simulator, all show faults this way. [`sources`] finds the files.

pub mod sources;
mod text;

pub use text::{findings, trap};
