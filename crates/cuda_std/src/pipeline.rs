//! Asynchronous copies from global to shared memory, while the thread computes (`cp.async`; PTX
//! manual, "Asynchronous copy").
//!
//! An ordinary copy takes a register and two instructions for each word, and the second waits for
//! the first. An asynchronous one is a single instruction without a wait: the hardware writes the
//! word to shared memory when it arrives. So a block can prefetch several tiles while it works on
//! the current one.
//!
//! The copies of a thread are put into groups, and the thread waits for groups, the oldest first:
//!
//! ```
//! use cuda_std::{gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::{address_space, pipeline, shared::{SharedAddress, SharedCell}, thread};
//!
//! /// Reverses 64 elements.
//! ///
//! /// # Safety
//! /// One block of 64 threads; `data` has 64 elements.
//! #[kernel(launch_bounds(64))]
//! pub unsafe fn reverse(data: *mut i32) {
//!     #[address_space(shared)]
//!     static STAGE: SharedCell<[i32; 64]> = SharedCell::uninit();
//!     let stage = STAGE.as_mut_ptr().cast::<i32>();
//!     let t = thread::thread_idx_x();
//!     pipeline::copy(SharedAddress::of(stage).add(t), data.add(t as usize));
//!     pipeline::commit();
//!     pipeline::wait_prior::<0>();
//!     thread::sync_threads();
//!     *data.add(t as usize) = *stage.add(63 - t as usize);
//! }
//! ```
//!
//! [`wait_prior`] orders only a thread's own copies. Other threads' copies are visible after the
//! barrier that follows their wait.
//!
//! GPUs before compute capability 8.0 have no such copies. There, each is a load and a store, with
//! the same result and no gain.
//!
//! Named after CUDA's `cuda_pipeline_primitives.h`.

use crate::shared::SharedAddress;

/// Copies a value of 4, 8 or 16 bytes (`__pipeline_memcpy_async`). 16 bytes bypass L1
/// (`cp.async.cg`), fewer go through it (`cp.async.ca`).
///
/// # Safety
/// `from` points to a value in global memory, and `to` is in shared memory, both aligned to the
/// value's size. Until the copy has been waited for, no thread writes `from` or accesses `to`.
#[inline(always)]
pub unsafe fn copy<T: Copy>(to: SharedAddress<T>, from: *const T) {
    const { check_size::<T>() }
    let (to, from) = (to.as_u32(), from.cast());
    // SAFETY: the caller's promise.
    unsafe {
        match size_of::<T>() {
            4 => copy4(to, from),
            8 => copy8(to, from),
            _ => copy16(to, from),
        }
    }
}

/// As [`copy`] if `inside`. Otherwise it writes zeros and does not read `from`.
///
/// # Safety
/// As for [`copy`]. If not `inside`, `from` may be any address aligned to the value's size.
#[inline(always)]
pub unsafe fn copy_or_zero<T: Copy>(to: SharedAddress<T>, from: *const T, inside: bool) {
    const { check_size::<T>() }
    let (to, from) = (to.as_u32(), from.cast());
    // SAFETY: the caller's promise.
    unsafe {
        match size_of::<T>() {
            4 => copy4_or_zero(to, from, inside),
            8 => copy8_or_zero(to, from, inside),
            _ => copy16_or_zero(to, from, inside),
        }
    }
}

/// [`copy_or_zero`] for an `Option`, as `get` returns it: copies the element, or writes zero for
/// `None`.
///
/// # Safety
/// `from` is in global memory, `to` is in shared memory, both aligned to the value's size. Until
/// the copy has been waited for, no thread writes `from` or accesses `to`.
#[inline(always)]
pub unsafe fn fetch<T: Copy>(to: SharedAddress<T>, from: Option<&T>) {
    let address = from.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the caller's promise; without an element, nothing is read.
    unsafe { copy_or_zero(to, address, from.is_some()) }
}

const fn check_size<T>() {
    assert!(matches!(size_of::<T>(), 4 | 8 | 16), "an asynchronous copy moves 4, 8 or 16 bytes");
}

