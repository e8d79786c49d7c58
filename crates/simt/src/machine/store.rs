//! Stores of a warp (`st`).

use ptx::Space;
use pulp::{Simd, WithSimd};

use crate::address::{Access, AccessFault, AccessFaultKind};
use crate::counters::InstructionCounters;
use crate::lanes::{Registers, Row, WideRow};
use crate::machine::access::{Shaped, Work, addresses, by_space, count, count_shape, follow_shape, of_other};
use crate::machine::state::{At, Attempt, Refused, ReportsTo, RunningBlock, Warp, Worker};
use crate::machine::{counted, modelled, observe, watch};
use crate::memory::Memory;
use crate::model::CacheHint;
use crate::program::{Copied, Store};
use crate::sanitizer::{Intent, Path, Stored};
use crate::site::AccessAction;

/// `st`.
pub(super) fn store<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, store: &Store, at: At) -> Attempt {
    let arch = warp.registers.arch();
    match worker.reports_to {
        ReportsTo::Nobody => arch.dispatch(Work::<_, false> { worker, warp, what: store, at }),
        ReportsTo::Sanitizer => arch.dispatch(Work::<_, true> { worker, warp, what: store, at }),
        ReportsTo::Recorder => {
            let own = counted::own(&store.reach, store.element * store.count);
            let what = (counted::requests(store.counted.as_deref(), &own), CacheHint::None);
            watch::around(worker, warp, what, at, |worker, warp| {
                arch.dispatch(Work::<_, true> { worker, warp, what: store, at })
            })
        }
    }
}

impl<const CHECKED: bool> WithSimd for Work<'_, '_, Store, CHECKED> {
    type Output = Attempt;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { worker, warp, what: store, at } = self;
        let At { split, mut mask, counter } = at;
        let width = store.element * store.count;
        // Words come directly from their register.
        let is_word = store.element == 4 && store.count == 1;
        if !is_word {
            collect(&warp.registers, store, &mut worker.rows);
        }
        let mut found = follow_shape(&mut worker.shapes, &warp.registers, &store.reach, mask, width);
        if CHECKED {
            let intent = intent(store, counter);
            let memory = worker.launched.memory;
            if !observe::report_fast(&mut worker.checker, &worker.block, memory, warp, &intent, &mut found) {
                mask = observe::report_per_lane(worker, warp, &store.reach, split, mask, &intent);
                worker.possible = mask;
                if mask == 0 {
                    return Ok(());
                }
                found = follow_shape(&mut worker.shapes, &warp.registers, &store.reach, mask, width);
            }
        }
        modelled::store(&mut worker.modelled, &worker.block, warp, store, at.with_mask(mask));
        let is_own = store.counted.is_none();
        if let Some(requests @ [_, ..]) = store.counted.as_deref() {
            counted::count_as(worker, warp, requests, AccessAction::Write, at.with_mask(mask));
            found = follow_shape(&mut worker.shapes, &warp.registers, &store.reach, mask, width);
        }
        let done = match found {
            None => false,
            Some(found) => {
                let rows = match is_word {
                    true => std::slice::from_ref(warp.registers.word(store.rows[0])),
                    false => &worker.rows,
                };
                let counters = &mut worker.counters[counter as usize];
                store_fast(worker.launched.memory, &worker.block, counters, found, rows, is_own)
            }
        };
        if done {
            return Ok(());
        }
        if is_word {
            collect(&warp.registers, store, &mut worker.rows);
        }
        let addresses = addresses(warp, &store.reach, split);
        let counter = is_own.then_some(counter);
        store_per_lane(worker, warp, store.reach.space, mask, &addresses, width, counter)
    }
}

/// What is reported to the sanitizer about a store.
#[inline(always)]
fn intent(store: &Store, place: u32) -> Intent<'_> {
    let &Store { element, count, ref order, .. } = store;
    let (action, width) = (AccessAction::Write, element * count);
    let (path, stored) = (Path::Generic, Stored::Registers(&store.rows[..count as usize & 7]));
    Intent { action, width, element, place, order, copied: Copied::default(), overwrites: true, path, stored }
}

/// Collects the stored values in rows of words.
#[inline(always)]
pub(super) fn collect(registers: &Registers<'_>, store: &Store, rows: &mut [Row; 4]) {
    for element in 0..store.count as usize & 7 {
        let source = store.rows[element & 3];
        match store.element {
            8 => {
                let values = registers.wide(source);
                for lane in 0..32 {
                    rows[(2 * element) & 3][lane] = values[lane] as u32;
                    rows[(2 * element + 1) & 3][lane] = (values[lane] >> 32) as u32;
                }
            }
            4 => rows[element & 3] = *registers.word(source),
            _ => insert(registers, store, rows, element),
        }
    }
}

/// Inserts a narrow element into the stored words.
fn insert(registers: &Registers<'_>, store: &Store, rows: &mut [Row; 4], element: usize) {
    let bits = store.element * 8;
    let at = element as u32 * bits;
    let values = registers.word(store.rows[element & 3]);
    let row = &mut rows[(at / 32) as usize & 3];
    let ones = u32::MAX >> (32 - bits) << (at % 32);
    for lane in 0..32 {
        row[lane] = row[lane] & !ones | values[lane] << (at % 32) & ones;
    }
}

/// The fast path: all lanes access one allocation of global memory, or shared memory. Returns
/// whether the store was done.
#[inline(always)]
fn store_fast(
    memory: &Memory,
    block: &RunningBlock,
    counters: &mut InstructionCounters,
    found: Shaped,
    rows: &[Row],
    is_own: bool,
) -> bool {
    let done = match found.space {
        Space::Shared => block.shared.store(found.shape, found.lowest, rows),
        _ => memory.store(found.shape, found.lowest, rows),
    };
    if done && is_own {
        count_shape(counters, AccessAction::Write, found);
    }
    done
}

/// Any other store. `counter` counts it, unless others do.
#[cold]
pub(super) fn store_per_lane(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    width: u32,
    counter: Option<u32>,
) -> Attempt {
    by_space(space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        let rows = &worker.rows;
        let result = match space {
            Space::Local => warp.local.store(&access, rows),
            Space::Parameter => Err(read_only_parameters(&access, worker.launched.parameters.len())),
            Space::Shared => worker.block.shared.store_each(&access, rows),
            Space::ClusterShared => of_other(worker, &access, AccessAction::Write)?.store_each(&access, rows),
            _ => worker.launched.memory.store_each(&access, rows),
        };
        result.map_err(|fault| Refused::new(AccessAction::Write, space, width, fault))?;
        if let Some(counter) = counter {
            count(&mut worker.counters[counter as usize], warp, space, AccessAction::Write, &access);
        }
        Ok(())
    })
}

fn read_only_parameters(access: &Access, bytes: usize) -> AccessFault {
    let lane = access.mask.trailing_zeros() & 31;
    let allocation = crate::address::AllocationSpan { address: 0, bytes: bytes as u64 };
    AccessFault { lane, address: access.addresses[lane as usize], kind: AccessFaultKind::ReadOnly { allocation } }
}
