//! A running launch: what all workers share. A program creates it, the schedule runs it, and
//! workers add traps, findings, output and progress to it, from several threads.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ptx::{Axis, Module, Special};

use super::outcome::{Fault, Stop};
use super::warp::Warp;
use crate::address::BLOCK_WINDOW_BYTES;
use crate::lanes::{Constants, Row};
use crate::launch::most_blocks;
use crate::memory::{RESERVED_SHARED, SharedParts};
use crate::output::{BlockOutput, LaunchOutput};
use crate::program::{Code, Constant, WORKSPACE_HIGH, WORKSPACE_LOW};
use crate::report::Evenness;
use crate::request::Recorder;
use crate::sanitizer::{Checker, Finding, Findings, Found, Party};
use crate::site::Site;
use crate::{Launch, Memory, Trap, program};

/// `%nsmid`, as on an H100 or H200. `%smid` is the block's index modulo this.
const MULTIPROCESSORS: u32 = 132;

/// The unit of `%total_smem_size`, as on an H100.
const SHARED_UNIT: u32 = 128;

/// The part of the shared memory that the system reserves which is in use, as on an H100 (CUDA 13):
/// `%reserved_smem_offset_end`. `%reserved_smem_offset_0` and `_1` are its start there.
const RESERVED_IN_USE: u32 = 288;

/// A running launch.
pub(crate) struct RunningLaunch<'l> {
    /// What it was asked for.
    pub launch: &'l Launch<'l>,
    pub code: &'l Code,
    pub module: &'l Module,
    pub memory: &'l Memory,
    /// The constant rows, for each rank of a block in its cluster.
    pub constants: Vec<Constants>,
    pub parameters: Vec<u8>,
    /// Blocks of a cluster, per dimension.
    pub cluster: [u32; 3],
    pub blocks_per_cluster: u32,
    /// Whether the launch has clusters.
    explicit_cluster: bool,
    /// Threads of a block.
    pub threads: u32,
    pub shared: SharedParts,
    /// The address of the grid's workspace, or 0 if there is none.
    workspace: u64,
    pub multiprocessors: u32,
    steps: AtomicU64,
    evenness: Mutex<Evenness>,
    /// The next cluster to run.
    pub next: AtomicU64,
    pub done: AtomicU64,
    /// The lowest cluster that has faulted.
    faulted: AtomicU64,
    pub trap: Mutex<Option<(u64, Box<Trap>)>>,
    pub found: Mutex<Findings>,
    pub printed: LaunchOutput,
    /// Keeps requests, if the launch asks for any.
    pub recorder: Option<Recorder>,
}

impl<'l> RunningLaunch<'l> {
    /// `offsets` and `bytes` are the offsets of the parameters and their total size; `cluster` is
    /// what the launch or the kernel requests, `workspace` the address of the grid's workspace, or
    /// 0.
    pub fn new(
        code: &'l Code,
        module: &'l Module,
        memory: &'l Memory,
        launch: &'l Launch<'l>,
        (offsets, bytes): (&[u64], u64),
        cluster: Option<[u32; 3]>,
        workspace: u64,
    ) -> Self {
        let mut parameters = vec![0; bytes as usize];
        for (&offset, argument) in offsets.iter().zip(launch.arguments) {
            parameters[offset as usize..][..argument.len()].copy_from_slice(argument);
        }
        let [x, y, z] = launch.block;
        let mut launched = Self {
            launch,
            code,
            module,
            memory,
            constants: Vec::new(),
            parameters,
            cluster: cluster.unwrap_or([1; 3]),
            blocks_per_cluster: cluster.map_or(1, |cluster| cluster.iter().product()),
            explicit_cluster: cluster.is_some(),
            threads: x * y * z,
            shared: SharedParts::new(code.static_shared as u32 + launch.dynamic_shared, code.reads_reserved_shared()),
            workspace,
            multiprocessors: launch.model.map_or(MULTIPROCESSORS, |model| model.multiprocessors),
            steps: AtomicU64::new(0),
            evenness: Mutex::default(),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            faulted: AtomicU64::new(u64::MAX),
            trap: Mutex::new(None),
            found: Mutex::default(),
            printed: LaunchOutput::default(),
            recorder: Recorder::new(launch.watch.clone(), launch.counts_words),
        };
        let of_rank = |rank| {
            let row = |&constant| launched.row(constant, rank);
            Constants {
                words: code.constant_words.iter().map(|constant| row(constant).map(|value| value as u32)).collect(),
                doubles: code.constant_doubles.iter().map(row).collect(),
            }
        };
        launched.constants = (0..launched.blocks_per_cluster).map(of_rank).collect();
        launched
    }

