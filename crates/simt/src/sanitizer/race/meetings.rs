//! What orders threads for the race detector: barriers of blocks and clusters, warp barriers,
//! fences, and waits for products. They change clocks, releases and the interval; the shadow only
//! where an interval ends early.

use super::Races;
use crate::program::{Fence, SyncScope, WARPGROUP_BARRIER};
use crate::sanitizer::clocks::Meeting;

impl Races {
    /// Some lanes reach a barrier.
    pub fn arrive(&mut self, barrier: u32, warp: u32, mask: u32, waits: bool) {
        let warp = self.in_cluster(warp);
        let time = self.clocks.advance(warp);
        if let Some(parties) = self.barriers.get_mut((self.first_barrier + barrier) as usize) {
            parties.push(Meeting { warp, mask, time, waits });
        }
    }

    /// A warp begins its part of a product.
    pub fn multiply(&mut self, warp: u32) {
        let warp = self.in_cluster(warp);
        self.products[warp as usize] = self.clocks.advance(warp);
    }

    /// A warp reaches the point where its warpgroup waits for products. Its accesses up to its last
    /// product are ordered before those after the wait of any of the four warps; later ones are
    /// not.
    pub fn arrive_with_products(&mut self, barrier: u32, warp: u32) {
        let warp = self.in_cluster(warp);
        let time = self.products[warp as usize];
        if let Some(parties) = self.barriers.get_mut((self.first_barrier + barrier) as usize) {
            parties.push(Meeting { warp, mask: u32::MAX, time, waits: true });
        }
    }

    /// A barrier is complete.
    pub fn complete(&mut self, barrier: u32) {
        let Some(parties) = self.barriers.get_mut((self.first_barrier + barrier) as usize) else { return };
        let parties = std::mem::take(parties);
        let waiting = parties.iter().filter(|party| party.waits).map(|party| party.mask.count_ones()).sum::<u32>();
        if waiting == self.threads && barrier < WARPGROUP_BARRIER {
            self.clocks.meet_all();
            self.releases.meet_all();
            self.begin_interval();
        } else {
            self.close_interval();
            self.clocks.meet(&parties);
            self.releases.meet(&parties);
        }
    }

    /// Some lanes arrive at the cluster's barrier. A `relaxed` arrival releases only what a fence
    /// precedes.
    pub fn arrive_in_cluster(&mut self, warp: u32, mask: u32, relaxed: bool) {
        let warp = self.in_cluster(warp);
        let time = self.clocks.advance(warp);
        let arrivals = if relaxed { &mut self.relaxed_arrivals } else { &mut self.arrivals };
        arrivals.push(Meeting { warp, mask, time, waits: true });
    }

    /// Some lanes that have arrived did something else before they wait.
    pub fn wait_late(&mut self) {
        self.waits_late = true;
    }

    /// The cluster's barrier is complete. `all_wait`: all threads that have arrived wait.
    pub fn complete_in_cluster(&mut self, all_wait: bool) {
        let parties = std::mem::take(&mut self.arrivals);
        if !self.relaxed_arrivals.is_empty() {
            self.waits_late = false;
            return self.meet_relaxed(parties);
        }
        if all_wait && !std::mem::take(&mut self.waits_late) {
            self.clocks.meet_all();
            self.releases.meet_all();
        } else {
            self.clocks.meet(&parties);
            self.releases.meet(&parties);
        }
    }

    /// The cluster's barrier is complete, and some have arrived without a release.
    #[cold]
    fn meet_relaxed(&mut self, mut parties: Vec<Meeting>) {
        let others = std::mem::take(&mut self.relaxed_arrivals);
        let join = |rows: &mut Vec<u32>, row: &[u32]| {
            rows.resize(row.len(), 0);
            rows.iter_mut().zip(row).for_each(|(rows, row)| *rows = (*rows).max(*row));
        };
        // What fences before the relaxed arrivals release: to the cluster, and to a block.
        let mut released = Vec::new();
        let mut in_block = vec![Vec::new(); (self.threads / self.threads_of_block) as usize];
        for (thread, _) in others.iter().flat_map(Meeting::threads) {
            self.releases.fenced_by(thread, SyncScope::Cluster).for_each(|row| join(&mut released, row));
            let in_block = &mut in_block[(thread / self.threads_of_block) as usize];
            self.releases.fenced_by(thread, SyncScope::Block).for_each(|row| join(in_block, row));
        }
        self.clocks.meet_with(&parties, &others, &released);
        parties.extend(others);
        for (thread, _) in parties.iter().flat_map(Meeting::threads) {
            self.clocks.learn(thread, &in_block[(thread / self.threads_of_block) as usize]);
        }
        self.releases.meet(&parties);
    }

    /// Lanes of a warp have met at a warp barrier.
    pub fn meet_lanes(&mut self, warp: u32, mask: u32) {
        let warp = self.in_cluster(warp);
        let time = self.clocks.advance(warp);
        let party = [Meeting { warp, mask, time, waits: true }];
        self.close_interval();
        self.clocks.meet(&party);
        self.releases.meet(&party);
    }

    /// Lanes of a warp meet at a shuffle, each reading from its source. By the manual that orders
    /// no accesses to memory. But NVIDIA's cooperative groups let one lane acquire, and tell the
    /// others by a shuffle. So those take over what that lane has acquired from other warps.
    pub fn shuffle(&mut self, warp: u32, mask: u32, source: impl Fn(usize) -> Option<u32>) {
        let warp = self.in_cluster(warp);
        let all = self.releases.apart(warp) & mask;
        for from in (0..32).filter(|from| all >> from & 1 == 1) {
            let reads = |&lane: &u32| mask >> lane & 1 == 1 && lane != from && source(lane as usize) == Some(from);
            let readers = (0..32).filter(reads).fold(0, |readers, lane| readers | 1 << lane);
            if readers != 0 {
                self.releases.take_over(&mut self.clocks, warp, from, readers);
            }
        }
    }

    /// Whether any lanes of a warp may have acquired what not all have.
    #[inline(always)]
    pub fn has_apart(&self, warp: u32) -> bool {
        self.releases.apart(self.in_cluster(warp)) != 0
    }

    /// Some lanes execute a fence.
    pub fn fence(&mut self, warp: u32, mask: u32, fence: &Fence) {
        self.releases.fence(&mut self.clocks, self.first_warp + warp, mask, fence);
    }
}
