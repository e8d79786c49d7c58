//! How the hardware splits one warp's access to memory: sectors of global memory, wavefronts of
//! shared memory.
//!
//! Global memory moves in sectors, the 32-byte segments of the address space; a request costs as
//! many as its active lanes touch in total. Shared memory has 32 banks of 4-byte words; a wavefront
//! serves one word of each bank, to as many lanes as request it. Both rules were measured on an
//! H200 (`tests/data/h200.json` and, for the banks, `tests/data/h200_banks.txt`), and tests compare
//! them with its counters.
//!
//! - `sectors` and `wavefronts`: the two rules, for any access.
//! - `copies`: `cp.async`, which has both.
//! - `shape`: what they count, kept with an instruction for its next access of the same shape.

mod copies;
mod sectors;
mod shape;
mod wavefronts;

pub(crate) use copies::CopyAccesses;
pub(crate) use sectors::{SECTOR_BYTES, Sectors, addresses, atomic_sectors, sectors, turns_of_sectors};
pub(crate) use shape::{Layout, Shape};
pub(crate) use wavefronts::{Served, Wavefronts, groups, list_wavefronts, load_wavefronts, store_wavefronts};
