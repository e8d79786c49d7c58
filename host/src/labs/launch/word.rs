//! The kernels of the lab by the word and the number of loads, and how many of their threads are
//! resident.

use clap::ValueEnum;
use cuda_std::launch::{DisjointSlice, Kernel, SafeKernel};
use cuda_std::vector::{f32x2, f32x4};
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::launch as kernel;

use crate::labs::in_flight::model;
use crate::labs::launcher::Launcher;

/// A word that a thread loads at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Word {
    /// 4 bytes.
    F32,
    /// 8 bytes.
    F32x2,
    /// 16 bytes.
    F32x4,
}

impl Word {
    pub(super) const ALL: [Self; 3] = [Self::F32, Self::F32x2, Self::F32x4];

    pub(super) fn name(self) -> &'static str {
        ["f32", "f32x2", "f32x4"][self as usize]
    }

    pub(super) fn bytes(self) -> usize {
        [4, 8, 16][self as usize]
    }

    /// The registers of a thread of that kernel on an H200, rounded up to what is allocated. Data
    /// in flight is in registers, so they limit it. Those whose number limits nothing have 32.
    pub(super) fn registers(self, loads: u32) -> u32 {
        match (self, loads) {
            (Self::F32x4, 4) => 48,
            (Self::F32x2 | Self::F32x4, 8) => 56,
            _ => 32,
        }
    }

    /// The kernel with this many independent loads.
    pub(super) fn kernel(self, loads: u32) -> Increment {
        let which = loads.ilog2().min(3) as usize;
        match self {
            Self::F32 => {
                let kernels: [&'static SafeKernel<_>; 4] =
                    [&kernel::launch_f32_1, &kernel::launch_f32_2, &kernel::launch_f32_4, &kernel::launch_f32_8];
                Increment::F32(kernels[which])
            }
            Self::F32x2 => {
                let kernels: [&'static SafeKernel<_>; 4] = [
                    &kernel::launch_f32x2_1,
                    &kernel::launch_f32x2_2,
                    &kernel::launch_f32x2_4,
                    &kernel::launch_f32x2_8,
                ];
                Increment::F32x2(kernels[which])
            }
            Self::F32x4 => {
                let kernels: [&'static SafeKernel<_>; 4] = [
                    &kernel::launch_f32x4_1,
                    &kernel::launch_f32x4_2,
                    &kernel::launch_f32x4_4,
                    &kernel::launch_f32x4_8,
                ];
                Increment::F32x4(kernels[which])
            }
        }
    }
}

/// What increments words, and the floats that are left over after the last one.
type Wide<W> = SafeKernel<(DisjointSlice<W>, DisjointSlice<f32>)>;

/// A kernel, by the words that it takes.
#[derive(Clone, Copy)]
pub(super) enum Increment {
    F32(&'static SafeKernel<(DisjointSlice<f32>,)>),
    F32x2(&'static Wide<f32x2>),
    F32x4(&'static Wide<f32x4>),
}

impl Increment {
    pub fn launch(self, launcher: &mut Launcher, launch: &LaunchConfig, vector: &mut Buffer<f32>) -> Result<()> {
        match self {
            Self::F32(kernel) => launcher.launch(kernel, launch, (vector,)),
            Self::F32x2(kernel) => launcher.launch(kernel, launch, vector.words_mut()),
            Self::F32x4(kernel) => launcher.launch(kernel, launch, vector.words_mut()),
        }
    }

    /// The threads that are resident on a multiprocessor at once: of a grid of `fixed` size its
    /// own, otherwise as many as fit, as for a vector that keeps the GPU busy.
    pub fn resident_threads(
        self,
        device: &Device,
        launch: &LaunchConfig,
        registers: u32,
        fixed: bool,
    ) -> Result<Option<u64>> {
        match self {
            Self::F32(kernel) => resident_threads(device, kernel, launch, registers, fixed),
            Self::F32x2(kernel) => resident_threads(device, kernel, launch, registers, fixed),
            Self::F32x4(kernel) => resident_threads(device, kernel, launch, registers, fixed),
        }
    }
}

/// As [`Increment::resident_threads`].
fn resident_threads<P>(
    device: &Device,
    kernel: &Kernel<P>,
    launch: &LaunchConfig,
    registers: u32,
    fixed: bool,
) -> Result<Option<u64>> {
    let resident = match model(device.properties()) {
        Some(model) => {
            let blocks = |registers| {
                let threads = launch.block[0];
                let needs = simt::models::BlockNeeds { threads, registers, ..simt::models::BlockNeeds::default() };
                model.occupancy(&needs, None).blocks()
            };
            // Where so many registers are too many for a block, its compiler makes do with fewer.
            Some(blocks(Some(registers)).max(1).min(blocks(None)))
        }
        None => device.occupancy(kernel, launch)?.map(|occupancy| occupancy.blocks),
    };
    let Some(resident) = resident else { return Ok(None) };
    let blocks = if fixed { resident.min(launch.grid[0].div_ceil(device.multiprocessors())) } else { resident };
    Ok(Some(u64::from(blocks) * u64::from(launch.block[0])))
}
