//! The command line: parses the arguments of `host`, runs the subcommand, and turns errors into an exit code. `main` calls it.
//!
//! Only results go to the standard output; notes, progress and errors go to the standard error. The exit code is 0 if every
//! result was right, 1 if one was wrong or a kernel had a fault, and 2 if the request cannot be carried out; one line then says
//! why. A signal that ends the program makes it 128 plus the signal's number.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
#[cfg(not(target_family = "wasm"))]
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind as ClapError;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::limits::Limits;
use device::{DeviceChoice, Error, PtxFile, Result};

use crate::progress::Progress;
use crate::report::{self, Format};
use crate::until_closed::UntilClosed;
use crate::{check, compare_times, course, labs, listing, manual, messages, run};

/// Flags that every subcommand has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common to all commands")]
struct Global {
    /// Where to run: auto (the first GPU that works, else the simulator), gpu (number 0), gpu:N, sim, or sim:MODEL (`host
    /// devices` lists the models; sim:MODEL:ca caches loads in L1, sim:MODEL:cg bypasses L1)
    #[arg(long, global = true, value_name = "DEVICE", default_value_t)]
    device: DeviceChoice,
    /// The format of the result
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Load the kernels from this PTX file (- for the standard input) instead of the built-in PTX; may be repeated [default:
    /// $COALESCE_PTX, if set]
    #[arg(long, global = true, value_name = "FILE")]
    ptx: Vec<PathBuf>,
    #[command(flatten)]
    limits: Limits,
}

/// Runs the program with these arguments, the first of which is its name.
#[cfg(not(target_family = "wasm"))]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let what = wording::one_line(&panic.to_string());
        print_error(&format!("{what}; this is a bug in host, please report it"));
    }));
    device::signals::on_each(interrupted);
    device::signals::fail_beyond_the_file_limit();
    ExitCode::from(match command().try_get_matches_from(arguments) {
        Ok(matches) => exit_code(run(&matches, &mut std::io::stdout().lock())),
        Err(error) => usage(&error, clap::Error::print),
    })
}

/// Runs the program with these arguments, without its name, for a caller that has no terminal, such as a
/// web page. Results go to `out`; returns the exit code, and what the program would write to the standard
/// error.
pub fn call(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> (u8, String) {
    let arguments = std::iter::once(OsString::from("host")).chain(arguments);
    messages::kept(|| match command().try_get_matches_from(arguments) {
        Ok(matches) => exit_code(run(&matches, out)),
        Err(error) => usage(&error, |help| write!(out, "{}", help.render())),
    })
}

/// The exit code of a run, whose error it prints.
fn exit_code(result: Result<bool>) -> u8 {
    match result {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            print_error(&error.to_string());
            error.exit_code()
        }
    }
}

/// Ends the program without unfinished files. The exit code is that which a shell reports for a program that the signal killed.
#[cfg(not(target_family = "wasm"))]
fn interrupted(signal: i32) {
    device::output_file::remove_unfinished();
    crate::progress::clear_line();
    std::process::exit(128 + signal);
}

/// The whole command line.
fn command() -> Command {
    Global::augment_args(Command::new("host"))
        .about(
            "GPU memory coursework: every lab on an NVIDIA GPU, or on a simulator that counts what the hardware counts",
        )
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .max_term_width(wording::WIDTH)
        .subcommand(Command::new("list").about("List the labs and their kernels"))
        .subcommand(course::command())
        .subcommand(check::command())
        .subcommand(compare_times::command())
        .subcommand(run::command())
        .subcommand(Command::new("devices").about(listing::ABOUT_DEVICES))
        .subcommands(labs::ALL.iter().map(|lab| (lab.command)()))
        .subcommands(manual::commands())
}

