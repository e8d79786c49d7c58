//! Loads, stores and atomic operations of a warp.

use ptx::Space;
use pulp::{Simd, WithSimd};

use super::block::{Fault, Worker};
use super::local::lanes;
use super::warp::{Split, Warp};
use super::{atomic, space_of};
use crate::coalesce::{self, Sectors, Wavefronts};
use crate::counters::{InstructionCounters, MemoryCounters};
use crate::lanes::{Registers, Row, WideRow};
use crate::memory::{Access, AccessFault, AccessFaultKind, Memory, Shape, SharedMemory, rank_of};
use crate::program::{self, Atomic, Load, Reach, Store};
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
pub(super) type Attempt = Result<(), Box<Refused>>;

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

/// The shape of an access, the state space that it is in, and its lowest address there. `None` for local memory and
/// parameters, and where generic addresses are in several state spaces.
#[inline(always)]
pub(super) fn meet_shape<'s>(
    shapes: &'s mut [Option<Box<Shape>>],
    registers: &Registers<'_>,
    reach: &Reach,
    mask: u32,
    width: u32,
) -> Option<(&'s mut Shape, Space, u64)> {
    if matches!(reach.space, Space::Local | Space::Parameter) {
        return None;
    }
    let shape = shapes[reach.slot as usize].get_or_insert_with(|| Box::new(Shape::new()));
    let lowest = if reach.wide {
        shape.follow(mask, registers.wide(reach.address), width).wrapping_add(reach.offset)
    } else {
        let lowest = shape.follow(mask, registers.word(reach.address), width) as u32;
        u64::from(lowest.wrapping_add(reach.offset as u32))
    };
    match reach.space {
        Space::Generic => {}
        // The block's own memory, most often; what is not is not done together.
        Space::ClusterShared => return Some((shape, Space::Shared, lowest)),
        space => return Some((shape, space, lowest)),
    }
    let space = space_of(lowest);
    if space != space_of(lowest.wrapping_add(shape.span())) || matches!(space, Space::Local | Space::Parameter) {
        return None;
    }
    Some((shape, space, lowest.wrapping_sub(program::window(space))))
}

/// Where an address is that an instruction names by one of `space`: the state space, and the address in it. Shared memory of
/// another block than that of this rank is `ClusterShared`.
#[inline(always)]
pub(super) fn resolve(space: Space, address: u64, rank: u32) -> (Space, u64) {
    let (space, address) = match space {
        Space::Generic => {
            let space = space_of(address);
            (space, address.wrapping_sub(program::window(space)))
        }
        space => return (if space == Space::ClusterShared { of_rank(address, rank) } else { space }, address),
    };
    (if space == Space::Shared { of_rank(address, rank) } else { space }, address)
}

/// The state space of an address of shared memory.
#[inline(always)]
fn of_rank(address: u64, rank: u32) -> Space {
    if rank_of(address) == u64::from(rank) { Space::Shared } else { Space::ClusterShared }
}

/// Does `each` for the lanes of each state space, and of each block of the cluster, that addresses are in: space, lanes,
/// addresses in it. `rank` is that of the block whose lanes they are.
pub(super) fn by_space(
    space: Space,
    rank: u32,
    mask: u32,
    addresses: &WideRow,
    each: &mut dyn FnMut(Space, u32, &WideRow) -> Attempt,
) -> Attempt {
    if !matches!(space, Space::Generic | Space::ClusterShared) {
        return each(space, mask, addresses);
    }
    let mut rest = mask;
    while rest != 0 {
        let first = addresses[rest.trailing_zeros() as usize & 31];
        let (there, in_space) = resolve(space, first, rank);
        let offset = first.wrapping_sub(in_space);
        let here = lanes(rest).filter(|&lane| {
            let (other, address) = resolve(space, addresses[lane], rank);
            other == there && (there != Space::ClusterShared || rank_of(address) == rank_of(in_space))
        });
        let here = here.fold(0, |mask, lane| mask | 1 << lane);
        each(there, here, &addresses.map(|address| address.wrapping_sub(offset)))?;
        rest &= !here;
    }
    Ok(())
}

#[inline(always)]
pub(super) fn count_global(counters: &mut MemoryCounters, found: Sectors) {
    counters.requests += 1;
    counters.sectors += u64::from(found.sectors);
    counters.bytes += u64::from(found.bytes);
}

#[inline(always)]
pub(super) fn count_shared(counters: &mut InstructionCounters, found: Wavefronts) {
    counters.shared.requests += 1;
    counters.shared.wavefronts += u64::from(found.wavefronts);
    counters.shared.bank_conflicts += u64::from(found.conflicts);
}

