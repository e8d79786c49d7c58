//! Processes apart: what they may take, the sandbox, and how they end. This process waits for them,
//! and ends their group when their time is up.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use sandbox::Sandbox;
use wording::several;

/// How often to look whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(2);

/// The most that is kept of what a process writes.
const MOST_SAID: u64 = 16 << 20;

/// The largest file that it may write.
const LARGEST_FILE: u64 = 1 << 30;

/// A process that gets no processor ends after so many times its time limit.
const PATIENCE: u32 = 5;

/// What a verdict may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct Limits {
    /// Time limit of the process that runs the candidate, in seconds of each core
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
    /// Memory limit of that process, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(64..=1 << 30))]
    pub memory_limit: u64,
    /// Run the candidate without a sandbox: it may then read your files
    #[arg(long)]
    pub no_sandbox: bool,
}

/// How a process has ended.
pub enum Ended {
    /// In order, having said this.
    Said(String),
    /// With a message.
    Failed(String),
    /// It was killed, or crashed; and what it said before as errors.
    Killed(String, String),
}

/// Fails if there is no sandbox, and one is wanted.
pub fn check(limits: &Limits) -> Result<(), String> {
    match sandbox::missing().filter(|_| !limits.no_sandbox) {
        Some(why) => Err(format!(
            "no sandbox: {why}; judge on Linux 6.2 or newer, or, if you trust the candidate or are in a container for this, \
             with --no-sandbox"
        )),
        None => Ok(()),
    }
}

/// Limits this process, and confines it to what it has open.
pub fn enter(limits: &Limits) -> Result<(), String> {
    limit(limits)?;
    if limits.no_sandbox { Ok(()) } else { Sandbox::new([], []).enter() }
}

/// Limits memory, processor time, files and core dumps of this process and all that it starts.
pub fn limit(limits: &Limits) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    for (resource, most) in [
        (Resource::As, limits.memory_limit << 20),
        (Resource::Cpu, limits.time_limit * cores),
        (Resource::Fsize, LARGEST_FILE),
        (Resource::Core, 0),
    ] {
        let most = getrlimit(resource).maximum.map_or(most, |least| most.min(least));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| format!("the limits cannot be set: {error}"))?;
    }
    Ok(())
}

/// Runs this program again, to its end.
pub fn own_program(arguments: impl IntoIterator<Item = OsString>, limits: &Limits) -> Result<Ended, String> {
    check(limits)?;
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    run(Command::new(program).args(arguments), limits)
}

/// Runs a program to its end, or to that of its time.
pub fn run(command: &mut Command, limits: &Limits) -> Result<Ended, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let program = std::path::Path::new(command.get_program()).display().to_string();
    let failed = |error: std::io::Error| format!("{program} cannot be run: {error}");
    let mut child = command.spawn().map_err(failed)?;
    fn begin(pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut pipe = pipe.take(MOST_SAID);
            let _ = pipe.read_to_end(&mut bytes);
            // The process shall not wait for a reader.
            let _ = std::io::copy(&mut pipe.into_inner(), &mut std::io::sink());
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let (Some(said), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("a process has no pipes".to_owned());
    };
    let [said, errors] = [begin(said), begin(errors)];
    let began = Instant::now();
    let most = Duration::from_secs(limits.time_limit).saturating_mul(PATIENCE);
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if began.elapsed() > most => break None,
            None => std::thread::sleep(INTERVAL),
        }
    };
    // What it has started, too, which may hold its pipes.
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    let [said, errors] = [said, errors].map(|reader| reader.join().unwrap_or_default());
    Ok(match status {
        Some(status) if status.success() => Ended::Said(said),
        Some(status) if status.code() == Some(2) => {
            let last = errors.lines().rfind(|line| line.starts_with("error: ")).unwrap_or(&errors);
            Ended::Failed(last.trim_start_matches("error: ").trim().to_owned())
        }
        _ => {
            let time = several(limits.time_limit as usize, "second");
            let memory = limits.memory_limit;
            Ended::Killed(
                format!("it took more than {time} of each core or {memory} MiB of memory, or crashed"),
                errors,
            )
        }
    })
}
