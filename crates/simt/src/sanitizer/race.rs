//! The race detector. A race is two accesses of a cell, at least one of them a write, that nothing
//! orders. The checker passes each access, which changes the shadow; `meetings` has what orders
//! threads, `quick` the fast paths.
//!
//! The method is FastTrack's (Flanagan and Freund, 2009). The shadow of a cell holds its last write
//! and up to two reads; each access is compared with these by its thread's clocks. Blocks run one
//! after another, so the shadow still holds the accesses of earlier blocks: these are ordered only
//! if they were released and acquired.
//!
//! Atomic, volatile, relaxed, acquire and release accesses do not race with each other, only with
//! plain ones. An operation whose scope is a block or a cluster races with threads outside it. This
//! is the manual's definition: strong operations whose scopes include each other are morally
//! strong; volatile accesses count as relaxed ones for the whole system. With `strict`, two
//! volatile writes are reported as well, and volatile accesses by lanes of one warp, or in shared
//! memory by threads of one block, which order nothing without a barrier.
//!
//! Two deviations from the manual avoid reports on correct programs. A plain or volatile write that
//! does not change the value does not race with earlier accesses. (It does with a later read: the
//! shadow does not record what a write changed.) And a plain read whose value a compare-and-swap
//! then expects counts as atomic, because the programming guide builds atomic operations that way;
//! the two may be in different functions.

mod meetings;

use super::acquisitions::MapAcquisitions;
use super::clocks::{Clocks, Meeting, Proxied};
use super::interval::Interval;
use super::now::Now;
use super::quick::quick;
use super::releases::{Location, Releases};
use super::shadow::{READS, Shadow, WRITE};
use super::stamp::{IN_BLOCK, IN_CLUSTER, STRONG, Stamp, VOLATILE};
use crate::address::BLOCK_WINDOW_BYTES;
use crate::program::{BARRIER_NUMBERS, Order, Path, SyncScope};
use crate::sanitizer::touch::Reached;
use crate::site::AccessAction;

/// A conflict with an earlier access: who, and whether that was a write.
pub(super) struct MarkConflict {
    pub lane: usize,
    /// The cell.
    pub cell: usize,
    pub before: Stamp,
    pub was_write: bool,
}

/// The race detector of a worker. It treats a cluster as one block: the threads of one block follow
/// those of the other, each from a new warp on, and the shared memories are one, at their addresses
/// in the cluster. All blocks of a cooperative launch count as a cluster.
pub(crate) struct Races {
    /// The threads of a cluster, and of a block.
    threads: u32,
    pub(super) threads_of_block: u32,
    /// The first warp of the block whose turn it is, and its first barrier.
    first_warp: u32,
    first_barrier: u32,
    /// Where the shared memory of the running cluster begins among those of all clusters that exist
    /// at once.
    pub(super) first_shared: u64,
    pub(super) clocks: Clocks,
    pub(super) releases: Releases,
    pub(super) map_acquisitions: MapAcquisitions,
    interval: Interval,
    keeps_intervals: bool,
    /// Whether to report strong accesses that do not race but order less than they seem to.
    pub(super) strict: bool,
    pub(super) shared: Shadow,
    /// One for each allocation.
    pub(super) global: Vec<Shadow>,
    /// A cell has 2 to the power of this many bytes.
    pub cell_shift: u32,
    /// Who has reached each barrier of each block. (The cluster's barrier is separate.)
    barriers: Vec<Vec<Meeting>>,
    /// When each warp last began its part of a product.
    products: Vec<u32>,
    /// Who has reached the cluster's barrier: with a release of what came before, and without.
    arrivals: Vec<Meeting>,
    relaxed_arrivals: Vec<Meeting>,
    /// Whether any thread did something else between its arrival and its wait.
    waits_late: bool,
    /// When each cluster began, and the number of its first block.
    blocks: Vec<(u32, u64)>,
}

impl Races {
    /// Creates one for clusters of `blocks` blocks with `threads` threads each, and a kernel whose
    /// narrowest access has `narrowest` bytes. `keeps_intervals`: accesses to shared memory before
    /// a barrier are never needed again.
    pub fn new((blocks, threads): (u32, u32), narrowest: u32, keeps_intervals: bool) -> Self {
        let threads_of_block = if blocks > 1 { threads.next_multiple_of(32) } else { threads };
        let threads = blocks * threads_of_block;
        Self {
            threads,
            threads_of_block,
            first_warp: 0,
            first_barrier: 0,
            first_shared: 0,
            clocks: Clocks::new(threads),
            releases: Releases::default(),
            map_acquisitions: MapAcquisitions::default(),
            interval: Interval::default(),
            keeps_intervals,
            strict: false,
            shared: Shadow::default(),
            global: Vec::new(),
            cell_shift: narrowest.clamp(1, 4).trailing_zeros(),
            barriers: vec![Vec::new(); blocks as usize * BARRIER_NUMBERS as usize],
            products: vec![0; threads.div_ceil(32) as usize],
            arrivals: Vec::new(),
            relaxed_arrivals: Vec::new(),
            waits_late: false,
            blocks: Vec::new(),
        }
    }

