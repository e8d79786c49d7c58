//! Replays one multiprocessor: warps issue in order, each instruction once its registers are ready
//! and its unit is free.
//!
//! Each scheduler issues from the warp that it issued last, or else from the oldest ready one.
//! Warps wait at barriers for the rest of their block. When a block has ended, the next one starts
//! in its place, no sooner than the chip starts blocks. The multiprocessor runs as many blocks as
//! the busiest one of the launch, or enough of them to see how long each further one takes.
//!
//! Time is in cycles. Nothing depends on the host: all queues are in order of number.

use super::kinds::Kind;
use super::machine::{Block, Copied, Phase, Warp, Why};
use super::plan::Plan;
use super::record::{PlaceTraffic, Recording};
use super::servers::{Busy, Servers};
use super::step::{Meeting, UNITS, Unit};
use super::trace::{BlockTrace, Event, Target};
use crate::model::Timing;

/// Rounds of resident blocks that are replayed; beyond them, time is extrapolated.
const ROUNDS: usize = 12;
/// Instructions after which the replay stops, and the rest is extrapolated.
const MOST_ISSUED: u64 = 3_000_000;

/// What is replayed.
#[derive(Clone, Copy)]
pub(super) struct Executed<'r> {
    /// What each block's warps executed, in the compiler's order.
    pub traces: &'r [Vec<Vec<Event>>],
    /// How each place accesses memory.
    pub kinds: &'r [Kind],
}

/// The multiprocessor's share of a launch.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Multiprocessors that work.
    pub active: f64,
    /// Blocks that this one has to do.
    pub blocks: u64,
    /// Blocks that it holds at a time.
    pub resident: usize,
}

/// What the replay found.
pub(super) struct Replayed {
    /// Cycles until the last replayed block ended.
    pub end: f64,
    /// When each block ended, in order.
    pub ends: Vec<f64>,
    /// Blocks that were to be replayed.
    pub wanted: usize,
    /// The part of the recorded instructions of those blocks that was replayed.
    pub part: f64,
    /// Cycles until the last stores are done.
    pub drained: f64,
    pub busy: Busy,
    /// Instructions that the hardware issued.
    pub issued: u64,
    /// Cycles for which each unit was occupied, over all schedulers.
    pub units: [u64; UNITS],
    /// Cycles for which warps waited, by reason.
    pub waits: [f64; Why::ALL.len()],
    /// Cycles for which warps waited at each instruction.
    pub by_place: Vec<f64>,
}

/// A scheduler.
#[derive(Default)]
struct Scheduler {
    /// Its warps, the oldest first.
    warps: Vec<usize>,
    /// The index in `warps` of the one that issued last.
    last: usize,
    /// Nothing can issue before this.
    next: u64,
    /// When each unit is free.
    units: [u64; UNITS],
}

/// A multiprocessor.
pub(super) struct Replay<'r> {
    plan: &'r Plan,
    timing: &'r Timing,
    /// What each block's warps execute, in the compiler's order.
    traces: &'r [Vec<Vec<Event>>],
    recorded: &'r [BlockTrace],
    /// Of each of them, the phases of its mbarriers before any warp has joined one.
    begun: Vec<Vec<Phase>>,
    places: Vec<PlaceTraffic>,
    kinds: &'r [Kind],
    servers: Servers<'r>,
    schedulers: Vec<Scheduler>,
    warps: Vec<Warp>,
    blocks: Vec<Block>,
    /// The phases of the mbarriers of each block.
    phases: Vec<Vec<Phase>>,
    /// When each block slot is free; `None` while it is taken.
    slots: Vec<Option<u64>>,
    /// When the next block can start.
    next_start: u64,
    interval: u64,
    started: usize,
    done: Replayed,
}

