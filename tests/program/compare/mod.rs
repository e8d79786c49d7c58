//! Tests of `host compare`: two reports, and the verdicts on their times.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{fails, host};

/// A series of samples around a median, with the quartiles at this relative distance on either
/// side.
fn series(time_ms: f64, spread: f64, cache: &str) -> Value {
    json!({
        "time_ms": time_ms,
        "time_lower_quartile_ms": time_ms * (1.0 - spread),
        "time_upper_quartile_ms": time_ms * (1.0 + spread),
        "samples": 11,
        "launches_per_sample": 1,
        "cache": cache,
        "steady": true,
        "throttled_by": null,
    })
}

/// A variant with one series of times and data that exceeds the cache.
fn variant(name: &str, time_ms: f64, spread: f64) -> Value {
    json!({"name": name, "correct": true, "timing": series(time_ms, spread, "exceeded"), "warm_timing": null})
}

fn report(lab: &str, rows: u32, variants: &[Value]) -> Value {
    json!({
        "lab": lab,
        "device": {"name": "NVIDIA H200", "driver": "580.95.05"},
        "parameters": {"rows": rows, "pitched": false, "seed": 1},
        "variants": variants,
    })
}

/// A folder with two files: `before.json` and `after.json`.
fn files(before: &str, after: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("before.json", before), ("after.json", after)] {
        std::fs::write(folder.path().join(name), text).expect("the file is written");
    }
    folder
}

fn compare(folder: &Path, more: &str) -> assert_cmd::Command {
    let mut command = host(&format!("compare before.json after.json {more}"));
    command.current_dir(folder);
    command
}

