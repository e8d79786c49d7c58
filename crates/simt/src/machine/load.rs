//! Loads of a warp (`ld`).

use ptx::Space;
use pulp::{Simd, WithSimd};

use crate::address::{Access, AccessFault};
use crate::counters::InstructionCounters;
use crate::lanes::{Registers, Row, WideRow, lanes};
use crate::machine::access::{Shaped, Work, addresses, by_space, count, count_shape, follow_shape, of_other};
use crate::machine::state::{At, Attempt, Refused, ReportsTo, RunningBlock, Warp, Worker};
use crate::machine::{access, counted, inspect, modelled, observe, watch};
use crate::memory::Memory;
use crate::program::Load;
use crate::sanitizer::{Intent, Path, Stored};
use crate::site::AccessAction;

/// `ld`.
pub(super) fn load<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, load: &Load, at: At) -> Attempt {
    let arch = warp.registers.arch();
    match worker.reports_to {
        ReportsTo::Nobody => arch.dispatch(Work::<_, false> { worker, warp, what: load, at }),
        ReportsTo::Sanitizer => arch.dispatch(Work::<_, true> { worker, warp, what: load, at }),
        ReportsTo::Recorder => {
            let own = counted::own(&load.reach, load.element * load.count);
            let what = (counted::requests(load.counted.as_deref(), &own), load.hint);
            watch::around(worker, warp, what, at, |worker, warp| {
                arch.dispatch(Work::<_, true> { worker, warp, what: load, at })
            })
        }
    }
}

impl<const CHECKED: bool> WithSimd for Work<'_, '_, Load, CHECKED> {
    type Output = Attempt;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { worker, warp, what: load, at } = self;
        let At { split, mut mask, counter } = at;
        let width = load.element * load.count;
        // Words go directly to their register.
        let is_word = load.element == 4 && load.count == 1 && !load.wide;
        let mut found = follow_shape(&mut worker.shapes, &warp.registers, &load.reach, mask, width);
        if CHECKED {
            let intent = intent(load, counter);
            let memory = worker.launched.memory;
            if !observe::report_fast(&mut worker.checker, &worker.block, memory, warp, &intent, &mut found) {
                let possible = observe::report_per_lane(worker, warp, &load.reach, split, mask, &intent);
                if warp.unwritten.has_loaded() {
                    inspect::loaded(worker.launched.code, warp, split, (counter, width));
                }
                if possible != mask {
                    give_zeros(warp, load, mask & !possible);
                }
                mask = possible;
                worker.possible = mask;
                if mask == 0 {
                    return Ok(());
                }
                found = follow_shape(&mut worker.shapes, &warp.registers, &load.reach, mask, width);
            }
        }
        modelled::load(&mut worker.modelled, &worker.block, warp, load, at.with_mask(mask));
        let is_own = load.counted.is_none();
        if let Some(requests @ [_, ..]) = load.counted.as_deref() {
            counted::count_as(worker, warp, requests, AccessAction::Read, at.with_mask(mask));
            found = follow_shape(&mut worker.shapes, &warp.registers, &load.reach, mask, width);
        }
        // No closure here: it would be compiled separately, without the host's instruction set.
        let done = match found {
            None => false,
            Some(found) => {
                let rows = match is_word {
                    true => std::slice::from_mut(warp.registers.word_mut(load.rows[0])),
                    false => &mut worker.rows,
                };
                let counters = &mut worker.counters[counter as usize];
                load_fast(worker.launched.memory, &worker.block, counters, found, rows, is_own)
            }
        };
        if done && is_word {
            return Ok(());
        }
        if !done {
            let addresses = addresses(warp, &load.reach, split);
            let counter = is_own.then_some(counter);
            load_per_lane(worker, warp, load.reach.space, mask, &addresses, width, counter)?;
        }
        let registers = &mut warp.registers;
        let rows = &worker.rows;
        for element in 0..load.count as usize & 7 {
            let d = load.rows[element & 3];
            match load.element {
                4 if !load.wide => registers.set_word(d, mask, &rows[element & 3]),
                8 => {
                    let (low, high) = (&rows[(2 * element) & 3], &rows[(2 * element + 1) & 3]);
                    let mut values: WideRow = [0; 32];
                    for lane in 0..32 {
                        values[lane] = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    }
                    registers.set_wide(d, mask, &values);
                }
                _ => extract(registers, load, rows, element, mask),
            }
        }
        Ok(())
    }
}

