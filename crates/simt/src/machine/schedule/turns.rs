//! Runs a cluster, usually a single block: its blocks take turns, and the warps of each block take turns, until all
//! threads have exited. Called by [`run`](super::run) and [`slot`](super::slot).
//!
//! When no split of any warp can proceed, this decides what happens: lanes that only wait to reconverge proceed
//! separately, waits for phases fail, and if none of this helps, the launch stops with a deadlock.
//!
//! A cluster runs on one thread of the host, and a launch without clusters has clusters of one block, so there is only one
//! code path. Clusters run in parallel; traps and output are ordered by cluster. Accesses to the shared memory of a block
//! that has not started or has exited are refused: the manual leaves them undefined.

use crate::FindingKind;
use crate::lanes::lanes;
use crate::machine::copy::transit;
use crate::machine::mbarrier::phases;
use crate::machine::schedule::patience;
use crate::machine::state::copies::Copies;
use crate::machine::state::{Barriers, CLUSTER, Fault, NUMBERED_BARRIERS, Split, Stage, Stop, Wait, Warp, Worker};
use crate::machine::{barriers, cluster, meeting, written};
use crate::program::{Action, Code};
use crate::trap::{Absence, TrapKind};

/// Instructions in one turn of a warp.
pub(crate) const QUANTUM: u64 = 1 << 13;
/// How many phase waits in a row may fail in a block that does nothing else, before the launch is stopped.
const PHASE_PATIENCE: u32 = 1 << 14;
/// A worker adds its count of instructions to the launch's total after this many.
const TALLY: u64 = 1 << 16;

/// The outcome of a turn of all warps of a block.
struct Turn {
    /// Whether any warp could proceed.
    progress: bool,
    /// Whether all threads have exited.
    done: bool,
}

