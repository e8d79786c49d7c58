//! Models of GPUs, one an architecture: how it cuts accesses into transactions, what its caches hold, what fits on a
//! multiprocessor.
//!
//! Without a model a launch counts what Volta and all later GPUs have in common, and is fast. With one
//! ([`Launch::model`](crate::Launch::model)) the grid runs as that GPU would run it: blocks resident side by side on its
//! multiprocessors, their accesses going through its L1 and L2 caches. The report then has [`ModelCounters`] as well.
//!
//! - `data`: the models and where each number comes from;
//! - `transactions`: global memory, `banks`: shared memory, as pure functions of one warp's access;
//! - `occupancy`: how many blocks fit on a multiprocessor, and why not more; `seats`: which blocks are neighbours there;
//! - `cache`: a cache with sets, lines and sectors; `multiprocessor`: L1 and the path to it; `chip`: L2 and DRAM;
//! - `counters`: what is counted.
//!
//! The machine side (which block runs where and when) is `machine::resident`.

mod banks;
mod cache;
mod chip;
mod counters;
mod data;
mod multiprocessor;
mod occupancy;
mod seats;
mod transactions;

pub use counters::{CacheCounters, ModelCounters, SectorCounters, TransactionCounters};
pub use occupancy::{BlockNeeds, Limiter, Occupancy};

pub(crate) use chip::Chip;
pub(crate) use multiprocessor::{AccessOrigin, CacheWish, Multiprocessor, Position};
pub(crate) use seats::Neighbourhood;

/// A GPU, as far as its memory goes.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name: the architecture's, in lower case.
    pub name: &'static str,
    /// The chip whose sizes it has.
    pub chip: &'static str,
    /// Its compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors of the chip.
    pub multiprocessors: u32,
    /// How many of them each GPC (graphics processing cluster) has, of those in which clusters of more than two blocks can be; none
    /// where the GPU has no clusters of blocks.
    pub gpcs: &'static [u32],
    /// What a block and a multiprocessor can hold.
    pub limits: Limits,
    /// Shared memory.
    pub shared: Shared,
    /// How a warp's access to global memory becomes transactions.
    pub global: TransactionRule,
    /// The L1 cache of a multiprocessor, where global or local memory goes through one.
    pub l1: Option<L1>,
    /// The L2 cache of the chip.
    pub l2: Option<L2>,
    /// Rows of a pitched allocation start on multiples of this many bytes.
    pub pitch_alignment: u32,
    /// Textures start on multiples of this many bytes.
    pub texture_alignment: u32,
}

/// What a block and a multiprocessor can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Threads resident on a multiprocessor.
    pub threads: u32,
    /// Blocks resident on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Registers that one thread can have.
    pub registers_per_thread: u32,
    /// How registers are given out.
    pub register_allocation: RegisterAllocation,
}

/// How registers are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAllocation {
    /// To a whole block, whose warps are rounded up to an even number, in units of so many registers.
    Block {
        /// The unit.
        unit: u32,
    },
    /// To each warp, in units of so many registers; warps are resident in multiples of `warps`.
    Warp {
        /// The unit.
        unit: u32,
        /// The multiple.
        warps: u32,
    },
}

/// Shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The sizes that a multiprocessor's shared memory can have, in bytes, rising. What is left of the memory that it
    /// shares with the L1 cache is cache.
    pub carveouts: &'static [u32],
    /// What a block can have without asking.
    pub per_block: u32,
    /// What a block can have when the kernel opts in.
    pub per_block_opt_in: u32,
    /// What the system takes of each block's.
    pub reserved: u32,
    /// Given out in multiples of this many bytes.
    pub unit: u32,
    /// Its banks.
    pub banks: BankRule,
}

/// How the banks of shared memory serve a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankRule {
    /// 16 banks of 4-byte words, a half warp at a time, one word broadcast per pass (compute capability 1.x).
    HalfWarps,
    /// 32 banks of 4-byte words; words of 8 bytes a half warp at a time, and those of 16 bytes a quarter warp at a time in
    /// at least two passes (2.x).
    Fermi,
    /// 32 banks, 8 bytes wide, in 4-byte mode: words 32 apart share a row of 64 words and a pass (3.x, the default).
    Kepler4,
    /// 32 banks of 8-byte words (3.x, when the program asks for it).
    Kepler8,
    /// 32 banks of 4-byte words, as measured on an H200 (5.x and later).
    Words,
}