/// What is reported to the sanitizer about a load.
#[inline(always)]
fn intent(load: &Load, place: u32) -> Intent<'_> {
    let &Load { element, count, ref order, copied, .. } = load;
    let (action, width) = (AccessAction::Read, element * count);
    let (path, stored) = (Path::Generic, Stored::Unknown);
    Intent { action, width, element, place, order, copied, overwrites: false, path, stored }
}

/// Writes zeros for lanes whose load was refused.
#[cold]
fn give_zeros(warp: &mut Warp, load: &Load, refused: u32) {
    for &d in &load.rows[..load.count as usize & 7] {
        match load.wide {
            true => warp.registers.set_wide(d, refused, &[0; 32]),
            false => warp.registers.set_word(d, refused, &[0; 32]),
        }
    }
}

/// Extracts a narrow element from the loaded words, and extends it.
fn extract(registers: &mut Registers<'_>, load: &Load, rows: &[Row; 4], element: usize, mask: u32) {
    let bits = load.element * 8;
    let at = element as u32 * bits;
    let (row, shift) = (&rows[(at / 32) as usize & 3], at % 32);
    let mut values: WideRow = [0; 32];
    for lane in 0..32 {
        let moved = u64::from(row[lane] >> shift) << (64 - bits);
        values[lane] = if load.signed { (moved as i64 >> (64 - bits)) as u64 } else { moved >> (64 - bits) };
    }
    let d = load.rows[element & 3];
    if load.wide {
        registers.set_wide(d, mask, &values);
    } else {
        registers.set_word(d, mask, &values.map(|value| value as u32));
    }
}

/// The fast path: all lanes access one allocation of global or constant memory, or shared memory.
/// Returns whether the load was done.
#[inline(always)]
fn load_fast(
    memory: &Memory,
    block: &RunningBlock,
    counters: &mut InstructionCounters,
    found: Shaped,
    rows: &mut [Row],
    is_own: bool,
) -> bool {
    let done = match found.space {
        Space::Shared => block.shared.load(found.shape, found.lowest, rows),
        _ => memory.load(found.shape, found.lowest, rows),
    };
    if done && is_own {
        count_shape(counters, AccessAction::Read, found);
    }
    done
}

/// Any other load. `counter` counts it, unless others do.
#[cold]
pub(super) fn load_per_lane(
    worker: &mut Worker,
    warp: &Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    width: u32,
    counter: Option<u32>,
) -> Attempt {
    by_space(space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        let mut rows = worker.rows;
        let result = match space {
            Space::Local => warp.local.load(&access, &mut rows),
            Space::Parameter => load_parameter(&worker.launched.parameters, &access, &mut rows),
            Space::Shared => worker.block.shared.load_each(&access, &mut rows),
            Space::ClusterShared => of_other(worker, &access, AccessAction::Read)?.load_each(&access, &mut rows),
            _ => worker.launched.memory.load_each(&access, &mut rows),
        };
        worker.rows = rows;
        result.map_err(|fault| Refused::new(AccessAction::Read, space, width, fault))?;
        if let Some(counter) = counter {
            count(&mut worker.counters[counter as usize], warp, space, AccessAction::Read, &access);
        }
        Ok(())
    })
}

/// Reads the kernel's parameters at computed addresses.
pub(super) fn load_parameter(parameters: &[u8], access: &Access, rows: &mut [Row; 4]) -> Result<(), AccessFault> {
    for lane in lanes(access.mask) {
        let address = access.addresses[lane];
        if let Some(kind) = access::check_parameter(address, access.width, parameters.len() as u64) {
            return Err(AccessFault { lane: lane as u32, address, kind });
        }
        let bytes = &parameters[address as usize..][..access.width as usize];
        for (row, word) in rows.iter_mut().zip(bytes.chunks(4)) {
            row[lane] = word.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
    }
    Ok(())
}
