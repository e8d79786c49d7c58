//! The marker of a phase, for `cuda_builder`'s check.
//!
//! A call says: every thread of the block comes here, and with the same operand. The builder
//! refuses a kernel for which it cannot prove that, and then removes the calls, so they cost
//! nothing.

/// All threads of the block are here, with the same `operand`.
#[inline(always)]
pub(super) fn uniform(operand: *const u8) {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            // Nobody defines it: the builder removes its calls.
            safe fn __coalesce_phase(operand: *const u8);
        }
        __coalesce_phase(operand);
    }
    #[cfg(not(target_arch = "nvptx64"))]
    let _ = operand;
}

/// All threads of the block are here, with the same `number`.
#[inline(always)]
pub(super) fn uniform_number(number: u32) {
    uniform(core::ptr::without_provenance(number as usize));
}

/// All threads of the block are here.
#[inline(always)]
pub(super) fn reached() {
    uniform(core::ptr::null());
}
