//! Reductions over a warp: by shuffles, on every architecture, or by `redux.sync`, from sm_80 on.

use super::FULL;
use super::shuffle::{WarpShuffleValue, warp_shuffle_down, warp_shuffle_xor};
#[cfg(target_feature = "sm_80")]
use crate::intrinsics;
use crate::unroll;

/// Combines the `value`s of all 32 lanes in five steps. Every lane gets the result
/// (`shfl.sync.bfly`).
///
/// `combine` is associative and commutative: `|a, b| a + b`, `f32::max`, ...
///
/// # Safety
/// All 32 lanes execute this call.
#[inline(always)]
pub unsafe fn warp_reduce_all<T: WarpShuffleValue>(value: T, combine: impl Fn(T, T) -> T) -> T {
    let mut value = value;
    unroll::<5>(|round| {
        // SAFETY: the caller promises that all lanes execute this.
        value = combine(value, unsafe { warp_shuffle_xor(FULL, value, 16 >> round, 32).0 });
    });
    value
}

/// Combines the `value`s of all 32 lanes in five steps. Lane 0 gets the result (`shfl.sync.down`);
/// the other lanes get partial results.
///
/// `combine` is associative and commutative: `|a, b| a + b`, `f32::max`, ...
///
/// # Safety
/// All 32 lanes execute this call.
#[inline(always)]
pub unsafe fn warp_reduce_first<T: WarpShuffleValue>(value: T, combine: impl Fn(T, T) -> T) -> T {
    let mut value = value;
    unroll::<5>(|round| {
        // SAFETY: the caller promises that all lanes execute this.
        value = combine(value, unsafe { warp_shuffle_down(FULL, value, 16 >> round, 32).0 });
    });
    value
}

/// The operation of a [`warp_reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, modulo 2^32.
    Add,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The bitwise and.
    And,
    /// The bitwise or.
    Or,
    /// The bitwise exclusive or.
    Xor,
}

/// Combines the `value`s of the lanes of `mask` in one instruction. Each of them gets the result
/// (`redux.sync`).
///
/// Available from sm_80 on; [`warp_reduce_all`] works everywhere.
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[cfg(any(target_feature = "sm_80", doc))]
#[inline(always)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the caller's promise.
    unsafe { value.reduce(mask, op) }
}

/// A value that `redux.sync` reduces: `u32` and `i32`.
#[cfg(any(target_feature = "sm_80", doc))]
pub trait WarpReduceValue: Copy {
    /// The reduction of this value over the lanes of `mask`.
    ///
    /// # Safety
    /// Every lane of `mask` executes this call with this mask.
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self;
}

#[cfg(any(target_feature = "sm_80", doc))]
impl WarpReduceValue for u32 {
    #[inline(always)]
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self {
        match op {
            WarpReductionOp::Add => intrinsics::redux_add(self, mask),
            WarpReductionOp::Min => intrinsics::redux_min_u32(self, mask),
            WarpReductionOp::Max => intrinsics::redux_max_u32(self, mask),
            WarpReductionOp::And => intrinsics::redux_and(self, mask),
            WarpReductionOp::Or => intrinsics::redux_or(self, mask),
            WarpReductionOp::Xor => intrinsics::redux_xor(self, mask),
        }
    }
}

#[cfg(any(target_feature = "sm_80", doc))]
impl WarpReduceValue for i32 {
    #[inline(always)]
    unsafe fn reduce(self, mask: u32, op: WarpReductionOp) -> Self {
        let bits = self.cast_unsigned();
        let result = match op {
            WarpReductionOp::Min => intrinsics::redux_min_i32(bits, mask),
            WarpReductionOp::Max => intrinsics::redux_max_i32(bits, mask),
            // SAFETY: the caller's promise.
            _ => unsafe { bits.reduce(mask, op) },
        };
        result.cast_signed()
    }
}
