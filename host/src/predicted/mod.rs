//! The flags for predicted times: whether the simulator says how long a GPU would take, and what
//! more it says about that.
//!
//! On the simulator each row has its predicted time: the model's, or an H200's without a model.
//! Without a model this costs about four times the run, because the H200's caches run with it;
//! `--no-predict` leaves it out, and a lab does by itself where its data is so small that it would
//! say little. With a GPU, the simulator runs the same launches beside it, and predicts the times
//! of the model that is most like that GPU.

pub mod waits;
pub mod why;

use crate::flag_values::whole_number;
use clap::Args;
use device::{Device, Error, Predict, Result};

/// The flags of labs and of `host run` about predicted times.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PredictFlags {
    /// Only predict times, of the model's GPU or of an H200; labs have the sizes for a GPU. Runs a
    /// part of the blocks, and computes no results. On a GPU: predict them beside the measured ones
    #[arg(long)]
    pub predict: bool,
    /// On the simulator, and with --counters: do not predict times. Without a model, counting alone
    /// is four times as fast
    #[arg(long, conflicts_with_all = ["predict", "why", "thread_registers"])]
    pub no_predict: bool,
    /// Only predict times, on every model from the GeForce 8800 GTX to the H200; in one table, each
    /// over the model's first row
    #[arg(long, conflicts_with_all = ["no_predict", "why"])]
    pub compare_models: bool,
    /// Explain the predicted time of the lab's only variant, or of each launch: units, waits, and
    /// what would help
    #[arg(long)]
    pub why: bool,
    /// For predicted times: registers of each thread [default: estimated from the PTX]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 255u32))]
    pub thread_registers: Option<u32>,
    /// Whether launches that fill less than half of the GPU are left out.
    #[arg(skip)]
    pub if_full: bool,
}

impl PredictFlags {
    /// The flags of a program that gives none of them itself, and shows predicted times or not.
    /// Only the simulator predicts unasked, so only there can there be something to leave out.
    pub fn where_shown(device: &Device, shown: bool) -> Self {
        Self { no_predict: !shown && !device.properties().is_gpu(), ..Self::default() }
    }

    /// What launches on this device predict.
    pub fn wish(&self, device: &Device) -> Predict {
        match device.properties().is_gpu() {
            true => Predict::Nothing,
            false => self.simulated(),
        }
    }

    /// Whether times are asked for, be they of a launch or of a kernel.
    pub fn asked(&self) -> bool {
        self.predict || self.why || self.thread_registers.is_some()
    }

    /// What launches on the simulator predict.
    pub fn simulated(&self) -> Predict {
        match (self.predict, self.no_predict) {
            (true, _) => Predict::TimeOnly,
            (false, false) if self.if_full => Predict::TimeIfFull,
            (false, false) => Predict::Time,
            (false, true) => Predict::Nothing,
        }
    }

    /// Fails on a GPU, if a flag is given and no simulator runs beside it, which `--counters` and
    /// `--predict` ask for.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check(&self, device: &Device, counters: bool) -> Result<()> {
        if !device.properties().is_gpu() || counters || self.predict {
            return Ok(());
        }
        let flags = [
            ("--no-predict", self.no_predict),
            ("--why", self.why),
            ("--thread-registers", self.thread_registers.is_some()),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                let problem = "a GPU is timed, not predicted; give --predict, too, or --device sim or sim:MODEL";
                Err(Error::request(*flag, problem))
            }
            None => Ok(()),
        }
    }

    /// Fails if `--predict` is given with a flag that needs what it leaves out: results, unless a
    /// GPU computes them, and counts. Each flag comes with whether it is given.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_alone(&self, device: &Device, results: &[(&str, bool)], counts: &[(&str, bool)]) -> Result<()> {
        let results = if device.properties().is_gpu() { &[] } else { results };
        match results.iter().chain(counts).find(|(_, given)| *given && self.predict) {
            Some((flag, _)) => Err(Error::request(
                "--predict",
                format!("it runs a part of the blocks and computes nothing; leave out {flag}"),
            )),
            None => Ok(()),
        }
    }
}
