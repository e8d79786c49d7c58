//! Tests of `cargo learn export`: nothing of the answers is in the copy, and a file is judged there
//! as in the course.

use super::student::SCATTERED;
use super::*;

/// All files below a folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => all.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()),
            }
        }
    }
    all.sort();
    all
}

/// A course of the exercise `copy` and one to explain, and its copy for students.
fn exported() -> (Course, tempfile::TempDir) {
    let course = Course::new(&["copy", "predict_offset"]);
    let folder = root().join("exercises/predict_offset");
    for entry in fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), course.path("predict_offset").join(entry.file_name())).unwrap();
    }
    for name in ["starter.rs", "solution.rs", "reference.rs"] {
        fs::remove_file(course.path("predict_offset").join(name)).unwrap();
    }
    course.change("copy/goals.toml", "loads.sectors_per_request <= 4.1", "loads.sectors <= 1.1 * solution");
    let to = tempfile::tempdir().unwrap();
    let made = course.learn(&["export", to.path().join("students").to_str().unwrap()]).succeeds();
    assert!(made.contains("2 exercises, without solutions"), "{made}");
    (course, to)
}

#[test]
fn a_copy_for_students_judges_as_the_course_does_and_has_no_answers() {
    if !has_compiler() {
        return;
    }
    let (course, to) = exported();
    let folder = to.path().join("students");
    let in_exercises: Vec<String> = files(&folder.join("exercises"));
    let expected = ["copy/goals.toml", "copy/hints.md", "copy/reference.ptx", "copy/solution.json", "copy/starter.rs"];
    let predict = ["given.ptx", "given.rs", "goals.obfuscated", "hints.md", "starter.toml"];
    let expected = expected.map(str::to_owned).into_iter();
    let expected = expected.chain(["course.toml".to_owned()]).chain(predict.map(|it| format!("predict_offset/{it}")));
    assert_eq!(in_exercises, expected.collect::<Vec<_>>());
    let crates = files(&folder);
    assert!(crates.iter().any(|file| file == "crates/cuda_std/src/lib.rs"));
    assert!(!crates.iter().any(|file| file.contains("/tests/") || file.contains("exercises/copy/wrong")), "{crates:?}");
    // Lines that only the answers have are in no text of the exercises.
    let starter = course.read("copy/starter.rs");
    let solution = course.read("copy/solution.rs");
    let telling: Vec<&str> =
        solution.lines().filter(|line| line.len() > 20 && !starter.contains(line.trim())).collect();
    assert!(!telling.is_empty());
    for file in &in_exercises {
        let text = fs::read_to_string(folder.join("exercises").join(file)).unwrap();
        for line in telling.iter().chain(&["starter_fails", "why = \"The", "sectors: the"]) {
            assert!(!text.contains(line.trim()) || file.ends_with("goals.toml"), "{file}: {line}");
        }
        assert!(!text.contains("starter_fails"), "{file}");
    }

    // The same verdicts as in the course: paths and pictures of the solution differ.
    let students = folder.join("exercises");
    let learn = |of: &Path, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(of).args(arguments).env("LEARN_JOB", JOBS).current_dir(env!("CARGO_MANIFEST_DIR"));
        Outcome::of(&mut command)
    };
    let without_paths = |outcome: &Outcome, of: &Path| outcome.stdout.replace(of.to_str().unwrap(), "COURSE");
    let idle = kernel("    if thread::index_1d() == 0 { for i in 0..n as usize { *output.add(i) = *input.add(i); } }");
    for (text, code) in [(solution.clone(), 0), (starter, 1), (kernel(SCATTERED), 1), (idle, 1)] {
        let judged = [course.folder.path(), &students].map(|of| {
            fs::write(of.join("copy/kernel.rs"), &text).unwrap();
            let outcome = learn(of, &["run", "copy", "--seed", "8"]);
            assert_eq!(outcome.code, Some(code), "{}", outcome.text());
            without_paths(&outcome, of).split("\n  Yours").next().unwrap().to_owned()
        });
        let verdict = |text: &str| {
            let is_told = |line: &&str| line.starts_with("  ok") || line.contains("wrong  ") || line.contains("fault");
            text.lines().filter(is_told).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(verdict(&judged[0]), verdict(&judged[1]), "{}\n{}", judged[0], judged[1]);
    }
    // Without --seed, one is chosen that the copy knows.
    fs::write(students.join("copy/kernel.rs"), solution).unwrap();
    learn(&students, &["run", "copy"]).succeeds();
    learn(&students, &["run", "copy", "--seed", "99"])
        .refuses(&["--seed 99", "these seeds only: 1, 2, 3, 4, 5, 6, 7, 8"]);
    assert!(!learn(&students, &["run", "copy"]).succeeds().contains("cargo learn solution"));
    assert!(learn(&students, &["list"]).succeeds().contains("[x] copy"));
    assert!(learn(&students, &["hint", "predict_offset"]).succeeds().contains("Hint 1 of"));
    let predictions = fs::read_to_string(root().join("exercises/predict_offset/solution.toml")).unwrap();
    fs::write(students.join("predict_offset/predict.toml"), predictions).unwrap();
    learn(&students, &["run", "predict_offset"]).succeeds();
    for command in [&["solution", "copy"][..], &["check"], &["grade", "."], &["export", "elsewhere"]] {
        learn(&students, command).refuses(&["no solutions"]);
    }
    fs::write(students.join("predict_offset/goals.obfuscated"), "zz").unwrap();
    learn(&students, &["run", "predict_offset"]).refuses(&["goals.obfuscated", "was changed"]);
}

