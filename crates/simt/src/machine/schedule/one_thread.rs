//! Runs blocks in order, or side by side, on one thread of the host, without a model.
//!
//! In a cooperative launch, all blocks take short turns. Any other launch runs one block after
//! another, until one waits: it polls for long while device memory does not change ([`Waiting`]). A
//! later block may have to write what it waits for; on a GPU the two would be resident together. So
//! the next block is started beside it, then two more, then four, as long as no block makes
//! progress; all take turns until they end. Under checks, only the blocks of a cooperative launch
//! run side by side, because the race detector needs one block after another.
//!
//! If no block makes progress and no more blocks can be started, the launch is stopped, long before
//! it reaches its step limit.
//!
//! Turns are counted in instructions, so all this depends only on the launch.
//!
//! A cooperative launch starts with all its blocks; on a model they must be resident together.
//! CUDA's headers read `%envreg1` and `%envreg2` as the halves of the address of the grid's
//! workspace, trap if it is null, and count the arrivals of `grid.sync()` in its second word. So a
//! program with a kernel that reads these registers has a workspace, and only cooperative launches
//! see its address. The race detector treats all blocks as one cluster, so it sees a missing
//! `grid.sync()`.

use crate::counters::InstructionCounters;
use crate::machine::schedule::slot::{Slot, TurnState};
use crate::machine::schedule::turns::QUANTUM;
use crate::machine::schedule::waiting::Waiting;
use crate::machine::state::{RunningLaunch, Stop};
use crate::trap::TrapKind;

/// Instructions of each warp in a turn, where there are several clusters.
const SHORT: u64 = 1 << 8;
/// After this many instructions without a change, the first cluster counts as waiting.
const PATIENCE: u64 = 1 << 20;
/// [`PATIENCE`] for each of several clusters, once one waits.
const LATER_PATIENCE: u64 = 1 << 12;
/// A launch is stopped after this many instructions without a change.
const LEAST_STUCK: u64 = 1 << 24;
/// It is stopped only after its step limit divided by this, if that is more.
const STUCK_PART: u64 = 64;

/// A running launch.
struct OneThread<'l> {
    launched: &'l RunningLaunch<'l>,
    shared: TurnState<'l>,
    slots: Vec<Slot<'l>>,
    /// For each slot, the instruction with which its cluster has polled since memory last changed.
    polls: Vec<Option<u32>>,
    /// The next cluster to start.
    next: u64,
    ended: u64,
    waiting: Waiting,
    /// Steps of the launch when memory last changed or a cluster was started.
    since: u64,
}

/// Runs all blocks of a launch. If one faults or the launch is cancelled, the rest do not run.
pub(crate) fn run(launched: &RunningLaunch) -> Vec<InstructionCounters> {
    let shared = TurnState {
        counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
        modelled: None,
        draws: None,
        checker: launched.launch.checks.any().then(|| Box::new(launched.checker(launched.blocks_at_once()))),
    };
    let mut blocks = OneThread {
        launched,
        shared,
        slots: Vec::new(),
        polls: Vec::new(),
        next: 0,
        ended: 0,
        waiting: Waiting::new(launched.code),
        since: 0,
    };
    // The launch has the reason if it stopped.
    let _ = blocks.run();
    let OneThread { mut slots, mut shared, .. } = blocks;
    if let Some(checker) = shared.checker.take() {
        launched.keep_findings(checker.finish());
    }
    slots.drain(..).for_each(|slot| drop(slot.worker.finish()));
    shared.counters.pop();
    shared.counters
}

impl<'l> OneThread<'l> {
    fn run(&mut self) -> Result<(), Stop> {
        let clusters = self.launched.clusters();
        let at_once = if self.launched.launch.cooperative { clusters } else { 1 };
        let per_report = (clusters / 64).clamp(1, 64);
        while self.ended < clusters {
            if self.running() == 0 {
                self.take_up(at_once);
            }
            let ended_before = self.ended / per_report;
            let changed = self.round()?;
            if self.ended / per_report > ended_before || self.ended == clusters {
                self.launched.report_progress(self.ended * u64::from(self.launched.blocks_per_cluster));
            }
            if changed {
                self.since = self.launched.steps(0);
                self.polls.fill(None);
            } else if self.running() > 0 {
                self.look()?;
            }
        }
        Ok(())
    }

    fn running(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.runs).count() as u64
    }

    /// Starts the next clusters.
    fn take_up(&mut self, count: u64) {
        let end = self.launched.clusters().min(self.next.saturating_add(count));
        let mut free = 0;
        while self.next < end {
            while self.slots.get(free).is_some_and(|slot| slot.runs) {
                free += 1;
            }
            if free == self.slots.len() {
                self.slots.push(Slot::new(self.launched, Some(free as u32)));
                self.polls.push(None);
            }
            self.slots[free].begin(&mut self.shared, self.next);
            self.polls[free] = None;
            self.next += 1;
        }
        self.since = self.launched.steps(0);
    }

    /// Gives each cluster its turn. Returns whether any has ended or changed device memory.
    fn round(&mut self) -> Result<bool, Stop> {
        let alone = self.running() == 1;
        let mut changed = false;
        for (slot, poll) in self.slots.iter_mut().zip(&mut self.polls).filter(|(slot, _)| slot.runs) {
            let ended = slot.turn(&mut self.shared, if alone { QUANTUM } else { SHORT })?;
            slot.worker.report_steps();
            self.ended += u64::from(ended);
            changed |= ended | std::mem::take(&mut slot.worker.changed);
            if !ended {
                *poll = self.waiting.polled(&self.shared.counters).or(*poll);
            }
        }
        Ok(changed || self.waiting.has_changed(&self.shared.counters))
    }

    /// Called when nothing has changed for some time: starts more clusters, or stops the launch,
    /// unless a block makes progress.
    fn look(&mut self) -> Result<(), Stop> {
        let running = self.running();
        let quiet = self.launched.steps(0) - self.since;
        let patience = if running == 1 { PATIENCE } else { running * LATER_PATIENCE };
        let all_poll = || self.slots.iter().zip(&self.polls).all(|(slot, poll)| !slot.runs || poll.is_some());
        if quiet < patience || !all_poll() {
            return Ok(());
        }
        let room = self.launched.cluster_capacity().saturating_sub(running);
        if room > 0 && self.next < self.launched.clusters() {
            self.take_up(running.min(room));
            return Ok(());
        }
        if quiet < LEAST_STUCK.max(self.launched.launch.step_limit / STUCK_PART) {
            return Ok(());
        }
        let first = self
            .slots
            .iter()
            .zip(&self.polls)
            .filter(|(slot, _)| slot.runs)
            .min_by_key(|(slot, _)| slot.worker.cluster);
        let Some((slot, &poll)) = first else { return Ok(()) };
        let blocks = u64::from(self.launched.blocks_per_cluster);
        let kind = TrapKind::NoProgress {
            waiting: running * blocks,
            not_begun: (self.launched.clusters() - self.next) * blocks,
            steps: quiet,
        };
        let stop = slot.worker.stop_at(kind, &slot.warps, poll);
        Err(self.launched.keep_stop(slot.worker.cluster, stop))
    }
}
