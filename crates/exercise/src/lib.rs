//! The exercises, without a compiler: what their files say, runs of their kernels' PTX, and what is
//! counted there. `cargo learn` judges with it, and so does the site in a browser, where there are
//! no files and no compiler: exercises to explain come with the PTX of their kernels.
//!
//! ```text
//! files ─ goals_file ── data, device_data ── run ── questions
//!                                           fault
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`files`], [`wrong`], [`goals_file`] | the authors' files, as data; the language of goals is the crate `goals` |
//! | [`launches`] | the launches that a student's file asks for |
//! | [`data`], `device_data` | sizes and values, drawn from a seed; the same on a device |
//! | [`run`], [`fault`] | a run of PTX, and what goes wrong in it |
//! | [`questions`] | the answers to what a student predicts |
//! | [`obfuscation`] | obfuscates texts that give answers away |
//! | [`points`] | the points of each exercise |
//! | [`variant`] | other numbers and names for each class |
//!
//! *Invariant:* nothing here compiles, prints or writes.

pub mod data;
mod device_data;
mod error;
pub mod fault;
pub mod files;
pub mod goals_file;
pub mod launches;
pub mod obfuscation;
pub mod points;
pub mod questions;
pub mod run;
pub mod variant;
pub mod wrong;

pub use error::{Error, Result};
pub use files::Exercise;

/// The name of a file of kernels in rustc's messages and in the line information of its PTX.
pub const SOURCE: &str = "src/kernel.rs";
