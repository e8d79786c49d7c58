//! Memory outside a GPU's own: of the host, pageable, pinned or managed, and of a second GPU that
//! this one reaches; streams, and copies on them. The backend keeps the memory by number.
//!
//! Whoever reads, writes or frees the memory on the host waits for all streams first. So a copy
//! never runs while the host uses its bytes.

use std::rc::Rc;
use std::slice;

use cust::context::{Context, CurrentContext};
use cust::device::Device as CudaDevice;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use cust::sys;
use simt::transfers::Outside;

use super::super::backend::Transfer;
use super::Gpu;
use super::status::{DriverError, to_result};
use crate::error::{Error, Result};

/// Memory that any stream of any context reaches (`CU_MEM_ATTACH_GLOBAL`).
const ATTACH_GLOBAL: u32 = 1;
/// The host, as a place for managed memory (`CU_DEVICE_CPU`).
const HOST: i32 = -1;
/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
const ALREADY_ENABLED: DriverError = DriverError::Status(704);

/// Memory outside a GPU's own.
pub(super) enum OutsideMemory {
    Pageable(Vec<u8>),
    Pinned(LockedBuffer<u8>),
    Managed(Managed),
    Peer(PeerMemory),
}

/// Memory that moves between the host and the GPU. Freed when dropped.
pub(super) struct Managed {
    address: u64,
    bytes: usize,
}

/// Memory of another GPU. Freed when dropped.
pub(super) struct PeerMemory {
    buffer: Option<DeviceBuffer<u8>>,
    context: Rc<Context>,
}

impl Managed {
    fn new(bytes: usize) -> super::status::Result<Self> {
        let mut address = 0;
        // SAFETY: the output outlives the call; the driver checks the size.
        to_result(unsafe { sys::cuMemAllocManaged(&mut address, bytes, ATTACH_GLOBAL) })?;
        Ok(Self { address, bytes })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is this value's, is zeroed when it is allocated, and the host may read
        // it while no stream works, which the callers wait for.
        unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(self.address as usize), self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(self.address as usize), self.bytes) }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: the memory is this value's.
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        if CurrentContext::set_current(&*self.context).is_ok() {
            self.buffer.take();
        }
    }
}

impl OutsideMemory {
    /// The address of its first byte: with unified addressing, which all 64-bit systems have, one
    /// address for the host and all GPUs.
    fn address(&self) -> u64 {
        match self {
            Self::Pageable(bytes) => bytes.as_ptr().expose_provenance() as u64,
            Self::Pinned(bytes) => bytes.as_slice().as_ptr().expose_provenance() as u64,
            Self::Managed(memory) => memory.address,
            Self::Peer(memory) => memory.buffer.as_ref().map_or(0, |buffer| buffer.as_device_ptr().as_raw()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Pageable(bytes) => bytes.len(),
            Self::Pinned(bytes) => bytes.as_slice().len(),
            Self::Managed(memory) => memory.bytes,
            Self::Peer(memory) => memory.buffer.as_ref().map_or(0, |buffer| buffer.len()),
        }
    }
}

impl Gpu {
    /// The context of a second GPU that this one reaches, if there is one.
    pub(super) fn peer(&self) -> Option<Rc<Context>> {
        self.peer.get_or_init(|| self.open_peer().ok().flatten()).clone()
    }

    fn open_peer(&self) -> super::status::Result<Option<Rc<Context>>> {
        let own = self.properties.index.unwrap_or(0);
        let device = CudaDevice::get_device(own)?;
        for index in (0..CudaDevice::num_devices()?).filter(|&index| index != own) {
            let other = CudaDevice::get_device(index)?;
            let mut reaches = 0;
            // SAFETY: the output outlives the call.
            to_result(unsafe { sys::cuDeviceCanAccessPeer(&mut reaches, device.as_raw(), other.as_raw()) })?;
            if reaches == 0 {
                continue;
            }
            let context = Rc::new(Context::new(other)?);
            for (from, to) in [(&*context, &self.context), (&self.context, &*context)] {
                CurrentContext::set_current(from)?;
                // SAFETY: both contexts are alive; 0 is the only flag there is.
                match to_result(unsafe { sys::cuCtxEnablePeerAccess(to.as_raw(), 0) }) {
                    Err(ALREADY_ENABLED) => {}
                    enabled => enabled?,
                }
            }
            return Ok(Some(context));
        }
        Ok(None)
    }

