//! The command line: parses the arguments of `host`, runs the subcommand, and turns errors into an
//! exit code. `main` calls it.
//!
//! Only results go to the standard output; notes, progress and errors go to the standard error. The
//! exit code is 0 if every result was right, 1 if one was wrong or a kernel had a fault, and 2 if
//! the request cannot be carried out; one line then says why. A signal that ends the program makes
//! it 128 plus the signal's number.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
#[cfg(not(target_family = "wasm"))]
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind as ClapError;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::limits::Limits;
use device::{DeviceChoice, Error, PtxFile, Result};
use wording::usage_line;

use crate::labs::Settings;
use crate::limits::LimitFlags;
use crate::pattern::{self, Pattern};
use crate::progress::Progress;
use crate::report::{self, Format, LabReport, RunView};
use crate::run::Results;
use crate::until_closed::UntilClosed;
use crate::{built_in, check, compare_times, course, faults, labs, listing, litmus, manual, messages, run, terminal};

/// The flag of every subcommand.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
struct FormatFlag {
    /// The format of the result: table, json, csv or markdown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    format: Format,
}

/// The flags of subcommands that open a device.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Device")]
struct DeviceFlags {
    /// Where to run: auto (the first GPU that works, else the simulator), gpu (number 0), gpu:N,
    /// sim, or sim:MODEL (`host devices` lists the models; sim:MODEL:ca caches loads in L1,
    /// sim:MODEL:cg bypasses L1)
    #[arg(long, value_name = "DEVICE", default_value_t)]
    device: DeviceChoice,
    #[command(flatten)]
    limits: LimitFlags,
}

/// The flag of subcommands that run the labs' kernels.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Device")]
struct PtxFlag {
    /// Load the kernels from this PTX file (- for the standard input) instead of the built-in PTX:
    /// kernels of the same names and parameters; may be repeated [default: $COALESCE_PTX, if set]
    #[arg(long, value_name = "FILE")]
    ptx: Vec<PathBuf>,
}

/// Runs the program with these arguments, the first of which is its name.
#[cfg(not(target_family = "wasm"))]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let what = wording::one_line(&panic.to_string());
        print_error(&format!("{what}; this is a bug in host, please report it"));
    }));
    common::signals::on_each(interrupted);
    common::signals::fail_beyond_the_file_limit();
    ExitCode::from(match command().try_get_matches_from(arguments) {
        Ok(matches) => exit_code(run(&matches, &mut std::io::stdout().lock()), &matches),
        Err(error) => usage(&error, clap::Error::print),
    })
}

/// Runs the program with these arguments, without its name, for a caller that has no terminal, such
/// as a web page. Results go to `out`; returns the exit code, and what the program would write to
/// the standard error.
pub fn call(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> (u8, String) {
    let arguments = std::iter::once(OsString::from("host")).chain(arguments);
    messages::kept(|| match command().try_get_matches_from(arguments) {
        Ok(matches) => exit_code(run(&matches, out), &matches),
        Err(error) => usage(&error, |help| write!(out, "{}", help.render())),
    })
}

/// What an index costs, as `pattern` with these arguments, without the program's name and the
/// command's, for a page; or what the program would write to the standard error.
///
/// # Errors
///
/// That, in a line.
pub fn pattern(arguments: impl IntoIterator<Item = OsString>) -> std::result::Result<Pattern, String> {
    let arguments = std::iter::once(OsString::from("pattern")).chain(arguments);
    let parsed = with::<FormatFlag>(pattern::command()).try_get_matches_from(arguments);
    let matches = parsed.map_err(|error| usage_line(&error.render().to_string()))?;
    pattern::of(&matches).map_err(|error| error.to_string())
}

/// What [`view`] returns.
pub struct Viewed {
    /// What a page shows of the run; `None` if it ended before there was anything.
    pub view: Option<RunView>,
    /// The exit code that the program would have.
    pub exit_code: u8,
    /// What it would write to the standard error.
    pub messages: String,
}

/// Runs a lab, or `run`, with these arguments, without the program's name, for a page that shows
/// the parts of the run one by one, with up to `steps` requests of each access.
pub fn view(arguments: impl IntoIterator<Item = OsString>, steps: u32) -> Viewed {
    let arguments = std::iter::once(OsString::from("host")).chain(arguments);
    let mut view = None;
    let (exit_code, messages) = messages::kept(|| match command().try_get_matches_from(arguments) {
        Ok(matches) => exit_code(show(&matches, steps, &mut view), &matches),
        Err(error) => usage(&error, |_| Ok(())),
    });
    Viewed { view, exit_code, messages }
}

/// Runs what a page shows.
fn show(matches: &ArgMatches, steps: u32, view: &mut Option<RunView>) -> Result<bool> {
    let Some((name, matches)) = matches.subcommand() else { return Err(Error::request("host", "name a lab")) };
    let DeviceFlags { device: choice, limits } = parsed(matches)?;
    let limits = Limits::from(limits);
    if name == "run" {
        return run::main(matches, choice, limits, Results::Shown(steps, view));
    }
    let lab = labs::Entry::named(name).ok_or_else(|| Error::request("host", "a page shows labs and `run`"))?;
    let settings = Settings { steps, ..parsed(matches)? };
    let mut report = run_lab(lab, matches, choice, options_of(matches, limits)?, settings)?;
    let (right, stopped) = (report.correct(), report.stopped.take());
    *view = Some(RunView::of(report, &lab.showcase));
    stopped.map_or(Ok(right), Err)
}

/// The exit code of a run with these arguments, whose error it prints.
fn exit_code(result: Result<bool>, matches: &ArgMatches) -> u8 {
    match result {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            match faults::trap_text(&error, &run::sources(matches)) {
                Some(text) => messages::write(&text),
                None => print_error(&error.to_string()),
            }
            error.exit_code()
        }
    }
}

