//! The sanitizer's entry: takes the reports of `machine/observe` and decides what is a finding.
//! Each worker has one. It reads the memory's bounds and written bytes, and changes only its own
//! state.

use std::collections::HashSet;

use ptx::Space;

use super::asynchronous::copies::TrackedCopy;
use super::asynchronous::proxies::Proxies;
use super::asynchronous::underway::{Operation, Underway};
use super::blame::{report_map, report_race, report_unseen};
use super::checks::Checks;
use super::finding::FindingKind;
use super::findings::{Findings, Party};
use super::pending::Operations;
use super::race::{MarkConflict, Races};
use super::read_only::ReadOnly;
use super::touch::{Accessed, Reached, Target, Touch, is_tolerable};
use crate::address::{AccessFaultKind, AllocationSpan, BLOCK_WINDOW_BYTES, Lanes, Located, rank_of};
use crate::coalesce::Shape;
use crate::instruction::AccessKind;
use crate::memory::{Memory, SharedParts, Written};
use crate::program::{Code, MemoryOperation, Path};
use crate::site::AccessAction;

/// The sanitizer of one worker.
pub(crate) struct Checker<'l> {
    checks: Checks,
    memory: &'l Memory,
    findings: Findings,
    /// The running block.
    block: u64,
    /// The number of the running cluster among those that are resident at once.
    resident_cluster: u32,
    blocks_per_cluster: u32,
    /// The parts of a block's shared memory.
    shared: SharedParts,
    /// Which bytes of each existing block's shared memory were written.
    shared_written: Vec<Written>,
    /// The mbarriers that are initialised: the block, and the address in it.
    mbarriers: HashSet<(u64, u64)>,
    races: Option<Races>,
    /// Writes that some readers may not see.
    read_only: ReadOnly,
    proxies: Proxies,
    /// Operations under way in all clusters that exist at once.
    pending: Operations,
}

impl<'l> Checker<'l> {
    /// Creates one for this many clusters at once, blocks per cluster, and threads per block.
    pub fn new(
        checks: Checks,
        memory: &'l Memory,
        code: &Code,
        ((clusters, blocks_per_cluster), threads): ((u32, u32), u32),
        shared: SharedParts,
    ) -> Self {
        let blocks = clusters * blocks_per_cluster;
        let proxies = if checks.race { Proxies::new(code) } else { Proxies::default() };
        Self {
            checks,
            memory,
            findings: Findings::new(&code.places),
            block: 0,
            resident_cluster: 0,
            blocks_per_cluster,
            shared,
            shared_written: (0..blocks).map(|_| Written::new(shared.bytes.into())).collect(),
            mbarriers: HashSet::new(),
            races: checks.race.then(|| {
                let mut races = Races::new((blocks, threads), narrowest(code), proxies.are_one());
                races.strict = checks.strict;
                races
            }),
            read_only: if checks.race { ReadOnly::new(code) } else { ReadOnly::default() },
            proxies,
            pending: Operations::default(),
        }
    }

    /// A cluster starts, or all clusters that exist at once; this is the first block.
    pub fn start(&mut self, block: u64) {
        self.block = block;
        self.shared_written.iter_mut().for_each(Written::clear);
        self.pending.clear();
        self.mbarriers.clear();
        if let Some(races) = &mut self.races {
            races.begin(block);
        }
    }

    /// A block's turn starts.
    pub fn turn_of(&mut self, block: u64, rank: u32) {
        self.block = block;
        if let Some(races) = &mut self.races {
            let first = self.resident_cluster * self.blocks_per_cluster;
            races.turn_of(first + rank, first);
        }
    }

    /// A cluster's turn starts.
    pub fn enter_cluster(&mut self, resident_cluster: u32) {
        self.resident_cluster = resident_cluster;
    }

    /// The enabled checks.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// How many faults it has found; each thread's counts.
    pub fn faults(&self) -> u64 {
        self.findings.count()
    }

    /// The race detector, which also follows barriers and fences.
    pub fn races(&mut self) -> Option<&mut Races> {
        self.races.as_mut()
    }

