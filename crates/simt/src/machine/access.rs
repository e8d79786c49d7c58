//! Loads, stores and atomic operations of a warp.

use ptx::Space;
use pulp::{Simd, WithSimd};

use super::block::{Fault, Worker};
use super::local::lanes;
use super::warp::{Split, Warp};
use super::{PARAMETER_WINDOW, atomic, space_of};
use crate::coalesce::{self, Wavefronts};
use crate::counters::{InstructionCounters, MemoryCounters};
use crate::lanes::{Registers, Row, WideRow};
use crate::memory::{Access, AccessFault, AccessFaultKind, LOCAL_WINDOW, SHARED_WINDOW};
use crate::program::{Atomic, Load, Reach, Store};
use crate::trap::{AccessAction, TrapKind};

/// A fault of an access, before it is known of which instruction.
pub(super) struct Refused(TrapKind, u32);

impl Refused {
    pub fn new(action: AccessAction, space: Space, width: u32, fault: AccessFault) -> Box<Self> {
        let AccessFault { lane, address, kind } = fault;
        Self::because(TrapKind::Access { action, space, address, width, fault: kind }, lane)
    }

    /// A fault of a lane.
    pub fn because(kind: TrapKind, lane: u32) -> Box<Self> {
        Box::new(Self(kind, lane))
    }

    pub fn at(self, pc: u32) -> Fault {
        Fault { kind: self.0, lane: self.1, pc }
    }
}

/// Boxed, since it is rare.
type Attempt = Result<(), Box<Refused>>;

/// The address of each lane.
#[inline(always)]
pub(super) fn addresses(warp: &Warp, reach: &Reach, split: &Split) -> WideRow {
    let mut addresses: WideRow = [0; 32];
    if reach.wide {
        let offset = if reach.frame { reach.offset.wrapping_add(warp.frame(split).local) } else { reach.offset };
        let from = warp.registers.wide(reach.address);
        for lane in 0..32 {
            addresses[lane] = from[lane].wrapping_add(offset);
        }
    } else {
        let offset = reach.offset as u32;
        let from = warp.registers.word(reach.address);
        for lane in 0..32 {
            addresses[lane] = u64::from(from[lane].wrapping_add(offset));
        }
    }
    addresses
}

/// Does `each` for the lanes of each state space that generic addresses are in: space, lanes, addresses in it.
fn by_space(mask: u32, addresses: &WideRow, each: &mut dyn FnMut(Space, u32, &WideRow) -> Attempt) -> Attempt {
    let mut rest = mask;
    while rest != 0 {
        let space = space_of(addresses[rest.trailing_zeros() as usize & 31]);
        let mut here = 0;
        for (lane, &address) in addresses.iter().enumerate() {
            here |= u32::from(space_of(address) == space) << lane;
        }
        let window = match space {
            Space::Shared => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            Space::Parameter => PARAMETER_WINDOW,
            _ => 0,
        };
        each(space, here & rest, &addresses.map(|address| address.wrapping_sub(window)))?;
        rest &= !here;
    }
    Ok(())
}

#[inline(always)]
fn count_global(counters: &mut MemoryCounters, access: &Access) {
    let found = coalesce::sectors(access);
    counters.requests += 1;
    counters.sectors += u64::from(found.sectors);
    counters.bytes += u64::from(found.bytes);
}

#[inline(always)]
fn count_shared(counters: &mut InstructionCounters, found: Wavefronts) {
    counters.shared.requests += 1;
    counters.shared.wavefronts += u64::from(found.wavefronts);
    counters.shared.bank_conflicts += u64::from(found.conflicts);
}

#[inline(always)]
fn count_local(counters: &mut InstructionCounters, warp: &Warp, access: &Access) {
    let found = warp.local.sectors(access);
    counters.local.requests += 1;
    counters.local.sectors += u64::from(found.sectors);
    counters.local.bytes += u64::from(found.bytes);
}

/// An access and those that make it.
struct Work<'w, 'l, T> {
    worker: &'w mut Worker<'l>,
    warp: &'w mut Warp<'l>,
    what: &'w T,
    split: &'w Split,
    mask: u32,
    counter: u32,
}

/// `ld`.
pub(super) fn load<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    load: &Load,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    warp.registers.arch().dispatch(Work { worker, warp, what: load, split, mask, counter })
}

