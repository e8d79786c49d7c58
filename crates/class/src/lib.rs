//! The course for a class, below its pages: the settings, the database with its queue, and the
//! workers that judge.
//!
//! ```text
//! class.toml ── settings ─┐
//!                         ├─ pages (in `learn`) ── store ── SQLite or PostgreSQL
//! a browser's requests ───┘                          │
//!                        worker ── a judge's process ┘
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`settings`] | `class.toml` |
//! | [`store`] | everything that is kept: students, links, sessions, drafts, runs, verdicts, the queue |
//! | [`marks`] | which submission counts, and its points |
//! | [`secret`] | secrets of links and cookies, and the hashes that are kept of them |
//! | [`worker`] | takes jobs, has them judged, and stores the verdicts |
//!
//! *Invariant:* what was accepted is in the database before it is answered, and a job leaves the
//! queue in the same transaction that stores its verdict. So a process that is killed loses nothing,
//! and no job has two verdicts.

pub mod error;
pub mod marks;
pub mod secret;
pub mod settings;
pub mod store;
pub mod worker;

pub use error::{Error, Result};

/// A time, in milliseconds since 1970.
pub type Millis = i64;

/// An hour.
pub const HOUR: Millis = 3_600_000;

/// A day.
pub const DAY: Millis = 24 * HOUR;
