//! What is drawn while a warp executes: where its turn ends, and where its lanes separate. The
//! schedule fills it in before a turn; [`step`](crate::machine::step) asks at each point.

use std::ops::Range;
use std::sync::Arc;

use ptx::Space;

use super::footprint::Footprint;
use super::views::Views;
use crate::address::Access;
use crate::lanes::{Row, WideRow, lanes};
use crate::memory::{Memory, SharedMemory};
use crate::order::Dice;
use crate::program::{Action, Matrix, OnMemory, SyncScope};
use crate::sanitizer::Party;
use crate::site::AccessAction;
use crate::switches::SplitId;
use crate::touch::{Followed, Touch};

/// What a step does at a point: with memory that other threads can reach.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    Reads,
    /// It may wait for another thread.
    Polls,
    Writes,
}

impl Point {
    /// Whether a step is a point. Barriers and fences need none: nobody sees whether a warp is
    /// interrupted there or at its next access.
    pub fn of(action: &Action) -> Option<Self> {
        let is_own = |space| matches!(space, Space::Local | Space::Parameter | Space::Constant);
        match action {
            Action::Load(load) if is_own(load.reach.space) || load.operation.order.read_only => None,
            Action::Load(load) if load.operation.order.strong => Some(Self::Polls),
            Action::Load(_) => Some(Self::Reads),
            Action::Store(store) if is_own(store.reach.space) => None,
            Action::Matrix(matrix) => match &**matrix {
                Matrix::Load { .. } | Matrix::LoadFragment(_) | Matrix::Store { .. } | Matrix::StoreFragment(_) => {
                    Some(Self::Writes)
                }
                _ => None,
            },
            Action::Store(_) | Action::Surface(_) | Action::Asynchronous(_) | Action::CallSystem(_) => {
                Some(Self::Writes)
            }
            other => (other.effects().memory == OnMemory::Polls).then_some(Self::Polls),
        }
    }
}

/// What happens at a point.
pub(crate) enum AtPoint {
    /// The warp goes on.
    Goes,
    /// Its turn ends before the step.
    Ends,
    /// Its turn ends, and other splits of the warp go first: it has polled for long.
    Yields,
    /// These lanes go on apart from the others.
    Parts(u32),
}

/// A store that other warps do not see yet.
pub(crate) struct InFlight {
    /// It lands when so many points have been passed.
    pub due: u64,
    /// Index of the PTX instruction in `Code::places`.
    pub place: u32,
    /// The number of the block, and of the warp in it.
    pub warp: (u64, u32),
    /// Whether its whole block must see it: its warp released it with block scope.
    pub in_block: bool,
    pub mask: u32,
    /// Whether the addresses are in the block's shared memory, not in global memory.
    pub shared: bool,
    pub addresses: WideRow,
    pub rows: [Row; 4],
    pub width: u32,
}

impl InFlight {
    /// Whether accesses of this warp must see it.
    pub fn is_before(&self, warp: (u64, u32)) -> bool {
        self.warp == warp || self.in_block && self.warp.0 == warp.0
    }

    /// Whether it writes any of these bytes.
    pub fn covers(&self, address: u64, width: u32) -> bool {
        lanes(self.mask).any(|lane| {
            let own = self.addresses[lane];
            overlap((own, self.width), (address, width))
        })
    }
}

/// Where stores land: in global memory, and in the shared memory of the block that is running.
/// Nobody else can look at a block's shared memory but its cluster, which sees it later still.
#[derive(Clone, Copy)]
pub(crate) struct Landing<'m> {
    pub memory: &'m Memory,
    /// With the number of the block.
    pub shared: Option<(&'m SharedMemory, u64)>,
}

impl Landing<'_> {
    /// Whether the store's memory is here.
    fn has(&self, store: &InFlight) -> bool {
        !store.shared || self.shared.is_some_and(|(_, block)| block == store.warp.0)
    }

    fn value(&self, store: &InFlight, address: u64) -> u128 {
        self.value_at(store.shared, address, store.width)
    }

    /// The value of so many bytes of the block's shared memory, or of global memory.
    pub fn value_at(&self, in_shared: bool, address: u64, width: u32) -> u128 {
        match self.shared {
            Some((shared, _)) if in_shared => shared.value(address, width),
            _ => self.memory.value(address, width),
        }
    }

    fn store(&self, store: &InFlight) {
        let access = Access::new(store.mask, &store.addresses, store.width);
        // It was possible when it was made; memory that has been freed since is nobody's.
        let _ = match self.shared {
            Some((shared, _)) if store.shared => shared.store_each(&access, &store.rows),
            _ => self.memory.store_each(&access, &store.rows),
        };
    }
}

