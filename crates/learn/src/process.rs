//! Child processes: the judge of a file, the compiler's programs, and cargo. None outlives
//! `cargo learn`.
//!
//! On Linux the kernel ends them with their parent, even if the parent is killed: see
//! [`crate::start`]. Elsewhere a program that is killed leaves its children to their limits.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sandbox::Sandbox;

use crate::programs::Kind;

/// How often to look whether a process has ended, or another has left a folder.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// The most that is kept of a compiler's output: a file that is wrong everywhere makes gigabytes of
/// it.
const MOST_OUTPUT: u64 = 4 << 20;

/// The most that is kept of what a student's program prints.
const MOST_SAID: u64 = 1 << 16;

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

    /// Runs a program with the variables that the command sets, and no others; in a sandbox, if
    /// there is one.
    ///
    /// # Errors
    ///
    /// As [`Runner::cargo`]. A sandbox that cannot be made is a failure of the program.
    pub fn compiler(self, command: &mut Command, sandbox: Option<&Sandbox>) -> io::Result<Output> {
        self.output(command, Kind::Compiler(sandbox))
    }

    fn output(self, command: &mut Command, kind: Kind<'_>) -> io::Result<Output> {
        #[cfg(target_os = "linux")]
        let command = &mut crate::start::started(command, kind);
        #[cfg(not(target_os = "linux"))]
        let _ = kind;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Without `stop` it stays in this process's group, with which it is ended.
        let command = if self.stop.is_some() { in_group(command) } else { command };
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().map(|pipe| begin(pipe, kind));
        let stderr = child.stderr.take().map(|pipe| begin(pipe, kind));
        let status = match self.stop {
            None => child.wait().map(Some),
            Some(_) => wait(&mut child, || self.is_stopped()),
        };
        if !matches!(status, Ok(Some(_))) {
            end(&mut child);
        }
        let output = |reader: Option<JoinHandle<_>>| reader.map(|reader| reader.join().expect("it does not panic"));
        let [stdout, stderr] = [stdout, stderr].map(|reader| output(reader).unwrap_or(Ok(Vec::new())));
        match status? {
            Some(status) => Ok(Output { status, stdout: stdout?, stderr: stderr? }),
            None => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
        }
    }
}

/// Begins to read a program's output, to its end. What is beyond the limit is dropped.
pub fn begin(mut pipe: impl Read + Send + 'static, kind: Kind<'_>) -> JoinHandle<io::Result<Vec<u8>>> {
    let most = match kind {
        Kind::Cargo => u64::MAX,
        Kind::Compiler(_) => MOST_OUTPUT,
        Kind::Native(..) => MOST_SAID,
    };
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.by_ref().take(most).read_to_end(&mut bytes)?;
        io::copy(&mut pipe, &mut io::sink())?;
        Ok(bytes)
    })
}

/// Waits for the end of a process, or until it shall be waited for no longer.
pub fn wait(child: &mut Child, mut enough: impl FnMut() -> bool) -> io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if enough() => return Ok(None),
            None => std::thread::sleep(INTERVAL),
        }
    }
}

/// Starts a process in a new group, so that its children can be ended with it.
pub fn in_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Kills a process that leads a group, and its children.
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
