//! Tests that the fast paths of the race detector find the same races as the general path, and
//! leave the same state.

use proptest::prelude::*;

use super::race::Races;
use super::stamp::Stamp;
use super::touch::Reached;
use crate::coalesce::Shape;
use crate::instruction::AccessKind;
use crate::program::{Fence, MemoryOperation, Order, SyncScope};
use crate::site::AccessAction;

/// Bytes of each piece of memory.
const BYTES: u64 = 2048;

/// A step of a warp, or of the whole block.
#[derive(Clone, Debug)]
enum Step {
    Access {
        warp: u32,
        place: AllocationIndex,
        mask: u32,
        lanes: Pattern,
        width: u32,
        how: How,
    },
    /// Arrives at the barrier of all threads, which is complete when all warps have arrived.
    Arrive {
        warp: u32,
    },
    /// Some warps meet.
    Meet {
        warps: Vec<u32>,
    },
    /// Some lanes of a warp meet.
    MeetLanes {
        warp: u32,
        mask: u32,
    },
    Fence {
        warp: u32,
        mask: u32,
        scope: SyncScope,
    },
    NextBlock,
}

/// Shared memory, or an allocation.
type AllocationIndex = Option<usize>;

/// Which elements lanes access.
#[derive(Clone, Debug)]
enum Pattern {
    /// Consecutive elements, from this one on.
    Row(u32),
    Stride(u32, u32),
    Same(u32),
    /// Groups of lanes share an element; the next element is this far away.
    Groups(u32, u32, u32),
    /// Groups of lanes with consecutive elements; the next group's are this far away, 0 for the
    /// same.
    Rows(u32, u32, u32),
    Anywhere(Vec<u32>),
}

impl Pattern {
    fn element(&self, lane: u32) -> u32 {
        match *self {
            Self::Row(start) => start + lane,
            Self::Stride(start, stride) => start + stride * lane,
            Self::Same(start) => start,
            Self::Groups(start, count, stride) => start + lane / count * stride,
            Self::Rows(start, count, stride) => start + lane % count + lane / count * stride,
            Self::Anywhere(ref elements) => elements[lane as usize],
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum How {
    Read,
    Write,
    Volatile(AccessAction),
    Relaxed(AccessAction, SyncScope),
    Release(SyncScope),
    Atomic(SyncScope),
}

impl How {
    fn kind(self) -> AccessKind {
        match self {
            Self::Read | Self::Volatile(AccessAction::Read) | Self::Relaxed(AccessAction::Read, _) => AccessKind::Load,
            Self::Atomic(_) | Self::Volatile(AccessAction::Atomic) | Self::Relaxed(AccessAction::Atomic, _) => {
                AccessKind::Atomic
            }
            _ => AccessKind::Store,
        }
    }

    fn order(self) -> Order {
        let strong = Order { strong: true, ..Order::default() };
        match self {
            Self::Read | Self::Write => Order::default(),
            Self::Volatile(_) => Order { volatile: true, ..strong },
            Self::Relaxed(_, scope) | Self::Atomic(scope) => Order { scope, ..strong },
            Self::Release(scope) => Order { releases: Some(scope), ..strong },
        }
    }
}

fn mask() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(u32::MAX), 1 => (0u32..32).prop_map(|lanes| u32::MAX >> lanes), 1 => 1..=u32::MAX]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let start = || 0u32..100;
    prop_oneof![
        6 => (0u32..4).prop_map(|row| Pattern::Row(32 * row)),
        3 => start().prop_map(Pattern::Row),
        2 => (start(), prop_oneof![Just(2u32), Just(11), Just(33)]).prop_map(|(start, by)| Pattern::Stride(start, by)),
        2 => start().prop_map(Pattern::Same),
        2 => (start(), 2u32..17, 1u32..20).prop_map(|(start, count, stride)| Pattern::Groups(start, count, stride)),
        2 => (start(), 4u32..17, 0u32..40).prop_map(|(start, count, stride)| Pattern::Rows(start, count, stride)),
        1 => prop::collection::vec(0u32..128, 32).prop_map(Pattern::Anywhere),
    ]
}

fn scope() -> impl Strategy<Value = SyncScope> {
    prop::sample::select(vec![SyncScope::Block, SyncScope::Cluster, SyncScope::All])
}

fn how() -> impl Strategy<Value = How> {
    let action = || prop_oneof![Just(AccessAction::Read), Just(AccessAction::Write)];
    prop_oneof![
        12 => Just(How::Read),
        8 => Just(How::Write),
        1 => action().prop_map(How::Volatile),
        1 => (action(), scope()).prop_map(|(action, scope)| How::Relaxed(action, scope)),
        1 => scope().prop_map(How::Release),
        1 => scope().prop_map(How::Atomic),
    ]
}

fn step(warps: u32) -> impl Strategy<Value = Step> {
    let place = prop_oneof![2 => Just(None), 2 => Just(Some(0)), 1 => Just(Some(1))];
    let access =
        (0..warps, place, mask(), pattern(), 0u32..5, how()).prop_map(|(warp, place, mask, lanes, width, how)| {
            Step::Access { warp, place, mask, lanes, width: 1 << width, how }
        });
    prop_oneof![
        24 => access,
        8 => (0..warps).prop_map(|warp| Step::Arrive { warp }),
        1 => prop::collection::vec(0..warps, 1..4).prop_map(|warps| Step::Meet { warps }),
        1 => (0..warps, mask()).prop_map(|(warp, mask)| Step::MeetLanes { warp, mask }),
        1 => (0..warps, mask(), scope()).prop_map(|(warp, mask, scope)| Step::Fence { warp, mask, scope }),
        2 => Just(Step::NextBlock),
    ]
}

/// Whole rows, few of them, mostly reads: what the fastest paths are for.
fn step_in_rows(warps: u32) -> impl Strategy<Value = Step> {
    let how = prop_oneof![5 => Just(How::Read), 1 => Just(How::Write)];
    let access = (0..warps, 0u32..2, 2u32..4, how).prop_map(|(warp, row, width, how)| {
        let lanes = Pattern::Row(32 * row);
        Step::Access { warp, place: Some(0), mask: u32::MAX, lanes, width: 1 << width, how }
    });
    prop_oneof![
        8 => access,
        2 => (0..warps).prop_map(|warp| Step::Arrive { warp }),
        1 => Just(Step::NextBlock),
    ]
}

/// A race: lane, cell, the access before, whether that was a write.
type Reported = (usize, usize, Stamp, bool);

/// A race detector, and whether it uses the fast paths.
struct Detector {
    races: Races,
    quick: bool,
    arrived: Vec<u32>,
    block: u64,
}

impl Detector {
    fn new(threads: u32, narrowest: u32, quick: bool) -> Self {
        let mut races = Races::new((1, threads), narrowest, quick);
        races.begin(0);
        Self { races, quick, arrived: Vec::new(), block: 0 }
    }

