//! From the replay of one multiprocessor to the time of a launch.

use std::collections::HashMap;

use super::kinds::Kind;
use super::machine::Why;
use super::order;
use super::plan::Plan;
use super::pressure;
use super::record::{FITS, Recording, average_length};
use super::replay::{Executed, Replay, Replayed, Share};
use super::servers::Servers;
use super::step::Unit;
use super::trace::{BlockTrace, Event, Target};
use super::unroll;
use crate::counters::InstructionCounters;
use crate::model::{Model, Timing};

/// A unit that is used for at least this part of the time limits the launch.
const LIMITS: f64 = 0.6;
/// Reads from DRAM, one after the other, before the first instruction of a cold launch: its code
/// and its parameters. `reduce` of 1000 elements on an H200; how long the code is hardly matters
/// (4096 instructions in a row: 0.2 us more on an H100).
const FETCHES: f64 = 2.0;
/// The part of an empty launch's time that one takes that is queued behind others: `reduce` of 1000
/// elements, warm, on an H200.
const QUEUED: f64 = 0.7;
/// The most cycles that a launch waits for its last stores.
const MOST_DRAINING: f64 = 2000.0;

/// What limits a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// DRAM's bandwidth.
    Dram,
    /// L2's bandwidth, or that of the port to it.
    L2,
    /// The load-store unit, by accesses to global and local memory.
    Lsu,
    /// Shared memory.
    SharedMemory,
    /// The schedulers.
    Issue,
    /// f32 arithmetic.
    Fp32,
    /// Integer arithmetic.
    Integer,
    /// f64 arithmetic.
    Fp64,
    /// Special functions and conversions.
    SpecialFunctions,
    /// The constant cache.
    Constants,
    /// Texture units.
    Textures,
    /// Waiting for memory, with no unit busy.
    Latency,
    /// Waiting at barriers.
    Barriers,
    /// Waiting for arithmetic: chains of instructions that each need the one before.
    Dependences,
    /// Starting the launch and its blocks.
    Launch,
    /// The link to the host or to another GPU.
    Link,
}

impl Bound {
    /// Its name, in tables and in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::Lsu => "LSU",
            Self::SharedMemory => "shared memory",
            Self::Issue => "issue",
            Self::Fp32 => "FP32",
            Self::Integer => "integer",
            Self::Fp64 => "FP64",
            Self::SpecialFunctions => "special functions",
            Self::Constants => "constants",
            Self::Textures => "textures",
            Self::Latency => "latency",
            Self::Barriers => "barriers",
            Self::Dependences => "dependences",
            Self::Launch => "launch",
            Self::Link => "link",
        }
    }
}

/// What a launch's report says of its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicted {
    /// Its time.
    Time(Box<Prediction>),
    /// It uses something that is not modelled: this.
    Not(&'static str),
}

impl Predicted {
    /// Of a launch that fills less than half of the GPU, where only others are predicted.
    pub const TOO_SMALL: Self = Self::Not("launches that fill less than half of the GPU");

    /// Of a launch that waits for what the host writes during it.
    pub const WAITS_FOR_HOST: Self = Self::Not("launches that wait for the host");
}

/// Whether a grid of so many blocks fills half of a GPU that has room for so many on each
/// multiprocessor.
pub(crate) fn fills_half(model: &Model, blocks: u64, resident: u32) -> bool {
    2 * blocks >= u64::from(resident) * u64::from(model.multiprocessors)
}

/// The predicted time of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The model.
    pub model: &'static Model,
    /// Microseconds with nothing useful in L2.
    pub cold_us: f64,
    /// Microseconds with the data that the launch before it left in L2, if that fits.
    pub warm_us: Option<f64>,
    /// What of them an empty launch takes.
    pub empty_us: f64,
    /// What each further launch adds that is queued behind another.
    pub next_us: f64,
    /// What limits it, cold.
    pub bound: Bound,
    /// What limits it, warm.
    pub warm_bound: Option<Bound>,
    /// Units, and the part of the time for which each is used, the busiest first.
    pub uses: Vec<(Bound, f64)>,
    /// Why warps wait, and the part of their waiting, the longest first.
    pub waits: Vec<(Why, f64)>,
    /// For each instruction of the program, its part of all waiting.
    pub waits_by_instruction: Vec<f64>,
    /// Registers of a thread, as given or estimated.
    pub registers: u32,
    /// Blocks that fit a multiprocessor at once.
    pub resident: u32,
    /// Warps resident on a multiprocessor, and the most that it can hold.
    pub warps: (u32, u32),
    /// Blocks of the grid.
    pub blocks: u64,
    /// How many times as much work the average block did as the blocks that were replayed; at least
    /// 1. Only the blocks of one multiprocessor are replayed: where this is more, the others do more.
    pub unsampled: f64,
}

