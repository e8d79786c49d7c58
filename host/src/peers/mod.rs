//! Peers: the libraries that labs time beside their kernels on a GPU (`--peer`). [`device::peers`]
//! calls them.
//!
//! A lab names its libraries in `Lab::PEERS` and makes their rows in `Lab::peers`: `flags` has the
//! flags, `rows` what makes a row.

mod flags;
mod rows;

pub use flags::{Peer, PeerFlags};
pub(crate) use rows::{driver, roundings, row};
