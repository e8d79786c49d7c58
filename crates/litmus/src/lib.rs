//! What PTX's memory model allows a small program of several threads to do: a *litmus test*.
//!
//! A program has a handful of loads, stores, atomic operations and fences, and a question: can this
//! load find that value? [`Outcomes::of`] looks at all executions, of any order of memory that
//! PTX's axioms allow, and not only at those in which threads take turns.
//!
//! ```
//! let text = "
//! data = 0
//! flag = 0
//! thread in block 0:
//!     st.weak.global.u32 [data], 1;
//!     st.release.gpu.global.u32 [flag], 1;
//! thread in block 1:
//!     ld.acquire.gpu.global.u32 r0, [flag];
//!     ld.weak.global.u32 r1, [data];
//! ask: 1:r0 = 1, 1:r1 = 0
//! ";
//! let program = litmus::read("passing.litmus", text)?;
//! let outcomes = litmus::Outcomes::of(&program)?;
//! assert!(!outcomes.allows(&program.questions[0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! read ── program ── execution ── model ── outcome ── explain
//!                        └── relation ──┘
//! ```
//!
//! *Invariant:* nothing here runs a kernel: it is logic alone.
#![forbid(unsafe_code)]

mod execution;
mod explain;
mod library;
mod model;
mod outcome;
mod program;
mod read;
mod relation;

pub use execution::{Event, Events, Execution, Kind, TooLarge};
pub use explain::{drawn, explained};
pub use library::{LIBRARY, named};
pub use model::{Axiom, Link, circle, each_order, synchronises};
pub use outcome::{Outcomes, Values, Witness};
pub use program::{Access, Action, Operation, Part, Place, Program, Question, Scope, Step, Thread, Update, Value};
pub use read::{Error, read};
pub use relation::{MOST_EVENTS, Relation, Set, members};
