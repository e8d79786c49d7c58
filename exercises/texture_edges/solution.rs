//! The middle of a texel is half a texel from its corner

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
        // There the four weights are 1, 0, 0 and 0.
        let (x, y) = (place.x as f32 + 0.5, place.y as f32 + 0.5);
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
