//! What becomes of the PTX that `llc` prints: it is tidied, and it is checked.

mod check;
mod locations;

pub use check::CheckError;
pub(crate) use check::check;
pub(crate) use locations::tidy;
