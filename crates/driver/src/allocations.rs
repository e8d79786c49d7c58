//! Memory of the device: how it is allocated and freed.

use simt::MemoryError;

use crate::boundary::host_memory::{HostPointer, map, unmap, words};
use crate::boundary::{Done, Status, say};
use crate::objects::{Allocation, Kind};
use crate::settings::SETTINGS;
use crate::state::State;

fn status_of(error: &MemoryError) -> Status {
    match error {
        MemoryError::OutOfMemory { .. } | MemoryError::HostOutOfMemory { .. } | MemoryError::NoAddresses { .. } => {
            Status::OUT_OF_MEMORY
        }
        _ => Status::INVALID_VALUE,
    }
}

/// Has the host's memory at an address as that of an allocation, which is all of it.
pub fn share(state: &mut State, allocation: u64, host: u64, bytes: u64) -> Done {
    state.memory.lend(allocation, words(host, bytes)).map_err(|error| status_of(&error))
}

/// Allocates device memory. If the host is to reach it, that is mapped at the same address there;
/// if it is the host's already, it is the device's, too.
pub fn allocate(state: &mut State, bytes: usize, kind: Kind) -> Done<u64> {
    let (length, device) = (bytes as u64, state.device());
    if state.used_on(device).checked_add(length).is_none_or(|used| used > SETTINGS.memory) {
        let free = SETTINGS.memory.saturating_sub(state.used_on(device));
        say(&format!("out of device memory: {length} bytes requested, {free} of {} bytes free", SETTINGS.memory));
        return Err(Status::OUT_OF_MEMORY);
    }
    let address = state.memory.allocate(length).map_err(|error| {
        say(&error.to_string());
        status_of(&error)
    })?;
    if kind.is_mapped() && !map(address, bytes) {
        say(&format!("the host cannot map {length} bytes at {address:#x}, for memory of host and device"));
        let _ = state.memory.free(address);
        return Err(Status::OUT_OF_MEMORY);
    }
    match kind {
        Kind::Registered(host) if kind.is_shared() => share(state, address, host as u64, length)?,
        _ if kind.is_shared() => share(state, address, address, length)?,
        _ => {}
    }
    state.host_recorder.allocated();
    state.recorder.given.shared_allocations += u64::from(kind.is_mapped() || matches!(kind, Kind::Registered(_)));
    let id = state.handle() as u64;
    state.used[device as usize] += length;
    state.allocations.insert(address, Allocation { bytes: length, kind, device, id, pool: 0 });
    Ok(address)
}

/// Maps a variable of a module on the host, at its own address, with what it holds.
pub fn share_variable(state: &mut State, address: u64, bytes: u64) -> Done {
    if state.allocations.contains_key(&address) {
        return Ok(());
    }
    if !map(address, bytes as usize) {
        return Err(Status::MAP_FAILED);
    }
    let mut held = vec![0; bytes as usize];
    state.memory.read(address, &mut held).map_err(|error| status_of(&error))?;
    HostPointer::new(address)?.write(&held);
    share(state, address, address, bytes)?;
    let (id, device) = (state.handle() as u64, state.device());
    state.used[device as usize] += bytes;
    state.allocations.insert(address, Allocation { bytes, kind: Kind::Managed, device, id, pool: 0 });
    Ok(())
}

/// Frees an allocation for a caller or a node. What a graph allocates stays for the graph's next
/// launch.
pub fn free(state: &mut State, address: u64) -> Done {
    if state.graph_memory.keeps(address) { state.free_in_graph(address) } else { release(state, address) }
}

/// Gives an allocation back, whoever has it.
pub fn release(state: &mut State, address: u64) -> Done {
    let allocation = state.allocations.remove(&address).ok_or(Status::INVALID_VALUE)?;
    state.shared.remove(&address);
    state.graph_memory.forget(address);
    if let Some(pool) = state.pools.get_mut(&allocation.pool) {
        pool.freed(allocation.bytes);
    }
    let used = &mut state.used[allocation.device as usize];
    *used = used.saturating_sub(allocation.bytes);
    let freed = state.memory.free(address).map_err(|error| status_of(&error));
    if allocation.kind.is_mapped() {
        unmap(address, allocation.bytes as usize);
    }
    freed
}
