//! The programs that this one starts: the judge of a file, the compiler's, and cargo. None of them outlives it.
//!
//! On Linux the kernel ends them with their parent, even if that is killed: see [`crate::start`]. Elsewhere a program that is killed
//! leaves its children to their limits.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::sandbox::Sandbox;

/// How often to look whether a process has ended, or another has left a folder.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// A program that is started.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is neither a sandbox nor a wrapper"))]
pub enum Kind<'a> {
    /// cargo, which starts others, with this program's environment.
    Cargo,
    /// One with the variables of its command only, perhaps in a sandbox.
    Compiler(Option<&'a Sandbox>),
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
        self.output(command, Kind::Cargo)
    }

    /// Runs a program with the variables that the command sets, and no others; in a sandbox, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Runner::cargo`]. A sandbox that cannot be made is a failure of the program.
    pub fn compiler(self, command: &mut Command, sandbox: Option<&Sandbox>) -> io::Result<Output> {
        self.output(command, Kind::Compiler(sandbox))
    }

    fn output(self, command: &mut Command, kind: Kind<'_>) -> io::Result<Output> {
        #[cfg(target_os = "linux")]
        let command = &mut crate::start::started(command, kind)?;
        #[cfg(not(target_os = "linux"))]
        let _ = kind;
        match self.stop {
            None => command.output(),
            Some(stop) => stoppable(command, stop),
        }
    }
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
