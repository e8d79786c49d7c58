//! Tests of `grade`: a class of right, wrong, broken and malicious submissions is marked by one
//! command.

use std::collections::HashMap;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::*;
use crate::overwhelming;
use crate::student::SCATTERED;

/// Keeps the judges' folders apart from those of the other tests.
pub const JUDGES: &str = "22";

/// A student's name, the submission, its expected status, and words that the report must contain.
pub type Submission = (&'static str, String, &'static str, &'static str);

/// Ordinary right and wrong submissions.
fn honest() -> Vec<Submission> {
    let one_short = RIGHT.replace("i < n", "i + 1 < n");
    let beyond = RIGHT.replace("i < n", "i <= n");
    let endless = "    let mut x = n;
    while x != 1 {
        x = x.wrapping_mul(3).wrapping_add(2) & 0xfffe;
    }
    *output = *input;";
    // `core` reads numbers in functions that are not inlined.
    let reads = RIGHT.replace("= *input.add(i)", "= \"1.0\".parse::<f32>().unwrap_or(0.0) * *input.add(i)");
    let polls = "    while input.read_volatile() < 2.0 {}\n    *output = *input;";
    vec![
        ("right", with(""), "solved", "right at 8 sizes"),
        ("scattered", kernel(SCATTERED), "goals_missed", "wrong  loads.sectors_per_request is "),
        ("one_short", kernel(&one_short), "wrong", "never written"),
        ("reads", kernel(&reads), "solved", "right at 8 sizes"),
        ("beyond", kernel(&beyond), "wrong", "memory: out of bounds"),
        ("types", kernel("    *output = 1;"), "does_not_compile", "copy/kernel.rs:7"),
        ("open", kernel("    if n > 1 {"), "does_not_compile", "unclosed delimiter"),
        ("empty", String::new(), "does_not_compile", "this file has no kernel"),
        ("no_kernel", "pub fn copy() {}\n".to_owned(), "does_not_compile", "this file has no kernel"),
        ("polls", kernel(polls), "wrong", "copy/kernel.rs:7"),
        ("endless", kernel(endless), "wrong", "a loop that never ends"),
        ("$(touch x); 'quoted' \"name\"\n<a>&amp;\u{1}", with(""), "solved", ""),
        ("-rf", with(""), "solved", ""),
        ("Zoë", with(""), "solved", ""),
    ]
}

/// Submissions that try to read the machine.
fn curious() -> Vec<Submission> {
    let plain = "const X: &str = include_str!(\"/etc/passwd\");";
    let renamed = "use core::include_bytes as quiet;\nconst X: &[u8] = quiet!(\"/etc/passwd\");";
    let passed = "macro_rules! m { ($x:ident) => { $x!(\"/etc/passwd\") } }\nconst X: &str = m!(include_str);";
    let documented = "#[doc = include_str!(\"/etc/passwd\")]\nconst X: u32 = 1;";
    let module = "#[cfg_attr(all(), path = \"/etc/passwd\")]\nmod x;";
    let in_parts =
        "macro_rules! m { ($p:ident $n:ident $e:tt) => { #[$p = \"/etc/passwd\"] mod $n $e } }\nm!(path x ;);";
    let script = format!("#!/bin/sh \"\n{}", with(plain));
    vec![
        ("file_1", with(plain), "refused", "line 3: `include_str`"),
        ("file_2", with(renamed), "refused", "line 3: `include_bytes`"),
        ("file_3", with("const X: u32 = r#include!(\"/etc/passwd\");"), "refused", "line 3: `include`"),
        ("file_4", with(passed), "refused", "line 4: `include_str`"),
        ("file_5", with(documented), "refused", "line 3: `include_str`"),
        ("file_6", with(module), "refused", "line 3: `path`"),
        ("file_7", with(in_parts), "does_not_compile", "reaches for another file"),
        ("file_8", script, "refused", "line 1: `#!` without `[`"),
        ("variable", with("const X: Option<&str> = option_env!(\"HOME\");"), "refused", "`option_env`"),
        ("assembly", with("core::arch::global_asm!(\".visible .func f {}\");"), "refused", "`global_asm`"),
    ]
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
#[expect(clippy::too_many_lines, reason = "one table, or one story")]
fn a_class_is_marked_and_each_submission_costs_its_own_mark_only() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.list(&["copy", "predict"]);
    crate::predicting::write(&course);
    // Small measured sizes are enough here.
    course.change("copy/goals.toml", "from = 60_000, to = 66_000", "from = 6_000, to = 6_600");

    let class: Vec<Submission> = [honest(), curious(), overwhelming::rejected()].concat();
    let at = |student: &str, file: &str| format!("class/{student}/{file}");
    for (student, text, ..) in &class {
        course.write(&at(student, "copy/kernel.rs"), text);
    }
    let mut expected: HashMap<&str, (&str, &str)> =
        class.iter().map(|(student, _, status, words)| (*student, (*status, *words))).collect();
    // In the folders of a clone, and with predictions.
    course.write(&at("clone", "exercises/copy/kernel.rs"), &with(""));
    course.write(&at("clone", "exercises/predict/predict.toml"), "hopper = 5\nfermi = 2\n");
    expected.insert("clone", ("solved", ""));
    // Predictions that overwhelm their reader, or whoever reads what is said of them.
    course.write(&at("dots", "predict/predict.toml"), &format!("a{} = 1\n", ".a".repeat(120_000)));
    course.write(&at("nested", "predict/predict.toml"), &format!("a = {}", "[".repeat(200_000)));
    course.write(&at("signs", "predict/predict.toml"), "\"\\u001b[2J\\r\\u009b2J\\u202e\" = 1\n");
    expected.extend(["dots", "signs"].map(|name| (name, ("missing", "no file was handed in"))));
    course.write(&at("nothing", "README.md"), "I was ill.\n");
    expected.insert("nothing", ("missing", "no file was handed in"));
    // In folders where it is not looked for.
    course.write(&at("capital", "Copy/kernel.rs"), &with(""));
    expected.insert("capital", ("missing", "there is Copy/kernel.rs, which belongs in copy/kernel.rs"));
    course.write(&at("deeper", "coalesce/exercises/copy/kernel.rs"), &with(""));
    expected
        .insert("deeper", ("missing", "there is coalesce/exercises/copy/kernel.rs, which belongs in copy/kernel.rs"));
    course.write(&at("bytes", "copy/kernel.rs"), "");
    fs::write(course.path(&at("bytes", "copy/kernel.rs")), b"// \xff\xfe\n").unwrap();
    expected.insert("bytes", ("refused", "line 1: this is not UTF-8"));
    // Links, to a file that is right.
    let right = course.path(&at("right", "copy"));
    fs::create_dir_all(course.path(&at("link_1", "copy"))).unwrap();
    symlink(right.join("kernel.rs"), course.path(&at("link_1", "copy/kernel.rs"))).unwrap();
    expected.insert("link_1", ("refused", "copy/kernel.rs is a link: hand in the file"));
    fs::create_dir_all(course.path(&at("link_2", ""))).unwrap();
    symlink(&right, course.path(&at("link_2", "copy"))).unwrap();
    expected.insert("link_2", ("refused", "is a link"));
    symlink(course.path("class/right"), course.path("class/link_3")).unwrap();
    expected.insert("link_3", ("refused", "the student's folder is a link"));
    // Something that is not a file.
    fs::create_dir_all(course.path(&at("folder", "copy/kernel.rs"))).unwrap();
    expected.insert("folder", ("refused", "copy/kernel.rs is not a file"));
    fs::create_dir_all(course.path(&at("pipe", "copy"))).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(course.path(&at("pipe", "copy/kernel.rs"))).status();
    if pipe.is_ok_and(|status| status.success()) {
        expected.insert("pipe", ("refused", "copy/kernel.rs is not a file"));
    } else {
        expected.insert("pipe", ("missing", ""));
    }
    // Entries that are not students'.
    course.write("class/.git/config", "");
    course.write("class/notes.txt", "");

    let before = tree(&course.path("class"));
    let (out, temporary) = (course.path("out"), course.path("temporary"));
    for folder in [&out, &temporary] {
        fs::create_dir(folder).unwrap();
    }
    let mut command = course.command(&["grade", "--jobs", "2", "--seed", "7", "--step-limit", "2000000"]);
    command.args(["--memory-limit", "3072", "--time-limit", "600"]).arg(course.path("class"));
    for (option, file) in [("--junit", "marks.xml"), ("--json", "marks.json"), ("--csv", "marks.csv")] {
        command.arg(option).arg(out.join(file));
    }
    // Numbers of jobs that no other test has.
    command.env("LEARN_JOB", "25").env("TMPDIR", &temporary);
    let outcome = Outcome::of(&mut command);
    let stderr = outcome.stderr.clone();
    let table = outcome.succeeds();

    // Each gets its own mark.
    let marks: Value = serde_json::from_str(&course.read("out/marks.json")).unwrap();
    assert_eq!(marks["seed"], 7);
    let students = marks["students"].as_array().unwrap();
    assert_eq!(students.len(), expected.len());
    for student in students {
        let name = student["name"].as_str().unwrap();
        let mark = &student["marks"][0];
        let (status, report) = (mark["status"].as_str().unwrap(), mark["report"].as_str().unwrap());
        let (wanted, words) = expected[name];
        let as_wanted = status == wanted && report.contains(words);
        assert!(as_wanted, "{name:?}: {mark:#}\nexpected {wanted}, with: {words}");
        assert!(!report.contains("root:") && !report.contains("/.tmp"), "{name:?}: {report}");
        for mark in student["marks"].as_array().unwrap() {
            let unseen = |c: char| c != '\n' && c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!mark["report"].as_str().unwrap().contains(unseen), "{name:?}: {mark:#}");
        }
        let predicted = match name {
            "clone" => "solved",
            "link_3" => "refused",
            "dots" | "nested" | "signs" => "unreadable",
            _ => "missing",
        };
        assert_eq!(
            (&student["marks"][1]["exercise"], &student["marks"][1]["status"]),
            (&"predict".into(), &predicted.into())
        );
    }

    // For people, and for other programs.
    assert!(stderr.contains("notes.txt is not a folder") && !stderr.contains(".git"), "{stderr}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(table.starts_with("student ") && table.contains("Zoë"), "{table}");
    assert!(
        table.ends_with(&format!("1 of {} students solved all. To repeat this: --seed 7\n", expected.len())),
        "{table}"
    );
    let csv = course.read("out/marks.csv");
    assert!(csv.starts_with("student,solved,of,copy,predict\n"), "{csv}");
    assert!(
        csv.contains("\nclone,2,2,solved,solved\n") && csv.contains("\nscattered,0,2,misses goals,missing\n"),
        "{csv}"
    );
    let junit = course.read("out/marks.xml");
    assert_eq!(junit.matches("<testsuite ").count(), expected.len());
    assert_eq!(junit.matches("<testcase ").count(), 2 * expected.len());
    assert!(!junit.contains('\u{1}') && junit.contains("&lt;a&gt;&amp;amp;"), "{junit}");

    // Nothing is left behind, and the submissions are unchanged.
    assert_eq!(tree(&course.path("class")), before);
    assert_eq!(tree(&temporary), [""; 0]);
    #[cfg(target_os = "linux")]
    assert_eq!(crate::interrupted::processes("learn/2500"), [""; 0], "processes are left behind");
}

/// The paths of everything in a folder, with the files' lengths.
fn tree(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                open.push(path.clone());
            }
            all.push(format!(
                "{} {} {:?}",
                path.display(),
                if meta.is_dir() { 0 } else { meta.len() },
                meta.modified().unwrap()
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn one_exercise_is_shown_with_reasons() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy", "other"]);
    course.write("class/anna/copy/kernel.rs", &course.read("copy/solution.rs"));
    course.write("class/ben/copy/kernel.rs", &with("const X: &str = env!(\"HOME\");"));
    course.write("class/cleo/notes.txt", "");
    // A folder is shown relative to this one.
    let mut command = course.command(&[]);
    let here = course.folder.path().strip_prefix("/").unwrap();
    let up: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).components().skip(1).map(|_| "..").collect();
    let folder = up.join(here);
    command = {
        let mut relative = Command::new(command.get_program());
        relative.arg("--course").arg(&folder).args(["grade", "--only", "copy", "--seed", "3", "--jobs", "1"]);
        relative.arg(folder.join("class")).current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", JUDGES);
        relative
    };
    let table = Outcome::of(&mut command).succeeds();
    assert_eq!(
        table,
        "anna     solved\n\
         ben      refused           not compiled: line 3: `env`: a kernel may not read the environment\n\
         cleo     missing           no file was handed in\n\
         \n\
         1 of 3 students solved all. To repeat this: --seed 3\n"
    );
}

#[test]
fn what_is_wrong_with_a_grading_is_said_before_it_begins() {
    let course = Course::new(&["copy"]);
    let class = course.path("class");
    course.learn(&["grade", &class.to_string_lossy()]).refuses(&["class: cannot be read"]);
    fs::create_dir(&class).unwrap();
    course.learn(&["grade", &class.to_string_lossy()]).refuses(&["there is no student's folder in it"]);
    course.write("class/anna/copy/kernel.rs", "");
    course.learn(&["grade", "--only", "cpoy", &class.to_string_lossy()]).refuses(&["did you mean 'copy'?"]);
    for option in ["--time-limit=0", "--memory-limit=0", "--memory-limit=x", "--jobs=0"] {
        course.learn(&["grade", option, &class.to_string_lossy()]).refuses(&["invalid value"]);
    }
    let before = tree(course.folder.path());
    for option in ["--csv", "--json", "--junit"] {
        let file = course.path("nowhere/marks");
        let outcome = course.learn(&["grade", option, &file.to_string_lossy(), &class.to_string_lossy()]);
        outcome.refuses(&["nowhere/marks: cannot be written: there is no folder"]);
    }
    assert_eq!(tree(course.folder.path()), before);
}
