//! Special registers (PTX manual, "Special Registers"), and ways to end a thread or a launch.

use crate::intrinsics;

/// The low 32 bits of the multiprocessor's cycle counter (`%clock`). Differences are right up to
/// 2^32 cycles.
#[inline(always)]
pub fn clock() -> u32 {
    intrinsics::clock()
}

/// The multiprocessor's cycle counter (`%clock64`). Counters of different multiprocessors are not
/// comparable.
#[inline(always)]
pub fn clock64() -> u64 {
    intrinsics::clock64()
}

/// The device's wall clock in nanoseconds (`%globaltimer`). It advances in steps of up to about a
/// microsecond.
#[inline(always)]
pub fn globaltimer() -> u64 {
    intrinsics::globaltimer()
}

/// The multiprocessor that the thread is running on (`%smid`), below [`multiprocessors`].
#[inline(always)]
pub fn smid() -> u32 {
    intrinsics::smid()
}

/// An upper bound of the numbers of multiprocessors (`%nsmid`), which need not be contiguous.
#[inline(always)]
pub fn multiprocessors() -> u32 {
    intrinsics::nsmid()
}

/// The warp's current slot in its multiprocessor (`%warpid`), below [`warp_slots`]. It may change;
/// the warp's number in its block is the thread's number divided by 32.
#[inline(always)]
pub fn warp_slot() -> u32 {
    intrinsics::warpid()
}

/// The number of warp slots of a multiprocessor (`%nwarpid`).
#[inline(always)]
pub fn warp_slots() -> u32 {
    intrinsics::nwarpid()
}

/// All shared memory of the block in bytes: static, dynamic, and what the system reserves
/// (`%total_smem_size`).
#[inline(always)]
pub fn total_shared_size() -> u32 {
    intrinsics::total_smem_size()
}

/// Stops the launch with an error (`trap`). Panics end here too.
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: trapping is always allowed; it ends the launch.
    unsafe { core::arch::nvptx::trap() }
}

/// Ends this thread (`exit`), as a `return` of the kernel would. Barriers no longer wait for it.
#[inline(always)]
pub fn exit() -> ! {
    // Assembly, because LLVM treats its intrinsic as not accessing memory, so that stores before it
    // would be lost.
    // SAFETY: a thread may end anywhere.
    #[cfg(target_arch = "nvptx64")]
    unsafe {
        core::arch::asm!("exit;", options(noreturn, nostack))
    }
}
