//! Votes and matches: compare a predicate or a value across the lanes of a warp (PTX manual,
//! `vote.sync` and `match.sync`).

use crate::intrinsics;

/// Whether `predicate` holds in every lane of `mask` (`vote.sync.all.pred`).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    intrinsics::vote_all(mask, predicate)
}

/// Whether `predicate` holds in any lane of `mask` (`vote.sync.any.pred`).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    intrinsics::vote_any(mask, predicate)
}

/// Whether `predicate` is the same in every lane of `mask` (`vote.sync.uni.pred`).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_vote_uniform(mask: u32, predicate: bool) -> bool {
    intrinsics::vote_uni(mask, predicate)
}

/// The mask of those lanes of `mask` in which `predicate` holds (`vote.sync.ballot.b32`).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    intrinsics::vote_ballot(mask, predicate)
}

/// The mask of those lanes of `mask` whose `value` has the same bits as this lane's
/// (`match.any.sync`, from sm_70 on).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { value.match_any(mask) }
}

/// `Some(mask)` if `value` has the same bits in every lane of `mask`, else `None`
/// (`match.all.sync`, from sm_70 on).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask.
#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's promise.
    let (lanes, all) = unsafe { value.match_all(mask) };
    all.then_some(lanes)
}

/// A value that lanes can compare by its bits: numbers of 32 and 64 bits.
pub trait WarpMatchValue: Copy {
    /// The lanes of `mask` that have the same value.
    ///
    /// # Safety
    /// Every lane of `mask` executes this call with this mask.
    unsafe fn match_any(self, mask: u32) -> u32;
    /// `mask` and whether all its lanes have the same value.
    ///
    /// # Safety
    /// Every lane of `mask` executes this call with this mask.
    unsafe fn match_all(self, mask: u32) -> (u32, bool);
}

macro_rules! match_values {
    ($($ty:ty: $bits:expr, $any:ident, $all:ident;)*) => {$(
        impl WarpMatchValue for $ty {
            #[inline(always)]
            unsafe fn match_any(self, mask: u32) -> u32 {
                intrinsics::$any(mask, $bits(self))
            }
            #[inline(always)]
            unsafe fn match_all(self, mask: u32) -> (u32, bool) {
                intrinsics::$all(mask, $bits(self))
            }
        }
    )*};
}

match_values! {
    u32: u32::from, match_any_32, match_all_32;
    i32: i32::cast_unsigned, match_any_32, match_all_32;
    f32: f32::to_bits, match_any_32, match_all_32;
    u64: u64::from, match_any_64, match_all_64;
    i64: i64::cast_unsigned, match_any_64, match_all_64;
    f64: f64::to_bits, match_any_64, match_all_64;
}
