//! Leave the last threads idle: a guard

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`. Both have the same length.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    // The grid has a whole number of blocks, so there may be more threads than elements.
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = a * x + *y;
    }
}

#[panic_handler]
fn panics(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
