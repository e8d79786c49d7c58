//! How to lay out data: the same numbers in an array of structures and in a structure of arrays.
//!
//! A thread that works on one structure reads it field by field. In an *array of structures* the
//! lanes' fields are a structure apart, so each load of a warp touches many sectors and uses a part
//! of each; in a *structure of arrays* the lanes' fields are adjacent. The bytes are the same; the
//! sectors per request are not:
//!
//! | | words | array of structures | structure of arrays |
//! | --- | --- | --- | --- |
//! | a point of three `f32` | 12 bytes | 12 sectors for each load, 33 % used | 4, 100 % |
//! | a particle of four `f64` | 32 bytes | 32 sectors, 25 % | 8, 100 % |
//!
//! In the end a warp uses every byte of an array of structures, but not at once: the other fields
//! are still in the cache when it needs them. That is why the read-only cache helped on Kepler,
//! whose L1 did not keep global loads, and why all four ways take the same time on an H200. Where
//! no cache keeps the other fields, load the structures into shared memory as consecutive words,
//! and pick the fields there: a stride of three words is free of bank conflicts, since 3 and 32
//! have no common factor.
//!
//! The same question in two dimensions: a thread that adds up 32 numbers wants them in a column
//! (`[32][n]`), not in a row (`[n][32]`), and a matrix should be one piece with a pitch, not a
//! table of pointers to rows, which costs a load of 8 bytes before each load of 4.
//!
//! What to look for: sectors per request of loads, the bytes used of each sector, and the
//! wavefronts of the staged kernel's shared loads.
//!
//! # Where `unsafe` begins
//!
//! The staged kernel reads from shared memory what other threads wrote. It promises that a barrier
//! separates them; the compiler sees one thread and cannot tell. Where a kernel takes a raw pointer
//! or a table of them, the launch promises that what they point to is there. The sanitizer checks
//! exactly this.
//!
//! Sources: the three lectures on global memory; the points are KAUST's, the rows by pointers the
//! Russian lecture's.

use bytemuck::{Pod, Zeroable};
use cuda_std::{DisjointMatrix, DisjointSlice, GpuFloat, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

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
        let speed = GpuFloat::mul_add(self.acceleration, self.time, self.speed);
        GpuFloat::mul_add(speed, self.time, self.position)
    }
}

/// Numbers that a thread of [`layout_rows`] and [`layout_columns`] adds up.
pub const ROW: usize = 32;

/// Points as an array of structures: three loads, each with a stride of 12 bytes.
///
/// # Safety
///
/// `points` has as many elements as `output`, and nothing writes them during the launch. The
/// compiler knows neither, so the loads are plain ones (`ld.global`).
#[kernel(linear)]
pub unsafe fn layout_points_direct(points: *const Point, mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(to) = output.get_mut(i) {
        *to = (*points.add(i.get())).square();
    }
}

/// The same loads through the read-only cache (`ld.global.nc`): the load of one field fetches what
/// the next ones find there. The compiler takes this path because nothing writes to a `&[T]`.
#[kernel(linear)]
pub fn layout_points_read_only(points: &[Point], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(point), Some(to)) = (points.get(i.get()), output.get_mut(i)) {
        *to = point.square();
    }
}

/// The block loads its points as consecutive words, stages them in shared memory, and each thread
/// takes its own from there.
#[kernel(block(128), linear)]
pub fn layout_points_staged(points: &[Point], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 3 * 128]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let words: &[f32] = bytemuck::cast_slice(points);
    let t = thread::thread_idx_x() as usize;
    let first = 3 * 128 * thread::block_idx_x() as usize;

    for part in 0..3 {
        let word = 128 * part + t;
        let from = words.get(first + word);
        // SAFETY: no other thread has this word of the stage before the barrier.
        unsafe { (*stage)[word] = from.copied().unwrap_or(0.0) };
    }
    thread::sync_threads();
    if let Some(to) = output.get_mut(thread::linear_index()) {
        // SAFETY: after the barrier all threads only read the stage.
        let (x, y, z) = unsafe { ((*stage)[3 * t], (*stage)[3 * t + 1], (*stage)[3 * t + 2]) };
        *to = Point { x, y, z }.square();
    }
}

/// Points as a structure of arrays: three loads, each of consecutive words.
#[kernel(linear)]
pub fn layout_points_arrays(x: &[f32], y: &[f32], z: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(x) = x.get(i.get())
        && let Some(y) = y.get(i.get())
        && let Some(z) = z.get(i.get())
        && let Some(to) = output.get_mut(i)
    {
        *to = Point { x: *x, y: *y, z: *z }.square();
    }
}

/// Particles as an array of structures: four loads of 8 bytes, each with a stride of 32.
#[kernel(linear)]
pub fn layout_particles_direct(particles: &[Particle], mut output: DisjointSlice<f64>) {
    let i = thread::linear_index();
    if let (Some(particle), Some(to)) = (particles.get(i.get()), output.get_mut(i)) {
        *to = particle.moved();
    }
}

/// Particles as a structure of arrays: four loads, each of consecutive double words.
#[kernel(linear)]
pub fn layout_particles_arrays(
    position: &[f64],
    speed: &[f64],
    acceleration: &[f64],
    time: &[f64],
    mut output: DisjointSlice<f64>,
) {
    let i = thread::linear_index();
    if let Some(position) = position.get(i.get())
        && let Some(speed) = speed.get(i.get())
        && let Some(acceleration) = acceleration.get(i.get())
        && let Some(time) = time.get(i.get())
        && let Some(to) = output.get_mut(i)
    {
        let (position, speed) = (*position, *speed);
        let (acceleration, time) = (*acceleration, *time);
        *to = Particle { position, speed, acceleration, time }.moved();
    }
}

/// `[count][32]`: each thread adds up its own row, so the lanes of a load are 128 bytes apart.
#[kernel(linear)]
pub fn layout_rows(matrix: &[[f32; ROW]], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(row), Some(to)) = (matrix.get(i.get()), output.get_mut(i)) {
        let mut sum = 0.0;
        for element in row {
            sum += element;
        }
        *to = sum;
    }
}

/// `[32][count]`: each thread adds up its own column, so the lanes of a load are adjacent.
#[kernel(linear)]
pub fn layout_columns(matrix: Matrix<f32>, mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(to) = output.get_mut(i) {
        let mut sum = 0.0;
        for element in matrix.column(i.get() as u32) {
            sum += element;
        }
        *to = sum;
    }
}

/// Copies a matrix by a table of pointers to its rows (`float **`): each element first costs the
/// load of a pointer.
///
/// # Safety
///
/// `rows` holds the addresses of rows that have as many elements as those of `output`, and nothing
/// writes them during the launch.
#[kernel]
pub unsafe fn layout_pointers(rows: &[u64], mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(row), Some(to)) = (rows.get(at.row() as usize), output.get_mut(at)) {
        let row = *row as *const f32;
        *to = *row.add(at.col() as usize);
    }
}

/// Copies a matrix in one piece, whose rows are a pitch apart: the address is a product and a sum.
#[kernel]
pub fn layout_pitched(matrix: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(from), Some(to)) = (matrix.get(at.row(), at.col()), output.get_mut(at)) {
        *to = *from;
    }
}
