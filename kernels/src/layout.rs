//! How to lay out data: the same numbers in an array of structures and in a structure of arrays.
//!
//! A thread that works on a structure of its own reads it field by field. In an *array of structures* the lanes' fields are a
//! structure apart, so each load of a warp touches many sectors and uses a part of each; in a *structure of arrays* the lanes' fields
//! stand side by side. The bytes are the same; the sectors per request are not:
//!
//! | | words | array of structures | structure of arrays |
//! | --- | --- | --- | --- |
//! | a point of three `f32` | 12 bytes | 12 sectors for each load, 33 % used | 4, 100 % |
//! | a particle of four `f64` | 32 bytes | 32 sectors, 25 % | 8, 100 % |
//!
//! In the end a warp uses every byte of an array of structures, only not at once: the other fields are still in the cache when it
//! asks for them. That is why the read-only cache helped on Kepler, whose L1 did not keep global loads, and why all four ways take
//! the same time on an H200. Where no cache keeps the other fields, load the structures as what they are, consecutive words, into
//! shared memory, and take them apart there: a stride of three words is free of bank conflicts, since 3 and 32 have no common
//! factor.
//!
//! The same question in two dimensions: a thread that adds up 32 numbers of its own wants them in a column (`[32][n]`), not in a row
//! (`[n][32]`), and a matrix should be one piece with a pitch, not a table of pointers to rows, which costs a load of 8 bytes before
//! each load of 4.
//!
//! What to look for: sectors per request of loads, the bytes used of each sector, and the wavefronts of the staged kernel's shared
//! loads.
//!
//! Sources: the three lectures on global memory; the points are KAUST's, the rows by pointers the Russian lecture's.

use bytemuck::{Pod, Zeroable};
use cuda_std::{GpuFloat, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, mem, shared::SharedCell, thread};

/// Three words: 12 bytes, which no single load moves.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    /// The first coordinate.
    pub x: f32,
    /// The second.
    pub y: f32,
    /// The third.
    pub z: f32,
}

impl Point {
    /// What the kernels compute of a point: the square of its distance from the origin.
    #[inline(always)]
    pub fn square(self) -> f32 {
        GpuFloat::mul_add(self.z, self.z, GpuFloat::mul_add(self.x, self.x, self.y * self.y))
    }
}

/// Four double words: 32 bytes, a whole sector.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Particle {
    /// Where it is.
    pub position: f64,
    /// How fast it moves.
    pub speed: f64,
    /// How its speed changes.
    pub acceleration: f64,
    /// The time step.
    pub time: f64,
}

impl Particle {
    /// What the kernels compute of a particle: where it will be.
    #[inline(always)]
    pub fn moved(self) -> f64 {
        GpuFloat::mul_add(GpuFloat::mul_add(self.acceleration, self.time, self.speed), self.time, self.position)
    }
}

/// Threads of a block of [`layout_points_staged`], and so points of its stage.
pub const STAGED: u32 = 128;

/// Numbers that a thread of [`layout_rows`] and [`layout_columns`] adds up.
pub const ROW: u32 = 32;

/// Points as an array of structures: three loads, each with a stride of 12 bytes.
///
/// # Safety
/// `points` and `output` hold `count` elements, and nothing else uses `output` during the launch.
#[kernel]
pub unsafe fn layout_points_direct(points: *const Point, output: *mut f32, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        *output.add(i) = (*points.add(i)).square();
    }
}

/// The same loads through the read-only cache (`ld.global.nc`): what one field's load fetched, the next ones find there.
///
/// # Safety
/// As for [`layout_points_direct`].
#[kernel]
pub unsafe fn layout_points_read_only(points: *const Point, output: *mut f32, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        let words = points.add(i).cast::<f32>();
        let point = Point { x: mem::load_nc(words), y: mem::load_nc(words.add(1)), z: mem::load_nc(words.add(2)) };
        *output.add(i) = point.square();
    }
}

