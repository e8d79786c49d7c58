//! The exit codes of chores that did not succeed; clap has the second one, too. `main` and the chores return them.

/// The chore failed.
pub const FAILED: u8 = 1;

/// The arguments are wrong.
pub const WRONG_ARGUMENTS: u8 = 2;