impl Prediction {
    /// Its microseconds and what limits it: cold, or, if `warm` is wished for and the data fits
    /// into L2, warm.
    pub fn of_caches(&self, warm: bool) -> (f64, Bound) {
        let warm = self.warm_us.zip(self.warm_bound).filter(|_| warm);
        warm.unwrap_or((self.cold_us, self.bound))
    }
}

/// The time of a launch.
pub(super) fn of(recording: &Recording, plan: &Plan, kinds: &[Kind]) -> Prediction {
    let (timing, model) = (recording.timing, recording.model);
    let mut orders = Orders::default();
    let room = pressure::room(recording.registers);
    let traces: Vec<Vec<Vec<Event>>> =
        recording.blocks.iter().map(|block| in_order(block, plan, &mut orders, room)).collect();
    let executed = Executed { traces: &traces, kinds };
    let cold = replay(recording, plan, executed, false);
    let l2 = model.l2.map_or(0, |l2| l2.bytes) as f64;
    let fits = recording.whole_footprint() <= FITS * l2;
    let microseconds = |replayed: &Replayed| cycles(recording, replayed) / timing.clock_mhz;
    let empty_us = timing.launch.empty_us;
    let fetch_us = FETCHES * timing.latency.dram / timing.clock_mhz;
    let cold_us = empty_us + fetch_us + microseconds(&cold);
    let warm = fits.then(|| replay(recording, plan, executed, true));
    let warm_us = warm.as_ref().map(|warm| (QUEUED * empty_us + microseconds(warm)).min(cold_us));
    let whys = |replayed: &Replayed| shares(Why::ALL.into_iter().zip(replayed.waits).collect());
    let (cold_uses, waits) = (uses(&cold, timing, recording), whys(&cold));
    let warm_bound = warm
        .zip(warm_us)
        .map(|(warm, warm_us)| bound(&uses(&warm, timing, recording), &whys(&warm), QUEUED * empty_us / warm_us));
    let waiting: f64 = cold.by_place.iter().sum();
    Prediction {
        model,
        cold_us,
        warm_us,
        empty_us,
        next_us: timing.launch.next_us,
        bound: bound(&cold_uses, &waits, empty_us / cold_us),
        warm_bound,
        uses: cold_uses,
        waits,
        waits_by_instruction: cold.by_place.iter().map(|cycles| cycles / waiting.max(1.0)).collect(),
        registers: recording.registers,
        resident: recording.resident,
        warps: (recording.resident * recording.warps_per_block, model.warps()),
        blocks: recording.total_blocks,
        unsampled: unsampled(recording),
    }
}

/// What a sector or a wavefront costs, in slots of a multiprocessor's schedulers.
const SLOTS: u64 = 4;
/// From this part of all slots on, sectors or wavefronts also count by themselves: instructions of
/// the recorded blocks cannot stand for them.
const MUCH: f64 = 0.25;

/// How many times as much the average block did as those that were recorded: in instructions, and
/// in these with sectors, with sectors that L1 lacks, or with wavefronts of shared memory; and in
/// each of these by itself, if they are much of the work.
fn unsampled(recording: &Recording) -> f64 {
    let events = || recording.blocks.iter().flat_map(|block| &block.warps).flat_map(|warp| &warp.events);
    let of = |target, what: fn(&Event) -> u64| {
        events().filter(|event| event.target == target).map(|event| SLOTS * what(event)).sum::<u64>()
    };
    let counted = |what: fn(&InstructionCounters) -> u64| recording.counted.iter().map(what).sum::<u64>();
    let reads: u64 = recording.reads.iter().map(|read| read.sectors).sum();
    let missed = events().filter(|event| recording.reads.get(event.place as usize).is_some_and(|it| it.sectors > 0));
    let missed: u64 = missed.map(|event| SLOTS * u64::from(event.missed)).sum();
    let more = [
        (0, 0),
        (
            SLOTS * counted(|counters| counters.global.sectors + counters.local.sectors),
            of(Target::Memory, |event| event.sectors.into()),
        ),
        (SLOTS * reads, missed),
        (SLOTS * counted(|counters| counters.shared.wavefronts), of(Target::Shared, |event| event.wavefronts.into())),
    ];
    let (all, recorded) = (counted(|counters| counters.executed), events().count() as u64);
    // So many times as many blocks ran, and so much longer is each than its record.
    let share = recording.run_blocks as f64 / recording.blocks.len().max(1) as f64 * unrecorded(&recording.blocks);
    let over = |of_all: u64, of_recorded: u64| of_all as f64 / (of_recorded.max(1) as f64 * share);
    let ratio = |(of_all, of_recorded): (u64, u64)| {
        let together = over(all + of_all, recorded + of_recorded);
        match of_all as f64 > MUCH * (all + of_all) as f64 {
            true => together.max(over(of_all, of_recorded)),
            false => together,
        }
    };
    more.into_iter().map(ratio).fold(1.0, f64::max)
}