/// Runs the subcommand. Returns whether everything was right.
fn run(matches: &ArgMatches, out: &mut dyn Write) -> Result<bool> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| Error::flag("host", "name a lab or a command; `host list` lists the labs"))?;
    if let "completions" | "man" = name {
        return manual::main(name, matches, command(), &mut UntilClosed::new(out)).map(|()| true);
    }
    let global = Global::from_arg_matches(matches)
        .map_err(|error| Error::flag("flags", wording::one_line(&error.to_string())))?;
    let names_ptx = !global.ptx.is_empty();
    if let (true, "check" | "run") = (names_ptx, name) {
        return Err(Error::flag("--ptx", format!("`host {name}` takes its PTX file without a flag")));
    }
    if let (true, "list") = (names_ptx, name) {
        return Err(Error::flag("--ptx", "`host list` lists the labs' kernels; `host check` lists those of a file"));
    }
    if let (true, "compare") = (names_ptx, name) {
        return Err(Error::flag("--ptx", "`host compare` runs no kernels"));
    }
    if let (Some(ValueSource::CommandLine), "check" | "compare" | "list") = (matches.value_source("device"), name) {
        return Err(Error::flag("--device", format!("`host {name}` opens no device")));
    }
    let limits = ["memory_limit", "heap_limit", "output_limit", "step_limit", "fault_limit"];
    let limit = limits.into_iter().find(|limit| matches.value_source(limit) == Some(ValueSource::CommandLine));
    if let (Some(limit), "check" | "compare" | "list") = (limit, name) {
        let flag = format!("--{}", limit.replace('_', "-"));
        return Err(Error::flag(flag, format!("`host {name}` runs no kernels")));
    }
    let ptx = match names_ptx {
        true => global.ptx.into_iter().map(PtxFile::from).collect(),
        false => device::Options::from_environment().ptx,
    };
    let options = device::Options { ptx, limits: global.limits, ..device::Options::default() };
    let mut out = UntilClosed::new(out);
    let Some(lab) = labs::ALL.iter().find(|lab| lab.name == name) else {
        match name {
            "list" => listing::labs(global.format, &mut out)?,
            "check" => check::main(matches, global.format, &mut out)?,
            "compare" => compare_times::main(matches, global.format, &mut out)?,
            "run" => run::main(matches, global.device, options.limits, global.format, &mut out)?,
            "course" if cfg!(target_family = "wasm") => {
                return Err(Error::flag(
                    "host",
                    "course measures time, for which there is no clock here; run the labs",
                ));
            }
            "course" => {
                let progress = Progress::on_terminal();
                progress.begin(|| "opening the device".to_owned());
                let start = Instant::now();
                let device = device::open(global.device, &options)?;
                return course::main(&device, start.elapsed(), matches, progress, global.format, &mut out);
            }
            _ => {
                let progress = Progress::on_terminal();
                progress.begin(|| "opening the devices".to_owned());
                let (devices, models) = match global.device {
                    DeviceChoice::Auto => {
                        let (devices, errors) = device::all(&options)?;
                        for error in errors {
                            progress.note(&error.to_string());
                        }
                        (devices, device::models(&options)?)
                    }
                    choice => (vec![device::open(choice, &options)?], vec![]),
                };
                drop(progress);
                listing::devices(&devices, &models, global.format, &mut out)?;
            }
        }
        return Ok(true);
    };
    labs::Settings::from_arg_matches(matches)
        .map_err(|error| Error::flag("flags", wording::one_line(&error.to_string())))?
        .check_format(global.format)?;
    let progress = Progress::on_terminal();
    progress.begin(|| "opening the device".to_owned());
    let device = device::open(global.device, &options)?;
    let report = (lab.run)(&device, matches, progress)?;
    // A fault that stops a kernel becomes the program's error. What completed before is still a result. JSON also describes the
    // fault, as `host run`'s does, so it is written even if nothing completed.
    if report.variants.iter().any(|variant| variant.stopped.is_none()) || global.format == Format::Json {
        report::write(&report, global.format, &mut out)?;
    }
    let findings = report.findings();
    findings.print(global.format);
    match report.stopped {
        None => findings.error().map_or(Ok(report.correct()), Err),
        Some(error) => Err(error),
    }
}

/// Prints `clap`'s output: help and version to the standard output, an error in the command line as one line to the standard error.
fn usage(error: &clap::Error, print: impl FnOnce(&clap::Error) -> std::io::Result<()>) -> u8 {
    match error.kind() {
        ClapError::DisplayHelp | ClapError::DisplayVersion => {
            // A reader that closes the pipe early is not a failure.
            let _ = print(error);
            0
        }
        _ => {
            print_error(&usage_line(error));
            2
        }
    }
}

/// The first paragraph of `clap`'s message and its tip, as one line.
fn usage_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let tips = paragraphs.filter(|paragraph| paragraph.trim_start().starts_with("tip:"));
    let parts: Vec<_> = std::iter::once(first).chain(tips).map(wording::one_line).collect();
    let line = parts.join("; ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    format!("{line}; see --help")
}

/// Prints an error on the standard error.
fn print_error(text: &str) {
    messages::write(&format!("error: {}\n", wording::printable(text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage_error(arguments: &[&str]) -> String {
        let arguments = std::iter::once(&"host").chain(arguments);
        usage_line(&command().try_get_matches_from(arguments).unwrap_err())
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
            "unexpected argument '--bock' found; tip: a similar argument exists: '--block'; see --help"
        );
        assert_eq!(
            usage_error(&["transpose", "--device", "tpu"]),
            "invalid value 'tpu' for '--device <DEVICE>': unknown device 'tpu'; give auto, gpu, gpu:N (N from 0), \
             sim or sim:MODEL, where MODEL is one of g80, tesla, fermi, kepler, kepler8, maxwell, pascal, volta, turing, \
             ampere, ada, hopper, optionally followed by :ca (cache loads in L1) or :cg (bypass L1); see \
             --help"
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
