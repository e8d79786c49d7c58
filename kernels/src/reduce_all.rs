//! The six steps of [`reduce`](crate::reduce) for the other operations and types. These kernels are
//! generated, and differ from those only in how two values are combined: read those.
//!
//! *Invariant:* step for step they make the same accesses as the sums of `reduce`, so that memory
//! counters do not depend on the operation.

#[gpu_only]
use crate::operation::{Maximum, Minimum, Number, Operation, Product, Sum};
#[gpu_only]
use crate::stage::{add, finish, on_stage, one, two};
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, warp};

/// [`reduce1_sum_f32`](crate::reduce::reduce1_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce1<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    let tree = |stage, t| {
        let mut s = 1;
        while s < thread::block_dim_x() {
            if t & (2 * s - 1) == 0 {
                // SAFETY: t + s is below the number of threads, and no other thread uses the two.
                unsafe { add::<T, O>(stage, t, s) };
            }
            thread::sync_threads();
            s *= 2;
        }
    };
    // SAFETY: the tree's barriers separate its steps.
    unsafe { on_stage(one::<T, O>(input), output, tree) };
}

/// [`reduce2_sum_f32`](crate::reduce::reduce2_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce2<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    let tree = |stage, t| {
        let mut s = 1;
        while s < thread::block_dim_x() {
            if 2 * s * t < thread::block_dim_x() {
                // SAFETY: the sum is below the number of threads, and no other thread uses the two.
                unsafe { add::<T, O>(stage, 2 * s * t, s) };
            }
            thread::sync_threads();
            s *= 2;
        }
    };
    // SAFETY: the tree's barriers separate its steps.
    unsafe { on_stage(one::<T, O>(input), output, tree) };
}

/// Halves the block's values until `left` are left: what `reduce3`, `reduce4` and `reduce5` share.
///
/// # Safety
/// All threads of the block, a power of two, come here with their own `t`, and the stage has a
/// value for each of them.
#[gpu_only]
#[inline(always)]
unsafe fn halve<T: Number, O: Operation<T>>(stage: *mut T, t: u32, left: u32) {
    let mut s = thread::block_dim_x() / 2;
    while s >= left {
        if t < s {
            // SAFETY: t + s is below the number of threads, and no other thread uses the two.
            unsafe { add::<T, O>(stage, t, s) };
        }
        thread::sync_threads();
        s /= 2;
    }
}

/// [`reduce3_sum_f32`](crate::reduce::reduce3_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce3<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    // SAFETY: all threads halve, and its barriers separate the steps.
    unsafe { on_stage(one::<T, O>(input), output, |stage, t| halve::<T, O>(stage, t, 1)) };
}

/// [`reduce4_sum_f32`](crate::reduce::reduce4_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce4<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    // SAFETY: all threads halve, and its barriers separate the steps.
    unsafe { on_stage(two::<T, O>(input), output, |stage, t| halve::<T, O>(stage, t, 1)) };
}

/// [`reduce5_sum_f32`](crate::reduce::reduce5_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce5<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    let tree = |stage: *mut T, t: u32| {
        // SAFETY: all threads come here, each with its own number.
        unsafe { halve::<T, O>(stage, t, 64) };
        if t < 32 {
            // SAFETY: t + s is below 64, and all 32 lanes are at each barrier.
            unsafe {
                let mut combined = *stage.add(t as usize);
                for s in [32, 16, 8, 4, 2, 1] {
                    combined = O::combine(combined, *stage.add((t + s) as usize));
                    warp::sync_warp(warp::FULL);
                    *stage.add(t as usize) = combined;
                    warp::sync_warp(warp::FULL);
                }
            }
        }
    };
    // SAFETY: the tree's barriers separate its steps.
    unsafe { on_stage(two::<T, O>(input), output, tree) };
}

/// [`reduce6_sum_f32`](crate::reduce::reduce6_sum_f32), for any operation and type.
///
/// # Safety
/// The launch is linear, and a block has a power of two of threads, from 64 to 1024.
#[gpu_only]
#[inline(always)]
unsafe fn reduce6<T: Number, O: Operation<T>>(input: &[T], output: DisjointSlice<T>) {
    #[address_space(shared)]
    static OF_WARPS: SharedCell<[u32; 32]> = SharedCell::uninit();
    let of_warps = OF_WARPS.as_mut_ptr().cast::<T>();
    let (t, warps) = (thread::thread_idx_x(), thread::block_dim_x() / 32);
    // SAFETY: all lanes of a warp are at its shuffles, and a barrier follows each warp's write.
    unsafe {
        let mut combined = warp::warp_reduce_first(two::<T, O>(input), O::combine);
        if t % 32 == 0 {
            *of_warps.add(t as usize / 32) = combined;
        }
        thread::sync_threads();
        if t < 32 {
            combined = if t < warps { *of_warps.add(t as usize) } else { O::IDENTITY };
            combined = warp::warp_reduce_first(combined, O::combine);
        }
        finish(combined, output);
    }
}

/// The entry points of a step: each operation and type but the sum of `f32`.
macro_rules! reductions {
    ($($step:ident { $($name:ident $ty:ty, $operation:ident;)* })*) => {$($(
        #[doc = concat!(stringify!($operation), " by `", stringify!($step), "`.")]
        ///
        /// # Safety
        /// A block has a power of two of threads, from 64 to 1024.
        #[kernel(linear)]
        pub unsafe fn $name(input: &[$ty], output: DisjointSlice<$ty>) {
            $step::<$ty, $operation>(input, output);
        }
    )*)*};
}

reductions! {
    reduce1 {
        reduce1_product_f32 f32, Product; reduce1_min_f32 f32, Minimum;
        reduce1_max_f32 f32, Maximum; reduce1_sum_i32 i32, Sum;
        reduce1_product_i32 i32, Product; reduce1_min_i32 i32, Minimum;
        reduce1_max_i32 i32, Maximum;
    }
    reduce2 {
        reduce2_product_f32 f32, Product; reduce2_min_f32 f32, Minimum;
        reduce2_max_f32 f32, Maximum; reduce2_sum_i32 i32, Sum;
        reduce2_product_i32 i32, Product; reduce2_min_i32 i32, Minimum;
        reduce2_max_i32 i32, Maximum;
    }
    reduce3 {
        reduce3_product_f32 f32, Product; reduce3_min_f32 f32, Minimum;
        reduce3_max_f32 f32, Maximum; reduce3_sum_i32 i32, Sum;
        reduce3_product_i32 i32, Product; reduce3_min_i32 i32, Minimum;
        reduce3_max_i32 i32, Maximum;
    }
    reduce4 {
        reduce4_product_f32 f32, Product; reduce4_min_f32 f32, Minimum;
        reduce4_max_f32 f32, Maximum; reduce4_sum_i32 i32, Sum;
        reduce4_product_i32 i32, Product; reduce4_min_i32 i32, Minimum;
        reduce4_max_i32 i32, Maximum;
    }
    reduce5 {
        reduce5_product_f32 f32, Product; reduce5_min_f32 f32, Minimum;
        reduce5_max_f32 f32, Maximum; reduce5_sum_i32 i32, Sum;
        reduce5_product_i32 i32, Product; reduce5_min_i32 i32, Minimum;
        reduce5_max_i32 i32, Maximum;
    }
    reduce6 {
        reduce6_product_f32 f32, Product; reduce6_min_f32 f32, Minimum;
        reduce6_max_f32 f32, Maximum; reduce6_sum_i32 i32, Sum;
        reduce6_product_i32 i32, Product; reduce6_min_i32 i32, Minimum;
        reduce6_max_i32 i32, Maximum;
    }
}
