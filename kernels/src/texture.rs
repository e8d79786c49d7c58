//! Textures: reads that handle edges, interpolate between texels, and are laid out for neighbours
//! in two dimensions.
//!
//! A texture is an image that kernels read through the texture units. The host says what a read
//! does:
//!
//! | setting | choices |
//! | --- | --- |
//! | beyond the edge | *clamp*: the texel at the edge; *wrap*: from the other side |
//! | | *mirror*: back again; *border*: a fixed value |
//! | between texels | *nearest*: the texel that contains the point |
//! | | *linear*: the mean of its neighbours, with weights of 8 bits of fraction |
//! | what a texel is | as it is, or an integer as a fraction of its largest (a byte as `k / 255`) |
//!
//! The texels of an array are not stored row by row, but so that neighbours in two dimensions are
//! close in memory, for instance along a Morton curve: the bits of x and y, interleaved. Then a
//! sector of 8 floats is not 8 x 1 texels but 4 x 2, and a warp that reads down a column touches
//! half as many. [`texture_morton`] does in global memory what the texture hides.
//!
//! What to look for: sectors per request of a walk along rows, down columns and along diagonals: in
//! row order 4, 32 and 32; in Morton order 8, 16 and about 20. Along rows the row order wins; for a
//! walk that may go any way, Morton does. The texture units take a warp four lanes at a time
//! (`l1tex__t_requests_pipe_tex_mem_texture.sum`).
//!
//! An image that a kernel makes reaches an array in two ways: the kernel writes it there, through a
//! *surface* ([`texture_write`]), or it writes linear memory, which is then copied into the array.
//! The copy reads and writes every texel once more: an image of 8192 x 8192, made and then read
//! down the columns, took 525 us through a surface and 749 us with the copy (H100, 2026-11-27).
//! Textures show the image from the next launch on.
//!
//! # Where `unsafe` begins
//!
//! A texture is passed as a number, its handle, and the compiler cannot see what it stands for: the
//! launch promises that the texture is alive and of the kernel's kind. Kernels that read plain
//! memory promise nothing.
//!
//! Source: KAUST CS 380, lecture 14.

use bytemuck::{Pod, Zeroable};
use cuda_std::surface::Surface;
use cuda_std::texture::Texture;
#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointMatrix, DisjointSlice, gpu_only, kernel};

/// Where each thread of a two-dimensional launch looks: thread (x, y) at `origin + x * step_x + y *
/// step_y`, wrapped to the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Walk {
    /// How far right, and how far down, the next lane is.
    pub step_x: [u32; 2],
    /// The same for the next row of threads.
    pub step_y: [u32; 2],
    /// Where thread (0, 0) looks.
    pub origin: [u32; 2],
    /// One less than the image's side, which is a power of two.
    pub mask: u32,
}

impl Walk {
    /// The texel of thread (x, y).
    #[inline(always)]
    pub const fn texel(&self, x: u32, y: u32) -> [u32; 2] {
        let u = self.origin[0] + x * self.step_x[0] + y * self.step_y[0];
        let v = self.origin[1] + x * self.step_x[1] + y * self.step_y[1];
        [u & self.mask, v & self.mask]
    }
}

/// The bits of x and y interleaved, x first: the place of a texel on the Morton curve.
#[inline(always)]
pub const fn morton(x: u32, y: u32) -> u32 {
    spread(x) | spread(y) << 1
}

/// The lower 16 bits, each followed by a 0.
#[inline(always)]
const fn spread(bits: u32) -> u32 {
    let bits = bits & 0xffff;
    let bits = (bits | bits << 8) & 0x00ff_00ff;
    let bits = (bits | bits << 4) & 0x0f0f_0f0f;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// Reads a texture in linear memory by whole indices, and doubles what it reads.
///
/// # Safety
/// The texture is alive, has one dimension, and a texel for each element of `output`.
#[kernel(linear)]
pub unsafe fn texture_linear(texture: Texture, mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(output) = output.get_mut(i) {
        let [texel, ..] = texture.fetch_1d(i.get() as i32);
        *output = 2.0 * texel;
    }
}

/// The same from global memory.
#[kernel(linear)]
pub fn texture_global(input: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(texel), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
        *output = 2.0 * texel;
    }
}

/// Reads a texture of two dimensions at `(x, y) * scale + shift`, in texels or normalised, as the
/// texture has it.
///
/// # Safety
/// The texture is alive and has two dimensions.
#[kernel]
pub unsafe fn texture_sample(
    texture: Texture,
    mut output: DisjointMatrix<f32>,
    scale: f32,
    shift: f32,
) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let (x, y) = (at.col() as f32 * scale + shift, at.row() as f32 * scale + shift);
        let [value, ..] = texture.sample_2d(x, y);
        *output = value;
    }
}

/// A walk over a texture: the texel of each thread, side by side.
///
/// # Safety
/// The texture is alive, has two dimensions, and the side that the walk says.
#[kernel]
pub unsafe fn texture_walk(texture: Texture, mut output: DisjointMatrix<f32>, walk: Walk) {
    let at = thread::position();
    if let Some(output) = output.get_mut(at) {
        let [u, v] = walk.texel(at.col(), at.row());
        let [texel, ..] = texture.sample_2d(u as f32 + 0.5, v as f32 + 0.5);
        *output = texel;
    }
}

/// The same walk over an image that lies row by row in global memory.
#[kernel]
pub fn texture_rows(image: &[f32], mut output: DisjointMatrix<f32>, walk: Walk) {
    let at = thread::position();
    let [u, v] = walk.texel(at.col(), at.row());
    let texel = image.get((v * (walk.mask + 1) + u) as usize);
    if let (Some(texel), Some(output)) = (texel, output.get_mut(at)) {
        *output = *texel;
    }
}

/// The same walk over an image that lies along the Morton curve in global memory.
///
/// The image's side is at most 65536.
#[kernel]
pub fn texture_morton(image: &[f32], mut output: DisjointMatrix<f32>, walk: Walk) {
    let at = thread::position();
    let [u, v] = walk.texel(at.col(), at.row());
    if let (Some(texel), Some(output)) = (image.get(morton(u, v) as usize), output.get_mut(at)) {
        *output = *texel;
    }
}

/// Writes `factor` times an image, which lies row by row, to an array; a factor of 1 copies it.
///
/// # Safety
/// The surface is alive, made of an array of floats in two dimensions with the image's shape, and
/// no texture of it is read in this launch.
#[kernel]
pub unsafe fn texture_write(image: &[f32], surface: Surface, width: u32, factor: f32) {
    let at = thread::position();
    if at.col() < width
        && let Some(texel) = image.get((at.row() * width + at.col()) as usize)
    {
        surface.write_2d(at.col(), at.row(), factor * texel);
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn morton_order_visits_each_texel_once_and_keeps_squares_together() {
        let mut places: Vec<u32> =
            (0..64).flat_map(|y| (0..64).map(move |x| morton(x, y))).collect();
        places.sort_unstable();
        assert_eq!(places, (0..64 * 64).collect::<Vec<_>>());
        // A sector of 8 texels is 4 wide and 2 high.
        let sector = |x, y| morton(x, y) / 8;
        assert!(
            (0..4).all(|x| (0..2).all(|y| sector(x, y) == 0))
                && sector(4, 0) != 0
                && sector(0, 2) != 0
        );
    }
}
