//! Runs a launch step by step: for each step a caller chooses the split that makes it. A caller may
//! begin again from the start as often as it likes.
//! [`follow`] runs in an order that switches describe; `run/explore` tries all orders.
//!
//! All blocks are resident. A step is one access that other threads may see, and all that its split
//! does until it is before the next one, waits, or has ended. Between steps, every split that can
//! run is before an access, which is noted: so a caller knows what each would do.
//!
//! A split must not poll for ever. If it comes back to an access with all registers as they were,
//! and nobody has written what it has read since, it *sleeps* until somebody does. If all sleep,
//! they poll for some time: lanes that wait to reconverge with lanes that poll then go on
//! ([`patience`](super::patience)). If that helps nobody, the launch stops.

use std::sync::Arc;

use crate::address::rank_of;
use crate::counters::InstructionCounters;
use crate::lanes::Registers;
use crate::machine::schedule::slot::{Slot, TurnState};
use crate::machine::schedule::turns::QUANTUM;
use crate::machine::state::local::LocalMemory;
use crate::machine::state::{Does, Draws, Footprint, Meeting, Notes, RunningLaunch, Span, Split, Stop};
use crate::order::{Drawn, Start};
use crate::switches::{SplitId, Switch};
use crate::touch::Touch;
use crate::trap::TrapKind;

/// Instructions for which a warp polls while no other warp can run.
const POLLED: u64 = 1 << 16;

/// A split that is before an access.
#[derive(Clone)]
pub(crate) struct Ready {
    pub id: SplitId,
    pub footprint: Arc<Footprint>,
    /// It polls what nobody has written since.
    pub sleeps: bool,
}

/// What a step did to others.
#[derive(Default)]
pub(crate) struct Stepping {
    /// The splits that slept and no longer do.
    pub woken: Vec<SplitId>,
    /// The barriers that were completed.
    pub met: Vec<Meeting>,
}

/// The state of a split at an access.
struct Seen<'l> {
    pc: u32,
    mask: u32,
    registers: Registers<'l>,
    local: LocalMemory,
}

/// What is known of a split that may poll.
struct Polling<'l> {
    id: SplitId,
    /// Accesses that it has come to; one that it comes to again may be a poll.
    visited: Vec<u32>,
    /// States since it has written, or somebody else what it reads.
    seen: Vec<Seen<'l>>,
    /// What it has read since.
    reads: Vec<Arc<Footprint>>,
    sleeps: bool,
}

/// A launch that runs step by step.
pub(crate) struct Stepped<'l> {
    launched: &'l RunningLaunch<'l>,
    shared: TurnState<'l>,
    slots: Vec<Slot<'l>>,
    polling: Vec<Polling<'l>>,
    ready: Vec<Ready>,
    /// The split that made the last step.
    running: Option<SplitId>,
    /// Whether that step completed a barrier, after which any split may run.
    met: bool,
    /// How many steps each split has made.
    made: Vec<(SplitId, u32)>,
    pub steps: u64,
    /// How often somebody else went on although who ran could have.
    pub preemptions: u64,
}

impl<'l> Stepped<'l> {
    /// A launch that has not begun, with room for all its blocks.
    pub fn new(launched: &'l RunningLaunch<'l>) -> Self {
        let slots = (0..launched.clusters()).map(|slot| Slot::new(launched, Some(slot as u32))).collect();
        let mut draws = Draws::new(0, 0, 0, Vec::new());
        draws.notes = Some(Notes::default());
        draws.follows = launched.launch.follows;
        let shared = TurnState {
            counters: vec![InstructionCounters::default(); launched.code.places.len() + 1],
            modelled: None,
            checker: None,
            draws: Some(Box::new(draws)),
        };
        let (polling, ready, made) = (Vec::new(), Vec::new(), Vec::new());
        let (running, met) = (None, false);
        Self { launched, shared, slots, polling, ready, running, met, made, steps: 0, preemptions: 0 }
    }

    /// Starts from the top. Memory is the caller's to restore.
    pub fn begin(&mut self) -> Result<(), Stop> {
        self.launched.begin_again();
        self.polling.clear();
        self.ready.clear();
        self.made.clear();
        (self.running, self.met, self.steps, self.preemptions) = (None, false, 0, 0);
        if let Some(notes) = self.notes() {
            notes.before.clear();
            notes.met.clear();
        }
        for slot in 0..self.slots.len() {
            self.slots[slot].begin(&mut self.shared, slot as u64);
        }
        for slot in 0..self.slots.len() {
            self.settle(slot)?;
        }
        self.list();
        self.wait_in_vain()
    }

