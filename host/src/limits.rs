//! Limits of a run, as flags: memory, steps and output. What they stop is the run, with one line that says which.
//!
//! They are the same on every machine and at any load, so a test may rely on them. Time is not: whoever wants to end a run after so many
//! seconds sends it a signal, as `timeout 60 host ...` does, and no unfinished file is left.

use clap::Args;

use crate::error::{Error, Result};
use crate::units;

/// The limits that every subcommand takes.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// On the simulator: the memory of the device, such as 512M [default: three quarters of what the host has available]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub memory_limit: Option<u64>,
    /// The memory that kernels can get from malloc, on any device [default: 8M]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub heap_limit: Option<u64>,
    /// The most that may be printed and saved of buffers, and of what a kernel prints on the simulator [default: as much as there is,
    /// and 1M of what a kernel prints]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub output_limit: Option<u64>,
    /// On the simulator: stop a launch after so many warp instructions [default: 2^31, and 65536 more for each warp]
    #[arg(long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub step_limit: Option<u64>,
}

impl Limits {
    /// Whether so many bytes may be put out. Asked before anything runs: `what` says what they are.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] when they are too many.
    pub fn check_output(&self, what: &str, bytes: u64) -> Result<()> {
        match self.output_limit {
            Some(limit) if bytes > limit => Err(Error::flag(
                "--output-limit",
                format!("{what} would be {}, and {} are allowed", units::bytes(bytes), units::bytes(limit)),
            )),
            _ => Ok(()),
        }
    }
}

/// A number of bytes, in units of 1024, 1024^2, 1024^3 or 1024^4 if a letter says so.
fn bytes(text: &str) -> std::result::Result<u64, String> {
    let wrong = || format!("'{text}' is no number of bytes; give a whole number, or one with K, M, G or T, as in 512M");
    let (digits, shift) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 10),
        Some('m' | 'M') => (&text[..text.len() - 1], 20),
        Some('g' | 'G') => (&text[..text.len() - 1], 30),
        Some('t' | 'T') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("3k"), Ok(3072));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("16777215T"), Ok(16_777_215 << 40));
        for text in ["", "M", "-1", "1.5G", "1MB", "16777216T", "18446744073709551616", "\u{20ac}"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let limits = Limits { output_limit: Some(1024), ..Limits::default() };
        limits.check_output("it", 1024).unwrap();
        let error = limits.check_output("argument 0", 1025).unwrap_err().to_string();
        assert!(error.starts_with("--output-limit: argument 0 would be "), "{error}");
        Limits::default().check_output("it", u64::MAX).unwrap();
    }
}