    /// All threads have met. Not used for clusters: their shared memories are too far apart for a
    /// bit per cell.
    fn begin_interval(&mut self) {
        if self.keeps_intervals && self.threads == self.threads_of_block {
            self.interval.begin();
        }
    }

    /// The turn of a block starts: `rank` is its number among all that exist at once, `first` that
    /// of its cluster's first block.
    pub fn turn_of(&mut self, rank: u32, first: u32) {
        self.first_shared = u64::from(first) * BLOCK_WINDOW_BYTES;
        self.first_warp = rank * self.threads_of_block.div_ceil(32);
        self.first_barrier = rank * BARRIER_NUMBERS;
    }

    /// The number in the cluster of a warp of the running block.
    pub(super) fn in_cluster(&self, warp: u32) -> u32 {
        self.first_warp + warp
    }

    /// A cluster starts, of which this is the first block.
    pub fn begin(&mut self, block: u64) {
        self.clocks.begin();
        self.releases.begin(self.threads, self.threads_of_block);
        self.begin_interval();
        self.barriers.iter_mut().for_each(Vec::clear);
        self.products.fill(0);
        self.arrivals.clear();
        self.relaxed_arrivals.clear();
        self.map_acquisitions.clear();
        self.waits_late = false;
        self.blocks.push((self.clocks.start, block));
    }

    /// When the cluster of an access began, and the number of its first block.
    pub(super) fn block_of(&self, stamp: Stamp) -> (u32, u64) {
        let after = self.blocks.partition_point(|&(start, _)| start <= stamp.time());
        self.blocks[after.saturating_sub(1)]
    }

    /// Records an access, and passes what it races with to `found`.
    #[inline(always)]
    pub(super) fn access(&mut self, reached: &Reached, found: &mut dyn FnMut(&Self, MarkConflict)) {
        if reached.operation.order.strong {
            return self.strong(reached, found);
        }
        if reached.allocation.is_none() && self.interval.is_open() {
            if self.interval.keep(reached, self.cell_shift) {
                return;
            }
            self.close_interval();
        }
        let rest = self.quick(reached);
        if rest != 0 {
            self.lanes(reached, rest, found);
        }
    }

    /// The fast paths. Returns the lanes that need the general one.
    #[inline(always)]
    fn quick(&mut self, reached: &Reached) -> u32 {
        self.make_shadow(reached.allocation);
        let shadow = match reached.allocation {
            Some(index) => &mut self.global[index],
            None => &mut self.shared,
        };
        quick(shadow, &self.clocks, self.cell_shift, reached)
    }

    /// Ends the interval early: marks the kept accesses in the shadow. Further ones go there
    /// directly until all threads meet.
    #[cold]
    #[inline(never)]
    fn close_interval(&mut self) {
        if !self.interval.is_open() {
            return;
        }
        let mut interval = std::mem::take(&mut self.interval);
        interval.again(|reached| {
            let rest = self.quick(reached);
            if rest != 0 {
                // None of them races: otherwise it would not have been kept.
                self.lanes(reached, rest, &mut |_, _| {});
            }
        });
        interval.close();
        self.interval = interval;
    }

    /// Whether anything has written to an allocation.
    #[inline(always)]
    pub(super) fn has_writes(&self, allocation: Option<usize>) -> bool {
        let shadow = allocation.map_or(Some(&self.shared), |index| self.global.get(index));
        shadow.is_some_and(|shadow| shadow.last[WRITE] != 0)
    }

    /// Passes to `found` each lane's first earlier write (or read, if `reads`) that `matters`.
    /// Called before the access is recorded.
    #[cold]
    #[inline(never)]
    pub(super) fn earlier(
        &mut self,
        reached: &Reached,
        reads: bool,
        matters: &dyn Fn(&Self, Stamp) -> bool,
        found: &mut dyn FnMut(&Self, MarkConflict),
    ) {
        let layers: &[usize] = if reads { &READS } else { &[WRITE] };
        let cells = (reached.lanes.width >> self.cell_shift).max(1) as usize;
        for lane in (0..32).filter(|lane| reached.lanes.mask >> lane & 1 == 1) {
            let start = reached.cell(lane, self.cell_shift);
            let races: &Self = self;
            let Some(shadow) = reached.allocation.map_or(Some(&races.shared), |index| races.global.get(index)) else {
                return;
            };
            let mut all = (start..start + cells).flat_map(|cell| layers.iter().map(move |&layer| (layer, cell)));
            let earlier = all.find_map(|(layer, cell)| {
                let before = shadow.get(layer, cell);
                (before.0 != 0 && matters(races, before)).then_some((cell, before))
            });
            if let Some((cell, before)) = earlier {
                found(self, MarkConflict { lane, cell, before, was_write: !reads });
            }
        }
    }