    /// Waits for all streams.
    fn settle(&self) -> Result<()> {
        self.make_current()?;
        for stream in self.streams.borrow().iter().chain([&self.stream]) {
            self.explain("waiting for copies", stream.synchronize())?;
        }
        Ok(())
    }

    pub(super) fn new_outside(&self, kind: Outside, bytes: u64) -> Result<u64> {
        self.make_current()?;
        // The driver does not allocate 0 bytes.
        let size = bytes.max(1) as usize;
        let memory = match kind {
            Outside::Pageable => OutsideMemory::Pageable(vec![0; size]),
            Outside::Pinned => {
                // SAFETY: the bytes are written next.
                let pinned = unsafe { LockedBuffer::<u8>::uninitialized(size) };
                let mut pinned = self.explain("allocating pinned memory", pinned)?;
                pinned.as_mut_slice().fill(0);
                OutsideMemory::Pinned(pinned)
            }
            Outside::Managed => OutsideMemory::Managed(self.allocated(bytes, Managed::new(size))?),
            Outside::Peer => OutsideMemory::Peer(self.new_on_peer(size)?),
        };
        let mut all = self.outside.borrow_mut();
        let number = all.len() as u64;
        all.push(Some(memory));
        Ok(number)
    }

    fn new_on_peer(&self, bytes: usize) -> Result<PeerMemory> {
        let Some(context) = self.peer() else {
            return Err(Error::request("peer", "there is no second GPU that this one reaches"));
        };
        self.explain("choosing the second GPU", CurrentContext::set_current(&*context))?;
        // SAFETY: bytes have no invalid values, so they may be read before they are written.
        let buffer = unsafe { DeviceBuffer::uninitialized(bytes) };
        let buffer = self.explain("allocating memory of the second GPU", buffer);
        self.make_current()?;
        Ok(PeerMemory { buffer: Some(buffer?), context })
    }

    pub(super) fn drop_outside(&self, number: u64) {
        let _ = self.settle();
        if let Some(memory) = self.outside.borrow_mut().get_mut(number as usize) {
            memory.take();
        }
        let _ = self.make_current();
    }

    /// Something with memory that the host may use, since nothing runs.
    fn with_outside<R>(
        &self,
        number: u64,
        use_it: impl FnOnce(&mut OutsideMemory) -> super::status::Result<R>,
    ) -> Result<R> {
        let mut all = self.outside.borrow_mut();
        let used = match all.get_mut(number as usize) {
            Some(Some(memory)) => use_it(memory),
            _ => Err(DriverError::INVALID_VALUE),
        };
        self.explain("using memory outside the device", used)
    }

    pub(super) fn fill_outside(&self, number: u64, from: &[u8]) -> Result<()> {
        self.settle()?;
        self.with_outside(number, |memory| {
            match memory {
                OutsideMemory::Pageable(to) => to[..from.len()].copy_from_slice(from),
                OutsideMemory::Pinned(to) => to.as_mut_slice()[..from.len()].copy_from_slice(from),
                OutsideMemory::Managed(memory) => memory.bytes_mut()[..from.len()].copy_from_slice(from),
                OutsideMemory::Peer(PeerMemory { buffer, context }) => {
                    CurrentContext::set_current(&**context)?;
                    if let Some(buffer) = buffer.as_mut().filter(|_| !from.is_empty()) {
                        buffer.index(0..from.len()).copy_from(from)?;
                    }
                }
            }
            Ok(())
        })?;
        self.make_current()
    }

    pub(super) fn take_outside(&self, number: u64, to: &mut [u8]) -> Result<()> {
        self.settle()?;
        self.with_outside(number, |memory| {
            match memory {
                OutsideMemory::Pageable(from) => to.copy_from_slice(&from[..to.len()]),
                OutsideMemory::Pinned(from) => to.copy_from_slice(&from.as_slice()[..to.len()]),
                OutsideMemory::Managed(memory) => to.copy_from_slice(&memory.bytes()[..to.len()]),
                OutsideMemory::Peer(PeerMemory { buffer, context }) => {
                    CurrentContext::set_current(&**context)?;
                    if let Some(buffer) = buffer.as_ref().filter(|_| !to.is_empty()) {
                        buffer.index(0..to.len()).copy_to(to)?;
                    }
                }
            }
            Ok(())
        })?;
        self.make_current()
    }

