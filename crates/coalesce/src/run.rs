//! `coalesce run`: runs a program with the simulator's driver in the place of NVIDIA's, for this
//! program alone, and reports its kernels at its end.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use device::DeviceChoice;
use goals::requirement::Machine;
use host::baselines::{self, CompareFlags};
use host::ci::{Case, CiFlags};
use host::lines::LineFlags;
use host::orders::OrderFlags;
use host::recorded::{self, RecordedKernel, Wanted};
use host::registers;
use host::report::Format;
use host::requirements::{RequireFlags, Requirements, Verdict};
use simt::{Checks, LoadCaching, Model};

use crate::{library, records};

/// Run a program on the simulator: `coalesce run -- python your_numba.py`
#[derive(Args, Debug)]
pub struct Options {
    /// The simulator: sim, whose device has an H200's properties, or sim:MODEL, with the properties
    /// and caches of that GPU
    #[arg(long, value_name = "DEVICE", default_value = "sim")]
    device: DeviceChoice,
    /// How many such devices there are, or a list of GPUs, one for each: hopper,ampere
    #[arg(long, value_name = "DEVICES")]
    devices: Option<String>,
    /// The version of CUDA that the driver says it is for [default: 12.8]
    #[arg(long, value_name = "VERSION")]
    cuda: Option<String>,
    /// The faults to look for, separated by commas: memory, init, race, sync, undefined; or all
    #[arg(long, value_name = "CHECKS")]
    check: Option<Checks>,
    /// What a fault does: stop the launch, as soon as it happens; continue, which shows accesses
    /// out of bounds and skips them; or defer, which fails at the next synchronisation, as on a GPU
    #[arg(long, value_enum, value_name = "WHAT", default_value = "stop")]
    fault: Fault,
    /// Predict the time of each launch
    #[arg(long)]
    predict: bool,
    /// The level-2 cache before each launch that is predicted: cold (flushed), or warm, with the
    /// data of the launch if that fits
    #[arg(long, value_enum, value_name = "CACHES", default_value = "cold", hide_possible_values = true)]
    caches: Caches,
    /// Count, check and predict only this kernel, by its name in the source or in the PTX
    #[arg(long, value_name = "KERNEL")]
    only: Option<String>,
    #[command(flatten)]
    lines: LineFlags,
    #[command(flatten)]
    orders: OrderFlags,
    /// The seed of --schedules; the same seed gives the same orders everywhere
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    required: RequireFlags,
    /// A further folder of sources; may be repeated
    #[arg(long, value_name = "FOLDER")]
    sources: Vec<PathBuf>,
    /// The format of the report: table, json, csv or markdown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    format: Format,
    /// Write the report to this file, and not below what the program prints
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the report as a web page, too
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    ci: CiFlags,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fault {
    Stop,
    Continue,
    Defer,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Caches {
    Cold,
    Warm,
}

/// Runs the program and reports. Returns the exit code.
pub fn main(options: &Options) -> Result<u8, String> {
    options.lines.check_format(options.format).map_err(|error| error.to_string())?;
    let goals = goals(options.device, &options.required)?;
    let settings = settings(options, &goals)?;
    fault_text::sources::also_beside(beside(&options.program));
    let saved = options.required.saved();
    let others =
        [("--output", options.output.as_deref()), ("--report", options.report.as_deref()), ("--save-baseline", saved)];
    let others = others.into_iter().filter_map(|(flag, file)| Some((flag, file?)));
    options.ci.check(others).map_err(|error| error.to_string())?;
    let library = library::find()?;
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for records: {error}"))?;
    library.link_into(folder.path())?;
    records::prepare(folder.path()).map_err(|error| format!("{}: {error}", folder.path().display()))?;

    let (program, arguments) = options.program.split_first().ok_or("name a program")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(settings).env("COALESCE_RECORD", folder.path());
    for (name, value) in library.variables(folder.path()) {
        let value = if library::is_list(name) { library::before(&value, std::env::var_os(name)) } else { value };
        command.env(name, value);
    }
    // An interrupt ends the program, whose report follows.
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))
        .map_err(|error| format!("signals: {error}"))?;
    let shown = Path::new(program).display();
    let status = command.status().map_err(|error| format!("{shown} cannot be run: {error}"))?;

