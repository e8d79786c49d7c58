//! The programs that chores run on a GPU, and what they say of the machine.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command that did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("`{command}` failed: {problem}")]
pub struct Failed {
    /// The command line.
    pub command: String,
    /// Why, in a line.
    pub problem: String,
}

impl Failed {
    /// This command, for this reason.
    pub fn of(command: &Command, problem: impl ToString) -> Self {
        let arguments: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
        let command = arguments.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Self { command, problem: problem.to_string() }
    }
}

/// The machine, the tools and the date.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Machine {
    pub device: String,
    pub driver: String,
    pub cuda: String,
    pub nvcc: String,
    pub date: String,
}

/// The machine that this runs on. Without a compiler its release is empty.
///
/// # Errors
///
/// When the program or the compiler fails.
pub fn machine(nvcc: Option<&Path>, host: &Path) -> Result<Machine, Failed> {
    let device = &devices(host)?[0];
    let version = nvcc.map(|nvcc| succeed(Command::new(nvcc).arg("--version"))).transpose()?.unwrap_or_default();
    let release = version.split("release ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
    let date = succeed(Command::new("date").arg("+%F"))?;
    Ok(Machine {
        device: text(&device["name"]),
        driver: text(&device["driver"]),
        cuda: text(&device["cuda_version"]),
        nvcc: release.to_owned(),
        date: date.trim().to_owned(),
    })
}

/// What the program says of the GPU: a list of one.
///
/// # Errors
///
/// When the program fails.
pub fn devices(host: &Path) -> Result<Value, Failed> {
    let devices = succeed(Command::new(host).args(["devices", "--device", "gpu", "--format", "json"]))?;
    Ok(serde_json::from_str(&devices).unwrap_or_default())
}

/// Runs a command and returns what it printed.
///
/// # Errors
///
/// When it does not start or fails, with the last line that it wrote to the standard error.
pub fn succeed(command: &mut Command) -> Result<String, Failed> {
    let output = command.output().map_err(|problem| Failed::of(command, problem))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failed::of(command, said.lines().last().unwrap_or("it printed nothing")))
}

/// The elements of a list; none of anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text; nothing for anything else.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
