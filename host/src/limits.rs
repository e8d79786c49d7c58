//! The flags that limit a run, and the words in which errors name flags. `cli` parses the flags,
//! and the devices enforce the limits.
//!
//! To end a run after a minute, send it a signal (`timeout 60 host ...`), which leaves no
//! unfinished file.

use clap::Args;
use device::limits::Limits;
use device::{Advice, Error, Result};

use crate::flag_values::{bytes, some_bytes, whole_number};
use crate::units;

/// The limits of subcommands that open a device.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// On the simulator: the device's memory, such as 512M [default: three quarters of the memory
    /// available on the host]
    #[arg(long, value_name = "BYTES", value_parser = some_bytes)]
    pub memory_limit: Option<u64>,
    /// The size of the heap for malloc in kernels, on any device [default: 8M]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub heap_limit: Option<u64>,
    /// The most bytes to print and save from buffers, and to keep of a kernel's printf output on
    /// the simulator [default: no limit for buffers, 1M for printf]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub output_limit: Option<u64>,
    /// On the simulator: stop a launch after this many warp instructions [default: 2^31, plus 65536
    /// for each warp]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    pub step_limit: Option<u64>,
    /// On the simulator: stop a launch once its threads have had more than this many of the faults
    /// that --check looks for [default: 16777216]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0, u64::MAX))]
    pub fault_limit: Option<u64>,
}

impl From<LimitFlags> for Limits {
    fn from(flags: LimitFlags) -> Self {
        let LimitFlags { memory_limit, heap_limit, output_limit, step_limit, fault_limit } = flags;
        Self { memory_limit, heap_limit, output_limit, step_limit, fault_limit }
    }
}

/// What errors of the devices advise: this program's flags.
pub const ADVICE: Advice = Advice {
    no_such_gpu: "; `host devices` lists them",
    no_gpu: "; --device sim runs without one",
    old_driver: ", or use --device sim",
    old_gpu: "; use --device sim",
    gpu_fault: "; --device sim names the line and the address",
    memory_limit: Some("--memory-limit"),
    heap_limit: " (--heap-limit)",
    step_limit: "; unless the kernel is endless, give a larger --step-limit",
    fault_limit: "; for the results in spite of them, give a larger --fault-limit",
    not_cooperative: "; give --cooperative",
    waits_under_checks: "; with checks, blocks run one after another: give --cooperative, which runs them side by side, or \
                         --check none",
    endless_under_checks: "; with checks, blocks run one after another, and one that waits for a later one never ends: give \
                           --check none",
};

/// Fails if this many bytes may not be printed or saved. Called before anything runs; `what` names
/// the bytes.
///
/// # Errors
///
/// [`Error::Request`] if they exceed the limit.
pub(crate) fn check_output(limits: &Limits, what: &str, bytes: u64) -> Result<()> {
    match limits.output_limit {
        Some(limit) if bytes > limit => Err(Error::request(
            "--output-limit",
            format!("{what} would be {}, but the limit is {}", units::bytes(bytes), units::bytes(limit)),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let limits = Limits { output_limit: Some(1024), ..Limits::default() };
        check_output(&limits, "it", 1024).unwrap();
        let error = check_output(&limits, "argument 0", 1025).unwrap_err().to_string();
        assert!(error.starts_with("--output-limit: argument 0 would be "), "{error}");
        check_output(&Limits::default(), "it", u64::MAX).unwrap();
    }
}
