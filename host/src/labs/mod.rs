//! The labs: each file is one subcommand, with its flags, its variants and its reference.
//!
//! What labs share is written once: [`flow`] runs the variants, checks and times them; [`check`] compares with the reference.
//! A new lab is a file here with an [`Entry`], and a line in [`ALL`].

pub mod check;
pub mod flow;
pub mod offset;
pub mod transpose;

use clap::{ArgMatches, Args, Command};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::report::LabReport;

/// Every lab, in the order of the course.
pub const ALL: &[Entry] = &[offset::ENTRY, transpose::ENTRY];

/// A lab as the program lists and runs it.
pub struct Entry {
    /// Its name: the subcommand.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// The kernels that it launches.
    pub kernels: &'static [&'static str],
    /// The subcommand with the lab's flags.
    pub command: fn() -> Command,
    /// Runs the lab with the flags as they were given.
    pub run: fn(&Device, &ArgMatches, Progress) -> Result<LabReport>,
}

/// The subcommand of a lab with the flags `O`.
fn command<O: Args>(name: &'static str, about: &'static str) -> Command {
    // The type's documentation would take the place of the line in the list.
    let command = O::augment_args(Command::new(name)).about(about).long_about(None);
    // `--rows -1` is a wrong number and not an unknown flag `-1`.
    command.mut_args(|flag| match flag.get_action().takes_values() {
        true => flag.allow_negative_numbers(true),
        false => flag,
    })
}

/// The flags as they were given. `clap` has checked them, so this does not fail for users.
fn options<O: Args>(matches: &ArgMatches) -> Result<O> {
    O::from_arg_matches(matches).map_err(|error| Error::flag("flags", crate::error::one_line(&error.to_string())))
}

/// The flags' defaults.
fn defaults<O: Args>() -> O {
    // Every flag has a default; a test of each lab makes sure.
    let matches =
        O::augment_args(Command::new("defaults").no_binary_name(true)).get_matches_from(std::iter::empty::<&str>());
    O::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}
