//! What the reductions of [`reduce_all`](crate::reduce_all) share: the values of a thread, the
//! stage of a block in shared memory, and the block's result. Compiled for the device only.

use cuda_std::{DisjointSlice, address_space, shared::SharedCell, thread};

use crate::operation::{Number, Operation};
use crate::reduce::MOST_THREADS;

/// The value at `i`, or the identity beyond the end.
#[inline(always)]
fn value<T: Number, O: Operation<T>>(input: &[T], i: usize) -> T {
    input.get(i).copied().unwrap_or(O::IDENTITY)
}

/// One value per thread.
#[inline(always)]
pub(crate) fn one<T: Number, O: Operation<T>>(input: &[T]) -> T {
    value::<T, O>(input, thread::wide_index_1d())
}

/// Two values per thread, a block apart.
#[inline(always)]
pub(crate) fn two<T: Number, O: Operation<T>>(input: &[T]) -> T {
    let threads = thread::block_dim_x() as usize;
    let i = thread::block_idx_x() as usize * 2 * threads + thread::thread_idx_x() as usize;
    let second = value::<T, O>(input, i + threads);
    O::combine(value::<T, O>(input, i), second)
}

/// The block's shared memory: a value of 4 bytes for each thread.
#[inline(always)]
fn stage<T: Number>() -> *mut T {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; MOST_THREADS as usize]> = SharedCell::uninit();
    const { assert!(size_of::<T>() == 4 && align_of::<T>() == 4) }
    STAGE.as_mut_ptr().cast()
}

/// Puts each thread's value on the stage, calls `tree`, and leaves the first value as the block's.
///
/// # Safety
/// All threads of the block come here, at most 1024. After `tree`, thread 0 may read the first
/// value.
#[inline(always)]
pub(crate) unsafe fn on_stage<T: Number>(
    value: T,
    output: DisjointSlice<T>,
    tree: impl FnOnce(*mut T, u32),
) {
    let (stage, t) = (stage::<T>(), thread::thread_idx_x());
    // SAFETY: each thread has its own element.
    unsafe { *stage.add(t as usize) = value };
    thread::sync_threads();
    tree(stage, t);
    // SAFETY: the first thread wrote its element last, or a barrier follows the last write.
    unsafe { finish(*stage, output) };
}

/// The first thread writes the block's value.
///
/// # Safety
/// The launch is linear, and a block comes here once: no other thread writes its output.
#[inline(always)]
pub(crate) unsafe fn finish<T: Number>(value: T, mut output: DisjointSlice<T>) {
    let block = thread::block_idx_x() as usize;
    if thread::thread_idx_x() == 0
        // SAFETY: the first thread of this block alone reaches this element.
        && let Some(to) = unsafe { output.element_mut(block) }
    {
        *to = value;
    }
}

/// Combines element `to` with the one `distance` after it.
///
/// # Safety
/// The stage has both elements, and until the next barrier no other thread uses them.
#[inline(always)]
pub(crate) unsafe fn add<T: Number, O: Operation<T>>(stage: *mut T, to: u32, distance: u32) {
    // SAFETY: both are on the stage, and this thread has them to itself until the next barrier.
    unsafe {
        let (to, from) = (stage.add(to as usize), stage.add((to + distance) as usize));
        *to = O::combine(*to, *from);
    }
}
