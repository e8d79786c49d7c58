//! How the splits of a warp diverge and reconverge. A join waits for its splits; lanes that wait
//! too long proceed without the others. Changes splits, joins and frames, never registers or
//! memory.

use super::Warp;
use super::frame::Frame;
use super::split::{ALONE, JOIN_PATIENCE, Join, LATER_JOIN_PATIENCE, Split};
use crate::program::RETURN;

impl Warp<'_> {
    /// Lets the lanes of a split diverge: program counters and masks; they reconverge at `join_at`.
    pub fn diverge(&mut self, split: Split, ways: &[(u32, u32)], join_at: u32) {
        let join = if join_at == split.join_at && split.join != ALONE {
            split.join
        } else {
            self.join(Join { next: Split { pc: join_at, mask: 0, ..split }, pending: 1, since: self.executed })
        };
        self.joins[join as usize].pending += ways.len() as u32;
        for &(pc, mask) in ways {
            let way = Split { pc, mask, join_at, join, frame: split.frame };
            if pc == join_at { self.arrive(way) } else { self.ready.push(way) }
        }
        // The split itself was one of these.
        self.end(Split { join, ..split });
    }

    /// Separates some lanes from a split: they take the given ways and wait at `join_at` for the
    /// rest, which is returned.
    pub fn part(&mut self, split: Split, mask: u32, ways: &[(u32, u32)], join_at: u32) -> Split {
        let next = Split { pc: join_at, mask: 0, ..split };
        let join = self.join(Join { next, pending: 1, since: self.executed });
        for &(pc, mask) in ways.iter().filter(|(_, mask)| *mask != 0) {
            self.joins[join as usize].pending += 1;
            let way = Split { pc, mask, join_at, join, frame: split.frame };
            if pc == join_at { self.arrive(way) } else { self.ready.push(way) }
        }
        Split { mask, join_at, join, ..split }
    }

    fn join(&mut self, join: Join) -> u32 {
        match self.free_joins.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() as u32 - 1
            }
        }
    }

    /// A split has reached the join where it reconverges with others.
    #[inline]
    pub fn arrive(&mut self, split: Split) {
        if let Some(join) = self.joins.get_mut(split.join as usize) {
            join.next.mask |= split.mask;
            join.since = self.executed;
        }
        self.end(split);
    }

    /// Lanes of the kernel itself that wait at joins whose program counter satisfies `at`.
    pub fn waits_at_joins(&self, at: impl Fn(u32) -> bool) -> u32 {
        let joins = self.joins.iter().filter(|join| join.next.frame == 0 && at(join.next.pc));
        joins.fold(0, |mask, join| mask | join.next.mask)
    }

    /// Lets these lanes proceed as splits of their own. Returns whether there were any.
    pub fn release_joins(&mut self, at: impl Fn(u32) -> bool) -> bool {
        let mut any = false;
        for index in 0..self.joins.len() {
            let next = self.joins[index].next;
            if next.mask != 0 && next.frame == 0 && at(next.pc) {
                self.abandon_join(index as u32);
                any = true;
            }
        }
        any
    }

    /// Lets the lanes that wait at a join proceed without the others. If they wait to return from a
    /// function, they continue in the caller: returns the function's frame and the new split.
    pub fn abandon_join(&mut self, join: u32) -> Option<(Frame, Split)> {
        let Split { pc, mask, frame, .. } = self.joins[join as usize].next;
        let caller = self.frames[frame as usize].caller.filter(|_| pc == RETURN);
        let parted = self.part_from_others(caller.unwrap_or(self.joins[join as usize].next));
        self.joins[join as usize].next.mask = 0;
        let separate = Split { mask, ..parted };
        self.ready.push(separate);
        if caller.is_some() {
            self.frames[frame as usize].caller = Some(parted);
            return Some((self.frames[frame as usize], separate));
        }
        self.joins[join as usize].next = Split { mask: 0, ..parted };
        None
    }

    /// Prepares a split to become two that reconverge where it ends. Returns what both start from.
    fn part_from_others(&mut self, split: Split) -> Split {
        match self.joins.get_mut(split.join as usize) {
            Some(join) => {
                join.pending += 1;
                split
            }
            // The kernel may end twice, a function's frame may not.
            None if split.frame == 0 => split,
            None => {
                let next = Split { pc: RETURN, mask: 0, ..split };
                let join = self.join(Join { next, pending: 2, since: self.executed });
                Split { join, join_at: RETURN, ..split }
            }
        }
    }

    /// For how many instructions lanes wait to reconverge.
    pub fn patience(&self) -> u64 {
        if self.separated { LATER_JOIN_PATIENCE } else { JOIN_PATIENCE }
    }

    /// The joins at which lanes have waited for that long.
    pub fn impatient_joins(&self) -> Vec<u32> {
        let long_ago = self.executed.saturating_sub(self.patience());
        let waits = |join: &Join| join.next.mask != 0 && join.since <= long_ago;
        self.joins.iter().enumerate().filter(|(_, join)| waits(join)).map(|(index, _)| index as u32).collect()
    }

    /// The paths (first and last program counter) of a split to a join: one for each join and call
    /// that it has to leave on the way. `None` if it does not lead there.
    pub fn ways_to(&self, split: &Split, join: u32) -> Option<Vec<(u32, u32)>> {
        let mut ways = Vec::new();
        let mut split = *split;
        loop {
            ways.push((split.pc, split.join_at));
            split = match self.joins.get(split.join as usize) {
                _ if split.join == join => return Some(ways),
                Some(join) => join.next,
                None => self.frames[split.frame as usize].caller?,
            };
        }
    }

    /// Resumes a split that has waited. If lanes have proceeded separately, splits at the same
    /// place are merged.
    #[inline]
    pub fn resume(&mut self, split: Split) {
        let same = |other: &&mut Split| (other.pc, other.frame, other.join) == (split.pc, split.frame, split.join);
        match self.ready.iter_mut().find(same).filter(|_| self.separated) {
            Some(other) => {
                other.mask |= split.mask;
                if let Some(join) = self.joins.get_mut(split.join as usize) {
                    join.pending -= 1;
                }
            }
            None => self.ready.push(split),
        }
    }

    /// Ends a split that has arrived at its join, or whose lanes have all exited. Continues the
    /// join if this was the last one.
    pub fn end(&mut self, mut split: Split) {
        loop {
            if split.join == ALONE {
                // All lanes of the frame have exited.
                let Some(caller) = self.frames[split.frame as usize].caller else { return };
                self.free(split.frame);
                split = caller;
            } else {
                let join = &mut self.joins[split.join as usize];
                join.pending -= 1;
                if join.pending > 0 {
                    return;
                }
                let next = join.next;
                join.next.mask = 0;
                self.free_joins.push(split.join);
                if next.mask != 0 {
                    self.ready.push(next);
                    return;
                }
                split = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lanes::Constants;
    use crate::machine::state::Split;
    use crate::machine::state::warp::Warp;
    use crate::program::{FunctionCode, NEVER_JOINS};

    /// A warp whose only split has reached 10.
    fn warp(constants: &Constants) -> (Warp<'_>, Split) {
        let mut warp = Warp::new(constants, 0, [32, 1, 1]);
        warp.start(&FunctionCode { entry: 10, ..FunctionCode::default() });
        let split = warp.ready.pop().expect("the kernel begins");
        assert_eq!((split.pc, split.mask, split.join_at), (10, u32::MAX, NEVER_JOINS));
        (warp, split)
    }

    fn ready(warp: &Warp) -> Vec<(u32, u32)> {
        warp.ready.iter().map(|split| (split.pc, split.mask)).collect()
    }

    /// Takes the split that is ready at this program counter, and moves it to where it joins.
    #[inline]
    fn arrive(warp: &mut Warp, pc: u32) {
        let at = warp.ready.iter().position(|split| split.pc == pc).expect("it is ready");
        let split = warp.ready.remove(at);
        warp.arrive(Split { pc: split.join_at, ..split });
    }

    #[test]
    fn two_ways_become_one_split_again() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        warp.diverge(split, &[(11, 0xf), (15, !0xf)], 20);
        assert_eq!(ready(&warp), [(11, 0xf), (15, !0xf)]);
        arrive(&mut warp, 15);
        assert_eq!(ready(&warp), [(11, 0xf)]);
        arrive(&mut warp, 11);
        assert_eq!(ready(&warp), [(20, u32::MAX)]);
    }

    #[test]
    fn a_loop_collects_the_lanes_that_leave_it_in_one_join() {
        let constants = Constants::default();
        let (mut warp, mut split) = warp(&constants);
        // In each iteration, the lowest lane leaves.
        for iteration in 0..31 {
            warp.diverge(split, &[(20, 1 << iteration), (11, split.mask & !(1 << iteration))], 20);
            split = warp.ready.pop().expect("the others go on");
        }
        assert!(warp.ready.is_empty());
        assert_eq!(warp.waits_at_joins(|pc| pc == 20), u32::MAX >> 1);
        warp.arrive(Split { pc: 20, ..split });
        assert_eq!(ready(&warp), [(20, u32::MAX)]);
    }

    #[test]
    fn inner_joins_lead_to_outer_ones() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        warp.diverge(split, &[(11, 0xff), (30, !0xff)], 40);
        let inner = warp.ready.remove(0);
        warp.diverge(inner, &[(12, 0xf), (13, 0xf0)], 20);
        arrive(&mut warp, 12);
        arrive(&mut warp, 13);
        assert_eq!(ready(&warp), [(30, !0xff), (20, 0xff)]);
        arrive(&mut warp, 20);
        arrive(&mut warp, 30);
        assert_eq!(ready(&warp), [(40, u32::MAX)]);
    }

    #[test]
    fn a_join_goes_on_without_lanes_that_have_exited() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        warp.diverge(split, &[(11, 0xf), (15, !0xf)], 20);
        let exits = warp.ready.pop().expect("the second way");
        warp.end(Split { mask: 0, ..exits });
        arrive(&mut warp, 11);
        assert_eq!(ready(&warp), [(20, 0xf)]);
    }

    #[test]
    fn lanes_that_are_released_proceed_beside_the_others() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        warp.diverge(split, &[(11, 0xf), (15, !0xf)], 20);
        arrive(&mut warp, 11);
        assert!(!warp.release_joins(|pc| pc == 21));
        assert!(warp.release_joins(|pc| pc == 20));
        assert_eq!(ready(&warp), [(15, !0xf), (20, 0xf)]);
        // The others still come to 20, and nobody waits for them there.
        arrive(&mut warp, 15);
        assert_eq!(ready(&warp), [(20, 0xf), (20, !0xf)]);
        assert_eq!(warp.waits_at_joins(|_| true), 0);
    }

    #[test]
    fn splits_that_have_separated_merge_at_a_barrier() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        for separated in [false, true] {
            warp.separated = separated;
            warp.ready.clear();
            warp.resume(Split { pc: 20, mask: 0xf, ..split });
            warp.resume(Split { pc: 20, mask: 0xf0, ..split });
            let merged: &[_] = if separated { &[(20, 0xff)] } else { &[(20, 0xf), (20, 0xf0)] };
            assert_eq!(ready(&warp), merged);
        }
    }

    #[test]
    fn the_ways_to_a_join_pass_through_inner_ones() {
        let constants = Constants::default();
        let (mut warp, split) = warp(&constants);
        warp.diverge(split, &[(11, 0xff), (30, !0xff)], 40);
        let inner = warp.ready.remove(0);
        let outer = inner.join;
        warp.diverge(inner, &[(12, 0xf), (13, 0xf0)], 20);
        let inner = *warp.ready.last().expect("the second way");
        assert_eq!(warp.ways_to(&inner, outer), Some(vec![(13, 20), (20, 40)]));
        assert_eq!(warp.ways_to(&inner, inner.join), Some(vec![(13, 20)]));
        assert_eq!(warp.ways_to(&split, outer), None);
    }
}
