//! Barriers in shared memory (`mbarrier`).
//!
//! - `value`: the 64 bits of one, and how arrivals and bytes change them.
//! - `access`: reading and changing one in memory.
//! - `phases`: arrivals, and waits for phases.

pub(in crate::machine) mod access;
pub(super) mod phases;
pub(in crate::machine) mod value;
