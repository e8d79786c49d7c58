//! Tests of the program `learn`, run as students, authors and teachers run it: its output, its
//! files and its exit code.
//!
//! Each test has a small course of its own, whose exercises are copies of the folder `copy`. Its
//! kernels have raw pointers, since many tests make mistakes that safe Rust refuses. Tests that
//! compile kernels need the device compiler, and are skipped without it unless
//! `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

mod author;
mod cheating;
#[cfg(feature = "class")]
mod class;
mod course;
mod export;
mod gains;
#[cfg(unix)]
mod grading;
#[cfg(target_os = "linux")]
mod host_code;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod marks;
mod open;
mod orders;
#[cfg(unix)]
mod overwhelming;
mod predicting;
#[cfg(unix)]
mod red;
mod serving;
#[cfg(unix)]
mod similarity;
mod student;
mod teaching;
#[cfg(target_os = "linux")]
mod unreadable;
mod variants;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use cuda_builder::toolchain::DeviceCompiler;

/// Keeps the folders that these tests compile in apart from the user's.
const JOBS: &str = "21";

/// Whether kernels can be compiled here.
fn has_compiler() -> bool {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return false;
    }
    true
}

/// The files of the exercise `copy`.
const COPY: [(&str, &str); 7] = [
    ("goals.toml", include_str!("copy/goals.toml")),
    ("starter.rs", include_str!("copy/starter.rs")),
    ("solution.rs", include_str!("copy/solution.rs")),
    ("reference.rs", include_str!("copy/reference.rs")),
    ("hints.md", include_str!("copy/hints.md")),
    ("wrong/forgets_the_end.diff", include_str!("copy/wrong/forgets_the_end.diff")),
    ("wrong/one_too_many.rs", include_str!("copy/wrong/one_too_many.rs")),
];

/// A course in a folder of its own.
struct Course {
    folder: tempfile::TempDir,
}

/// The program's output and exit code.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Course {
    /// A course with these exercises, each a copy of the exercise `copy` beside this file.
    fn new(exercises: &[&str]) -> Self {
        let course = Self { folder: tempfile::tempdir().unwrap() };
        course.list(exercises);
        for name in exercises {
            for (file, text) in COPY {
                course.write(&format!("{name}/{file}"), text);
            }
        }
        course
    }

    fn list(&self, exercises: &[&str]) {
        self.write("course.toml", &format!("[[chapter]]\ntitle = \"Beginnings\"\nexercises = {exercises:?}\n"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a text in a file.
    fn change(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from}");
        self.write(name, &text.replacen(from, to, 1));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(self.folder.path()).args(arguments);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", JOBS);
        command
    }

    fn learn(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command(arguments))
    }
}

impl Outcome {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    fn text(&self) -> String {
        format!("exit code {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    /// The standard output of a program that succeeded.
    #[track_caller]
    fn succeeds(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.text());
        self.stdout
    }

    /// The report of a program that found a problem, which must contain these words.
    #[track_caller]
    fn reports(self, words: &[&str]) -> String {
        assert_eq!(self.code, Some(1), "{}", self.text());
        for words in words {
            assert!(self.stdout.contains(words), "there is no '{words}' in\n{}", self.text());
        }
        assert!(self.stdout.lines().all(|line| line.chars().count() <= 100), "too wide:\n{}", self.stdout);
        self.stdout
    }

    /// The message of a program that failed, which must contain these words.
    #[track_caller]
    fn refuses(self, words: &[&str]) -> String {
        assert_eq!(self.code, Some(2), "{}", self.text());
        assert!(self.stderr.lines().any(|line| line.starts_with("error: ")), "{}", self.text());
        for words in words {
            assert!(self.stderr.contains(words), "there is no '{words}' in\n{}", self.text());
        }
        self.stderr
    }
}

/// A file with the kernel of `copy` and this body.
fn kernel(body: &str) -> String {
    format!(
        "use cuda_std::prelude::*;\n\n/// # Safety\n/// `input` and `output` hold `n` floats.\n#[kernel]\n\
         pub unsafe fn copy(input: *const f32, output: *mut f32, n: u32) {{\n{body}\n}}\n"
    )
}

/// A right kernel, for submissions that break something else.
const RIGHT: &str =
    "    let i = thread::index_1d() as usize;\n    if i < n as usize { *output.add(i) = *input.add(i); }";

/// A file with these items and a right kernel.
#[cfg(unix)]
fn with(items: &str) -> String {
    kernel(RIGHT).replace("/// # Safety\n", &format!("{items}\n/// # Safety\n"))
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
