//! Tests of host exercises: how a student's program is run and judged, and what a hostile one does
//! to the machine that grades it, which is nothing.

use serde_json::Value;

use super::*;

/// Numbers of jobs that no other test has.
const JOB: &str = "31";

/// A course with this exercise of the course.
fn course_of(name: &str) -> Course {
    let course = Course::new(&[]);
    course.list(&[name]);
    let folder = root().join("exercises").join(name);
    for entry in fs::read_dir(&folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let file = entry.file_name().into_string().unwrap();
        if file != "host.rs" {
            course.write(&format!("{name}/{file}"), &fs::read_to_string(entry.path()).unwrap());
        }
    }
    course
}

fn learn(course: &Course, arguments: &[&str]) -> Outcome {
    Outcome::of(course.command(arguments).env("LEARN_JOB", JOB))
}

#[test]
fn a_student_is_led_from_the_starter_to_the_solution() {
    if !has_compiler() {
        return;
    }
    let course = course_of("pitched_copies");
    let shown = learn(&course, &[]).succeeds();
    assert!(shown.contains("pitched_copies/host.rs") && shown.contains("(write the host code, "), "{shown}");
    let run = ["run", "pitched_copies", "--seed", "1"];
    let on_gpu = learn(&course, &[&run[..], &["--device", "gpu"]].concat());
    assert!(on_gpu.stderr.starts_with("note: --device: pitched_copies is host code, "), "{}", on_gpu.text());
    let report = on_gpu.reports(&["right at 7 sizes", "allocations.pitched is 0; goal: 2"]);
    assert!(report.contains("leaked_bytes is 0"), "{report}");
    // What does not compile is shown with its line.
    course.change("pitched_copies/host.rs", "let kernel = ", "let kernel: u32 = ");
    learn(&course, &run).reports(&["it does not compile", "incompatible types", "pitched_copies/host.rs:"]);
    // A function with another signature is `main.rs`'s problem, which is shown, too.
    course.write("pitched_copies/host.rs", "pub fn smooth() {}\n");
    let outcome = learn(&course, &run);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("src/main.rs"), "{}", outcome.text());
    course.write("pitched_copies/host.rs", &course.read("pitched_copies/solution.rs"));
    let solved = learn(&course, &run).succeeds();
    assert!(solved.contains("copies.pitched is 2") && solved.contains("Solved."), "{solved}");
    learn(&course, &["reset", "pitched_copies"]).succeeds();
    assert_eq!(course.read("pitched_copies/host.rs"), course.read("pitched_copies/starter.rs"));
}

/// Host code with this body, and items before it.
fn host_code(items: &str, body: &str) -> String {
    format!(
        "use std::error::Error;\n\nuse cust::prelude::*;\nuse cust::sys;\n\n{items}\n\n#[allow(unused)]\npub fn smooth(\n    \
         module: &Module,\n    image: &[f32],\n    rows: usize,\n    columns: usize,\n) -> Result<Vec<f32>, Box<dyn Error>> \
         {{\n{body}\n}}\n"
    )
}

