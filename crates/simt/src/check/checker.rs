//! What the machine tells the sanitizer, and what it makes of it.

use std::collections::HashSet;

use ptx::Space;

use super::copies::{Copies, Copy, Met};
use super::race::{Conflict, Races, Reached};
use super::{Checks, FindingKind, Findings, Party, RaceScope};
use crate::memory::{Access, AccessFaultKind, AllocationSpan, BLOCK_WINDOW_BYTES, Located, Memory, Written, rank_of};
use crate::program::{Action, Code, Matrix, Order, SurfaceAction};
use crate::trap::AccessAction;

/// An access, as the machine is about to make it.
pub(crate) struct Touch<'a> {
    pub space: Space,
    pub action: AccessAction,
    pub access: Access<'a>,
    pub order: Order,
    /// Bytes of an element, of which the access may have several.
    pub element: u32,
    /// The elements that are read only to be stored elsewhere, or not used at all: one bit each.
    pub copied: u32,
    /// Whether the value that is there before does not matter, though it is read.
    pub overwrites: bool,
    /// Whether it need not see what this launch has written: a read through a texture or surface.
    pub incoherent: bool,
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    /// The warp in its block.
    pub warp: u32,
    /// What a lane is about to store.
    pub new: &'a dyn Fn(usize) -> u128,
    /// What is in memory at an address.
    pub old: &'a dyn Fn(u64) -> u128,
}

/// What an access reaches.
struct There {
    /// The number of the allocation; `None`: the block's shared memory.
    allocation: Option<usize>,
    span: AllocationSpan,
    /// What is to be subtracted from addresses, for offsets in it.
    base: u64,
}

/// The sanitizer of one worker.
pub(crate) struct Checker<'l> {
    checks: Checks,
    memory: &'l Memory,
    findings: Findings,
    /// The block whose turn it is.
    block: u64,
    /// Bytes of shared memory of a block.
    shared_bytes: u64,
    /// What was written to the shared memory of each block of the cluster.
    shared_written: Vec<Written>,
    /// The barriers in shared memory, from their initialisation to their end: the block, and the address in it.
    mbarriers: HashSet<(u64, u64)>,
    races: Option<Races>,
    /// What the block has begun to copy.
    copies: Copies,
}

impl<'l> Checker<'l> {
    /// For clusters of so many blocks, of so many threads each.
    pub fn new(
        checks: Checks,
        memory: &'l Memory,
        code: &Code,
        (blocks, threads): (u32, u32),
        shared_bytes: u32,
    ) -> Self {
        Self {
            checks,
            memory,
            findings: Findings::new(&code.places),
            block: 0,
            shared_bytes: shared_bytes.into(),
            shared_written: (0..blocks).map(|_| Written::new(shared_bytes.into())).collect(),
            mbarriers: HashSet::new(),
            races: if checks.race { Races::new((blocks, threads), narrowest(code)) } else { None },
            copies: Copies::default(),
        }
    }

    /// A cluster starts, of which this is the first block.
    pub fn start(&mut self, block: u64) {
        self.block = block;
        self.shared_written.iter_mut().for_each(Written::clear);
        self.copies.clear();
        self.mbarriers.clear();
        if let Some(races) = &mut self.races {
            races.begin(block);
        }
    }

    /// It is the turn of a block.
    pub fn turn_of(&mut self, block: u64, rank: u32) {
        self.block = block;
        if let Some(races) = &mut self.races {
            races.turn_of(rank);
        }
    }

    /// What is looked for.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// The race detector, which is told of barriers and fences.
    pub fn races(&mut self) -> Option<&mut Races> {
        self.races.as_mut()
    }

    /// A barrier at this address of shared memory begins to exist, or ceases to. Returns whether that is news.
    pub fn keeps_mbarrier(&mut self, address: u64, exists: bool) -> bool {
        let barrier = (self.block, address);
        if exists { self.mbarriers.insert(barrier) } else { self.mbarriers.remove(&barrier) }
    }

    /// Tells of something that a thread did.
    pub fn tell(&mut self, kind: FindingKind, place: u32, warp: u32, lane: u32, action: Option<AccessAction>) {
        let party = Party { place, block: self.block, thread: warp * 32 + lane, action };
        self.findings.add(kind, party, None);
    }

