//! The columns of first tables: measures that have other places, under titles of two lines.

use simt::models::Limiter;

use super::counted::{
    ACTIVE_LANES, ALL_REQUESTS, BANK_CONFLICTS, CONSTANT_ADDRESSES, INSTRUCTIONS, LOAD_REQUESTS, LOAD_TOTALS, LOADS,
    LOADS_OVER_IDEAL, MOVED, REQUESTS, SHARED_LOAD_WAVEFRONTS, SHARED_TOTALS, STORES, THREADS,
};
use super::model::OCCUPANCIES;
use crate::report::measure::Better::{Lower, Neither};
use crate::report::measure::{Cell, Measure, Section};

/// What a load from global memory takes, in sectors.
pub const SECTORS_A_LOAD: Measure = LOADS[0].titled(&["sectors", "a load"]);
/// The same in transactions of older models.
pub const TRANSACTIONS_A_LOAD: Measure = LOADS[2].titled(&["transactions", "a load"]);
/// What a store takes, in sectors.
pub const SECTORS_A_STORE: Measure = STORES[0].titled(&["sectors", "a store"]);
/// The same in transactions.
pub const TRANSACTIONS_A_STORE: Measure = STORES[2].titled(&["transactions", "a store"]);
/// The sectors of all loads.
pub const LOADED_IN_ALL: Measure = LOAD_TOTALS[0].titled(&["sectors", "in all"]);
/// The transactions of all loads.
pub const TRANSACTIONS_IN_ALL: Measure = LOAD_TOTALS[1].titled(&["transactions", "in all"]);
/// Requests that load.
pub const LOAD_REQUESTS_FIRST: Measure = LOAD_REQUESTS.titled(&["load", "requests"]);
/// Requests that store.
pub const STORE_REQUESTS_FIRST: Measure = REQUESTS[1].titled(&["store", "requests"]);
/// Both.
pub const REQUESTS_IN_ALL: Measure = ALL_REQUESTS.titled(&["requests", "in all"]).among(Section::Counter);
/// Passes over the banks for a load from shared memory.
pub const PASSES_A_SHARED_LOAD: Measure = SHARED_LOAD_WAVEFRONTS.titled(&["wavefronts", "a shared load"]);
/// Addresses of a load from constant memory.
pub const ADDRESSES_A_LOAD: Measure = CONSTANT_ADDRESSES.titled(&["addresses per", "constant request"]);

/// How many blocks a multiprocessor has at once.
pub const RESIDENT_BLOCKS: Measure =
    Measure::counted(Section::Counter, "resident_blocks", &["blocks on a", "multiprocessor"], Neither, |counters| {
        Some(Cell::count(counters.occupancy?.blocks().into()))
    });

/// The same, drawn: a sign for each block.
pub const BLOCKS_DRAWN: Measure =
    Measure::counted(Section::Counter, "resident_blocks_drawn", &["one #", "for each"], Neither, |counters| {
        Some(Cell::bar(counters.occupancy?.blocks() as usize))
    });

/// Barriers that warps waited at.
pub const BARRIERS: Measure = Measure::counted(Section::Counter, "barriers", &["barriers"], Lower, |counters| {
    Some(Cell::count(counters.barriers))
});

/// Loads from shared memory and stores to it.
pub const SHARED_REQUESTS: Measure =
    Measure::counted(Section::Counter, "shared_requests", &["shared", "requests"], Lower, |counters| {
        let requests = counters.shared.load.requests + counters.shared.store.requests;
        (requests > 0).then(|| Cell::count(requests))
    });

/// Loads from shared memory.
pub const SHARED_LOAD_REQUESTS: Measure =
    Measure::counted(Section::Counter, "shared_load_requests", &["shared", "loads"], Lower, |counters| {
        let requests = counters.shared.load.requests;
        (requests > 0).then(|| Cell::count(requests))
    });

/// Sectors over the fewest.
pub const SECTORS_OVER_IDEAL: Measure = LOADS_OVER_IDEAL[0].titled(&["sectors", "/ ideal"]);
/// Bytes that loads move for each that is requested.
pub const MOVED_A_LOAD: Measure = MOVED[0].titled(&["bytes moved", "/ requested"]);
/// All passes over the banks.
pub const SHARED_WAVEFRONTS: Measure = SHARED_TOTALS[0].titled(&["shared:", "wavefronts"]);
/// All bank conflicts.
pub const BANK_CONFLICTS_FIRST: Measure = BANK_CONFLICTS[0];
/// Active lanes of a warp instruction.
pub const ACTIVE_LANES_FIRST: Measure = ACTIVE_LANES[0].titled(&["lanes", "of 32"]);
/// Warp instructions, of PTX.
pub const INSTRUCTIONS_FIRST: Measure = INSTRUCTIONS[0].titled(&["warp", "instructions"]);
/// The threads of the launch.
pub const THREADS_FIRST: Measure = THREADS[0];
/// The occupancy.
pub const OCCUPANCY_FIRST: Measure = OCCUPANCIES[0];
/// What limits the blocks of a multiprocessor, which may be full of warps.
pub const BLOCK_LIMITS: Measure =
    Measure::counted(Section::Counter, "blocks_limited_by", &["blocks", "limited by"], Neither, |counters| {
        limits(counters).map(Cell::text)
    });

/// What limits the blocks: of shared memory only where it could not be larger, since it is made as
/// large as the blocks need.
pub fn limits(counters: &simt::Counters) -> Option<String> {
    let occupancy = counters.occupancy?;
    let most = counters.model.and_then(|model| model.model.shared.carveouts.last().copied());
    let others = occupancy.limiters().any(|limiter| limiter != Limiter::SharedMemory);
    let fits = others && most.is_some_and(|most| occupancy.carveout < most);
    let limiters = occupancy.limiters().filter(|limiter| !fits || *limiter != Limiter::SharedMemory);
    Some(limiters.map(Limiter::name).collect::<Vec<_>>().join(", "))
}