fn replay(recording: &Recording, plan: &Plan, executed: Executed<'_>, warm: bool) -> Replayed {
    let multiprocessors = u64::from(recording.model.multiprocessors);
    let active = recording.total_blocks.min(multiprocessors) as f64;
    let blocks = recording.total_blocks.div_ceil(multiprocessors);
    let resident = (recording.resident.max(1) as usize).min(usize::try_from(blocks).unwrap_or(usize::MAX));
    let servers = Servers::new(recording.timing, active, recording.dram_work(), warm);
    Replay::new(plan, recording, executed, servers, Share { active, blocks, resident }).run()
}

/// The order of each straight run, by its places.
type Orders = HashMap<Vec<u32>, Vec<order::Place>>;

/// The longest run that is put in order: the time for that grows with its square.
const LONGEST_RUN: usize = 400;

/// What a block's warps executed, each straight run in the compiler's order, with loops unrolled.
fn in_order(block: &BlockTrace, plan: &Plan, orders: &mut Orders, room: u32) -> Vec<Vec<Event>> {
    let mut of_warp = |events: &[Event]| {
        let mut ordered = Vec::with_capacity(events.len());
        let mut rest = events;
        while !rest.is_empty() {
            let (mut run, after) = straight_run(rest, plan);
            rest = after;
            if let Some(unrolled) = run.last().and_then(|last| plan.loops.get(&last.place))
                && run[0].place == unrolled.head
            {
                let mut iterations = vec![run];
                while iterations.len() < unroll::COPIES && rest.first().is_some_and(|next| next.place == unrolled.head)
                {
                    let (next, after) = straight_run(rest, plan);
                    if next.last().is_none_or(|last| last.place != unrolled.branch) {
                        break;
                    }
                    iterations.push(next);
                    rest = after;
                }
                run = unrolled.join(iterations);
            }
            ordered.append(&mut put_in_order(run, plan, orders, room));
        }
        ordered
    };
    block.warps.iter().map(|warp| of_warp(&warp.events)).collect()
}

/// The straight run that some events begin with, without the branches that the compiler leaves out;
/// and the events after it.
fn straight_run<'e>(events: &'e [Event], plan: &Plan) -> (Vec<Event>, &'e [Event]) {
    let mut run: Vec<Event> = Vec::new();
    let mut rest = events;
    while let Some(first) = rest.first() {
        let (start, end) = plan.steps[first.place as usize].block;
        let length = (end - start) as usize;
        let whole = rest.len() >= length && rest[..length].iter().map(|event| event.place).eq(start..end);
        // A part of a block is a run by itself.
        if !run.is_empty() && (!whole || run.len() + length > LONGEST_RUN) {
            break;
        }
        let taken = if whole { length } else { 1 };
        run.extend(rest[..taken].iter().filter(|event| !(whole && plan.steps[event.place as usize].vanishes)));
        rest = &rest[taken..];
        if !whole || !plan.steps[end as usize - 1].goes_on {
            break;
        }
    }
    (run, rest)
}

fn put_in_order(run: Vec<Event>, plan: &Plan, orders: &mut Orders, room: u32) -> Vec<Event> {
    if run.len() < 2 {
        return run;
    }
    let places: Vec<u32> = run.iter().map(|event| event.place).collect();
    let order = orders.entry(places).or_insert_with_key(|places| {
        let steps: Vec<_> = places.iter().map(|&place| &plan.steps[place as usize]).collect();
        order::of_run(&steps, &plan.registers, room)
    });
    order.iter().map(|place| Event { turns: place.more.max(run[place.from].turns), ..run[place.from] }).collect()
}

