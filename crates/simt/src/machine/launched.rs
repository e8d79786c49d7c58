//! A launch on its way: what all workers share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use ptx::{Axis, Module, Special};

use super::block::{Fault, Worker};
use super::resident::{self, Placement};
use super::warp::Warp;
use crate::check::{Checker, Checks, Finding, Findings, Found, Party, Site};
use crate::counters::InstructionCounters;
use crate::lanes::{Constants, Row};
use crate::output::{BlockOutput, LaunchOutput, Output};
use crate::program::{self, Code, Constant};
use crate::{Launch, LaunchError, Memory, Report, Trap};

/// `%nsmid`, as an H100 or H200 has them. `%smid` is the block's index modulo this.
const MULTIPROCESSORS: u32 = 132;

/// A launch on its way.
pub(crate) struct Launched<'l> {
    pub code: &'l Code,
    pub module: &'l Module,
    pub memory: &'l Memory,
    pub constants: Constants,
    pub parameters: Vec<u8>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    pub shared_bytes: u32,
    pub step_limit: u64,
    pub multiprocessors: u32,
    kernel: &'l str,
    cancel: Option<&'l AtomicBool>,
    progress: Option<&'l (dyn Fn(u64, u64) + Sync)>,
    steps: AtomicU64,
    /// The next block that no worker has taken.
    next: AtomicU64,
    done: AtomicU64,
    /// The lowest block that has faulted.
    faulted: AtomicU64,
    trap: Mutex<Option<(u64, Box<Trap>)>>,
    pub checks: Checks,
    found: Mutex<Findings>,
    pub output: Option<&'l Output>,
    printed: LaunchOutput,
}

/// Why a worker stops before the last block.
pub(super) enum Stop {
    Trap(Box<Trap>),
    Cancelled,
    /// A block below has faulted: nobody will ask for this one.
    Abandoned,
}

impl<'l> Launched<'l> {
    /// `offsets` are those of the parameters, `bytes` the size of all.
    pub fn new(
        code: &'l Code,
        module: &'l Module,
        memory: &'l Memory,
        launch: &'l Launch,
        offsets: &[u64],
        bytes: u64,
    ) -> Self {
        let mut parameters = vec![0; bytes as usize];
        for (&offset, argument) in offsets.iter().zip(launch.arguments) {
            parameters[offset as usize..][..argument.len()].copy_from_slice(argument);
        }
        let [x, y, z] = launch.block;
        let mut launched = Self {
            code,
            module,
            memory,
            constants: Constants::default(),
            parameters,
            grid: launch.grid,
            block: launch.block,
            threads: x * y * z,
            shared_bytes: code.static_shared as u32 + launch.dynamic_shared,
            step_limit: launch.step_limit,
            multiprocessors: launch.model.map_or(MULTIPROCESSORS, |model| model.multiprocessors),
            kernel: launch.kernel,
            cancel: launch.cancel,
            progress: launch.progress,
            steps: AtomicU64::new(0),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            faulted: AtomicU64::new(u64::MAX),
            trap: Mutex::new(None),
            checks: launch.checks,
            found: Mutex::default(),
            output: launch.output,
            printed: LaunchOutput::default(),
        };
        let rows = |list: &[Constant]| list.iter().map(|&constant| launched.row(constant)).collect::<Vec<_>>();
        let (words, doubles) = (rows(&code.constant_words), rows(&code.constant_doubles));
        launched.constants.words = words.iter().map(|row| row.map(|value| value as u32)).collect();
        launched.constants.doubles = doubles;
        launched
    }

