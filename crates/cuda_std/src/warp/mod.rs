//! The warp: 32 threads that execute together, and can read each other's registers.
//!
//! Every function here concerns several lanes. `mask` names them, a bit a lane: [`FULL`] for all 32. Each lane that the mask
//! names must come to the same call with the same mask, and a lane may only call with its own bit set; lanes that have ended
//! must not be named. All wait for each other, so the lanes may have come by different branches.
//!
//! These are LLVM intrinsics, so the compiler moves none of them across a branch.

mod reduce;
mod shuffle;
mod vote;

pub use reduce::*;
pub use shuffle::*;
pub use vote::*;

use crate::intrinsics;

/// The mask of a whole warp.
pub const FULL: u32 = u32::MAX;

/// Waits until every lane of `mask` is here; what each wrote to memory before, the others see after (`bar.warp.sync`).
///
/// # Safety
/// Every lane of `mask` comes here with this mask, and none of them has ended.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    intrinsics::bar_warp_sync(mask);
}

/// The lanes that happen to execute this together (`activemask.b32`). It says nothing of the next instruction: no mask to
/// compute with is made of it.
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
