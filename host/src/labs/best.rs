//! What the labs give the best kernels beside their data: the size of the device, by which
//! `best_kernels` chooses, and the memory through which blocks exchange sums. The labs own what it
//! allocates.

use best_kernels::{Gpu, product::SUMS_PER_BLOCK};
use device::{Buffer, Device, Result};

/// The size of a device: an H200's multiprocessors where the simulator does not say how many
/// threads one holds.
pub(super) fn gpu(device: &Device) -> Gpu {
    let properties = device.properties();
    let each = properties.max_threads_per_multiprocessor.unwrap_or(Gpu::H200.threads_per_multiprocessor());
    Gpu {
        multiprocessors: device.multiprocessors(),
        resident_threads: u64::from(device.multiprocessors()) * u64::from(each),
        shared_per_block: properties.shared_per_block_opt_in,
    }
}

/// Empty slots for the results of blocks, which each launch leaves empty again.
pub(super) fn slots(device: &Device, count: usize) -> Result<Buffer<u64>> {
    let mut slots = device.buffer(count)?;
    slots.fill_bytes(0)?;
    Ok(slots)
}

/// The memory through which blocks that share tiles exchange sums.
pub(super) struct SplitWorkspace {
    /// For each block, whether it has left sums.
    pub ready: Buffer<u32>,
    /// The sums.
    pub sums: Buffer<f32>,
}

impl SplitWorkspace {
    /// For this many blocks that share tiles.
    ///
    /// # Errors
    ///
    /// As [`Device::buffer`].
    pub fn new(device: &Device, sharing: u32) -> Result<Self> {
        // A buffer has something in it.
        let blocks = sharing.max(1) as usize;
        let mut ready = device.buffer(blocks)?;
        ready.write(&vec![0; blocks])?;
        Ok(Self { ready, sums: device.buffer(blocks * SUMS_PER_BLOCK as usize)? })
    }
}
