//! The host: devices, buffers, launches, timing, labs and reports. The program `host` is a thin shell around this library.
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
//! | [`device`] | a GPU or the simulator behind one interface: buffers, launches by typed handles |
//! | [`labs`] | one file for each lab, and the flow that they share |
//! | [`check`], [`run`] | PTX from any compiler: the command that validates it, and the one that runs its kernels |
//! | [`peers`] | the libraries that are timed beside kernels |
//! | [`timing`] | how often to launch, and which number to report |
//! | `compare_times` | the command that compares the times of two runs: faster, slower, same, can't tell |
//! | [`report`] | a lab's results, and the formats that they are written in |
//! | [`npy`], `input_file`, [`output_file`], [`random`] | data: NumPy files, texts from files and pipes, files written whole, random numbers |
//! | [`lines`], [`faults`] | the counts of each source line; what the sanitizer found |
//! | [`limits`] | limits of a run: memory, heap, output, steps, faults |
//! | `sources` | finds the text of kernels' sources |
//! | [`signals`] | Ctrl-C and requests to terminate |
//! | [`cli`], [`listing`], [`progress`], `until_closed`, `terminal` | the program: arguments, lists, the progress bar, its output |
//! | [`error`], [`memory`], [`names`] | errors, how much memory the host has, demangled names |
//!
//! ```
//! use host::device::{self, DeviceChoice};
//! use host::labs::{self, Settings, transpose};
//!
//! # fn main() -> Result<(), host::Error> {
//! let device = device::open(DeviceChoice::Simulator, &device::Options::default())?;
//! let matrix = labs::MatrixFlags { rows: Some(33), cols: Some(70), ..Default::default() };
//! let options = transpose::Options { matrix, variants: labs::Chosen::of(&["padded"]), ..Default::default() };
//! let report = labs::run::<transpose::Transpose>(&device, options, &Settings::default())?;
//! assert!(report.correct());
//! # Ok(())
//! # }
//! ```

pub mod check;
pub mod cli;
mod compare_times;
mod course;
pub mod device;
pub mod error;
pub mod faults;
mod flag_values;
mod input_file;
pub mod labs;
pub mod limits;
pub mod lines;
pub mod listing;
pub mod memory;
pub mod names;
pub mod npy;
pub mod output_file;
pub mod peers;
pub mod progress;
pub mod random;
pub mod report;
pub mod run;
pub mod signals;
mod sources;
mod stopwatch;
mod terminal;
pub mod timing;
mod until_closed;

pub use error::{Error, Result};
pub use wording::units;
