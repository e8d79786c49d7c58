//! The data on a device, and the launches: how much shared memory a block takes, so that as many as
//! a row wants fit on a multiprocessor, and no more.

use best_kernels::pipeline as bulk;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use cuda_std::vector::f32x4;
use device::{Buffer, Device, LaunchConfig, Properties, Result};
use kernels::pipeline::{self as kernel, BLOCK, RECORD};
use simt::models::BlockNeeds;

use super::method::{Method, TILE_BYTES};
use crate::labs::best::gpu;
use crate::labs::in_flight::model;
use crate::labs::launcher::Launcher;

/// Records, and a sum for each thread of the largest grid.
pub struct Data {
    records: u32,
    samples: Buffer<f32x4>,
    sums: Buffer<f32>,
}

impl Data {
    pub(super) fn new(device: &Device, samples: &[f32], threads: usize) -> Result<Self> {
        let mut data = Self {
            records: (samples.len() / (4 * RECORD as usize)) as u32,
            samples: device.buffer(samples.len() / 4)?,
            sums: device.buffer(threads)?,
        };
        // In WebAssembly numbers of 4 bytes need not lie where words of 16 may.
        let words: Vec<f32x4> = samples.as_chunks().0.iter().copied().map(f32x4::from_array).collect();
        data.samples.write(&words)?;
        Ok(data)
    }

    pub(super) fn reset(&mut self) -> Result<()> {
        self.sums.poison()
    }

    /// The sums of the first threads.
    pub(super) fn sums(&self, threads: usize) -> Result<Vec<f32>> {
        let mut sums = self.sums.read()?;
        sums.truncate(threads);
        Ok(sums)
    }

    pub(super) fn launch(&mut self, launcher: &mut Launcher<'_>, walk: &Walk) -> Result<()> {
        let Self { records, samples, sums } = self;
        match walk.kernel {
            Kernel::Safe(kernel) => launcher.launch(kernel, &walk.launch, (&*samples, sums)),
            // SAFETY: so many records are there, and a sum for each thread of the grid. `Walk::new`
            // has asked for the compute capability.
            Kernel::Bulk(kernel) => unsafe {
                launcher.launch_unchecked(kernel, &walk.launch, (&*samples, *records, sums))
            },
        }
    }
}

/// A kernel of the lab.
#[derive(Clone, Copy)]
enum Kernel {
    Safe(&'static SafeKernel<(Slice<f32x4>, DisjointSlice<f32>)>),
    Bulk(&'static bulk::Walk),
}

/// A kernel and its launch.
pub(super) struct Walk {
    kernel: Kernel,
    launch: LaunchConfig,
}

impl Walk {
    /// With so many blocks on each multiprocessor; `None` if the device has no such instructions, or
    /// other numbers of blocks only.
    pub fn new(device: &Device, method: Method, blocks: u32) -> Result<Option<Self>> {
        let properties = device.properties();
        let capability = (properties.compute_capability.major, properties.compute_capability.minor);
        let Some(dynamic_shared) = rest_for(properties, method, blocks).filter(|_| capability >= method.since()) else {
            return Ok(None);
        };
        let kernel = match method {
            Method::Load => Kernel::Safe(&kernel::pipeline_load),
            Method::Registers => Kernel::Safe(&kernel::pipeline_registers),
            Method::Async(2) => Kernel::Safe(&kernel::pipeline_async_2),
            Method::Async(3) => Kernel::Safe(&kernel::pipeline_async_3),
            Method::Async(_) => Kernel::Safe(&kernel::pipeline_async_4),
            Method::Bulk(stages) => Kernel::Bulk(bulk::launch(gpu(device), stages, blocks).0),
        };
        let grid = [device.multiprocessors() * blocks, 1, 1];
        let launch = LaunchConfig { dynamic_shared, ..LaunchConfig::new(grid, [BLOCK, 1, 1]) };
        let resident = match model(properties) {
            Some(model) => {
                let shared = method.shared() as u32 + dynamic_shared;
                let needs = BlockNeeds { threads: BLOCK, shared, ..BlockNeeds::default() };
                Some(model.occupancy(&needs, None).blocks())
            }
            None => {
                let occupancy = match kernel {
                    Kernel::Safe(kernel) => device.occupancy(kernel, &launch),
                    Kernel::Bulk(kernel) => device.occupancy(kernel, &launch),
                };
                occupancy?.map(|occupancy| occupancy.blocks)
            }
        };
        Ok((resident == Some(blocks)).then_some(Self { kernel, launch }))
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> usize {
        self.launch.grid[0] as usize
    }

    /// Threads of the grid.
    pub fn threads(&self) -> usize {
        self.blocks() * BLOCK as usize
    }
}

/// What the system reserves of shared memory for each block, from Ampere on.
const RESERVED: u64 = 1024;

/// The dynamic shared memory that a block takes beside its stages, in whole KiB, so that no more
/// than `blocks` fit on a multiprocessor; `None` if so many do not.
fn rest_for(properties: &Properties, method: Method, blocks: u32) -> Option<u32> {
    let share = (properties.shared_per_multiprocessor? / u64::from(blocks)).checked_sub(RESERVED)?;
    let rest = share.min(properties.shared_per_block_opt_in).checked_sub(method.shared() as u64)?;
    Some((rest as u32) >> 10 << 10)
}

/// A stage is a tile.
const _: () = assert!(TILE_BYTES == RECORD as usize * size_of::<f32x4>() && bulk::RECORD == RECORD);