/// Hostile host code, with the status that it gets, and words of its report.
#[expect(clippy::too_many_lines, reason = "one table")]
fn attacks(solution: &str) -> Vec<(&'static str, String, &'static str, &'static str)> {
    let body = |body: &str| host_code("", body);
    let hides = "    let image_ = image.to_vec();\n    let mut address = 0;\n    unsafe { let _ = sys::cuMemAlloc_v2(&mut address, 64); }\n";
    vec![
        // Refused by its text, with or without a macro.
        ("file", body("let _ = std::fs::write(\"results\", \"smooth 4\\nxxxx\"); todo!()"), "refused", "`fs`"),
        (
            "file_by_macro",
            host_code(
                "macro_rules! m { ($a:ident) => { std::$a::write(\"record\", \"{}\") } }",
                "let _ = m!(r#fs); todo!()",
            ),
            "refused",
            "`fs`",
        ),
        ("exits", body("std::process::exit(0)"), "refused", "`process`"),
        ("descriptor", body("use std::os::fd::FromRawFd; todo!()"), "refused", "`os`"),
        ("foreign", host_code("extern \"C\" { fn fork() -> i32; }", "todo!()"), "refused", "`extern`"),
        ("transmuted", body("unsafe { std::mem::transmute::<usize, fn()>(8)() }; todo!()"), "refused", "`transmute`"),
        ("included", host_code("const X: &str = include_str!(\"../record\");", "todo!()"), "refused", "`include_str`"),
        ("linked", host_code("#[link(name = \"x\")]\nunsafe extern {}", "todo!()"), "refused", "link"),
        // Files, through the driver.
        (
            "reads",
            body("println!(\"{:?}\", Module::from_file(\"/etc/passwd\").map(|_| ())); Err(\"read\".into())"),
            "wrong",
            "Err(FileNotFound)",
        ),
        (
            "reads_key",
            body("println!(\"{:?}\", Module::from_file(\"record\").map(|_| ())); Err(\"read\".into())"),
            "wrong",
            "read",
        ),
        // What a program may take.
        (
            "memory",
            body("let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 28]); }"),
            "wrong",
            "your program ended",
        ),
        (
            "threads",
            body("let park = || loop { std::thread::park() };\nloop { std::thread::spawn(park); }"),
            "wrong",
            // It panics, or a thread that has no room for its second stack aborts.
            "your program ",
        ),
        (
            "deep",
            host_code(
                "fn f(n: u64) -> u64 { if n == 1 { 0 } else { 1 + f(n + 2) } }",
                "println!(\"{}\", f(2)); todo!()",
            ),
            "wrong",
            "accessed memory that it does not have",
        ),
        (
            "null",
            body("unsafe { (8 as *mut u8).write_volatile(1) }; todo!()"),
            "wrong",
            "accessed memory that it does not have",
        ),
        ("prints", body("loop { println!(\"{}\", \"x\".repeat(1 << 20)); }"), "timed_out", "took more than"),
        // Marks.
        ("nothing", body("Ok(vec![0.0; rows * columns])"), "wrong", "should be"),
        ("short", body("Ok(image[1..].to_vec())"), "wrong", "the length of smooth"),
        (
            "on_the_host",
            body(
                "let at = |row: usize, column: usize| image[row * columns + column];\nlet mean = |row, column: usize| (at(row, \
                 column.max(1) - 1) + at(row, column) + at(row, (column + 1).min(columns - 1))) / 3.0;\n\
                 Ok((0..rows * columns).map(|i| mean(i / columns, i % columns)).collect())",
            ),
            "goals_missed",
            "kernel.launches of smooth is 0",
        ),
        (
            "unloads",
            body("unsafe { drop(std::ptr::read(sys::culib())) }; let _ = sys::load(); Ok(vec![0.0; rows * columns])"),
            "wrong",
            "",
        ),
        // A context that is reset takes what was leaked with it: it counts as leaked.
        (
            "resets",
            solution
                .replacen(
                    "    Ok(result)",
                    "    unsafe { let _ = sys::cuDevicePrimaryCtxReset_v2(0); }\n    Ok(result)",
                    1,
                )
                .replacen("    let input = Image::new", &format!("{hides}    let input = Image::new"), 1),
            "goals_missed",
            "wrong  leaked_bytes is ",
        ),
    ]
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn a_hostile_program_costs_its_own_mark_alone() {
    if !has_compiler() {
        return;
    }
    let course = course_of("pitched_copies");
    let solution = course.read("pitched_copies/solution.rs");
    course.write("class/anna/pitched_copies/host.rs", &solution);
    let attacks = attacks(&solution);
    for (name, text, expected, _) in &attacks {
        // What never ends takes all of its time, so it is given little.
        let class = if *expected == "timed_out" { "endless" } else { "class" };
        course.write(&format!("{class}/{name}/pitched_copies/host.rs"), text);
    }
    let out = course.path("marks.json");
    let mut students = Vec::new();
    for (class, limit) in [("class", "60"), ("endless", "5")] {
        let mut command = course.command(&["grade", "--jobs", "2", "--seed", "7", "--time-limit", limit]);
        command.arg("--json").arg(&out).arg(course.path(class)).env("LEARN_JOB", JOB).env("SECRET", "s3cret");
        Outcome::of(&mut command).succeeds();
        let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        students.extend(marks["students"].as_array().unwrap().clone());
    }
    let of = |name: &str| {
        let student = students.iter().find(|student| student["name"] == name).unwrap();
        ["status", "report"].map(|key| student["marks"][0][key].as_str().unwrap().to_owned())
    };
    let [status, report] = of("anna");
    assert_eq!(status, "solved", "{report}");
    let mut failures = Vec::new();
    for (name, _, expected, words) in attacks {
        let [status, report] = of(name);
        let leaks = ["root:", "s3cret", "\"key\""].iter().any(|secret| report.contains(secret));
        if status != expected || !report.contains(words) || leaks {
            failures.push(format!("{name}: {status}\n{report}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn without_a_sandbox_no_host_code_is_graded() {
    if !has_compiler() {
        return;
    }
    let course = course_of("pitched_copies");
    course.write("class/anna/pitched_copies/host.rs", "pub fn smooth() {}\n");
    let class = course.path("class").display().to_string();
    let message = learn(&course, &["grade", "--no-sandbox", &class])
        .refuses(&["pitched_copies: host code is graded in the sandbox"]);
    assert_eq!(message.lines().count(), 1, "{message}");
    // Others are.
    for (file, text) in COPY {
        course.write(&format!("copy/{file}"), text);
    }
    course.list(&["copy", "pitched_copies"]);
    course.write("class/anna/copy/kernel.rs", &kernel(RIGHT));
    let outcome = learn(&course, &["grade", "--no-sandbox", "--seed", "7", &class]);
    assert!(outcome.stderr.contains("note: pitched_copies are not marked"), "{}", outcome.text());
    assert!(outcome.succeeds().contains("anna     solved"));
}

#[test]
fn a_copy_for_students_has_kernels_and_no_solution() {
    if !has_compiler() {
        return;
    }
    let course = course_of("pitched_copies");
    let to = tempfile::tempdir().unwrap();
    let folder = to.path().join("students");
    learn(&course, &["export", folder.to_str().unwrap()]).succeeds();
    let exercise = folder.join("exercises/pitched_copies");
    let mut files: Vec<_> = fs::read_dir(&exercise).unwrap().flatten().map(|entry| entry.file_name()).collect();
    files.sort();
    let expected = ["given.ptx", "given.rs", "goals.toml", "hints.md", "main.rs", "reference.ptx", "starter.rs"];
    assert_eq!(files, expected);
    for needed in ["crates/driver/src/lib.rs", "crates/cust_raw/src/lib.rs", "crates/learn/src/host/Cargo.lock"] {
        assert!(folder.join(needed).is_file(), "{needed}");
    }
    fs::write(exercise.join("host.rs"), course.read("pitched_copies/solution.rs")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(folder.join("exercises")).args(arguments).env("LEARN_JOB", JOB);
        Outcome::of(command.current_dir(env!("CARGO_MANIFEST_DIR")))
    };
    let solved = run(&["run", "pitched_copies"]).succeeds();
    assert!(solved.contains("Solved.") && !solved.contains("cargo learn solution"), "{solved}");
    run(&["solution", "pitched_copies"]).refuses(&["has no solutions"]);
}
