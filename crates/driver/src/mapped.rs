//! Virtual memory management: addresses that are reserved, memory without an address, and mappings
//! of the one at the other, with or without access, whole or in parts, at one address or several.
//! No other process can have such memory.

use std::collections::hash_map::Entry;
use std::ffi::{c_int, c_uint};
use std::ops::Range;

use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::device::check;
use crate::objects::{Handle, Mapping, Physical};
use crate::settings::SETTINGS;
use crate::state::{State, ready, working};

/// Sizes and addresses are multiples of this, as on GPUs.
const GRANULARITY: u64 = 2 << 20;
/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: c_uint = 1;
const DEVICE: c_uint = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ` and `..._READWRITE`.
const READ: c_uint = 1;
const READ_AND_WRITE: c_uint = 3;

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: c_uint,
    device: c_int,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Properties {
    kind: c_uint,
    /// How other processes are to get it.
    handles: c_uint,
    location: Location,
    windows: usize,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    location: Location,
    flags: c_uint,
}

impl Location {
    /// The device that it is; only devices have such memory here.
    fn device(self) -> Done<c_int> {
        if self.kind != DEVICE {
            say("mapped memory must be on a device; host memory is not supported");
            return Err(Status::NOT_SUPPORTED);
        }
        check(self.device)?;
        Ok(self.device)
    }
}

impl Properties {
    /// The device, of memory that can be made here.
    fn device(self) -> Done<c_int> {
        if self.kind != PINNED {
            return Err(Status::INVALID_VALUE);
        }
        if self.handles != 0 {
            say("mapped memory cannot be exported to other processes");
            return Err(Status::NOT_SUPPORTED);
        }
        self.location.device()
    }
}

fn is_aligned(value: u64) -> bool {
    value.is_multiple_of(GRANULARITY)
}

/// A range that begins and ends at multiples of the granularity, and is not empty.
fn range(address: u64, bytes: usize) -> Done<Range<u64>> {
    let end = address.checked_add(bytes as u64).ok_or(Status::INVALID_VALUE)?;
    if bytes == 0 || !is_aligned(address) || !is_aligned(end) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(address..end)
}

/// The mappings that fill a range, by their addresses: none begins or ends elsewhere.
fn mappings(state: &State, range: Range<u64>) -> Done<Vec<u64>> {
    let mut at = range.start;
    let mut found = Vec::new();
    while at < range.end {
        let mapping = state.mappings.get(&at).ok_or(Status::INVALID_VALUE)?;
        found.push(at);
        at += mapping.bytes;
    }
    if at == range.end { Ok(found) } else { Err(Status::INVALID_VALUE) }
}

/// The memory at an address.
fn mapped_at(state: &State, address: u64) -> Done<Mapping> {
    let found = state.mappings.range(..=address).next_back();
    let found = found.filter(|(start, mapping)| address - **start < mapping.bytes);
    found.map(|(_, mapping)| *mapping).ok_or(Status::INVALID_VALUE)
}

/// Changes the access to a mapping.
fn set_access(state: &mut State, address: u64, access: c_uint) -> Done {
    let mapping = state.mappings.get_mut(&address).ok_or(Status::INVALID_VALUE)?;
    mapping.access = access;
    let changed = match access {
        0 => state.memory.take_access(address),
        _ => state.memory.give_access(address, access == READ),
    };
    changed.map_err(|_| Status::INVALID_VALUE)
}

/// Ends memory that has no reference, and is mapped nowhere, any more.
fn end_if_unused(state: &mut State, memory: Handle) {
    if let Entry::Occupied(entry) = state.physical.entry(memory)
        && (entry.get().references, entry.get().mappings) == (0, 0)
    {
        let Physical { device, memory, .. } = entry.remove();
        let used = &mut state.used[device as usize];
        *used = used.saturating_sub(memory.bytes());
        state.memory.destroy(memory);
    }
}

fn unmap(state: &mut State, address: u64) -> Done {
    let mapping = state.mappings.remove(&address).ok_or(Status::INVALID_VALUE)?;
    let _ = state.memory.unmap(address);
    if let Some(physical) = state.physical.get_mut(&mapping.memory) {
        physical.mappings -= 1;
    }
    end_if_unused(state, mapping.memory);
    Ok(())
}

/// Ends all mappings and memory of a device, and, with the last, the addresses.
pub fn reset(state: &mut State, device: c_int) {
    let of_device = |state: &State, mapping: &Mapping| {
        state.physical.get(&mapping.memory).is_some_and(|physical| physical.device == device)
    };
    let all = state.mappings.iter().filter(|(_, mapping)| of_device(state, mapping));
    for address in all.rev().map(|(&address, _)| address).collect::<Vec<_>>() {
        let _ = unmap(state, address);
    }
    let mut ended = Vec::new();
    for (&memory, physical) in state.physical.iter_mut().filter(|(_, physical)| physical.device == device) {
        physical.references = 0;
        ended.push(memory);
    }
    ended.into_iter().for_each(|memory| end_if_unused(state, memory));
}

driver! {
    fn cuMemGetAllocationGranularity(to: Out<usize>, properties: In<Properties>, option: c_uint) {
        properties.get()?.device()?;
        to.put(GRANULARITY as usize)
    }

    fn cuMemAddressReserve(to: Out<u64>, bytes: usize, alignment: usize, address: u64, flags: u64) {
        to.check()?;
        let mut state = working()?;
        // The address that is asked for is a hint.
        if flags != 0 || bytes == 0 || !is_aligned(bytes as u64) || !(alignment == 0 || alignment.is_power_of_two()) {
            return Err(Status::INVALID_VALUE);
        }
        let found = state.memory.reserve(bytes as u64, (alignment as u64).max(GRANULARITY));
        let start = found.ok_or(Status::OUT_OF_MEMORY)?;
        state.reserved.insert(start, bytes as u64);
        to.put(start)
    }

    fn cuMemAddressFree(address: u64, bytes: usize) {
        let mut state = ready()?;
        let range = range(address, bytes)?;
        if state.reserved.get(&address) != Some(&(bytes as u64)) || state.mappings.range(range).next().is_some() {
            return Err(Status::INVALID_VALUE);
        }
        state.reserved.remove(&address);
        state.memory.give_back(address, bytes as u64);
        Ok(())
    }

    fn cuMemCreate(to: Out<Handle>, bytes: usize, properties: In<Properties>, flags: u64) {
        to.check()?;
        let device = properties.get()?.device()?;
        let size = bytes as u64;
        if flags != 0 || size == 0 || !is_aligned(size) {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = working()?;
        let free = SETTINGS.memory.saturating_sub(state.used_on(device));
        if size > free {
            say(&format!("out of device memory: {size} bytes requested, {free} of {} bytes free", SETTINGS.memory));
            return Err(Status::OUT_OF_MEMORY);
        }
        let memory = state.memory.create(size).map_err(|error| {
            say(&error.to_string());
            Status::OUT_OF_MEMORY
        })?;
        state.used[device as usize] += size;
        let handle = state.handle();
        state.physical.insert(handle, Physical { device, memory, references: 1, mappings: 0 });
        to.put(handle)
    }

    fn cuMemRelease(memory: Handle) {
        let mut state = ready()?;
        let physical = state.physical.get_mut(&memory).ok_or(Status::INVALID_VALUE)?;
        physical.references = physical.references.checked_sub(1).ok_or(Status::INVALID_VALUE)?;
        // What is mapped stays until it is unmapped.
        end_if_unused(&mut state, memory);
        Ok(())
    }

    fn cuMemRetainAllocationHandle(to: Out<Handle>, address: u64) {
        to.check()?;
        let mut state = ready()?;
        let memory = mapped_at(&state, address)?.memory;
        state.physical.get_mut(&memory).ok_or(Status::INVALID_VALUE)?.references += 1;
        to.put(memory)
    }

    fn cuMemGetAllocationPropertiesFromHandle(to: Out<Properties>, memory: Handle) {
        let state = ready()?;
        let device = state.physical.get(&memory).ok_or(Status::INVALID_VALUE)?.device;
        let location = Location { kind: DEVICE, device };
        to.put(Properties { kind: PINNED, handles: 0, location, windows: 0, flags: [0; 8] })
    }

    fn cuMemMap(address: u64, bytes: usize, offset: usize, memory: Handle, flags: u64) {
        let mut state = working()?;
        let range = range(address, bytes)?;
        let reserved = state.reserved.range(..=address).next_back();
        let is_reserved = reserved.is_some_and(|(start, length)| range.end <= start + length);
        let (offset, bytes) = (offset as u64, bytes as u64);
        if flags != 0 || !is_aligned(offset) || !is_reserved {
            return Err(Status::INVALID_VALUE);
        }
        let State { memory: device, physical, mappings, .. } = &mut *state;
        let physical = physical.get_mut(&memory).ok_or(Status::INVALID_VALUE)?;
        device.map(address, bytes, &physical.memory, offset).map_err(|_| Status::INVALID_VALUE)?;
        mappings.insert(address, Mapping { bytes, memory, access: 0 });
        physical.mappings += 1;
        Ok(())
    }

    fn cuMemUnmap(address: u64, bytes: usize) {
        let mut state = ready()?;
        let all = mappings(&state, range(address, bytes)?)?;
        // The last first, as the simulator's list of allocations is sorted.
        all.into_iter().rev().try_for_each(|address| unmap(&mut state, address))
    }

    fn cuMemSetAccess(address: u64, bytes: usize, list: In<Access>, count: usize) {
        let mut state = working()?;
        let all = mappings(&state, range(address, bytes)?)?;
        let wanted = list.list(count);
        if wanted.is_empty() || wanted.iter().any(|access| ![0, READ, READ_AND_WRITE].contains(&access.flags)) {
            return Err(Status::INVALID_VALUE);
        }
        wanted.iter().try_for_each(|access| access.location.device().map(|_| ()))?;
        // The devices share one space of addresses: what one may do, all may.
        let access = wanted.iter().map(|access| access.flags).max().unwrap_or(0);
        all.into_iter().try_for_each(|address| set_access(&mut state, address, access))
    }

    fn cuMemGetAccess(flags: Out<u64>, location: In<Location>, address: u64) {
        location.get()?.device()?;
        flags.put(mapped_at(&*ready()?, address)?.access.into())
    }
}