    pub(super) fn address_outside(&self, number: u64) -> Result<u64> {
        self.with_outside(number, |memory| match memory {
            OutsideMemory::Pageable(_) => Err(DriverError::NOT_SUPPORTED),
            memory => Ok(memory.address()),
        })
    }

    pub(super) fn transfer(&self, transfer: &Transfer) -> Result<()> {
        let &Transfer { outside, first, address, bytes, to_device, stream } = transfer;
        if bytes == 0 {
            return Ok(());
        }
        self.make_current()?;
        self.memory_holds(address, bytes)?;
        self.with_outside(outside, |memory| {
            if first.checked_add(bytes).is_none_or(|end| end > memory.len() as u64) {
                return Err(DriverError::INVALID_VALUE);
            }
            let far = memory.address() + first;
            let is_peer = matches!(memory, OutsideMemory::Peer(_));
            let host = far as usize;
            self.on_stream(stream, |stream| {
                let (stream, size) = (stream.as_inner(), bytes as usize);
                // SAFETY: both ranges were checked, and belong to memory that is freed, and used on
                // the host, only after all streams have ended.
                to_result(unsafe {
                    match (is_peer, to_device) {
                        (true, true) => sys::cuMemcpyDtoDAsync_v2(address, far, size, stream),
                        (true, false) => sys::cuMemcpyDtoDAsync_v2(far, address, size, stream),
                        (false, true) => {
                            sys::cuMemcpyHtoDAsync_v2(address, std::ptr::with_exposed_provenance(host), size, stream)
                        }
                        (false, false) => sys::cuMemcpyDtoHAsync_v2(
                            std::ptr::with_exposed_provenance_mut(host),
                            address,
                            size,
                            stream,
                        ),
                    }
                })
            })
        })
    }

    /// Fails unless these bytes are of one allocation of the GPU.
    fn memory_holds(&self, address: u64, bytes: u64) -> Result<()> {
        self.explain("copying", self.memory.borrow().holds(address, bytes))
    }

    pub(super) fn move_managed(&self, number: u64, to_device: bool) -> Result<()> {
        self.make_current()?;
        let device = self.explain("choosing the GPU", CudaDevice::get_device(self.properties.index.unwrap_or(0)))?;
        let place = if to_device { device.as_raw() } else { HOST };
        self.with_outside(number, |memory| match memory {
            OutsideMemory::Managed(Managed { address, bytes }) => {
                // SAFETY: the memory is managed, and the stream is the context's.
                to_result(unsafe { sys::cuMemPrefetchAsync(*address, *bytes, place, self.stream.as_inner()) })
            }
            _ => Err(DriverError::INVALID_VALUE),
        })
    }

    /// Something with a stream: 0 is the main one.
    pub(super) fn on_stream<R>(&self, stream: u32, start: impl FnOnce(&Stream) -> R) -> R {
        let streams = self.streams.borrow();
        start((stream as usize).checked_sub(1).and_then(|at| streams.get(at)).unwrap_or(&self.stream))
    }

    pub(super) fn fork_streams(&self, count: u32) -> Result<()> {
        self.make_current()?;
        let doing = "starting streams";
        let mut streams = self.streams.borrow_mut();
        while streams.len() < count as usize {
            streams.push(self.explain(doing, Stream::new(StreamFlags::NON_BLOCKING, None))?);
        }
        for stream in &streams[..count as usize] {
            self.order(doing, &self.stream, stream)?;
        }
        Ok(())
    }

    pub(super) fn join_streams(&self, count: u32) -> Result<()> {
        self.make_current()?;
        let streams = self.streams.borrow();
        streams.iter().take(count as usize).try_for_each(|stream| self.order("joining streams", stream, &self.stream))
    }

    /// What one stream gets from now on waits for what another has.
    fn order(&self, doing: &str, first: &Stream, then: &Stream) -> Result<()> {
        let event = self.explain(doing, Event::new(EventFlags::DISABLE_TIMING))?;
        self.explain(doing, event.record(first))?;
        self.explain(doing, then.wait_event(event, StreamWaitEventFlags::DEFAULT))
    }
}
