//! Peers: the libraries that labs time beside their kernels on a GPU: cuBLAS, CUB and the driver's copies (`--peer`).
//!
//! ```text
//! flags      --peer and --peer-library                  rows       a library's row in a lab's table
//! libraries  calls on a lab's own buffers and matrices  calls      the same as plain data, for the backend
//! ```
//!
//! A lab names its libraries in `Lab::PEERS` and makes their rows in `Lab::peers`. Only `device/gpu` calls the libraries
//! themselves.

mod calls;
mod flags;
mod libraries;
mod rows;

pub(crate) use calls::{BlasCall, LibraryCall, Loaded, Operand};
pub use calls::{Number, PeerLibraries, Reduction};
pub use flags::{Peer, PeerFlags};
pub use libraries::{Peers, Scratch};
pub(crate) use rows::{driver, roundings, row};
