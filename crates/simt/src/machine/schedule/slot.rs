//! A slot for a cluster, usually one block, that takes turns with others on one thread of the host.

use crate::counters::InstructionCounters;
use crate::machine::schedule::turns;
use crate::machine::state::{Draws, Modelled, RunningLaunch, Stop, Warp, Worker};
use crate::sanitizer::Checker;

/// What the slots of a thread share, passed to the slot whose turn it is. The checker is included
/// if slots share one.
#[derive(Default)]
pub(crate) struct TurnState<'l> {
    pub counters: Vec<InstructionCounters>,
    pub modelled: Option<Box<Modelled>>,
    pub checker: Option<Box<Checker<'l>>>,
    pub draws: Option<Box<Draws>>,
}

/// A slot for a cluster.
pub(crate) struct Slot<'l> {
    pub worker: Worker<'l>,
    pub warps: Vec<Warp<'l>>,
    pub runs: bool,
    shares_checker: bool,
}

impl<'l> Slot<'l> {
    /// An empty slot. With a number among the clusters that are resident at once, it shares their
    /// checker; with `None` it has a checker to itself.
    pub fn new(launched: &'l RunningLaunch<'l>, resident_cluster: Option<u32>) -> Self {
        let checks = launched.launch.checks.any() && resident_cluster.is_none();
        let checker = checks.then(|| Box::new(launched.checker(launched.blocks_per_cluster)));
        let mut worker = Worker::new(launched, checker);
        worker.counters = Vec::new();
        worker.resident_cluster = resident_cluster.unwrap_or(0);
        let warps = worker.warps();
        Self { worker, warps, runs: false, shares_checker: resident_cluster.is_some() }
    }

    /// Starts a cluster.
    pub fn begin(&mut self, shared: &mut TurnState<'l>, cluster: u64) {
        self.swap(shared);
        turns::begin(&mut self.worker, &mut self.warps, cluster);
        self.swap(shared);
        self.runs = true;
    }

    /// Gives each warp its turn, of at most `quantum` instructions. Returns whether the cluster has
    /// ended.
    pub fn turn(&mut self, shared: &mut TurnState<'l>, quantum: u64) -> Result<bool, Stop> {
        self.swap(shared);
        self.worker.enter_checker();
        let outcome = turns::turn(&mut self.worker, &mut self.warps, quantum);
        self.swap(shared);
        match outcome {
            Ok(done) => {
                self.runs = !done;
                Ok(done)
            }
            Err(stop) => Err(self.worker.launched.keep_stop(self.worker.cluster, stop)),
        }
    }

    /// Gives one warp its turn.
    pub fn turn_of_warp(
        &mut self,
        shared: &mut TurnState<'l>,
        number: usize,
        quantum: u64,
    ) -> Result<turns::OneTurn, Stop> {
        self.swap(shared);
        self.worker.enter_checker();
        let outcome = turns::turn_of_warp(&mut self.worker, &mut self.warps, number, quantum);
        self.swap(shared);
        match outcome {
            Ok(turn) => {
                self.runs = !turn.ended;
                Ok(turn)
            }
            Err(stop) => Err(self.worker.launched.keep_stop(self.worker.cluster, stop)),
        }
    }

    /// No warp can go on: lets some of them, or stops the launch.
    pub fn rescue(&mut self, shared: &mut TurnState<'l>) -> Result<(), Stop> {
        self.swap(shared);
        self.worker.enter_checker();
        let outcome = turns::rescue(&mut self.worker, &mut self.warps);
        self.swap(shared);
        outcome.map_err(|stop| self.worker.launched.keep_stop(self.worker.cluster, stop))
    }

    fn swap(&mut self, shared: &mut TurnState<'l>) {
        std::mem::swap(&mut self.worker.counters, &mut shared.counters);
        std::mem::swap(&mut self.worker.modelled, &mut shared.modelled);
        std::mem::swap(&mut self.worker.draws, &mut shared.draws);
        if self.shares_checker {
            std::mem::swap(&mut self.worker.checker, &mut shared.checker);
        }
    }
}
