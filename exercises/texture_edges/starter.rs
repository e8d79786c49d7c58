//! The middle of a texel
//!
//! A *texture* is an image that kernels read through separate hardware, the texture units. A place
//! in it is given by two floats, so a kernel can also ask for what is between the *texels*, the
//! elements of the image. This texture is set to *linear* filtering: the unit returns the mean of
//! the four texels around the place, weighted by how near they are. Beyond the edges it is set to
//! *clamp*: what is outside has the value of the nearest texel inside. So a blur at the edge needs
//! no tests at all.
//!
//! This blur is the mean of 3 x 3 texels. It should read texels as they are, without any filtering;
//! but its results are wrong, and not only at the edges. Texel (0, 0) covers the square from 0 to 1
//! in both directions. Where in it is the place at which the unit returns just its value?
//!
//! # Task
//!
//! Make the blur right: element (x, y) of `output` is the mean of the texels from (x - 1, y - 1) to
//! (x + 1, y + 1), those beyond the edge clamped.

use cuda_std::prelude::*;
use cuda_std::texture::Texture;

/// Blurs an image.
///
/// # Safety
/// `image` is a texture of `rows` x `columns` floats, and `output` holds as many elements. Blocks
/// have 32 x 8 threads, and there is a thread for each element.
#[kernel(launch_bounds((32, 8)))]
pub unsafe fn blur(image: Texture, output: *mut f32, rows: u32, columns: u32) {
    let place = thread::index_2d();
    if place.x < columns && place.y < rows {
        // TODO: where is the middle of a texel?
        let (x, y) = (place.x as f32, place.y as f32);
        let mut sum = 0.0;
        for down in [-1.0, 0.0, 1.0] {
            for right in [-1.0, 0.0, 1.0] {
                let [value, ..] = image.sample_2d(x + right, y + down);
                sum += value;
            }
        }
        *output.add((place.y * columns + place.x) as usize) = sum / 9.0;
    }
}
