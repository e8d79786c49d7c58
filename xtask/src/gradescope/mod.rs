//! `cargo xtask gradescope`: makes the archive of an autograder for Gradescope, by
//! <https://gradescope-autograders.readthedocs.io/en/latest/specs/>. Reads the clone, writes one
//! file.
//!
//! | in the archive | contents |
//! | --- | --- |
//! | `setup.sh` | installs Rust and a C compiler, compiles the grader, and tries it: once, with a network |
//! | `run_autograder` | marks a submission, without a network |
//! | `settings.sh` | what both read: versions, exercises, options |
//! | `coalesce/` | this clone's files, as git lists them, changes included; not what git ignores |
//! | `course/` | the course of `--course` |
//!
//! *Invariant:* nothing is in the archive that students made in the clone: git ignores that.

mod zip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::output_file;
use wording::{several, shell_word};

use crate::exit_code::{FAILED, WRONG_ARGUMENTS};
use crate::workspace::{self, NotInWorkspace};
use zip::{TooMuch, Zip};

/// Options of `gradescope`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The archive to write, to be uploaded as the autograder of an assignment.
    #[arg(value_name = "FILE.zip")]
    file: PathBuf,
    /// The exercises of the assignment; of one alone, students may hand in the file without its
    /// folder [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The folder of another course, with its course.toml.
    #[arg(long, value_name = "DIR")]
    course: Option<PathBuf>,
    /// The class's variant, as in `cargo learn export`.
    #[arg(long, value_name = "SEED")]
    variant: Option<u64>,
    /// Draw sizes and values from this number [default: another for each submission].
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Judge without the sandbox, where Gradescope's machines have no Linux 6.2: a submission could
    /// then read the solutions, and show them in its report.
    #[arg(long)]
    no_sandbox: bool,
}

/// Why `gradescope` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] NotInWorkspace),
    #[error("{folder}: there is no exercise '{name}'", folder = .folder.display())]
    NoExercise { folder: PathBuf, name: String },
    #[error("{}: there is no course.toml: name the folder of a course", .0.display())]
    NoCourse(PathBuf),
    #[error("git cannot list the files of this clone: {0}")]
    Git(String),
    #[error("rustc does not say its version: {0}")]
    Rustc(String),
    #[error("{path}: cannot be read: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    #[error("{0}")]
    Write(String),
}

impl Error {
    /// The program's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoExercise { .. } | Self::NoCourse(_) | Self::Write(_) => WRONG_ARGUMENTS,
            _ => FAILED,
        }
    }
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    output_file::check(&options.file).map_err(|error| Error::Write(error.to_string()))?;
    let course = options.course.clone().unwrap_or_else(|| root.join("exercises"));
    if !course.join("course.toml").is_file() {
        return Err(Error::NoCourse(course));
    }
    for name in &options.only {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if !is_name || !course.join(name).join("goals.toml").is_file() {
            return Err(Error::NoExercise { folder: course, name: name.clone() });
        }
    }
    let mut zip = Zip::default();
    zip.add("setup.sh", include_bytes!("setup.sh"), true)?;
    zip.add("run_autograder", include_bytes!("run_autograder"), true)?;
    zip.add("settings.sh", settings(options, &rust_version()?).as_bytes(), false)?;
    let files = clone_files(&root)?;
    // What the chore itself makes may lie in the clone.
    let own = output_file::identity(&options.file);
    for name in files.iter().filter(|name| output_file::identity(&root.join(name)) != own) {
        add(&mut zip, &root.join(name), &format!("coalesce/{name}"))?;
    }
    if options.course.is_some() {
        add_course(&mut zip, &course, "course")?;
    }
    let bytes = zip.finish();
    output_file::write_whole(&options.file, |out| out.write_all(&bytes))
        .map_err(|error| Error::Write(error.to_string()))?;
    let size = wording::units::bytes(bytes.len() as u64);
    println!("{}: {size}, with {} of this clone", options.file.display(), several(files.len(), "file"));
    Ok(())
}

/// What both scripts read.
fn settings(options: &Options, rust: &str) -> String {
    let mut grade = vec!["target/debug/learn".to_owned()];
    if options.course.is_some() {
        grade.extend(["--course", "../course"].map(str::to_owned));
    }
    grade.push("grade".to_owned());
    if !options.only.is_empty() {
        grade.extend(["--only".to_owned(), options.only.join(",")]);
    }
    for (name, number) in [("--variant", options.variant), ("--seed", options.seed)] {
        grade.extend(number.into_iter().flat_map(|number| [name.to_owned(), number.to_string()]));
    }
    grade.extend(options.no_sandbox.then(|| "--no-sandbox".to_owned()));
    let words = |words: &[String]| words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    format!(
        "# Made by `cargo xtask gradescope`.\n\
         export RUSTUP_HOME=${{RUSTUP_HOME:-/usr/local/rustup}} CARGO_HOME=${{CARGO_HOME:-/usr/local/cargo}}\n\
         export RUSTUP_TOOLCHAIN={} PATH=$CARGO_HOME/bin:$PATH\n\
         exercises=({})\n\
         grade=({})\n",
        shell_word(rust),
        words(&options.only),
        words(&grade)
    )
}

/// The version of the compiler that this clone works with, or `stable` for one without a number of
/// its own.
fn rust_version() -> Result<String, Error> {
    let version = output(Command::new("rustc").arg("--version")).map_err(Error::Rustc)?;
    let number = version.split_whitespace().nth(1).unwrap_or_default();
    let is_release = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    Ok(if is_release { number } else { "stable" }.to_owned())
}

/// The names of the clone's files, tracked or new, sorted.
fn clone_files(root: &Path) -> Result<Vec<String>, Error> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = output(Command::new("git").args(arguments).current_dir(root)).map_err(Error::Git)?;
    // A tracked file may have been removed.
    let mut files: Vec<String> = list.split('\0').filter(|name| root.join(name).is_file()).map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Adds a course: what an author wrote, not what was made from it by students.
fn add_course(zip: &mut Zip, folder: &Path, name: &str) -> Result<(), Error> {
    let read = |source| Error::Read { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>).map_err(read)?;
    let mut entries: Vec<_> = entries.iter().map(|entry| (entry.file_name(), entry.path())).collect();
    entries.sort();
    for (own, path) in entries {
        let own = own.to_string_lossy();
        let is_students = ["kernel.rs", "predict.toml", "host.rs", "progress.toml", "leaderboard.jsonl"]
            .contains(&&*own)
            || own.contains(".before");
        if own.starts_with('.') || is_students || path.is_symlink() {
            continue;
        }
        let name = format!("{name}/{own}");
        if path.is_dir() { add_course(zip, &path, &name)? } else { add(zip, &path, &name)? }
    }
    Ok(())
}

fn add(zip: &mut Zip, path: &Path, name: &str) -> Result<(), Error> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let contents = fs::read(path).map_err(read)?;
    Ok(zip.add(name, &contents, is_executable(path))?)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

/// The standard output of a program that succeeds, or why not.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => String::from_utf8(output.stdout).map_err(|_| "it is not UTF-8".to_owned()),
        false => Err(wording::one_line(&String::from_utf8_lossy(&output.stderr))),
    }
}
