//! Executes `cp.async` and `mbarrier`.
//!
//! A thread that tests a phase of a barrier which is not complete lets the other threads of its block run first. It
//! gets its answer when the phase is complete, or when no other thread can do anything. A block in which nothing
//! happens but such failed tests, [`PATIENCE`] times, waits forever.

use ptx::Space;

use crate::counters::AccessKind;
use crate::lanes::{Row, WideRow};
use crate::machine::access::{self, Attempt, Refused};
use crate::machine::hopper::bulk;
use crate::machine::hopper::mbarrier::{Mbarrier, parity_of};
use crate::machine::hopper::tensor;
use crate::machine::hopper::transit;
use crate::machine::modelled;
use crate::machine::observe::{self, Other};
use crate::machine::schedule::turns::{Fault, Worker};
use crate::machine::state::local::lanes;
use crate::machine::state::warp::{Split, Wait, Warp};
use crate::memory::{Access, AccessFault, AccessFaultKind};
use crate::model::CacheWish;
use crate::program::{Action, AsyncCopy, Asynchronous, Fence, MbarrierAction, Reach};
use crate::trap::{AccessAction, MbarrierFault, TrapKind};
use crate::{check, coalesce};

/// How many phase waits in a row may fail in a block that does nothing else, before the launch is stopped.
pub(crate) const PATIENCE: u32 = 1 << 14;

/// Executes one. Returns whether the split goes on; if not, it waits.
pub(crate) fn execute<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    action: &Asynchronous,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Result<bool, Fault> {
    let at = |refused: Box<Refused>| refused.at(split.pc);
    match action {
        Asynchronous::Copy(copy) => begin(worker, warp, copy, split, mask, counter).map_err(at)?,
        Asynchronous::Bulk(copy) => bulk::begin(worker, warp, copy, split, mask, counter).map_err(at)?,
        Asynchronous::RemoteStore(store) => bulk::store(worker, warp, store, split, mask, counter).map_err(at)?,
        Asynchronous::Tensor(copy) => tensor::begin(worker, warp, copy, split, mask, counter).map_err(at)?,
        Asynchronous::ReplaceTensorField { reach, field, wide, value } => {
            let value = match wide {
                true => *warp.registers.wide(*value),
                false => warp.registers.word(*value).map(u64::from),
            };
            tensor::replace_field(worker, warp, reach, (*field, &value), (split, mask, counter)).map_err(at)?;
        }
        Asynchronous::CopyTensorMap { to, from, audience } => {
            tensor::copy_map(worker, warp, (to, from), *audience, (split, mask, counter)).map_err(at)?;
        }
        Asynchronous::AcquireTensorMap { map, audience } => {
            let addresses = access::addresses(warp, map, split);
            observe::acquire_maps(worker, warp, mask, (map.space, &addresses));
            observe::fence(worker, warp, mask, &Fence::of(*audience));
        }
        Asynchronous::CommitBulk => transit::commit(worker, warp, mask),
        Asynchronous::WaitBulk { groups_left, reads_only } => {
            transit::wait(worker, warp, mask, *groups_left, *reads_only).map_err(at)?;
        }
        Asynchronous::Commit => worker.block.copies[warp.index as usize].commit(mask),
        Asynchronous::Wait { groups_left } => {
            let ends = worker.block.copies[warp.index as usize].awaited(mask, *groups_left);
            complete(worker, warp.index, &ends, Waits::ItsThread).map_err(at)?;
        }
        Asynchronous::ArriveAfterCopies { reach, counted_before } => {
            let pending = worker.block.copies[warp.index as usize].pending(mask);
            observe::copies_settle(worker, &pending);
            let mask = observe::touch(worker, warp, reach, Other::Mbarrier, split, mask, counter);
            let addresses = barrier_addresses(worker, warp, reach, split, mask, false).map_err(at)?;
            for lane in lanes(mask) {
                let change = |barrier: &mut Mbarrier| match counted_before {
                    true => Ok(()),
                    false => barrier.expect_arrival(),
                };
                update(worker, addresses[lane], lane, change).map_err(at)?;
            }
            worker.block.copies[warp.index as usize].arrive_after(mask, &addresses);
        }
        Asynchronous::Mbarrier { reach, action } => {
            if matches!(action, MbarrierAction::TestState { .. } | MbarrierAction::TestParity { .. }) {
                return test(worker, warp, split, mask, false);
            }
            let mask = observe::touch(worker, warp, reach, Other::Mbarrier, split, mask, counter);
            let addresses = barrier_addresses(worker, warp, reach, split, mask, reaches_others(action)).map_err(at)?;
            for lane in lanes(mask) {
                change_barrier(worker, warp, action, addresses[lane], lane).map_err(at)?;
            }
        }
    }
    Ok(true)
}

