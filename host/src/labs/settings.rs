//! The flags that every lab has.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use simt::Checks;

use crate::device::CacheConfig;
use crate::faults::CheckFlags;
use crate::flag_values::{seconds, whole_number};
use crate::lines::LineFlags;
use crate::progress::Progress;

/// Flags that every lab has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common to all labs")]
pub struct Settings {
    /// Seed of the random data; the same seed gives the same data everywhere
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number(0, u64::MAX))]
    pub seed: u64,
    /// Write the result of the last variant that ran to this NumPy file; a wrong one too, with a note
    #[arg(long, value_name = "X.npy")]
    pub output: Option<PathBuf>,
    /// What the kernels prefer to be large: shared memory, the L1 cache, or both equally
    #[arg(long, value_enum, value_name = "WISH", default_value_t = CacheConfig::None)]
    pub cache_config: CacheConfig,
    /// The part of a multiprocessor's memory that should be shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = whole_number(0, 100u8))]
    pub carveout: Option<u8>,
    /// The most seconds to time one variant on a GPU
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub time_limit: Duration,
    /// On a GPU: launch each variant once and take no times, as a profiler wants it
    #[arg(long, conflicts_with = "time_limit")]
    pub once: bool,
    /// On a GPU: also run every variant on the simulator, for its counters
    #[arg(long)]
    pub counters: bool,
    /// What each line of the kernels did.
    #[command(flatten)]
    pub lines: LineFlags,
    /// What to look for on the simulator.
    #[command(flatten)]
    pub checks: CheckFlags,
    /// Where to say how far it is.
    #[arg(skip)]
    pub progress: Progress,
}

impl Default for Settings {
    fn default() -> Self {
        super::defaults()
    }
}

impl Settings {
    /// What to look for: nothing unless it is asked for, since the labs' kernels are known and their data is large.
    pub(super) fn checks(&self) -> Checks {
        self.checks.or(Checks::NONE)
    }
}
