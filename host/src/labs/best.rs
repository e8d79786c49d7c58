//! What the labs give the best kernels beside their data: the size of the device, by which `best_kernels` chooses, and the memory where
//! blocks meet. The labs own what it allocates.

use best_kernels::{Gpu, Launch, product::ROOM};

use crate::device::{Buffer, Device, LaunchConfig};
use crate::error::Result;

/// The size of a device; an H200's where the simulator has none.
pub(super) fn gpu(device: &Device) -> Gpu {
    let properties = device.properties();
    let each = properties.multiprocessors.zip(properties.max_threads_per_multiprocessor);
    Gpu {
        multiprocessors: properties.multiprocessors.unwrap_or(Gpu::H200.multiprocessors),
        resident_threads: each
            .map_or(Gpu::H200.resident_threads, |(count, threads)| u64::from(count) * u64::from(threads)),
        shared_per_block: properties.shared_per_block_opt_in,
    }
}

/// The multiprocessors of a device, or a few if it does not report them: for kernels with a number of blocks for each.
pub(super) fn multiprocessors(device: &Device) -> u32 {
    device.properties().multiprocessors.unwrap_or(16)
}

impl From<Launch> for LaunchConfig {
    fn from(Launch { grid, block, dynamic_shared }: Launch) -> Self {
        Self { dynamic_shared, ..Self::new(grid, block) }
    }
}

/// Empty slots for the results of blocks, which each launch leaves empty again.
pub(super) fn slots(device: &Device, count: usize) -> Result<Buffer<u64>> {
    let mut slots = device.buffer(count)?;
    slots.fill_bytes(0)?;
    Ok(slots)
}

/// Where the blocks that share tiles meet.
pub(super) struct Meeting {
    /// For each block, whether it has left sums.
    pub ready: Buffer<u32>,
    /// The sums.
    pub room: Buffer<f32>,
}

impl Meeting {
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
        Ok(Self { ready, room: device.buffer(blocks * ROOM as usize)? })
    }
}
