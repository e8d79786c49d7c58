//! The last elements do not fill a word: the first threads take the tail

use cuda_std::prelude::*;

/// `c[i] = a[i] + b[i]`.
///
/// # Safety
/// The arrays hold `n` elements and start at multiples of 16 bytes. The launch has at least `n / 4`
/// threads, and at least 256.
#[kernel]
pub unsafe fn add(a: *const f32, b: *const f32, c: *mut f32, n: usize) {
    let i = thread::wide_index_1d();
    let words = n / 4;
    if i < words {
        *c.cast::<f32x4>().add(i) = *a.cast::<f32x4>().add(i) + *b.cast::<f32x4>().add(i);
    }
    // The launch's first threads, three at most, have an element of the tail each.
    let tail = 4 * words + i;
    if tail < n {
        *c.add(tail) = *a.add(tail) + *b.add(tail);
    }
}
