//! A cluster of blocks, usually just one block: the warps of each block take turns, and so do the blocks, until all
//! have exited.
//!
//! A cluster runs on one thread of the host, and a launch without clusters has clusters of one, so
//! there is one way through the machine. Clusters run in parallel; traps and output are ordered by
//! cluster. Shared memory of a block that has not started or has exited is refused: the manual
//! leaves such accesses undefined.

use ptx::Special;

use super::asynchronous::{self, PATIENCE};
use super::barrier::{Barriers, CLUSTER, COUNT};
use super::cluster;
use super::copies::Copies;
use super::launched::{Launched, Stop};
use super::local::lanes;
use super::modelled::{Modelled, Place};
use super::patience;
use super::transit::{self, Arrivals, Departures};
use super::warp::{Split, Wait, Warp};
use super::written;
use crate::FindingKind;
use crate::check::Checker;
use crate::counters::InstructionCounters;
use crate::lanes::Row;
use crate::memory::{AccessFaultKind, Shape, SharedMemory, rank_of};
use crate::output::BlockOutput;
use crate::program::{Action, Code};
use crate::trap::{Absence, TrapKind};

/// Instructions that a warp executes before it is another's turn.
pub(super) const QUANTUM: u64 = 1 << 13;
/// Instructions after which a worker adds its count to that of all.
const TALLY: u64 = 1 << 16;

/// The progress of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No thread has executed anything yet.
    #[default]
    Waits,
    Runs,
    /// All threads have exited.
    Ended,
}

/// A running block.
#[derive(Default)]
pub(super) struct Block {
    /// Its number in the launch: the blocks of a cluster are neighbours.
    pub number: u64,
    /// Where it is in the grid.
    pub position: [u32; 3],
    /// Its number in its cluster.
    pub rank: u32,
    /// Where it is on the launch's model.
    pub place: Place,
    pub shared: SharedMemory,
    pub barriers: Barriers,
    /// What each warp copies.
    pub copies: Vec<Copies>,
    /// What the copy engine is to bring to global memory.
    pub departures: Departures,
    stage: Stage,
    /// What it prints.
    output: BlockOutput,
}

/// What runs clusters of blocks, one after the other.
pub(super) struct Worker<'l> {
    pub launched: &'l Launched<'l>,
    pub counters: Vec<InstructionCounters>,
    /// The block whose turn it is.
    pub block: Block,
    /// In clusters of several: all blocks that wait for their turn, by rank.
    resting: Vec<Block>,
    /// The number of the cluster that runs.
    pub cluster: u64,
    /// Its number among those that share a checker.
    pub seat: u32,
    /// Whether an atomic operation has changed device memory since the last look.
    pub changed: bool,
    /// Whether any thread has reached the cluster's barrier since it was last complete.
    pub cluster_arrivals: bool,
    /// What the copy engine is to bring to the cluster's shared memory.
    pub arrivals: Arrivals,
    /// How many phase waits in a row have failed.
    pub fruitless_waits: u32,
    /// The sanitizer, if any check is on.
    pub checker: Option<Box<Checker<'l>>>,
    /// Whether it looks at steps before they are executed.
    pub inspects: bool,
    /// The words that a load or store moves; those of inactive lanes mean nothing.
    pub rows: [Row; 4],
    /// The shape of the last access of each instruction that has made one.
    pub shapes: Vec<Option<Box<Shape>>>,
    /// The multiprocessors that the blocks are on, where the launch has a model.
    pub modelled: Option<Box<Modelled>>,
    /// Instructions executed that the launch's total does not have yet.
    untold: u64,
}

/// A fault, before anything is known of the program's text.
#[derive(Debug)]
pub(super) struct Fault {
    pub kind: TrapKind,
    pub lane: u32,
    pub pc: u32,
}

/// What came of a turn of all warps of a block.
struct Turn {
    /// Whether any of them could do anything.
    progress: bool,
    /// Whether all have exited.
    done: bool,
}

impl<'l> Worker<'l> {
    /// One with this sanitizer.
    pub fn new(launched: &'l Launched<'l>, checker: Option<Box<Checker<'l>>>) -> Self {
        let warps = launched.threads.div_ceil(32);
        let mut blocks: Vec<Block> = (0..launched.blocks_per_cluster)
            .map(|rank| Block {
                rank,
                shared: SharedMemory::new(launched.shared_bytes, rank),
                barriers: Barriers::new(launched.threads),
                copies: (0..warps).map(|_| Copies::default()).collect(),
                ..Block::default()
            })
            .collect();
        let only = blocks.pop_if(|_| launched.blocks_per_cluster == 1);
        Self {
            launched,
            counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
            block: only.unwrap_or_default(),
            resting: blocks,
            cluster: 0,
            seat: 0,
            changed: false,
            cluster_arrivals: false,
            arrivals: Arrivals::default(),
            fruitless_waits: 0,
            checker,
            inspects: (launched.checks.init || launched.checks.undefined || launched.checks.race)
                && !launched.code.inspections.is_empty(),
            rows: [[0; 32]; 4],
            shapes: (0..launched.code.accesses).map(|_| None).collect(),
            modelled: None,
            untold: 0,
        }
    }

