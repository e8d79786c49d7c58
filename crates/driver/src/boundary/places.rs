//! One address for memory of the host and of the device: where it is, and copies from and to it.
//!
//! Memory that both share (pinned, managed) is mapped at the simulator's own address, which
//! processes leave free, so one pointer serves both sides. Its bytes are copied to the device
//! before each launch and back after it.

use std::ffi::c_void;

use super::{Done, Status};
use crate::state::{Allocation, Kind, State};

/// Where an address is.
#[derive(Clone, Copy)]
pub enum Place {
    /// In the simulator's memory, at this address.
    Device(u64),
    /// In the host's memory.
    Host(HostPointer),
}

/// Memory of the host: of a mapping of this module, or the caller's.
#[derive(Clone, Copy)]
pub struct HostPointer(*mut u8);

impl Place {
    /// Where an address is that may be the host's or the device's.
    pub fn of(state: &State, address: u64) -> Self {
        if let Some((start, allocation)) = state.allocation(address) {
            return match allocation.on_host(start) {
                Some(host) => Self::of_host(host + (address - start)),
                None => Self::Device(address),
            };
        }
        // A variable of a module, or the host's own memory.
        match state.memory.read(address, &mut []) {
            Ok(()) => Self::Device(address),
            Err(_) => Self::of_host(address),
        }
    }

    /// Where an address of the host is.
    pub fn of_host(address: u64) -> Self {
        Self::Host(HostPointer(address as *mut u8))
    }

    /// Copies bytes from there.
    pub fn read(self, state: &State, to: &mut [u8]) -> Done {
        match self {
            Self::Device(address) => state.memory.read(address, to).map_err(|_| Status::INVALID_VALUE),
            Self::Host(HostPointer(from)) if from.is_null() && !to.is_empty() => Err(Status::INVALID_VALUE),
            Self::Host(HostPointer(from)) => {
                // SAFETY: mapped here, or by the API's contract the caller's; the two may overlap.
                unsafe { std::ptr::copy(from, to.as_mut_ptr(), to.len()) };
                Ok(())
            }
        }
    }

    /// Copies bytes there.
    pub fn write(self, state: &mut State, from: &[u8]) -> Done {
        match self {
            Self::Device(address) => state.memory.write(address, from).map_err(|_| Status::INVALID_VALUE),
            Self::Host(HostPointer(to)) if to.is_null() && !from.is_empty() => Err(Status::INVALID_VALUE),
            Self::Host(HostPointer(to)) => {
                // SAFETY: as above.
                unsafe { std::ptr::copy(from.as_ptr(), to, from.len()) };
                Ok(())
            }
        }
    }

    /// Copies bytes from one place to another.
    pub fn copy(self, state: &mut State, to: Self, bytes: usize) -> Done {
        if isize::try_from(bytes).is_err() {
            return Err(Status::INVALID_VALUE);
        }
        match (self, to) {
            (Self::Host(HostPointer(from)), Self::Host(HostPointer(to))) if !from.is_null() && !to.is_null() => {
                // SAFETY: as above.
                unsafe { std::ptr::copy(from, to, bytes) };
                Ok(())
            }
            (Self::Host(HostPointer(from)), Self::Device(_)) if !from.is_null() => {
                // SAFETY: by the API's contract the caller's memory, which nobody changes during the call.
                to.write(state, unsafe { std::slice::from_raw_parts(from, bytes) })
            }
            (Self::Device(_), Self::Host(HostPointer(to))) if !to.is_null() => {
                // SAFETY: as above.
                self.read(state, unsafe { std::slice::from_raw_parts_mut(to, bytes) })
            }
            (Self::Device(address), Self::Device(_)) => {
                let span = state.span(address).ok_or(Status::INVALID_VALUE)?;
                if bytes as u64 > span.bytes {
                    return Err(Status::INVALID_VALUE);
                }
                let mut buffer = vec![0; bytes];
                self.read(state, &mut buffer)?;
                to.write(state, &buffer)
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

/// Maps zeroed memory of the host at the address of an allocation; not over anything that is there.
pub fn map(address: u64, bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: it takes no memory that is in use.
    let at = unsafe { libc::mmap(address as *mut c_void, bytes.max(1), access, flags, -1, 0) };
    if at as u64 == address {
        return true;
    }
    if at != libc::MAP_FAILED {
        // SAFETY: an old kernel has mapped it elsewhere; nobody else knows of it.
        unsafe { libc::munmap(at, bytes.max(1)) };
    }
    false
}

/// Unmaps what [`map`] has mapped for an allocation that has been taken out of the table.
pub fn unmap(address: u64, allocation: &Allocation) {
    if matches!(allocation.kind, Kind::Host | Kind::Managed) {
        // SAFETY: `map` mapped it; by the API's contract the caller no longer uses it.
        unsafe { libc::munmap(address as *mut c_void, (allocation.bytes as usize).max(1)) };
    }
}

/// Copies what the host may have changed to the device (`true`), or back.
pub fn share(state: &mut State, to_device: bool) {
    let State { memory, allocations, .. } = state;
    for (&address, allocation) in allocations.iter() {
        let Some(host) = allocation.on_host(address) else { continue };
        // SAFETY: mapped by `map`, or registered by the caller, and of this length.
        let bytes = unsafe { std::slice::from_raw_parts_mut(host as *mut u8, allocation.bytes as usize) };
        // Both are live and of one length, so neither fails.
        let _ = if to_device { memory.write(address, bytes) } else { memory.read(address, bytes) };
    }
}