    let mut kernels = records::read(folder.path())?;
    records::add_registers(&mut kernels, folder.path(), &goals)?;
    let verdict = report(&kernels, options, goals)?;
    if options.ci.any() {
        let goals = verdict.iter().flat_map(Verdict::cases);
        let cases: Vec<Case> = recorded::cases(&kernels).into_iter().chain(goals).collect();
        options.ci.write(&cases).map_err(|error| error.to_string())?;
    }
    let faulty = kernels.iter().any(|kernel| kernel.stopped.is_some() || !kernel.findings.is_empty());
    let goals_are_met = verdict.as_ref().is_none_or(Verdict::met);
    if let Some(verdict) = verdict {
        // Counters of a part of the work are no baseline.
        match code(status) == 0 && kernels.iter().all(|kernel| kernel.stopped.is_none()) {
            true => verdict.save().map_err(|error| error.to_string())?,
            false if saved.is_some() => eprintln!("note: {shown} failed: the baseline is not written"),
            false => {}
        }
    }
    Ok(match code(status) {
        0 if faulty || !goals_are_met => 1,
        code => code,
    })
}

/// The goals that kernels on this device must meet.
pub fn goals(device: DeviceChoice, required: &RequireFlags) -> Result<Requirements, String> {
    let counts = match device {
        DeviceChoice::Model(model, _) => Some(model),
        _ => None,
    };
    let predicts = counts.or_else(|| Model::named("hopper")).ok_or("there is no model of a GPU")?;
    required
        .read(Machine { counts, predicts, has_ptxas: registers::ptxas().is_some() })
        .map_err(|error| error.to_string())
}

/// The driver's settings.
fn settings(options: &Options, goals: &Requirements) -> Result<Vec<(&'static str, OsString)>, String> {
    let mut settings: Vec<(&str, OsString)> = Vec::new();
    match options.device {
        DeviceChoice::Simulator => {}
        DeviceChoice::Model(model, LoadCaching::Default) => {
            settings.push(("COALESCE_DEVICE", model.name.into()));
            settings.push(("COALESCE_MODEL", "1".into()));
        }
        DeviceChoice::Model(..) => return Err("--device: give sim:MODEL without :ca or :cg".to_owned()),
        DeviceChoice::Auto | DeviceChoice::Gpu(_) => {
            return Err("--device: the driver runs on the simulator; give sim or sim:MODEL".to_owned());
        }
    }
    if let Some(list) = &options.devices {
        let usual = match options.device {
            DeviceChoice::Model(model, _) => Some(model),
            _ => Model::named("hopper"),
        };
        coalesce_driver::gpus_of(list, usual.ok_or("there is no model of a GPU")?)
            .map_err(|error| format!("--devices: {error}"))?;
        settings.push(("COALESCE_DEVICES", list.into()));
    }
    if let Some(version) = &options.cuda {
        coalesce_driver::cuda_of(version).map_err(|error| format!("--cuda: {error}"))?;
        settings.push(("COALESCE_CUDA", version.into()));
    }
    settings.extend(options.check.map(|checks| ("COALESCE_CHECK", checks.to_string().into())));
    let fault = match options.fault {
        Fault::Stop => "stop",
        Fault::Continue => "continue",
        Fault::Defer => "defer",
    };
    settings.push(("COALESCE_FAULT", fault.into()));
    if options.lines.watches() || goals.watch() {
        settings.push(("COALESCE_REQUESTS", "1".into()));
    }
    if options.predict || goals.predict() {
        settings.push(("COALESCE_PREDICT", "always".into()));
    }
    if options.caches == Caches::Warm {
        settings.push(("COALESCE_CACHES", "warm".into()));
    }
    settings.extend(options.only.as_ref().map(|kernel| ("COALESCE_ONLY_KERNEL", kernel.into())));
    if let Some(count) = options.orders.schedules {
        settings.push(("COALESCE_SCHEDULES", count.to_string().into()));
        settings.push(("COALESCE_SEED", options.seed.to_string().into()));
    }
    settings.extend(options.orders.schedule.map(|order| ("COALESCE_SCHEDULE", order.to_string().into())));
    let folders = |name: &str, folders: &[PathBuf]| {
        let colon = |error: std::env::JoinPathsError| format!("{name}: {error}");
        std::env::join_paths(folders).map_err(colon)
    };
    if !options.sources.is_empty() {
        let all: Vec<PathBuf> = options.sources.iter().flat_map(std::path::absolute).collect();
        settings.push(("COALESCE_SOURCES", folders("--sources", &all)?));
    }
    // A folder with a colon in its name is left out.
    if let Ok(beside) = folders("", &beside(&options.program))
        && !beside.is_empty()
    {
        settings.push(("COALESCE_BESIDE", beside));
    }
    Ok(settings)
}

