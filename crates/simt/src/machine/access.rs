//! Loads, stores and atomic operations of a warp.

use ptx::Space;

use super::block::{Fault, Worker};
use super::local::lanes;
use super::warp::{Split, Warp};
use super::{PARAMETER_WINDOW, atomic, space_of};
use crate::coalesce::{self, Wavefronts};
use crate::counters::{InstructionCounters, MemoryCounters};
use crate::lanes::{Row, WideRow};
use crate::memory::{Access, AccessFault, AccessFaultKind, LOCAL_WINDOW, SHARED_WINDOW};
use crate::program::{Atomic, Load, Reach, Store};
use crate::trap::{AccessAction, TrapKind};

/// A fault of an access, before it is known of which instruction.
pub(super) struct Refused(TrapKind, u32);

impl Refused {
    fn new(action: AccessAction, space: Space, width: u32, fault: AccessFault) -> Box<Self> {
        let AccessFault { lane, address, kind } = fault;
        Box::new(Self(TrapKind::Access { action, space, address, width, fault: kind }, lane))
    }

    pub fn at(self: Box<Self>, pc: u32) -> Fault {
        Fault { kind: self.0, lane: self.1, pc }
    }
}

/// The address of each lane.
#[inline(always)]
fn addresses(warp: &Warp, reach: &Reach, split: &Split) -> WideRow {
    if reach.wide {
        let offset = if reach.frame { reach.offset.wrapping_add(warp.frame(split).local) } else { reach.offset };
        let mut addresses = *warp.registers.wide(reach.address);
        if offset != 0 {
            for address in &mut addresses {
                *address = address.wrapping_add(offset);
            }
        }
        addresses
    } else {
        let offset = reach.offset as u32;
        warp.registers.word(reach.address).map(|address| u64::from(address.wrapping_add(offset)))
    }
}

