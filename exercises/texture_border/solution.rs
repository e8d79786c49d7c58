//! No more tests at the edges: the texture returns 0 beyond them

use cuda_std::prelude::*;
use cuda_std::texture::Texture;

/// One step of a diffusion.
///
/// # Safety
/// `image` is a texture of `rows` x `columns` floats, whose border is 0; `plate` holds the same,
/// and `output` as many elements. Blocks have 32 x 8 threads, and there is a thread for each
/// element.
#[kernel(launch_bounds((32, 8)))]
pub unsafe fn diffuse(
    image: Texture,
    _plate: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
) {
    let place = thread::index_2d();
    if place.x < columns && place.y < rows {
        let (x, y) = (place.x as f32 + 0.5, place.y as f32 + 0.5);
        let texel = |x: f32, y: f32| image.sample_2d(x, y)[0];
        let neighbours =
            texel(x - 1.0, y) + texel(x + 1.0, y) + texel(x, y - 1.0) + texel(x, y + 1.0);
        *output.add((place.y * columns + place.x) as usize) = (texel(x, y) + neighbours) / 5.0;
    }
}
