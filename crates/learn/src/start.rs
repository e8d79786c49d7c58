//! Starts child processes on Linux. The child is first this program, as `cargo learn start`: it
//! asks the kernel to end it with its parent, enters the sandbox, and then executes the wanted
//! program. cargo starts compilers through the same wrapper. [`crate::process`] uses it.
//!
//! *Invariant:* a sandbox that cannot be made is an error, never a program that runs without it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, test_kill_process};
use sandbox::Sandbox;

use crate::error::{Error, Result};
use crate::programs::{self, Kind};

/// Processor time of a student's program, in seconds.
const PROCESSOR_SECONDS: u64 = 60;

/// In the environment of cargo: the process whose children are to be wrapped, cargo itself.
const WRAPS_FOR: &str = "LEARN_WRAPS_FOR";

/// Options of `start`.
#[derive(Args, Debug)]
pub struct StartOptions {
    /// The process to end with
    #[arg(long)]
    parent: u32,
    /// Run it in a sandbox that reads `--read` and writes `--write`
    #[arg(long)]
    confined: bool,
    #[arg(long)]
    read: Vec<PathBuf>,
    #[arg(long)]
    write: Vec<PathBuf>,
    /// End its children with it, too: it is cargo
    #[arg(long)]
    wraps: bool,
    /// It is a student's program: limit what it takes and, in a sandbox, what it asks of the system
    #[arg(long)]
    native: bool,
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// The command that starts another one, so that it ends with this process.
pub fn started(command: &Command, kind: Kind<'_>) -> Command {
    let mut start = Command::new(programs::own_program());
    start.arg("start").arg(format!("--parent={}", std::process::id()));
    match kind {
        Kind::Cargo => _ = start.arg("--wraps"),
        Kind::Native(sandbox) => {
            start.env_clear().arg("--native");
            sandbox.into_iter().for_each(|sandbox| _ = start.arg("--confined").args(sandbox.arguments()));
        }
        Kind::Compiler(sandbox) => {
            start.env_clear();
            sandbox.into_iter().for_each(|sandbox| _ = start.arg("--confined").args(sandbox.arguments()));
        }
    }
    start.arg("--").arg(command.get_program()).args(command.get_args());
    command.get_current_dir().into_iter().for_each(|folder| _ = start.current_dir(folder));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => start.env(name, value),
            None => start.env_remove(name),
        };
    }
    start
}

/// `start`: becomes the program.
pub fn become_program(options: &StartOptions) -> Result<bool> {
    end_with(options.parent)?;
    if options.native {
        limit_native()?;
    }
    if options.confined {
        Sandbox::new(options.read.clone(), options.write.clone()).enter().map_err(Error::Usage)?;
    }
    if options.confined && options.native {
        sandbox::alone().map_err(Error::Usage)?;
    }
    let (program, arguments) = options.program.split_first().expect("clap has required one");
    let mut command = Command::new(program);
    if options.wraps {
        command.env("RUSTC_WRAPPER", programs::own_program()).env(WRAPS_FOR, std::process::id().to_string());
    }
    Err(Error::reading(program)(command.args(arguments).exec()))
}

/// Limits what a student's program takes: address space, processor time, the size of a file, how
/// many are open, and no core dumps.
fn limit_native() -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    for (resource, most) in [
        (Resource::As, 4 << 30),
        (Resource::Cpu, PROCESSOR_SECONDS),
        (Resource::Fsize, 256 << 20),
        (Resource::Nofile, 64),
        (Resource::Core, 0),
    ] {
        let most = getrlimit(resource).maximum.map_or(most, |least| most.min(least));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| Error::Usage(format!("the limits cannot be set: {error}")))?;
    }
    Ok(())
}

/// If cargo, or a build script of its, has started this program as a wrapper: becomes the compiler
/// that its arguments name, which ends with them.
pub fn if_wrapper() -> Option<Result<bool>> {
    let cargo = Pid::from_raw(std::env::var(WRAPS_FOR).ok()?.parse().ok()?)?;
    let mut arguments = std::env::args_os().skip(1);
    let compiler = arguments.next()?;
    let exec = || Error::reading(&compiler)(Command::new(&compiler).args(arguments).exec());
    let is_there = |parent| parent == Some(cargo) || test_kill_process(cargo).is_ok();
    Some(tied_to_parent(is_there).and_then(|()| Err(exec())))
}

/// Has the kernel kill this process with the one that has started it.
pub fn end_with(parent: u32) -> Result<()> {
    tied_to_parent(|there| there == Pid::from_raw(parent.cast_signed()))
}

/// Has the kernel kill this process when the thread ends that has started it. Those threads wait
/// for their children. Fails if it has ended before, as the present parent shows.
fn tied_to_parent(is_there: impl FnOnce(Option<Pid>) -> bool) -> Result<()> {
    let failed = |error| Error::Usage(format!("the kernel does not end this process with its parent: {error}"));
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    match is_there(getppid()) {
        true => Ok(()),
        false => Err(Error::Usage("the process that has started this one has ended".to_owned())),
    }
}