/// The folders of the files that the command names: the program, and scripts for it.
fn beside(program: &[OsString]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for file in program.iter().filter_map(|part| std::fs::canonicalize(part).ok()).filter(|file| file.is_file()) {
        folders.extend(file.parent().map(Path::to_owned).filter(|folder| !folders.contains(folder)));
    }
    folders
}

/// Writes the report. Returns what became of the goals.
fn report(kernels: &[RecordedKernel], options: &Options, goals: Requirements) -> Result<Option<Verdict>, String> {
    let about = options.program.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ");
    if kernels.is_empty() {
        let what = options.only.as_ref().map_or("no kernel".to_owned(), |kernel| format!("no kernel {kernel}"));
        eprintln!("note: {what} was launched; `coalesce doctor PROGRAM` says what may be in the way");
        if options.format == Format::Table && options.report.is_none() && !options.required.any() {
            return Ok(None);
        }
    }
    let failed = |error: device::Error| error.to_string();
    let device = device::open(options.device, &host::built_in::options()).map_err(failed)?;
    let goals = options.required.any().then_some(goals);
    let wanted = Wanted { lines: options.lines, sources: options.sources.clone(), goals };
    recorded::check_pictured(kernels, &wanted).map_err(failed)?;
    let shown = (about.as_str(), &wanted, options.format);
    let mut text = Vec::new();
    let verdict = recorded::write(kernels, device.properties(), shown, &mut text).map_err(failed)?;
    match &options.output {
        Some(file) => common::output_file::write_whole(file, |out| out.write_all(&text)).map_err(failed)?,
        None => print(&String::from_utf8_lossy(&text))?,
    }
    if let Some(page) = &options.report {
        recorded::write_page(kernels, device.properties(), (&about, &wanted), page).map_err(failed)?;
    }
    let missed = verdict.as_ref().and_then(|verdict| verdict.error(options.format == Format::Table));
    missed.iter().for_each(|text| eprint!("{text}"));
    Ok(verdict)
}

/// `coalesce compare`: compares two baselines. Returns the exit code.
pub fn compare(options: &CompareFlags) -> Result<u8, String> {
    let mut text = Vec::new();
    let worse = baselines::compare(options, &mut text).map_err(|error| error.to_string())?;
    print(&String::from_utf8_lossy(&text))?;
    worse.iter().for_each(|text| eprint!("{text}"));
    Ok(u8::from(worse.is_some()))
}

/// Writes to the standard output. A reader that closes the pipe early is not a failure.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("writing the report: {error}")),
        _ => Ok(()),
    }
}

/// The exit code, as a shell has it.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => 128u8.wrapping_add(signal.unwrap_or(0) as u8),
    }
}
