//! Textures: a texel by its number, and a value between texels. Surfaces: a texel written.

use cuda_std::gpu_only;
use cuda_std::kernel;
use cuda_std::surface::Surface;
use cuda_std::texture::Texture;
#[gpu_only]
use cuda_std::thread;

/// Reads a texel of a texture in linear memory for each thread.
///
/// # Safety
/// `output` has four elements for each thread, and the texture has texels of floats.
#[kernel]
pub unsafe fn texture_fetch(texture: Texture, output: *mut f32) {
    let i = thread::index_1d();
    let texel = texture.fetch_1d(i as i32); // ptx: tex.1d.v4.f32.s32
    for (channel, value) in texel.into_iter().enumerate() {
        *output.add(4 * i as usize + channel) = value;
    }
}

/// Reads a texture of two dimensions half a texel to the right of each thread's.
///
/// # Safety
/// `output` has an element for each thread of a block, and the texture has texels of floats.
#[kernel]
pub unsafe fn texture_sample(texture: Texture, output: *mut f32) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let [value, ..] = texture.sample_2d(x as f32 + 1.0, y as f32 + 0.5); // ptx: tex.2d.v4.f32.f32
    *output.add((y * thread::block_dim_x() + x) as usize) = value;
}

/// Writes each thread's number to its texel.
///
/// # Safety
/// The surface has two dimensions, a texel for each thread of a block, and texels of floats.
#[kernel]
pub unsafe fn surface_numbers(surface: Surface) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    surface.write_2d(x, y, (y * thread::block_dim_x() + x) as f32); // ptx: sust.b.2d.b32.trap
}
