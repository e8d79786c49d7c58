// fails: out of bounds
// Counts the tail as one more word, most of which is past the end.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn add(a: *const f32, b: *const f32, c: *mut f32, n: usize) {
    let i = thread::wide_index_1d();
    let words = n.div_ceil(4);
    if i < words {
        *c.cast::<f32x4>().add(i) = *a.cast::<f32x4>().add(i) + *b.cast::<f32x4>().add(i);
    }
}