    pub fn launched(&self) -> &'l RunningLaunch<'l> {
        self.launched
    }

    /// The splits that can run, in order, and those that sleep. Without any, the launch has ended.
    pub fn ready(&self) -> &[Ready] {
        &self.ready
    }

    /// The split that runs by the rule: the one that ran last, or else the first that can.
    pub fn usual(&self) -> Option<SplitId> {
        let awake = || self.ready.iter().filter(|ready| !ready.sleeps).map(|ready| ready.id);
        self.running.filter(|&running| awake().any(|id| id == running)).or_else(|| awake().next())
    }

    /// How many steps a split has made.
    pub fn made(&self, id: SplitId) -> u32 {
        self.made.iter().find(|(other, _)| *other == id).map_or(0, |&(_, made)| made)
    }

    /// Lets a split that is ready make its step. Fails if a fault stops the launch, which has it.
    pub fn step(&mut self, id: SplitId) -> Result<Stepping, Stop> {
        let Some(at) = self.ready.iter().position(|ready| ready.id == id) else { return Ok(Stepping::default()) };
        if !self.met && self.running.is_some_and(|running| running != id && self.usual() == Some(running)) {
            self.preemptions += 1;
        }
        self.running = Some(id);
        self.steps += 1;
        match self.made.iter_mut().find(|(other, _)| *other == id) {
            Some((_, made)) => *made += 1,
            None => self.made.push((id, 1)),
        }
        let footprint = self.ready[at].footprint.clone();
        let wrote = self.advance(id, &footprint)?;
        let met = self.notes().map(|notes| std::mem::take(&mut notes.met)).unwrap_or_default();
        self.met = !met.is_empty();
        let woken = self.after(id, &footprint, wrote);
        self.list();
        self.wait_in_vain()?;
        Ok(Stepping { woken, met })
    }

    fn notes(&mut self) -> Option<&mut Notes> {
        self.shared.draws.as_mut().and_then(|draws| draws.notes.as_mut())
    }

    /// Makes a step, and lets all go on to their next. Returns whether it wrote memory.
    fn advance(&mut self, id: SplitId, footprint: &Footprint) -> Result<bool, Stop> {
        let (slot, number) = place(self.launched, id);
        let ready = &mut self.slots[slot].warps[number].ready;
        let is_chosen = |split: &Split| split.mask.trailing_zeros() == u32::from(id.lane);
        let Some(at) = ready.iter().position(is_chosen) else { return Ok(false) };
        let split = ready.remove(at);
        ready.push(split);
        let updates = footprint.does == Does::Updates;
        let before = updates.then(|| self.values(slot, footprint));
        if let Some(notes) = self.notes() {
            notes.before.retain(|(other, _)| *other != id);
        }
        self.turn(slot, number, 1)?;
        let wrote = match before {
            Some(before) => footprint.spans.is_none() || before != self.values(slot, footprint),
            None => footprint.does != Does::Reads,
        };
        self.settle(slot)?;
        Ok(wrote)
    }

    /// The words that a step reaches.
    fn values(&mut self, slot: usize, footprint: &Footprint) -> Vec<u128> {
        let memory = self.launched.memory;
        let blocks = self.slots[slot].worker.block.all_mut();
        let of_word = |span: &Span, at: u64| match span.memory {
            0 => memory.value(at, 4),
            _ => blocks.get(rank_of(at) as usize).map_or(0, |block| block.shared.value(at, 4)),
        };
        let words = |span: &Span| (span.start & !3..span.end).step_by(4);
        let spans = footprint.spans.iter().flatten();
        spans.flat_map(|span| words(span).map(move |at| (span, at))).map(|(span, at)| of_word(span, at)).collect()
    }

    fn turn(&mut self, slot: usize, number: usize, budget: u64) -> Result<bool, Stop> {
        if let Some(draws) = &mut self.shared.draws {
            draws.begin(budget);
        }
        let turn = self.slots[slot].turn_of_warp(&mut self.shared, number, QUANTUM)?;
        self.slots[slot].worker.report_steps();
        Ok(turn.went_on)
    }

    /// Lets all splits of a cluster go on until they are before an access, wait, or have ended.
    fn settle(&mut self, slot: usize) -> Result<(), Stop> {
        loop {
            let mut went_on = false;
            for number in 0..self.slots[slot].warps.len() {
                while self.settles(slot, number) {
                    if !self.turn(slot, number, 0)? {
                        break;
                    }
                    went_on = true;
                }
            }
            if went_on {
                continue;
            }
            let any_ready = self.slots[slot].warps.iter().any(|warp| !warp.ready.is_empty());
            if any_ready || !self.slots[slot].runs {
                return Ok(());
            }
            self.slots[slot].rescue(&mut self.shared)?;
        }
    }

