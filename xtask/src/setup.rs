//! `cargo xtask setup`: finds the compiler for GPU kernels, or installs it. `main` calls it; it
//! changes the machine only by what it says it installs.
//!
//! It uses an installed compiler if there is one. Otherwise it tries rustup's components `rust-src`
//! and `llvm-tools` for the active toolchain, and if these are not available, Debian's packages.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cuda_builder::CudaBuilderError;
use cuda_builder::toolchain::DeviceCompiler;

/// An error of the builder as text, with this chore's name where it helps.
pub fn with_advice(error: &CudaBuilderError) -> String {
    match error.is_of_the_compiler() {
        true => format!("{error}; `cargo xtask setup` does it"),
        false => error.to_string(),
    }
}

/// Options of `setup`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Install nothing; report what is installed and what would be done, and fail if there is no
    /// compiler.
    #[arg(long)]
    check: bool,
}

/// Why `setup` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NoCompiler(#[from] CudaBuilderError),
    #[error("`{step}` failed: fix what it reports above, or run it yourself")]
    StepFailed { step: Step },
}

/// A command that installs something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step(Vec<String>);

impl Step {
    fn new(words: &[&str]) -> Self {
        Step(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn run(&self) -> bool {
        eprintln!("running: {self}");
        let mut command = Command::new(&self.0[0]);
        // Keeps apt from asking questions on an unattended machine.
        command.args(&self.0[1..]).stdin(Stdio::null()).env("DEBIAN_FRONTEND", "noninteractive");
        // stdout is for this chore's own result.
        command.stdout(std::io::stderr());
        command.status().is_ok_and(|status| status.success())
    }

    fn must_run(self) -> Result<(), Error> {
        if self.run() { Ok(()) } else { Err(Error::StepFailed { step: self }) }
    }
}

impl std::fmt::Display for Step {
    /// As typed in a shell.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// The installers of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Means {
    /// rustup is installed.
    rustup: bool,
    /// apt-get is installed.
    apt: bool,
    /// How to run apt-get as root: directly, or with this command before it.
    privilege: Option<&'static [&'static str]>,
    /// The LLVM version of Debian's rustc, if that is installed.
    debian_llvm: Option<u32>,
}

impl Means {
    fn of_this_machine() -> Self {
        Means {
            rustup: in_path("rustup").is_some(),
            apt: in_path("apt-get").is_some() && Path::new("/etc/debian_version").exists(),
            privilege: if is_root() {
                Some(&[])
            } else if in_path("sudo").is_some() {
                Some(&["sudo", "-n"])
            } else {
                None
            },
            debian_llvm: llvm_of(Path::new("/usr/bin/rustc")),
        }
    }

    /// The steps with rustup.
    fn rustup_steps(&self) -> Vec<Step> {
        if self.rustup {
            vec![Step::new(&["rustup", "component", "add", "rust-src", "llvm-tools"])]
        } else {
            Vec::new()
        }
    }

    /// The first steps with Debian's packages: the compiler and its sources. The version of its
    /// LLVM is known after that.
    fn debian_rust_steps(&self) -> Vec<Step> {
        match (self.apt, self.privilege) {
            (true, Some(privilege)) => vec![
                apt(privilege, &["update"]),
                apt(privilege, &["install", "-y", "--no-install-recommends", "rustc-web", "rust-web-src"]),
            ],
            _ => Vec::new(),
        }
    }

    /// The last steps with Debian's packages: the compiler's LLVM.
    fn debian_llvm_step(&self) -> Option<Step> {
        let privilege = self.privilege.filter(|_| self.apt)?;
        let package = format!("llvm-{}", self.debian_llvm?);
        Some(apt(privilege, &["install", "-y", "--no-install-recommends", &package]))
    }
}

fn apt(privilege: &[&str], arguments: &[&str]) -> Step {
    Step::new(&[privilege, &["apt-get"], arguments].concat())
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    let missing = match DeviceCompiler::find() {
        Ok(compiler) => {
            report(&compiler);
            return Ok(());
        }
        Err(error @ CudaBuilderError::NoCompiler { .. }) => error,
        // The compiler that the user named is wrong; installing another would not help.
        Err(error) => return Err(error.into()),
    };
    let means = Means::of_this_machine();
    if options.check {
        for step in means.rustup_steps().iter().chain(&means.debian_rust_steps()) {
            println!("would try: {step}");
        }
        return Err(missing.into());
    }
    report(&install(&means)?);
    Ok(())
}

/// Tries rustup, then Debian's packages.
fn install(means: &Means) -> Result<DeviceCompiler, Error> {
    let by_rustup = means.rustup_steps();
    if !by_rustup.is_empty()
        && by_rustup.iter().all(Step::run)
        && let Ok(compiler) = DeviceCompiler::find()
    {
        return Ok(compiler);
    }
    for step in means.debian_rust_steps() {
        step.must_run()?;
    }
    // Debian's rustc is installed now and reports which LLVM it needs.
    if let Some(step) = Means::of_this_machine().debian_llvm_step() {
        step.must_run()?;
    }
    Ok(DeviceCompiler::find()?)
}

/// Reports the compiler that was found.
fn report(compiler: &DeviceCompiler) {
    println!("compiler for GPU kernels: {compiler} ({})", compiler.origin);
    println!("  rustc  {}", compiler.rustc.display());
    println!("  cargo  {}", compiler.cargo.display());
    println!("  LLVM   {}", compiler.tools.display());
    println!("  core   {}", compiler.sources.display());
}

/// The path of a program, if it is installed.
pub fn in_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn is_root() -> bool {
    output("id", &["-u"]).is_some_and(|user| user.trim() == "0")
}

/// The version of LLVM that a rustc was built with.
fn llvm_of(rustc: &Path) -> Option<u32> {
    if fs::metadata(rustc).is_err() {
        return None;
    }
    let version = output(rustc, &["-vV"])?;
    version.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.split('.').next()?.parse().ok()
}

fn output(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(steps: &[Step]) -> Vec<String> {
        steps.iter().map(Step::to_string).collect()
    }

    #[test]
    fn the_commands_are_what_one_would_type() {
        let means = Means { rustup: true, apt: true, privilege: Some(&[]), debian_llvm: Some(22) };
        assert_eq!(typed(&means.rustup_steps()), ["rustup component add rust-src llvm-tools"]);
        assert_eq!(
            typed(&means.debian_rust_steps()),
            ["apt-get update", "apt-get install -y --no-install-recommends rustc-web rust-web-src"]
        );
        assert_eq!(means.debian_llvm_step().unwrap().to_string(), "apt-get install -y --no-install-recommends llvm-22");
    }

    #[test]
    fn without_being_root_sudo_is_asked_and_never_waits_for_a_password() {
        let means = Means { rustup: false, apt: true, privilege: Some(&["sudo", "-n"]), debian_llvm: None };
        assert_eq!(typed(&means.debian_rust_steps())[0], "sudo -n apt-get update");
        assert_eq!(means.rustup_steps(), []);
        assert_eq!(means.debian_llvm_step(), None);
    }

    #[test]
    fn a_machine_without_apt_or_rights_gets_no_steps_of_debian() {
        let no_rights = Means { rustup: true, apt: true, privilege: None, debian_llvm: Some(22) };
        let no_apt = Means { apt: false, privilege: Some(&[]), ..no_rights.clone() };
        for means in [no_rights, no_apt] {
            assert_eq!(means.debian_rust_steps(), []);
            assert_eq!(means.debian_llvm_step(), None);
        }
    }
}