/// How a warp's access to global memory becomes transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionRule {
    /// Each half warp in one or two transactions if its threads access consecutive words in order, else one a thread (1.0, 1.1).
    Strict,
    /// Each half warp in the segments of 32, 64 or 128 bytes that it touches, each as small as will do (1.2, 1.3).
    Segments,
    /// Lines of 128 bytes through L1, sectors of 32 bytes past it; 8-byte words a half warp at a time, 16-byte words a
    /// quarter warp at a time (2.x, 3.x).
    LinesAndSectors,
    /// Sectors of 32 bytes, of the whole warp (5.x and later).
    Sectors,
}

/// The L1 cache of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L1 {
    /// Bytes, and how shared memory takes of them.
    pub size: L1Size,
    /// Bytes that a tag stands for.
    pub line: u32,
    /// Bytes that are fetched at a time.
    pub sector: u32,
    /// Places that a line can be in.
    pub ways: u32,
    /// Whether loads from global memory go through it unless they say otherwise (`ld.cg`).
    pub caches_global_loads: bool,
    /// Whether the program can ask that they do where they do not (`-dlcm=ca`).
    pub can_cache_global_loads: bool,
    /// What a store to global memory does to a line that it holds.
    pub store_hit: StoreHit,
    /// Whether lines of local memory are written back only when they leave the cache.
    pub local_write_back: bool,
}

/// The size of an L1 cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L1Size {
    /// What shared memory leaves of so many bytes.
    Unified(u32),
    /// A memory of its own.
    Own(u32),
}

/// What a store to global memory does to the copy of its line in L1. It goes on to L2 in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreHit {
    /// The copy is dropped.
    Evicts,
    /// The copy is brought up to date, or made where whole sectors are written.
    Allocates,
}

/// The L2 cache of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2 {
    /// Bytes.
    pub bytes: u64,
    /// Bytes that a tag stands for.
    pub line: u32,
    /// Places that a line can be in.
    pub ways: u32,
    /// Bytes that DRAM gives at a time when a sector is missing.
    pub fetch: u32,
    /// Parts that it has, each near to some of the multiprocessors: 1 or 2.
    pub partitions: u32,
    /// Bytes that may wait to be written to DRAM.
    pub dirty_bytes: u64,
    /// Multiprocessors whose reads of the same line, at about the same time, reach L2 as one.
    pub merges_reads_of: u32,
}

/// Whether loads from global memory that do not say go through L1: `-dlcm` of the lectures' compilers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoadCaching {
    /// As the architecture has it.
    #[default]
    Default,
    /// `ca`: through L1, where the architecture can.
    AllLevels,
    /// `cg`: past L1.
    GlobalLevel,
}

impl TransactionRule {
    /// Lanes whose words of this width are one request to the caches.
    fn lanes_together(self, width: u32) -> usize {
        match (self, width) {
            (Self::LinesAndSectors, 8) => 16,
            (Self::LinesAndSectors, 16) => 8,
            _ => 32,
        }
    }
}

impl Model {
    /// All models, in the order of their compute capabilities.
    pub fn all() -> &'static [Self] {
        &data::MODELS
    }

    /// The model of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        data::MODELS.iter().find(|model| model.name == name)
    }

    /// The sizes that a multiprocessor's shared memory can have by its compute capability, in bytes; none where it is not known.
    pub fn shared_sizes(capability: (u32, u32)) -> &'static [u32] {
        data::shared_sizes(capability)
    }

    /// Whether loads that do not say go through L1.
    pub fn caches_global_loads(&self, caching: LoadCaching) -> bool {
        self.l1.is_some_and(|l1| match caching {
            LoadCaching::Default => l1.caches_global_loads,
            LoadCaching::AllLevels => l1.caches_global_loads || l1.can_cache_global_loads,
            LoadCaching::GlobalLevel => false,
        })
    }

    /// Bytes of L1 that a multiprocessor has left when its shared memory has the size `carveout`.
    pub fn l1_bytes(&self, carveout: u32) -> u32 {
        match self.l1.map(|l1| l1.size) {
            Some(L1Size::Unified(bytes)) => bytes.saturating_sub(carveout),
            Some(L1Size::Own(bytes)) => bytes,
            None => 0,
        }
    }

    /// Warps resident on a multiprocessor.
    pub fn warps(&self) -> u32 {
        self.limits.threads / 32
    }
}
