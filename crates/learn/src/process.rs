//! The programs that this one starts: the judge of a file, the compiler's, and cargo. None of them outlives it.
//!
//! On Linux each is started by this program itself, as `start`, which asks the kernel to end it with its parent, confines itself, and
//! becomes the program. That covers a parent that is killed, which cannot end anything any more. cargo starts its compilers in the
//! same way, as wrapped ones. Elsewhere a program that was killed leaves its children to their limits.
//!
//! *Invariant:* a sandbox that cannot be made is an error, never a program that runs without it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;

use crate::error::{Error, Result};
use crate::sandbox::Sandbox;

/// How often to look whether a process has ended, or another has left a folder.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// In the environment of cargo: the process whose children are to be wrapped, cargo itself.
const WRAPS_FOR: &str = "LEARN_WRAPS_FOR";

/// Options of `start`.
#[cfg(target_os = "linux")]
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
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// How to run a program to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runner {
    /// Ends it, and all that it started, when it is set.
    pub stop: Option<&'static AtomicBool>,
}

impl Runner {
    /// Whether it starts nothing any more.
    pub fn is_stopped(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Runs cargo, with this program's environment.
    ///
    /// # Errors
    ///
    /// Those of [`Command::output`]; [`io::ErrorKind::Interrupted`] if it was stopped.
    pub fn cargo(self, command: &mut Command) -> io::Result<Output> {
        self.output(command, |start| _ = start.arg("--wraps"))
    }

    /// Runs a program with the variables that the command sets, and no others; in a sandbox, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Runner::cargo`]. A sandbox that cannot be made is a failure of the program.
    pub fn compiler(self, command: &mut Command, sandbox: Option<&Sandbox>) -> io::Result<Output> {
        self.output(command, |start| {
            start.env_clear();
            sandbox.into_iter().for_each(|sandbox| _ = start.arg("--confined").args(sandbox.arguments()));
        })
    }

    fn output(self, command: &mut Command, how: impl FnOnce(&mut Command)) -> io::Result<Output> {
        let mut started = start(command, how)?;
        let command = started.as_mut().unwrap_or(command);
        match self.stop {
            None => command.output(),
            Some(stop) => stoppable(command, stop),
        }
    }
}

/// The command that starts another one, so that it ends with this process. `None` where there is no such way.
#[cfg(target_os = "linux")]
fn start(command: &Command, how: impl FnOnce(&mut Command)) -> io::Result<Option<Command>> {
    let mut start = Command::new(std::env::current_exe()?);
    start.arg("start").arg(format!("--parent={}", std::process::id()));
    how(&mut start);
    start.arg("--").arg(command.get_program()).args(command.get_args());
    command.get_current_dir().into_iter().for_each(|folder| _ = start.current_dir(folder));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => start.env(name, value),
            None => start.env_remove(name),
        };
    }
    Ok(Some(start))
}

#[cfg(not(target_os = "linux"))]
fn start(_command: &Command, _how: impl FnOnce(&mut Command)) -> io::Result<Option<Command>> {
    Ok(None)
}

/// `start`: becomes the program.
#[cfg(target_os = "linux")]
pub fn become_program(options: &StartOptions) -> Result<bool> {
    use std::os::unix::process::CommandExt as _;
    end_with(options.parent)?;
    if options.confined {
        Sandbox::new(options.read.clone(), options.write.clone()).enter().map_err(Error::Usage)?;
    }
    let (program, arguments) = options.program.split_first().expect("clap has required one");
    let mut command = Command::new(program);
    if options.wraps {
        let wrapper = std::env::current_exe().map_err(Error::reading("learn"))?;
        command.env("RUSTC_WRAPPER", wrapper).env(WRAPS_FOR, std::process::id().to_string());
    }
    Err(Error::reading(program)(command.args(arguments).exec()))
}

/// If cargo has started this program as a wrapper: becomes the compiler that its arguments name, which ends with cargo.
#[cfg(target_os = "linux")]
pub fn if_wrapper() -> Option<Result<bool>> {
    use std::os::unix::process::CommandExt as _;
    let parent = std::env::var(WRAPS_FOR).ok()?.parse().ok()?;
    let mut arguments = std::env::args_os().skip(1);
    let compiler = arguments.next()?;
    let exec = || Error::reading(&compiler)(Command::new(&compiler).args(arguments).env_remove(WRAPS_FOR).exec());
    Some(end_with(parent).and_then(|()| Err(exec())))
}

#[cfg(not(target_os = "linux"))]
pub fn if_wrapper() -> Option<Result<bool>> {
    None
}

/// Has the kernel kill this process when the thread ends that has started it. Those threads wait for their children.
#[cfg(target_os = "linux")]
pub fn end_with(parent: u32) -> Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let failed = |error| Error::Usage(format!("the kernel does not end this process with its parent: {error}"));
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    // It may have ended before.
    match getppid().is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent) {
        true => Ok(()),
        false => Err(Error::Usage("the process that has started this one has ended".to_owned())),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn end_with(_parent: u32) -> Result<()> {
    Ok(())
}

/// Runs a program to its end, or until `stop` is set.
fn stoppable(command: &mut Command, stop: &AtomicBool) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = in_group(command).spawn()?;
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes)).map(|_| bytes)
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let status = wait(&mut child, || stop.load(Ordering::Relaxed));
    end(&mut child);
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().expect("it does not panic"));
    match status? {
        Some(status) => Ok(Output { status, stdout: stdout?, stderr: stderr? }),
        None => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
    }
}

/// Waits for the end of a process, or until it shall be waited for no longer.
pub fn wait(child: &mut Child, enough: impl Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if enough() => return Ok(None),
            None => std::thread::sleep(INTERVAL),
        }
    }
}

/// Puts a process in a group of its own, so that its children can be ended with it.
pub fn in_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Kills a process that has a group of its own, and its children.
pub fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(windows)]
    {
        let id = child.id().to_string();
        let _ = Command::new("taskkill")
            .args(["/T", "/F", "/PID", &id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}
