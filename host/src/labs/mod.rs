//! The labs, and the program's list of them. Each lab's file is one subcommand, with its flags,
//! variants and reference. `cli`, `course` and `listing` go through the list.
//!
//! ```text
//! lab        the interface: trait Lab, Plan, Variant, Outcome
//! variants   the table of a lab's variants, and their flags
//! inputs     NumPy files, random numbers, room for them     compare   compares results with references
//! flow       runs the variants of a lab                     launcher  one variant's launches
//! orders     runs them in other orders of blocks and warps
//! across     predicts them on all models
//! streams    copies and kernels on streams, and when they run
//! showcase   what its page in a browser begins with
//! settings   the flags that every lab has                   best      what the best kernels take beside the data
//! product    matrix products on the CPU        in_flight  bytes in flight, of what DRAM needs
//! ```
//!
//! A new lab is a file here with an `impl Lab`, named as a module and in [`ALL`]. Its kernels are a
//! module in `kernels/src/`, named in `lib.rs` there (then `cargo xtask build-ptx`); the fastest
//! ones, with the choice of their launch, go into `kernels/best/src/`. What it must show goes into
//! `tests/tests/labs/closed_forms/`, its run into `tests/tests/data/h200_labs.json` (`cargo xtask
//! count` adds a GPU's counts), its counterpart in CUDA C++ into `docs/compare/`, and its line into
//! `xtask/src/results/plan.rs`. Tests driven by `ALL` fail while one is missing.

mod across;
mod best;
pub mod compare;
pub mod flow;
mod in_flight;
mod inputs;
mod lab;
mod launcher;
mod models;
mod orders;
mod product;
mod settings;
mod showcase;
mod streams;
pub mod variants;

pub mod access;
pub mod atomics;
pub mod banks;
pub mod cache;
pub mod consistency;
pub mod constant;
pub mod dot;
pub mod gram;
pub mod launch;
pub mod layout;
pub mod matmul;
pub mod offset;
pub mod order;
pub mod pipeline;
pub mod pitch;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod shared;
pub mod sparse;
pub mod spill;
pub mod stencil;
pub mod table;
pub mod texture;
pub mod transfer;
pub mod transpose;
pub mod vector;

use crate::flag_values;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::{Device, Error, Result};

pub use flow::run;
pub use inputs::{MatrixFlags, VectorFlags};
pub use lab::{Lab, Outcome, Plan, Variant};
pub use launcher::{Launcher, Preferences};
pub use settings::{Settings, ShapeFlags};
pub use showcase::{Showcase, Slider, Steps};
pub use variants::{Chosen, VariantSpec, Variants};

use crate::built_in;
use crate::faults::checks_by_default;
use crate::peers::{Peer, PeerFlags};
use crate::report::{Conclusion, LabReport};

/// Every lab, in the order of the course.
pub const ALL: &[Entry] = &[
    Entry::of::<launch::Launch>(),
    Entry::of::<offset::Offset>(),
    Entry::of::<access::Access>(),
    Entry::of::<layout::Layout>(),
    Entry::of::<vector::Vector>(),
    Entry::of::<cache::Cache>(),
    Entry::of::<pitch::Pitch>(),
    Entry::of::<constant::Constant>(),
    Entry::of::<table::Table>(),
    Entry::of::<transpose::Transpose>(),
    Entry::of::<matmul::Matmul>(),
    Entry::of::<gram::Gram>(),
    Entry::of::<reduce::Reduce>(),
    Entry::of::<dot::Dot>(),
    Entry::of::<rows::Rows>(),
    Entry::of::<banks::Banks>(),
    Entry::of::<shared::Shared>(),
    Entry::of::<texture::Texture>(),
    Entry::of::<atomics::Atomics>(),
    Entry::of::<consistency::Consistency>(),
    Entry::of::<spill::Spill>(),
    Entry::of::<scan::Scan>(),
    Entry::of::<transfer::Transfer>(),
    Entry::of::<sparse::Sparse>(),
    Entry::of::<stencil::Stencil>(),
    Entry::of::<pipeline::Pipeline>(),
    Entry::of::<order::Order>(),
];

