//! Tidies the PTX that `llc` prints, and checks it.

mod check;
mod locations;
mod signatures;

pub use check::CheckError;
pub(crate) use check::check;
pub(crate) use locations::tidy;
pub(crate) use signatures::with_signatures;