/// An access to the shared memory of another block.
fn count_distributed(counters: &mut InstructionCounters, access: &Access) {
    counters.distributed.requests += 1;
    counters.distributed.bytes += u64::from(access.mask.count_ones() * access.width);
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
        // Words go straight to their register.
        let is_word = load.element == 4 && load.count == 1 && !load.wide;
        let found = meet_shape(&mut worker.shapes, &warp.registers, &load.reach, mask, width);
        // No closure here: it would be compiled apart, without the instruction set.
        let done = match found {
            None => false,
            Some(found) => {
                let rows = match is_word {
                    true => std::slice::from_mut(warp.registers.word_mut(load.rows[0])),
                    false => &mut worker.rows,
                };
                let counters = &mut worker.counters[counter as usize];
                load_together(worker.launched.memory, &worker.block.shared, counters, found, rows)
            }
        };
        if done && is_word {
            return Ok(());
        }
        if !done {
            let addresses = addresses(warp, &load.reach, split);
            load_apart(worker, warp, load.reach.space, mask, &addresses, width, counter)?;
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

/// A load whose lanes all reach one allocation of global or constant memory, or shared memory: nearly every one. Returns
/// whether it was such, and is done.
#[inline(always)]
fn load_together(
    memory: &Memory,
    shared: &SharedMemory,
    counters: &mut InstructionCounters,
    (shape, space, lowest): (&mut Shape, Space, u64),
    rows: &mut [Row],
) -> bool {
    if space == Space::Shared {
        let done = shared.load(shape, lowest, rows);
        if done {
            count_shared(counters, shape.wavefronts(lowest, coalesce::load_wavefronts));
        }
        return done;
    }
    let done = memory.load(shape, lowest, rows);
    if done && space == Space::Global {
        count_global(&mut counters.global, shape.sectors(lowest));
    }
    done
}

/// Any other load.
#[cold]
pub(super) fn load_apart(
    worker: &mut Worker,
    warp: &Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    width: u32,
    counter: u32,
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
        let counters = &mut worker.counters[counter as usize];
        match space {
            Space::Global => count_global(&mut counters.global, coalesce::sectors(&access)),
            Space::Shared => count_shared(counters, coalesce::load_wavefronts(&access)),
            Space::Local => count_local(counters, warp, &access),
            Space::ClusterShared => count_distributed(counters, &access),
            _ => {}
        }
        Ok(())
    })
}

/// The shared memory of the other block of the cluster that all lanes access.
pub(super) fn of_other<'w>(
    worker: &'w Worker,
    access: &Access,
    action: AccessAction,
) -> Result<&'w SharedMemory, Box<Refused>> {
    let lane = access.mask.trailing_zeros() & 31;
    let address = access.addresses[lane as usize];
    let fault = |kind| AccessFault { lane, address, kind };
    worker.shared_at(address).map_err(|kind| Refused::new(action, Space::ClusterShared, access.width, fault(kind)))
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
        // Words come straight from their register.
        let is_word = store.element == 4 && store.count == 1;
        if !is_word {
            collect(&warp.registers, store, &mut worker.rows);
        }
        let found = meet_shape(&mut worker.shapes, &warp.registers, &store.reach, mask, width);
        let done = match found {
            None => false,
            Some(found) => {
                let rows = match is_word {
                    true => std::slice::from_ref(warp.registers.word(store.rows[0])),
                    false => &worker.rows,
                };
                let counters = &mut worker.counters[counter as usize];
                store_together(worker.launched.memory, &worker.block.shared, counters, found, rows)
            }
        };
        if done {
            return Ok(());
        }
        if is_word {
            collect(&warp.registers, store, &mut worker.rows);
        }
        let addresses = addresses(warp, &store.reach, split);
        store_apart(worker, warp, store.reach.space, mask, &addresses, width, counter)
    }
}

/// Brings what is to be stored into rows of words.
#[inline(always)]
fn collect(registers: &Registers<'_>, store: &Store, rows: &mut [Row; 4]) {
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

/// For stores, what [`load_together`] is for loads.
#[inline(always)]
fn store_together(
    memory: &Memory,
    shared: &SharedMemory,
    counters: &mut InstructionCounters,
    (shape, space, lowest): (&mut Shape, Space, u64),
    rows: &[Row],
) -> bool {
    if space == Space::Shared {
        let done = shared.store(shape, lowest, rows);
        if done {
            count_shared(counters, shape.wavefronts(lowest, coalesce::store_wavefronts));
        }
        return done;
    }
    let done = memory.store(shape, lowest, rows);
    if done && space == Space::Global {
        count_global(&mut counters.global, shape.sectors(lowest));
    }
    done
}

/// Any other store.
#[cold]
pub(super) fn store_apart(
    worker: &mut Worker,
    warp: &mut Warp,
    space: Space,
    mask: u32,
    addresses: &WideRow,
    width: u32,
    counter: u32,
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
        let counters = &mut worker.counters[counter as usize];
        match space {
            Space::Global => count_global(&mut counters.global, coalesce::sectors(&access)),
            Space::Shared => count_shared(counters, coalesce::store_wavefronts(&access)),
            Space::Local => count_local(counters, warp, &access),
            Space::ClusterShared => count_distributed(counters, &access),
            _ => {}
        }
        Ok(())
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
) -> Attempt {
    if !operation.rest.is_empty() {
        return atomic::vector(worker, warp, operation, split, mask, counter);
    }
    let &Atomic { reach, op, ty, flush, d, a, b, .. } = operation;
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
    let rank = worker.block.rank;
    let mut old: WideRow = [0; 32];
    let mut old_high: WideRow = [0; 32];
    let mut each = |space: Space, mask: u32, addresses: &WideRow| {
        let access = Access::new(mask, addresses, width);
        for lane in lanes(mask) {
            let (x, y) = (operand(a, lane), operand(b, lane));
            let address = addresses[lane];
            let combine = |old: u64| atomic::combine(op, ty, flush, old, x, y);
            let memory = worker.launched.memory;
            let refused = |kind| {
                let fault = AccessFault { lane: lane as u32, address, kind };
                Refused::new(AccessAction::Atomic, space, width, fault)
            };
            let (space, shared) = match space {
                Space::ClusterShared => (Space::Shared, worker.shared_at(address).map_err(refused)?),
                space => (space, &worker.block.shared),
            };
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
            old[lane] = result.map_err(refused)?;
        }
        let counters = &mut worker.counters[counter as usize];
        match space {
            Space::Shared => count_shared(counters, coalesce::store_wavefronts(&access)),
            Space::ClusterShared => count_distributed(counters, &access),
            _ => count_global(&mut counters.global, coalesce::atomic_sectors(&access)),
        }
        Ok(())
    };
    by_space(reach.space, rank, mask, &addresses, &mut each)?;
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
