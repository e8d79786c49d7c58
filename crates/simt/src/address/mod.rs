//! Addresses: what a warp accesses, before any memory is looked at.
//!
//! - `access`: the address of each lane. `lanes`: where these are in one allocation.
//! - `windows`: the map of generic addresses.
//! - `fault`: why an address cannot be accessed.

mod access;
mod fault;
mod lanes;
mod windows;

pub(crate) use access::Access;
pub(crate) use fault::{AccessFault, Bytes, Located, RefusedAccess, RefusedFree, space_name};
pub use fault::{AccessFaultKind, AllocationSpan, FreeFault};
pub(crate) use lanes::{Lanes, Runs};
pub(crate) use windows::{BLOCK_WINDOW_BYTES, LOCAL_LIMIT, PARAMETER_WINDOW, rank_of, space_of};
pub use windows::{GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