/// Ends the program without unfinished files. The exit code is that which a shell reports for a
/// program that the signal killed.
#[cfg(not(target_family = "wasm"))]
fn interrupted(signal: i32) {
    common::output_file::remove_unfinished();
    crate::progress::clear_line();
    std::process::exit(128 + signal);
}

/// The whole command line.
pub fn command() -> Command {
    let plain = with::<FormatFlag>;
    let opening = |command| with::<DeviceFlags>(plain(command));
    let running_labs = |command| opening(with::<PtxFlag>(command));
    Command::new("host")
        .about(
            "GPU memory coursework: every lab on an NVIDIA GPU, or on a simulator that counts what the hardware counts",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .max_term_width(wording::WIDTH)
        .after_help("`host COMMAND --help` lists the flags of a command.")
        .subcommand(plain(Command::new("list").about("List the labs and their kernels")))
        .subcommand(running_labs(course::command()))
        .subcommand(plain(check::command()))
        .subcommand(plain(compare_times::command()))
        .subcommand(plain(pattern::command()))
        .subcommand(plain(litmus::command()))
        .subcommand(opening(run::command()))
        .subcommand(opening(Command::new("devices").about(listing::ABOUT_DEVICES)))
        .subcommands(labs::ALL.iter().map(|lab| running_labs((lab.command)())))
        .subcommands(manual::commands())
}

/// A subcommand with these flags added, which would otherwise also bring their own description of
/// it.
fn with<Flags: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    Flags::augment_args(command).about(about).long_about(None)
}

/// Flags that `clap` has parsed already.
fn parsed<T: FromArgMatches>(matches: &ArgMatches) -> Result<T> {
    T::from_arg_matches(matches).map_err(|error| Error::request("flags", wording::one_line(&error.to_string())))
}

/// Runs the subcommand. Returns whether everything was right.
fn run(matches: &ArgMatches, out: &mut dyn Write) -> Result<bool> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| Error::request("host", "name a lab or a command; `host list` lists the labs"))?;
    if let "completions" | "man" = name {
        return manual::main(name, matches, command(), &mut UntilClosed::new(out)).map(|()| true);
    }
    let FormatFlag { format } = parsed(matches)?;
    let mut out = UntilClosed::new(out);
    match name {
        "list" => return listing::labs(format, &mut out).map(|()| true),
        "check" => return check::main(matches, format, &mut out).map(|()| true),
        "litmus" => return litmus::main(matches, format, &mut out),
        "pattern" => return pattern::main(matches, format, &mut out).map(|()| true),
        "compare" => return compare_times::main(matches, format, &mut out).map(|()| true),
        _ => {}
    }
    let DeviceFlags { device: choice, limits } = parsed(matches)?;
    let limits = Limits::from(limits);
    if name == "run" {
        return run::main(matches, choice, limits, Results::Written(format, &mut out));
    }
    if name == "devices" {
        let options = device::Options { limits, ..built_in::options() };
        return list_devices(choice, &options, format, &mut out).map(|()| true);
    }
    let options = options_of(matches, limits)?;
    let Some(lab) = labs::ALL.iter().find(|lab| lab.name == name) else {
        if cfg!(target_family = "wasm") {
            return Err(Error::request("host", "course measures time, for which there is no clock here; run the labs"));
        }
        let progress = Progress::on_terminal();
        progress.begin(|| "opening the device".to_owned());
        let start = Instant::now();
        let device = device::open(choice, &options)?;
        return course::main(&device, start.elapsed(), matches, progress, format, &mut out);
    };
    let settings: Settings = parsed(matches)?;
    settings.check_format(format)?;
    let report = run_lab(lab, matches, choice, options, settings.in_format(format))?;
    // A fault that stops a kernel becomes the program's error. What completed before is still a
    // result. JSON also describes the fault, as `host run`'s does, so it is written even if nothing
    // completed.
    if report.variants.iter().any(|variant| variant.stopped.is_none()) || format == Format::Json {
        report::write(&report, format, &mut out)?;
    }
    let findings = report.findings();
    findings.print(format, &[]);
    report
        .wrong_in_orders(terminal::width_of_messages().min(wording::WIDTH))
        .iter()
        .for_each(|text| messages::write(text));
    match report.stopped {
        None => findings.error().map_or(Ok(report.correct()), Err),
        Some(error) => Err(error),
    }
}