    /// Records that an mbarrier at this address of shared memory was created or invalidated.
    /// Returns whether that changes anything.
    pub fn keeps_mbarrier(&mut self, address: u64, exists: bool) -> bool {
        let barrier = (self.block, address);
        if exists { self.mbarriers.insert(barrier) } else { self.mbarriers.remove(&barrier) }
    }

    /// Adds a finding about one access or operation.
    pub fn report(&mut self, kind: FindingKind, place: u32, warp: u32, lane: u32, action: Option<AccessAction>) {
        let party = Party { place, block: self.block, thread: warp * 32 + lane, action };
        self.findings.add(kind, party, None);
    }

    /// Adds a finding about two places in the program, each with the thread of the block that
    /// executed it; the second did so earlier.
    pub fn report_both(&mut self, kind: FindingKind, now: (u32, u32), before: (u32, u32)) {
        let party = |(place, thread)| Party { place, block: self.block, thread, action: None };
        self.findings.add(kind, party(now), Some(party(before)));
    }

    /// An access that is about to be made, with this shape and lowest address. Returns whether it
    /// is possible for all lanes, in one allocation or in shared memory, as nearly all are. If not,
    /// call [`Checker::access_per_lane`].
    #[inline(always)]
    pub fn access(&mut self, touch: &Touch, shape: &mut Shape, lowest: u64) -> bool {
        let target = match touch.space {
            Space::Shared | Space::ClusterShared => {
                let target = self.shared_of(lowest);
                if shape.start_within(lowest, target.span.address, target.span.bytes).is_none() {
                    return false;
                }
                target
            }
            Space::Global | Space::Constant => {
                let write = touch.operation.action != AccessAction::Read;
                let Some(located) = self.memory.locate_all(shape, lowest, write) else { return false };
                Target::of(located)
            }
            _ => return false,
        };
        self.reach(touch, &shape.lanes(target.offset(lowest)), &target);
        true
    }

    /// The shared memory of the block of the cluster that an address belongs to.
    #[inline(always)]
    fn shared_of(&self, address: u64) -> Target {
        let base = rank_of(address) * BLOCK_WINDOW_BYTES;
        let (start, bytes) = self.shared.at(address - base);
        Target { allocation: None, span: AllocationSpan { address: base + start, bytes }, base }
    }

    /// The target that contains an address of shared or device memory.
    fn locate(&self, space: Space, address: u64, write: bool) -> Option<Target> {
        match space {
            Space::Shared | Space::ClusterShared => Some(self.shared_of(address)),
            Space::Global | Space::Constant => self.memory.locate(address, write).map(Target::of),
            _ => None,
        }
    }

