//! `host compare`: compares the times of two runs of a lab on a GPU, variant by variant, from the
//! reports that `--format json` wrote. (Whether a result is right is `labs::compare`'s business.)
//!
//! ```text
//! read      files -> reports
//! pairs     which report belongs to which: the same lab, the same parameters
//! verdict   two series of times -> faster, slower, same, can't tell
//! show      the comparison in each format
//! page      the same as a web page
//! ```
//!
//! The rule: the ratio of two medians has an uncertainty, which follows from the quartiles and the
//! number of samples of both (1.96 standard errors). If the uncertainty exceeds both the difference
//! and 1 %, the verdict is *can't tell*. Otherwise a difference of up to 1 % is *same*, because two
//! runs of the same program differ by about as much, and a larger one is *faster* or *slower*. Cold
//! times are compared with cold times, warm with warm.

mod page;
mod pairs;
mod read;
mod show;
mod verdict;

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::{Error, Result};
use wording::one_line;

use crate::report::Format;

/// What `--help` says below the flags.
const RULE: &str = "\
Both files are reports that `host LAB --format json` wrote on a GPU, of the same lab with the same parameters; a file may hold \
several, in a list or one after the other. The verdict is on the run AFTER:

  can't tell   the ratio is uncertain by more than 1 %, and by more than its distance from 1
  same         else, if the medians differ by at most 1 %
  faster       else, if the median is smaller
  slower       else

The uncertainty is 1.96 standard errors, from the quartiles and the number of samples of both medians. The exit code is 0 \
whatever the verdict is.";

/// The arguments of `host compare`.
#[derive(Args, Clone, Debug)]
struct Arguments {
    /// The earlier report, as --format json wrote it
    #[arg(value_name = "BEFORE.json")]
    before: PathBuf,
    /// The later report
    #[arg(value_name = "AFTER.json")]
    after: PathBuf,
    /// Also write this web page: the verdicts in words and colours, and the ratios as bars
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

/// The subcommand.
pub fn command() -> Command {
    Arguments::augment_args(Command::new("compare"))
        .about("Compare the times of two runs of a lab: faster, slower, same, or can't tell")
        .after_help(RULE)
}

/// Reads two reports and shows how they compare.
///
/// # Errors
///
/// [`Error::File`] for a file that is not a report, or that cannot be compared with the other;
/// [`Error::Output`].
pub(crate) fn main(matches: &ArgMatches, format: Format, out: &mut dyn Write) -> Result<()> {
    let arguments = Arguments::from_arg_matches(matches)
        .map_err(|error| Error::request("compare", one_line(&error.to_string())))?;
    let Arguments { before, after, report } = &arguments;
    if let Some(path) = report {
        page::check(path, &[before, after])?;
    }
    let comparison = pairs::compare((before, read::reports(before)?), (after, read::reports(after)?))?;
    if let Some(path) = report {
        page::write(&comparison, path)?;
    }
    show::write(&comparison, format, out)
}
