//! Which counters a table shows. A lab names its subjects, each of which is a few measures. Pure.

use simt::Counters;
use simt::counts::ByKind;

use super::measure::Measure;
use super::measures;

/// A subject of counters. A lab chooses the subjects that its table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Loads from global memory: sectors per request, and how much of each sector is used.
    GlobalLoads,
    /// The second of these alone, where words differ in width.
    GlobalLoadsOverIdeal,
    /// All sectors of those loads.
    GlobalLoadTotals,
    /// Stores to global memory, likewise.
    GlobalStores,
    /// How much of their sectors is used.
    GlobalStoresOverIdeal,
    /// How many bytes loads and stores move, where rows run on GPUs of different units.
    GlobalBytes,
    /// The number of requests to global memory.
    GlobalRequests,
    /// Those of loads alone.
    GlobalLoadRequests,
    /// Loads from shared memory: wavefronts per request.
    SharedLoads,
    /// Stores to shared memory, likewise.
    SharedStores,
    /// All wavefronts of shared memory.
    SharedTotals,
    /// The total number of bank conflicts.
    BankConflicts,
    /// Active lanes of a warp instruction.
    ActiveLanes,
    /// Warp instructions, of PTX.
    Instructions,
    /// Atomic operations on global and on shared memory.
    Atomics,
    /// Atomic operations on the word that gets most.
    Contention,
    /// Old messages: whether they are allowed, and how often they were found.
    Consistency,
    /// Bytes moved for each byte that the task needs.
    MovedOfNeeded,
    /// Bytes touched for each byte that the task needs, and the words that a load asks for.
    TouchedOfNeeded,
    /// What is stored only for the format's sake.
    Padding,
    /// Loads for each result of a stencil, and what L2 and DRAM send over its input.
    Stencil,
    /// Loads from constant memory: requests, and addresses per request.
    Constants,
    /// Those addresses per request, and all of them.
    ConstantTotals,
    /// Textures: requests, and sectors per request.
    Textures,
    /// All sectors that textures or plain loads read.
    ReadTotals,
    /// Local memory: sectors.
    LocalMemory,
    /// Blocks of the grid.
    Blocks,
    /// Threads of the grid.
    Threads,
    /// The occupancy, and what limits it.
    Occupancy,
}

impl Subject {
    /// Its columns.
    pub(super) fn measures(self) -> &'static [Measure] {
        match self {
            Self::GlobalLoads => measures::LOADS,
            Self::GlobalLoadTotals => measures::LOAD_TOTALS,
            Self::GlobalLoadsOverIdeal => measures::LOADS_OVER_IDEAL,
            Self::GlobalStores => measures::STORES,
            Self::GlobalStoresOverIdeal => measures::STORES_OVER_IDEAL,
            Self::GlobalBytes => measures::MOVED,
            Self::GlobalRequests => measures::REQUESTS,
            Self::GlobalLoadRequests => measures::LOADED_REQUESTS,
            Self::SharedLoads => measures::SHARED_LOADS,
            Self::SharedStores => measures::SHARED_STORES,
            Self::SharedTotals => measures::SHARED_TOTALS,
            Self::BankConflicts => measures::BANK_CONFLICTS,
            Self::ActiveLanes => measures::ACTIVE_LANES,
            Self::Instructions => measures::INSTRUCTIONS,
            Self::Atomics => measures::ATOMICS,
            Self::Contention => measures::CONTENDED,
            Self::Consistency => measures::CONSISTENCY,
            Self::MovedOfNeeded => &[measures::MOVED_OF_NEEDED],
            Self::TouchedOfNeeded => &[measures::TOUCHED_OF_NEEDED, measures::WORDS_A_LOAD],
            Self::Padding => measures::PADDING,
            Self::Stencil => measures::STENCIL,
            Self::Constants => measures::CONSTANTS,
            Self::ConstantTotals => measures::CONSTANT_TOTALS,
            Self::Textures => measures::TEXTURES,
            Self::ReadTotals => measures::READ_SECTORS,
            Self::LocalMemory => measures::LOCAL_MEMORY,
            Self::Blocks => measures::BLOCKS,
            Self::Threads => measures::THREADS,
            Self::Occupancy => measures::OCCUPANCIES,
        }
    }

    /// The subjects for a kernel that is not a lab's.
    pub(super) fn of(counters: &Counters) -> Vec<Self> {
        let ByKind { load, store, atomic, reduction, .. } = counters.global;
        let shared = &counters.shared;
        let kinds = [&shared.load, &shared.store, &shared.atomic, &shared.reduction, &shared.copy];
        let atomics = [atomic.requests, reduction.requests, shared.atomic.requests, shared.reduction.requests];
        let all = [
            (Self::GlobalLoads, load.requests > 0),
            (Self::GlobalStores, store.requests > 0),
            (Self::SharedLoads, shared.load.requests > 0),
            (Self::SharedStores, shared.store.requests > 0),
            (Self::BankConflicts, kinds.iter().any(|access| access.requests > 0)),
            (Self::Atomics, atomics.iter().any(|&requests| requests > 0)),
            (Self::Constants, counters.constant.requests > 0),
            (Self::Textures, counters.texture.requests > 0),
            (Self::LocalMemory, counters.local.load.requests + counters.local.store.requests > 0),
            (Self::GlobalRequests, load.requests + store.requests > 0),
            (Self::ActiveLanes, true),
            (Self::Instructions, true),
        ];
        all.into_iter().filter(|(_, concerned)| *concerned).map(|(subject, _)| subject).collect()
    }
}