fn compared(before: &Value, after: &Value, more: &str) -> String {
    let folder = files(&before.to_string(), &after.to_string());
    let run = compare(folder.path(), more).assert().success();
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

fn refused(before: &str, after: &str, parts: &[&str]) {
    fails(compare(files(before, after).path(), ""), 2, parts);
}

/// Two runs with one example of each verdict.
fn runs() -> [Value; 2] {
    let cold_and_warm = |cold: f64, warm: f64| {
        json!({
            "name": "small",
            "correct": true,
            "timing": series(cold, 0.001, "flushed"),
            "warm_timing": series(warm, 0.001, "warm"),
        })
    };
    let wrong = json!({"name": "broken", "correct": false, "timing": series(1.0, 0.001, "exceeded")});
    let before = [
        variant("quick", 2.0, 0.001),
        variant("slow", 1.0, 0.001),
        variant("steady", 1.0, 0.001),
        variant("noisy", 1.0, 0.1),
        cold_and_warm(0.01, 0.004),
        variant("broken", 1.0, 0.001),
        variant("old", 1.0, 0.001),
    ];
    let after = [
        variant("quick", 1.0, 0.001),
        variant("slow", 1.03, 0.001),
        variant("steady", 1.005, 0.001),
        variant("noisy", 1.05, 0.1),
        cold_and_warm(0.01, 0.002),
        wrong,
        variant("new", 1.0, 0.001),
    ];
    [report("transpose", 1000, &before), report("transpose", 1000, &after)]
}

const TABLE: &str = "\
before: before.json on NVIDIA H200, driver 580.95.05
after: after.json on NVIDIA H200, driver 580.95.05

transpose: rows 1000, pitched no, seed 1

 variant  cache  before   after    after / before  +- %  after is
 quick    cold   2.00 ms  1.00 ms  0.500           0.2   faster
 slow     cold   1.00 ms  1.03 ms  1.030           0.2   slower
 steady   cold   1.00 ms  1.00 ms  1.005           0.2   same
 noisy    cold   1.00 ms  1.05 ms  1.050           15.5  can't tell
 small    cold   10.0 us  10.0 us  1.000           0.2   same
 small    warm   4.00 us  2.00 us  0.500           0.2   faster

2 faster, 1 slower, 2 same, 1 can't tell.

Not compared:
- broken: wrong after
- old: only before
- new: only after
";

#[test]
fn every_word_has_its_rule() {
    let [before, after] = runs();
    assert_eq!(compared(&before, &after, ""), TABLE);
}

#[test]
fn every_format_has_the_comparison() {
    let [before, after] = runs();
    let json: Value = serde_json::from_str(&compared(&before, &after, "--format json")).expect("JSON");
    let lab = &json["labs"][0];
    assert_eq!(lab["parameters"]["rows"], 1000);
    let noisy = &lab["variants"][3];
    assert_eq!(
        (&noisy["name"], &noisy["verdict"], &noisy["cache"]),
        (&json!("noisy"), &json!("can't tell"), &json!("cold"))
    );
    assert_eq!((&noisy["before_ms"], &noisy["ratio"]), (&json!(1.0), &json!(1.05)));
    assert!(noisy["uncertainty_percent"].as_f64().is_some_and(|percent| (percent - 15.5).abs() < 0.1), "{noisy}");
    assert_eq!(lab["not_compared"][0], "broken: wrong after");

    let csv = compared(&before, &after, "--format csv");
    assert!(
        csv.starts_with("lab,parameters,name,cache,before_ms,after_ms,ratio,uncertainty_percent,verdict\n"),
        "{csv}"
    );
    assert!(csv.contains("\ntranspose,\"rows 1000, pitched no, seed 1\",quick,cold,2,1,0.5,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 6);

    let markdown = compared(&before, &after, "--format markdown");
    assert!(markdown.contains("\n| quick | cold | 2.00 ms | 1.00 ms | 0.500 | 0.2 | faster |\n"), "{markdown}");
}

#[test]
fn what_makes_a_time_doubtful_is_said() {
    let [before, mut after] = runs();
    after["variants"][0]["timing"]["throttled_by"] = "power".into();
    after["variants"][4]["warm_timing"]["steady"] = false.into();
    let table = compared(&before, &after, "");
    let doubts = "\nDoubtful:\n- quick, cold: throttled after (power)\n- small, warm: not steady after\n";
    assert!(table.ends_with(doubts), "{table}");
}

#[test]
fn cold_times_are_not_compared_with_warm_ones() {
    let warm = json!({"name": "short", "correct": true, "timing": series(0.004, 0.001, "warm")});
    let cold = json!({"name": "short", "correct": true, "timing": series(0.009, 0.001, "flushed")});
    let table = compared(&report("reduce", 1, &[warm]), &report("reduce", 1, &[cold]), "");
    assert!(table.contains("- short: cold in one run, warm in the other\n") && !table.contains("slower"), "{table}");
}

#[test]
fn files_may_hold_several_reports() {
    let lab = |name, rows, time| report(name, rows, &[variant("naive", time, 0.001)]);
    let list = json!([lab("transpose", 1000, 1.0), lab("reduce", 1, 1.0), lab("transpose", 2000, 4.0)]);
    // Several reports in one file, in another order.
    let lines = format!("{}\n{}\n", lab("transpose", 2000, 2.0), lab("transpose", 1000, 1.0));
    let folder = files(&list.to_string(), &lines);
    let run = compare(folder.path(), "").assert().success();
    let table = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let second = table.find("transpose: rows 2000, pitched no, seed 1").expect("the second lab");
    let (first, second) = table.split_at(second);
    assert!(first.contains(" same") && second.contains(" faster"), "{table}");
    assert!(table.ends_with("\nNot compared:\n- only before: reduce: rows 1, pitched no, seed 1\n"), "{table}");
}

#[test]
fn other_labs_and_parameters_are_refused_by_name() {
    let naive = [variant("naive", 1.0, 0.001)];
    let transpose = report("transpose", 1000, &naive).to_string();
    let reduce = report("reduce", 1000, &naive).to_string();
    refused(&transpose, &reduce, &["after.json: cannot be compared with before.json", "reduce", "transpose"]);
    let larger = report("transpose", 2000, &naive).to_string();
    refused(&transpose, &larger, &["its parameter rows is 2000, the other one's 1000"]);
    let mut checked = report("transpose", 1000, &naive);
    checked["parameters"]["block"] = json!([32, 8]);
    refused(&transpose, &checked.to_string(), &["its parameter block is 32 x 8, the other one's not given"]);
}

#[test]
fn files_that_are_no_reports_are_one_line() {
    let good = report("transpose", 1000, &[variant("naive", 1.0, 0.001)]).to_string();
    refused("", &good, &["before.json", "holds no report"]);
    refused("{", &good, &["before.json: is not JSON"]);
    refused(&good, "[1]", &["after.json: is not a lab's report"]);
    refused(&good, "{\"lab\": \"transpose\"}", &["after.json: is not a lab's report", "missing field `device`"]);
    refused(&"[".repeat(100_000), &good, &["before.json: is not JSON"]);
    refused(&good, "{\"device\": {}, \"labs\": []}", &["after.json: is a report of `host course`"]);
    for (field, value) in [("time_ms", json!(0.0)), ("time_upper_quartile_ms", json!(0.5)), ("samples", json!(0))] {
        let mut bad = report("transpose", 1000, &[variant("a\nb", 1.0, 0.001)]);
        bad["variants"][0]["timing"][field] = value;
        refused(&bad.to_string(), &good, &["before.json: variant a\\nb: ", "cannot be the median"]);
    }
    let mut untimed = report("transpose", 1000, &[variant("naive", 1.0, 0.001)]);
    untimed["variants"][0]["timing"] = Value::Null;
    refused(&good, &untimed.to_string(), &["after.json: has no times"]);
    fails(host("compare nowhere.json nowhere.json"), 2, &["nowhere.json: cannot be read: No such file"]);
    fails(host("compare . ."), 2, &[".: is not JSON: it is a folder"]);
    fails(host("compare one.json"), 2, &["AFTER.json"]);
    fails(host("compare a b --device sim"), 2, &["unexpected argument '--device'"]);
    fails(host("compare a b --ptx c"), 2, &["unexpected argument '--ptx'"]);
}

#[cfg(unix)]
#[test]
fn reports_come_from_pipes_too() {
    let [before, after] = runs();
    let folder = files(&before.to_string(), &after.to_string());
    let piped = |text: &str| {
        let mut command = host("compare /dev/stdin after.json");
        command.current_dir(&folder).write_stdin(text);
        command
    };
    let run = piped(&before.to_string()).assert().success();
    assert_eq!(String::from_utf8_lossy(&run.get_output().stdout), TABLE.replace("before.json", "/dev/stdin"));
    fails(piped("\0"), 2, &["/dev/stdin: is not JSON: it contains a zero byte"]);
}

#[test]
fn a_lab_s_own_report_can_be_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = host("transpose --padded --rows 40 --cols 40 --device sim --format json").assert().success();
    let text = &run.get_output().stdout;
    for name in ["before.json", "after.json"] {
        std::fs::write(folder.path().join(name), text).expect("the file is written");
    }
    // It lacks only times.
    fails(compare(folder.path(), ""), 2, &["before.json: has no times: it is a report of simulator"]);
}

#[test]
fn the_rule_is_in_the_help() {
    let help = crate::output("compare --help");
    for part in ["can't tell", "uncertain by more than 1 %, and by more than its distance from 1\n", "exit code is 0"] {
        assert!(help.contains(part), "{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn a_page_says_each_verdict_in_words_and_colour() {
    let [before, after] = runs();
    let folder = files(&before.to_string(), &after.to_string());
    let (with, without) = (compare(folder.path(), "--report c.html").assert(), compare(folder.path(), "").assert());
    assert_eq!(with.success().get_output().stdout, without.success().get_output().stdout);
    let page = crate::report::Page::read(&folder.path().join("c.html"));
    page.check();
    for (class, words) in [("faster", "faster"), ("slower", "slower"), ("same", "same"), ("unsure", "can't tell")] {
        let found = page.texts(&format!("td.{class}"));
        assert!(!found.is_empty() && found.iter().all(|text| text == words), "{class}: {found:?}");
    }
    assert_eq!(page.all(".plots svg").len(), 1);
    assert!(page.texts("li").iter().any(|text| text.starts_with("broken: ")), "{:?}", page.texts("li"));
    fails(compare(folder.path(), "--report ./before.json"), 2, &["--report", "one of the files to compare"]);
    fails(compare(folder.path(), "--report no/c.html"), 2, &["no/c.html", "there is no folder"]);
}
