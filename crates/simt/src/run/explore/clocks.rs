//! Vector clocks: which steps of an order precede which in all equivalent orders.
//!
//! A step precedes a later one if the same lanes make both, if the two depend on each other, or if
//! a barrier is between them. Clocks count the steps of each split, which are numbered as they
//! appear.

use std::rc::Rc;

use crate::machine::Meeting;
use crate::switches::SplitId;

/// How many steps of each split, by its number, come before. Those beyond the end: none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    /// How many steps of a split come before.
    pub fn of(&self, split: u32) -> u32 {
        self.0.get(split as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, split: u32, steps: u32) {
        let at = split as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = steps;
    }

    /// What comes before either comes before this.
    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, &other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(other);
        }
    }
}

/// The clock of each lane's last step.
pub(super) struct LaneClocks {
    warps_of_block: u32,
    warps: Vec<[Rc<Clock>; 32]>,
}

impl LaneClocks {
    pub fn new(warps_of_block: u32) -> Self {
        Self { warps_of_block, warps: Vec::new() }
    }

    pub fn clear(&mut self) {
        let nothing = Rc::new(Clock::default());
        self.warps.iter_mut().for_each(|warp| *warp = std::array::from_fn(|_| nothing.clone()));
    }

    fn warp(&mut self, block: u32, warp: u32) -> &mut [Rc<Clock>; 32] {
        let at = (block * self.warps_of_block + warp) as usize;
        if self.warps.len() <= at {
            let nothing = Rc::new(Clock::default());
            self.warps.resize_with(at + 1, || std::array::from_fn(|_| nothing.clone()));
        }
        &mut self.warps[at]
    }

    /// What comes before the next step of these lanes by their own steps.
    pub fn of(&mut self, id: SplitId, mask: u32) -> Clock {
        let mut clock = Clock::default();
        self.join_into(&mut clock, (id.block, id.warp.into(), mask));
        clock
    }

    fn join_into(&mut self, clock: &mut Clock, (block, warp, mask): (u32, u32, u32)) {
        let mut last: Option<Rc<Clock>> = None;
        for lane in crate::lanes::lanes(mask) {
            let own = &self.warp(block, warp)[lane];
            if !last.as_ref().is_some_and(|last| Rc::ptr_eq(last, own)) {
                clock.join(own);
                last = Some(own.clone());
            }
        }
    }

    /// These lanes have made a step.
    pub fn set(&mut self, (block, warp, mask): (u32, u32, u32), clock: &Rc<Clock>) {
        let warp = self.warp(block, warp);
        crate::lanes::lanes(mask).for_each(|lane| warp[lane] = clock.clone());
    }

    /// These lanes have passed a barrier together, which a step with this clock completed.
    pub fn meet(&mut self, lanes: &Meeting, last: &Clock) {
        let mut clock = last.clone();
        lanes.iter().for_each(|&lanes| self.join_into(&mut clock, lanes));
        let clock = Rc::new(clock);
        lanes.iter().for_each(|&lanes| self.set(lanes, &clock));
    }
}
