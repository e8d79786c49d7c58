//! The exit codes of chores that did not succeed. `main` and the chores return them.

/// The chore failed.
pub const FAILED: u8 = 1;

/// The arguments are wrong.
pub const WRONG_ARGUMENTS: u8 = 2;