/// `cp.async`.
fn begin<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    copy: &AsyncCopy,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    let bytes = copy.bytes;
    let from = access::addresses(warp, &copy.from, split);
    let to = access::addresses(warp, &copy.to, split);
    let ignored = warp.registers.predicate(copy.ignore_source);
    let read = warp.registers.word(copy.source_bytes).map(|read| read.min(bytes));
    let reading = lanes(mask & !ignored).filter(|&lane| read[lane] > 0).fold(0, |mask, lane| mask | 1u32 << lane);
    let whole = lanes(reading).filter(|&lane| read[lane] == bytes).fold(0, |mask, lane| mask | 1u32 << lane);
    let partly = lanes(reading & !whole).fold([0; 32], |mut partly, lane| {
        partly[lane] = read[lane];
        partly
    });
    let refused = |fault| Refused::new(AccessAction::Read, Space::Global, bytes, fault);
    let mut words: [Row; 4] = [[0; 32]; 4];
    let whole = observe::touch_at(worker, warp, Space::Global, Other::Read(bytes), whole, &from, counter);
    worker.launched.memory.load_each(&Access::new(whole, &from, bytes), &mut words).map_err(refused)?;
    load_parts(worker, warp, &from, (&partly, bytes), counter, &mut words).map_err(refused)?;
    let what = Other::Write(bytes, &words);
    let mask = observe::touch_at(worker, warp, Space::Shared, what, mask, &to, counter);
    let to_access = Access::new(mask, &to, bytes);
    let shared = &worker.block.shared;
    to_access
        .check(|address| shared.check(address, bytes))
        .map_err(|fault| Refused::new(AccessAction::Write, Space::Shared, bytes, fault))?;
    let counted = coalesce::Copy {
        from: Access::new(mask & reading, &from, bytes),
        to: Access::new(mask, &to, bytes),
        fills: lanes(mask).any(|lane| reading >> lane & 1 == 0 || read[lane] < bytes),
        at_l2_only: copy.at_l2_only,
    };
    let (sectors, wavefronts) = (counted.sectors(), counted.wavefronts());
    let counters = &mut worker.counters[counter as usize];
    if mask & reading != 0 {
        access::count_global(&mut counters.global, sectors);
    }
    access::count_shared(counters, wavefronts);
    let wish = if copy.at_l2_only { CacheWish::Past } else { CacheWish::None };
    modelled::touch(worker, warp, &copy.from, (AccessKind::Copy, bytes, wish), mask & reading, &from, counter);
    let number = observe::copy_begins(worker, || {
        let read = std::array::from_fn(|lane| if reading >> lane & 1 == 1 { read[lane] } else { 0 });
        check::Copy { place: counter, warp: warp.index, mask, settled: 0, to, bytes, words, from, read }
    });
    let copies = &mut worker.block.copies[warp.index as usize];
    copies.begin(&to_access, &words, number);
    let surplus = copies.surplus();
    complete(worker, warp.index, &surplus, Waits::ItsThread)
}

/// Reads the first bytes of what lanes copy, as many as `partly` says; the rest stays zero.
fn load_parts(
    worker: &mut Worker,
    warp: &mut Warp,
    from: &WideRow,
    (partly, bytes): (&Row, u32),
    counter: u32,
    words: &mut [Row; 4],
) -> Result<(), AccessFault> {
    let mut left = lanes(u32::MAX).filter(|&lane| partly[lane] > 0).fold(0u32, |mask, lane| mask | 1 << lane);
    let askew =
        lanes(left).filter(|&lane| !from[lane].is_multiple_of(bytes.into())).fold(0, |mask, lane| mask | 1 << lane);
    left &= !askew | observe::touch_at(worker, warp, Space::Global, Other::Read(bytes), askew, from, counter);
    if let Some(lane) = lanes(left & askew).next() {
        let kind = AccessFaultKind::Misaligned { width: bytes };
        return Err(AccessFault { lane: lane as u32, address: from[lane], kind });
    }
    let mut byte = [[0; 32]; 4];
    for index in 0..bytes {
        left = lanes(left).filter(|&lane| index < partly[lane]).fold(0, |mask, lane| mask | 1 << lane);
        if left == 0 {
            break;
        }
        let addresses = from.map(|address| address.wrapping_add(index.into()));
        left = observe::touch_at(worker, warp, Space::Global, Other::Read(1), left, &addresses, counter);
        worker.launched.memory.load_each(&Access::new(left, &addresses, 1), &mut byte)?;
        for lane in lanes(left) {
            words[index as usize / 4][lane] |= (byte[0][lane] & 0xff) << (8 * (index % 4));
        }
    }
    Ok(())
}

/// Who waits for copies to be complete.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// The thread that began them.
    ItsThread,
    /// A thread that tests the barrier that they arrive at.
    AtBarrier,
}