    /// A synchronising access: each lane acquires, accesses, releases.
    #[inline(never)]
    fn strong(&mut self, reached: &Reached, found: &mut dyn FnMut(&Self, MarkConflict)) {
        self.close_interval();
        let Order { releases, .. } = reached.operation.order;
        let of_mbarrier = reached.operation.path == Path::Mbarrier;
        for lane in (0..32).filter(|lane| reached.lanes.mask >> lane & 1 == 1) {
            let thread = reached.warp * 32 + lane;
            let cell = reached.cell(lane as usize, self.cell_shift);
            let location: Location = (reached.allocation, cell);
            if reached.operation.action != AccessAction::Write && !of_mbarrier {
                self.releases.acquire(&mut self.clocks, thread, location);
            }
            self.lanes(reached, 1 << lane, found);
            if reached.operation.action == AccessAction::Read && of_mbarrier {
                // Only now: the first test may have come before the mbarrier existed.
                self.releases.acquire(&mut self.clocks, thread, completed_phase(location));
            }
            if reached.operation.action != AccessAction::Read {
                let reads_too = reached.operation.action == AccessAction::Atomic;
                self.releases.publish(&mut self.clocks, thread, location, reads_too, releases);
            }
        }
    }

    /// A phase of an mbarrier in shared memory is complete: waits for it acquire what has been
    /// released there so far, but not what arrives in later phases.
    pub fn complete_phase(&mut self, address: u64) {
        let location = (None, (address + self.first_shared) as usize >> self.cell_shift);
        self.releases.copy(location, completed_phase(location));
    }

    /// Forgets the accesses to some bytes: they belong to another allocation now.
    pub(super) fn forget(&mut self, allocation: usize, offset: u64, bytes: u64) {
        let shift = self.cell_shift;
        let cells = (offset >> shift) as usize..((offset + bytes).div_ceil(1 << shift)) as usize;
        self.shadow(Some(allocation)).forget(cells);
    }

    fn shadow(&mut self, allocation: Option<usize>) -> &mut Shadow {
        self.make_shadow(allocation);
        match allocation {
            Some(index) => &mut self.global[index],
            None => &mut self.shared,
        }
    }

    /// The stamps of a cell that still matter. `None`: it is not marked yet.
    #[cfg(test)]
    pub(super) fn known_of(&self, allocation: Option<usize>, cell: usize) -> Option<[Stamp; 3]> {
        let shadow = allocation.map_or(Some(&self.shared), |index| self.global.get(index));
        let now = Now::new(&self.clocks, allocation);
        let known = [0, 1, 2].map(|layer| shadow.map_or(Stamp(0), |shadow| shadow.get(layer, cell)));
        let matters = |stamp: Stamp| if allocation.is_none() && now.is_ordered(stamp.0) { Stamp(0) } else { stamp };
        (allocation.is_some() || self.interval.is_empty()).then(|| known.map(matters))
    }

    #[cfg(test)]
    pub(super) fn mark_all(&mut self) {
        self.close_interval();
    }

    /// Creates the shadow of an allocation unless it exists.
    #[inline(always)]
    fn make_shadow(&mut self, allocation: Option<usize>) {
        if let Some(index) = allocation.filter(|&index| self.global.len() <= index) {
            self.global.resize_with(index + 1, Shadow::default);
        }
    }

