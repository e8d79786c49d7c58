//! The hooks of the sanitizer: each access before it is made, barriers, fences, and instructions that lanes execute
//! together.
//!
//! Instructions call these; with all checks off, each is one branch. They change nothing but the sanitizer's state.

use ptx::Space;
use pulp::{Simd, WithSimd};

use crate::FindingKind;
use crate::lanes::{Registers, Row, WideRow, lanes};
use crate::machine::state::{At, Block, CLUSTER, Split, Wait, Warp, Worker};
use crate::machine::{access, across, inspect, written};
use crate::memory::{AccessFaultKind, AllocationSpan, Memory, Shape, SharedMemory, rank_of};
use crate::program::{Action, Atomic, Audience, Copied, Fence, Order, Reach};
use crate::sanitizer::{Checker, Checks, Intent, Operation, Path, Races, Stored, Touch, TrackedCopy, Underway};
use crate::site::AccessAction;

const PLAIN: Order =
    Order { strong: false, volatile: false, read_only: false, audience: Audience::All, releases: None };
const STRONG: Order = Order { strong: true, ..PLAIN };
/// An arrival at an mbarrier releases to the whole cluster: threads of other blocks may wait for it.
const RELEASES: Order = Order { releases: Some(Audience::Cluster), ..STRONG };

/// What an instruction does to memory other than a plain load or store.
#[derive(Clone, Copy)]
pub(super) enum Other<'a> {
    /// Reads this many bytes in each lane.
    Read(u32),
    /// Writes this many bytes of these words in each lane.
    Write(u32, &'a [Row; 4]),
    /// Atomically combines this many bytes in each lane with memory.
    Combine(u32),
    /// Reads this many bytes in each lane through a texture or surface.
    Fetch(u32),
    /// Reads this many bytes of the tensor map that describes a copy.
    UseMap(u32),
    /// One of the first three, through the async proxy.
    Async(&'a Other<'a>),
    /// An operation on an mbarrier, which releases and acquires.
    Mbarrier,
}

fn other(what: Other<'_>, place: u32) -> Intent<'_> {
    let (what, path) = match what {
        Other::Async(what) => (*what, Path::Async),
        Other::Fetch(_) => (what, Path::Texture),
        Other::UseMap(_) => (what, Path::TensorMap),
        Other::Mbarrier => (what, Path::Mbarrier),
        _ => (what, Path::Generic),
    };
    let (action, width, stored, order) = match what {
        Other::Read(width) | Other::Fetch(width) | Other::UseMap(width) => {
            (AccessAction::Read, width, Stored::Unknown, &PLAIN)
        }
        Other::Write(width, words) => (AccessAction::Write, width, Stored::Words(words), &PLAIN),
        Other::Combine(width) => (AccessAction::Atomic, width, Stored::Unknown, &STRONG),
        Other::Mbarrier | Other::Async(_) => (AccessAction::Atomic, 8, Stored::Unknown, &RELEASES),
    };
    Intent {
        action,
        width,
        element: width,
        place,
        order,
        copied: Copied::default(),
        overwrites: path == Path::Mbarrier,
        path,
        stored,
    }
}

/// An atomic operation. Returns the lanes whose access is possible; the others get zeros.
#[inline(always)]
pub(super) fn atomic(worker: &mut Worker, warp: &mut Warp, atomic: &Atomic, at: At) -> u32 {
    let At { split, mask, counter } = at;
    if worker.checker.is_none() {
        return mask;
    }
    let &Atomic { ref reach, ty, ref order, overwrites, .. } = atomic;
    let (action, width, element) = (AccessAction::Atomic, atomic.width(), ty.bytes());
    let intent = Intent {
        action,
        width,
        element,
        place: counter,
        order,
        copied: Copied::default(),
        overwrites,
        path: Path::Generic,
        stored: Stored::Unknown,
    };
    let possible = watch(worker, warp, reach, split, mask, &intent);
    let refused = mask & !possible;
    if refused != 0 {
        for d in atomic.elements().filter_map(|(d, _)| d) {
            match element {
                8.. => (0..element / 8).for_each(|row| warp.registers.set_wide(d + row, refused, &[0; 32])),
                _ => warp.registers.set_word(d, refused, &[0; 32]),
            }
        }
    }
    possible
}

/// The checks; `None` if all are off.
pub(super) fn checks(worker: &Worker) -> Option<Checks> {
    worker.checker.as_ref().map(|checker| checker.checks())
}

/// An access by any other instruction. Returns the lanes whose access is possible.
pub(super) fn touch(worker: &mut Worker, warp: &mut Warp, reach: &Reach, what: Other, at: At) -> u32 {
    let At { split, mask, counter } = at;
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch(worker, warp, reach, split, mask, &other(what, counter))
}

/// The same for known addresses.
pub(super) fn touch_at(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    what: Other,
    mask: u32,
    addresses: &WideRow,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch_at(worker, warp, space, mask, addresses, &other(what, counter))
}

/// Reports an access to the sanitizer, for each state space that its lanes reach.
#[inline(never)]
fn watch(worker: &mut Worker, warp: &mut Warp, reach: &Reach, split: &Split, mask: u32, intent: &Intent) -> u32 {
    warp.registers.arch().dispatch(Watch { worker, warp, reach, split, mask, intent })
}

/// What [`watch`] does, for the host's instruction set.
struct Watch<'a, 'l, 'w> {
    worker: &'a mut Worker<'l>,
    warp: &'a mut Warp<'w>,
    reach: &'a Reach,
    split: &'a Split,
    mask: u32,
    intent: &'a Intent<'a>,
}

