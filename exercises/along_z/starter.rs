//! Three planes in registers
//!
//! In three dimensions a value has six neighbours. Four are in its plane, which a block can share
//! through a tile in shared memory. The other two are in the planes below and above, where no other
//! thread of the block needs them: a tile does not help, and a cache may have dropped a plane
//! before the next one is computed.
//!
//! But a block can walk along z, plane after plane, as this kernel does. Then each thread needs the
//! same values again: the value above it now is at its own position in the next step, and below it
//! in the one after. A thread can keep these values in registers. This is called *2.5D blocking*: a
//! tile in two dimensions, and a walk in the third.
//!
//! # Task
//!
//! Load each value of the thread's column once: at most 2.2 times the sectors that the volume has,
//! the halo included. The walk and the tile are there already, and right. (On an H200 the walk pays
//! only without a tile: `host stencil`.)

use cuda_std::prelude::*;

/// A volume, row by row and plane by plane.
#[derive(Clone, Copy)]
struct Volume {
    values: *const f32,
    planes: i32,
    rows: i32,
    columns: i32,
}

impl Volume {
    /// Where a value is; `None` outside of the volume.
    #[inline(always)]
    fn index(self, z: i32, y: i32, x: i32) -> Option<usize> {
        let inside = (0..self.planes).contains(&z)
            && (0..self.rows).contains(&y)
            && (0..self.columns).contains(&x);
        let row = z as usize * self.rows as usize + y as usize;
        inside.then_some(row * self.columns as usize + x as usize)
    }

    /// A value; outside of the volume 0.
    ///
    /// # Safety
    /// `values` holds the volume.
    #[inline(always)]
    unsafe fn value(self, z: i32, y: i32, x: i32) -> f32 {
        self.index(z, y, x).map_or(0.0, |i| *self.values.add(i))
    }
}

/// `output` becomes the mean of seven values of `input`.
///
/// # Safety
/// `input` and `output` hold `planes` planes of `rows` rows of `columns` values. Blocks have 32 x 8
/// threads, and there is a thread for each value of a plane.
#[kernel(block(32, 8))]
pub unsafe fn relax(input: *const f32, output: *mut f32, planes: i32, rows: i32, columns: i32) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 34]; 10]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let volume = Volume { values: input, planes, rows, columns };
    let (i, j) = (thread::thread_idx_y() as usize + 1, thread::thread_idx_x() as usize + 1);
    let y = 8 * thread::block_idx_y() as i32 + i as i32 - 1;
    let x = 32 * thread::block_idx_x() as i32 + j as i32 - 1;

    for z in 0..planes {
        // TODO: three loads, two of them of what the thread has loaded before.
        let below = volume.value(z - 1, y, x);
        let here = volume.value(z, y, x);
        let above = volume.value(z + 1, y, x);
        // The plane of this step, and a halo of one value on each side, without corners.
        (*tile)[i][j] = here;
        if i == 1 {
            (*tile)[0][j] = volume.value(z, y - 1, x);
        }
        if i == 8 {
            (*tile)[9][j] = volume.value(z, y + 1, x);
        }
        if j == 1 {
            (*tile)[i][0] = volume.value(z, y, x - 1);
        }
        if j == 32 {
            (*tile)[i][33] = volume.value(z, y, x + 1);
        }
        thread::sync_threads();
        if let Some(index) = volume.index(z, y, x) {
            let (up, down) = ((*tile)[i - 1][j], (*tile)[i + 1][j]);
            let (left, right) = ((*tile)[i][j - 1], (*tile)[i][j + 1]);
            *output.add(index) = (below + up + left + here + right + down + above) / 7.0;
        }
        // The next step overwrites the tile.
        thread::sync_threads();
    }
}