impl WithSimd for Work<'_, '_, Load> {
    type Output = Attempt;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { worker, warp, what: load, split, mask, counter } = self;
        let width = load.element * load.count;
        let addresses = addresses(warp, &load.reach, split);
        match load.reach.space {
            Space::Global => load_global(worker, mask, &addresses, width, counter)?,
            Space::Shared => load_shared(worker, mask, &addresses, width, counter)?,
            Space::Generic => by_space(mask, &addresses, &mut |space, mask, addresses| match space {
                Space::Global => load_global(worker, mask, addresses, width, counter),
                Space::Shared => load_shared(worker, mask, addresses, width, counter),
                space => load_elsewhere(worker, warp, space, &Access::new(mask, addresses, width), counter),
            })?,
            space => load_elsewhere(worker, warp, space, &Access::new(mask, &addresses, width), counter)?,
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

/// Takes a narrow element out of the words that were loaded, and extends it.
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

#[inline(always)]
fn load_global(worker: &mut Worker, mask: u32, addresses: &WideRow, width: u32, counter: u32) -> Attempt {
    let access = Access::new(mask, addresses, width);
    let refused = |fault| Refused::new(AccessAction::Read, Space::Global, width, fault);
    worker.launched.memory.load(&access, &mut worker.rows).map_err(refused)?;
    count_global(&mut worker.counters[counter as usize].global, &access);
    Ok(())
}

#[inline(always)]
fn load_shared(worker: &mut Worker, mask: u32, addresses: &WideRow, width: u32, counter: u32) -> Attempt {
    let access = Access::new(mask, addresses, width);
    let refused = |fault| Refused::new(AccessAction::Read, Space::Shared, width, fault);
    worker.shared.load(&access, &mut worker.rows).map_err(refused)?;
    count_shared(&mut worker.counters[counter as usize], coalesce::load_wavefronts(&access));
    Ok(())
}

/// Loads from local, constant or parameter memory.
fn load_elsewhere(worker: &mut Worker, warp: &Warp, space: Space, access: &Access, counter: u32) -> Attempt {
    let rows = &mut worker.rows;
    let result = match space {
        Space::Local => warp.local.load(access, rows),
        Space::Parameter => load_parameter(&worker.launched.parameters, access, rows),
        _ => worker.launched.memory.load(access, rows),
    };
    result.map_err(|fault| Refused::new(AccessAction::Read, space, access.width, fault))?;
    if space == Space::Local {
        count_local(&mut worker.counters[counter as usize], warp, access);
    }
    Ok(())
}

/// Why `width` bytes at an address of the kernel's parameters, of which there are `bytes` bytes, cannot be read.
pub(super) fn check_parameter(address: u64, width: u32, bytes: u64) -> Option<AccessFaultKind> {
    if !address.is_multiple_of(u64::from(width)) {
        return Some(AccessFaultKind::Misaligned { width });
    }
    let inside = address.checked_add(u64::from(width)).is_some_and(|end| end <= bytes);
    (!inside).then_some(AccessFaultKind::OutOfBounds { nearest: None })
}

/// Reads the kernel's parameters at addresses that are not known beforehand.
pub(super) fn load_parameter(parameters: &[u8], access: &Access, rows: &mut [Row; 4]) -> Result<(), AccessFault> {
    for lane in lanes(access.mask) {
        let address = access.addresses[lane];
        if let Some(kind) = check_parameter(address, access.width, parameters.len() as u64) {
            return Err(AccessFault { lane: lane as u32, address, kind });
        }
        let bytes = &parameters[address as usize..][..access.width as usize];
        for (row, word) in rows.iter_mut().zip(bytes.chunks(4)) {
            row[lane] = word.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
    }
    Ok(())
}

/// `st`.
pub(super) fn store<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    store: &Store,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    warp.registers.arch().dispatch(Work { worker, warp, what: store, split, mask, counter })
}

impl WithSimd for Work<'_, '_, Store> {
    type Output = Attempt;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { worker, warp, what: store, split, mask, counter } = self;
        let width = store.element * store.count;
        let addresses = addresses(warp, &store.reach, split);
        let rows = &mut worker.rows;
        for element in 0..store.count as usize & 7 {
            let source = store.rows[element & 3];
            match store.element {
                8 => {
                    let values = warp.registers.wide(source);
                    for lane in 0..32 {
                        rows[(2 * element) & 3][lane] = values[lane] as u32;
                        rows[(2 * element + 1) & 3][lane] = (values[lane] >> 32) as u32;
                    }
                }
                4 => rows[element & 3] = *warp.registers.word(source),
                _ => insert(&warp.registers, store, rows, element),
            }
        }
        match store.reach.space {
            Space::Global => store_global(worker, mask, &addresses, width, counter),
            Space::Shared => store_shared(worker, mask, &addresses, width, counter),
            Space::Generic => by_space(mask, &addresses, &mut |space, mask, addresses| match space {
                Space::Global => store_global(worker, mask, addresses, width, counter),
                Space::Shared => store_shared(worker, mask, addresses, width, counter),
                space => store_elsewhere(worker, warp, space, &Access::new(mask, addresses, width), counter),
            }),
            space => store_elsewhere(worker, warp, space, &Access::new(mask, &addresses, width), counter),
        }
    }
}

/// Puts a narrow element into the words to be stored.
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

#[inline(always)]
fn store_global(worker: &mut Worker, mask: u32, addresses: &WideRow, width: u32, counter: u32) -> Attempt {
    let access = Access::new(mask, addresses, width);
    let refused = |fault| Refused::new(AccessAction::Write, Space::Global, width, fault);
    worker.launched.memory.store(&access, &worker.rows).map_err(refused)?;
    count_global(&mut worker.counters[counter as usize].global, &access);
    Ok(())
}

#[inline(always)]
fn store_shared(worker: &mut Worker, mask: u32, addresses: &WideRow, width: u32, counter: u32) -> Attempt {
    let access = Access::new(mask, addresses, width);
    let refused = |fault| Refused::new(AccessAction::Write, Space::Shared, width, fault);
    worker.shared.store(&access, &worker.rows).map_err(refused)?;
    count_shared(&mut worker.counters[counter as usize], coalesce::store_wavefronts(&access));
    Ok(())
}

/// Stores to local memory; constant and parameter memory are refused.
fn store_elsewhere(worker: &mut Worker, warp: &mut Warp, space: Space, access: &Access, counter: u32) -> Attempt {
    let result = match space {
        Space::Local => warp.local.store(access, &worker.rows),
        Space::Parameter => Err(read_only_parameters(access, worker.launched.parameters.len())),
        _ => worker.launched.memory.store(access, &worker.rows),
    };
    result.map_err(|fault| Refused::new(AccessAction::Write, space, access.width, fault))?;
    if space == Space::Local {
        count_local(&mut worker.counters[counter as usize], warp, access);
    }
    Ok(())
}

fn read_only_parameters(access: &Access, bytes: usize) -> AccessFault {
    let lane = access.mask.trailing_zeros() & 31;
    let allocation = crate::AllocationSpan { address: 0, bytes: bytes as u64 };
    AccessFault { lane, address: access.addresses[lane as usize], kind: AccessFaultKind::ReadOnly { allocation } }
}

/// `atom` and `red`: lane by lane, in rising order.
pub(super) fn atomic(
    worker: &mut Worker,
    warp: &mut Warp,
    operation: &Atomic,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Attempt {
    let &Atomic { reach, op, ty, flush, d, a, b } = operation;
    let width = ty.bytes();
    let addresses = addresses(warp, &reach, split);
    let wide = ty.bits() >= 64;
    let operand = |row: u32, lane: usize| {
        if wide {
            warp.registers.wide(row)[lane]
        } else {
            u64::from(warp.registers.word(row)[lane]) & (u64::MAX >> (64 - ty.bits()))
        }
    };
    // Only of 128-bit values.
    let high = |row: u32, lane: usize| u128::from(warp.registers.wide(row + 1)[lane]) << 64;
    let mut old: WideRow = [0; 32];
    let mut old_high: WideRow = [0; 32];
    let mut each = |space: Space, mask: u32, addresses: &WideRow| {
        let access = Access::new(mask, addresses, width);
        for lane in lanes(mask) {
            let (x, y) = (operand(a, lane), operand(b, lane));
            let address = addresses[lane];
            let combine = |old: u64| atomic::combine(op, ty, flush, old, x, y);
            let (memory, shared) = (worker.launched.memory, &worker.shared);
            let result = match (space, width) {
                (Space::Shared, 2) => shared.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (Space::Shared, 4) => shared.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (Space::Shared, 8) => shared.atomic64(address, combine),
                (Space::Local | Space::Parameter, _) => Err(AccessFaultKind::OutOfBounds { nearest: None }),
                (_, 2) => memory.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (_, 4) => memory.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (_, 8) => memory.atomic64(address, combine),
                (space, _) => {
                    let (x, y) = (high(a, lane) | u128::from(x), high(b, lane) | u128::from(y));
                    let combine = |old: u128| atomic::exchange(op, old, x, y);
                    let before = match space {
                        Space::Shared => shared.atomic128(address, combine),
                        _ => memory.atomic128(address, combine),
                    };
                    before.map(|before| {
                        old_high[lane] = (before >> 64) as u64;
                        before as u64
                    })
                }
            };
            old[lane] = result.map_err(|kind| {
                let fault = AccessFault { lane: lane as u32, address, kind };
                Refused::new(AccessAction::Atomic, space, width, fault)
            })?;
        }
        let counters = &mut worker.counters[counter as usize];
        match space {
            Space::Shared => count_shared(counters, coalesce::store_wavefronts(&access)),
            _ => count_global(&mut counters.global, &access),
        }
        Ok(())
    };
    match reach.space {
        Space::Generic => by_space(mask, &addresses, &mut each)?,
        space => each(space, mask, &addresses)?,
    }
    match d {
        Some(d) if wide => {
            warp.registers.set_wide(d, mask, &old);
            if width == 16 {
                warp.registers.set_wide(d + 1, mask, &old_high);
            }
        }
        Some(d) => warp.registers.set_word(d, mask, &old.map(|value| value as u32)),
        None => {}
    }
    Ok(())
}
