//! What a model says of a GPU: its limits, and the rules of its shared memory and caches.

/// Bytes of a line, in every cache and in every request to L2.
pub(crate) const LINE_BYTES: u64 = 128;

/// A GPU's memory system and limits.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// The name of the architecture, in lower case.
    pub name: &'static str,
    /// The chip whose sizes it has.
    pub chip: &'static str,
    /// Its compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors of the chip.
    pub multiprocessors: u32,
    /// The multiprocessors of each GPC (graphics processing cluster) that can host clusters of more
    /// than two blocks. Empty if the GPU has no clusters of blocks.
    pub gpcs: &'static [u32],
    /// What a block and a multiprocessor can hold.
    pub limits: Limits,
    /// Shared memory.
    pub shared: Shared,
    /// How a warp's access to global memory becomes transactions.
    pub global: TransactionRule,
    /// The L1 cache of a multiprocessor, if global or local memory goes through one.
    pub l1: Option<L1>,
    /// The read-only cache of a multiprocessor, if it is a separate memory. Otherwise read-only
    /// loads go through L1.
    pub read_only: Option<ReadOnly>,
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
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// Threads resident on a multiprocessor.
    pub threads: u32,
    /// Blocks resident on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Registers that one thread can have.
    pub registers_per_thread: u32,
    /// How registers are allocated.
    pub register_allocation: RegisterAllocation,
}

/// How registers are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAllocation {
    /// To a whole block, whose warps are rounded up to an even number, in units of `unit`
    /// registers.
    Block {
        /// The unit.
        unit: u32,
    },
    /// To each warp, in units of `unit` registers; warps are resident in multiples of `warps`.
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
    /// The possible sizes of a multiprocessor's shared memory, in bytes, in rising order. The rest
    /// of the memory that it shares with the L1 cache is cache.
    pub carveouts: &'static [u32],
    /// Bytes that a block can have without opting in.
    pub per_block: u32,
    /// Bytes that a block can have if the kernel opts in.
    pub per_block_opt_in: u32,
    /// Bytes that the system reserves in each block.
    pub reserved: u32,
    /// Shared memory is allocated in multiples of this many bytes.
    pub unit: u32,
    /// Its banks.
    pub banks: BankRule,
}

/// How the banks of shared memory serve a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankRule {
    /// 16 banks of 4-byte words, a half warp at a time, one word broadcast per pass (compute
    /// capability 1.x).
    HalfWarps,
    /// 32 banks of 4-byte words; words of 8 bytes a half warp at a time, and those of 16 bytes a
    /// quarter warp at a time in at least two passes (2.x).
    Fermi,
    /// 32 banks, 8 bytes wide, in 4-byte mode: words 32 apart share a row of 64 words and a pass
    /// (3.x, the default).
    Kepler4,
    /// 32 banks of 8-byte words (3.x, if the program selects it).
    Kepler8,
    /// 32 banks of 4-byte words, as measured on an H200 (5.x and later).
    Words,
}

/// The banks of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banks {
    /// How many.
    pub count: u32,
    /// Neighbouring bytes that are in one bank.
    pub bytes: u32,
}

/// How a warp's access to global memory becomes transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionRule {
    /// Each half warp in one or two transactions if its threads access consecutive words in order,
    /// otherwise one per thread (1.0, 1.1).
    Strict,
    /// Each half warp in the segments of 32, 64 or 128 bytes that it touches, each as small as
    /// possible (1.2, 1.3).
    Segments,
    /// Loads in lines of 128 bytes through L1, and sectors of 32 bytes past it; stores in one, two
    /// or four sectors of a line. 8-byte words a half warp at a time, 16-byte words a quarter warp
    /// at a time (2.x, 3.x).
    LinesAndSectors,
    /// Sectors of 32 bytes, of the whole warp (5.x and later).
    Sectors,
}

/// The L1 cache of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L1 {
    /// Its size, and whether shared memory takes part of it.
    pub size: L1Size,
    /// Bytes per tag.
    pub line: u32,
    /// Bytes fetched at a time.
    pub sector: u32,
    /// The associativity.
    pub ways: u32,
    /// Whether loads from global memory go through it by default (without `ld.cg`).
    pub caches_global_loads: bool,
    /// Whether the program can opt in if they do not (`-dlcm=ca`).
    pub can_cache_global_loads: bool,
    /// What a store to global memory does to a line that it holds.
    pub store_hit: StoreHit,
    /// Whether lines of local memory are written back only when they leave the cache.
    pub local_write_back: bool,
}

/// The read-only cache of a multiprocessor: one for each scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOnly {
    /// Schedulers of a multiprocessor, each with its own cache.
    pub schedulers: u32,
    /// Bytes of each scheduler's cache.
    pub bytes_of_scheduler: u32,
    /// The associativity.
    pub ways: u32,
}

/// The size of an L1 cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L1Size {
    /// What shared memory leaves of this many bytes.
    Unified(u32),
    /// A separate memory.
    Own(u32),
}

/// What a store to global memory does to the copy of its line in L1. The store goes to L2 in any
/// case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreHit {
    /// The copy is dropped.
    Evicts,
    /// The copy is updated, or created if whole sectors are written.
    Allocates,
}

/// The L2 cache of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2 {
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes per tag.
    pub line: u32,
    /// The associativity.
    pub ways: u32,
    /// Bytes that DRAM delivers for a missing sector.
    pub fetch: u32,
    /// Partitions, each near to some of the multiprocessors: 1 or 2.
    pub partitions: u32,
    /// The most bytes that may be dirty.
    pub dirty_bytes: u64,
    /// How many multiprocessors share a path on which simultaneous reads of one line are merged
    /// before L2.
    pub merges_reads_of: u32,
}

/// Whether loads from global memory without a cache operator go through L1: the `-dlcm` flag of
/// older compilers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoadCaching {
    /// The architecture's default.
    #[default]
    Default,
    /// `ca`: through L1, if the architecture can.
    AllLevels,
    /// `cg`: past L1.
    GlobalLevel,
}

impl BankRule {
    /// The banks.
    pub fn banks(self) -> Banks {
        match self {
            Self::HalfWarps => Banks { count: 16, bytes: 4 },
            Self::Kepler8 => Banks { count: 32, bytes: 8 },
            Self::Fermi | Self::Kepler4 | Self::Words => Banks { count: 32, bytes: 4 },
        }
    }
}

impl TransactionRule {
    /// Lanes whose words of this width are one request to the caches.
    pub(super) fn lanes_per_request(self, width: u32) -> usize {
        match (self, width) {
            (Self::LinesAndSectors, 8) => 16,
            (Self::LinesAndSectors, 16) => 8,
            _ => 32,
        }
    }
}

impl Model {
    /// Whether loads without a cache operator go through L1.
    pub fn caches_global_loads(&self, caching: LoadCaching) -> bool {
        self.l1.is_some_and(|l1| match caching {
            LoadCaching::Default => l1.caches_global_loads,
            LoadCaching::AllLevels => l1.caches_global_loads || l1.can_cache_global_loads,
            LoadCaching::GlobalLevel => false,
        })
    }

    /// The bytes that are left for L1 if shared memory has the size `carveout`.
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