impl<'l> Worker<'l> {
    /// Runs a cluster until all its threads have exited.
    pub fn run(&mut self, warps: &mut [Warp<'l>], cluster: u64) -> Result<(), Stop> {
        self.begin(warps, cluster);
        while !self.turn(warps, QUANTUM)? {}
        Ok(())
    }

    /// Starts a cluster.
    pub fn begin(&mut self, warps: &mut [Warp<'l>], cluster: u64) {
        let launched = self.launched;
        self.cluster = cluster;
        (self.cluster_arrivals, self.fruitless_waits) = (false, 0);
        self.arrivals.clear();
        let first = cluster * u64::from(launched.blocks_per_cluster);
        for (number, block) in (first..).zip(self.block.all_mut()) {
            block.number = number;
            block.position = launched.block_position(number);
            block.shared.reset(launched.shared_bytes);
            block.barriers.reset();
            block.copies.iter_mut().for_each(Copies::clear);
            block.departures.clear();
            block.stage = Stage::Waits;
        }
        if let Some(checker) = &mut self.checker
            && self.seat == 0
        {
            checker.start(first);
        }
        for warp in warps.iter_mut() {
            warp.start(&launched.code.functions[0]);
        }
    }

    /// Gives each warp of the cluster its turn, of at most `quantum` instructions. Returns whether the cluster has ended.
    pub fn turn(&mut self, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
        let result = self.turn_of_blocks(warps, quantum);
        if !matches!(result, Ok(false)) {
            for block in self.block.all_mut() {
                self.launched.keep_output(block.number, &mut block.output);
            }
        }
        result
    }

    fn turn_of_blocks(&mut self, warps: &mut [Warp<'l>], quantum: u64) -> Result<bool, Stop> {
        let (mut progress, mut done) = (false, true);
        for (rank, warps) in self.by_block(warps) {
            self.select(rank);
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
            let turn = turn?;
            finished?;
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
            let result = crate::machine::step::run(self, warp, quantum);
            self.unreported += warp.executed - before;
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

    /// Fails if the launch must stop: it was cancelled, has faulted elsewhere, or has reached a limit.
    fn check(&mut self, warp: &Warp) -> Result<(), Stop> {
        let launched = self.launched;
        if launched.is_beyond_fault(self.cluster) {
            return Err(Stop::Abandoned);
        }
        let faults = self.checker.as_ref().map_or(0, |checker| checker.faults());
        let limit = match () {
            () if launched.is_cancelled() => Some(TrapKind::Cancelled),
            () if faults > launched.fault_limit => Some(TrapKind::FaultLimit { limit: launched.fault_limit }),
            () if launched.steps(self.unreported) > launched.step_limit => {
                Some(TrapKind::StepLimit { limit: launched.step_limit })
            }
            () => None,
        };
        if let Some(kind) = limit {
            let split = warp.ready.last().or(warp.waiting.last().map(|(split, _)| split));
            let (pc, lane) = split.map_or((0, 0), |split| (split.pc, split.mask.trailing_zeros()));
            return Err(self.stop(Fault { kind, lane, pc }, warp));
        }
        if self.unreported >= TALLY {
            self.report_steps();
        }
        Ok(())
    }

    /// Resumes the splits that waited at a barrier, now that it is complete.
    fn release(&mut self, warps: &mut [Warp<'l>], barrier: u32) {
        if self.block.barriers.has_exits() {
            self.report_of_exits(warps, barrier);
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
                barriers::pass(self.launched, warp, &split, &outcome);
                split.pc += 1;
                warp.resume(split);
            }
        }
    }

    /// Reports, under `strict`, a barrier for all threads of the block that completed without some of them.
    #[cold]
    fn report_of_exits(&mut self, warps: &[Warp<'l>], barrier: u32) {
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
            checker.report(kind, instruction.counter, warp.index, split.mask.trailing_zeros() & 31, None);
        }
    }

    /// Resumes splits of a warp that waited for each other, if all have arrived. Returns whether any did.
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
            crate::machine::observe::lanes_met(self, warp, &split, there);
            meeting::cross_lanes(code, warp, &split, there);
            for (mut split, _) in met {
                split.pc += 1;
                warp.ready.push(split);
            }
            return true;
        }
        false
    }

    /// Called when no split can proceed. If lanes wait for lanes that only wait to reconverge with them, the latter proceed
    /// separately; usually they are about to exit. Returns whether there were any.
    fn go_on_past_lanes(&mut self, warps: &mut [Warp<'l>]) -> bool {
        let mut any = false;
        for (rank, warps) in self.by_block(warps) {
            self.select(rank);
            for warp in warps {
                let joined = warp.waits_at_joins(|_| true);
                let held_up = warp.waiting.iter().find_map(|(split, wait)| {
                    let Wait::Lanes { members } = *wait else { return None };
                    let missing = members & warp.alive & !lanes_there(self.launched.code, warp, split, members);
                    (missing & !joined == 0).then_some((*split, members, missing))
                });
                if let Some((split, members, missing)) = held_up {
                    crate::machine::observe::lanes_absent(self, warp, &split, members, missing);
                    any |= warp.go_on_apart(|_| true);
                }
            }
        }
        any
    }

    /// Called when no split can proceed. Lanes with nothing left to execute, which wait to reconverge with lanes at a
    /// barrier, exit. Returns whether there were any.
    fn end_past_barriers(&mut self, warps: &mut [Warp<'l>]) -> bool {
        let code = self.launched.code;
        let at_barrier =
            |(_, wait): &(Split, Wait)| matches!(wait, Wait::Barrier(number) if *number < NUMBERED_BARRIERS);
        let mut any = false;
        for warp in warps.iter_mut().filter(|warp| warp.waiting.iter().any(at_barrier)) {
            any |= warp.go_on_apart(|pc| code.ends_at(pc));
        }
        any
    }

    /// Called when no split can proceed: lets waits for phases fail, up to a limit, then stops the launch.
    fn wake_or_stop(&mut self, warps: &mut [Warp<'l>]) -> Result<(), Stop> {
        if self.fruitless_waits >= PHASE_PATIENCE || !warps.iter().any(waits_for_phase) {
            return Err(self.deadlock_of_blocks(warps));
        }
        self.fruitless_waits += 1;
        for (rank, warps) in self.by_block(warps) {
            self.select(rank);
            warps.iter_mut().try_for_each(|warp| self.release_phases(warp, true))?;
        }
        Ok(())
    }

    /// Resumes splits whose phase is complete; if this is the `last` attempt, all that wait for a phase.
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
            match phases::test(self, warp, &split, split.mask, last) {
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

    /// Finds a block that waits for something other than the cluster's barrier, to report a deadlock. (The cluster's
    /// barrier is complete when all threads wait there.)
    fn deadlock_of_blocks(&mut self, warps: &mut [Warp<'l>]) -> Stop {
        for (rank, warps) in self.by_block(warps) {
            let mut waits = warps.iter().flat_map(|warp| &warp.waiting);
            if waits.any(|(_, wait)| !matches!(wait, Wait::Barrier(CLUSTER))) {
                self.select(rank);
                return self.deadlock(warps);
            }
        }
        Stop::Abandoned
    }

    /// Describes a deadlock within a block: who waits for which threads.
    fn deadlock(&self, warps: &[Warp<'l>]) -> Stop {
        let waiting = || warps.iter().flat_map(|warp| warp.waiting.iter().map(move |entry| (warp, entry)));
        let at_barrier = waiting().find_map(|(warp, (split, wait))| match wait {
            Wait::Barrier(CLUSTER) | Wait::Lanes { .. } | Wait::Phase => None,
            Wait::Barrier(barrier) => Some((warp, split, *barrier)),
        });
        if let Some((warp, (split, _))) = waiting().find(|(_, (_, wait))| matches!(wait, Wait::Phase)) {
            let kind = phases::never_complete(self, warp, split);
            return self.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp);
        }
        if let Some((warp, split, barrier)) = at_barrier {
            let parties = Barriers::parties(barrier);
            let comes = |warp: &&Warp| parties.as_ref().is_none_or(|parties| parties.contains(&warp.index));
            let absent = warps.iter().filter(comes).find_map(|warp| {
                lanes(warp.exists).find_map(|lane| {
                    let absence = warp.absence(lane as u32);
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
                let absence = warp.absence(missing.trailing_zeros());
                let kind = TrapKind::WarpNeverConverges { members, missing, absence };
                self.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp)
            }
            None => Stop::Abandoned,
        }
    }
}

/// Whether an entry waits for the same lanes as a split, at the same instruction.
fn meets(code: &Code, split: &Split, members: u32, (other, wait): &(Split, Wait)) -> bool {
    matches!(wait, Wait::Lanes { members: others } if *others == members) && meeting::may_meet(code, split, other)
}

/// The lanes that have reached the point where a split waits for `members`.
fn lanes_there(code: &Code, warp: &Warp, split: &Split, members: u32) -> u32 {
    let there = warp.waiting.iter().filter(|entry| meets(code, split, members, entry));
    there.fold(0, |mask, (split, _)| mask | split.mask)
}

fn waits_for_phase(warp: &Warp) -> bool {
    warp.waiting.iter().any(|(_, wait)| matches!(wait, Wait::Phase))
}