/// Completes what a warp has begun, and arrives at the barriers that wait for it.
fn complete(worker: &mut Worker, warp: u32, ends: &[usize; 32], waits: Waits) -> Attempt {
    if ends == &[0; 32] {
        return Ok(());
    }
    let completed = worker.block.copies[warp as usize].complete(ends, &worker.block.shared);
    // Where copies go was checked when they began.
    let completed = completed.map_err(|fault| Refused::new(AccessAction::Write, Space::Shared, 4, fault))?;
    if waits == Waits::ItsThread {
        observe::copies_settle(worker, &completed.copies);
    }
    observe::copies_end(worker, &completed.copies);
    for address in completed.arrivals {
        update(worker, address, 0, |barrier| barrier.arrive(1, false))?;
    }
    Ok(())
}

/// The addresses of barriers, which are in shared memory: the block's own, or, where `others` may be, of any in its cluster.
pub(crate) fn barrier_addresses(
    worker: &Worker,
    warp: &Warp,
    reach: &Reach,
    split: &Split,
    mask: u32,
    others: bool,
) -> Result<WideRow, Box<Refused>> {
    let rank = worker.block.rank;
    let mut addresses = access::addresses(warp, reach, split);
    for lane in lanes(mask) {
        let (space, address) = access::resolve(reach.space, addresses[lane], rank);
        if space != Space::Shared && !(others && space == Space::ClusterShared) {
            let kind = AccessFaultKind::OutOfBounds { nearest: None };
            let fault = AccessFault { lane: lane as u32, address: addresses[lane], kind };
            return Err(Refused::new(AccessAction::Atomic, Space::Shared, 8, fault));
        }
        addresses[lane] = address;
    }
    Ok(addresses)
}

/// Whether it may be a barrier of another block.
fn reaches_others(action: &MbarrierAction) -> bool {
    match action {
        MbarrierAction::Expect { .. } | MbarrierAction::Complete { .. } => true,
        MbarrierAction::Arrive { state, never_completes, .. } => state.is_none() && !never_completes,
        _ => false,
    }
}

/// Reads the bits at a barrier's address, and replaces them.
fn exchange(worker: &Worker, address: u64, lane: usize, change: impl Fn(u64) -> u64) -> Result<u64, Box<Refused>> {
    let shared = worker.shared_at(address);
    shared.and_then(|shared| shared.atomic64(address, change)).map_err(|kind| {
        let fault = AccessFault { lane: lane as u32, address, kind };
        Refused::new(AccessAction::Atomic, Space::Shared, 8, fault)
    })
}

fn invalid(address: u64, lane: usize, fault: MbarrierFault) -> Box<Refused> {
    Refused::because(TrapKind::InvalidMbarrier { address, fault }, lane as u32)
}

/// Changes a barrier. Returns its bits from before.
pub(crate) fn update(
    worker: &mut Worker,
    address: u64,
    lane: usize,
    change: impl FnOnce(&mut Mbarrier) -> Result<(), MbarrierFault>,
) -> Result<u64, Box<Refused>> {
    let before = exchange(worker, address, lane, |bits| bits)?;
    let mut barrier = Mbarrier::from_bits(before).map_err(|fault| invalid(address, lane, fault))?;
    change(&mut barrier).map_err(|fault| invalid(address, lane, fault))?;
    exchange(worker, address, lane, |_| barrier.to_bits())?;
    Ok(before)
}

/// What one lane does to a barrier.
fn change_barrier(worker: &mut Worker, warp: &mut Warp, action: &MbarrierAction, address: u64, lane: usize) -> Attempt {
    let value = |row: u32| warp.registers.word(row)[lane];
    if let MbarrierAction::Arrive { .. } | MbarrierAction::Invalidate = action {
        let bits = exchange(worker, address, lane, |bits| bits)?;
        // A phase that waits for bytes alone may be complete.
        if Mbarrier::from_bits(bits).is_ok_and(|barrier| barrier.pending == 0) {
            transit::arrive_at(worker, address, lane)?;
        }
    }
    match *action {
        MbarrierAction::Initialize { count } => {
            let barrier = Mbarrier::new(value(count)).map_err(|fault| invalid(address, lane, fault))?;
            exchange(worker, address, lane, |_| barrier.to_bits())?;
        }
        MbarrierAction::Invalidate => {
            update(worker, address, lane, |_| Ok(()))?;
            exchange(worker, address, lane, |_| 0)?;
        }
        MbarrierAction::Expect { bytes } => {
            let bytes = value(bytes);
            update(worker, address, lane, |barrier| barrier.expect(bytes.into()))?;
        }
        MbarrierAction::Complete { bytes } => {
            let bytes = value(bytes);
            update(worker, address, lane, |barrier| barrier.complete(bytes))?;
        }
        MbarrierAction::Arrive { state, count, expect, drops, never_completes } => {
            let (count, expect) = (value(count), expect.map(value));
            let before = update(worker, address, lane, |barrier| {
                if let Some(bytes) = expect {
                    barrier.expect(bytes.into())?;
                }
                let parity = barrier.parity;
                barrier.arrive(count, drops)?;
                if never_completes && barrier.parity != parity {
                    return Err(MbarrierFault::Completes);
                }
                Ok(())
            })?;
            if let Some(state) = state {
                warp.registers.set_wide(state, 1 << lane, &[before; 32]);
            }
        }
        MbarrierAction::TestState { .. } | MbarrierAction::TestParity { .. } => {}
    }
    Ok(())
}