    /// Whether a warp has to go on before its splits are all before an access: with the split on
    /// top.
    fn settles(&mut self, slot: usize, number: usize) -> bool {
        let Self { slots, shared, .. } = self;
        let block = slots[slot].worker.cluster * u64::from(self.launched.blocks_per_cluster);
        let warps = self.launched.threads.div_ceil(32) as usize;
        let Slot { warps: all, runs, .. } = &mut slots[slot];
        let warp = &mut all[number];
        let (block, index) = (block as u32 + (number / warps) as u32, (number % warps) as u8);
        let Some(notes) = shared.draws.as_mut().and_then(|draws| draws.notes.as_mut()) else { return false };
        let is_noted = |split: &Split| {
            let id = SplitId { block, warp: index, lane: split.mask.trailing_zeros() as u8 & 31 };
            let noted = notes.before.iter().find(|(other, _)| *other == id);
            noted.is_some_and(|(_, noted)| (noted.pc, noted.mask) == (split.pc, split.mask))
        };
        if warp.ready.is_empty() {
            return *runs && warp.may_go_on();
        }
        let Some(at) = warp.ready.iter().position(|split| !is_noted(split)) else { return false };
        let split = warp.ready.remove(at);
        warp.ready.push(split);
        true
    }

    /// Lists who is before an access.
    fn list(&mut self) {
        let Self { slots, shared, ready, polling, launched, .. } = self;
        let Some(notes) = shared.draws.as_mut().and_then(|draws| draws.notes.as_mut()) else { return };
        notes.before.retain(|(id, noted)| {
            let (slot, number) = place(launched, *id);
            let warp = &slots[slot].warps[number];
            warp.ready.iter().any(|split| (split.pc, split.mask) == (noted.pc, noted.mask))
        });
        let new = |id: SplitId, noted: &Arc<Footprint>| {
            !ready.iter().any(|old| old.id == id && Arc::ptr_eq(&old.footprint, noted))
        };
        let arrived: Vec<SplitId> =
            notes.before.iter().filter(|(id, noted)| new(*id, noted)).map(|(id, _)| *id).collect();
        for id in arrived {
            let Some((_, footprint)) = notes.before.iter().find(|(other, _)| *other == id) else { continue };
            let (slot, number) = place(launched, id);
            let warp = &slots[slot].warps[number];
            Polling::of(polling, id).comes_to(footprint, (&warp.registers, &warp.local));
        }
        ready.clear();
        ready.extend(notes.before.iter().map(|(id, footprint)| {
            let sleeps = polling.iter().any(|polling| polling.id == *id && polling.sleeps);
            Ready { id: *id, footprint: footprint.clone(), sleeps }
        }));
        ready.sort_unstable_by_key(|ready| ready.id);
    }

    /// Notes what a step means for those that poll. Returns who no longer sleeps.
    fn after(&mut self, id: SplitId, footprint: &Arc<Footprint>, wrote: bool) -> Vec<SplitId> {
        let own = Polling::of(&mut self.polling, id);
        own.sleeps = false;
        match wrote {
            true => own.forget(),
            false => own.reads.push(footprint.clone()),
        }
        let mut woken = Vec::new();
        for polling in self.polling.iter_mut().filter(|polling| wrote && polling.id != id) {
            if polling.reads.iter().any(|read| read.meets(footprint)) {
                if std::mem::take(&mut polling.sleeps) {
                    woken.push(polling.id);
                    // Its state is that of its last visit.
                    polling.seen.drain(..polling.seen.len().saturating_sub(1));
                    polling.reads.clear();
                } else {
                    polling.forget();
                }
            }
        }
        woken
    }