    /// Any other access, lane by lane. For spaces other than device memory, `refuse` says why an
    /// address cannot be accessed. Returns the lanes whose access is possible.
    #[cold]
    #[inline(never)]
    pub fn access_per_lane(
        &mut self,
        touch: &Touch,
        mask: u32,
        addresses: &[u64; 32],
        refuse: &dyn Fn(u64) -> Option<AccessFaultKind>,
    ) -> u32 {
        let &Touch { operation, space, .. } = touch;
        let (action, width) = (operation.action, operation.width);
        let write = action != AccessAction::Read;
        let mut possible = mask;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let address = addresses[lane];
            let fault = match space {
                Space::Global | Space::Constant => self.memory.check(address, width, write).err(),
                _ => refuse(address),
            };
            if let Some(fault) = fault {
                if self.checks.memory {
                    possible &= !(1 << lane);
                    let kind = FindingKind::Access { action, space, address, width, fault };
                    self.report(kind, operation.place, touch.warp, lane as u32, Some(action));
                }
                continue;
            }
            if let Some(target) = self.locate(space, address, write) {
                self.reach(touch, &Lanes::one(lane, target.offset(address), width), &target);
            }
        }
        possible
    }

    /// Checks an access that is possible, to an allocation or to shared memory.
    #[inline(always)]
    fn reach(&mut self, touch: &Touch, lanes: &Lanes, target: &Target) {
        if touch.space == Space::Constant {
            return;
        }
        if self.checks.init {
            match (self.written(target), touch.operation.action) {
                (Some(written), AccessAction::Write) => written.mark_lanes(lanes),
                (Some(written), _) if !written.has_lanes(lanes) => self.unwritten(touch, lanes, target),
                _ => {}
            }
        }
        if let Some(races) = &mut self.races {
            // The shared memories of all existing blocks count as one.
            let base = if target.allocation.is_none() { races.first_shared + target.base } else { 0 };
            let warp = races.in_cluster(touch.warp);
            let time = races.clocks.interval(warp);
            let reached =
                Reached { allocation: target.allocation, operation: touch.operation, lanes, base, warp, time };
            let (findings, copies, block) = (&mut self.findings, &self.pending.copies, self.block);
            let access = || Accessed { block, touch, lanes, target };
            let mut raced = 0;
            if touch.operation.path != Path::Generic {
                raced = Self::by_another_path(races, findings, &self.proxies, &access(), &reached);
            }
            let (reads, read_only) = (touch.operation.action == AccessAction::Read, &mut self.read_only);
            if read_only.concerns(&reached) && (!reads || races.has_writes(reached.allocation)) {
                let matters = |_: &Races, before| reads || read_only.made(before);
                races.earlier(&reached, !reads, &matters, &mut |races, conflict| {
                    raced |= 1 << conflict.lane;
                    report_unseen(findings, races, &access(), &conflict);
                });
            }
            let reported = raced;
            races.access(&reached, &mut |races, conflict| {
                raced |= 1 << conflict.lane;
                if reported >> conflict.lane & 1 == 0 && !target.is_reserved() {
                    report_race(findings, races, copies, &access(), &conflict);
                }
            });
            self.pending.report(findings, access, lanes.mask & !raced, races.first_shared);
        }
    }

    /// Checks an access through another path than loads and stores for writes that it may not see.
    /// Returns the lanes reported.
    #[cold]
    #[inline(never)]
    fn by_another_path(
        races: &mut Races,
        findings: &mut Findings,
        proxies: &Proxies,
        access: &Accessed,
        reached: &Reached,
    ) -> u32 {
        let &Accessed { touch, lanes, target, .. } = access;
        let mut reported = 0;
        let mut report = |races: &Races, conflict: MarkConflict| {
            reported |= 1 << conflict.lane;
            report_unseen(findings, races, access, &conflict);
        };
        match touch.operation.path {
            Path::Texture => {
                races.earlier(reached, false, &|_, _| true, &mut report);
                // Reported even if something orders the two.
                return u32::MAX;
            }
            Path::Async => {
                let matters =
                    |races: &Races, before| proxies.is_generic(before) && races.lacks_proxy_fence(before, reached);
                races.earlier(reached, false, &matters, &mut report);
            }
            Path::TensorMap => {
                let mut writes = Vec::new();
                races.earlier(reached, false, &|_, _| true, &mut |_, conflict| writes.push(conflict));
                for conflict in writes {
                    let address = target.address(lanes, conflict.lane);
                    if let Some(missing) = races.missing_map_fence(conflict.before, reached, address) {
                        report_map(findings, races, access, &conflict, missing);
                    }
                }
            }
            Path::Generic | Path::Mbarrier => {}
        }
        reported
    }

    /// Which bytes of an allocation were written; `None` if all.
    #[inline(always)]
    fn written(&self, target: &Target) -> Option<&Written> {
        match target.allocation {
            Some(index) => self.memory.written(index),
            // The system's part begins as zeros.
            None if target.is_reserved() => None,
            None => {
                let first = u64::from(self.resident_cluster * self.blocks_per_cluster);
                self.shared_written.get((first + rank_of(target.base)) as usize)
            }
        }
    }

    /// Reports reads of uninitialised memory.
    #[cold]
    #[inline(never)]
    fn unwritten(&mut self, touch: &Touch, lanes: &Lanes, target: &Target) {
        let Some(written) = self.written(target) else {
            return;
        };
        let width = u64::from(touch.operation.width);
        let mut unwritten = Vec::new();
        for lane in (0..32).filter(|lane| lanes.mask >> lane & 1 == 1) {
            let offset = lanes.offset(lane);
            if !written.has(offset, width) {
                if !touch.operation.overwrites && !is_tolerable(touch, written, offset) {
                    unwritten.push(lane);
                }
                // Report it once only.
                written.mark(offset, width);
            }
        }
        for lane in unwritten {
            let address = target.address(lanes, lane);
            let kind = FindingKind::Unwritten {
                space: touch.space,
                address,
                width: touch.operation.width,
                allocation: Some(target.span),
            };
            self.report(kind, touch.operation.place, touch.warp, lane as u32, Some(touch.operation.action));
        }
    }

    /// A thread got memory from `malloc`, which counts as unwritten and not accessed.
    pub fn allocated(&mut self, address: u64, bytes: u64) {
        let Some(Located { index, base, .. }) = self.memory.locate(address, true) else { return };
        let offset = address.wrapping_sub(base);
        if self.checks.init
            && let Some(written) = self.memory.written(index)
        {
            written.forget(offset, bytes);
        }
        if let Some(races) = &mut self.races {
            races.forget(index, offset, bytes);
        }
    }

    /// A thread is about to `free` memory, which counts as a write.
    pub fn freeing(&mut self, address: u64, place: u32, warp: u32, lane: u32) {
        let Some(target) = self.locate(Space::Global, address, true) else { return };
        let width = target.span.bytes as u32;
        let operation = MemoryOperation { overwrites: true, ..MemoryOperation::new(place, AccessKind::Store, width) };
        // The values differ, so that the write counts as a change.
        let touch = Touch { operation: &operation, space: Space::Global, warp, new: &|_| 1, old: &|_| 0 };
        let (init, read_only) = (std::mem::take(&mut self.checks.init), std::mem::take(&mut self.read_only));
        self.reach(&touch, &Lanes::one(lane as usize, target.offset(address), width), &target);
        (self.checks.init, self.read_only) = (init, read_only);
    }

    /// The operations under way beside the threads, if they are tracked.
    pub fn underway(&mut self) -> Option<&mut Underway> {
        self.races.is_some().then_some(&mut self.pending.underway)
    }

    /// Starts tracking a bulk copy whose accesses have been reported, at addresses of the cluster.
    /// Returns its number, or 0 if it is not tracked.
    pub fn begin_operation(&mut self, operation: impl FnOnce() -> Operation) -> u32 {
        let Some(races) = &self.races else { return 0 };
        let mut operation = operation();
        for run in operation.reads.iter_mut().chain(&mut operation.writes).filter(|run| run.shared) {
            run.start += races.first_shared;
        }
        self.pending.underway.begin(operation)
    }

    /// A warp of the running block begins its part of a product, which reads these pieces of shared
    /// memory, of 16 bytes each, at addresses of the cluster.
    pub fn begin_product(&mut self, place: u32, warp: u32, mut pieces: Vec<u64>) {
        let Some(races) = &self.races else { return };
        pieces.iter_mut().for_each(|piece| *piece += races.first_shared);
        self.pending.underway.begin_product(place, self.block, warp, pieces);
    }

    /// A thread of the running block has waited for its copy to global memory.
    pub fn end_awaited(&mut self, number: u32) {
        if let Some(races) = &mut self.races {
            self.pending.underway.end_awaited(number, races, self.memory);
        }
    }

    /// Starts tracking a copy whose accesses have been reported, to addresses of the cluster.
    /// Returns its number, or 0 if it is not tracked.
    pub fn begin_copy(&mut self, mut copy: TrackedCopy) -> u32 {
        let Some(races) = &self.races else { return 0 };
        copy.block = self.block;
        copy.to.iter_mut().for_each(|to| *to = to.wrapping_add(races.first_shared));
        self.pending.copies.begin(copy)
    }

    /// From now on, threads other than those that began a copy wait for it.
    pub fn settle_copy(&mut self, number: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            self.pending.copies.settle(number, mask, races, self.memory);
        }
    }

    /// The copies of some lanes are complete, and were waited for.
    pub fn end_copy(&mut self, number: u32, mask: u32) {
        self.pending.copies.end(number, mask);
    }

    /// Returns the findings.
    pub fn finish(self) -> Findings {
        self.findings
    }
}

/// The width of the kernel's narrowest access to memory that threads share.
fn narrowest(code: &Code) -> u32 {
    code.instructions.iter().map(|instruction| instruction.action.effects().width).min().unwrap_or(4)
}