impl WithSimd for Watch<'_, '_, '_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        let Self { worker, warp, reach, split, mask, intent } = self;
        // The shape of the instruction's last access, which the access itself is about to follow, too.
        let mut found = access::meet_shape(&mut worker.shapes, &warp.registers, reach, mask, intent.width);
        if together(&mut worker.checker, &worker.block, worker.launched.memory, warp, intent, &mut found) {
            return mask;
        }
        apart(worker, warp, reach, split, mask, intent)
    }
}

/// Reports to the sanitizer an access whose lanes all reach one allocation or the block's shared memory: `found` has its shape,
/// its state space and its lowest address. Returns whether it was one and is possible in all lanes; if not, call [`apart`].
#[inline(always)]
pub(super) fn together(
    checker: &mut Option<Box<Checker<'_>>>,
    block: &Block,
    memory: &Memory,
    warp: &Warp,
    intent: &Intent,
    found: &mut Option<(&mut Shape, Space, u64)>,
) -> bool {
    let (Some((shape, space, lowest)), Some(checker)) = (found, checker) else { return false };
    let (space, lowest) = (*space, *lowest);
    if space == Space::Shared && rank_of(lowest) != u64::from(block.rank) {
        return false;
    }
    let (new, old) = values(&warp.registers, memory, &block.shared, intent, space);
    checker.access(&Touch { intent, space, warp: warp.index, new: &new, old: &old }, shape, lowest)
}

/// Reports any other access to the sanitizer. Returns the lanes whose access is possible.
#[cold]
#[inline(never)]
pub(super) fn apart(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &Reach,
    split: &Split,
    mask: u32,
    intent: &Intent,
) -> u32 {
    watch_at(worker, warp, reach.space, mask, &access::addresses(warp, reach, split), intent)
}

#[inline(never)]
fn watch_at(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    intent: &Intent,
) -> u32 {
    let mut possible = 0;
    let rank = worker.block.rank;
    // No access is rejected here.
    let _ = access::by_space(space, rank, mask, addresses, &mut |space, mask, addresses| {
        possible |= report(worker, warp, intent, space, mask, addresses);
        Ok(())
    });
    possible
}

