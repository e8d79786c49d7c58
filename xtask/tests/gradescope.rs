//! Tests of `cargo xtask gradescope`: the archive in a small clone, and what its scripts do where
//! Gradescope runs them, with a stand-in for the grader. Whether the real grader is compiled and
//! marks is tried by hand, since that takes minutes. Tests that unpack the archive need Python, as
//! a second opinion on the format, and are skipped without it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A clone with an exercise, and what must not be in the archive.
struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn new() -> Self {
        let clone = Self { folder: tempfile::tempdir().unwrap() };
        let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        for (name, text) in [
            ("Cargo.toml", "[workspace]\nmembers = [\"kernels\", \"xtask\"]\nresolver = \"3\"\n"),
            ("kernels/Cargo.toml", &package("kernels")),
            ("kernels/src/lib.rs", ""),
            ("xtask/Cargo.toml", &package("xtask")),
            ("xtask/src/lib.rs", ""),
            (".gitignore", "/target\n/exercises/*/kernel.rs\n"),
            ("exercises/course.toml", "[[chapter]]\ntitle = \"A\"\nexercises = [\"copy\", \"other\"]\n"),
            ("exercises/copy/goals.toml", "title = \"Copy\"\n"),
            ("exercises/copy/kernel.rs", "a student's"),
            ("exercises/other/goals.toml", "title = \"Other\"\n"),
            ("target/debug/learn", "compiled"),
        ] {
            clone.write(name, text);
        }
        let git = Command::new("git").args(["init", "-q"]).current_dir(clone.folder.path()).status();
        assert!(git.unwrap().success());
        clone
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn gradescope(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("gradescope").args(arguments).current_dir(self.path("kernels")).env_remove("CARGO_MANIFEST_DIR");
        command.output().unwrap()
    }

    /// The archive, unpacked where Gradescope unpacks it.
    fn unpacked(&self, arguments: &[&str]) -> PathBuf {
        let output = self.gradescope(&[&["../ag.zip"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let source = self.path("target/autograder/source");
        let script = "import sys, zipfile\nzip = zipfile.ZipFile(sys.argv[1])\nassert zip.testzip() is None\n\
                      zip.extractall(sys.argv[2])\n\
                      print('\\n'.join(f'{one.external_attr >> 16:o} {one.filename}' for one in zip.infolist()))";
        let python =
            Command::new("python3").args(["-c", script]).arg(self.path("ag.zip")).arg(&source).output().unwrap();
        assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
        fs::write(self.path("target/list"), python.stdout).unwrap();
        self.path("target/autograder")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Whether this machine has what unpacks the archive.
fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success())
}

fn run(script: &str, root: &Path) -> Output {
    Command::new("bash").arg(root.join("source").join(script)).env("AUTOGRADER", root).output().unwrap()
}

/// Puts a program in place of the compiled grader, that writes its arguments and its class beside
/// the results, and ends with this exit code.
fn stand_in(root: &Path, code: i32) {
    let program = root.join("source/coalesce/target/debug/learn");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let text = format!(
        "#!/usr/bin/env bash\necho \"$@\" >\"$AUTOGRADER/arguments\"\nfor word; do\n    if [ -d \"$word/student\" ]; then\n        \
         (cd \"$word/student\" && find . ! -type d | sort) >\"$AUTOGRADER/class\"\n    fi\n    out=$word\ndone\n\
         echo '{{}}' >\"$out\"\nexit {code}\n"
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_archive_has_the_scripts_and_the_clone_without_students_files() {
    if !has_python() {
        return;
    }
    let clone = Clone::new();
    let root = clone.unpacked(&["--only", "copy", "--seed", "7", "--variant", "3", "--no-sandbox"]);
    let list = clone.read("target/list");
    let expected = "100755 setup.sh\n100755 run_autograder\n100644 settings.sh\n100644 coalesce/.gitignore\n\
                    100644 coalesce/Cargo.toml\n100644 coalesce/exercises/copy/goals.toml\n\
                    100644 coalesce/exercises/course.toml\n100644 coalesce/exercises/other/goals.toml\n\
                    100644 coalesce/kernels/Cargo.toml\n100644 coalesce/kernels/src/lib.rs\n\
                    100644 coalesce/xtask/Cargo.toml\n100644 coalesce/xtask/src/lib.rs\n";
    assert_eq!(list, expected);
    let settings = clone.read("target/autograder/source/settings.sh");
    let grade = "\nexercises=(copy)\ngrade=(target/debug/learn grade --only copy --variant 3 --seed 7 --no-sandbox)\n";
    assert!(settings.ends_with(grade), "{settings}");
    for script in ["setup.sh", "run_autograder", "settings.sh"] {
        let checked = Command::new("bash").arg("-n").arg(root.join("source").join(script)).output().unwrap();
        assert!(checked.status.success(), "{script}: {}", String::from_utf8_lossy(&checked.stderr));
    }
    // The same again, although the archive now lies in the clone.
    let first = fs::read(clone.path("ag.zip")).unwrap();
    clone.gradescope(&["../ag.zip", "--only", "copy", "--seed", "7", "--variant", "3", "--no-sandbox"]);
    assert!(fs::read(clone.path("ag.zip")).unwrap() == first);
}

#[test]
fn another_course_comes_without_what_students_made() {
    if !has_python() {
        return;
    }
    let clone = Clone::new();
    for (name, text) in [
        ("course.toml", "[[chapter]]\ntitle = \"A\"\nexercises = [\"mine\"]\n"),
        ("mine/goals.toml", ""),
        ("mine/kernel.rs", ""),
        ("mine/kernel.rs.before2", ""),
        ("progress.toml", ""),
        (".git/config", ""),
    ] {
        clone.write(&format!("target/own/{name}"), text);
    }
    symlink("/etc", clone.path("target/own/etc")).unwrap();
    let root = clone.unpacked(&["--course", "../target/own", "--only", "mine"]);
    let list = clone.read("target/list");
    let course: Vec<&str> = list.lines().filter(|line| line.contains(" course/")).collect();
    assert_eq!(course, ["100644 course/course.toml", "100644 course/mine/goals.toml"]);
    stand_in(&root, 0);
    fs::create_dir_all(root.join("submission")).unwrap();
    assert!(run("run_autograder", &root).status.success());
    assert!(clone.read("target/autograder/arguments").starts_with("--course ../course grade --only mine /"));
}

#[test]
fn a_submission_is_marked_as_a_class_of_one() {
    if !has_python() {
        return;
    }
    let clone = Clone::new();
    let root = clone.unpacked(&["--only", "copy"]);
    stand_in(&root, 0);
    fs::create_dir_all(root.join("submission")).unwrap();
    fs::write(root.join("submission/kernel.rs"), "x").unwrap();
    let outcome = run("run_autograder", &root);
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stdout));
    assert_eq!(clone.read("target/autograder/class"), "./copy/kernel.rs\n");
    let arguments = clone.read("target/autograder/arguments");
    let results = root.join("results/results.json");
    assert!(arguments.starts_with("grade --only copy /"), "{arguments}");
    assert!(arguments.ends_with(&format!(" --format gradescope --out {}\n", results.display())), "{arguments}");
    assert!(results.is_file());
    // The submission itself stays as it was, and a link is not followed.
    assert!(root.join("submission/kernel.rs").is_file());
    let elsewhere = clone.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, root.join("submission/copy")).unwrap();
    assert!(run("run_autograder", &root).status.success());
    assert_eq!(clone.read("target/autograder/class"), "./copy\n./kernel.rs\n");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn no_results_stay_where_the_grader_fails() {
    if !has_python() {
        return;
    }
    let clone = Clone::new();
    let root = clone.unpacked(&[]);
    fs::create_dir_all(root.join("submission")).unwrap();
    fs::create_dir_all(root.join("results")).unwrap();
    let results = root.join("results/results.json");
    // It is not there, or ends as for a file that could not be judged.
    for code in [None, Some(2)] {
        fs::write(&results, "old").unwrap();
        if let Some(code) = code {
            stand_in(&root, code);
        }
        assert_eq!(run("run_autograder", &root).status.code(), Some(1), "{code:?}");
        assert!(!results.exists(), "{code:?}");
    }
    assert!(clone.read("target/autograder/arguments").starts_with("grade /"));
}

#[test]
fn what_cannot_be_packed_is_said_in_one_line() {
    let clone = Clone::new();
    for (arguments, problem) in [
        (&["../ag.zip", "--only", "cpoy"][..], "exercises: there is no exercise 'cpoy'"),
        (&["../ag.zip", "--only", "../copy"], "exercises: there is no exercise '../copy'"),
        (&["../ag.zip", "--course", "src"], "src: there is no course.toml: name the folder of a course"),
        (&["../nowhere/ag.zip"], "../nowhere/ag.zip: cannot be written: there is no folder ../nowhere"),
    ] {
        let output = clone.gradescope(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.starts_with("error: ") && error.ends_with(&format!("{problem}\n")), "{arguments:?}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
    assert!(!clone.path("ag.zip").exists());
}
