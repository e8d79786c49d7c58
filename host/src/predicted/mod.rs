//! The flags for predicted times: whether the simulator says how long a GPU would take, and what more it says about that.
//!
//! On a model, each row has its predicted time, which costs about a quarter of the run's time again. Without a model it would cost
//! several times the run, so it is there only if a flag asks, and is an H200's.

pub mod waits;
pub mod why;

use clap::Args;
use device::flag_values::whole_number;
use device::{Device, Error, Predict, Result};

/// The flags of all labs about predicted times.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PredictFlags {
    /// On the simulator: only predict times, of the model's GPU or of an H200, at the sizes for a GPU; runs a part of the blocks, and
    /// computes no results
    #[arg(long)]
    pub predict: bool,
    /// On a model of the simulator: do not predict times
    #[arg(long, conflicts_with_all = ["predict", "why", "thread_registers"])]
    pub no_predict: bool,
    /// On the simulator: explain the predicted time of the one variant that runs: units, waits, and what would help
    #[arg(long)]
    pub why: bool,
    /// For predicted times: registers of each thread [default: estimated from the PTX]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 255u32))]
    pub thread_registers: Option<u32>,
}

impl PredictFlags {
    /// What launches on this device predict.
    pub fn wish(&self, device: &Device) -> Predict {
        let asked = self.why || self.thread_registers.is_some();
        match device.properties().is_gpu() {
            true => Predict::Nothing,
            false if self.predict => Predict::TimeOnly,
            false if !self.no_predict && (asked || device.properties().simulates.is_some()) => Predict::Time,
            false => Predict::Nothing,
        }
    }

    /// Fails on a GPU, if a flag is given.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`].
    pub fn check(&self, device: &Device) -> Result<()> {
        let flags = [
            ("--predict", self.predict),
            ("--no-predict", self.no_predict),
            ("--why", self.why),
            ("--thread-registers", self.thread_registers.is_some()),
        ];
        match flags.iter().find(|(_, given)| *given && device.properties().is_gpu()) {
            Some((flag, _)) => Err(Error::flag(*flag, "a GPU is timed, not predicted; give --device sim or sim:MODEL")),
            None => Ok(()),
        }
    }
}
