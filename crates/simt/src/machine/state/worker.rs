//! A worker: what one thread of the host runs at a time, a block whose warps take turns, or the
//! blocks of a cluster.
//!
//! Instructions get the worker whose block and warp they execute for, and may change all of its
//! state. They know nothing of the [schedule](crate::machine::schedule) that calls them.

use ptx::Special;

use super::barrier::Barriers;
use super::block::{Block, RunningBlock, Stage};
use super::drawn::Draws;
use super::on_model::{BlockLocation, Modelled};
use super::outcome::{Fault, Stop};
use super::running_launch::RunningLaunch;
use super::warp::Warp;
use crate::address::{AccessFaultKind, rank_of};
use crate::coalesce::Shape;
use crate::counters::InstructionCounters;
use crate::lanes::Row;
use crate::machine::state::asynchronous::Asynchronous;
use crate::machine::state::copies::Copies;
use crate::memory::SharedMemory;
use crate::sanitizer::{Checker, Races};
use crate::trap::TrapKind;

/// Runs clusters of blocks, one after the other.
pub(crate) struct Worker<'l> {
    pub launched: &'l RunningLaunch<'l>,
    pub counters: Vec<InstructionCounters>,
    /// The running block, and the others of its cluster.
    pub block: RunningBlock,
    /// The number of the running cluster; without clusters, of the block.
    pub cluster: u64,
    /// The number of the running cluster among those that are resident at once and share a checker.
    pub resident_cluster: u32,
    /// Whether an atomic operation has changed device memory since the last check.
    pub changed: bool,
    /// For `machine/asynchronous` alone.
    pub asynchronous: Asynchronous,
    /// The sanitizer, if any check is on.
    pub checker: Option<Box<Checker<'l>>>,
    /// Whether anything but the counters observes accesses: the sanitizer, a model, a recorder.
    pub observed: bool,
    /// Whether it inspects steps before they are executed.
    pub inspects: bool,
    /// The words that a load or store moves; those of inactive lanes are meaningless.
    pub rows: [Row; 4],
    /// The shape of each instruction's last access.
    pub shapes: Vec<Option<Box<Shape>>>,
    /// The multiprocessors that the blocks run on, if the launch has a model.
    pub modelled: Option<Box<Modelled>>,
    /// What is drawn, if the order is.
    pub draws: Option<Box<Draws>>,
    /// Executed instructions that are not in the launch's total yet.
    pub unreported: u64,
}

impl<'l> Worker<'l> {
    /// A worker with this sanitizer.
    pub fn new(launched: &'l RunningLaunch<'l>, checker: Option<Box<Checker<'l>>>) -> Self {
        let warps = launched.threads.div_ceil(32);
        let block = |rank| Block {
            rank,
            shared: SharedMemory::new(launched.shared, rank),
            barriers: Barriers::new(launched.threads),
            copies: (0..warps).map(|_| Copies::default()).collect(),
            ..Block::default()
        };
        Self {
            launched,
            counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
            block: RunningBlock::new(launched.blocks_per_cluster, block),
            cluster: 0,
            resident_cluster: 0,
            changed: false,
            asynchronous: Asynchronous::default(),
            observed: launched.recorder.is_some() || launched.launch.checks.any() || checker.is_some(),
            checker,
            inspects: (launched.launch.checks.init || launched.launch.checks.undefined || launched.launch.checks.race)
                && !launched.code.inspections.is_empty(),
            rows: [[0; 32]; 4],
            shapes: (0..launched.code.accesses).map(|_| None).collect(),
            modelled: None,
            draws: None,
            unreported: 0,
        }
    }

    /// Sets where the blocks of all following clusters run on the model, by rank.
    pub fn set_locations(&mut self, locations: impl Iterator<Item = BlockLocation>) {
        for (block, location) in self.block.all_mut().iter_mut().zip(locations) {
            block.location = location;
        }
    }

    /// Whether the steps of a warp that runs now are recorded.
    #[inline(always)]
    pub fn traces(&mut self, warp: &Warp) -> bool {
        let Some(modelled) = &mut self.modelled else { return false };
        let Some(tracer) = &mut modelled.tracer else { return false };
        self.block.location.multiprocessor == 0 && tracer.enter(self.block.number, warp.index)
    }

    /// Records that the running warp executes an instruction.
    pub fn trace(&mut self, place: u32) {
        if let Some(tracer) = self.modelled.as_mut().and_then(|modelled| modelled.tracer.as_mut())
            && (place as usize) < self.launched.code.places.len()
        {
            tracer.step(place);
        }
    }

    /// Takes it back: the warp will execute it later.
    pub fn untrace(&mut self, place: u32) {
        if let Some(tracer) = self.modelled.as_mut().and_then(|modelled| modelled.tracer.as_mut()) {
            tracer.undo(place);
        }
    }

