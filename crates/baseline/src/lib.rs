//! Baselines: what the kernels of a program counted, as a small file for a repository, and what
//! rose or fell since. The counters are the metrics of [`goals`] that are sums, each for the whole
//! kernel and for each line.
//!
//! | module | contents |
//! | --- | --- |
//! | [`mod@file`] | the file |
//! | [`lines`] | which line of one run is which line of another |
//! | [`comparison`] | what rose or fell, and by how much it may |
//!
//! *Invariant:* nothing here runs, prints, or reads files. Two runs that count the same have the
//! same file, whatever the order of their kernels, the process, and the folder.

pub mod comparison;
pub mod file;
pub mod lines;

pub use comparison::{Allowed, Change, Comparison, LineChange, Verdict};
pub use file::Baseline;
