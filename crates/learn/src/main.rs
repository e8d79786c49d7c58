//! `cargo learn`: the coursework.
//!
//! A student edits one file of kernels; this program compiles it, runs it on the simulator under all checks at sizes that nobody could
//! expect, compares the results with a reference, counts what it did to memory, and says what is right, what is not, and which line to
//! look at.
//!
//! ```text
//! exercise ─┬─ compile ── trial (at several sizes) ── judge ── verdict ─┬─ report      (student, watch)
//!   data ───┘                                    goal, metric           ├─ check       (authors)
//!                                                                       └─ grade       (teachers)
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | [`course`], [`exercise`], [`goal`], [`metric`], [`expression`] | what an author writes: `course.toml`, `goals.toml` |
//! | [`data`] | sizes and values, drawn from a seed |
//! | [`guard`], [`compile`] | a file of kernels, to PTX |
//! | [`trial`], [`judge`], [`verdict`] | the runs, and what comes of them |
//! | [`report`] | a verdict for people |
//! | [`student`], [`watch`], [`progress`] | what students use |
//! | [`check`], [`new`] | what authors use |
//! | [`grade`], [`marks`] | what teachers use |
//!
//! *Invariant:* a student's file decides a verdict, never an error of this program: see [`error`].

mod check;
mod cli;
mod compile;
mod course;
mod data;
mod error;
mod exercise;
mod expression;
mod goal;
mod grade;
mod guard;
mod judge;
mod marks;
mod metric;
mod new;
mod progress;
mod report;
mod student;
mod trial;
mod verdict;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
