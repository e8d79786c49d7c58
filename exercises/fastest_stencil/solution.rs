//! The fastest stencil: four columns a thread, along z in registers, sides by shuffles

use cuda_std::prelude::*;
use cuda_std::unroll;

//@ launch relax: grid = ["ceil(columns/128)", "ceil(rows/8)", "ceil(planes/4)"], block = [32, 8]

/// Planes of a walk.
const WALK: i32 = 4;

/// A volume, row by row and plane by plane.
#[derive(Clone, Copy)]
struct Volume {
    values: *const f32,
    planes: i32,
    rows: i32,
    columns: i32,
}

impl Volume {
    /// Where a row begins; `None` outside of the volume.
    #[inline(always)]
    fn row(self, z: i32, y: i32) -> Option<usize> {
        let inside = (0..self.planes).contains(&z) && (0..self.rows).contains(&y);
        let row = z as usize * self.rows as usize + y as usize;
        inside.then_some(row * self.columns as usize)
    }

    /// Whether words of 16 bytes begin at every fourth column.
    #[inline(always)]
    fn has_words(self) -> bool {
        self.columns % 4 == 0
    }

    /// Four values side by side; outside of the volume 0.
    ///
    /// # Safety
    /// `values` holds the volume.
    #[inline(always)]
    unsafe fn word(self, z: i32, y: i32, x: i32) -> [f32; 4] {
        let Some(row) = self.row(z, y) else { return [0.0; 4] };
        if self.has_words() && x < self.columns {
            return (*self.values.add(row + x as usize).cast::<f32x4>()).to_array();
        }
        core::array::from_fn(|i| self.value(z, y, x + i as i32))
    }

    /// A value; outside of the volume 0.
    ///
    /// # Safety
    /// `values` holds the volume.
    #[inline(always)]
    unsafe fn value(self, z: i32, y: i32, x: i32) -> f32 {
        let row = self.row(z, y).filter(|_| (0..self.columns).contains(&x));
        row.map_or(0.0, |row| *self.values.add(row + x as usize))
    }
}

/// `output` becomes the mean of seven values of `input`.
///
/// # Safety
/// `input` and `output` hold `planes` planes of `rows` rows of `columns` values. Blocks have 32 x 8
/// threads; there is a thread for each four columns and walk.
#[kernel(block(32, 8))]
pub unsafe fn relax(input: *const f32, output: *mut f32, planes: i32, rows: i32, columns: i32) {
    let volume = Volume { values: input, planes, rows, columns };
    let lane = thread::thread_idx_x() as i32;
    let x = 128 * thread::block_idx_x() as i32 + 4 * lane;
    let y = 8 * thread::block_idx_y() as i32 + thread::thread_idx_y() as i32;
    let first = WALK * thread::block_idx_z() as i32;
    let (mut below, mut here) = (volume.word(first - 1, y, x), volume.word(first, y, x));
    for z in first..(first + WALK).min(planes) {
        let above = volume.word(z + 1, y, x);
        let (up, down) = (volume.word(z, y - 1, x), volume.word(z, y + 1, x));
        // The lanes at the ends of a warp have no neighbour to ask.
        let mut left = warp::warp_shuffle_up(warp::FULL, here[3], 1, 32).0;
        let mut right = warp::warp_shuffle_down(warp::FULL, here[0], 1, 32).0;
        if lane == 0 {
            left = volume.value(z, y, x - 1);
        }
        if lane == 31 {
            right = volume.value(z, y, x + 4);
        }
        let line = [left, here[0], here[1], here[2], here[3], right];
        let means: [f32; 4] = core::array::from_fn(|i| {
            let beside = up[i] + line[i] + line[i + 2] + down[i];
            (below[i] + beside + here[i] + above[i]) * (1.0 / 7.0)
        });
        if let Some(row) = volume.row(z, y) {
            store(output.add(row), columns, x, means);
        }
        (below, here) = (here, above);
    }
}

/// Stores the means at column `x` and the next three, as far as the row has these.
///
/// # Safety
/// `row` holds `columns` values, and no other thread stores these.
#[inline(always)]
unsafe fn store(row: *mut f32, columns: i32, x: i32, means: [f32; 4]) {
    if columns % 4 == 0 {
        if x < columns {
            *row.add(x as usize).cast::<f32x4>() = f32x4::from_array(means);
        }
        return;
    }
    unroll::<4>(|i| {
        if x + (i as i32) < columns {
            *row.add(x as usize + i) = means[i];
        }
    });
}
