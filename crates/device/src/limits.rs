//! The limits of a run: memory, heap, output, steps and faults. A run that exceeds a limit stops
//! with one line that says so.
//!
//! The limits are of resources and not of time, so the same run stops at the same place on every
//! machine. To end a run after a minute, set [`Options::cancel`](crate::Options::cancel).

/// The limits of a device's launches and memory. `None`: the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The simulator's memory in bytes; by default three quarters of the memory available on the
    /// host.
    pub memory_limit: Option<u64>,
    /// The size of the heap for malloc in kernels, on any device; by default 8 MiB.
    pub heap_limit: Option<u64>,
    /// The most bytes to keep of a kernel's printf output on the simulator; by default 1 MiB.
    pub output_limit: Option<u64>,
    /// The simulator stops a launch after this many warp instructions; by default after 2^31, plus
    /// 65536 for each warp.
    pub step_limit: Option<u64>,
    /// The simulator stops a launch once its threads have had more than this many of the faults
    /// that checks look for; by default 16777216.
    pub fault_limit: Option<u64>,
}