    /// Says where the blocks of all clusters to come are on the model, by rank.
    pub fn take_places(&mut self, places: impl Iterator<Item = Place>) {
        for (rank, place) in places.enumerate() {
            self.switch(rank);
            self.block.place = place;
            self.switch(rank);
        }
    }

    /// The warps of a cluster, block by block, for [`Worker::run`].
    pub fn warps(&self) -> Vec<Warp<'l>> {
        let launched = self.launched;
        let of_block = |constants| {
            (0..launched.threads.div_ceil(32)).map(move |index| Warp::new(constants, index, launched.block))
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

    /// Gives a block its turn, or takes it away again.
    pub fn switch(&mut self, rank: usize) {
        if let Some(block) = self.resting.get_mut(rank) {
            std::mem::swap(&mut self.block, block);
            if let Some(checker) = &mut self.checker {
                checker.turn_of(self.block.number, self.block.rank);
            }
        }
    }

    /// Reports to the sanitizer whose turn it is.
    pub fn take_seat(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.take_seat(self.seat);
            checker.turn_of(self.block.number, self.block.rank);
        }
    }

    /// The shared memory that an address is in: of the block itself, or of another one of its cluster.
    pub fn shared_at(&self, address: u64) -> Result<&SharedMemory, AccessFaultKind> {
        let rank = rank_of(address);
        if rank == u64::from(self.block.rank) {
            return Ok(&self.block.shared);
        }
        let outside = || AccessFaultKind::OutOfBounds { nearest: Some(self.block.shared.span()) };
        let block = usize::try_from(rank).ok().and_then(|rank| self.resting.get(rank)).ok_or_else(outside)?;
        match block.stage {
            Stage::Runs => Ok(&block.shared),
            Stage::Waits => Err(AccessFaultKind::BlockNotThere { rank: block.rank, exited: false }),
            Stage::Ended => Err(AccessFaultKind::BlockNotThere { rank: block.rank, exited: true }),
        }
    }

    /// Adds to what the block prints.
    pub fn print(&mut self, text: &[u8]) {
        if let Some(output) = self.launched.output {
            self.block.output.print(text, output.limit());
        }
    }