/// The assembly of one copy, which first converts the address from the generic to the global space.
#[cfg(target_arch = "nvptx64")]
macro_rules! in_assembly {
    ($to:ident, $from:ident, [$($line:expr),*] $($operand:tt)*) => {
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.global.u64 place, {from};",
            $($line,)*
            "}}",
            from = in(reg64) $from,
            to = in(reg32) $to,
            $($operand)*
            options(nostack, preserves_flags)
        )
    };
}

/// The copies of one size: one instruction, or a load and a store on older GPUs. `size` is the
/// number of bytes to read.
#[cfg(target_arch = "nvptx64")]
macro_rules! copies {
    ($($copy:ident $or_zero:ident: $bytes:literal $instruction:literal $word:literal $load:literal $store:literal $zero:literal;)*) => {$(
        #[inline(always)]
        unsafe fn $copy(to: u32, from: *const u8) {
            // SAFETY: the caller's promise.
            #[cfg(target_feature = "sm_80")]
            unsafe {
                in_assembly!(to, from, [concat!($instruction, " [{to}], [place], ", $bytes, ";")])
            }
            // SAFETY: the caller's promise.
            #[cfg(not(target_feature = "sm_80"))]
            unsafe {
                in_assembly!(to, from, [$word, $load, $store])
            }
        }

        #[inline(always)]
        unsafe fn $or_zero(to: u32, from: *const u8, inside: bool) {
            let size = if inside { $bytes } else { 0_u32 };
            // SAFETY: the caller's promise.
            #[cfg(target_feature = "sm_80")]
            unsafe {
                in_assembly!(
                    to, from, [concat!($instruction, " [{to}], [place], ", $bytes, ", {size};")]
                    size = in(reg32) size,
                )
            }
            // SAFETY: the caller's promise.
            #[cfg(not(target_feature = "sm_80"))]
            unsafe {
                in_assembly!(
                    to, from,
                    [$word, ".reg .pred inside;", "setp.ne.u32 inside, {size}, 0;", $zero, concat!("@inside ", $load), $store]
                    size = in(reg32) size,
                )
            }
        }
    )*};
}

#[cfg(target_arch = "nvptx64")]
copies! {
    copy4 copy4_or_zero: 4 "cp.async.ca.shared.global"
        ".reg .b32 word;" "ld.global.b32 word, [place];" "st.shared.b32 [{to}], word;" "mov.b32 word, 0;";
    copy8 copy8_or_zero: 8 "cp.async.ca.shared.global"
        ".reg .b64 word;" "ld.global.b64 word, [place];" "st.shared.b64 [{to}], word;" "mov.b64 word, 0;";
    copy16 copy16_or_zero: 16 "cp.async.cg.shared.global"
        ".reg .b64 word<2>;" "ld.global.v2.b64 {{word0, word1}}, [place];" "st.shared.v2.b64 [{to}], {{word0, word1}};"
        "mov.b64 word0, 0; mov.b64 word1, 0;";
}

/// Rustdoc has no such assembler, and no need of the bodies.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! copies {
    ($($copy:ident $or_zero:ident)*) => {$(
        unsafe fn $copy(_to: u32, _from: *const u8) {}
        unsafe fn $or_zero(_to: u32, _from: *const u8, _inside: bool) {}
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
copies! { copy4 copy4_or_zero copy8 copy8_or_zero copy16 copy16_or_zero }

/// Puts the copies that the thread has made since the last call into a group (`__pipeline_commit`,
/// `cp.async.commit_group`). The group may be empty.
#[inline(always)]
pub fn commit() {
    // SAFETY: it touches no memory of its own.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack, preserves_flags));
    }
}

/// Waits until all of the thread's groups but the last `N` have arrived (`__pipeline_wait_prior`,
/// `cp.async.wait_group`).
#[inline(always)]
pub fn wait_prior<const N: u32>() {
    // SAFETY: it touches no memory of its own.
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_80"))]
    unsafe {
        core::arch::asm!("cp.async.wait_group {n};", n = const N, options(nostack, preserves_flags));
    }
}