/// Does `each` for the lanes of each state space that the addresses are in: space, lanes, addresses in it.
#[inline(always)]
fn by_space(
    space: Space,
    mask: u32,
    addresses: &WideRow,
    mut each: impl FnMut(Space, u32, &WideRow) -> Result<(), Box<Refused>>,
) -> Result<(), Box<Refused>> {
    if space != Space::Generic {
        return each(space, mask, addresses);
    }
    let mut global = 0;
    for (lane, &address) in addresses.iter().enumerate() {
        global |= u32::from(space_of(address) == Space::Global) << lane;
    }
    if global & mask != 0 {
        each(Space::Global, global & mask, addresses)?;
    }
    let mut rest = mask & !global;
    while rest != 0 {
        let space = space_of(addresses[rest.trailing_zeros() as usize]);
        let here =
            lanes(rest).filter(|&lane| space_of(addresses[lane]) == space).fold(0, |mask, lane| mask | 1 << lane);
        let window = match space {
            Space::Shared => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            _ => PARAMETER_WINDOW,
        };
        each(space, here, &addresses.map(|address| address.wrapping_sub(window)))?;
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

/// `ld`.
pub(super) fn load(
    worker: &mut Worker,
    warp: &mut Warp,
    load: &Load,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Result<(), Box<Refused>> {
    let width = load.element * load.count;
    let addresses = addresses(warp, &load.reach, split);
    let mut rows = [[0; 32]; 4];
    by_space(load.reach.space, mask, &addresses, |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        let counters = &mut worker.counters[counter as usize];
        let result = match space {
            Space::Shared => worker
                .shared
                .load(&access, &mut rows)
                .inspect(|()| count_shared(counters, coalesce::load_wavefronts(&access))),
            Space::Local => warp.local.load(&access, &mut rows).inspect(|()| count_local(counters, warp, &access)),
            Space::Parameter => load_parameter(&worker.launched.parameters, &access, &mut rows),
            Space::Constant => worker.launched.memory.load(&access, &mut rows),
            Space::Global | Space::Generic => {
                let result = worker.launched.memory.load(&access, &mut rows);
                result.inspect(|()| count_global(&mut counters.global, &access))
            }
        };
        result.map_err(|fault| Refused::new(AccessAction::Read, space, width, fault))
    })?;
    for element in 0..load.count as usize {
        let d = load.rows[element];
        match load.element {
            4 if !load.wide => warp.registers.set_word(d, mask, &rows[element]),
            8 => {
                let (low, high) = (&rows[(2 * element) & 3], &rows[(2 * element + 1) & 3]);
                let mut values: WideRow = [0; 32];
                for lane in 0..32 {
                    values[lane] = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                }
                warp.registers.set_wide(d, mask, &values);
            }
            bytes => {
                let bits = bytes * 8;
                let at = element as u32 * bits;
                let (row, shift) = (&rows[(at / 32) as usize & 3], at % 32);
                let unsigned = |word: u32| u64::from(word) >> shift & (u64::MAX >> (64 - bits));
                let signed = |word: u32| ((unsigned(word) << (64 - bits)) as i64 >> (64 - bits)) as u64;
                let values = if load.signed { row.map(signed) } else { row.map(unsigned) };
                if load.wide {
                    warp.registers.set_wide(d, mask, &values);
                } else {
                    warp.registers.set_word(d, mask, &values.map(|value| value as u32));
                }
            }
        }
    }
    Ok(())
}

/// Reads the kernel's parameters at addresses that are not known beforehand.
fn load_parameter(parameters: &[u8], access: &Access, rows: &mut [Row; 4]) -> Result<(), AccessFault> {
    for lane in lanes(access.mask) {
        let address = access.addresses[lane];
        let width = access.width as usize;
        if !address.is_multiple_of(width as u64) {
            let kind = AccessFaultKind::Misaligned { width: access.width };
            return Err(AccessFault { lane: lane as u32, address, kind });
        }
        let bytes = usize::try_from(address).ok().and_then(|from| parameters.get(from..from.checked_add(width)?));
        let Some(bytes) = bytes else {
            let kind = AccessFaultKind::OutOfBounds { nearest: None };
            return Err(AccessFault { lane: lane as u32, address, kind });
        };
        for (row, word) in rows.iter_mut().zip(bytes.chunks(4)) {
            row[lane] = word.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
    }
    Ok(())
}

/// `st`.
pub(super) fn store(
    worker: &mut Worker,
    warp: &mut Warp,
    store: &Store,
    split: &Split,
    mask: u32,
    counter: u32,
) -> Result<(), Box<Refused>> {
    let width = store.element * store.count;
    let addresses = addresses(warp, &store.reach, split);
    let mut rows = [[0; 32]; 4];
    for element in 0..store.count as usize {
        let source = store.rows[element];
        match store.element {
            8 => {
                let values = warp.registers.wide(source);
                for lane in 0..32 {
                    rows[(2 * element) & 3][lane] = values[lane] as u32;
                    rows[(2 * element + 1) & 3][lane] = (values[lane] >> 32) as u32;
                }
            }
            4 => rows[element] = *warp.registers.word(source),
            bytes => {
                let bits = bytes * 8;
                let at = element as u32 * bits;
                let values = warp.registers.word(source);
                let row = &mut rows[(at / 32) as usize & 3];
                for lane in 0..32 {
                    row[lane] |= (values[lane] & (u32::MAX >> (32 - bits))) << (at % 32);
                }
            }
        }
    }
    by_space(store.reach.space, mask, &addresses, |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        let counters = &mut worker.counters[counter as usize];
        let result = match space {
            Space::Shared => worker
                .shared
                .store(&access, &rows)
                .inspect(|()| count_shared(counters, coalesce::store_wavefronts(&access))),
            Space::Local => {
                let result = warp.local.store(&access, &rows);
                result.inspect(|()| count_local(counters, warp, &access))
            }
            Space::Parameter => Err(read_only_parameters(&access, worker.launched.parameters.len())),
            Space::Constant => worker.launched.memory.store(&access, &rows),
            Space::Global | Space::Generic => {
                let result = worker.launched.memory.store(&access, &rows);
                result.inspect(|()| count_global(&mut counters.global, &access))
            }
        };
        result.map_err(|fault| Refused::new(AccessAction::Write, space, width, fault))
    })
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
) -> Result<(), Box<Refused>> {
    let &Atomic { reach, op, ty, flush, d, a, b } = operation;
    let width = ty.bytes();
    let addresses = addresses(warp, &reach, split);
    let wide = ty.bits() == 64;
    let operand = |row: u32, lane: usize| {
        if wide {
            warp.registers.wide(row)[lane]
        } else {
            u64::from(warp.registers.word(row)[lane]) & (u64::MAX >> (64 - ty.bits()))
        }
    };
    let mut old: WideRow = [0; 32];
    by_space(reach.space, mask, &addresses, |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        for lane in lanes(mask) {
            let (x, y) = (operand(a, lane), operand(b, lane));
            let address = addresses[lane];
            let combine = |old: u64| atomic::combine(op, ty, flush, old, x, y);
            let (memory, shared) = (worker.launched.memory, &worker.shared);
            let result = match (space, width) {
                (Space::Shared, 2) => shared.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (Space::Shared, 4) => shared.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (Space::Shared, _) => shared.atomic64(address, combine),
                (Space::Local | Space::Parameter, _) => Err(AccessFaultKind::OutOfBounds { nearest: None }),
                (_, 2) => memory.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (_, 4) => memory.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (_, _) => memory.atomic64(address, combine),
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
    })?;
    match d {
        Some(d) if wide => warp.registers.set_wide(d, mask, &old),
        Some(d) => warp.registers.set_word(d, mask, &old.map(|value| value as u32)),
        None => {}
    }
    Ok(())
}
