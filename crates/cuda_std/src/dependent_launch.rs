//! Kernels that may begin before the previous one has ended ("programmatic dependent launch"; CUDA
//! C++ Programming Guide; PTX manual, `griddepcontrol`).
//!
//! Launches of a stream run one after the other: the GPU waits for the last thread of a kernel,
//! makes its writes visible, and only then begins to set up the next. For a kernel of a few
//! microseconds that gap is as long as the kernel. If the kernel itself waits for what comes before
//! it, most of the gap is hidden: it is set up when the last block of the earlier kernel has ended,
//! and stands ready when the writes are visible. On an H200 the copy of 2^20 floats then takes 1.7
//! us back to back, instead of 2.9 (2026-11-23).
//!
//! ```
//! use cuda_std::{gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::{dependent_launch, thread};
//!
//! /// Doubles each element.
//! ///
//! /// # Safety
//! /// A thread for each element of `data`, which nothing else uses during the launch.
//! #[kernel]
//! pub unsafe fn double(data: *mut f32) {
//!     dependent_launch::wait();
//!     *data.add(thread::wide_index_1d()) *= 2.0;
//! }
//! ```
//!
//! Whoever launches the kernel has to ask for it
//! (`cudaLaunchAttributeProgrammaticStreamSerialization`). Coalesce's `host` does so for each
//! kernel that waits before it accesses memory, as this one does.
//!
//! What the previous kernel writes is not constant during the launch. So a kernel that waits must
//! not promise the compiler that it is: not by `&[T]`, of which plain loads become `ld.global.nc`,
//! nor by [`load_nc`](crate::mem::load_nc). For such loads neither the compiler nor L1 need respect
//! the wait. Read by [`load_ca`](crate::mem::load_ca) or [`load_cg`](crate::mem::load_cg), or
//! through a `*const T`. The host launches a kernel with a load that takes memory as constant in
//! the ordinary way.
//!
//! GPUs before compute capability 9.0 run launches one after the other. There the functions do
//! nothing.

/// Waits until the kernels before this one have ended, and all that they wrote is visible
/// (`cudaGridDependencySynchronize`, `griddepcontrol.wait`). Call it in every thread, before the
/// first access to memory that an earlier kernel may use.
#[inline(always)]
pub fn wait() {
    // SAFETY: it only waits. Without `nomem`, the compiler moves no access to memory that may
    // change across it.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    unsafe {
        core::arch::asm!("griddepcontrol.wait;", options(nostack, preserves_flags));
    }
}

/// Waits as [`wait`] does, and hands the address back: so it is computed before the wait, not after
/// it, where compilers may put it.
///
/// A wait takes a moment even if there is nothing to wait for. For a kernel of one wave of blocks
/// that counts: the copy of 2^20 floats takes 0.6 % less, cold, if its threads know their addresses
/// by then (H200, 2026-11-23).
///
/// The compiler then no longer knows that the address is in global memory. So read by
/// [`load_ca`](crate::mem::load_ca) or [`load_cg`](crate::mem::load_cg), which say so.
#[inline(always)]
pub fn wait_with<T>(address: *const T) -> *const T {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    {
        let mut address = address;
        // SAFETY: as in `wait`. The address stays as it is.
        unsafe {
            core::arch::asm!("griddepcontrol.wait; // {0}", inout(reg64) address, options(nostack, preserves_flags));
        }
        address
    }
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_90")))]
    address
}

/// Lets the next kernel begin as soon as every block of this one has come here or ended
/// (`cudaTriggerProgrammaticLaunchCompletion`, `griddepcontrol.launch_dependents`). Without a call
/// that is when the blocks end.
///
/// The blocks of the next kernel then take part of the multiprocessors while this one is still at
/// work. Call it where that helps: when little work is left, or when the next kernel has much to do
/// before it waits.
#[inline(always)]
pub fn launch_dependents() {
    // SAFETY: it touches no memory of its own; the next kernel waits by itself.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    unsafe {
        core::arch::asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags));
    }
}
