//! Executes `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async` and `red.async`: copies by the copy
//! engine, and stores that arrive at an mbarrier. It checks and begins them; [`transit`] moves the
//! bytes.

use ptx::{Space, Type};

use crate::instruction::AccessKind;
use crate::lanes::{Registers, Update, lanes};
use crate::machine::access;
use crate::machine::asynchronous::bulk::reports::{
    Reported, begins, little_endian, report, report_pieces, run_of_shared, runs_of_global,
};
use crate::machine::asynchronous::bulk::transit;
use crate::machine::asynchronous::bulk::transit::{Delivery, check_pieces, send};
use crate::machine::mbarrier::barrier_addresses;
use crate::machine::observe;
use crate::machine::observe::Stored;
use crate::machine::state::asynchronous::{Arriving, Departing, UNIT};
use crate::machine::state::{At, AtLane, Attempt, Refused, Warp, Worker};
use crate::program::{BulkCopy, MbarrierAccess, MemoryOperation, RemoteStore};
use crate::sanitizer::Run;
use crate::tensor_map::{Piece, RowBytes, RowLayout};
use crate::timing::Meets;
use crate::trap::TrapKind;

/// The largest copy, in bytes.
const MOST_BYTES: u32 = (1 << 20) - 16;

/// Begins a copy for each lane.
pub(crate) fn begin<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, copy: &BulkCopy, at: At) -> Attempt {
    let At { split, mask, place } = at;
    let (from, to) = (access::addresses(warp, &copy.from, split), access::addresses(warp, &copy.to, split));
    let barriers = match &copy.barrier {
        Some(reach) => Some(barrier_addresses(worker, warp, reach, split, mask, true)?),
        None => None,
    };
    let (sizes, blocks) = (*warp.registers.word(copy.bytes), copy.blocks.map(|row| *warp.registers.word(row)));
    for lane in lanes(mask) {
        let (from, to, bytes) = (from[lane], to[lane], sizes[lane]);
        let reduction = copy.reduction.map(|(op, ty)| Update { op, ty, flush: ty == Type::F32 });
        if !bytes.is_multiple_of(UNIT as u32) || bytes > MOST_BYTES {
            return Err(Refused::because(TrapKind::BulkCopySize { bytes }, lane as u32));
        }
        // The copy's accesses are reported when it begins.
        let (layout, thread) = (RowLayout::LINEAR, AtLane { lane, place });
        let source = RowBytes { start: from, bytes, layout };
        if !report(worker, warp, copy.from.space, Reported::Reads, source, thread) {
            continue;
        }
        let data = transit::read(worker, copy.from.space, source, lane)?;
        if copy.from.space == Space::Global {
            let receivers = transit::receivers(blocks.map(|blocks| blocks[lane]));
            let pieces = [Piece { offset: 0, bytes, address: from }];
            observe::recorder::bulk(worker, warp, AccessKind::Copy, &pieces, thread);
            observe::bulk_begins(worker, warp, &pieces, place);
            observe::model::bulk(worker, AccessKind::Copy, &pieces, receivers);
        }
        if let Some(barriers) = barriers {
            observe::meets(worker, warp, place, barriers[lane], Meets::Joins);
            let what = Arriving { to, barrier: barriers[lane], bytes: data, layout, reduction, number: 0 };
            let reads = vec![Run { shared: copy.from.space != Space::Global, start: from, bytes: bytes.into() }];
            let blocks = blocks.map(|blocks| blocks[lane]);
            transit::deliver(worker, warp, Delivery { what, reads, blocks }, thread)?;
            continue;
        }
        let pieces = vec![Piece { offset: 0, bytes, address: to }];
        let writes = if reduction.is_some() { Reported::Combines } else { Reported::Writes(&data) };
        if report_pieces(worker, warp, writes, &pieces, thread) {
            check_pieces(worker, &pieces, lane)?;
            observe::recorder::bulk(worker, warp, AccessKind::of_bulk_store(reduction.is_some()), &pieces, thread);
            observe::bulk_begins(worker, warp, &pieces, place);
            let runs = (vec![run_of_shared(from, bytes)], runs_of_global(&pieces));
            let number = begins(worker, warp, runs, reduction, thread);
            let departing = Departing { from: source, pieces, reduction, number };
            worker.block.departures.begin(warp.index * 32 + lane as u32, departing);
        }
    }
    Ok(())
}

/// `st.async`, `red.async`.
pub(crate) fn store<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, store: &RemoteStore, at: At) -> Attempt {
    let At { split, mask, place } = at;
    let width = store.ty.bytes() * store.rows.len() as u32;
    let mut words = [[0; 32]; 4];
    let value = |registers: &Registers<'_>, row: u32, lane: usize| match store.ty.bits() {
        64 => registers.wide(row)[lane],
        _ => registers.word(row)[lane].into(),
    };
    let data = |registers: &Registers<'_>, lane: usize| -> Vec<u8> {
        let values = store.rows.iter().map(|&row| value(registers, row, lane));
        values.flat_map(|value| value.to_le_bytes().into_iter().take(store.ty.bytes() as usize)).collect()
    };
    for lane in lanes(mask) {
        for (row, word) in words.iter_mut().zip(data(&warp.registers, lane).chunks(4)) {
            row[lane] = little_endian(word) as u32;
        }
    }
    let what = match store.op {
        Some(_) => (&MemoryOperation::atomic(place, width), Stored::Unknown),
        None => (&MemoryOperation::new(place, AccessKind::Store, width), Stored::Words(&words)),
    };
    let mask = observe::sanitizer::by_operand(worker, warp, &store.to, what, at);
    let mask = observe::mbarrier(worker, warp, &store.barrier, MbarrierAccess::Arrival, at.with_mask(mask));
    // Both are in shared memory.
    let to = barrier_addresses(worker, warp, &store.to, split, mask, true)?;
    let barriers = barrier_addresses(worker, warp, &store.barrier, split, mask, true)?;
    for lane in lanes(mask) {
        let (bytes, layout) = (data(&warp.registers, lane), RowLayout::LINEAR);
        let reduction = store.op.map(|op| Update { op, ty: store.ty, flush: false });
        let writes = vec![run_of_shared(to[lane], width)];
        let number = begins(worker, warp, (Vec::new(), writes), reduction, AtLane { lane, place });
        send(worker, Arriving { to: to[lane], barrier: barriers[lane], bytes, layout, reduction, number }, lane)?;
    }
    Ok(())
}