/// The same for one state space.
fn report(worker: &mut Worker, warp: &mut Warp, intent: &Intent, space: Space, mask: u32, addresses: &WideRow) -> u32 {
    let Some(mut checker) = worker.checker.take() else { return mask };
    let &Intent { action, width, .. } = intent;
    let (memory, shared, parameters) =
        (worker.launched.memory, &worker.block.shared, worker.launched.parameters.len() as u64);
    let refuse = |address: u64| match space {
        Space::Shared => shared.check(address, width).err(),
        Space::ClusterShared => worker.shared_at(address).and_then(|shared| shared.check(address, width)).err(),
        Space::Local if action == AccessAction::Atomic => Some(AccessFaultKind::OutOfBounds { nearest: None }),
        Space::Local => warp.local.refuses(address, width),
        _ if action != AccessAction::Read => {
            Some(AccessFaultKind::ReadOnly { allocation: AllocationSpan { address: 0, bytes: parameters } })
        }
        _ => access::check_parameter(address, width, parameters),
    };
    let possible = {
        let (new, old) = values(&warp.registers, memory, shared, intent, space);
        let touch = Touch { intent, space, warp: warp.index, new: &new, old: &old };
        let together = match space {
            Space::Shared | Space::Global | Space::Constant => true,
            Space::ClusterShared => refuse(addresses[mask.trailing_zeros() as usize & 31]).is_none(),
            _ => false,
        };
        let mut shape = Shape::new();
        let done = together && {
            let lowest = shape.follow(mask, addresses, width);
            checker.access(&touch, &mut shape, lowest)
        };
        if done { mask } else { checker.access_apart(&touch, mask, addresses, &refuse) }
    };
    if space == Space::Local && checker.checks().init {
        written::access(&mut checker, warp, intent, possible, addresses);
    }
    worker.checker = Some(checker);
    possible
}

/// What a lane is about to store, and what is in memory at an address.
#[inline(always)]
fn values<'a>(
    registers: &'a Registers<'_>,
    memory: &'a Memory,
    shared: &'a SharedMemory,
    intent: &'a Intent<'a>,
    space: Space,
) -> (impl Fn(usize) -> u128 + 'a, impl Fn(u64) -> u128 + 'a) {
    let width = intent.width;
    let old = move |address: u64| match space {
        Space::Shared => shared.value(address, width),
        _ => memory.value(address, width),
    };
    (move |lane: usize| stored(registers, intent, lane), old)
}

/// What a lane is about to store.
fn stored(registers: &Registers<'_>, intent: &Intent, lane: usize) -> u128 {
    let rows = match intent.stored {
        Stored::Unknown => return 0,
        Stored::Words(words) => {
            let value = words.iter().rev().fold(0, |value, row| value << 32 | u128::from(row[lane]));
            return value & u128::MAX >> (128 - 8 * intent.width.clamp(1, 16));
        }
        Stored::Registers(rows) => rows,
    };
    let bits = intent.element * 8;
    rows.iter().rev().fold(0, |value, &row| match intent.element {
        8 => value.unbounded_shl(bits) | u128::from(registers.wide(row)[lane]),
        _ => value.unbounded_shl(bits) | u128::from(registers.word(row)[lane] & (u32::MAX >> (32 - bits))),
    })
}

/// Some lanes execute a fence.
pub(super) fn fence(worker: &mut Worker, warp: &Warp, mask: u32, fence: &Fence) {
    if let Some(races) = races(worker) {
        races.fence(warp.index, mask, fence);
    }
}

/// Some lanes acquire tensor maps, at these addresses, for the copies that they describe.
pub(super) fn acquire_maps(worker: &mut Worker, warp: &Warp, mask: u32, (space, addresses): (Space, &WideRow)) {
    let rank = worker.block.rank;
    let Some(races) = races(worker) else { return };
    for lane in lanes(mask) {
        if let (Space::Global, map) = access::resolve(space, addresses[lane], rank) {
            races.acquire_map(warp.index, lane as u32, map);
        }
    }
}

/// Starts tracking a `cp.async` whose accesses have been reported. Returns its number, 0 if it is not tracked.
pub(super) fn copy_begins(worker: &mut Worker, copy: impl FnOnce() -> TrackedCopy) -> u32 {
    worker.checker.as_mut().map_or(0, |checker| checker.begin_copy(copy()))
}