/// Whether two stretches of memory, each by its first byte and its size, have a byte in common.
pub(crate) fn overlap((one, its): (u64, u32), (other, others): (u64, u32)) -> bool {
    one < other + u64::from(others) && other < one + u64::from(its)
}

/// At most so many accesses are kept.
const MOST_TOUCHED: usize = 1 << 16;

/// A store is late by up to 2 to the power of this many points.
const LATEST: u64 = 10;

/// After this many polls, and nothing else, a store of a late instruction lands: whoever polls
/// waits for one, and nobody else would see it sooner.
const SPINS: u64 = 16;

/// After this many polls without a write, others go first.
const POLLS: u32 = 64;

/// The state of a launch's draws.
pub(crate) struct Draws {
    dice: Dice,
    /// Points that may still be passed in this turn.
    budget: u64,
    /// Points passed so far.
    pub passed: u64,
    /// Polls of this turn without a write.
    polls: u32,
    /// Polls of the launch since anything else was done at a point.
    pub quiet: u64,
    /// One in this many points separates lanes; 0: none.
    lanes: u32,
    /// One in this many stores is seen late; 0: none.
    weak: u32,
    /// Whether turns end at strong accesses only.
    pub only_strong: bool,
    /// For each of `Code::places`, whether its stores are seen late; empty: none.
    late: Vec<bool>,
    /// One in this many reads finds an older value, if it may; 0: none does.
    pub stale: u32,
    pub views: Views,
    in_flight: Vec<InFlight>,
    /// Whose accesses are kept.
    pub follows: Option<Followed>,
    /// The access that is being made, for each address.
    pub touching: Vec<Touch<Party>>,
    pub touched: Vec<Touch<Party>>,
    /// Whether the last turn ended at a point, and whether that was because it polled.
    pub ended: bool,
    pub yielded: bool,
    /// Where another warp can go on, if a caller chooses who does.
    pub notes: Option<Notes>,
}

/// Lanes that went on together after a barrier: the number of the block, the warp in it, and lanes.
pub(crate) type Meeting = Vec<(u32, u32, u32)>;

/// What a caller that chooses each step needs to know.
#[derive(Default)]
pub(crate) struct Notes {
    /// The splits that are before a point, and what they are about to do.
    pub before: Vec<(SplitId, Arc<Footprint>)>,
    /// Barriers that were completed since the list was emptied.
    pub met: Vec<Meeting>,
}

impl Draws {
    pub fn new(seed: u64, lanes: u32, weak: u32, late: Vec<bool>) -> Self {
        Self {
            dice: Dice::new(seed),
            budget: 0,
            passed: 0,
            polls: 0,
            quiet: 0,
            lanes,
            weak,
            late,
            stale: 0,
            only_strong: false,
            views: Views::default(),
            in_flight: Vec::new(),
            follows: None,
            touching: Vec::new(),
            touched: Vec::new(),
            ended: false,
            yielded: false,
            notes: None,
        }
    }

    /// A turn begins.
    pub fn begin(&mut self, budget: u64) {
        (self.budget, self.polls, self.ended, self.yielded) = (budget, 0, false, false);
    }

    /// A warp is before a point, with these lanes, which may be `separable`. `strong`: what it does
    /// there may conflict with others without a race.
    #[inline(never)]
    pub fn at(&mut self, point: Point, mask: u32, (strong, separable): (bool, bool)) -> AtPoint {
        // Polls count also where no turn would end otherwise.
        match point {
            Point::Writes => (self.polls, self.quiet) = (0, 0),
            Point::Polls => (self.polls, self.quiet) = (self.polls + 1, self.quiet + 1),
            Point::Reads => self.quiet = 0,
        }
        if self.polls > POLLS {
            (self.ended, self.yielded) = (true, true);
            return AtPoint::Yields;
        }
        if self.budget == 0 && (strong || !self.only_strong) {
            self.ended = true;
            return AtPoint::Ends;
        }
        self.budget = self.budget.saturating_sub(1);
        self.passed += 1;
        if separable && self.lanes > 0 && mask.count_ones() > 1 && self.dice.one_in(self.lanes.into()) {
            let apart = self.dice.lanes() & mask;
            if apart != 0 && apart != mask {
                return AtPoint::Parts(apart);
            }
        }
        AtPoint::Goes
    }

    /// Whether stores may be seen late, or reads may find older values.
    pub fn is_weak(&self) -> bool {
        self.weak > 0 || !self.late.is_empty() || self.stale > 0
    }

    /// A number to draw an older value with, if a read is to find one.
    pub fn stales(&mut self) -> Option<u64> {
        let stales = self.stale > 0 && self.dice.one_in(self.stale.into());
        stales.then(|| self.dice.roll())
    }

