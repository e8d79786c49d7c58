//! The warp: 32 threads that execute together and can read each other's registers.
//!
//! Every function here concerns several lanes. `mask` has a bit for each: [`FULL`] is all 32. Each
//! lane in the mask must execute the same call with the same mask, and a caller's own bit must be
//! set; lanes that have exited must not be in it. The lanes wait for each other, so they may arrive
//! from different branches.
//!
//! These are LLVM intrinsics, so the compiler does not move them across branches.

mod reduce;
mod shuffle;
mod vote;

pub use reduce::*;
pub use shuffle::*;
pub use vote::*;

use crate::intrinsics;

/// The mask of a whole warp.
pub const FULL: u32 = u32::MAX;

/// Waits until every lane of `mask` has arrived. The lanes then see what each wrote to memory
/// before (`bar.warp.sync`).
///
/// # Safety
/// Every lane of `mask` executes this call with this mask, and none of them has exited.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    intrinsics::bar_warp_sync(mask);
}

/// The lanes that happen to execute this together (`activemask.b32`). They may differ at the next
/// instruction, so do not use it as the mask of another call.
#[inline(always)]
pub fn activemask() -> u32 {
    intrinsics::activemask()
}

macro_rules! registers {
    ($($(#[$documentation:meta])* $name:ident = $register:ident;)*) => {$(
        $(#[$documentation])*
        #[inline(always)]
        pub fn $name() -> u32 {
            intrinsics::$register()
        }
    )*};
}

registers! {
    /// The thread's lane in its warp, 0 to 31 (`%laneid`).
    lane_id = laneid;
    /// The mask of this lane alone (`%lanemask_eq`).
    lane_mask_eq = lanemask_eq;
    /// The mask of the lanes below this one (`%lanemask_lt`).
    lane_mask_lt = lanemask_lt;
    /// The mask of this lane and those below (`%lanemask_le`).
    lane_mask_le = lanemask_le;
    /// The mask of the lanes above this one (`%lanemask_gt`).
    lane_mask_gt = lanemask_gt;
    /// The mask of this lane and those above (`%lanemask_ge`).
    lane_mask_ge = lanemask_ge;
}