impl<'r> Replay<'r> {
    pub fn new(
        plan: &'r Plan,
        recording: &'r Recording,
        Executed { traces, kinds }: Executed<'r>,
        servers: Servers<'r>,
        Share { active, blocks, resident }: Share,
    ) -> Self {
        let timing = recording.timing;
        let wanted = usize::try_from(blocks).unwrap_or(usize::MAX).min(resident * ROUNDS);
        let interval = (timing.launch.block * active).max(timing.launch.warp * f64::from(recording.warps_per_block));
        Self {
            plan,
            timing,
            traces,
            recorded: &recording.blocks,
            begun: begun(plan, traces, &recording.blocks),
            places: recording.places(),
            kinds,
            servers,
            schedulers: (0..timing.issue.schedulers).map(|_| Scheduler::default()).collect(),
            warps: Vec::new(),
            blocks: Vec::new(),
            phases: Vec::new(),
            slots: vec![Some(0); resident],
            next_start: 0,
            interval: interval as u64,
            started: 0,
            done: Replayed {
                end: 0.0,
                ends: Vec::new(),
                wanted,
                part: 1.0,
                drained: 0.0,
                busy: Busy::default(),
                issued: 0,
                units: [0; UNITS],
                waits: [0.0; Why::ALL.len()],
                by_place: vec![0.0; plan.places],
            },
        }
    }

    /// Runs to the end.
    pub fn run(mut self) -> Replayed {
        let mut now = 0;
        let mut events: u64 = 0;
        while self.done.ends.len() < self.done.wanted && events < MOST_ISSUED {
            self.start_blocks(now);
            let mut next = self.next_block();
            for index in 0..self.schedulers.len() {
                if self.schedulers[index].next <= now {
                    match self.choose(index, now) {
                        Ok(warp) => {
                            self.issue(index, warp, now);
                            events += 1;
                        }
                        Err(until) => self.schedulers[index].next = until.max(now + 1),
                    }
                }
            }
            next = self.schedulers.iter().map(|scheduler| scheduler.next).min().unwrap_or(u64::MAX).min(next);
            if next == u64::MAX {
                if !self.end_waits(now) {
                    break;
                }
                next = now;
            }
            now = next.max(now + 1);
        }
        let all: u64 = (0..self.done.wanted).map(|block| self.length(block)).sum();
        self.done.part = if self.done.ends.len() < self.done.wanted { events as f64 / all.max(1) as f64 } else { 1.0 };
        self.done.end = now as f64;
        self.done.drained = self.servers.drained();
        self.done.busy = self.servers.busy;
        self.done
    }

    /// Instructions of a block.
    fn length(&self, block: usize) -> u64 {
        self.traces[block % self.traces.len()].iter().map(|warp| warp.len() as u64).sum()
    }

    /// When the next block can start.
    fn next_block(&self) -> u64 {
        match self.started < self.done.wanted {
            true => self.slots.iter().flatten().min().map_or(u64::MAX, |&free| free.max(self.next_start)),
            false => u64::MAX,
        }
    }

    fn start_blocks(&mut self, now: u64) {
        while self.next_block() <= now {
            let Some(slot) = self.slots.iter().position(|slot| slot.is_some_and(|free| free <= now)) else { return };
            self.slots[slot] = None;
            self.next_start = now + self.interval;
            let trace = self.started % self.traces.len();
            self.started += 1;
            let block = self.blocks.len();
            let warps = &self.traces[trace];
            self.phases.push(self.begun[trace].clone());
            self.blocks.push(Block { slot, warps: warps.len(), left: 0, waiting: 0 });
            for (index, events) in warps.iter().enumerate() {
                if events.is_empty() {
                    continue;
                }
                self.blocks[block].left += 1;
                let parts = self.schedulers.len();
                let scheduler = match warps.len() >= parts {
                    true => index % parts,
                    false => (0..parts).min_by_key(|&part| self.schedulers[part].warps.len()).unwrap_or(0),
                };
                let start = now + (index as f64 * self.timing.launch.warp) as u64;
                let id = self.warps.len();
                self.warps.push(Warp::new(block, trace, index, start, self.plan.registers.len()));
                self.schedulers[scheduler].warps.push(id);
                self.schedulers[scheduler].next = self.schedulers[scheduler].next.min(start);
                self.look_ahead(id);
            }
            if self.blocks[block].left == 0 {
                self.end_block(block, now);
            }
        }
    }

    /// The event that a warp executes next.
    fn event(&self, warp: &Warp) -> Event {
        self.traces[warp.trace][warp.index][warp.at]
    }

    /// Finds out when a warp's next instruction has its registers.
    fn look_ahead(&mut self, id: usize) {
        let event = self.event(&self.warps[id]);
        let step = &self.plan.steps[event.place as usize];
        self.warps[id].wait_for(step);
        if step.meeting == Meeting::Waits {
            self.wait_for_phases(id);
        }
    }