/// Lanes publish their copies: from now on, others may wait for them. Each entry is a copy's number and its lanes.
pub(super) fn copies_settle(worker: &mut Worker, copies: &[(u32, u32)]) {
    if let Some(checker) = &mut worker.checker {
        copies.iter().for_each(|&(number, mask)| checker.settle_copy(number, mask));
    }
}

/// Copies have completed, and a thread has observed it.
pub(super) fn copies_end(worker: &mut Worker, copies: &[(u32, u32)]) {
    if let Some(checker) = &mut worker.checker {
        copies.iter().for_each(|&(number, mask)| checker.end_copy(number, mask));
    }
}

/// Starts tracking an asynchronous operation whose accesses have been reported. Returns its number, 0 if it is not tracked.
pub(super) fn begins(worker: &mut Worker, operation: impl FnOnce() -> Operation) -> u32 {
    underway(worker).map_or(0, |underway| underway.begin(operation()))
}

/// An asynchronous operation has read its source.
pub(super) fn has_read(worker: &mut Worker, number: u32) {
    if let Some(underway) = underway(worker) {
        underway.has_read(number);
    }
}

/// An asynchronous operation has completed, and a thread has waited for it.
pub(super) fn ends(worker: &mut Worker, number: u32) {
    if let Some(underway) = underway(worker) {
        underway.end(number);
    }
}

/// A warp has begun its part of a product, which reads these pieces of shared memory, of 16 bytes each.
pub(super) fn product_begins(worker: &mut Worker, warp: &Warp, counter: u32, pieces: Vec<u64>) {
    let block = worker.block.number;
    if let Some(underway) = underway(worker) {
        underway.begin_product((counter, block, warp.index), pieces);
    }
    if let Some(races) = races(worker) {
        races.multiply(warp.index);
    }
}

/// A warp commits its products so far as a group.
pub(super) fn products_committed(worker: &mut Worker, warp: &Warp) {
    let block = worker.block.number;
    if let Some(underway) = underway(worker) {
        underway.commit_products(block, warp.index);
    }
}

/// A warp has waited until at most this many groups are pending.
pub(super) fn products_awaited(worker: &mut Worker, warp: &Warp, groups_left: u32) {
    let block = worker.block.number;
    if let Some(underway) = underway(worker) {
        underway.await_products(block, warp.index, groups_left as usize);
    }
}

fn underway<'w>(worker: &'w mut Worker) -> Option<&'w mut Underway> {
    worker.checker.as_mut()?.underway()
}

/// Some lanes have reached a barrier.
pub(super) fn arrive(worker: &mut Worker, warp: &Warp, barrier: u32, mask: u32, waits: bool) {
    if let Some(races) = races(worker) {
        races.arrive(barrier, warp.index, mask, waits);
    }
}

/// Lanes have reached a barrier for their whole warp, and other lanes of the warp exit instead.
pub(super) fn left_in_warp(worker: &mut Worker, warp: &Warp, split: &Split, (barrier, left): (u32, u32)) {
    let Some(&place) = worker.launched.code.origins.get(split.pc as usize) else { return };
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let (thread, lane) = (warp.thread(left.trailing_zeros()), split.mask.trailing_zeros() & 31);
    checker.report(FindingKind::BarrierLeft { barrier, thread, in_warp: true }, place, warp.index, lane, None);
}

/// A warp has reached the point where its warpgroup waits for products.
pub(super) fn arrive_with_products(worker: &mut Worker, warp: &Warp, barrier: u32) {
    if let Some(races) = races(worker) {
        races.arrive_with_products(barrier, warp.index);
    }
}

/// Some lanes have reached the cluster's barrier; a `relaxed` arrival does not order what comes before it.
pub(super) fn arrive_in_cluster(worker: &mut Worker, warp: &Warp, mask: u32, relaxed: bool) {
    if let Some(races) = races(worker) {
        races.arrive_in_cluster(warp.index, mask, relaxed);
    }
}

/// Some lanes did something between their arrival at the cluster's barrier and their wait.
pub(super) fn wait_apart(worker: &mut Worker) {
    if let Some(races) = races(worker) {
        races.wait_apart();
    }
}