    /// An access that is about to be made. `refuse` says why an address of a space that is not device memory cannot be
    /// accessed. Returns the lanes that can make it.
    #[inline(always)]
    pub fn access(&mut self, touch: &Touch, refuse: &dyn Fn(u64) -> Option<AccessFaultKind>) -> u32 {
        let Touch { space, action, ref access, .. } = *touch;
        let write = action != AccessAction::Read;
        // Shared memory, or the one allocation that all lanes reach, as is usual.
        let first = access.addresses[(access.mask.trailing_zeros() & 31) as usize];
        let one = match space {
            Space::ClusterShared if refuse(first).is_some() => None,
            space => self.locate(space, first, write),
        };
        if let Some(there) = one
            && fits(access, there.span)
        {
            self.reach(touch, access.mask, &there);
            return access.mask;
        }
        self.access_apart(touch, refuse)
    }

    /// What an address of shared or device memory is in.
    #[inline(always)]
    fn locate(&self, space: Space, address: u64, write: bool) -> Option<There> {
        match space {
            Space::Shared | Space::ClusterShared => {
                let base = rank_of(address) * BLOCK_WINDOW_BYTES;
                let span = AllocationSpan { address: base, bytes: self.shared_bytes };
                Some(There { allocation: None, span, base })
            }
            Space::Global | Space::Constant => {
                let Located { index, span, base } = self.memory.locate(address, write)?;
                Some(There { allocation: Some(index), span, base })
            }
            _ => None,
        }
    }

