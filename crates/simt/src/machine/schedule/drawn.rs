//! Runs blocks in an order that is drawn from a seed, on one thread of the host, without a model
//! and without checks.
//!
//! How many blocks are resident together and in which order they start is drawn first, unless the
//! launch says. Then a warp goes on until it waits, ends, or has passed a drawn number of *points*:
//! accesses that other threads may see. The next warp is drawn from those that can go on, of all
//! resident blocks.
//!
//! - Random: any warp, with the same probability; the length of a turn is drawn.
//! - Priorities: probabilistic concurrency testing. Each warp draws a priority when its block
//!   starts, and the highest goes on; at some points of the launch, drawn before, the running warp
//!   gets the lowest. A warp that polls for long gets the lowest, too, so a lock does not hang.
//!
//! Shared memory begins with drawn values, so that a value that is read before it is written is not
//! 0 by luck. If memory has not changed for long, more blocks become resident: a running block may
//! wait for a later one. A trap is that of this order, not the lowest block's.

use std::collections::BinaryHeap;

use crate::counters::InstructionCounters;
use crate::machine::schedule::late;
use crate::machine::schedule::slot::{Slot, TurnState};
use crate::machine::schedule::turns::QUANTUM;
use crate::machine::state::{Draws, Landing, RunningLaunch, Stop};
use crate::order::{Dice, Drawn, DrawnOrder, Start, Strategy};
use crate::touch::Touch;
use crate::trap::TrapKind;

/// At most so many clusters are resident together, unless all have to be.
const MOST_RESIDENT: u64 = 64;
/// At most this many clusters, or tiles of clusters, are shuffled.
const SHUFFLED: u64 = 1 << 16;
/// After this many polls by each running cluster, and nothing else, more clusters start.
const PATIENCE: u64 = 1 << 8;
/// After this many polls, and nothing else, the launch stops.
const STUCK: u64 = 1 << 22;
/// Priorities that are drawn are above this; those that a warp gets later are below.
const DRAWN: u64 = 1 << 63;

/// A warp that can go on: its priority, its slot, its number in the cluster.
type Ready = (u64, u32, u32);

/// The warps that can go on.
enum Pool {
    Any(Vec<Ready>),
    Highest(BinaryHeap<Ready>),
}

impl Pool {
    fn put(&mut self, warp: Ready) {
        match self {
            Self::Any(list) => list.push(warp),
            Self::Highest(heap) => heap.push(warp),
        }
    }

    fn take(&mut self, dice: &mut Dice) -> Option<Ready> {
        match self {
            Self::Any(list) if list.is_empty() => None,
            Self::Any(list) => {
                let drawn = dice.below(list.len() as u64) as usize;
                Some(list.swap_remove(drawn))
            }
            Self::Highest(heap) => heap.pop(),
        }
    }
}

/// The clusters that have not started.
enum Starts {
    /// This one is the next.
    Up(u64),
    /// The one before this is the next.
    Down(u64),
    /// Tiles of consecutive clusters; the next is number `within` of the last tile.
    List { tiles: Vec<u64>, tile: u64, within: u64 },
}

impl Starts {
    /// The next of this many.
    fn next(&mut self, clusters: u64) -> Option<u64> {
        match self {
            Self::Up(next) => {
                let cluster = *next;
                *next += 1;
                (cluster < clusters).then_some(cluster)
            }
            Self::Down(next) => {
                *next = next.checked_sub(1)?;
                Some(*next)
            }
            Self::List { tiles, tile, within } => {
                let first = tiles.last()? * *tile;
                let cluster = first + *within;
                *within += 1;
                if *within == *tile || first + *within == clusters {
                    (*within, _) = (0, tiles.pop());
                }
                Some(cluster)
            }
        }
    }
}