    /// Runs a cluster to its end.
    pub fn run(&mut self, warps: &mut [Warp<'l>], cluster: u64) -> Result<(), Stop> {
        self.begin(warps, cluster);
        while !self.turn(warps, QUANTUM)? {}
        Ok(())
    }

    /// Takes up a cluster, at its start.
    pub fn begin(&mut self, warps: &mut [Warp<'l>], cluster: u64) {
        let launched = self.launched;
        self.cluster = cluster;
        (self.cluster_arrivals, self.fruitless_waits) = (false, 0);
        self.arrivals.clear();
        for rank in 0..launched.blocks_per_cluster {
            self.switch(rank as usize);
            let block = &mut self.block;
            block.number = cluster * u64::from(launched.blocks_per_cluster) + u64::from(rank);
            block.position = launched.block_position(block.number);
            block.shared.reset(launched.shared_bytes);
            block.barriers.reset();
            block.copies.iter_mut().for_each(Copies::clear);
            block.departures.clear();
            block.stage = Stage::Waits;
            self.switch(rank as usize);
        }
        if let Some(checker) = &mut self.checker
            && self.seat == 0
        {
            checker.start(cluster * u64::from(launched.blocks_per_cluster));
        }
        for warp in warps.iter_mut() {
            warp.start(&launched.code.functions[0]);
        }
    }

    /// Gives each warp of the cluster its turn, of at most `quantum` instructions. Returns whether the cluster has ended.
    pub fn turn(&mut self, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
        let result = self.turn_of_blocks(warps, quantum);
        if !matches!(result, Ok(false)) {
            for rank in 0..self.resting.len().max(1) {
                self.switch(rank);
                self.launched.keep_output(self.block.number, &mut self.block.output);
                self.switch(rank);
            }
        }
        result
    }

    fn turn_of_blocks(&mut self, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
        let (mut progress, mut done) = (false, true);
        for (rank, warps) in self.by_block(warps) {
            self.switch(rank);
            self.block.stage = Stage::Runs;
            let turn = self.turn_of_each(warps, quantum);
            if warps.iter().all(|warp| warp.alive == 0) {
                self.block.stage = Stage::Ended;
                warps.iter_mut().for_each(|warp| written::settle(self, warp));
            }
            let finished = match self.block.stage {
                Stage::Ended => transit::finish(self).map_err(|fault| self.stop(fault, &warps[0])),
                _ => Ok(()),
            };
            self.switch(rank);
            let turn = turn.and_then(|turn| finished.map(|()| turn))?;
            progress |= turn.progress;
            done &= turn.done;
        }
        progress |= self.cluster_arrivals && cluster::complete(self, warps);
        progress |= !progress && self.cluster_arrivals && cluster::go_on_apart(warps);
        progress |= !progress && !done && self.go_on_past_lanes(warps);
        progress |= !progress && !done && self.end_past_barriers(warps);
        if !progress && !done {
            self.wake_or_stop(warps)?;
        }
        Ok(done)
    }

    fn turn_of_each(&mut self, warps: &mut [Warp<'l>], quantum: u64) -> Result<Turn, Stop> {
        let (mut progress, mut done) = (false, true);
        for index in 0..warps.len() {
            self.release_phases(&mut warps[index], false)?;
            let warp = &mut warps[index];
            if warp.ready.is_empty() && !self.release_lanes(warp) {
                done &= warp.waiting.is_empty();
                continue;
            }
            (progress, done) = (true, false);
            let before = warp.executed;
            let most = if warp.apart { patience::QUANTUM } else { quantum };
            let quantum = self.launched.step_limit.clamp(1, quantum.min(most));
            let result = super::step::run(self, warp, quantum);
            self.untold += warp.executed - before;
            result.map_err(|fault| self.stop(fault, &warps[index]))?;
            self.check(&warps[index])?;
            let warp = &mut warps[index];
            if warp.executed >= warp.look_at {
                patience::look(self.launched.code, warp);
            }
            for barrier in self.block.barriers.take_complete() {
                if let Some(races) = self.checker.as_mut().and_then(|checker| checker.races()) {
                    races.complete(barrier);
                }
                self.release(warps, barrier);
            }
        }
        Ok(Turn { progress, done })
    }

    /// Does the launch go on?
    fn check(&mut self, warp: &Warp) -> Result<(), Stop> {
        let launched = self.launched;
        if launched.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if launched.is_beyond_fault(self.cluster) {
            return Err(Stop::Abandoned);
        }
        let steps = launched.steps(self.untold);
        if steps > launched.step_limit {
            let split = warp.ready.last().or(warp.waiting.last().map(|(split, _)| split));
            let kind = TrapKind::StepLimit { limit: launched.step_limit };
            let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
            return Err(self.stop(Fault { kind, lane, pc }, warp));
        }
        if self.untold >= TALLY {
            self.tell_steps();
        }
        Ok(())
    }

    /// Reports all executed instructions to the launch.
    pub fn tell_steps(&mut self) {
        self.launched.tell_steps(std::mem::take(&mut self.untold));
    }

    /// To be called when the worker has run its last block.
    pub fn finish(mut self) -> Vec<InstructionCounters> {
        self.tell_steps();
        if let Some(checker) = self.checker {
            self.launched.keep_findings(checker.finish());
        }
        self.counters.pop();
        self.counters
    }

    fn stop(&self, fault: Fault, warp: &Warp) -> Stop {
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

    /// Lets the splits go on that waited at a barrier which is complete.
    fn release(&mut self, warps: &mut [Warp<'l>], barrier: u32) {
        if self.block.barriers.has_exits() {
            self.tell_of_exits(warps, barrier);
        }
        let outcome = self.block.barriers.outcome(barrier);
        for warp in warps {
            let mut index = 0;
            while index < warp.waiting.len() {
                let (mut split, wait) = warp.waiting[index];
                if !matches!(wait, Wait::Barrier(number) if number == barrier) {
                    index += 1;
                    continue;
                }
                warp.waiting.swap_remove(index);
                super::step::pass_barrier(self.launched, warp, &split, &outcome);
                split.pc += 1;
                warp.resume(split);
            }
        }
    }

    /// Reports, under `strict`, a barrier for all threads of the block that completed without some of them.
    #[cold]
    fn tell_of_exits(&mut self, warps: &[Warp<'l>], barrier: u32) {
        let code = self.launched.code;
        let Some(checker) = self.checker.as_mut().filter(|checker| checker.checks().strict) else { return };
        let waits = |warp: &Warp| {
            let mut waiting = warp.waiting.iter();
            waiting
                .find(|(_, wait)| matches!(wait, Wait::Barrier(number) if *number == barrier))
                .map(|&(split, _)| split)
        };
        let Some((warp, split)) = warps.iter().find_map(|warp| Some((warp, waits(warp)?))) else { return };
        let Some(instruction) = code.instructions.get(split.pc as usize) else { return };
        let exited = warps.iter().find_map(|warp| Some(warp.thread(lanes(warp.exists & !warp.alive).next()? as u32)));
        if let (Action::Barrier(waited), Some(thread)) = (&instruction.action, exited)
            && waited.threads.is_none()
        {
            let kind = FindingKind::BarrierLeft { barrier, thread, in_warp: false };
            checker.tell(kind, instruction.counter, warp.index, split.mask.trailing_zeros() & 31, None);
        }
    }

    /// Lets splits of a warp go on that waited for each other. Returns whether there were any.
    fn release_lanes(&mut self, warp: &mut Warp<'l>) -> bool {
        for index in 0..warp.waiting.len() {
            let (split, Wait::Lanes { members }) = warp.waiting[index] else { continue };
            let code = self.launched.code;
            let meets = |entry: &(Split, Wait)| meets(code, &split, members, entry);
            let there = lanes_there(code, warp, &split, members);
            if members & warp.alive & !there != 0 {
                continue;
            }
            let (met, rest) = std::mem::take(&mut warp.waiting).into_iter().partition::<Vec<_>, _>(meets);
            warp.waiting = rest;
            super::observe::lanes_met(self, warp, &split, there);
            super::step::cross_lanes(code, warp, &split, there);
            for (mut split, _) in met {
                split.pc += 1;
                warp.ready.push(split);
            }
            return true;
        }
        false
    }

    /// No split can go on: where lanes wait for others of their warp that are on no way of their own, but wait to be one split with them
    /// again, these go on. Most often they are about to exit. Returns whether there were any.
    fn go_on_past_lanes(&mut self, warps: &mut [Warp<'l>]) -> bool {
        let mut any = false;
        for (rank, warps) in self.by_block(warps) {
            self.switch(rank);
            for warp in warps {
                let joined = warp.waits_at_joins(|_| true);
                let held_up = warp.waiting.iter().find_map(|(split, wait)| {
                    let Wait::Lanes { members } = *wait else { return None };
                    let missing = members & warp.alive & !lanes_there(self.launched.code, warp, split, members);
                    (missing & !joined == 0).then_some((*split, members, missing))
                });
                if let Some((split, members, missing)) = held_up {
                    super::observe::lanes_absent(self, warp, &split, members, missing);
                    any |= warp.go_on_apart(|_| true);
                }
            }
            self.switch(rank);
        }
        any
    }

    /// No split can go on: lanes that have nothing before them but their end, and wait for lanes of their warp that wait at a barrier, exit.
    /// Returns whether there were any.
    fn end_past_barriers(&mut self, warps: &mut [Warp<'l>]) -> bool {
        let code = self.launched.code;
        let at_barrier = |(_, wait): &(Split, Wait)| matches!(wait, Wait::Barrier(number) if *number < COUNT);
        let mut any = false;
        for warp in warps.iter_mut().filter(|warp| warp.waiting.iter().any(at_barrier)) {
            any |= warp.go_on_apart(|pc| code.ends_at(pc));
        }
        any
    }

    /// No split can go on: waits for phases fail, up to a limit.
    fn wake_or_stop(&mut self, warps: &mut [Warp<'l>]) -> Result<(), Stop> {
        if self.fruitless_waits >= PATIENCE || !warps.iter().any(waits_for_phase) {
            return Err(self.deadlock_of_blocks(warps));
        }
        self.fruitless_waits += 1;
        for (rank, warps) in self.by_block(warps) {
            self.switch(rank);
            warps.iter_mut().try_for_each(|warp| self.release_phases(warp, true))?;
            self.switch(rank);
        }
        Ok(())
    }

    /// Lets splits go on that waited for a phase which is complete now; all of them, if it is the `last` time to ask.
    fn release_phases(&mut self, warp: &mut Warp<'l>, last: bool) -> Result<(), Stop> {
        if !waits_for_phase(warp) {
            return Ok(());
        }
        let all = std::mem::take(&mut warp.waiting);
        for (mut split, wait) in all {
            if !matches!(wait, Wait::Phase) {
                warp.waiting.push((split, wait));
                continue;
            }
            match asynchronous::test(self, warp, &split, split.mask, last) {
                Ok(true) => {
                    split.pc += 1;
                    warp.ready.push(split);
                }
                Ok(false) => {}
                Err(fault) => return Err(self.stop(fault, warp)),
            }
        }
        Ok(())
    }

    /// Nothing can go on: finds a block whose threads wait for something else than the cluster's barrier. (That one is complete
    /// when all threads wait there.)
    fn deadlock_of_blocks(&mut self, warps: &mut [Warp<'l>]) -> Stop {
        for (rank, warps) in self.by_block(warps) {
            let mut waits = warps.iter().flat_map(|warp| &warp.waiting);
            if waits.any(|(_, wait)| !matches!(wait, Wait::Barrier(CLUSTER))) {
                self.switch(rank);
                return self.deadlock(warps);
            }
        }
        Stop::Abandoned
    }

    /// Finds the threads of a block that others wait for.
    fn deadlock(&self, warps: &[Warp<'l>]) -> Stop {
        let waiting = || warps.iter().flat_map(|warp| warp.waiting.iter().map(move |entry| (warp, entry)));
        let at_barrier = waiting().find_map(|(warp, (split, wait))| match wait {
            Wait::Barrier(CLUSTER) | Wait::Lanes { .. } | Wait::Phase => None,
            Wait::Barrier(barrier) => Some((warp, split, *barrier)),
        });
        if let Some((warp, (split, _))) = waiting().find(|(_, (_, wait))| matches!(wait, Wait::Phase)) {
            let kind = asynchronous::never_complete(self, warp, split);
            return self.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp);
        }
        if let Some((warp, split, barrier)) = at_barrier {
            let parties = Barriers::parties(barrier);
            let comes = |warp: &&Warp| parties.as_ref().is_none_or(|parties| parties.contains(&warp.index));
            let absent = warps.iter().filter(comes).find_map(|warp| {
                lanes(warp.exists).find_map(|lane| {
                    let absence = absence(warp, lane as u32);
                    (absence != Absence::AtBarrier(barrier)).then_some((warp.thread(lane as u32), absence))
                })
            });
            let (arrived, expected) = self.block.barriers.state(barrier);
            let kind = TrapKind::BarrierNeverReached { barrier, arrived, expected, missing: absent };
            return self.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp);
        }
        let in_warp = waiting().find_map(|(warp, (split, wait))| match wait {
            Wait::Lanes { members } => Some((warp, split, *members)),
            Wait::Barrier(_) | Wait::Phase => None,
        });
        match in_warp {
            Some((warp, split, members)) => {
                let missing = members & warp.alive & !split.mask;
                let absence = absence(warp, missing.trailing_zeros());
                let kind = TrapKind::WarpNeverConverges { members, missing, absence };
                self.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp)
            }
            None => Stop::Abandoned,
        }
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
                let place = self.block.place.multiprocessor;
                let modelled =
                    self.modelled.as_ref().map(|modelled| modelled.multiprocessors[place].position.number.into());
                [modelled.unwrap_or(self.block.number % u64::from(self.launched.multiprocessors)); 32]
            }
            Special::ClockHigh | Special::GlobalTimerHigh => [warp.executed >> 32; 32],
            _ => [warp.executed; 32],
        }
    }
}

/// Whether an entry waits for the same lanes as a split does, and at the same place.
fn meets(code: &Code, split: &Split, members: u32, (other, wait): &(Split, Wait)) -> bool {
    matches!(wait, Wait::Lanes { members: others } if *others == members) && super::step::may_meet(code, split, other)
}

/// The lanes that have reached the point where a split waits for `members`.
fn lanes_there(code: &Code, warp: &Warp, split: &Split, members: u32) -> u32 {
    let there = warp.waiting.iter().filter(|entry| meets(code, split, members, entry));
    there.fold(0, |mask, (split, _)| mask | split.mask)
}

fn waits_for_phase(warp: &Warp) -> bool {
    warp.waiting.iter().any(|(_, wait)| matches!(wait, Wait::Phase))
}

/// What a lane does that others wait for.
pub(super) fn absence(warp: &Warp, lane: u32) -> Absence {
    if warp.exists >> (lane & 31) & 1 == 0 {
        return Absence::NoThread;
    }
    if warp.alive >> (lane & 31) & 1 == 0 {
        return Absence::Exited;
    }
    match warp.waits_for(lane & 31) {
        Some(Wait::Barrier(number)) => Absence::AtBarrier(number),
        Some(Wait::Lanes { .. }) => Absence::InWarp,
        Some(Wait::Phase) => Absence::AtPhase,
        None => Absence::Diverged,
    }
}
