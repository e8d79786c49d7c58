//! Goals about what kernels do, such as `shared.bank_conflicts == 0` or `hopper: dram_bytes of copy
//! <= 1.1 * n`: one language for the exercises of `cargo learn` and for any program's kernels.
//!
//! | module | contents |
//! | --- | --- |
//! | [`expression`] | the arithmetic of bounds |
//! | [`metric`] | what is counted, and the line to blame |
//! | [`goal`] | a goal, as text and in its parts |
//! | [`seen`] | the access that misses a goal, to draw |
//! | [`requirement`] | goals that a program's launches must meet, with or without exercises |
//! | [`Require`] | goals in Rust tests, about the report of a launch |
//!
//! *Invariant:* nothing here runs, prints, or reads files.

pub mod expression;
pub mod goal;
pub mod metric;
mod require;
pub mod requirement;
pub mod seen;

pub use require::{Missed, Require};
