//! The host: labs, commands and reports, on the devices of the crate [`device`]. The program `host`
//! is a thin shell around this library.
//!
//! Data goes one way:
//!
//! ```text
//! cli -> labs (flags, data, reference) -> labs::flow (launch, check, time) -> report (table, JSON, CSV, Markdown)
//!                                              |
//!                                         device (GPU or simulator), timing
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`labs`] | one file for each lab, and the flow that they share |
//! | [`check`], [`run`] | PTX from any compiler: the command that validates it, and the one that runs its kernels |
//! | [`built_in`] | the labs' kernels, and a device with them |
//! | [`requirements`], [`baselines`], [`ci`] | goals, earlier counts, and what CI systems show of both |
//! | [`recorded`] | reports of kernels that another program launched |
//! | [`peers`] | the libraries that are timed beside kernels |
//! | [`predicted`] | the flags for predicted times, and what explains one |
//! | [`timing`] | how often to launch, and which number to report |
//! | `compare_times` | the command that compares the times of two runs: faster, slower, same, can't tell |
//! | [`report`] | a lab's results, and the formats that they are written in |
//! | [`npy`] | NumPy files |
//! | `orders` | other orders of blocks and warps, and how their results are compared |
//! | [`lines`], [`faults`] | the counts of each source line; what the sanitizer found |
//! | [`cli`], [`listing`], [`progress`], `messages`, `until_closed`, `terminal` | the program: arguments, lists, the progress bar, its output |
//!
//! ```
//! use device::DeviceChoice;
//! use host::labs::{self, Settings, transpose};
//!
//! # fn main() -> Result<(), device::Error> {
//! let device = device::open(DeviceChoice::Simulator, &host::built_in::options())?;
//! let matrix = labs::MatrixFlags { rows: Some(33), cols: Some(70), ..Default::default() };
//! let options = transpose::Options { matrix, variants: labs::Chosen::of(&["padded"]), ..Default::default() };
//! let report = labs::run::<transpose::Transpose>(&device, options, &Settings::default())?;
//! assert!(report.correct());
//! # Ok(())
//! # }
//! ```

pub mod baselines;
pub mod built_in;
pub mod check;
pub mod ci;
pub mod cli;
mod compare_times;
mod course;
pub mod faults;
mod flag_values;
pub mod labs;
mod limits;
pub mod lines;
pub mod listing;
mod litmus;
mod manual;
mod messages;
pub mod npy;
pub mod orders;
pub mod pattern;
pub mod peers;
pub mod predicted;
pub mod progress;
pub mod recorded;
pub mod registers;
pub mod report;
pub mod requirements;
pub mod run;
mod stopwatch;
mod terminal;
pub mod timing;
mod until_closed;

pub use wording::units;