    /// The general path: lane by lane, cell by cell.
    #[inline(never)]
    pub(super) fn lanes(&mut self, reached: &Reached, mask: u32, found: &mut dyn FnMut(&Self, MarkConflict)) {
        let shift = self.cell_shift;
        let flags = match reached.operation.order {
            Order { volatile: true, .. } => STRONG | VOLATILE,
            Order { strong: true, scope: SyncScope::Block, .. } => STRONG | IN_BLOCK,
            Order { strong: true, scope: SyncScope::Cluster, .. } => STRONG | IN_CLUSTER,
            Order { strong: true, .. } => STRONG,
            _ => 0,
        };
        let first = Stamp::new(reached.time, flags, reached.operation.place, reached.warp * 32);
        let now = Now::new(&self.clocks, reached.allocation);
        let cells = (reached.lanes.width >> shift).max(1) as usize;
        let mut rest = mask;
        while rest != 0 {
            let lane = (rest.trailing_zeros() & 31) as usize;
            rest &= rest - 1;
            let stamp = Stamp(first.0 + lane as u64);
            let start = reached.cell(lane, shift);
            for cell in start..start + cells {
                // No access, one that all know, or the thread's own.
                let fine = |entry: Stamp| now.is_fine(entry.0, stamp.0);
                let shadow = self.shadow(reached.allocation);
                let (write, reads) = (shadow.get(WRITE, cell), READS.map(|layer| shadow.get(layer, cell)));
                let writes = reached.operation.action != AccessAction::Read;
                let shared = reached.allocation.is_none();
                if !fine(write) && !self.is_ordered(write, stamp, writes, shared) {
                    found(self, MarkConflict { lane, cell, before: write, was_write: true });
                }
                if reached.operation.action == AccessAction::Read {
                    self.keep_read(reached.allocation, cell, stamp, reads, &fine);
                    continue;
                }
                if let Some(before) =
                    reads.into_iter().find(|&read| !fine(read) && !self.is_ordered(read, stamp, false, shared))
                {
                    found(self, MarkConflict { lane, cell, before, was_write: false });
                }
                // A plain write that not all threads know of still races with strong operations of
                // others.
                let hides = stamp.is_strong() && write.0 != 0 && !write.is_strong() && write.time() > self.clocks.floor;
                if !hides {
                    self.shadow(reached.allocation).set(WRITE, cell, stamp);
                }
            }
        }
    }

    /// Keeps a read, unless another one serves as well.
    #[inline(always)]
    fn keep_read(
        &mut self,
        allocation: Option<usize>,
        cell: usize,
        stamp: Stamp,
        [first, second]: [Stamp; 2],
        fine: &dyn Fn(Stamp) -> bool,
    ) {
        let layer = if fine(first) {
            0
        } else if fine(second) {
            1
        } else if first.time() < self.clocks.start {
            // A read of another block: the present block may write later, and its own read would
            // hide the race.
            self.shadow(allocation).set(READS[1], cell, first);
            0
        } else if self.happened_before(first, stamp) {
            0
        } else if second.time() >= self.clocks.start && self.happened_before(second, stamp) {
            1
        } else {
            return;
        };
        self.shadow(allocation).set(READS[layer], cell, stamp);
    }

    /// Whether an earlier access is ordered with the present one, or need not be. `both_write`:
    /// whether both are writes; `shared`: whether they are in shared memory.
    #[inline(never)]
    fn is_ordered(&mut self, before: Stamp, now: Stamp, both_write: bool, shared: bool) -> bool {
        let of_block = self.threads_of_block;
        let same_cluster = before.time() >= self.clocks.start;
        let same_block = same_cluster && before.thread() / of_block == now.thread() / of_block;
        let same_warp = same_block && before.thread() / 32 == now.thread() / 32;
        let volatile = [before.is_volatile(), now.is_volatile()];
        // PTX ISA, "Memory Consistency Model": strong operations of scopes that include each other
        // are morally strong, and those do not race.
        let for_a_barrier = (same_warp || same_block && shared) && volatile.contains(&true);
        let doubtful = for_a_barrier || both_write && volatile == [true, true];
        let excused = before.is_strong()
            && now.is_strong()
            && !(self.strict && doubtful)
            && match before.scope().min(now.scope()) {
                SyncScope::Block => same_block,
                SyncScope::Cluster => same_cluster,
                SyncScope::All => true,
            };
        excused || self.happened_before(before, now)
    }

    /// Whether an access of the same cluster through the generic proxy is ordered before a warp's
    /// access through the async proxy, but without a proxy fence in between.
    pub(super) fn lacks_proxy_fence(&self, before: Stamp, reached: &Reached) -> bool {
        let (of, time) = (before.thread(), before.time());
        let memory = if reached.allocation.is_some() { Proxied::Global } else { Proxied::Shared };
        let mut warp = (0..32).map(|lane| reached.warp * 32 + lane).filter(|&thread| thread < self.threads);
        let comes_before = |by| by == of || time <= self.clocks.known(by, of);
        let is_fenced = |by| self.releases.is_proxied(by, self.clocks.column(of), time, memory);
        // An order with any lane of the warp is enough: `wgmma` reads for all of them.
        time >= self.clocks.start && warp.clone().any(comes_before) && !warp.any(is_fenced)
    }

    fn happened_before(&mut self, before: Stamp, now: Stamp) -> bool {
        let (by, of, time) = (now.thread(), before.thread(), before.time());
        if time < self.clocks.start {
            let (start, _) = self.block_of(before);
            return self.releases.knows(by, start, self.clocks.column(of), time);
        }
        by == of || time <= self.clocks.known(by, of)
    }
}

/// Where the releases of an mbarrier's last complete phase are kept: an mbarrier has at least two
/// cells, and only the first of them is used as a location.
fn completed_phase((allocation, cell): Location) -> Location {
    (allocation, cell + 1)
}
