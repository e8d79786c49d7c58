// fails: misaligned
// Adds the last four elements as one more word, which starts at no multiple of 16 bytes.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn add(a: *const f32, b: *const f32, c: *mut f32, n: usize) {
    let i = thread::wide_index_1d();
    let words = n / 4;
    if i < words {
        *c.cast::<f32x4>().add(i) = *a.cast::<f32x4>().add(i) + *b.cast::<f32x4>().add(i);
    }
    if i == words && n >= 4 {
        let last = n - 4;
        *c.add(last).cast::<f32x4>() = *a.add(last).cast::<f32x4>() + *b.add(last).cast::<f32x4>();
    }
    if n < 4 && i < n {
        *c.add(i) = *a.add(i) + *b.add(i);
    }
}
