//! Barriers in shared memory (`mbarrier`), whose value is a [`Mbarrier`](crate::memory::Mbarrier).
//!
//! - `access`: reading and changing one in memory.
//! - `phases`: arrivals, and waits for phases.

pub(in crate::machine) mod access;
pub(super) mod phases;