#[test]
fn a_copy_is_made_whole_or_not_at_all() {
    let course = Course::new(&["copy"]);
    let to = tempfile::tempdir().unwrap();
    let path = |name: &str| to.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(to.path().join("full")).unwrap();
    fs::write(to.path().join("full/mine"), "").unwrap();
    fs::write(to.path().join("file"), "").unwrap();
    course.learn(&["export", &path("full")]).refuses(&["full: is not empty"]);
    course.learn(&["export", &path("file")]).refuses(&["file: is not a folder"]);
    course.learn(&["export", &path("no/students")]).refuses(&["make it first"]);
    course.learn(&["export", root().join("students").to_str().unwrap()]).refuses(&["is inside this repository"]);
    // An exercise that is wrong: nothing is left behind.
    fs::remove_file(course.path("copy/hints.md")).unwrap();
    course.learn(&["export", &path("students")]).refuses(&["hints.md: cannot be read"]);
    assert_eq!(files(to.path()), ["file", "full/mine"]);
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 2);
}

/// Gives a copy the libraries that cargo has compiled for this test, as if it had been built there:
/// cargo compiles anew only what is another in the copy. Each is the same file, which neither cargo
/// nor rustc writes into: they replace it.
fn build_as_here(copy: &Path) {
    let here = Path::new(env!("CARGO_BIN_EXE_learn")).parent().unwrap();
    let there = copy.join("target/debug");
    for folder in [".fingerprint", "build"] {
        for file in files(&here.join(folder)) {
            same_file(&here.join(folder).join(&file), &there.join(folder).join(file), false);
        }
    }
    let entries = fs::read_dir(here.join("deps")).unwrap().flatten();
    for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
        let is_library = name.starts_with("lib") && [".rlib", ".rmeta", ".so"].iter().any(|end| name.ends_with(end));
        if is_library || name.ends_with(".d") {
            same_file(&here.join("deps").join(&name), &there.join("deps").join(&name), is_library);
        }
    }
    // cargo takes a source that is younger than its library for a changed one.
    for file in files(&copy.join("crates")) {
        let here = fs::metadata(root().join("crates").join(&file)).unwrap().modified().unwrap();
        fs::File::options().write(true).open(copy.join("crates").join(&file)).unwrap().set_modified(here).unwrap();
    }
}

/// Copies a file, with the time of its last change, or links it.
fn same_file(from: &Path, to: &Path, linked: bool) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    // Another file system has no link to it.
    if !linked || fs::hard_link(from, to).is_err() {
        // What cargo replaces meanwhile, it builds in the copy.
        let Ok(modified) = fs::metadata(from).and_then(|file| file.modified()) else { return };
        if fs::copy(from, to).is_err() {
            return;
        }
        fs::File::options().write(true).open(to).unwrap().set_modified(modified).unwrap();
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn cargo_learn_runs_in_a_copy() {
    if !has_compiler() {
        return;
    }
    let (course, to) = exported();
    let folder = to.path().join("students");
    build_as_here(&folder);
    let learn = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.arg("learn").args(arguments).current_dir(&folder).env_remove("CARGO_TARGET_DIR");
        Outcome::of(command.env_remove("RUSTFLAGS"))
    };
    assert!(learn(&[]).succeeds().contains("0 of 2 exercises solved"));
    learn(&["run", "copy"]).reports(&["out of bounds"]);
    fs::write(folder.join("exercises/copy/kernel.rs"), course.read("copy/solution.rs")).unwrap();
    assert!(learn(&["run", "copy"]).succeeds().contains("Solved."));
    let message = learn(&["run", "predict_offset"]).stdout;
    assert!(message.contains("questions left"), "{message}");
}