/// The options of a device that runs the labs' kernels.
fn options_of(matches: &ArgMatches, limits: Limits) -> Result<device::Options> {
    let PtxFlag { ptx } = parsed(matches)?;
    let mut options = device::Options { limits, ..built_in::options() };
    if !ptx.is_empty() {
        options.ptx = ptx.into_iter().map(PtxFile::from).collect();
    }
    // SAFETY: whoever names a file in place of the lab's kernels says that they take what the lab's
    // do, as `--help` and docs/SAFETY.md tell. nvcc's twins have no signatures.
    options.ptx = options.ptx.into_iter().map(|file| unsafe { file.trusted() }).collect();
    Ok(options)
}

/// Opens the device, and runs the lab on it.
fn run_lab(
    lab: &labs::Entry,
    matches: &ArgMatches,
    choice: DeviceChoice,
    options: device::Options,
    settings: Settings,
) -> Result<LabReport> {
    let progress = Progress::on_terminal();
    progress.begin(|| "opening the device".to_owned());
    let device = device::open(choice, &device::Options { predict_only: settings.predicted.predict, ..options })?;
    (lab.run)(&device, matches, Settings { progress, ..settings })
}

/// Lists the device that `choice` names, or all devices and the simulator's models.
fn list_devices(choice: DeviceChoice, options: &device::Options, format: Format, out: &mut dyn Write) -> Result<()> {
    let progress = Progress::on_terminal();
    progress.begin(|| "opening the devices".to_owned());
    let (devices, models) = match choice {
        DeviceChoice::Auto => {
            let (devices, errors) = device::all(options)?;
            for error in errors {
                progress.note(&error.to_string());
            }
            (devices, device::models(options)?)
        }
        choice => (vec![device::open(choice, options)?], vec![]),
    };
    drop(progress);
    listing::devices(&devices, &models, format, out)
}

/// Prints `clap`'s output: help and version to the standard output, an error in the command line as
/// one line to the standard error.
fn usage(error: &clap::Error, print: impl FnOnce(&clap::Error) -> std::io::Result<()>) -> u8 {
    match error.kind() {
        ClapError::DisplayHelp | ClapError::DisplayVersion => {
            // A reader that closes the pipe early is not a failure.
            let _ = print(error);
            0
        }
        _ => {
            print_error(&usage_line(&error.render().to_string()));
            2
        }
    }
}

/// Prints an error on the standard error.
fn print_error(text: &str) {
    messages::write(&format!("error: {}\n", wording::printable(&wording::readable(text))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage_error(arguments: &[&str]) -> String {
        let arguments = std::iter::once(&"host").chain(arguments);
        usage_line(&command().try_get_matches_from(arguments).unwrap_err().render().to_string())
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
        for lab in labs::ALL {
            let command = command();
            let found = command.find_subcommand(lab.name).unwrap();
            assert_eq!(found.get_about().unwrap().to_string(), lab.about);
        }
    }

    #[test]
    fn wrong_command_lines_are_one_line() {
        assert_eq!(
            usage_error(&["transpose", "--rows", "0"]),
            "invalid value '0' for '--rows <NUMBER>': give a whole number from 1 to 4294967295; see --help"
        );
        assert_eq!(
            usage_error(&["offset", "--offset", "3,,5"]),
            "invalid value '' for '--offset <K,...>': give a whole number from 0 to 18446744073709551615; see \
             --help"
        );
        assert_eq!(
            usage_error(&["transpose", "--cols", "-1"]),
            "invalid value '-1' for '--cols <NUMBER>': give a whole number from 1 to 4294967295; see --help"
        );
        assert_eq!(
            usage_error(&["transpose", "--bock"]),
            "unexpected argument '--bock' found; tip: a similar argument exists: '--block'; see host transpose --help"
        );
        assert_eq!(
            usage_error(&["transpose", "--device", "tpu"]),
            "invalid value 'tpu' for '--device <DEVICE>': unknown device 'tpu'; give auto, gpu, gpu:N (N from 0), \
             sim or sim:MODEL, where MODEL is one of g80, tesla, fermi, kepler, kepler8, maxwell, pascal, volta, turing, \
             ampere, ada, rtx4060, hopper, h100, b200, rtx5090, optionally followed by :ca (cache loads in L1) or :cg \
             (bypass L1); see --help"
        );
        for arguments in [
            vec![],
            vec!["multiply"],
            vec!["offset", "--block", "2000"],
            vec!["offset", "--offset", "-1"],
            vec!["transpose", "--time-limit", "nan"],
            vec!["transpose", "--carveout", "101"],
            vec!["transpose", "--input", "a.npy", "--rows", "3"],
            vec!["list", "--format", "xml"],
        ] {
            let line = usage_error(&arguments);
            assert!(!line.contains('\n') && line.len() > 10, "{line}");
        }
    }
}
