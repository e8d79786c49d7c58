//! The flags that limit a run: memory, heap, output, steps and faults. A run that exceeds a limit
//! stops with one line that names it. `cli` parses them, and the devices enforce them.
//!
//! The limits are of resources and not of time, so the same run stops at the same place on every
//! machine. To end a run after a minute, send it a signal (`timeout 60 host ...`), which leaves no
//! unfinished file.

use clap::Args;
use simt::TrapKind;

use crate::error::{Error, Result};
use crate::flag_values::{bytes, some_bytes, whole_number};
use wording::units;

/// The limits of subcommands that open a device.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
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
    /// Whether they are a user's flags, so that messages may name them.
    #[arg(skip = true)]
    pub from_flags: bool,
}

impl Limits {
    /// The value of `--memory-limit`, if a user gave it.
    pub(crate) fn memory_flag(&self) -> Option<u64> {
        self.memory_limit.filter(|_| self.from_flags)
    }

    /// What to do about a launch that exceeds a limit, for the end of a message.
    pub(crate) fn advice(&self, kind: &TrapKind) -> &'static str {
        match kind {
            TrapKind::StepLimit { .. } if self.from_flags => {
                "; unless the kernel is endless, give a larger --step-limit"
            }
            TrapKind::FaultLimit { .. } if self.from_flags => {
                "; for the results in spite of them, give a larger --fault-limit"
            }
            _ => "",
        }
    }

    /// Fails if this many bytes may not be printed or saved. Called before anything runs; `what`
    /// names the bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] if they exceed the limit.
    pub fn check_output(&self, what: &str, bytes: u64) -> Result<()> {
        match self.output_limit {
            Some(limit) if bytes > limit => Err(Error::flag(
                "--output-limit",
                format!("{what} would be {}, but the limit is {}", units::bytes(bytes), units::bytes(limit)),
            )),
            _ => Ok(()),
        }
    }
}

/// What the flag `--memory-limit` allows, for the end of a message; empty without the flag.
pub(crate) fn memory_note(flag: Option<u64>) -> String {
    flag.map_or(String::new(), |limit| format!(" (--memory-limit allows {})", units::bytes(limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let limits = Limits { output_limit: Some(1024), ..Limits::default() };
        limits.check_output("it", 1024).unwrap();
        let error = limits.check_output("argument 0", 1025).unwrap_err().to_string();
        assert!(error.starts_with("--output-limit: argument 0 would be "), "{error}");
        Limits::default().check_output("it", u64::MAX).unwrap();
    }
}