/// A lab, as the program lists and runs it.
pub struct Entry {
    /// Its name: the subcommand.
    pub name: &'static str,
    /// Its subject, in a line.
    pub about: &'static str,
    /// What it can conclude.
    pub conclusions: &'static [Conclusion],
    /// Whether it has something to plot.
    pub plots: bool,
    /// Whether that is a roofline.
    pub roofline: bool,
    /// Whether some of its rows race on purpose.
    pub races: bool,
    /// What its page in a browser begins with.
    pub showcase: Showcase,
    /// The subcommand with the lab's flags.
    pub command: fn() -> Command,
    /// Runs the lab with its own flags as they were given.
    pub run: fn(&Device, &ArgMatches, Settings) -> Result<LabReport>,
    /// Runs the lab with its own flags' defaults.
    pub run_at_defaults: fn(&Device, &Settings) -> Result<LabReport>,
}

impl Entry {
    const fn of<L: Lab>() -> Self {
        Self {
            name: L::NAME,
            about: L::ABOUT,
            conclusions: L::CONCLUSIONS,
            plots: plots::<L>(),
            roofline: L::ROOFLINE,
            races: L::RACES,
            showcase: L::SHOWCASE,
            command: command::<L>,
            run: run_with::<L>,
            run_at_defaults: |device, settings| run::<L>(device, flag_values::defaults(), settings),
        }
    }

    /// The lab of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|lab| lab.name == name)
    }

    /// The lab's kernels: those whose names begin with its name.
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> {
        let name = self.name;
        let is_of_lab = move |kernel: &&str| {
            kernel.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_digit()))
        };
        built_in::kernel_names().filter(is_of_lab)
    }
}

/// Whether a lab has something to plot.
const fn plots<L: Lab>() -> bool {
    L::ROOFLINE || !L::SWEEPS.is_empty()
}

/// The subcommand of a lab.
fn command<L: Lab>() -> Command {
    let mut command = L::Options::augment_args(Command::new(L::NAME));
    if L::SHAPED {
        command = ShapeFlags::augment_args(command);
    }
    if !L::PEERS.is_empty() {
        let no_library = !L::PEERS.contains(&Peer::Library);
        command = PeerFlags::augment_args(command).mut_arg("peer_library", |flag| flag.hide(no_library));
    }
    for (flag, size) in L::SIZES {
        command = command.mut_arg(flag, |flag| size.in_help(flag));
    }
    let command = Settings::augment_args(command)
        .mut_arg("check", |flag| checks_by_default(flag, "none"))
        .mut_arg("plot", |flag| flag.hide(!plots::<L>()));
    // Otherwise `clap` would show the type's documentation in the list.
    let command = command.about(L::ABOUT).long_about(None);
    // So that `--rows -1` is a bad number and not an unknown flag `-1`.
    command.mut_args(|flag| match flag.get_action().takes_values() {
        true => flag.allow_negative_numbers(true),
        false => flag,
    })
}

/// Runs a lab with its own flags as they were given.
fn run_with<L: Lab>(device: &Device, matches: &ArgMatches, settings: Settings) -> Result<LabReport> {
    // `clap` has checked them, so this cannot fail.
    let wrong = |error: clap::Error| Error::request("flags", wording::one_line(&error.to_string()));
    let options = L::Options::from_arg_matches(matches).map_err(wrong)?;
    if settings.plot && !plots::<L>() && !settings.predicted.compare_models {
        let others: Vec<_> = ALL.iter().filter(|lab| lab.plots).map(|lab| lab.name).collect();
        return Err(Error::request(
            "--plot",
            format!("{} has no sweep to draw; these have: {}", L::NAME, others.join(", ")),
        ));
    }
    let peer =
        if L::PEERS.is_empty() { PeerFlags::default() } else { PeerFlags::from_arg_matches(matches).map_err(wrong)? };
    let shape = if L::SHAPED { ShapeFlags::from_arg_matches(matches).map_err(wrong)? } else { ShapeFlags::default() };
    let settings = &Settings { peer, shape, ..settings };
    match settings.predicted.compare_models {
        true => across::run::<L>(device, options, settings),
        false => run::<L>(device, options, settings),
    }
}

#[cfg(test)]
mod tests;
