//! `cargo learn`: the coursework.
//!
//! A student edits one file of kernels. This program compiles it, runs it on the simulator under
//! all checks at random sizes, compares the results with a reference, counts its memory accesses,
//! and reports what is right, what is wrong, and which line to look at.
//!
//! ```text
//! exercise ─┬─ compile ── run (at several sizes) ── judge ── verdict ─┬─ report      (student, watch)
//!   data ───┘                                    goal, metric           ├─ check       (authors)
//!                                                                       └─ grade       (teachers)
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | the crate [`exercise`] | the authors' files, the data of sizes and a seed, runs and what they count |
//! | [`course`] | the order of the exercises, from `course.toml` |
//! | [`guard`], [`compile`], [`library`], [`diagnostics`] | from a file of kernels to PTX |
//! | [`sandbox`], [`process`], `start` | what protects the machine from the files of strangers, and ends what was started |
//! | [`judge`], [`runs`], [`orders`], [`schedule`], [`counts`], [`goals`], [`predictions`], [`comparison`], [`verdict`] | what a file is judged by, and the result |
//! | [`host`] | host exercises: the student's program, and the goals of its record |
//! | [`rating`], [`leaderboard`] | open exercises: predicted times and grades, and the best times |
//! | [`report`], [`terminal`] | a verdict for people |
//! | [`page`], [`lines`] | the same as a web page, with the source line by line |
//! | [`cli`], [`arguments`] | the command line |
//! | [`student`], [`watch`], [`progress`] | commands for students |
//! | [`serve`], [`events`], [`places`] | the same as web pages, for one student at home or for a class |
//! | [`check`], [`new`] | commands for authors |
//! | [`export`], [`workspace_copy`], [`recorded`] | a copy of the course for students, without solutions |
//! | [`variant`] | the course as one class has it; for authors and teachers |
//! | [`grade`], [`submission`], [`misplaced`], [`isolation`], [`marks`], [`shards`] | commands for teachers |
//! | [`worker`] | judges what waits in the database of a class; with the feature `class` |
//! | [`roster`] | the students of a class, and their links |
//! | `account` | the user that a class runs as, if root starts it |
//! | [`formats`], [`cells`], [`outputs`], [`calendar`] | marks as other programs read them |
//! | [`similarity`], [`own_lines`] | submissions for tools that find copied work |
//!
//! *Invariant:* a mistake in a student's file leads to a verdict, never to an error of this
//! program: see [`error`].

#[cfg(feature = "class")]
mod account;
#[cfg(not(feature = "class"))]
mod again;
mod arguments;
mod calendar;
mod cells;
mod check;
mod cli;
mod comparison;
mod compile;
mod counts;
mod course;
mod diagnostics;
mod digest;
mod error;
mod events;
mod export;
mod formats;
mod given;
mod grade;
mod guard;
#[cfg(target_os = "linux")]
mod host;
mod implied;
mod isolation;
mod judge;
mod leaderboard;
mod library;
mod lines;
mod marks;
mod misplaced;
mod new;
mod orders;
mod outputs;
mod own_lines;
mod page;
mod places;
mod predictions;
mod process;
mod processor;
mod programs;
mod progress;
mod rating;
mod recorded;
mod report;
mod roster;
mod runs;
mod schedule;
mod serve;
mod shards;
mod similarity;
#[cfg(target_os = "linux")]
mod start;
mod student;
mod submission;
mod terminal;
mod variant;
mod verdict;
mod watch;
mod worker;
mod workspace_copy;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