    /// Whether a store of one of `Code::places` is to be seen late.
    pub fn delays(&mut self, place: u32) -> bool {
        self.is_late(place) || self.weak > 0 && self.dice.one_in(self.weak.into())
    }

    fn is_late(&self, place: u32) -> bool {
        self.late.get(place as usize) == Some(&true)
    }

    /// Keeps a store until it is due, which is drawn.
    pub fn delay(&mut self, store: InFlight) {
        let most = 1 << if self.is_late(store.place) { LATEST } else { self.dice.below(LATEST + 1) };
        self.in_flight.push(InFlight { due: self.passed + 1 + self.dice.below(most), ..store });
    }

    /// Lets stores land that are due.
    pub fn land_due(&mut self, place: Landing<'_>) {
        if self.quiet >= SPINS && !self.late.is_empty() && !self.in_flight.is_empty() {
            let drawn = self.dice.below(self.in_flight.len() as u64) as usize;
            self.in_flight[drawn].due = 0;
        }
        let now = self.passed;
        self.land(place, |store| store.due <= now);
    }

    /// A warp releases what it did to this scope. Other blocks may still see
    /// a store to global memory late if it is released to the block alone.
    pub fn release(&mut self, place: Landing<'_>, warp: (u64, u32), scope: SyncScope) {
        if scope == SyncScope::Block {
            let own = self.in_flight.iter_mut().filter(|store| store.warp == warp && !store.shared);
            own.for_each(|store| store.in_block = true);
            self.land(place, |store| store.warp == warp && store.shared);
        } else {
            self.land(place, |store| store.is_before(warp));
        }
    }

    /// Lets stores land here for which a condition holds, in the order in which they were made.
    pub fn land(&mut self, place: Landing<'_>, lands: impl Fn(&InFlight) -> bool) {
        if self.in_flight.is_empty() {
            return;
        }
        let landing: Vec<InFlight> = self.in_flight.extract_if(.., |store| place.has(store) && lands(store)).collect();
        for store in landing {
            self.quiet = 0;
            let is_noted = self.follows.is_some() || self.stale > 0;
            let before = is_noted.then(|| store.addresses.map(|address| place.value(&store, address)));
            if let Some(before) = &before
                && self.stale > 0
            {
                self.views.tick();
                let shared_of = store.shared.then_some(store.warp.0);
                for lane in lanes(store.mask) {
                    let bytes = (store.addresses[lane], store.width);
                    self.views.write(store.warp, shared_of, bytes, before[lane], store.in_block);
                }
            }
            place.store(&store);
            if let Some(before) = before {
                self.keep_landed(place, &store, &before);
            }
        }
    }

    /// These blocks have ended: drops the stores to their shared memory.
    pub fn forget(&mut self, blocks: Range<u64>) {
        blocks.clone().for_each(|block| self.views.end(block));
        self.in_flight.retain(|store| !store.shared || !blocks.contains(&store.warp.0));
    }

    /// Keeps a followed access.
    pub fn keep(&mut self, touch: Touch<Party>) {
        // Who polls reads the same again.
        let is_read = touch.site.action == Some(AccessAction::Read);
        let what = |touch: &Touch<Party>| (touch.site, touch.address, touch.after, touch.late);
        let same = |last: &Touch<Party>| what(last) == what(&touch);
        let again = is_read && self.touched.last().is_some_and(same);
        if !again && self.touched.len() < MOST_TOUCHED {
            self.touched.push(touch);
        }
    }

    /// Keeps what a store that landed did to followed bytes.
    fn keep_landed(&mut self, landing: Landing<'_>, store: &InFlight, before: &[u128; 32]) {
        let Some(Followed::Bytes { block: of, address: first, bytes }) = self.follows else { return };
        let InFlight { place, warp: (block, warp), width, .. } = *store;
        let shared_of = store.shared.then_some(block);
        if of != shared_of {
            return;
        }
        let hit = lanes(store.mask).find(|&lane| overlap((store.addresses[lane], width), (first, bytes)));
        if let Some(lane) = hit {
            let address = store.addresses[lane];
            let (before, after) = (before[lane], landing.value(store, address));
            let (time, thread) = (self.passed, warp * 32 + lane as u32);
            let site = Party { place, block, thread, action: Some(AccessAction::Write) };
            let (thread, lanes, late) = ((block, thread), 1, true);
            self.keep(Touch { time, site, thread, shared_of, address, width, before, after, lanes, late });
        }
    }

    /// Whether the other side of a branch goes first.
    pub fn swaps_sides(&mut self) -> bool {
        self.dice.one_in(2)
    }

    /// A word that shared memory begins with.
    pub fn word(&mut self) -> u32 {
        self.dice.roll() as u32
    }
}