    fn row(&self, constant: Constant, rank: u32) -> [u64; 32] {
        match constant {
            Constant::Bits(bits) => [bits; 32],
            Constant::Shared(offset) => [offset.wrapping_add(u64::from(rank) * BLOCK_WINDOW_BYTES); 32],
            Constant::Parameter { offset, bytes, signed } => {
                let (from, count) = (offset as usize, bytes as usize);
                let bytes = self.parameters.get(from..from.saturating_add(count)).unwrap_or_default();
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let shift = 64 - 8 * count as u32;
                [if signed { ((value << shift) as i64 >> shift) as u64 } else { value }; 32]
            }
            Constant::Special(special) => {
                let lanes = |value: fn(u32) -> u32| -> Row { std::array::from_fn(|lane| value(lane as u32)) };
                let of = |dimensions: [u32; 3], axis: Axis| dimensions[axis as usize];
                let same = match special {
                    Special::LaneId => return lanes(|lane| lane).map(u64::from),
                    Special::LaneMaskEqual => return lanes(|lane| 1 << lane).map(u64::from),
                    Special::LaneMaskLess => return lanes(|lane| (1 << lane) - 1).map(u64::from),
                    Special::LaneMaskLessEqual => return lanes(|lane| u32::MAX >> (31 - lane)).map(u64::from),
                    Special::LaneMaskGreater => return lanes(|lane| !(u32::MAX >> (31 - lane))).map(u64::from),
                    Special::LaneMaskGreaterEqual => return lanes(|lane| u32::MAX << lane).map(u64::from),
                    Special::BlockSize(axis) => of(self.launch.block, axis),
                    Special::GridSize(axis) => of(self.launch.grid, axis),
                    Special::ClusterCount(axis) => of(self.launch.grid, axis) / of(self.cluster, axis),
                    Special::ClusterSize(axis) => of(self.cluster, axis),
                    Special::ClusterBlocks => self.blocks_per_cluster,
                    Special::BlockRankInCluster => rank,
                    Special::BlockIndexInCluster(axis) => of(self.position_in_cluster(rank), axis),
                    Special::IsExplicitCluster => self.explicit_cluster.into(),
                    Special::WarpCount => self.threads.div_ceil(32),
                    Special::MultiprocessorCount => self.multiprocessors,
                    Special::TotalSharedSize => self.shared.bytes.next_multiple_of(SHARED_UNIT),
                    Special::AggregateSharedSize => self.shared.bytes + RESERVED_SHARED,
                    Special::ReservedSharedBegin | Special::ReservedShared0 | Special::ReservedShared1 => {
                        self.reserved_shared(rank)
                    }
                    Special::ReservedSharedEnd => self.reserved_shared(rank) + RESERVED_IN_USE,
                    Special::ReservedSharedSize => RESERVED_SHARED,
                    Special::Environment(WORKSPACE_HIGH) => (self.workspace >> 32) as u32,
                    Special::Environment(WORKSPACE_LOW) => self.workspace as u32,
                    Special::DynamicSharedSize => self.shared.bytes - self.code.static_shared as u32,
                    _ => 0,
                };
                [same.into(); 32]
            }
        }
    }

    /// Where the shared memory of a block begins that the system reserves.
    fn reserved_shared(&self, rank: u32) -> u32 {
        self.shared.reserved.unwrap_or(0) + rank * BLOCK_WINDOW_BYTES as u32
    }

    pub fn blocks(&self) -> u64 {
        self.launch.grid.iter().map(|&n| u64::from(n)).product()
    }

    pub fn clusters(&self) -> u64 {
        self.blocks() / u64::from(self.blocks_per_cluster)
    }

    pub fn is_cancelled(&self) -> bool {
        self.launch.cancel.is_some_and(|cancel| cancel.load(Relaxed))
    }

    /// Whether a lower cluster has faulted.
    pub fn is_beyond_fault(&self, cluster: u64) -> bool {
        self.faulted.load(Relaxed) < cluster
    }

    /// Forgets what has run: the launch starts again.
    pub fn begin_again(&self) {
        self.steps.store(0, Relaxed);
        self.faulted.store(u64::MAX, Relaxed);
        *self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
    }

    /// Instructions executed so far: those reported, plus `more`.
    pub fn steps(&self, more: u64) -> u64 {
        self.steps.load(Relaxed).saturating_add(more)
    }

    pub fn report_steps(&self, steps: u64) {
        self.steps.fetch_add(steps, Relaxed);
    }

    /// Adds a block that has ended, with its warps.
    pub fn add_evenness(&self, warps: &[Warp]) {
        let mut all = self.evenness.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.block_instructions.add(warps.iter().map(|warp| warp.executed).sum());
        all.block_accesses.add(warps.iter().map(|warp| warp.accesses).sum());
        for warp in warps {
            all.warp_instructions.add(warp.executed);
            all.warp_accesses.add(warp.accesses);
        }
    }