/// The cycles of the whole launch.
fn cycles(recording: &Recording, replayed: &Replayed) -> f64 {
    let share = recording.total_blocks as f64 / f64::from(recording.model.multiprocessors);
    let Replayed { end, ends, wanted, part, .. } = replayed;
    let drain = (replayed.drained - end).clamp(0.0, MOST_DRAINING);
    let resident = (recording.resident as usize).max(1);
    let done = ends.len();
    let total = match done < *wanted {
        // Too long to replay to its end.
        true => end / part.max(1e-9) * (share / *wanted as f64).max(1.0),
        false => {
            let first = resident.min(done.saturating_sub(1)).max(1);
            let last = if done > 3 * resident { done - resident } else { done };
            let each = match last > first {
                true => (ends[last - 1] - ends[first - 1]) / (last - first) as f64,
                false => end / done.max(1) as f64,
            };
            end + (share - done as f64).max(0.0) * each
        }
    };
    (total + drain) * unrecorded(&recording.blocks)
}

/// How much longer the blocks are than what was recorded of them.
fn unrecorded(blocks: &[BlockTrace]) -> f64 {
    let average = average_length(blocks);
    let whole = |block: &BlockTrace| match block.ended {
        true => block.executed() as f64,
        false => average.max(block.executed() as f64),
    };
    let all: f64 = blocks.iter().map(whole).sum();
    let recorded: usize = blocks.iter().flat_map(|block| &block.warps).map(|warp| warp.events.len()).sum();
    all / recorded.max(1) as f64
}

/// How much each unit is used.
fn uses(replayed: &Replayed, timing: &Timing, recording: &Recording) -> Vec<(Bound, f64)> {
    let cycles = replayed.end.max(1.0);
    let slots = cycles * timing.issue.schedulers as f64;
    let unit = |units: &[Unit]| units.iter().map(|&unit| replayed.units[unit as usize]).sum::<u64>() as f64 / slots;
    let busy = &replayed.busy;
    let active = recording.total_blocks.min(recording.model.multiprocessors.into()) as f64;
    let starts = replayed.ends.len() as f64 * timing.launch.block * active;
    // Without L2, what is in its place here is the way to DRAM.
    let (dram, l2) = match recording.model.l2 {
        Some(_) => (busy.dram, busy.l2.max(busy.port)),
        None => (busy.dram.max(busy.l2).max(busy.port), 0.0),
    };
    let mut all = vec![
        (Bound::Dram, dram / cycles),
        (Bound::L2, l2.max(busy.hottest) / cycles),
        (Bound::Lsu, (busy.lsu - busy.shared) / cycles),
        (Bound::SharedMemory, busy.shared / cycles),
        (Bound::Issue, replayed.issued as f64 * f64::from(timing.issue.any) / slots),
        (Bound::Fp32, unit(&[Unit::Fp32])),
        (Bound::Integer, unit(&[Unit::Integer, Unit::Multiply])),
        (Bound::Fp64, unit(&[Unit::Double])),
        (Bound::SpecialFunctions, unit(&[Unit::Special])),
        (Bound::Constants, busy.constant / cycles),
        (Bound::Textures, unit(&[Unit::Texture])),
        (Bound::Launch, starts / cycles),
    ];
    all.iter_mut().for_each(|(_, part)| *part = part.clamp(0.0, 1.0));
    all.retain(|&(_, part)| part > 0.0);
    sorted(all)
}

fn shares(all: Vec<(Why, f64)>) -> Vec<(Why, f64)> {
    let sum: f64 = all.iter().map(|(_, cycles)| cycles).sum();
    sorted(all.into_iter().filter(|&(_, cycles)| cycles > 0.0).map(|(why, cycles)| (why, cycles / sum)).collect())
}

fn sorted<T>(mut all: Vec<(T, f64)>) -> Vec<(T, f64)> {
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    all
}

/// What limits a launch: the busiest unit, or else what warps wait for longest.
fn bound(uses: &[(Bound, f64)], waits: &[(Why, f64)], empty: f64) -> Bound {
    if empty > 0.5 {
        return Bound::Launch;
    }
    if let Some(&(unit, part)) = uses.first()
        && part >= LIMITS
    {
        return unit;
    }
    match waits.first().map(|&(why, _)| why) {
        Some(Why::Barrier) => Bound::Barriers,
        Some(Why::Arithmetic | Why::Branch) => Bound::Dependences,
        Some(Why::Turn) => Bound::Issue,
        Some(Why::Queue) => Bound::Lsu,
        Some(Why::Memory | Why::Shared | Why::Constant) | None => Bound::Latency,
    }
}