    /// The warps of a cluster, block by block, for [`Worker::run`].
    pub fn warps(&self) -> Vec<Warp<'l>> {
        let launched = self.launched;
        let of_block = |constants| {
            (0..launched.threads.div_ceil(32)).map(move |index| Warp::new(constants, index, launched.launch.block))
        };
        launched.constants.iter().flat_map(of_block).collect()
    }

    /// The warps of each block.
    pub fn by_block<'w>(
        &self,
        warps: &'w mut [Warp<'l>],
    ) -> impl Iterator<Item = (usize, &'w mut [Warp<'l>])> + use<'w, 'l> {
        warps.chunks_mut(self.launched.threads.div_ceil(32) as usize).enumerate()
    }

    /// Gives the block with this rank its turn.
    pub fn select(&mut self, rank: usize) {
        self.block.select(rank);
        if let Some(checker) = &mut self.checker {
            checker.turn_of(self.block.number, self.block.rank);
        }
    }

    /// What the sanitizer knows of races, if it looks for them.
    pub fn races(&mut self) -> Option<&mut Races> {
        self.checker.as_mut()?.races()
    }

    /// Tells the sanitizer which cluster runs from now on.
    pub fn enter_checker(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.enter_cluster(self.resident_cluster);
        }
    }

    /// The shared memory that an address is in: of the block itself, or of another one of its
    /// cluster.
    pub fn shared_at(&self, address: u64) -> Result<&SharedMemory, AccessFaultKind> {
        let rank = rank_of(address);
        if rank == u64::from(self.block.rank) {
            return Ok(&self.block.shared);
        }
        let outside = || AccessFaultKind::OutOfBounds { nearest: Some(self.block.shared.span()) };
        let block = self.block.with_rank(rank).ok_or_else(outside)?;
        match block.stage {
            Stage::Runs => Ok(&block.shared),
            Stage::Waits => Err(AccessFaultKind::BlockNotRunning { rank: block.rank, exited: false }),
            Stage::Ended => Err(AccessFaultKind::BlockNotRunning { rank: block.rank, exited: true }),
        }
    }

    /// Adds to what the block prints.
    pub fn print(&mut self, text: &[u8]) {
        if let Some(output) = self.launched.launch.output {
            self.block.output.print(text, output.limit());
        }
    }

    /// Reports all executed instructions to the launch.
    pub fn report_steps(&mut self) {
        self.launched.report_steps(std::mem::take(&mut self.unreported));
    }

    /// Ends the worker after its last block, and returns its counters.
    pub fn finish(mut self) -> Vec<InstructionCounters> {
        self.report_steps();
        if let Some(checker) = self.checker {
            self.launched.keep_findings(checker.finish());
        }
        self.counters.pop();
        self.counters
    }

    pub fn stop(&self, fault: Fault, warp: &Warp) -> Stop {
        Stop::Trap(Box::new(self.launched.trap(fault, self.block.position, warp)))
    }

    /// Stops the cluster at a place in the program, or where a warp of it is.
    pub fn stop_at(&self, kind: TrapKind, warps: &[Warp<'l>], place: Option<u32>) -> Stop {
        let code = self.launched.code;
        let ready = warps.iter().find_map(|warp| Some((warp, warp.ready.last()?)));
        let waiting = || warps.iter().find_map(|warp| Some((warp, &warp.waiting.last()?.0)));
        let Some((warp, split)) = ready.or_else(waiting) else { return Stop::Abandoned };
        let of_place = place.and_then(|place| code.origins.iter().position(|&origin| origin == place));
        let pc = of_place.map_or(split.pc, |pc| pc as u32);
        self.stop(Fault { kind, lane: split.mask.trailing_zeros() & 31, pc }, warp)
    }

    /// The value of a special register that differs between warps.
    pub fn special(&self, which: Special, warp: &Warp) -> [u64; 32] {
        match which {
            Special::ThreadIndex(axis) => warp.threads[axis as usize].map(u64::from),
            Special::BlockIndex(axis) => [self.block.position[axis as usize].into(); 32],
            Special::ClusterIndex(axis) => {
                let axis = axis as usize;
                [(self.block.position[axis] / self.launched.cluster[axis]).into(); 32]
            }
            Special::WarpId => [warp.index.into(); 32],
            Special::MultiprocessorId => {
                let index = self.block.location.multiprocessor;
                let modelled =
                    self.modelled.as_ref().map(|modelled| modelled.multiprocessors[index].position.number.into());
                [modelled.unwrap_or(self.block.number % u64::from(self.launched.multiprocessors)); 32]
            }
            Special::ClockHigh | Special::GlobalTimerHigh => [warp.executed >> 32; 32],
            _ => [warp.executed; 32],
        }
    }
}
