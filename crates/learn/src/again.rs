//! The commands for a class in a program that was built without them: builds the program that has
//! them, and becomes it. Databases are a third of the first build, for which students need not wait.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Runs this command line in the program with the feature `class`, of the clone at `root`.
///
/// # Errors
///
/// [`Error::Usage`] if cargo cannot be started.
pub fn with_class(root: &Path) -> Result<bool> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "--quiet", "--package", "learn", "--features", "class", "--manifest-path"]);
    command.arg(root.join("Cargo.toml")).arg("--").args(std::env::args_os().skip(1)).stdin(Stdio::inherit());
    become_it(&mut command).map_err(|error| Error::Usage(format!("cargo cannot be started: {error}")))
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<bool> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<bool> {
    command.status().map(|status| status.success())
}
