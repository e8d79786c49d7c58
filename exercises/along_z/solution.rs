//! Three planes in registers: only the value above is new

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

    let (mut below, mut here) = (0.0, volume.value(0, y, x));
    for z in 0..planes {
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
        (below, here) = (here, above);
    }
}