    /// Executes a step of a block of `threads` threads. Returns the races.
    fn step(&mut self, step: &Step, index: u32, threads: u32, narrowest: u32) -> Vec<Reported> {
        let exists = |warp: u32| u32::MAX >> (32 - (threads - warp * 32).min(32));
        let mut reported = Vec::new();
        match *step {
            Step::Access { warp, place, mask, ref lanes, width, how } => {
                // A copy that is cut short reads byte by byte.
                let (mask, width) = (mask & exists(warp), if width == 1 { 1 } else { width.max(narrowest) });
                if mask == 0 || self.arrived.contains(&warp) {
                    return reported;
                }
                let elements = BYTES / u64::from(width);
                let addresses =
                    std::array::from_fn(|lane| u64::from(lanes.element(lane as u32)) % elements * u64::from(width));
                let mut shape = Shape::new();
                let lowest = shape.follow(mask, &addresses, width);
                let order = how.order();
                let operation = &MemoryOperation { order, ..MemoryOperation::new(index, how.kind(), width) };
                let lanes = &shape.lanes(lowest);
                let time = self.races.clocks.interval(warp);
                let reached = Reached { allocation: place, operation, lanes, base: 0, warp, time };
                let mut found = |_: &Races, conflict: super::race::MarkConflict| {
                    reported.push((conflict.lane, conflict.cell, conflict.before, conflict.was_write));
                };
                match self.quick || order.strong {
                    true => self.races.access(&reached, &mut found),
                    false => self.races.lanes(&reached, mask, &mut found),
                }
            }
            Step::Arrive { warp } if !self.arrived.contains(&warp) => {
                self.races.arrive(0, warp, exists(warp), true);
                self.arrived.push(warp);
                if self.arrived.len() as u32 == threads.div_ceil(32) {
                    self.races.complete(0);
                    self.arrived.clear();
                }
            }
            Step::Meet { ref warps } => {
                for (at, &warp) in warps.iter().enumerate() {
                    if !self.arrived.contains(&warp) && !warps[..at].contains(&warp) {
                        self.races.arrive(1, warp, exists(warp), at % 3 != 2);
                    }
                }
                self.races.complete(1);
            }
            Step::MeetLanes { warp, mask } => self.races.meet_lanes(warp, mask & exists(warp)),
            Step::Fence { warp, mask, scope } => self.races.fence(warp, mask & exists(warp), &Fence::of(scope)),
            Step::NextBlock => {
                self.arrived.clear();
                self.block += 1;
                self.races.begin(self.block);
            }
            Step::Arrive { .. } => {}
        }
        reported
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn quick_ways_find_what_the_plain_one_finds(
        threads in prop_oneof![Just(32u32), Just(64), Just(80), Just(128)],
        narrowest in prop_oneof![3 => Just(4u32), 1 => Just(1)],
        steps in prop_oneof![
            2 => prop::collection::vec(step(4), 1..60).boxed(),
            1 => prop::collection::vec(step_in_rows(4), 1..60).boxed(),
        ],
    ) {
        let mut detectors = [true, false].map(|quick| Detector::new(threads, narrowest, quick));
        let warps = threads.div_ceil(32);
        for (index, step) in steps.iter().enumerate() {
            let there = match step {
                Step::Access { warp, .. } | Step::Arrive { warp } | Step::MeetLanes { warp, .. } | Step::Fence { warp, .. } =>
                    *warp < warps,
                Step::Meet { warps: all } => all.iter().all(|&warp| warp < warps),
                Step::NextBlock => true,
            };
            if !there {
                continue;
            }
            let [quick, plain] = detectors.each_mut().map(|one| one.step(step, index as u32, threads, narrowest));
            prop_assert_eq!(quick, plain, "step {}: {:?}", index, step);
            if index + 1 == steps.len() {
                detectors.iter_mut().for_each(|one| one.races.mark_all());
            }
            let [quick, plain] = detectors.each_ref().map(|one| &one.races);
            for place in [None, Some(0), Some(1)] {
                for cell in 0..(BYTES / u64::from(narrowest)) as usize {
                    let [quick, plain] = [quick, plain].map(|races| races.known_of(place, cell));
                    if quick.is_some() {
                        prop_assert_eq!(quick, plain, "step {}: {:?}; {:?}, cell {}", index, step, place, cell);
                    }
                }
            }
        }
    }
}
