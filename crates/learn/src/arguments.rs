//! Arguments that several subcommands have: an exercise, and where its kernels run. `cli` and
//! `check` parse them.

use std::path::PathBuf;

use clap::Args;
use simt::Model;
use simt::orders::DrawnOrder;

use crate::rating;

/// An exercise by its name, or the next one.
#[derive(Args, Debug)]
pub struct NamedOrNext {
    /// The exercise [default: the next]
    pub name: Option<String>,
}

/// An exercise by its name.
#[derive(Args, Debug)]
pub struct Named {
    /// The exercise
    pub name: String,
}

/// The arguments of `run` and `grade` about orders of blocks and warps.
#[derive(Args, Clone, Copy, Debug)]
pub struct Orders {
    /// Compare the results in this many other orders of blocks and warps at each size, drawn from
    /// --seed [default: up to 10, as many as take little time]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub schedules: Option<u32>,
    /// Compare the results in this order, which a report named, at each size
    #[arg(long, value_name = "ORDER", conflicts_with = "schedules", value_parser = str::parse::<DrawnOrder>)]
    pub schedule: Option<DrawnOrder>,
}

impl Orders {
    /// What marks depend on.
    pub fn basis(self) -> String {
        match self.schedule {
            Some(order) => order.to_string(),
            None => self.schedules.unwrap_or(0).to_string(),
        }
    }
}

/// The arguments of `run` and `watch`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The exercise [default: the next]
    pub name: Option<String>,
    /// Where the kernels run: sim, or gpu to also run and time them on a GPU; sim:MODEL: the GPU
    /// whose times are predicted, in an open exercise [default there: sim:hopper]
    #[arg(long, value_name = "DEVICE", default_value = "sim", hide_default_value = true, value_parser = device)]
    pub device: Where,
    /// Draw sizes and values from this number, to repeat a run [default: another each time]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub orders: Orders,
    /// Also write this web page: the verdict, pictures of the accesses, and the source with its
    /// counts
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// The arguments of `run`: what `cargo learn serve` asks for, besides.
#[derive(Args, Debug)]
pub struct RunOptions {
    #[command(flatten)]
    pub run: RunArguments,
    /// Say what happens as lines of JSON, for `cargo learn serve`
    #[arg(long, hide = true, conflicts_with = "report")]
    pub events: bool,
    /// The process to end with
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true, requires = "events")]
    pub parent: Option<u32>,
}

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On the simulator.
    Simulator,
    /// On the simulator, and on this GPU.
    Gpu(u32),
    /// On the simulator, with the times of this model in open exercises.
    Model(&'static Model),
}

impl Where {
    /// The GPU's number, if kernels run on one.
    pub fn gpu(self) -> Option<u32> {
        match self {
            Self::Simulator | Self::Model(_) => None,
            Self::Gpu(number) => Some(number),
        }
    }

    /// The model, if one was asked for.
    pub fn model(self) -> Option<&'static Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Simulator | Self::Gpu(_) => None,
        }
    }
}

/// Parses the value of `--device`.
pub fn device(text: &str) -> std::result::Result<Where, String> {
    if let Some(name) = text.strip_prefix("sim:") {
        return model(name).map(Where::Model);
    }
    match (text, text.strip_prefix("gpu:").map(str::parse)) {
        ("sim", _) => Ok(Where::Simulator),
        ("gpu", _) => Ok(Where::Gpu(0)),
        (_, Some(Ok(number))) => Ok(Where::Gpu(number)),
        _ => Err("give sim, sim:MODEL, gpu or gpu:N".to_owned()),
    }
}

/// The user of a class.
#[derive(Args, Debug)]
pub struct User {
    /// The user whom it becomes if root starts it [default: `user` of class.toml, or the owner of
    /// the clone]
    #[arg(long, value_name = "NAME", global = true)]
    pub user: Option<String>,
}

/// Parses the value of a `--device` that is no GPU.
pub fn simulated(text: &str) -> std::result::Result<Where, String> {
    match device(text)? {
        Where::Gpu(_) => Err("give sim or sim:MODEL".to_owned()),
        simulated => Ok(simulated),
    }
}

/// Parses the name of a model that has times, also as `sim:MODEL`.
pub fn model(text: &str) -> std::result::Result<&'static Model, String> {
    let name = text.strip_prefix("sim:").unwrap_or(text);
    rating::models().find(|model| model.name == name).ok_or_else(|| {
        let names: Vec<&str> = rating::models().map(|model| model.name).collect();
        format!("there is no model '{name}' with times; there are {}", names.join(", "))
    })
}
