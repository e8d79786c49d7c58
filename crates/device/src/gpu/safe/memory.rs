//! A GPU's linear memory: which ranges of addresses are its own, and copies that stay within them. [`super::super::Gpu`]
//! has one and allocates, copies and frees through it.

use std::collections::BTreeMap;
use std::rc::Rc;

use cust::memory::LockedBuffer;
use cust::stream::Stream;

use super::super::result::rows::DeviceRows;
use super::super::result::{DriverError, Result, memory, rows};
use super::module::Module;

/// The memory that a GPU's buffers and variables own, by its first address. Allocations are freed when this is dropped.
#[derive(Default)]
pub struct Memory {
    regions: BTreeMap<u64, Region>,
}

/// Adjacent bytes.
struct Region {
    bytes: u64,
    /// For a variable, the module that it belongs to; `None` for an allocation.
    module: Option<Rc<Module>>,
}

impl Memory {
    /// Allocates `bytes` bytes; returns their address.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64> {
        let address = memory::allocate(bytes)?;
        self.regions.insert(address, Region { bytes, module: None });
        Ok(address)
    }

    /// Allocates rows that start on the device's preferred alignment; returns the address and the pitch in bytes.
    pub fn allocate_pitched(&mut self, row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)> {
        let (address, pitch) = memory::allocate_pitched(row_bytes, rows, element_bytes)?;
        self.regions.insert(address, Region { bytes: pitch.saturating_mul(rows), module: None });
        Ok((address, pitch))
    }

    /// Frees an allocation. Any other address is ignored.
    pub fn free(&mut self, address: u64) {
        let is_allocation = self.regions.get(&address).is_some_and(|region| region.module.is_none());
        if is_allocation {
            self.regions.remove(&address);
            // SAFETY: the address is that of an allocation, which has just been forgotten. A failure leaves nothing to do.
            let _ = unsafe { memory::free(address) };
        }
    }

    /// Address and size of a module's variable, which copies may use from now on.
    pub fn variable(&mut self, module: &Rc<Module>, name: &str) -> Result<Option<(u64, u64)>> {
        let found = module.variable(name)?;
        if let Some((address, bytes)) = found {
            self.regions.insert(address, Region { bytes, module: Some(Rc::clone(module)) });
        }
        Ok(found)
    }

    /// Copies from the host.
    pub fn write(&self, to: u64, from: &[u8]) -> Result<()> {
        self.require(to, from.len() as u64)?;
        // SAFETY: the range is this GPU's.
        unsafe { memory::write(to, from) }
    }

    /// Copies to the host.
    pub fn read(&self, to: &mut [u8], from: u64) -> Result<()> {
        self.require(from, to.len() as u64)?;
        // SAFETY: the range is this GPU's.
        unsafe { memory::read(to, from) }
    }

    /// Starts a copy from pinned memory of the host.
    ///
    /// # Safety
    ///
    /// The pinned memory is kept, unchanged, until the stream has been waited for.
    pub unsafe fn write_async(&self, to: u64, from: &LockedBuffer<u8>, stream: &Stream) -> Result<()> {
        self.require(to, from.len() as u64)?;
        // SAFETY: the range is this GPU's; the rest is the caller's promise.
        unsafe { memory::write_async(to, from, stream) }
    }

    /// Starts a copy within the memory.
    pub fn copy(&self, from: u64, to: u64, bytes: u64, stream: &Stream) -> Result<()> {
        self.require(from, bytes)?;
        self.require(to, bytes)?;
        // SAFETY: both ranges are this GPU's.
        unsafe { memory::copy_async(from, to, bytes, stream) }
    }

    /// Starts setting bytes to `value`.
    pub fn fill(&self, address: u64, bytes: u64, value: u8, stream: &Stream) -> Result<()> {
        self.require(address, bytes)?;
        // SAFETY: the range is this GPU's.
        unsafe { memory::fill_async(address, bytes, value, stream) }
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

    /// Fails unless the bytes lie in one region.
    fn require(&self, address: u64, bytes: u64) -> Result<()> {
        let region = self.regions.range(..=address).next_back();
        match region {
            Some((start, region)) if (address - start).saturating_add(bytes) <= region.bytes => Ok(()),
            _ => Err(DriverError::INVALID_VALUE),
        }
    }

    /// Fails unless the rows lie in one region, of which the last row may lack its padding.
    fn require_rows(&self, rows: DeviceRows, row_bytes: u64, count: u64) -> Result<()> {
        match count {
            0 => self.require(rows.address, 0),
            count => self.require(rows.address, rows.pitch.saturating_mul(count - 1).saturating_add(row_bytes)),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (address, region) in std::mem::take(&mut self.regions) {
            if region.module.is_none() {
                // SAFETY: nothing has freed this allocation, and nothing knows it any more.
                let _ = unsafe { memory::free(address) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_in_one_region() {
        let mut memory = Memory::default();
        let region = |bytes| Region { bytes, module: None };
        memory.regions.insert(1000, region(100));
        memory.regions.insert(1100, region(28));
        assert_eq!(memory.require(1000, 100), Ok(()));
        assert_eq!(memory.require(1100, 0), Ok(()));
        for (address, bytes) in [(999, 1), (1000, 101), (1099, 2), (1128, 1), (1050, u64::MAX)] {
            assert_eq!(memory.require(address, bytes), Err(DriverError::INVALID_VALUE), "{address}, {bytes}");
        }
        let rows = DeviceRows { address: 1000, pitch: 40 };
        assert_eq!(memory.require_rows(rows, 20, 3), Ok(()));
        assert_eq!(memory.require_rows(rows, 21, 3), Err(DriverError::INVALID_VALUE));
        assert_eq!(memory.require_rows(rows, u64::MAX, 0), Ok(()));
        // There is no driver here to free them.
        memory.regions.clear();
    }
}