struct DrawnRun<'l> {
    launched: &'l RunningLaunch<'l>,
    /// Whether other warps may go on after any step.
    asynchronous: bool,
    strategy: Strategy,
    shared: TurnState<'l>,
    slots: Vec<Slot<'l>>,
    /// For each warp of each slot, whether it is in the pool.
    listed: Vec<Vec<bool>>,
    /// For each warp of each slot, whether it could not go on although it seemed so, and no other
    /// warp of its cluster has gone on since.
    stuck: Vec<Vec<bool>>,
    /// The priority of each warp of each slot; 0: not drawn yet.
    priorities: Vec<Vec<u64>>,
    pool: Pool,
    dice: Dice,
    starts: Starts,
    /// Clusters that may be resident together.
    resident: u64,
    running: u64,
    ended: u64,
    /// The next points at which the running warp gets the lowest priority; the last is the next.
    changes: Vec<u64>,
    /// The lowest priority so far.
    lowest: u64,
    interruptions: u64,
}

/// Runs all blocks of a launch. If one faults or the launch is cancelled, the rest do not run.
pub(crate) fn run(launched: &RunningLaunch, order: &DrawnOrder) -> (Vec<InstructionCounters>, Drawn, Vec<Touch>) {
    let mut dice = Dice::new(order.seed);
    let clusters = launched.clusters();
    let resident = resident(launched, order, &mut dice);
    let mut changes = Vec::new();
    if let Strategy::Priorities { depth, points } = order.strategy {
        changes = (1..depth).map(|_| 1 + dice.below(points.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        changes.dedup();
    }
    let start = start(order, &mut dice);
    let starts = starts(start, clusters, &mut dice);
    let stores = late::stores(launched.code);
    let late = late::of(&stores, launched.code.places.len(), order.late);
    let mut draws = Draws::new(dice.roll(), order.lanes, order.weak, late);
    let is_noticed = late::is_noticed(launched.code);
    draws.stale = if is_noticed { order.stale } else { 0 };
    draws.only_strong = order.strong && is_noticed;
    draws.follows = launched.launch.follows;
    let shared = TurnState {
        counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
        modelled: None,
        checker: None,
        draws: Some(Box::new(draws)),
    };
    let pool = match order.strategy {
        Strategy::Random { .. } => Pool::Any(Vec::new()),
        _ => Pool::Highest(BinaryHeap::new()),
    };
    let mut run = DrawnRun {
        launched,
        asynchronous: launched.code.has_asynchronous(),
        strategy: order.strategy,
        shared,
        slots: Vec::new(),
        listed: Vec::new(),
        stuck: Vec::new(),
        priorities: Vec::new(),
        pool,
        dice,
        starts,
        resident,
        running: 0,
        ended: 0,
        changes,
        lowest: DRAWN - 1,
        interruptions: 0,
    };
    // The launch has the reason if it stopped.
    let _ = run.run();
    let DrawnRun { mut slots, mut shared, interruptions, resident, .. } = run;
    slots.drain(..).for_each(|slot| drop(slot.worker.finish()));
    shared.counters.pop();
    if let Some(draws) = &mut shared.draws {
        draws.land(Landing { memory: launched.memory, shared: None }, |_| true);
    }
    let (points, touched) = shared.draws.take().map_or((0, Vec::new()), |draws| (draws.passed, draws.touched));
    let touches = touched.into_iter().map(|touch| touch.map_site(|party| launched.site(party))).collect();
    (shared.counters, Drawn { points, interruptions, resident, start, late: late::most(stores.len()) }, touches)
}

/// How many clusters may be resident together.
fn resident(launched: &RunningLaunch, order: &DrawnOrder, dice: &mut Dice) -> u64 {
    let clusters = launched.clusters();
    // As many as may ever be.
    let most = clusters.min(launched.cluster_capacity().max(1));
    match order.resident {
        _ if launched.launch.cooperative => clusters,
        Some(given) => most.min(given.into()).max(1),
        None if order.strategy == Strategy::Usual => 1,
        // 2, 4, 8, ... with the same probability.
        None => {
            let most = most.min(MOST_RESIDENT);
            most.min(2 << dice.below(u64::from(most.max(2).ilog2())))
        }
    }
}

/// The order in which clusters start. A GPU starts them upwards, as far as anybody has seen, so
/// half of the seeds do, too; nothing promises it.
fn start(order: &DrawnOrder, dice: &mut Dice) -> Start {
    match (order.start, order.strategy) {
        (Some(start), _) => start,
        (None, Strategy::Usual) => Start::Up,
        (None, _) => match dice.below(4) {
            0 | 1 => Start::Up,
            2 => Start::Down,
            _ => Start::Shuffled,
        },
    }
}

fn starts(start: Start, clusters: u64, dice: &mut Dice) -> Starts {
    match start {
        Start::Up => Starts::Up(0),
        Start::Down => Starts::Down(clusters),
        // Shuffles tiles of consecutive clusters, if there are too many to list.
        Start::Shuffled => {
            let tile = clusters.div_ceil(SHUFFLED).max(1);
            let mut list: Vec<u64> = (0..clusters.div_ceil(tile)).collect();
            for last in (1..list.len()).rev() {
                list.swap(last, dice.below(last as u64 + 1) as usize);
            }
            Starts::List { tiles: list, tile, within: 0 }
        }
    }
}

impl<'l> DrawnRun<'l> {
    fn run(&mut self) -> Result<(), Stop> {
        let clusters = self.launched.clusters();
        let per_report = (clusters / 64).clamp(1, 64);
        while self.ended < clusters {
            if self.running < self.resident {
                self.take_up();
            }
            // Some warp of each running cluster can go on: otherwise it was stopped.
            let Some(next) = self.pool.take(&mut self.dice) else { break };
            let before = self.ended;
            self.turn(next)?;
            if self.ended > before && (self.ended.is_multiple_of(per_report) || self.ended == clusters) {
                self.launched.report_progress(self.ended * u64::from(self.launched.blocks_per_cluster));
            }
        }
        Ok(())
    }

    /// Starts clusters, as many as may be resident.
    fn take_up(&mut self) {
        let mut free = 0;
        while self.running < self.resident {
            let Some(cluster) = self.starts.next(self.launched.clusters()) else { return };
            while self.slots.get(free).is_some_and(|slot| slot.runs) {
                free += 1;
            }
            if free == self.slots.len() {
                self.slots.push(Slot::new(self.launched, Some(free as u32)));
                let warps = self.slots[free].warps.len();
                self.listed.push(vec![false; warps]);
                self.stuck.push(vec![false; warps]);
                self.priorities.push(vec![0; warps]);
            }
            self.slots[free].begin(&mut self.shared, cluster);
            self.running += 1;
            self.list(free);
        }
    }

    /// Lists the warps of a slot that can go on and are not listed yet. Returns whether any is
    /// listed.
    fn list(&mut self, slot: usize) -> bool {
        let warps = &self.slots[slot].warps;
        let (listed, priorities) = (&mut self.listed[slot], &mut self.priorities[slot]);
        for (number, warp) in warps.iter().enumerate() {
            if listed[number] || self.stuck[slot][number] || !warp.may_go_on() {
                continue;
            }
            let priority = match self.strategy {
                Strategy::Random { .. } => 0,
                Strategy::Priorities { .. } => {
                    if priorities[number] == 0 {
                        priorities[number] = DRAWN | self.dice.roll();
                    }
                    priorities[number]
                }
                // The lowest number first. (`stepped` makes switches.)
                Strategy::Usual | Strategy::Switches(_) => u64::MAX - number as u64,
            };
            self.pool.put((priority, slot as u32, number as u32));
            listed[number] = true;
        }
        listed.iter().any(|&listed| listed)
    }

    /// Gives a warp its turn.
    fn turn(&mut self, (mut priority, slot_number, number): Ready) -> Result<(), Stop> {
        let (at, index) = (slot_number as usize, number as usize);
        self.listed[at][index] = false;
        let Some(draws) = &mut self.shared.draws else { return Err(Stop::Abandoned) };
        let budget = match self.strategy {
            Strategy::Random { every: 0 | 1 } => 1,
            Strategy::Random { every } => 1 + self.dice.below(2 * u64::from(every) - 1),
            // A poll that was not counted may have passed a change.
            Strategy::Priorities { .. } => {
                self.changes.last().map_or(u64::MAX, |&next| next.saturating_sub(draws.passed))
            }
            Strategy::Usual | Strategy::Switches(_) => u64::MAX,
        };
        draws.begin(budget);
        let slot = &mut self.slots[at];
        let ready = slot.warps[index].ready.len();
        // Since Volta, any of the lanes' ways may go on.
        if ready > 1 && matches!(self.strategy, Strategy::Random { .. }) {
            let drawn = self.dice.below(ready as u64) as usize;
            slot.warps[index].ready.swap(drawn, ready - 1);
        }
        let turn = slot.turn_of_warp(&mut self.shared, index, QUANTUM)?;
        slot.worker.report_steps();
        let changed = turn.ended | std::mem::take(&mut slot.worker.changed);
        let Some(draws) = &mut self.shared.draws else { return Err(Stop::Abandoned) };
        if changed {
            draws.quiet = 0;
        }
        let (at_point, yielded, quiet) = (draws.ended, draws.yielded, draws.quiet);
        if at_point {
            self.interruptions += 1;
            if matches!(self.strategy, Strategy::Priorities { .. } | Strategy::Usual) {
                self.lowest -= 1;
                priority = self.lowest;
                self.priorities[at][index] = priority;
                if !yielded {
                    self.changes.pop();
                }
            }
        }
        match turn.went_on {
            true => self.stuck[at].fill(false),
            false => self.stuck[at][index] = true,
        }
        if turn.ended {
            // Nobody reads these stores any more, but who follows them sees that they were late.
            let worker = &self.slots[at].worker;
            let (memory, own) = (self.launched.memory, worker.block.number);
            let here = Landing { memory, shared: Some((&worker.block.shared, own)) };
            draws.land(here, |store| store.shared && store.warp.0 == own);
            let blocks = u64::from(self.launched.blocks_per_cluster);
            draws.forget(worker.cluster * blocks..(worker.cluster + 1) * blocks);
            self.running -= 1;
            self.ended += 1;
            self.listed[at].fill(false);
            self.stuck[at].fill(false);
            self.priorities[at].fill(0);
        } else {
            if turn.went_on && self.slots[at].warps[index].may_go_on() {
                self.pool.put((priority, slot_number, number));
                self.listed[at][index] = true;
            }
            // Others may go on now only if this one met them at a barrier, or did something
            // asynchronous.
            if !at_point || self.asynchronous {
                while !self.list(at) {
                    self.slots[at].rescue(&mut self.shared)?;
                    self.stuck[at].fill(false);
                }
            }
        }
        if quiet > PATIENCE * self.running.max(1) {
            self.look(quiet)?;
        }
        Ok(())
    }

    /// Running clusters only poll: starts more, or stops the launch.
    fn look(&mut self, quiet: u64) -> Result<(), Stop> {
        let clusters = self.launched.clusters();
        if self.running == self.resident && self.ended + self.running < clusters {
            let more = (2 * self.resident).min(self.launched.cluster_capacity().max(1));
            if more > self.resident {
                self.resident = more;
                return Ok(());
            }
        }
        if quiet < STUCK {
            return Ok(());
        }
        let running = self.slots.iter().filter(|slot| slot.runs);
        let Some(slot) = running.min_by_key(|slot| slot.worker.cluster) else { return Ok(()) };
        let blocks = u64::from(self.launched.blocks_per_cluster);
        let kind = TrapKind::NoProgress {
            waiting: self.running * blocks,
            not_begun: (clusters - self.ended - self.running) * blocks,
            steps: quiet,
        };
        let stop = slot.worker.stop_at(kind, &slot.warps, None);
        Err(self.launched.keep_stop(slot.worker.cluster, stop))
    }
}
