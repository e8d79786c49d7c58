//! One address for memory of the host and of the device: where it is, and copies from and to it.
//! The two share the bytes of pinned, managed and registered memory. Registered memory alone that
//! does not begin at a word is copied to the device before each launch, and back.

use crate::boundary::host_memory::HostPointer;
use crate::boundary::{Done, Status};
use crate::state::State;

/// How many bytes are copied at once between two places of the device.
const PART: usize = 64 << 10;

/// Where an address is.
#[derive(Clone, Copy)]
pub enum Place {
    /// In the simulator's memory, at this address.
    Device(u64),
    /// In the host's memory, at this address.
    Host(u64),
}

impl Place {
    /// Where an address is that may be the host's or the device's.
    pub fn of(state: &State, address: u64) -> Self {
        if let Some((start, allocation)) = state.allocation(address) {
            return match allocation.on_host(start) {
                Some(host) => Self::Host(host + (address - start)),
                None => Self::Device(address),
            };
        }
        // A variable of a module, what is mapped, what was freed; or the host's own memory.
        if state.memory.has_given(address) { Self::Device(address) } else { Self::Host(address) }
    }

    /// Copies bytes from there.
    pub fn load(self, state: &State, to: &mut [u8]) -> Done {
        match self {
            Self::Device(address) => state.memory.read(address, to).map_err(|_| Status::INVALID_VALUE),
            Self::Host(_) if to.is_empty() => Ok(()),
            Self::Host(address) => {
                HostPointer::new(address)?.read(to);
                Ok(())
            }
        }
    }

    /// Copies bytes there.
    pub fn store(self, state: &mut State, from: &[u8]) -> Done {
        match self {
            Self::Device(address) => state.memory.write(address, from).map_err(|_| Status::INVALID_VALUE),
            Self::Host(_) if from.is_empty() => Ok(()),
            Self::Host(address) => {
                HostPointer::new(address)?.write(from);
                Ok(())
            }
        }
    }

    /// Copies bytes from one place to another.
    pub fn transfer(self, state: &mut State, to: Self, bytes: usize) -> Done {
        if isize::try_from(bytes).is_err() {
            return Err(Status::INVALID_VALUE);
        }
        match (self, to) {
            (Self::Host(from), Self::Host(to)) => {
                HostPointer::new(from)?.copy(HostPointer::new(to)?, bytes);
                Ok(())
            }
            (Self::Host(from), Self::Device(_)) => HostPointer::new(from)?.with(bytes, |bytes| to.store(state, bytes)),
            (Self::Device(_), Self::Host(to)) => HostPointer::new(to)?.change(bytes, |bytes| self.load(state, bytes)),
            (Self::Device(from), Self::Device(to)) => copy_within(state, from, to, bytes),
        }
    }
}

/// Copies between two places of the device: through a buffer that stays in a cache, unless the two
/// overlap.
fn copy_within(state: &mut State, from: u64, to: u64, bytes: usize) -> Done {
    for address in [from, to] {
        let span = state.span(address).ok_or(Status::INVALID_VALUE)?;
        if bytes as u64 > span.bytes - (address - span.address) {
            return Err(Status::INVALID_VALUE);
        }
    }
    let part = if from.abs_diff(to) < bytes as u64 { bytes } else { bytes.min(PART) };
    let mut buffer = vec![0; part];
    for start in (0..bytes).step_by(part.max(1)) {
        let part = &mut buffer[..part.min(bytes - start)];
        Place::Device(from + start as u64).load(state, part)?;
        Place::Device(to + start as u64).store(state, part)?;
    }
    Ok(())
}

/// Copies registered memory that host and device do not share to the device (`true`), or back.
pub fn copy_registered(state: &mut State, to_device: bool) {
    let State { memory, allocations, .. } = state;
    for (&address, allocation) in allocations.iter().filter(|(_, allocation)| !allocation.kind.is_shared()) {
        let Some(Ok(host)) = allocation.on_host(address).map(HostPointer::new) else { continue };
        // Both are live and of one length, so neither fails.
        host.change(allocation.bytes as usize, |bytes| {
            let _ = if to_device { memory.write(address, bytes) } else { memory.read(address, bytes) };
        });
    }
}