    /// While all splits sleep, lets them poll. Stops the launch if no other split can then run.
    fn wait_in_vain(&mut self) -> Result<(), Stop> {
        if self.ready.is_empty() || self.ready.iter().any(|ready| !ready.sleeps) {
            return Ok(());
        }
        let ids: Vec<SplitId> = self.ready.iter().map(|ready| ready.id).collect();
        let executed = |stepped: &Self| {
            let warp = |&id: &SplitId| {
                let (slot, number) = place(stepped.launched, id);
                stepped.slots[slot].warps[number].executed
            };
            ids.iter().map(warp).min().unwrap_or(0)
        };
        let until = executed(self) + POLLED;
        while executed(self) < until {
            for &id in &ids {
                let Some(ready) = self.ready.iter().find(|ready| ready.id == id) else { return Ok(()) };
                let footprint = ready.footprint.clone();
                if self.advance(id, &footprint)? {
                    self.after(id, &footprint, true);
                }
                self.list();
                if self.ready.iter().any(|ready| !ready.sleeps) {
                    return Ok(());
                }
            }
        }
        let Some((slot, _)) = self.ready.first().map(|ready| place(self.launched, ready.id)) else { return Ok(()) };
        let slot = &self.slots[slot];
        let waiting = self.slots.iter().filter(|slot| slot.runs).count() as u64;
        let waiting = waiting * u64::from(self.launched.blocks_per_cluster);
        let kind = TrapKind::NoProgress { waiting, not_begun: 0, steps: self.launched.steps(0) };
        let stop = slot.worker.stop_at(kind, &slot.warps, None);
        Err(self.launched.keep_stop(slot.worker.cluster, stop))
    }
}

/// The slot of a split, and the warp's number in it.
fn place(launched: &RunningLaunch<'_>, id: SplitId) -> (usize, usize) {
    let of_cluster = launched.blocks_per_cluster;
    let number = id.block % of_cluster * launched.threads.div_ceil(32) + u32::from(id.warp);
    ((id.block / of_cluster) as usize, number as usize)
}

impl<'l> Polling<'l> {
    fn of(all: &mut Vec<Self>, id: SplitId) -> &mut Self {
        let at = all.iter().position(|polling| polling.id == id).unwrap_or_else(|| {
            let (visited, seen, reads) = (Vec::new(), Vec::new(), Vec::new());
            all.push(Self { id, visited, seen, reads, sleeps: false });
            all.len() - 1
        });
        &mut all[at]
    }

    fn forget(&mut self) {
        self.seen.clear();
        self.reads.clear();
    }

    /// The split is before an access.
    fn comes_to(&mut self, footprint: &Footprint, (registers, local): (&Registers<'l>, &LocalMemory)) {
        let Footprint { pc, mask, .. } = *footprint;
        let again = self.visited.contains(&pc);
        if !again {
            self.visited.push(pc);
        }
        if !matches!(footprint.does, Does::Reads | Does::Updates) || !(footprint.polls || again) {
            return;
        }
        let same = |seen: &Seen<'l>| seen.registers.has_values_of(registers) && seen.local == *local;
        match self.seen.iter_mut().find(|seen| (seen.pc, seen.mask) == (pc, mask)) {
            Some(seen) if same(seen) => self.sleeps = true,
            Some(seen) => (seen.registers, seen.local) = (registers.clone(), local.clone()),
            None => self.seen.push(Seen { pc, mask, registers: registers.clone(), local: local.clone() }),
        }
    }
}

/// Runs a launch in the order that switches describe. If it faults, the launch has the reason.
pub(crate) fn follow(launched: &RunningLaunch, switches: &[Switch]) -> (Vec<InstructionCounters>, Drawn, Vec<Touch>) {
    let mut stepped = Stepped::new(launched);
    // The launch has the reason if it stopped.
    let _ = follow_on(&mut stepped, switches, &mut |_| {});
    let Stepped { mut slots, mut shared, preemptions, .. } = stepped;
    slots.drain(..).for_each(|slot| drop(slot.worker.finish()));
    shared.counters.pop();
    let (points, touched) = shared.draws.take().map_or((0, Vec::new()), |draws| (draws.passed, draws.touched));
    let touches = touched.into_iter().map(|touch| touch.map_site(|party| launched.site(party))).collect();
    let drawn = Drawn { points, interruptions: preemptions, resident: launched.clusters(), start: Start::Up, late: 0 };
    (shared.counters, drawn, touches)
}

/// Runs a launch from its start in the order that switches describe: a switch whose split cannot go
/// on is left out. Calls `each` before a step, with the switch that happens there.
pub(crate) fn follow_on<'l>(
    stepped: &mut Stepped<'l>,
    switches: &[Switch],
    each: &mut dyn FnMut(Option<Switch>),
) -> Result<(), Stop> {
    stepped.begin()?;
    let mut left: Vec<Switch> = switches.to_vec();
    while let Some(usual) = stepped.usual() {
        let access = stepped.made(usual) + 1;
        let here = left.iter().position(|switch| (switch.split, switch.access) == (usual, access));
        let is_awake = |id: SplitId| stepped.ready().iter().any(|ready| ready.id == id && !ready.sleeps);
        let id = here.map(|at| left.remove(at).to).filter(|&to| is_awake(to)).unwrap_or(usual);
        each((id != usual).then_some(Switch { split: usual, access, to: id }));
        stepped.step(id)?;
    }
    Ok(())
}