    /// How evenly the blocks that have ended shared the work.
    pub fn evenness(&self) -> Evenness {
        *self.evenness.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A sanitizer for this many blocks at a time.
    pub fn checker(&self, blocks: u32) -> Checker<'l> {
        let clusters = (blocks / self.blocks_per_cluster, self.blocks_per_cluster);
        Checker::new(self.launch.checks, self.memory, self.code, (clusters, self.threads), self.shared)
    }

    /// How many blocks the sanitizer has to distinguish.
    pub fn blocks_at_once(&self) -> u32 {
        if self.launch.cooperative { self.blocks() as u32 } else { self.blocks_per_cluster }
    }

    /// How many clusters can run side by side without a model.
    pub fn cluster_capacity(&self) -> u64 {
        match self.launch.cooperative || self.launch.checks.any() {
            true => 0,
            false => {
                let most = most_blocks(self.threads, self.shared.bytes, self.code.local_bytes());
                most / u64::from(self.blocks_per_cluster)
            }
        }
    }

    /// Keeps what a worker's sanitizer found.
    pub fn keep_findings(&self, findings: Findings) {
        *self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = findings;
    }

    /// Resolves findings to the program's text.
    pub fn described(&self, findings: Findings) -> (Vec<Finding>, u64) {
        let (list, beyond) = findings.into_parts();
        let described = list.into_iter().map(|Found { kind, first, second, count }| Finding {
            kind,
            kernel: self.launch.kernel.into(),
            module: self.module.name.clone(),
            first: self.site(first),
            second: second.map(|party| self.site(party)),
            count,
        });
        (described.collect(), beyond)
    }

    pub fn site(&self, Party { place, block, thread, action }: Party) -> Site {
        let info = self.code.places.get(place as usize);
        let position = self.code.positions.get(place as usize);
        Site {
            action,
            function: info.map_or(self.launch.kernel, |info| &info.function).into(),
            instruction: info.map_or("", |info| &info.text).into(),
            ptx_line: info.map_or(0, |info| info.ptx_line),
            source: position.map_or(vec![], |&(function, index)| program::source(self.module, function, index)),
            block: self.block_position(block),
            thread: self.thread_position(thread),
        }
    }

    /// The position of a thread in its block.
    pub fn thread_position(&self, thread: u32) -> [u32; 3] {
        position_in(thread.into(), self.launch.block)
    }

    /// The position of a block in the grid. Blocks are numbered cluster by cluster.
    pub fn block_position(&self, block: u64) -> [u32; 3] {
        let blocks = u64::from(self.blocks_per_cluster);
        let clusters = std::array::from_fn(|axis| self.launch.grid[axis] / self.cluster[axis]);
        let (cluster, within) = (position_in(block / blocks, clusters), position_in(block % blocks, self.cluster));
        std::array::from_fn(|axis| cluster[axis] * self.cluster[axis] + within[axis])
    }

    /// The position of a block in its cluster.
    fn position_in_cluster(&self, rank: u32) -> [u32; 3] {
        position_in(rank.into(), self.cluster)
    }

    /// Keeps what a block printed.
    pub fn keep_output(&self, block: u64, printed: &mut BlockOutput) {
        if let Some(output) = self.launch.output {
            self.printed.add(block, printed, output.limit());
        }
    }

    /// Reports progress to the launch's callback.
    pub fn report_progress(&self, done: u64) {
        if let Some(progress) = self.launch.progress {
            progress(done, self.blocks());
        }
    }

    /// Keeps the trap of a cluster that has stopped because of one.
    pub fn keep_stop(&self, cluster: u64, stop: Stop) -> Stop {
        match stop {
            Stop::Trap(trap) => {
                self.keep(cluster, trap);
                Stop::Abandoned
            }
            other => other,
        }
    }

    /// Keeps the trap of the lowest cluster.
    pub fn keep(&self, cluster: u64, trap: Box<Trap>) {
        self.faulted.fetch_min(cluster, Relaxed);
        let mut kept = self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.as_ref().is_none_or(|&(other, _)| cluster < other) {
            *kept = Some((cluster, trap));
        }
    }

    /// Resolves a fault to the program's text.
    pub fn trap(&self, fault: Fault, block: [u32; 3], warp: &Warp) -> Trap {
        let origin = self.code.origins.get(fault.pc as usize).map_or(0, |&origin| origin as usize);
        let place = self.code.places.get(origin);
        let position = self.code.positions.get(origin);
        Trap {
            kind: fault.kind,
            kernel: self.launch.kernel.into(),
            function: place.map_or(self.launch.kernel, |place| &place.function).into(),
            instruction: place.map_or("", |place| &place.text).into(),
            module: self.module.name.clone(),
            ptx_line: place.map_or(0, |place| place.ptx_line),
            source: position.map_or(vec![], |&(function, index)| program::source(self.module, function, index)),
            block,
            thread: warp.thread(fault.lane),
            warp: warp.index,
            lane: fault.lane & 31,
            findings: Vec::new(),
        }
    }
}

/// The position of a number in a box; x varies fastest.
fn position_in(number: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}