    /// Makes a warp wait for the phases of mbarriers that its next instruction needs, or lets it go on
    /// if they are complete.
    fn wait_for_phases(&mut self, id: usize) {
        let warp = &self.warps[id];
        let (event, recorded) = (self.event(warp), &self.recorded[warp.trace]);
        let phases = &self.phases[warp.block];
        self.warps[id].wait_for_phases(recorded.phases_of(&event).map(|phase| phases[phase]));
    }

    /// What an event adds to phases of mbarriers is there at this time. Warps that wait for them go
    /// on if that was the last.
    fn join(&mut self, id: usize, event: &Event, ready: u64, by_copy: bool, now: u64) {
        let Warp { block, trace, .. } = self.warps[id];
        let mut complete = false;
        for phase in self.recorded[trace].phases_of(event) {
            let phase = &mut self.phases[block][phase];
            phase.left = phase.left.saturating_sub(1);
            complete |= phase.left == 0;
            if ready > phase.ready {
                (phase.ready, phase.by_copy) = (ready, by_copy);
            }
        }
        if complete {
            self.wake(|warp| warp.block == block, now);
        }
    }

    /// Of the warps that wait for phases, those go on whose phases are complete.
    fn wake(&mut self, which: impl Fn(&Warp) -> bool, now: u64) {
        for index in 0..self.schedulers.len() {
            for at in 0..self.schedulers[index].warps.len() {
                let id = self.schedulers[index].warps[at];
                if self.warps[id].at_phase && which(&self.warps[id]) {
                    self.wait_for_phases(id);
                    let Warp { at_phase, ready, .. } = self.warps[id];
                    let next = &mut self.schedulers[index].next;
                    *next = if at_phase { *next } else { (*next).min(ready.max(now + 1)) };
                }
            }
        }
    }

    /// Nobody can issue. The phases that warps wait for lack what is not recorded: they are complete.
    /// Returns whether any warp waits for one.
    fn end_waits(&mut self, now: u64) -> bool {
        let mut any = false;
        for warp in self.warps.iter().filter(|warp| warp.at_phase) {
            any = true;
            for phase in self.recorded[warp.trace].phases_of(&self.event(warp)) {
                self.phases[warp.block][phase].left = 0;
            }
        }
        self.wake(|_| true, now);
        any
    }

    /// The warp that a scheduler issues from, as an index in its list; or the time until which none
    /// can.
    fn choose(&self, index: usize, now: u64) -> Result<usize, u64> {
        let scheduler = &self.schedulers[index];
        let mut until = u64::MAX;
        let last = scheduler.last.min(scheduler.warps.len().saturating_sub(1));
        let others = (0..scheduler.warps.len()).filter(|&at| at != last);
        for at in [last].into_iter().chain(others).take(scheduler.warps.len()) {
            let warp = &self.warps[scheduler.warps[at]];
            if warp.at_barrier || warp.at_phase {
                continue;
            }
            if warp.ready > now {
                until = until.min(warp.ready);
                continue;
            }
            let event = self.event(warp);
            let step = &self.plan.steps[event.place as usize];
            let unit = step.cost.unit;
            let free = scheduler.units[unit as usize];
            if free > now {
                until = until.min(free);
                continue;
            }
            if matches!(unit, Unit::Memory | Unit::Shuffle | Unit::Texture) {
                let stores = event.target == Target::Memory && self.kinds[step.origin as usize] != Kind::Load;
                let room = self.servers.room(now as f64, stores);
                if room > now as f64 {
                    until = until.min(room.ceil() as u64);
                    continue;
                }
            }
            return Ok(at);
        }
        Err(until)
    }