/// The block loads its points as consecutive words, stages them in shared memory, and each thread takes its own from there.
///
/// # Safety
/// As for [`layout_points_direct`]; blocks have [`STAGED`] threads.
#[kernel(launch_bounds(128))]
pub unsafe fn layout_points_staged(points: *const Point, output: *mut f32, count: usize) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 3 * STAGED as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();

    let first = thread::block_idx_x() as usize * STAGED as usize;
    let t = thread::thread_idx_x() as usize;
    let words = 3 * (count - first).min(STAGED as usize);
    let source = points.add(first).cast::<f32>();
    for part in 0..3 {
        let word = part * STAGED as usize + t;
        if word < words {
            *stage.add(word) = *source.add(word);
        }
    }
    thread::sync_threads();
    if first + t < count {
        let point = Point { x: *stage.add(3 * t), y: *stage.add(3 * t + 1), z: *stage.add(3 * t + 2) };
        *output.add(first + t) = point.square();
    }
}

/// Points as a structure of arrays: three loads, each of consecutive words.
///
/// # Safety
/// Each array holds `count` elements, and nothing else uses `output` during the launch.
#[kernel]
pub unsafe fn layout_points_arrays(x: *const f32, y: *const f32, z: *const f32, output: *mut f32, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        *output.add(i) = Point { x: *x.add(i), y: *y.add(i), z: *z.add(i) }.square();
    }
}

/// Particles as an array of structures: four loads of 8 bytes, each with a stride of 32.
///
/// # Safety
/// `particles` and `output` hold `count` elements, and nothing else uses `output` during the launch.
#[kernel]
pub unsafe fn layout_particles_direct(particles: *const Particle, output: *mut f64, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        *output.add(i) = (*particles.add(i)).moved();
    }
}

/// Particles as a structure of arrays, which lie one behind the other: field `f` of particle `i` is at `f * count + i`.
///
/// # Safety
/// `fields` holds `4 * count` elements, `output` `count`, and nothing else uses `output` during the launch.
#[kernel]
pub unsafe fn layout_particles_arrays(fields: *const f64, output: *mut f64, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        let particle = Particle {
            position: *fields.add(i),
            speed: *fields.add(count + i),
            acceleration: *fields.add(2 * count + i),
            time: *fields.add(3 * count + i),
        };
        *output.add(i) = particle.moved();
    }
}

/// `[count][32]`: each thread adds up a row of its own, so the lanes of a load are 128 bytes apart.
///
/// # Safety
/// `matrix` holds `count` rows of [`ROW`] elements, `output` `count` elements, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn layout_rows(matrix: *const f32, output: *mut f32, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        let mut sum = 0.0;
        for k in 0..ROW as usize {
            sum += *matrix.add(i * ROW as usize + k);
        }
        *output.add(i) = sum;
    }
}

/// `[32][count]`: each thread adds up a column of its own, so the lanes of a load stand side by side.
///
/// # Safety
/// `matrix` holds [`ROW`] rows of `count` elements, `output` `count` elements, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn layout_columns(matrix: *const f32, output: *mut f32, count: usize) {
    let i = thread::wide_index_1d();
    if i < count {
        let mut sum = 0.0;
        for k in 0..ROW as usize {
            sum += *matrix.add(k * count + i);
        }
        *output.add(i) = sum;
    }
}

/// Copies a matrix whose rows hang on a table of pointers (`float **`): each element costs the load of a pointer first. A block's y
/// is the row.
///
/// # Safety
/// `rows` holds the address of `columns` elements for each block in y, `output` has room for as many rows of `columns` elements, and
/// nothing else uses it during the launch.
#[kernel]
pub unsafe fn layout_pointers(rows: *const u64, output: *mut f32, columns: usize) {
    let column = thread::wide_index_1d();
    let row = thread::block_idx_y() as usize;
    if column < columns {
        *output.add(row * columns + column) = *(*rows.add(row) as *const f32).add(column);
    }
}

/// Copies a matrix in one piece, whose rows are `pitch` elements apart: the address is a product and a sum.
///
/// # Safety
/// `matrix` holds a row of `pitch >= columns` elements for each block in y, `output` has room for as many rows of `columns`
/// elements, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn layout_pitched(matrix: *const f32, output: *mut f32, columns: usize, pitch: usize) {
    let column = thread::wide_index_1d();
    let row = thread::block_idx_y() as usize;
    if column < columns {
        *output.add(row * columns + column) = *matrix.add(row * pitch + column);
    }
}
