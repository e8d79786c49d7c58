//! Executes `cp.async`: copies that each lane begins, and waits for later.

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind};
use crate::coalesce;
use crate::instruction::AccessKind;
use crate::lanes::{Row, WideRow, lanes, mask_where};
use crate::machine::access;
use crate::machine::mbarrier::update;
use crate::machine::observe;
use crate::machine::observe::{Observed, counters, sanitizer};
use crate::machine::state::{At, Attempt, Refused, Warp, Worker};
use crate::model::CacheHint;
use crate::program::{AsyncCopy, MemoryOperation};
use crate::sanitizer::TrackedCopy;
use crate::site::AccessAction;

/// `cp.async`.
pub(crate) fn begin<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, copy: &AsyncCopy, at: At) -> Attempt {
    let At { split, mask, place } = at;
    let bytes = copy.bytes;
    let from = access::addresses(warp, &copy.from, split);
    let to = access::addresses(warp, &copy.to, split);
    let ignored = warp.registers.predicate(copy.ignore_source);
    let read = warp.registers.word(copy.source_bytes).map(|read| read.min(bytes));
    let reading = mask_where(mask & !ignored, |lane| read[lane] > 0);
    let whole = mask_where(reading, |lane| read[lane] == bytes);
    let partly = lanes(reading & !whole).fold([0; 32], |mut partly, lane| {
        partly[lane] = read[lane];
        partly
    });
    let refused = |fault| Refused::new(AccessAction::Read, Space::Global, bytes, fault);
    let mut words: [Row; 4] = [[0; 32]; 4];
    let reads = MemoryOperation::new(place, AccessKind::Load, bytes);
    let whole = sanitizer::access(worker, warp, &Observed::new(&reads, Space::Global, &from), whole);
    worker.launched.memory.load_each(&Access::new(whole, &from, bytes), &mut words).map_err(refused)?;
    load_parts(worker, warp, &from, &partly, &reads, &mut words).map_err(refused)?;
    let writes = MemoryOperation::new(place, AccessKind::Store, bytes);
    let access = Observed::new(&writes, Space::Shared, &to).storing(&words);
    let mask = sanitizer::access(worker, warp, &access, mask);
    let to_access = Access::new(mask, &to, bytes);
    let shared = &worker.block.shared;
    to_access
        .check(|address| shared.check(address, bytes))
        .map_err(|fault| Refused::new(AccessAction::Write, Space::Shared, bytes, fault))?;
    let counted = coalesce::CopyAccesses {
        from: Access::new(mask & reading, &from, bytes),
        to: Access::new(mask, &to, bytes),
        fills: lanes(mask).any(|lane| reading >> lane & 1 == 0 || read[lane] < bytes),
        at_l2_only: copy.at_l2_only,
    };
    let (sectors, wavefronts) = (counted.sectors(), counted.wavefronts());
    let counters = &mut worker.counters[place as usize];
    if mask & reading != 0 {
        counters::count_sectors(&mut counters.global, sectors);
    }
    counters::count_shared(counters, wavefronts);
    observe::recorder::copy(worker, warp, &counted, place);
    if counted.from.mask != 0 {
        let hint = if copy.at_l2_only { CacheHint::Bypass } else { CacheHint::None };
        let operation = MemoryOperation { kind: AccessKind::Copy, hint, ..reads.clone() };
        observe::model::request(worker, warp, &operation, Space::Global, &counted.from);
    }
    let number = observe::copy_begins(worker, || {
        let read = std::array::from_fn(|lane| if reading >> lane & 1 == 1 { read[lane] } else { 0 });
        let (block, warp) = (0, warp.index);
        TrackedCopy { place, block, warp, mask, settled: 0, to, bytes, words, from, read }
    });
    let copies = &mut worker.block.copies[warp.index as usize];
    copies.begin(&to_access, &words, number);
    let surplus = copies.surplus();
    complete(worker, warp.index, &surplus, Waits::ItsThread)
}

/// Reads the first bytes of each lane's copy, as many as `partly` says; the rest is zero.
fn load_parts(
    worker: &mut Worker,
    warp: &mut Warp,
    from: &WideRow,
    partly: &Row,
    reads: &MemoryOperation,
    words: &mut [Row; 4],
) -> Result<(), AccessFault> {
    let bytes = reads.width;
    let mut left = mask_where(u32::MAX, |lane| partly[lane] > 0);
    let askew = mask_where(left, |lane| !from[lane].is_multiple_of(bytes.into()));
    left &= !askew | sanitizer::access(worker, warp, &Observed::new(reads, Space::Global, from), askew);
    if let Some(lane) = lanes(left & askew).next() {
        let kind = AccessFaultKind::Misaligned { width: bytes };
        return Err(AccessFault { lane: lane as u32, address: from[lane], kind });
    }
    let (reads, mut byte) = (MemoryOperation::new(reads.place, AccessKind::Load, 1), [[0; 32]; 4]);
    for index in 0..bytes {
        left = mask_where(left, |lane| index < partly[lane]);
        if left == 0 {
            break;
        }
        let addresses = from.map(|address| address.wrapping_add(index.into()));
        left = sanitizer::access(worker, warp, &Observed::new(&reads, Space::Global, &addresses), left);
        worker.launched.memory.load_each(&Access::new(left, &addresses, 1), &mut byte)?;
        for lane in lanes(left) {
            words[index as usize / 4][lane] |= (byte[0][lane] & 0xff) << (8 * (index % 4));
        }
    }
    Ok(())
}

/// Who waits for copies to be complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The thread that began them.
    ItsThread,
    /// A thread that tests the mbarrier that they arrive at.
    AtBarrier,
}

/// Completes copies of a warp, and arrives at the mbarriers that wait for them.
pub(crate) fn complete(worker: &mut Worker, warp: u32, ends: &[usize; 32], waits: Waits) -> Attempt {
    if ends == &[0; 32] {
        return Ok(());
    }
    let block = &mut *worker.block;
    let completed = block.copies[warp as usize].complete(ends, &block.shared);
    // Destinations were checked when the copies began.
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
