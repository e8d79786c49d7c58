//! Textures: reads that know about edges, about what is between two texels, and about their neighbours above and below.
//!
//! A texture is an image that kernels read through units of its own. The host says what a read does:
//!
//! | setting | choices |
//! | --- | --- |
//! | beyond the edge | *clamp*: the texel at the edge; *wrap*: from the other side; *mirror*: back again; *border*: a fixed value |
//! | between texels | *nearest*: the texel that the place is in; *linear*: the mean of its neighbours, with weights of 8 bits of fraction |
//! | what a texel is | as it is, or an integer read as a fraction of its largest value (a byte as `k / 255`) |
//!
//! Texels of an array do not lie row by row. They are stored so that what is near in two dimensions is near in memory, for instance along a
//! Morton curve: the bits of x and y, interleaved. Then a sector of 8 floats is not 8 x 1 texels but 4 x 2, and a warp that
//! reads down a column touches half as many. [`texture_morton`] does in global memory what the texture hides.
//!
//! What to look for: sectors per request of a walk along rows, down columns and along diagonals: in row order 4, 32 and 32; in Morton
//! order 8, 16 and about 20. Along rows the row order wins; for a walk that may go any way, Morton does. The texture units take a
//! warp four lanes at a time (`l1tex__t_requests_pipe_tex_mem_texture.sum`).
//!
//! Source: KAUST CS 380, lecture 14.

use bytemuck::{Pod, Zeroable};
use cuda_std::texture::Texture;
#[gpu_only]
use cuda_std::thread;
use cuda_std::{gpu_only, kernel};

/// Where each thread of a two-dimensional launch looks: thread (x, y) at `origin + x * step_x + y * step_y`, wrapped to the image.
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
/// The texture has `length` texels, `output` as many elements, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn texture_linear(texture: Texture, output: *mut f32, length: u32) {
    let i = thread::index_1d();
    if i < length {
        let [texel, ..] = texture.fetch_1d(i as i32);
        *output.add(i as usize) = 2.0 * texel;
    }
}

/// The same from global memory.
///
/// # Safety
/// `input` and `output` hold `length` elements, and nothing else uses `output` during the launch.
#[kernel]
pub unsafe fn texture_global(input: &[f32], output: *mut f32) {
    let i = thread::wide_index_1d();
    if i < input.len() {
        *output.add(i) = 2.0 * *input.get_unchecked(i);
    }
}

/// Reads a texture of two dimensions at `(x, y) * scale + shift`, in texels or normalised, as the texture has it.
///
/// # Safety
/// The texture is of two dimensions, `output` has `width` elements for each row of threads, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn texture_sample(texture: Texture, output: *mut f32, width: u32, height: u32, scale: f32, shift: f32) {
    let place = thread::index_2d();
    if place.x < width && place.y < height {
        let [value, ..] = texture.sample_2d(place.x as f32 * scale + shift, place.y as f32 * scale + shift);
        *output.add((place.y * width + place.x) as usize) = value;
    }
}

/// A walk over a texture: the texel of each thread, side by side.
///
/// # Safety
/// The texture has the side that the walk says; `output` has an element for each thread of the launch, of which there are `width` in a
/// row, and nothing else uses it.
#[kernel]
pub unsafe fn texture_walk(texture: Texture, output: *mut f32, width: u32, walk: Walk) {
    let place = thread::index_2d();
    let [u, v] = walk.texel(place.x, place.y);
    let [texel, ..] = texture.sample_2d(u as f32 + 0.5, v as f32 + 0.5);
    *output.add((place.y * width + place.x) as usize) = texel;
}

/// The same walk over an image that lies row by row in global memory.
///
/// # Safety
/// As for [`texture_walk`], with an image of as many elements.
#[kernel]
pub unsafe fn texture_rows(image: &[f32], output: *mut f32, width: u32, walk: Walk) {
    let place = thread::index_2d();
    let [u, v] = walk.texel(place.x, place.y);
    let texel = *image.get_unchecked((v * (walk.mask + 1) + u) as usize);
    *output.add((place.y * width + place.x) as usize) = texel;
}

/// The same walk over an image that lies along the Morton curve in global memory.
///
/// # Safety
/// As for [`texture_rows`]; the image's side is at most 65536.
#[kernel]
pub unsafe fn texture_morton(image: &[f32], output: *mut f32, width: u32, walk: Walk) {
    let place = thread::index_2d();
    let [u, v] = walk.texel(place.x, place.y);
    let texel = *image.get_unchecked(morton(u, v) as usize);
    *output.add((place.y * width + place.x) as usize) = texel;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn morton_order_visits_each_texel_once_and_keeps_squares_together() {
        let mut places: Vec<u32> = (0..64).flat_map(|y| (0..64).map(move |x| morton(x, y))).collect();
        places.sort_unstable();
        assert_eq!(places, (0..64 * 64).collect::<Vec<_>>());
        // A sector of 8 texels is 4 wide and 2 high.
        let sector = |x, y| morton(x, y) / 8;
        assert!((0..4).all(|x| (0..2).all(|y| sector(x, y) == 0)) && sector(4, 0) != 0 && sector(0, 2) != 0);
    }
}