/// The cluster's barrier is complete.
pub(super) fn complete_in_cluster(worker: &mut Worker, warps: &[Warp]) {
    if let Some(races) = races(worker) {
        let waits = |warp: &Warp| {
            let waiting = warp.waiting.iter().filter(|(_, wait)| matches!(wait, Wait::Barrier(CLUSTER)));
            waiting.fold(0, |mask, (split, _)| mask | split.mask)
        };
        races.complete_in_cluster(warps.iter().all(|warp| warp.alive & !waits(warp) == 0));
    }
}

fn races<'w>(worker: &'w mut Worker) -> Option<&'w mut Races> {
    worker.checker.as_mut()?.races()
}

/// Some lanes execute a `.sync` instruction; `members` has the lanes that each names.
pub(super) fn lanes_named(worker: &mut Worker, warp: &Warp, split: &Split, members: &Row, mask: u32, counter: u32) {
    let code = worker.launched.code;
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let mut report = |kind, lane: usize| checker.report(kind, counter, warp.index, lane as u32, None);
    for lane in lanes(mask) {
        let named = members[lane];
        if named >> lane & 1 == 0 {
            report(FindingKind::NotMember { members: named, lane: lane as u32 }, lane);
        } else if let Some(other) = lanes(mask & named).find(|&other| members[other] != named) {
            let lanes = [lane as u32, other as u32];
            report(FindingKind::DifferentMasks { lanes, members: [named, members[other]] }, lane);
        }
    }
    let waits_only = matches!(
        code.instructions.get(split.pc as usize).map(|instruction| &instruction.action),
        Some(Action::WarpBarrier { .. })
    );
    let first = mask.trailing_zeros() as usize & 31;
    let exited = members[first] & warp.exists & !warp.alive;
    if exited != 0 && !waits_only {
        report(FindingKind::ExitedLanes { members: members[first], exited }, first);
    }
}

/// Lanes wait at a `.sync` instruction for lanes on another path, which wait for them in turn.
pub(super) fn lanes_absent(worker: &mut Worker, warp: &Warp, split: &Split, members: u32, absent: u32) {
    let code = worker.launched.code;
    let Some(checker) = worker.checker.as_mut().filter(|checker| checker.checks().sync) else { return };
    let Some(instruction) = code.instructions.get(split.pc as usize) else { return };
    // Lanes with nothing left to execute count as exited.
    let kind = if absent & !warp.waits_at_joins(|pc| code.ends_at(pc)) != 0 {
        FindingKind::AbsentLanes { members, absent }
    } else if matches!(instruction.action, Action::WarpBarrier { .. }) {
        return;
    } else {
        FindingKind::ExitedLanes { members, exited: members & warp.exists & !warp.alive | absent }
    };
    checker.report(kind, instruction.counter, warp.index, split.mask.trailing_zeros() & 31, None);
}

/// Lanes are about to execute a `.sync` instruction together.
pub(super) fn lanes_met(worker: &mut Worker, warp: &mut Warp, split: &Split, mask: u32) {
    let Some(checker) = &mut worker.checker else { return };
    let Some(instruction) = worker.launched.code.instructions.get(split.pc as usize) else { return };
    match &instruction.action {
        Action::WarpBarrier { .. } => {
            if let Some(races) = checker.races() {
                races.meet_lanes(warp.index, mask);
            }
        }
        Action::Shuffle(shuffle) if checker.checks().sync || worker.inspects => {
            warp.enter(split);
            let sources = across::shuffle_sources(&warp.registers, shuffle);
            if worker.inspects {
                inspect::exchange(worker.launched.code, warp, split, &sources, mask);
            }
            if !checker.checks().sync {
                return;
            }
            for lane in lanes(mask) {
                // Lanes that have exited have been reported: see `lanes_named`.
                let Some(source) = sources[lane].filter(|source| (mask | warp.exists & !warp.alive) >> source & 1 == 0)
                else {
                    continue;
                };
                let lane = lane as u32;
                checker.report(
                    FindingKind::InactiveSource { lane, source },
                    instruction.counter,
                    warp.index,
                    lane,
                    None,
                );
            }
        }
        _ => {}
    }
}
