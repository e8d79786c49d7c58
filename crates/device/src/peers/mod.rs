//! Libraries that are timed beside kernels on a GPU: cuBLAS, cuSPARSE, CUB and the driver's copies.
//!
//! [`Peers`] takes a program's own buffers and matrices and turns a call into plain data (`calls`),
//! which the backend carries out: only `gpu` calls the libraries themselves.

mod calls;
mod libraries;

#[cfg(feature = "gpu")]
pub(crate) use calls::Operand;
pub(crate) use calls::{BlasCall, LibraryCall, Loaded, SparseCall};
pub use calls::{Number, PeerLibraries, Reduction};
pub use libraries::{Peers, Scratch, SparseMatrix};
