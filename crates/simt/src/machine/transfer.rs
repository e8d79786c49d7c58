//! What loads and stores of a warp have in common: how they are shown to observers, counted, and
//! made. What differs is in [`load`](super::load) and [`store`](super::store).

use ptx::Space;
use pulp::{Simd, WithSimd};

use crate::address::{Access, AccessFault};
use crate::lanes::{Registers, Row, WideRow};
use crate::machine::access::{Shaped, addresses, by_space, follow_shape};
use crate::machine::observe;
use crate::machine::observe::{Observed, Stored, counters, sanitizer};
use crate::machine::state::{At, Attempt, Refused, RunningBlock, Split, Warp, Worker};
use crate::memory::Memory;
use crate::model::BankRule;
use crate::program::{AddressOperand, Code, MemoryOperation, Requests};
use crate::site::AccessAction;

/// A load or a store. Words of 4 bytes go directly between memory and their register, others by way
/// of rows.
pub(super) trait Transfer {
    const ACTION: AccessAction;

    /// What it does, and where; and the registers of what it stores.
    fn operands(&self) -> (&MemoryOperation, &AddressOperand, Stored<'_>);
    /// Whether it moves one word of 4 bytes.
    fn is_word(&self) -> bool;
    /// Fills the rows before it.
    fn begin(&self, registers: &Registers<'_>, rows: &mut [Row; 4]);
    /// Empties the rows after it.
    fn end(&self, registers: &mut Registers<'_>, rows: &[Row; 4], mask: u32);
    /// The sanitizer refuses some lanes, if any, and may have noted what the others do.
    fn refused(&self, code: &Code, warp: &mut Warp, split: &Split, lanes: u32);
    /// Makes it if all lanes access one allocation of device memory, or shared memory. Returns
    /// whether they do.
    fn at_once(
        &self,
        memory: &Memory,
        block: &RunningBlock,
        found: Shaped,
        registers: &mut Registers<'_>,
        rows: &mut [Row; 4],
    ) -> bool;
    /// Makes it in one state space, lane by lane.
    fn by_lane(worker: &mut Worker, warp: &mut Warp, space: Space, access: &Access) -> Result<(), AccessFault>;
}

/// Executes a load or a store.
pub(super) fn transfer<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, what: &impl Transfer, at: At) -> Attempt {
    let arch = warp.registers.arch();
    match worker.observed {
        false => arch.dispatch(Work::<_, false> { worker, warp, what, at }),
        true => arch.dispatch(Work::<_, true> { worker, warp, what, at }),
    }
}

/// A load or a store, and the worker and warp that make it. `OBSERVED`: it may have observers other
/// than the counters.
struct Work<'w, 'l, T, const OBSERVED: bool> {
    worker: &'w mut Worker<'l>,
    warp: &'w mut Warp<'l>,
    what: &'w T,
    at: At<'w>,
}

impl<T: Transfer, const OBSERVED: bool> WithSimd for Work<'_, '_, T, OBSERVED> {
    type Output = Attempt;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { worker, warp, what, mut at } = self;
        let (operation, reach, stored) = what.operands();
        let memory = worker.launched.memory;
        let size = (operation.width, worker.block.rank);
        let is_word = what.is_word();
        if !is_word {
            what.begin(&warp.registers, &mut worker.rows);
        }
        let shows_requests = OBSERVED && observe::shows_requests(worker, warp, reach.space);
        let mut found = None;
        if !shows_requests {
            found = follow_shape(&mut worker.shapes, &warp.registers, reach, at.mask, size);
        }
        let (block, checker) = (&worker.block, &mut worker.checker);
        if OBSERVED
            && (shows_requests || !sanitizer::fast(checker, block, memory, warp, (operation, stored), &mut found))
        {
            let addresses = addresses(warp, reach, at.split);
            let slot = shows_requests.then_some(reach.slot);
            let access = Observed { operation, space: reach.space, addresses: &addresses, slot, stored };
            let possible = observe::uncounted(worker, warp, &access, at);
            what.refused(worker.launched.code, warp, at.split, at.mask & !possible);
            at.mask = possible;
            if possible == 0 {
                return Ok(());
            }
            found = follow_shape(&mut worker.shapes, &warp.registers, reach, at.mask, size);
        }
        let banks = if OBSERVED { counters::banks(&worker.modelled) } else { BankRule::Words };
        match (&operation.requests, &mut found) {
            (Requests::Own, Some(found)) => {
                counters::shape(&mut worker.counters[at.place as usize], banks, operation.kind, found);
            }
            (Requests::Others(others), _) if others.is_empty() => {}
            _ => {
                counters::requests(worker, warp, operation, reach, at);
                found = follow_shape(&mut worker.shapes, &warp.registers, reach, at.mask, size);
            }
        }
        // No closure here: it would be compiled separately, without the host's instruction set.
        let done = match found {
            None => false,
            Some(found) => what.at_once(memory, &worker.block, found, &mut warp.registers, &mut worker.rows),
        };
        if done && is_word {
            return Ok(());
        }
        if !done {
            if is_word {
                what.begin(&warp.registers, &mut worker.rows);
            }
            let addresses = addresses(warp, reach, at.split);
            by_lane::<T>(worker, warp, reach.space, at.mask, &addresses, operation.width)?;
        }
        what.end(&mut warp.registers, &worker.rows, at.mask);
        Ok(())
    }
}

/// Makes a load or a store lane by lane, by way of the worker's rows.
#[cold]
pub(super) fn by_lane<T: Transfer>(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    width: u32,
) -> Attempt {
    by_space(space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
        let done = T::by_lane(worker, warp, space, &Access::new(mask, addresses, width));
        done.map_err(|fault| Refused::new(T::ACTION, space, width, fault))
    })
}
