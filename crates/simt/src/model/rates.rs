//! What is known of how fast a model is, and in which units. `timing` has the numbers.

/// The numbers of a model.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Where the numbers come from, in a line for people.
    pub source: &'static str,
    /// Whether any of them was measured on this GPU, or times that follow from them were compared
    /// with its own.
    pub measured: bool,
    /// The clock of the multiprocessors, in MHz: all cycles here are cycles of it.
    pub clock_mhz: f64,
    /// What a launch and its blocks cost.
    pub(crate) launch: LaunchCost,
    /// How warps issue.
    pub(crate) issue: Issue,
    /// How long results take, in cycles.
    pub(crate) latency: Latency,
    /// What memory can move.
    pub(crate) memory: Throughput,
}

impl Timing {
    /// What DRAM reads, in GB/s.
    pub fn dram_gbps(&self) -> f64 {
        self.memory.dram
    }

    /// What L2 sends, in GB/s.
    pub fn l2_gbps(&self) -> f64 {
        self.memory.l2_read
    }

    /// The f32 arithmetic of a multiprocessor, in GFLOP/s; a multiply-add is two operations.
    pub fn f32_gflops_per_multiprocessor(&self) -> f64 {
        let lanes = 32.0 * self.issue.schedulers as f64 / f64::from(self.issue.fp32);
        2.0 * lanes * self.clock_mhz / 1e3
    }
}

/// What a launch and its blocks cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchCost {
    /// Microseconds of an empty launch, between events.
    pub empty_us: f64,
    /// Microseconds of each further launch that is queued behind it.
    pub next_us: f64,
    /// Cycles of the chip between the starts of two blocks.
    pub block: f64,
    /// Cycles of a multiprocessor for each warp of a block that starts.
    pub warp: f64,
    /// Cycles from a block's end to the start of the next one in its place.
    pub turnaround: f64,
}

/// How the schedulers of a multiprocessor issue: cycles of a warp instruction on a scheduler's
/// unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issue {
    /// Schedulers of a multiprocessor.
    pub schedulers: usize,
    /// Any instruction, in its scheduler.
    pub any: u32,
    /// f32 arithmetic.
    pub fp32: u32,
    /// More for a product and sum of three registers, if the instruction before it reads none of
    /// them.
    pub third_register: u32,
    /// Integer addition.
    pub add: u32,
    /// Logic, shifts, comparisons, selections.
    pub integer: u32,
    /// Integer multiplication of 32 bits.
    pub multiply: u32,
    /// Products of twice the width.
    pub wide: u32,
    /// Special functions.
    pub special: u32,
    /// Texture fetches: a lane for each cycle of a texture unit.
    pub texture: u32,
    /// Conversions between integers and floats.
    pub convert: u32,
    /// f64 arithmetic.
    pub double: u32,
    /// Whether pointers have 32 bits, so that integers of 64 bits cost what those of 32 bits do,
    /// and parameters lie in shared memory, where instructions take operands from.
    pub short_pointers: bool,
}

/// How long results take, in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    /// f32 and integer arithmetic.
    pub arithmetic: u32,
    /// f64 arithmetic.
    pub double: u32,
    /// Special functions.
    pub special: u32,
    /// Conversions.
    pub convert: u32,
    /// Shuffles.
    pub shuffle: u32,
    /// A predicate, when it guards an instruction or a branch.
    pub guard: u32,
    /// A taken branch.
    pub branch: u32,
    /// A barrier of the block, and more for each of its warps.
    pub barrier: f64,
    pub barrier_per_warp: f64,
    /// Shared memory, without conflicts.
    pub shared: f64,
    /// A hit in L1.
    pub l1: f64,
    /// A hit in L2.
    pub l2: f64,
    /// DRAM.
    pub dram: f64,
    /// An atomic operation on global memory.
    pub atomic: f64,
    /// A texture fetch that hits.
    pub texture: f64,
}

/// What memory can move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throughput {
    /// Cycles of the load-store unit for each warp instruction at least: lanes over its width.
    pub lsu: f64,
    /// Bytes that L1 takes from L2 in a cycle, and sends to it.
    pub port_in: f64,
    pub port_out: f64,
    /// GB/s that L2 delivers to all multiprocessors, and takes from them.
    pub l2_read: f64,
    pub l2_write: f64,
    /// Lines that L2 looks up in a cycle.
    pub l2_lines: f64,
    /// GB/s that DRAM delivers.
    pub dram: f64,
    /// What writing a byte to DRAM costs, in bytes read.
    pub dram_write: f64,
    /// Partitions of DRAM, if consecutive 256 bytes belong to consecutive ones; otherwise 0.
    pub partitions: u32,
}

impl Timing {
    /// How long a copy of so many bytes within the device's memory takes, in microseconds.
    pub fn copy_us(&self, bytes: u64) -> f64 {
        // GB/s are a thousand bytes in a microsecond.
        let moved = bytes as f64 * (1.0 + self.memory.dram_write);
        self.launch.next_us + moved / (self.memory.dram * 1e3)
    }

    /// Bytes that DRAM delivers in its latency.
    pub(crate) fn bytes_in_flight(&self) -> u64 {
        (self.latency.dram / self.clock_mhz * self.memory.dram * 1e3) as u64
    }
}
