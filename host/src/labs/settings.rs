//! The flags that every lab has, and the settings that follow from them. `cli` parses them, and
//! `flow`, `launcher` and the labs read them. Plain data.

use std::path::PathBuf;
use std::time::Duration;

use crate::flag_values::{self, each_once, seconds, whole_number};
use clap::Args;
use device::{CacheConfig, Device, Error, Result};
use simt::Checks;

use crate::faults::SanitizerFlags;
use crate::flag_values::cache_config;
use crate::lines::LineFlags;
use crate::orders::OrderFlags;
use crate::peers::PeerFlags;
use crate::predicted::PredictFlags;
use crate::progress::Progress;
use crate::report::{Fact, Format, Sweep};

/// The flag of labs whose launches depend on the number of multiprocessors.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ShapeFlags {
    /// Shape the best kernels' launches for a GPU of this many multiprocessors [default: the
    /// device's; on the simulator without a model, the 132 of an H200]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 10_000u32))]
    pub multiprocessors: Option<u32>,
}

/// Flags that every lab has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common to all labs")]
pub struct Settings {
    /// Seed of the random data, and of --schedules; the same seed gives the same data everywhere
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number(0, u64::MAX))]
    pub seed: u64,
    /// Write the result of the last variant that ran to this NumPy file; a note says if it is wrong
    #[arg(long, value_name = "X.npy")]
    pub output: Option<PathBuf>,
    /// Also write this web page: the table, the sentences, pictures of the accesses, and the source
    /// with its counts
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// The report's pictures play their wavefronts, if there are several, one after the other
    #[arg(long, requires = "report")]
    pub play: bool,
    /// Show every column, and what the names of rows and columns mean
    #[arg(long)]
    pub legend: bool,
    /// Also draw the lab's sweep, or its roofline. Where no values are given, those that make the plot
    /// worth seeing run
    #[arg(long)]
    pub plot: bool,
    /// The kernels' preference: none, more shared memory (shared), more L1 cache (l1), or both
    /// equally (equal)
    #[arg(long, value_name = "PREFERENCE", default_value = "none", value_parser = cache_config(), hide_possible_values = true)]
    pub cache_config: CacheConfig,
    /// The share of a multiprocessor's L1 memory to use as shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = whole_number(0, 100u8))]
    pub carveout: Option<u8>,
    /// Time one variant on a GPU for at most this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub time_limit: Duration,
    /// On a GPU: launch each variant once, untimed, for a profiler
    #[arg(long, conflicts_with = "time_limit")]
    pub once: bool,
    /// On a GPU: also run each variant on the simulator, for its counters
    #[arg(long)]
    pub counters: bool,
    /// The flags for counters by source line.
    #[command(flatten)]
    pub lines: LineFlags,
    /// The faults to look for on the simulator.
    #[command(flatten)]
    pub checks: SanitizerFlags,
    /// The flags for predicted times.
    #[command(flatten)]
    pub predicted: PredictFlags,
    /// The flags for other orders of blocks and warps.
    #[command(flatten)]
    pub orders: OrderFlags,
    /// The flag for the shape of launches.
    #[arg(skip)]
    pub shape: ShapeFlags,
    /// The flags for libraries to time beside the lab's kernels.
    #[arg(skip)]
    pub peer: PeerFlags,
    /// Whether only the rows of the lab's first table are shown.
    #[arg(skip)]
    pub first_alone: bool,
    /// Whether a page shows the report among others.
    #[arg(skip)]
    pub paged: bool,
    /// How many requests of each access a page steps through; 0 where it draws each shape once.
    #[arg(skip)]
    pub steps: u32,
    /// Whether to count how often each element is loaded.
    #[arg(skip)]
    pub counts_words: bool,
    /// Whether a page draws the active lanes of reductions.
    #[arg(skip)]
    pub draws_lanes: bool,
    /// Where progress is shown.
    #[arg(skip)]
    pub progress: Progress,
}

impl Default for Settings {
    fn default() -> Self {
        flag_values::defaults()
    }
}

impl Settings {
    /// Whether the simulator runs the rows, too, that differ from others in time alone. A GPU
    /// always does. A comparison of models has none of them: they would take minutes.
    pub(super) fn predicts(&self) -> bool {
        self.predicted.predict && !self.predicted.compare_models
    }

    /// The same, if this format shows no more than the lab's first table: then no other rows run.
    pub fn in_format(self, format: Format) -> Self {
        let more = self.legend || self.plot || self.lines.given() || self.checks().any() || self.orders.any();
        let more = more || self.predicted.asked() || self.report.is_some() || self.output.is_some();
        Self { first_alone: format == Format::Table && !more, ..self }
    }

    /// Whether there will be a page, which shows each line and access.
    pub(super) fn has_page(&self) -> bool {
        self.report.is_some() || self.paged || self.steps > 0
    }

    /// Fails if something is requested that this format cannot show.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_format(&self, format: Format) -> Result<()> {
        if self.legend && format != Format::Table {
            return Err(Error::request("--legend", "the other formats always have every column; leave it out"));
        }
        if self.plot && format != Format::Table {
            return Err(Error::request("--plot", "this format cannot show it; use --format table, or --report"));
        }
        self.lines.check_format(format)
    }

    /// Fails if the rows that were planned, of which the groups and facts are given, are no sweep
    /// of this lab.
    pub(super) fn check_plot<'r>(
        &self,
        sweeps: &[Sweep],
        roofline: bool,
        device: &Device,
        rows: impl Iterator<Item = (&'r str, &'r [Fact])> + Clone,
    ) -> Result<()> {
        if !self.plot {
            return Ok(());
        }
        if self.once && device.properties().is_gpu() && !self.counters {
            return Err(Error::request("--plot", "--once takes no times to draw; give --counters, too"));
        }
        if roofline {
            let needed = |what| Err(Error::request("--plot", format!("a roofline needs counts of caches; {what}")));
            return match () {
                () if device.predicts_only() => needed("leave out --predict"),
                () if device.properties().is_gpu() && !self.counters => needed("on a GPU give --counters, too"),
                () => Ok(()),
            };
        }
        match sweeps.iter().any(|sweep| sweep.has_points(rows.clone())) {
            true => Ok(()),
            false => {
                let swept: Vec<_> = sweeps.iter().map(Sweep::name).collect();
                let problem = format!(
                    "nothing is swept here: give two values or more of the {}",
                    each_once(swept).join(", or of the ")
                );
                Err(Error::request("--plot", problem))
            }
        }
    }

    /// The sanitizer's checks: none by default, because the labs' kernels are correct and their
    /// data is large.
    pub(super) fn checks(&self) -> Checks {
        self.checks.or(Checks::NONE)
    }
}
