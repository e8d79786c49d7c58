//! Dispatches asynchronous copies and `mbarrier` instructions to the files that execute them.

use crate::lanes::lanes;
use crate::machine::asynchronous::bulk::{rows, tensor, transit};
use crate::machine::asynchronous::phases;
use crate::machine::mbarrier::{barrier_addresses, update};
use crate::machine::state::{At, Fault, Refused, Warp, Worker};
use crate::machine::{access, copy, observe};
use crate::memory::Mbarrier;
use crate::program::{Asynchronous, Fence, MbarrierAccess, MbarrierAction};
use crate::timing::Meets;

/// Executes an instruction. Returns whether the split continues; otherwise it waits.
pub(crate) fn execute<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    action: &Asynchronous,
    at: At,
) -> Result<bool, Fault> {
    let At { split, mask, .. } = at;
    let fault = |refused: Box<Refused>| refused.at(split.pc);
    match action {
        Asynchronous::Copy(what) => copy::begin(worker, warp, what, at).map_err(fault)?,
        Asynchronous::Bulk(copy) => rows::begin(worker, warp, copy, at).map_err(fault)?,
        Asynchronous::RemoteStore(store) => rows::store(worker, warp, store, at).map_err(fault)?,
        Asynchronous::Tensor(copy) => tensor::begin(worker, warp, copy, at).map_err(fault)?,
        Asynchronous::ReplaceTensorField { reach, field, wide, value } => {
            let value = match wide {
                true => *warp.registers.wide(*value),
                false => warp.registers.word(*value).map(u64::from),
            };
            tensor::replace_field(worker, warp, reach, (*field, &value), at).map_err(fault)?;
        }
        Asynchronous::CopyTensorMap { to, from, scope } => {
            tensor::copy_map(worker, warp, (to, from), *scope, at).map_err(fault)?;
        }
        Asynchronous::AcquireTensorMap { map, scope } => {
            let addresses = access::addresses(warp, map, split);
            observe::acquire_maps(worker, warp, mask, (map.space, &addresses));
            observe::fence(worker, warp, mask, &Fence::of(*scope));
        }
        Asynchronous::CommitBulk => transit::commit(worker, warp, mask),
        Asynchronous::WaitBulk { groups_left, reads_only } => {
            transit::wait(worker, warp, mask, *groups_left, *reads_only).map_err(fault)?;
        }
        Asynchronous::Commit => worker.block.copies[warp.index as usize].commit(mask),
        Asynchronous::Wait { groups_left } => {
            let ends = worker.block.copies[warp.index as usize].awaited(mask, *groups_left);
            copy::complete(worker, warp.index, &ends, copy::Waits::ItsThread).map_err(fault)?;
        }
        Asynchronous::ArriveAfterCopies { reach, counted_before } => {
            let pending = worker.block.copies[warp.index as usize].pending(mask);
            observe::copies_settle(worker, &pending);
            let mask = observe::mbarrier(worker, warp, reach, MbarrierAccess::Arrival, at);
            let addresses = barrier_addresses(worker, warp, reach, split, mask, false).map_err(fault)?;
            for lane in lanes(mask) {
                observe::meets(worker, warp, at.place, addresses[lane], Meets::Joins);
                let change = |barrier: &mut Mbarrier| match counted_before {
                    true => Ok(()),
                    false => barrier.expect_arrival(),
                };
                update(worker, addresses[lane], lane, change).map_err(fault)?;
            }
            worker.block.copies[warp.index as usize].arrive_after(mask, &addresses);
        }
        Asynchronous::Mbarrier { reach, action } => {
            if matches!(action, MbarrierAction::TestState { .. } | MbarrierAction::TestParity { .. }) {
                return phases::test(worker, warp, split, mask, false);
            }
            let mask = observe::mbarrier(worker, warp, reach, phases::accesses(action), at);
            let addresses =
                barrier_addresses(worker, warp, reach, split, mask, phases::reaches_others(action)).map_err(fault)?;
            for lane in lanes(mask) {
                if let Some(how) = phases::meets(action) {
                    observe::meets(worker, warp, at.place, addresses[lane], how);
                }
                phases::change_barrier(worker, warp, action, addresses[lane], lane).map_err(fault)?;
            }
        }
    }
    Ok(true)
}
