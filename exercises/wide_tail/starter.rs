//! The last elements do not fill a word
//!
//! Your kernel adds two arrays with words of 16 bytes, four elements at once. That is `n / 4` whole
//! words. If `n` is not a multiple of 4, one, two or three elements are left over at the end, the
//! *tail*.
//!
//! The tail cannot be one more word: that would read and write past the end of the arrays. Nor can
//! it be a word that starts a few elements earlier: an access of 16 bytes has to be at a multiple
//! of 16 bytes, or the GPU stops the kernel.
//!
//! # Task
//!
//! Make the kernel right for each `n`, and keep the wide words: only the tail is added element by
//! element. The launch has `ceil(n / 1024)` blocks of 256 threads, which is at least `n / 4`
//! threads, and never fewer than 256.

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
    // TODO: elements 4 * words to n - 1 are still missing. Who adds them?
}
