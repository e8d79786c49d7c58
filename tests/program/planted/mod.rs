//! Tests of the sanitizer with the suite of planted bugs in `tests/planted`: each bug is found
//! where it is marked, and nothing else is reported, also not in the corrected twins.

mod table;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use suite::Case;

use crate::host;

#[path = "../../planted/suite.rs"]
mod suite;

/// The root of the workspace, relative to the folder in which the tests of `host` run.
const ROOT: &str = "..";

/// A fault that the program reports, with the lines that it blames.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    kind: String,
    message: String,
    /// Files and lines: of the access that was noticed, and of the other one.
    places: Vec<(String, u32)>,
}

fn cases() -> Vec<Case> {
    suite::cases(Path::new(ROOT)).expect("the suite is read")
}

/// The program's faults for each kernel, on one thread of the host.
static ON_ONE: LazyLock<Vec<Vec<Said>>> = LazyLock::new(|| cases().iter().map(|case| said_of(case, 1)).collect());

/// The program's faults for a kernel, with this many threads of the host.
fn said_of(case: &Case, threads: u32) -> Vec<Said> {
    let mut command = host("");
    command.current_dir(ROOT).env("RAYON_NUM_THREADS", threads.to_string());
    // `strict`, too: some of the suite is legal according to the manual.
    command.args(case.command()).args([
        "--check",
        "all,strict",
        "--device",
        "sim",
        "--format",
        "json",
        "--step-limit",
        "1000000",
    ]);
    let output = command.output().expect("the program runs");
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {}", case.kernel, String::from_utf8_lossy(&output.stderr)));
    let faults = found["faults"].as_array().expect("faults are a list");
    assert_eq!(output.status.code(), Some(i32::from(!faults.is_empty())), "{}", case.kernel);
    faults.iter().map(said).collect()
}

/// A fault of the JSON.
fn said(fault: &Value) -> Said {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let place = |party: &Value| (text(&party["file"]), party["line"].as_u64().expect("a line") as u32);
    // A fault that stopped the kernel comes from no check. All of these are threads that wait
    // forever.
    let kind = fault["check"].as_str().unwrap_or_else(|| match fault["kind"].as_str() {
        Some(
            "barrier_divergence"
            | "barrier_never_reached"
            | "warp_never_converges"
            | "phase_never_complete"
            | "endless_loop",
        ) => "sync",
        _ => "other",
    });
    let parties = std::iter::once(fault).chain(Some(&fault["other"]).filter(|other| !other.is_null()));
    Said { kind: kind.to_owned(), message: text(&fault["message"]), places: parties.map(place).collect() }
}

/// How the program's report on a kernel differs from its marks.
fn complaints(case: &Case, said: &[Said]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut blamed = BTreeSet::new();
    for Said { kind, message, places } in said {
        // Ignore the names of kernel and instruction.
        let what = message.split_once("`: ").map_or(message.as_str(), |(_, what)| what);
        let what = what.split_once("; thread").map_or(what, |(what, _)| what);
        for (file, line) in places {
            let mark = case
                .marks
                .iter()
                .find(|mark| (file, line, kind) == (&case.file, &mark.line, &mark.kind) && what.contains(&mark.words));
            match mark {
                Some(mark) => _ = blamed.insert(mark.line),
                None => wrong.push(format!("{}: {file}:{line} is not marked {kind}: {message}", case.kernel)),
            }
        }
    }
    let missed = case.marks.iter().filter(|mark| !blamed.contains(&mark.line));
    wrong.extend(
        missed.map(|mark| {
            format!("{}: not found: {}:{}: {}: {}", case.kernel, case.file, mark.line, mark.kind, mark.words)
        }),
    );
    wrong
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn each_planted_bug_is_found_and_nothing_else() {
    let wrong: Vec<String> =
        cases().iter().zip(ON_ONE.iter()).flat_map(|(case, said)| complaints(case, said)).collect();
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn findings_do_not_depend_on_the_number_of_threads() {
    for (case, said) in cases().iter().zip(ON_ONE.iter()) {
        assert_eq!(*said, said_of(case, 4), "{}", case.kernel);
    }
}

#[test]
fn each_bug_has_a_twin_and_each_twin_a_bug() {
    let cases = cases();
    let planted: BTreeSet<String> = cases.iter().filter(|case| case.is_planted()).map(Case::twin).collect();
    let clean: BTreeSet<String> =
        cases.iter().filter(|case| !case.is_planted()).map(|case| case.kernel.clone()).collect();
    let (twins, others): (BTreeSet<_>, BTreeSet<_>) = clean.into_iter().partition(|name| name.ends_with("_fixed"));
    assert_eq!(planted, twins);
    assert!(others.iter().all(|name| name.starts_with("clean_")), "neither twin nor clean: {others:?}");
    assert!(planted.len() >= 44, "only {} planted bugs: the comments are not read right", planted.len());
    // Each kind is there, and each kernel of the PTX has its run line.
    for kind in ["memory", "init", "race", "sync", "undefined"] {
        assert!(cases.iter().filter(|case| case.marks.iter().any(|mark| mark.kind == kind)).count() > 5, "{kind}");
    }
    let files: BTreeSet<&str> = cases.iter().map(|case| case.ptx.as_str()).collect();
    for file in files {
        let text = std::fs::read_to_string(Path::new(ROOT).join(file)).expect("the PTX is read");
        let entries = text.matches(".entry ").count();
        assert_eq!(entries, cases.iter().filter(|case| case.ptx == file).count(), "{file}");
    }
}
