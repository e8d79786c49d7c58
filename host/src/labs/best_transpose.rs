//! The best transpose for a matrix, for the lab `transpose` and for those that turn a matrix before they begin.

use cuda_std::launch::{Kernel, Pointer, PointerMut};
use kernels::transpose as kernel;

use super::tiles::resident_threads;
use crate::device::{Device, LaunchConfig};

/// The parameters of the best kernels: input and output, rows and columns, and both pitches.
type Parameters = (Pointer<f32>, PointerMut<f32>, u32, u32, u32, u32);

/// A best kernel, and how it is launched.
#[derive(Clone, Copy)]
pub(super) struct BestTranspose {
    pub kernel: &'static Kernel<Parameters>,
    pub launch: LaunchConfig,
}

impl BestTranspose {
    /// The best kernel for a matrix of this shape; `pitches` are those of the input and the output, in elements. It has small tiles if the device
    /// could hold all large ones at once: on an H200 up to 1470 x 1470 floats, where small tiles are faster up to 1536 x 1536 (2026-11-24).
    pub fn of(device: &Device, [rows, columns]: [u32; 2], pitches: [u32; 2]) -> Self {
        // Blocks go down the columns of tiles: the grid is that of the transposed matrix.
        let large =
            LaunchConfig::new(kernel::grid(columns, rows, [kernel::BEST_TILE; 2]), [kernel::BEST_THREADS, 1, 1]);
        let blocks = large.grid.map(u64::from).into_iter().product::<u64>();
        if !pitches.iter().all(|pitch| pitch.is_multiple_of(4)) {
            Self { kernel: &kernel::transpose_best_unaligned, launch: large }
        } else if blocks * u64::from(kernel::BEST_THREADS) <= resident_threads(device) {
            let grid = kernel::grid(rows, columns, [kernel::TILE; 2]);
            let launch = LaunchConfig::new(grid, [kernel::BEST_SMALL_THREADS, 1, 1]);
            Self { kernel: &kernel::transpose_best_small, launch }
        } else {
            Self { kernel: &kernel::transpose_best, launch: large }
        }
    }
}