/// `mbarrier.test_wait` and `try_wait` of some lanes: whether the phases are complete. If not, and unless it is the `last`
/// time to ask, the lanes wait. Returns whether they go on.
pub(crate) fn test<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    split: &Split,
    mask: u32,
    last: bool,
) -> Result<bool, Fault> {
    let code = worker.launched.code;
    let action = code.instructions.get(split.pc as usize).map(|instruction| &instruction.action);
    let Some(Action::Asynchronous(action)) = action else { return Ok(true) };
    let Asynchronous::Mbarrier { reach, action } = &**action else { return Ok(true) };
    warp.enter(split);
    let at = |refused: Box<Refused>| refused.at(split.pc);
    let addresses = barrier_addresses(worker, warp, reach, split, mask, false).map_err(at)?;
    let (mut complete, mut seen) = (0, None);
    for lane in lanes(mask) {
        let address = addresses[lane];
        let parity = match *action {
            MbarrierAction::TestState { state, .. } => parity_of(warp.registers.wide(state)[lane]),
            MbarrierAction::TestParity { parity, .. } => warp.registers.word(parity)[lane] & 1,
            _ => return Ok(true),
        };
        let is_complete = |worker: &Worker| {
            let bits = exchange(worker, address, lane, |bits| bits).map_err(at)?;
            let barrier = Mbarrier::from_bits(bits).map_err(|fault| invalid(address, lane, fault)).map_err(at)?;
            Ok(barrier.parity != parity)
        };
        // What the phase does not wait for need not have come yet.
        if !is_complete(worker)? && seen != Some(address) {
            arrive_after_copies(worker, address).map_err(at)?;
            transit::arrive_at(worker, address, lane).map_err(at)?;
            seen = Some(address);
        }
        complete |= u32::from(is_complete(worker)?) << lane;
    }
    if complete == mask {
        worker.fruitless_waits = 0;
    } else if !last {
        let rest = split.mask & !mask;
        let waits = if rest == 0 { *split } else { warp.part(*split, mask, &[(split.pc + 1, rest)], split.pc + 1) };
        warp.waiting.push((waits, Wait::Phase));
        return Ok(false);
    }
    // Who has seen that a phase is complete has seen what came before the arrivals.
    let counter = code.instructions[split.pc as usize].counter;
    observe::touch_at(worker, warp, Space::Shared, Other::Mbarrier, complete, &addresses, counter);
    if let MbarrierAction::TestState { d, .. } | MbarrierAction::TestParity { d, .. } = *action {
        warp.registers.set_predicate(d, mask, complete);
    }
    Ok(true)
}

/// The copies that a barrier waits for are complete by the time that anyone looks at it.
fn arrive_after_copies(worker: &mut Worker, address: u64) -> Attempt {
    for warp in 0..worker.block.copies.len() {
        let ends = worker.block.copies[warp].before_arrivals_at(address);
        complete(worker, warp as u32, &ends, Waits::AtBarrier)?;
    }
    Ok(())
}

/// What a split waits for, whose phase is never complete.
pub(crate) fn never_complete(worker: &Worker, warp: &Warp, split: &Split) -> TrapKind {
    let action = worker.launched.code.instructions.get(split.pc as usize).map(|instruction| &instruction.action);
    let lane = split.mask.trailing_zeros() as usize & 31;
    let address = match action {
        Some(Action::Asynchronous(action)) => match &**action {
            Asynchronous::Mbarrier { reach, .. } => {
                let addresses = barrier_addresses(worker, warp, reach, split, 1 << lane, false);
                addresses.map_or(0, |addresses| addresses[lane])
            }
            _ => 0,
        },
        _ => 0,
    };
    let barrier = exchange(worker, address, lane, |bits| bits).ok().and_then(|bits| Mbarrier::from_bits(bits).ok());
    let (arrivals, bytes) = barrier.map_or((0, 0), |barrier| (barrier.pending, barrier.bytes));
    TrapKind::PhaseNeverComplete { address, arrivals, bytes }
}
