//! A GPU's linear memory: `cust`'s buffers and modules' variables by their addresses, and copies
//! that stay within one of them. [`super::Gpu`] has one and allocates, copies and frees through it.

use std::collections::BTreeMap;
use std::rc::Rc;

use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice, LockedBuffer};
use cust::stream::Stream;
use cust::sys;

use super::module::Module;
use super::rows::{self, DeviceRows};
use super::status::{DriverError, Result, to_result};

/// The memory that a GPU's buffers and variables own, by its first address. Allocations are freed
/// when this is dropped.
#[derive(Default)]
pub struct Memory {
    regions: BTreeMap<u64, Region>,
}

/// Adjacent bytes.
enum Region {
    Allocation(DeviceBuffer<u8>),
    /// A variable. The module that it belongs to is kept.
    Variable {
        bytes: DeviceSlice<u8>,
        _module: Rc<Module>,
    },
}

impl Memory {
    /// Allocates `bytes` bytes, at least one; returns their address.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64> {
        // SAFETY: bytes have no invalid values, so they may be read before they are written.
        Ok(self.keep(unsafe { DeviceBuffer::uninitialized(bytes as usize) }?))
    }

    /// Allocates rows that start on the device's preferred alignment; returns the address and the
    /// pitch in bytes.
    pub fn allocate_pitched(&mut self, row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)> {
        let (row_bytes, rows) = (row_bytes as usize, rows as usize);
        let (mut address, mut pitch) = (0, 0);
        // SAFETY: both outputs outlive the call; the driver checks the sizes.
        to_result(unsafe { sys::cuMemAllocPitch_v2(&mut address, &mut pitch, row_bytes, rows, element_bytes) })?;
        // SAFETY: the memory has just been allocated, is freed like any other, and nothing else
        // frees it.
        let buffer =
            unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), pitch.saturating_mul(rows)) };
        Ok((self.keep(buffer), pitch as u64))
    }

    fn keep(&mut self, buffer: DeviceBuffer<u8>) -> u64 {
        let address = buffer.as_device_ptr().as_raw();
        self.regions.insert(address, Region::Allocation(buffer));
        address
    }

    /// Frees an allocation. Any other address is ignored.
    pub fn free(&mut self, address: u64) {
        if let Some(Region::Allocation(_)) = self.regions.get(&address) {
            self.regions.remove(&address);
        }
    }

    /// Address and size of a module's variable, which copies may use from now on.
    pub fn variable(&mut self, module: &Rc<Module>, name: &str) -> Result<Option<(u64, u64)>> {
        let Some((address, bytes)) = module.variable(name)? else { return Ok(None) };
        // SAFETY: the variable has so many bytes there, as long as its module is loaded, which the
        // region keeps.
        let variable = unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), bytes) };
        self.regions.insert(address, Region::Variable { bytes: variable, _module: Rc::clone(module) });
        Ok(Some((address, bytes as u64)))
    }

    /// Copies from the host.
    pub fn write(&self, to: u64, from: &[u8]) -> Result<()> {
        Ok(self.slice(to, from.len() as u64)?.copy_from(from)?)
    }

    /// Copies to the host.
    pub fn read(&self, to: &mut [u8], from: u64) -> Result<()> {
        Ok(self.slice(from, to.len() as u64)?.copy_to(to)?)
    }

    /// Starts a copy from pinned memory of the host.
    ///
    /// # Safety
    ///
    /// The pinned memory is kept, unchanged, until the stream has been waited for.
    pub unsafe fn write_async(&self, to: u64, from: &LockedBuffer<u8>, stream: &Stream) -> Result<()> {
        let mut to = self.slice(to, from.len() as u64)?;
        // SAFETY: the caller's promise.
        Ok(unsafe { to.async_copy_from(from.as_slice(), stream) }?)
    }

    /// Starts a copy within the memory.
    pub fn copy(&self, from: u64, to: u64, bytes: u64, stream: &Stream) -> Result<()> {
        let (from, mut to) = (self.slice(from, bytes)?, self.slice(to, bytes)?);
        // SAFETY: whatever uses the bytes next is started on this stream, or waits for it.
        Ok(unsafe { to.async_copy_from(&from, stream) }?)
    }

    /// Starts setting bytes to `value`.
    pub fn fill(&self, address: u64, bytes: u64, value: u8, stream: &Stream) -> Result<()> {
        // SAFETY: as above.
        Ok(unsafe { self.slice(address, bytes)?.set_8_async(value, stream) }?)
    }

    /// Copies adjacent rows of `row_bytes` bytes from the host.
    pub fn write_rows(&self, to: DeviceRows, from: &[u8], row_bytes: u64) -> Result<()> {
        self.require_rows(to, row_bytes, from.len() as u64 / row_bytes.max(1))?;
        // SAFETY: the rows are this GPU's.
        unsafe { rows::write(to, from, row_bytes) }
    }

    /// Copies rows of `row_bytes` bytes to the host, where they are adjacent.
    pub fn read_rows(&self, to: &mut [u8], from: DeviceRows, row_bytes: u64) -> Result<()> {
        self.require_rows(from, row_bytes, to.len() as u64 / row_bytes.max(1))?;
        // SAFETY: the rows are this GPU's.
        unsafe { rows::read(to, from, row_bytes) }
    }

    /// Starts a copy of rows of `row_bytes` bytes within the memory.
    pub fn copy_rows(
        &self,
        from: DeviceRows,
        to: DeviceRows,
        row_bytes: u64,
        count: u64,
        stream: &Stream,
    ) -> Result<()> {
        self.require_rows(from, row_bytes, count)?;
        self.require_rows(to, row_bytes, count)?;
        // SAFETY: the rows are this GPU's at both places.
        unsafe { rows::copy_async(from, to, row_bytes, count, stream) }
    }

    /// Fails unless these bytes lie in one region.
    pub fn holds(&self, address: u64, bytes: u64) -> Result<()> {
        self.slice(address, bytes).map(drop)
    }

    /// These bytes, which lie in one region.
    fn slice(&self, address: u64, bytes: u64) -> Result<DeviceSlice<u8>> {
        let (start, region) = self.regions.range(..=address).next_back().ok_or(DriverError::INVALID_VALUE)?;
        let whole = match region {
            Region::Allocation(buffer) => **buffer,
            Region::Variable { bytes, .. } => *bytes,
        };
        let first = (address - start) as usize;
        match first.checked_add(bytes as usize) {
            Some(end) if end <= whole.len() => Ok(whole.index(first..end)),
            _ => Err(DriverError::INVALID_VALUE),
        }
    }

    /// Fails unless the rows lie in one region, of which the last row may lack its padding.
    fn require_rows(&self, rows: DeviceRows, row_bytes: u64, count: u64) -> Result<()> {
        let bytes = match count {
            0 => 0,
            count => rows.pitch.saturating_mul(count - 1).saturating_add(row_bytes),
        };
        self.slice(rows.address, bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_in_one_region() {
        let mut memory = Memory::default();
        for (address, bytes) in [(1000, 100), (1100, 28)] {
            // SAFETY: nothing reads or frees the memory, which is not there.
            memory.keep(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), bytes) });
        }
        let slice = |address, bytes| {
            let slice = memory.slice(address, bytes)?;
            Ok((slice.as_device_ptr().as_raw(), slice.len()))
        };
        assert_eq!(slice(1000, 100), Ok((1000, 100)));
        assert_eq!(slice(1090, 10), Ok((1090, 10)));
        assert_eq!(slice(1100, 0), Ok((1100, 0)));
        for (address, bytes) in [(999, 1), (1000, 101), (1099, 2), (1128, 1), (1050, u64::MAX)] {
            assert_eq!(slice(address, bytes), Err(DriverError::INVALID_VALUE), "{address}, {bytes}");
        }
        let rows = DeviceRows { address: 1000, pitch: 40 };
        assert_eq!(memory.require_rows(rows, 20, 3), Ok(()));
        assert_eq!(memory.require_rows(rows, 21, 3), Err(DriverError::INVALID_VALUE));
        assert_eq!(memory.require_rows(rows, u64::MAX, 0), Ok(()));
        // There is no driver here to free them.
        std::mem::forget(memory);
    }
}