    fn issue(&mut self, index: usize, at: usize, now: u64) {
        let id = self.schedulers[index].warps[at];
        let event = self.event(&self.warps[id]);
        let step = &self.plan.steps[event.place as usize];
        let place = step.origin as usize;
        let cost = step.cost;
        let more = if event.target == Target::Nothing { event.turns.into() } else { 0 };
        let slots = u64::from((cost.slots + more) * self.timing.issue.any);
        let (waited, why) = self.warps[id].waited(now, matches!(cost.unit, Unit::Memory | Unit::Texture));
        for (reason, cycles) in why.into_iter().zip(waited) {
            self.done.waits[reason as usize] += cycles;
            self.done.by_place[place] += cycles;
        }
        self.done.issued += u64::from(cost.slots + more);
        self.done.units[cost.unit as usize] += u64::from(cost.cycles);
        let scheduler = &mut self.schedulers[index];
        scheduler.last = at;
        scheduler.next = now + slots;
        scheduler.units[cost.unit as usize] = now + u64::from(cost.cycles.max(1) + more);
        let mut read = 0.0;
        let ready = match (event.target, cost.unit) {
            (Target::Bulk, _) => {
                let transfer = self.servers.bulk(now as f64, &event, self.kinds[place], &mut self.places[place]);
                read = transfer.read;
                transfer.done
            }
            (Target::Nothing, Unit::Shuffle) => self.servers.shuffle(now as f64) + f64::from(cost.latency),
            (Target::Nothing, _) => now as f64 + f64::from(cost.latency),
            _ => {
                let traffic = &mut self.places[place];
                self.servers.access(now as f64, &event, self.kinds[place], traffic)
            }
        };
        if event.target == Target::Constant {
            let backlog = self.servers.constant_backlog();
            scheduler.next = scheduler.next.max(backlog.max(0.0) as u64);
        }
        let warp = &mut self.warps[id];
        let why = Why::of(event.target, cost.unit);
        step.writes.iter().for_each(|&register| warp.set(register, ready as u64, why));
        warp.copy(step.copies, Copied { read: read as u64, done: ready as u64 });
        let joins = match step.meeting {
            Meeting::Joins => Some((ready as u64, false)),
            Meeting::JoinsAfterCopies => Some((warp.copied().max(ready as u64), true)),
            Meeting::Copies => Some((ready as u64, true)),
            Meeting::Nothing | Meeting::Waits => None,
        };
        warp.go_on(match cost.unit {
            Unit::Branch => now + u64::from(cost.latency).max(slots),
            _ if self.kinds[place].loops(event.target) => ready as u64,
            _ => now + slots,
        });
        let block = warp.block;
        if let Some((ready, by_copy)) = joins {
            self.join(id, &event, ready, by_copy, now);
        }
        let warp = &self.warps[id];
        if warp.at == self.traces[warp.trace][warp.index].len() {
            self.end_warp(index, at, now);
        } else {
            if step.is_barrier {
                self.warps[id].at_barrier = true;
                self.blocks[block].waiting += 1;
            }
            self.look_ahead(id);
        }
        self.release(block, now);
    }

    fn end_warp(&mut self, index: usize, at: usize, now: u64) {
        let scheduler = &mut self.schedulers[index];
        let id = scheduler.warps.remove(at);
        scheduler.last = at.min(scheduler.warps.len().saturating_sub(1));
        let warp = &mut self.warps[id];
        warp.end();
        let block = warp.block;
        self.blocks[block].left -= 1;
        if self.blocks[block].left == 0 {
            self.end_block(block, now);
        }
    }

    fn end_block(&mut self, block: usize, now: u64) {
        self.done.ends.push(now as f64 + 1.0);
        self.phases[block] = Vec::new();
        self.slots[self.blocks[block].slot] = Some(now + self.timing.launch.turnaround as u64);
    }

    /// Lets the warps of a block go on, if all that are left wait at the barrier.
    fn release(&mut self, block: usize, now: u64) {
        let Block { left, waiting, warps, .. } = self.blocks[block];
        if left == 0 || waiting < left {
            return;
        }
        self.blocks[block].waiting = 0;
        let latency = &self.timing.latency;
        let go = now + (latency.barrier + latency.barrier_per_warp * warps as f64) as u64;
        for scheduler in &mut self.schedulers {
            for &id in &scheduler.warps {
                let warp = &mut self.warps[id];
                if warp.block == block && warp.at_barrier {
                    warp.leave_barrier(go);
                    if warp.ready < scheduler.next {
                        scheduler.next = warp.ready.max(now + 1);
                    }
                }
            }
        }
    }
}

/// The phases of the mbarriers of each trace, with all that they wait for.
fn begun(plan: &Plan, traces: &[Vec<Vec<Event>>], recorded: &[BlockTrace]) -> Vec<Vec<Phase>> {
    let of = |(warps, recorded): (&Vec<Vec<Event>>, &BlockTrace)| {
        let mut phases = vec![Phase::default(); recorded.phases as usize];
        for event in warps.iter().flatten().filter(|event| event.phases > 0) {
            if plan.steps[event.place as usize].meeting != Meeting::Waits {
                recorded.phases_of(event).for_each(|phase| phases[phase].left += 1);
            }
        }
        phases
    };
    traces.iter().zip(recorded).map(of).collect()
}