    fn row(&self, constant: Constant) -> [u64; 32] {
        match constant {
            Constant::Bits(bits) => [bits; 32],
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
                    Special::BlockSize(axis) => of(self.block, axis),
                    Special::GridSize(axis) | Special::ClusterCount(axis) => of(self.grid, axis),
                    Special::WarpCount => self.threads.div_ceil(32),
                    Special::MultiprocessorCount => self.multiprocessors,
                    Special::ClusterSize(_) | Special::ClusterBlocks => 1,
                    Special::TotalSharedSize | Special::AggregateSharedSize => self.shared_bytes,
                    Special::DynamicSharedSize => self.shared_bytes - self.code.static_shared as u32,
                    _ => 0,
                };
                [same.into(); 32]
            }
        }
    }

    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Relaxed))
    }

    /// Whether a block below has faulted.
    pub fn is_beyond_fault(&self, block: u64) -> bool {
        self.faulted.load(Relaxed) < block
    }

    /// Instructions executed so far: those told of, and `more`.
    pub fn steps(&self, more: u64) -> u64 {
        self.steps.load(Relaxed).saturating_add(more)
    }

    pub fn tell_steps(&self, steps: u64) {
        self.steps.fetch_add(steps, Relaxed);
    }

    /// Runs all blocks.
    pub fn run(self, threads: Option<usize>, placement: Option<Placement>) -> Result<Report, LaunchError> {
        // On a model, checks are those of a rehearsal alone, whatever the order of blocks.
        let ordered = self.code.ordered || self.checks.any() && placement.is_none();
        let wanted = if ordered { 1 } else { threads.unwrap_or_else(rayon::current_num_threads) };
        let workers = wanted.clamp(1, usize::try_from(self.blocks()).unwrap_or(usize::MAX));
        let mut modelled = None;
        let counted = match placement {
            None => self.run_in_parallel(threads, workers),
            Some(placement) => {
                let on_model = || resident::run(&self, &placement);
                let (counted, counters) = match threads.map(|_| rayon::ThreadPoolBuilder::new().num_threads(workers)) {
                    Some(pool) => match pool.build() {
                        Ok(pool) => pool.install(on_model),
                        Err(_) => on_model(),
                    },
                    None => on_model(),
                };
                modelled = Some((placement.occupancy, counters));
                counted
            }
        };
        let trap = self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let found = std::mem::take(&mut *self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let (findings, findings_beyond) = self.told(found);
        if let Some(output) = self.output {
            self.printed.finish(trap.as_ref().map_or(u64::MAX, |&(block, _)| block), output);
        }
        if let Some((_, mut trap)) = trap {
            trap.findings = findings;
            return Err(LaunchError::Trap(trap));
        }
        if self.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(LaunchError::Cancelled { kernel: self.kernel.into() });
        }
        Ok(Report { instructions: self.code.places.clone(), counted, findings, findings_beyond, modelled })
    }

    /// Runs all blocks, each by itself.
    fn run_in_parallel(&self, threads: Option<usize>, workers: usize) -> Vec<InstructionCounters> {
        let total = Mutex::new(vec![InstructionCounters::default(); self.code.places.len()]);
        let work = || {
            let counted = self.work(workers as u64);
            let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            for (sum, part) in total.iter_mut().zip(counted) {
                *sum += part;
            }
        };
        let in_parallel = || rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
        match threads {
            _ if workers == 1 => work(),
            None => in_parallel(),
            Some(_) => match rayon::ThreadPoolBuilder::new().num_threads(workers).build() {
                Ok(pool) => pool.install(in_parallel),
                // The host has no threads to give: the result is the same.
                Err(_) => work(),
            },
        }
        total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What one worker does: takes blocks until there are none.
    fn work(&self, workers: u64) -> Vec<InstructionCounters> {
        let mut worker = Worker::new(self);
        let mut warps = worker.warps();
        let blocks = self.blocks();
        let share = (blocks / (workers * 64)).clamp(1, 64);
        'blocks: loop {
            let first = self.next.fetch_add(share, Relaxed);
            if first >= blocks {
                break;
            }
            let end = blocks.min(first + share);
            for block in first..end {
                if self.is_beyond_fault(block) {
                    break 'blocks;
                }
                match worker.run(&mut warps, block) {
                    Ok(()) => {}
                    Err(Stop::Trap(trap)) => {
                        self.keep(block, trap);
                        break 'blocks;
                    }
                    Err(Stop::Cancelled | Stop::Abandoned) => break 'blocks,
                }
            }
            if let Some(progress) = self.progress {
                let done = self.done.fetch_add(end - first, Relaxed) + end - first;
                progress(done, blocks);
            }
        }
        worker.finish()
    }

    /// The sanitizer of a worker.
    pub fn checker(&self) -> Checker<'l> {
        Checker::new(self.checks, self.memory, self.code, self.threads, self.shared_bytes)
    }

    /// Keeps what a worker's sanitizer found.
    pub fn keep_findings(&self, findings: Findings) {
        *self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = findings;
    }

    /// Says what findings mean in the program's text.
    fn told(&self, findings: Findings) -> (Vec<Finding>, u64) {
        let (list, beyond) = findings.into_parts();
        let told = list.into_iter().map(|Found { kind, first, second, count }| Finding {
            kind,
            kernel: self.kernel.into(),
            module: self.module.name.clone(),
            first: self.site(first),
            second: second.map(|party| self.site(party)),
            count,
        });
        (told.collect(), beyond)
    }

    fn site(&self, Party { place, block, thread, action }: Party) -> Site {
        let info = self.code.places.get(place as usize);
        let position = self.code.positions.get(place as usize);
        let [x, y, _] = self.block;
        Site {
            action,
            function: info.map_or(self.kernel, |info| &info.function).into(),
            instruction: info.map_or("", |info| &info.text).into(),
            ptx_line: info.map_or(0, |info| info.ptx_line),
            source: position.map_or(vec![], |&(function, index)| program::source(self.module, function, index)),
            block: self.block_position(block),
            thread: [thread % x, thread / x % y, thread / x / y],
        }
    }

    /// Where a block is in the grid.
    pub fn block_position(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }

    /// Keeps what a block printed.
    pub fn keep_output(&self, block: u64, printed: &mut BlockOutput) {
        if let Some(output) = self.output {
            self.printed.add(block, printed, output.limit());
        }
    }

    /// Says how far the launch is.
    pub fn tell_progress(&self, done: u64) {
        if let Some(progress) = self.progress {
            progress(done, self.blocks());
        }
    }

    /// Keeps the trap of a block that has stopped, where that is why.
    pub(super) fn keep_stop(&self, block: u64, stop: Stop) -> Stop {
        match stop {
            Stop::Trap(trap) => {
                self.keep(block, trap);
                Stop::Abandoned
            }
            other => other,
        }
    }

    /// Keeps the trap of the lowest block.
    fn keep(&self, block: u64, trap: Box<Trap>) {
        self.faulted.fetch_min(block, Relaxed);
        let mut kept = self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.as_ref().is_none_or(|&(other, _)| block < other) {
            *kept = Some((block, trap));
        }
    }

    /// Says what a fault means in the program's text.
    pub(super) fn trap(&self, fault: Fault, block: [u32; 3], warp: &Warp) -> Trap {
        let origin = self.code.origins.get(fault.pc as usize).map_or(0, |&origin| origin as usize);
        let place = self.code.places.get(origin);
        let position = self.code.positions.get(origin);
        Trap {
            kind: fault.kind,
            kernel: self.kernel.into(),
            function: place.map_or(self.kernel, |place| &place.function).into(),
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
