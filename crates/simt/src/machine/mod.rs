//! The machine that runs decoded kernels.

/// Generic address of the first byte of a kernel's parameters.
pub(crate) const PARAMETER_WINDOW: u64 = 0x0300_0000_0000;
