//! Tests of `--variant`: a class gets other numbers and names, and another class's solution does
//! not pass.

use super::*;

const SEED: &str = "7";

const VARIANTS: &str = "[values]\nfactor = [1.5, 3.5, 4.5]\nname = [\"enlarge\", \"widen\", \"stretch\"]\n\n[replace]\n\
    \"2.5\" = \"{factor}\"\n\"fn copy(\" = \"fn {name}(\"\n'kernel = \"copy\"' = 'kernel = \"{name}\"'\n";

/// A course with the exercise `copy`, which multiplies by 2.5, and these variants.
fn varied(variants: &str) -> Course {
    let course = Course::new(&["copy"]);
    for file in ["starter.rs", "solution.rs", "reference.rs", "wrong/one_too_many.rs"] {
        course.change(&format!("copy/{file}"), "= *input", "= 2.5 * *input");
    }
    course.change("copy/starter.rs", "Say what to do.", "Multiply by 2.5.");
    course.write("copy/variants.toml", variants);
    course
}

/// The folder of the varied course, which goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn of(course: &Course, seed: &str) -> Self {
        let root = root().canonicalize().unwrap();
        Self(root.join("target/learn/variants").join(seed).join(course.folder.path().file_name().unwrap()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It may not have been made.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_class_gets_its_own_numbers_and_is_marked_by_them() {
    if !has_compiler() {
        return;
    }
    let course = varied(VARIANTS);
    let folder = Folder::of(&course, SEED);
    assert!(course.learn(&["check", "--variant", SEED]).succeeds().contains("ok  copy"));
    let to = tempfile::tempdir().unwrap();
    let students = to.path().join("students");
    let made = course.learn(&["export", "--variant", SEED, students.to_str().unwrap()]).succeeds();
    for words in ["1 exercise with numbers of this variant.", "grade --variant 7", folder.0.to_str().unwrap()] {
        assert!(made.split_whitespace().collect::<String>().contains(&words.replace(' ', "")), "{made}");
    }
    // The statement has the numbers of this class, and nothing says which others there are.
    let starter = fs::read_to_string(students.join("exercises/copy/starter.rs")).unwrap();
    let factor = ["1.5", "3.5", "4.5"].into_iter().find(|it| starter.contains(&format!("Multiply by {it}.")));
    let factor = factor.unwrap_or_else(|| panic!("{starter}"));
    assert!(!starter.contains("2.5") && !starter.contains("fn copy("), "{starter}");
    assert!(!students.join("exercises/copy/variants.toml").exists());
    // Students judge by them, and so does the teacher.
    let solution = fs::read_to_string(folder.0.join("copy/solution.rs")).unwrap();
    assert!(solution.contains(&format!("= {factor} * *input")), "{solution}");
    let submissions = tempfile::tempdir().unwrap();
    for (student, text) in [("new", &solution), ("old", &course.read("copy/solution.rs"))] {
        fs::create_dir_all(submissions.path().join(student).join("copy")).unwrap();
        fs::write(submissions.path().join(student).join("copy/kernel.rs"), text).unwrap();
        fs::write(students.join("exercises/copy/kernel.rs"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(students.join("exercises")).args(["run", "copy"]).env("LEARN_JOB", JOBS);
        let code = Outcome::of(command.current_dir(env!("CARGO_MANIFEST_DIR"))).code;
        assert_eq!(code, Some(i32::from(student == "old")), "{student}");
    }
    let marks = to.path().join("marks.json");
    let [from, marks] = [submissions.path(), &marks].map(|path| path.to_str().unwrap());
    for (variant, solved) in [(&["--variant", SEED][..], "new"), (&[], "old")] {
        course.learn(&[&["grade", from, "--no-sandbox", "--json", marks], variant].concat()).succeeds();
        let all: serde_json::Value = serde_json::from_str(&fs::read_to_string(marks).unwrap()).unwrap();
        for student in all["students"].as_array().unwrap() {
            let status = student["marks"][0]["status"].as_str().unwrap();
            assert_eq!(status == "solved", student["name"] == solved, "{student}");
        }
    }
}

#[test]
fn numbers_that_do_not_matter_are_found() {
    if !has_compiler() {
        return;
    }
    let course = varied("[values]\nlines = [3, 4, 5]\n\n[replace]\n\"few lines\" = \"{lines} lines\"\n");
    let _folder = Folder::of(&course, SEED);
    course.learn(&["check", "--variant", SEED]).reports(&["the solution of another class passes"]);
}

#[test]
fn wrong_variants_are_refused() {
    let names = |names: &str| VARIANTS.replace("\"enlarge\"", names);
    for (variants, problem) in [
        ("[values]\n", "missing field `replace`"),
        (&VARIANTS.replace("3.5, ", ""), "value 'factor': give three or more"),
        (&VARIANTS.replace("3.5", "\"a\""), "all numbers or all names"),
        (&VARIANTS.replace("3.5", "1.5"), "'factor' has one choice twice"),
        (&names("\"copy\""), "value 'name': 'copy' is in "),
        (&VARIANTS.replace("\"2.5\"", "\"2.75\""), "value 'factor' is in no text that students read"),
        (&VARIANTS.replace("{factor}", "{factor * x}"), "unknown name 'x'"),
        (&format!("{VARIANTS}\"nowhere\" = \"{{factor}}\"\n"), "the text 'nowhere' is in no file"),
        (&format!("{VARIANTS}\"task\" = \"{{2}}\"\n"), "uses no value"),
        (&format!("{VARIANTS}\"[[goal]]\" = \"[[goal{{factor}}\"\n"), "goals.toml would be wrong"),
    ] {
        let course = varied(variants);
        let to = tempfile::tempdir().unwrap();
        let folder = Folder::of(&course, "1");
        let path = to.path().join("students");
        course.learn(&["export", "--variant", "1", path.to_str().unwrap()]).refuses(&["variants.toml", problem]);
        assert!(!path.exists() && !folder.0.join("copy").exists(), "{problem}");
    }
}

/// Exercises of the course in variants: their own solutions pass, and another class's do not.
/// `cargo learn check --variant SEED` looks at all of them, in minutes.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn exercises_can_be_solved_in_their_variants() {
    if !has_compiler() {
        return;
    }
    let classes: [(&str, &[&str]); 2] = [
        ("1", &["guard", "grid_stride", "reduce_banks", "constant_broadcast", "matmul_guards", "predict_stride"]),
        ("2", &["guard", "predict_stride"]),
    ];
    for (seed, names) in classes {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command
            .arg("check")
            .args(names)
            .args(["--variant", seed])
            .env("LEARN_JOB", JOBS)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        Outcome::of(&mut command).succeeds();
    }
}
