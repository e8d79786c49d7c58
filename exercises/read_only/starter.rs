//! Promise that nothing writes it
//!
//! Each output is the mean of five inputs, so each input is loaded five times, by neighbouring
//! threads. A cache in the multiprocessor can answer four of the five loads. But it may keep data
//! only if nothing changes it meanwhile: the caches of the multiprocessors do not see each other's
//! writes.
//!
//! On GPUs of the Maxwell family a plain load of global memory therefore bypasses that cache and
//! goes to L2, each time. Loads through the *read-only path* may use it. They promise that nothing
//! writes the data while the kernel runs. Later GPUs keep plain loads there, too; the promise still
//! lets the compiler move a load past stores.
//!
//! A compiler cannot see from a raw pointer whether something else writes there. You can:
//! `mem::load_nc(input.add(i))` is a load through the read-only path (CUDA C++ calls it `__ldg`).
//! The checks report a kernel that breaks the promise.
//!
//! # Task
//!
//! Let all five loads take the read-only path. The goal counts the sectors that L2 delivers to a
//! multiprocessor of a Maxwell: each of the array's n / 8 sectors about once.
//!
//! # What the clock says
//!
//! On an H200 (2^25 elements) both take the same time: it keeps plain loads in L1, too.

use cuda_std::prelude::*;

/// `output[i]` becomes the mean of the five elements around `input[i]`.
///
/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads, and there is a thread for each
/// element.
#[kernel]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        // Beyond the ends the outermost element is repeated.
        let last = n - 1;
        // TODO: five plain loads.
        let sum = *input.add(i.saturating_sub(2))
            + *input.add(i.saturating_sub(1))
            + *input.add(i)
            + *input.add((i + 1).min(last))
            + *input.add((i + 2).min(last));
        *output.add(i) = sum / 5.0;
    }
}