    /// The same, lane by lane.
    #[cold]
    #[inline(never)]
    fn access_apart(&mut self, touch: &Touch, refuse: &dyn Fn(u64) -> Option<AccessFaultKind>) -> u32 {
        let Touch { space, action, ref access, .. } = *touch;
        let write = action != AccessAction::Read;
        let mut possible = access.mask;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let (address, width) = (access.addresses[lane], access.width);
            let fault = match space {
                Space::Global | Space::Constant => self.memory.check(address, width, write).err(),
                _ => refuse(address),
            };
            if let Some(fault) = fault {
                if self.checks.memory {
                    possible &= !(1 << lane);
                    let kind = FindingKind::Access { action, space, address, width, fault };
                    self.tell(kind, touch.place, touch.warp, lane as u32, Some(action));
                }
                continue;
            }
            if let Some(there) = self.locate(space, address, write) {
                self.reach(touch, 1 << lane, &there);
            }
        }
        possible
    }

    /// Lanes that can access an allocation, or shared memory, do.
    #[inline(always)]
    fn reach(&mut self, touch: &Touch, mask: u32, there: &There) {
        if touch.space == Space::Constant {
            return;
        }
        let mut offsets = *touch.access.addresses;
        for offset in &mut offsets {
            *offset = offset.wrapping_sub(there.base);
        }
        if self.checks.init {
            self.written(touch, mask, &offsets, there);
        }
        if let Some(races) = &mut self.races {
            let Touch { action, order, place, .. } = *touch;
            let (width, warp) = (touch.access.width, races.in_cluster(touch.warp));
            // The shared memories of a cluster are one.
            let shared = there.allocation.is_none() && there.base != 0;
            let offsets = if shared { *touch.access.addresses } else { offsets };
            let reached =
                Reached { allocation: there.allocation, action, order, mask, offsets: &offsets, width, place, warp };
            let (findings, copies, block) = (&mut self.findings, &self.copies, self.block);
            if touch.incoherent {
                return races.fetch(&reached, &mut |races, conflict| {
                    report_fetch(findings, races, block, touch, there, &conflict);
                });
            }
            let mut raced = 0;
            races.access(&reached, &mut |races, conflict| {
                raced |= 1 << conflict.lane;
                report_race(findings, races, copies, block, touch, there, &conflict);
            });
            if self.copies.any() {
                self.meet_copies(touch, mask & !raced, there.span);
            }
        }
    }

    /// Lanes whose accesses are in order otherwise: do they come before a copy that is on its way?
    #[cold]
    fn meet_copies(&mut self, touch: &Touch, mask: u32, allocation: AllocationSpan) {
        let Touch { space, action, place, warp, ref access, .. } = *touch;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let (address, width) = (access.addresses[lane], access.width);
            let old = || (touch.old)(address);
            let (met, does) = match (space, action) {
                (Space::Shared, _) => (self.copies.writing(address, width), AccessAction::Write),
                (_, AccessAction::Read) => (None, AccessAction::Read),
                _ => (self.copies.reading(address, width), AccessAction::Read),
            };
            let Some(Met { copy, lane: copied_by, address: meeting }) = met else { continue };
            // Who writes what is there already, or what the copy brings, changes nothing.
            let then = if space == Space::Shared { self.copies.value_then(address, width, old()) } else { old() };
            if action == AccessAction::Write && (touch.new)(lane) == then {
                continue;
            }
            let party =
                |place, warp, lane, action| Party { place, block: self.block, thread: warp * 32 + lane, action };
            let first = party(place, warp, lane as u32, Some(action));
            let second = party(copy.place, copy.warp, copied_by as u32, Some(does));
            let actions = [action, does];
            let kind = FindingKind::PendingCopy { space, address: meeting, width, actions, allocation };
            self.findings.add(kind, first, Some(second));
        }
    }

    /// A copy begins, whose accesses have been told. Returns its number, 0 if nobody asks.
    pub fn begin_copy(&mut self, copy: Copy) -> u32 {
        if self.races.is_some() { self.copies.begin(copy) } else { 0 }
    }

    /// From now on it is for others to wait for a copy of some lanes.
    pub fn settle_copy(&mut self, number: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            self.copies.settle(number, mask, races, self.memory);
        }
    }

    /// Nobody need wait for a copy of some lanes any more.
    pub fn end_copy(&mut self, number: u32, mask: u32) {
        self.copies.end(number, mask);
    }

    /// Looks for reads of what nothing wrote, and remembers writes.
    #[inline(always)]
    fn written(&mut self, touch: &Touch, mask: u32, offsets: &[u64; 32], there: &There) {
        let memory = self.memory;
        let written = match there.allocation {
            Some(index) => match memory.written(index) {
                Some(written) => written,
                None => return,
            },
            None => match self.shared_written.get(rank_of(there.base) as usize) {
                Some(written) => written,
                None => return,
            },
        };
        let width = u64::from(touch.access.width);
        // In a row: one range instead of 32.
        let mut apart = 0;
        for (lane, &offset) in offsets.iter().enumerate() {
            apart |= offset ^ offsets[0].wrapping_add(lane as u64 * width);
        }
        if mask == u32::MAX && apart == 0 {
            match touch.action {
                AccessAction::Read if written.has(offsets[0], 32 * width) => return,
                AccessAction::Write => return written.mark(offsets[0], 32 * width),
                _ => {}
            }
        }
        if touch.action == AccessAction::Read && written.has_lanes(mask, offsets, touch.access.width) {
            return;
        }
        let mut unwritten = Vec::new();
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let offset = offsets[lane];
            if touch.action != AccessAction::Write && !written.has(offset, width) {
                if !touch.overwrites && !is_tolerable(touch, written, offset) {
                    unwritten.push(lane);
                }
                // Once is enough.
                written.mark(offset, width);
            }
            if touch.action != AccessAction::Read {
                written.mark(offset, width);
            }
        }
        for lane in unwritten {
            let (space, address, width) = (touch.space, touch.access.addresses[lane], touch.access.width);
            let kind = FindingKind::Unwritten { space, address, width, allocation: Some(there.span) };
            self.tell(kind, touch.place, touch.warp, lane as u32, Some(touch.action));
        }
    }

    /// A thread got memory from `malloc`: nobody has written or accessed it.
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

    /// A thread is about to give memory back with `free`. That is a write as far as others are concerned who still use it.
    pub fn freeing(&mut self, address: u64, place: u32, warp: u32, lane: u32) {
        let Some(there) = self.locate(Space::Global, address, true) else { return };
        let (bytes, addresses) = (there.span.bytes as u32, [address; 32]);
        let touch = Touch {
            space: Space::Global,
            action: AccessAction::Write,
            access: Access::new(1 << lane, &addresses, bytes),
            order: Order::default(),
            element: bytes,
            copied: 0,
            overwrites: true,
            incoherent: false,
            place,
            warp,
            // What is there afterwards is not what was there before.
            new: &|_| 1,
            old: &|_| 0,
        };
        let init = std::mem::take(&mut self.checks.init);
        self.reach(&touch, 1 << lane, &there);
        self.checks.init = init;
    }

    /// What was found.
    pub fn finish(self) -> Findings {
        self.findings
    }
}

/// Whether a read of partly written bytes only moves them: padding is copied with what it pads.
pub(crate) fn is_tolerable(touch: &Touch, written: &Written, offset: u64) -> bool {
    let (element, width) = (u64::from(touch.element), u64::from(touch.access.width));
    written.has_any(offset, width)
        && (0..width / element)
            .all(|index| touch.copied >> index & 1 == 1 || written.has(offset + index * element, element))
}

