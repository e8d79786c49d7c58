//! What is drawn while a warp executes: where its turn ends, and where its lanes separate. The
//! schedule fills it in before a turn; [`step`](crate::machine::step) asks at each point.

use ptx::Space;

use crate::order::Dice;
use crate::program::{Action, Matrix, OnMemory};

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
            Action::Load(load) if is_own(load.reach.space) || load.order.read_only => None,
            Action::Load(load) if load.order.strong => Some(Self::Polls),
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
    /// Whether the last turn ended at a point, and whether that was because it polled.
    pub ended: bool,
    pub yielded: bool,
}

impl Draws {
    pub fn new(seed: u64, lanes: u32) -> Self {
        Self { dice: Dice::new(seed), budget: 0, passed: 0, polls: 0, quiet: 0, lanes, ended: false, yielded: false }
    }

    /// A turn begins.
    pub fn begin(&mut self, budget: u64) {
        (self.budget, self.polls, self.ended, self.yielded) = (budget, 0, false, false);
    }

    /// A warp is before a point, with these lanes, which may be `separable`.
    #[inline(never)]
    pub fn at(&mut self, point: Point, mask: u32, separable: bool) -> AtPoint {
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
        if self.budget == 0 {
            self.ended = true;
            return AtPoint::Ends;
        }
        self.budget -= 1;
        self.passed += 1;
        if separable && self.lanes > 0 && mask.count_ones() > 1 && self.dice.one_in(self.lanes.into()) {
            let apart = self.dice.lanes() & mask;
            if apart != 0 && apart != mask {
                return AtPoint::Parts(apart);
            }
        }
        AtPoint::Goes
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
