//! Moves elements up, in one thread.

use cuda_std::prelude::*;

/// Moves the elements of each 256 one place up.
#[kernel(linear)]
pub fn reference(mut data: DisjointSlice<f32>) {
    let mut below = 0.0;
    for i in thread::grid_stride(data.len()) {
        if let Some(element) = data.get_mut(i) {
            let own = *element;
            *element = if i.get() % 256 == 0 { 0.0 } else { below };
            below = own;
        }
    }
}