/// Bytes of the narrowest access to memory that threads share.
fn narrowest(code: &Code) -> u32 {
    let widths = code.instructions.iter().map(|instruction| match &instruction.action {
        Action::Load(load) if load.reach.space != Space::Local => load.element * load.count,
        Action::Store(store) if store.reach.space != Space::Local => store.element * store.count,
        Action::Atomic(atomic) => atomic.ty.bytes(),
        Action::Matrix(matrix) => match &**matrix {
            Matrix::StoreFragment(tile) => tile.fragment.ty.bits().div_ceil(8),
            _ => 4,
        },
        Action::Surface(access) => match access.action {
            // As wide as the surface's texels, whatever these are.
            SurfaceAction::StoreFormatted => 1,
            _ => access.ty.bytes() * access.rows.len() as u32,
        },
        _ => 4,
    });
    widths.min().unwrap_or(4)
}

/// Tells of a race, unless both write the same value.
#[cold]
fn report_race(
    findings: &mut Findings,
    races: &Races,
    copies: &Copies,
    block: u64,
    touch: &Touch,
    there: &There,
    conflict: &Conflict,
) {
    let &Conflict { lane, before, was_write, .. } = conflict;
    let (start, _) = races.block_of(before);
    let warp = races.in_cluster(touch.warp);
    let of_block = races.threads_of_block;
    let same_block = start == races.clocks.start && before.thread() / of_block == warp * 32 / of_block;
    let (address, width) = (touch.access.addresses[lane], touch.access.width);
    if was_write && touch.action == AccessAction::Write && (!before.is_strong() || before.is_volatile()) {
        let new = (touch.new)(lane);
        let same_instruction = same_block
            && before.place() == touch.place
            && before.thread() / 32 == warp
            && before.time() == races.clocks.interval(warp);
        let by_lane = same_instruction && (touch.new)(before.thread() as usize % 32) == new;
        let old = || match touch.space {
            Space::Shared if copies.any() => copies.value_then(address, width, (touch.old)(address)),
            _ => (touch.old)(address),
        };
        if by_lane || old() == new {
            return;
        }
    }
    let scope = match same_block {
        false => RaceScope::Grid,
        true if before.thread() / 32 == warp => RaceScope::Warp,
        true => RaceScope::Block,
    };
    let (address, [first, second]) = parties(races, block, touch, there, conflict);
    let (space, allocation) = (touch.space, there.span);
    let actions = [touch.action, action_of(conflict)];
    findings.add(FindingKind::Race { scope, space, address, width, actions, allocation }, first, Some(second));
}

/// Tells of a read of what this launch has written, by a path that need not see it.
#[cold]
fn report_fetch(findings: &mut Findings, races: &Races, block: u64, touch: &Touch, there: &There, conflict: &Conflict) {
    let (address, [first, second]) = parties(races, block, touch, there, conflict);
    let (space, width, writer) = (touch.space, touch.access.width, action_of(conflict));
    let (actions, allocation) = ([touch.action, writer], there.span);
    findings.add(FindingKind::WrittenTexture { space, address, width, actions, allocation }, first, Some(second));
}

/// The first address that both access, the party of now and the one of before.
fn parties(races: &Races, block: u64, touch: &Touch, there: &There, conflict: &Conflict) -> (u64, [Party; 2]) {
    let &Conflict { lane, cell, before, .. } = conflict;
    let (_, first_block) = races.block_of(before);
    let of_block = races.threads_of_block;
    let party = |place, block, thread, action| Party { place, block, thread, action: Some(action) };
    let first = party(touch.place, block, touch.warp * 32 + lane as u32, touch.action);
    let other_block = first_block + u64::from(before.thread() / of_block);
    let second = party(before.place(), other_block, before.thread() % of_block, action_of(conflict));
    let is_shared = matches!(touch.space, Space::Shared | Space::ClusterShared);
    let start = if is_shared { 0 } else { there.base };
    let address = touch.access.addresses[lane].max(start.wrapping_add((cell as u64) << races.cell_shift));
    (address, [first, second])
}

/// What the earlier access was.
fn action_of(conflict: &Conflict) -> AccessAction {
    match conflict.was_write {
        true if conflict.before.is_strong() && !conflict.before.is_volatile() => AccessAction::Atomic,
        true => AccessAction::Write,
        false => AccessAction::Read,
    }
}

/// Whether all active lanes access aligned bytes of one allocation.
#[inline(always)]
fn fits(access: &Access, span: AllocationSpan) -> bool {
    let Some(last) = span.bytes.checked_sub(u64::from(access.width)) else { return false };
    let (mut beyond, mut low) = (false, 0);
    for (lane, address) in access.addresses.iter().enumerate() {
        let active = access.mask >> lane & 1 == 1;
        beyond |= active & (address.wrapping_sub(span.address) > last);
        low |= if active { *address } else { 0 };
    }
    !beyond && low & u64::from(access.width - 1) == 0
}
