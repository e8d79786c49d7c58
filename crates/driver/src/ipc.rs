//! Memory and events that several processes of one machine share. The first call that asks for an
//! allocation's handle puts its bytes into a file without a name, which the handle leads to; each
//! process maps the file at its own device address, as the simulator's memory there. An event that
//! is made for several processes has such a file, too (`shared_event`).

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use crate::allocations::{release, share};
use crate::boundary::host_memory::{HostPointer, file_without_name, map_file};
use crate::boundary::{Done, Out, Status, driver, say};
use crate::objects::{Allocation, Event, Handle, Kind};
use crate::shared_event::SharedEvent;
use crate::state::{State, current, ready, working};

/// `CUipcMemHandle` and `CUipcEventHandle`: who has the file, its number there, and how long it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shared {
    begins: [u8; 8],
    process: u32,
    file: RawFd,
    bytes: u64,
    rest: [u64; 5],
}

const MEMORY: [u8; 8] = *b"coalesce";
const EVENT: [u8; 8] = *b"coalevnt";

impl Shared {
    fn new(begins: [u8; 8], file: RawFd, bytes: u64) -> Self {
        Self { begins, process: std::process::id(), file, bytes, rest: [0; 5] }
    }

    /// The file. Memory can be used without a fault later only if its file is as long; that of an
    /// event grows while recordings are under way.
    fn open(&self) -> Done<File> {
        let Self { process, file, bytes, .. } = self;
        let opened = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/fd/{file}"));
        let length = |file: &File| file.metadata().map_or(0, |about| about.len());
        let fits = |file: &File| length(file) == *bytes || self.begins == EVENT && length(file) > *bytes;
        opened.ok().filter(fits).ok_or(Status::INVALID_VALUE)
    }
}

/// Moves an allocation's bytes into a file.
fn export(state: &mut State, address: u64, bytes: u64) -> Done {
    let failed = |error: std::io::Error| {
        say(&format!("memory to share: {error}"));
        Status::OUT_OF_MEMORY
    };
    let file = file_without_name(bytes).map_err(failed)?;
    if !map_file(address, bytes as usize, &file) {
        return Err(Status::MAP_FAILED);
    }
    let memory = &state.memory;
    let read = HostPointer::new(address)?.change(bytes as usize, |to| memory.read(address, to));
    read.map_err(|_| Status::INVALID_VALUE)?;
    share(state, address, address, bytes)?;
    state.shared.insert(address, file);
    if let Some(allocation) = state.allocations.get_mut(&address) {
        allocation.kind = Kind::Exported;
    }
    Ok(())
}

/// Maps another process's file.
fn import(state: &mut State, bytes: u64, file: File) -> Done<u64> {
    let address = state.memory.allocate(bytes).map_err(|error| {
        say(&error.to_string());
        Status::OUT_OF_MEMORY
    })?;
    if !map_file(address, bytes as usize, &file) {
        let _ = state.memory.free(address);
        return Err(Status::MAP_FAILED);
    }
    share(state, address, address, bytes)?;
    let (id, device) = (state.handle() as u64, state.device());
    state.used[device as usize] += bytes;
    state.allocations.insert(address, Allocation { bytes, kind: Kind::Imported, device, id, pool: 0 });
    state.shared.insert(address, file);
    Ok(address)
}

driver! {
    fn cuIpcGetMemHandle(to: Out<Shared>, address: u64) {
        to.check()?;
        let mut state = working()?;
        let (start, allocation) = state.allocation(address).ok_or(Status::INVALID_VALUE)?;
        match allocation.kind {
            Kind::Device => export(&mut state, start, allocation.bytes)?,
            Kind::Exported => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        let file = state.shared.get(&start).ok_or(Status::INVALID_VALUE)?.as_raw_fd();
        to.put(Shared::new(MEMORY, file, allocation.bytes))
    }

    fn cuIpcOpenMemHandle_v2(to: Out<u64>, handle: Shared, flags: u32) {
        to.check()?;
        // As on a GPU, a process cannot open its own.
        if handle.begins != MEMORY || handle.process == std::process::id() {
            return Err(Status::INVALID_VALUE);
        }
        to.put(import(&mut *working()?, handle.bytes, handle.open()?)?)
    }

    fn cuIpcCloseMemHandle(address: u64) {
        let mut state = ready()?;
        let allocation = state.allocations.get(&address).ok_or(Status::INVALID_VALUE)?;
        if allocation.kind != Kind::Imported {
            return Err(Status::INVALID_VALUE);
        }
        release(&mut state, address)
    }

    fn cuIpcGetEventHandle(to: Out<Shared>, event: Handle) {
        to.check()?;
        let state = ready()?;
        let event = state.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        // An event that was opened has a file, too, but cannot be exported again.
        let shared = event.shared.as_ref().filter(|_| event.flags & 4 != 0).ok_or(Status::INVALID_VALUE)?;
        to.put(Shared::new(EVENT, shared.descriptor(), SharedEvent::BYTES))
    }

    fn cuIpcOpenEventHandle(to: Out<Handle>, handle: Shared) {
        to.check()?;
        if handle.begins != EVENT || handle.bytes != SharedEvent::BYTES {
            return Err(Status::INVALID_VALUE);
        }
        let shared = Some(Arc::new(SharedEvent::of(handle.open()?)));
        let mut state = working()?;
        let event = state.handle();
        // 2: without times.
        state.events.insert(event, Event { context: current()?, flags: 2, shared, ..Event::default() });
        to.put(event)
    }
}
