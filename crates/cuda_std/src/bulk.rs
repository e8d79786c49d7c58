//! Bulk copies from global to shared memory by the copy engine (TMA; `cp.async.bulk`), and the
//! barriers in shared memory that count their bytes (`mbarrier`; PTX manual, "Asynchronous copy",
//! "mbarrier").
//!
//! One thread copies a whole tile by one instruction. The addresses and the copies take no registers
//! and no instructions of the other threads, which wait at the barrier until all bytes are there.
//!
//! ```
//! use cuda_std::{gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::{address_space, bulk, shared::{SharedAddress, SharedCell}, thread};
//!
//! /// Reverses 64 elements.
//! ///
//! /// # Safety
//! /// One block of 64 threads, on a GPU of compute capability 9.0; `data` has 64 elements, on 16
//! /// bytes.
//! #[kernel(launch_bounds(64))]
//! pub unsafe fn reverse(data: *mut i32) {
//!     #[address_space(shared)]
//!     static STAGE: SharedCell<[i32; 64]> = SharedCell::uninit();
//!     #[address_space(shared)]
//!     static ARRIVED: SharedCell<bulk::Barrier> = SharedCell::uninit();
//!     let stage = STAGE.as_mut_ptr().cast::<i32>();
//!     let (t, arrived) = (thread::thread_idx_x(), SharedAddress::of(ARRIVED.as_mut_ptr()));
//!     if t == 0 {
//!         bulk::init(arrived, 1);
//!         bulk::show_writes();
//!     }
//!     thread::sync_threads();
//!     if t == 0 {
//!         bulk::arrive_and_expect(arrived, 256);
//!         bulk::copy(SharedAddress::of(stage), data, 64, arrived);
//!     }
//!     while !bulk::is_complete(arrived, 0) {}
//!     *data.add(t as usize) = *stage.add(63 - t as usize);
//! }
//! ```
//!
//! A barrier goes through phases. A phase is complete when as many threads have arrived as [`init`]
//! said, and all bytes that they expect; then the next one begins. Phases are named by their parity:
//! the first has 0, the next 1, the one after it 0 again.
//!
//! The copy engine does not see what threads wrote to shared memory before [`show_writes`].
//!
//! GPUs before compute capability 9.0 have no copy engine. There each function stops the launch.

#![cfg_attr(
    not(all(target_arch = "nvptx64", target_feature = "sm_90")),
    allow(unused_variables, unused_unsafe, unreachable_code, reason = "elsewhere the functions have no bodies")
)]

use crate::shared::SharedAddress;

/// A barrier in shared memory that counts arrivals and bytes (`mbarrier`).
#[repr(transparent)]
pub struct Barrier(#[allow(dead_code, reason = "only the hardware reads it")] u64);

/// The assembly of a function. GPUs without these instructions stop the launch instead; rustdoc has
/// no such assembler.
macro_rules! in_assembly {
    ($($assembly:tt)*) => {
        #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
        core::arch::asm!($($assembly)*, options(nostack, preserves_flags));
        #[cfg(all(target_arch = "nvptx64", not(target_feature = "sm_90")))]
        crate::special::trap();
    };
}

/// Makes a barrier that `threads` threads arrive at in each phase (`mbarrier.init`).
///
/// # Safety
/// `barrier` is in shared memory, aligned to 8 bytes. Other threads use it after a barrier of the
/// block, and the copy engine after [`show_writes`].
#[inline(always)]
pub unsafe fn init(barrier: SharedAddress<Barrier>, threads: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        in_assembly!(
            "mbarrier.init.shared.b64 [{barrier}], {threads};",
            barrier = in(reg32) barrier.as_u32(),
            threads = in(reg32) threads
        );
    }
}

/// Shows the copy engine what this thread has written to shared memory
/// (`fence.proxy.async.shared::cta`).
#[inline(always)]
pub fn show_writes() {
    // SAFETY: it only orders accesses.
    unsafe {
        in_assembly!("fence.proxy.async.shared::cta;");
    }
}

/// Arrives, and has the phase wait for `bytes` more (`mbarrier.arrive.expect_tx`).
///
/// # Safety
/// [`init`] made the barrier, and no more threads arrive in a phase than it says.
#[inline(always)]
pub unsafe fn arrive_and_expect(barrier: SharedAddress<Barrier>, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        in_assembly!(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], {bytes};",
            barrier = in(reg32) barrier.as_u32(),
            bytes = in(reg32) bytes
        );
    }
}

/// Copies `count` values, whose bytes `barrier` counts when they have arrived
/// (`cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`).
///
/// # Safety
/// `from` points to so many values in global memory, `to` to room for them in shared memory, both
/// aligned to 16 bytes; together they have a multiple of 16 bytes. The current phase of the barrier
/// expects them. Until it is complete, no thread writes `from` or accesses `to`; what threads wrote
/// to `to` before, they have [shown](show_writes).
#[inline(always)]
pub unsafe fn copy<T: Copy>(to: SharedAddress<T>, from: *const T, count: u32, barrier: SharedAddress<Barrier>) {
    // SAFETY: the caller's promise.
    unsafe {
        in_assembly!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {from};",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [place], {bytes}, [{barrier}];",
            "}}",
            from = in(reg64) from,
            to = in(reg32) to.as_u32(),
            bytes = in(reg32) count * size_of::<T>() as u32,
            barrier = in(reg32) barrier.as_u32()
        );
    }
}

/// Whether the phase of this parity is complete (`mbarrier.try_wait.parity`). The hardware may let
/// the thread wait a while before it says no. Where it says yes, what the phase waited for is
/// visible.
///
/// # Safety
/// [`init`] made the barrier. The phase is the current one or the one before.
#[inline(always)]
#[must_use]
pub unsafe fn is_complete(barrier: SharedAddress<Barrier>, parity: u32) -> bool {
    #[allow(unused_mut, reason = "the assembly writes it")]
    let mut complete = 0_u32;
    // SAFETY: the caller's promise.
    unsafe {
        in_assembly!(
            "{{",
            ".reg .pred complete;",
            "mbarrier.try_wait.parity.shared::cta.b64 complete, [{barrier}], {parity};",
            "selp.u32 {complete}, 1, 0, complete;",
            "}}",
            barrier = in(reg32) barrier.as_u32(),
            parity = in(reg32) parity,
            complete = out(reg32) complete
        );
    }
    complete != 0
}
