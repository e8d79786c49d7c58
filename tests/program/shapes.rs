//! Launches that depend on the number of multiprocessors: the table says the number,
//! `--multiprocessors` changes it, and with the same number a GPU and the simulator launch the
//! same. The GPU is a T4 of the driver's, which has 40.

use serde_json::Value;

use crate::gpu::{launches, on_gpu};
use crate::{fails, host, json, output, variant};

const REDUCE: &str = "reduce --best --size 600000";

/// The grid of the best reduction on the simulator, and its counters.
fn on_simulator(flags: &str) -> (Value, Value) {
    let report = json(&format!("{REDUCE} {flags}"));
    let best = variant(&report, "best-sum-f32");
    (best["parameters"]["grid"].clone(), best["counters"].clone())
}

/// The grids that the driver was asked to launch, and the report.
fn on_driver(flags: &str) -> (Vec<String>, Value) {
    let command = || {
        let mut command = on_gpu(&format!("{REDUCE} --device gpu --once --format json {flags}"), "");
        command.env("COALESCE_DEVICE", "turing");
        command
    };
    let report = serde_json::from_slice(&command().assert().success().get_output().stdout).expect("JSON");
    let grid = |launch: String| launch.split_once("grid ").expect("a grid").1.to_owned();
    (launches(command()).into_iter().map(grid).collect(), report)
}

/// A GPU's launch and the simulator's were shaped for other numbers of multiprocessors, and nothing
/// said so.
#[test]
fn with_as_many_multiprocessors_the_simulator_launches_what_a_gpu_launches() {
    let (grids, on_gpu_alone) = on_driver("");
    assert_eq!(grids, ["[80, 1, 1]"]);
    assert_eq!(on_gpu_alone["parameters"]["multiprocessors"], 40);
    let (grid, counters) = on_simulator("--multiprocessors 40");
    assert_eq!(grid, serde_json::json!([80, 1, 1]));
    // An H200's: more blocks, other counts.
    let (own_grid, own_counters) = on_simulator("");
    assert_eq!(own_grid, serde_json::json!([147, 1, 1]));
    assert_ne!(counters, own_counters);
    // Counted beside a GPU: its shape without the flag; and the flag changes both.
    let counted = |flags: &str| variant(&on_driver(flags).1, "best-sum-f32")["counters"].clone();
    assert_eq!(counted("--counters"), counters);
    assert_eq!(counted("--counters --multiprocessors 132"), own_counters);
    assert_eq!(on_driver("--multiprocessors 132").0, ["[147, 1, 1]"]);
}

#[test]
fn reports_say_how_many_multiprocessors_launches_are_shaped_for() {
    let small = "--best --device sim --rows 64 --cols 64";
    for lab in ["transpose", "gram", "matmul"] {
        let table = output(&format!("{lab} {small}"));
        assert!(table.lines().nth(1).unwrap_or_default().contains("multiprocessors 132"), "{table}");
    }
    let text = |format: &str| output(&format!("{REDUCE} --device sim --multiprocessors 7 --format {format}"));
    assert!(text("table").contains("multiprocessors 7"), "{}", text("table"));
    assert!(text("markdown").contains("multiprocessors 7"), "{}", text("markdown"));
    assert!(text("json").contains("\"multiprocessors\": 7"), "{}", text("json"));
    let csv = text("csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "multiprocessors").expect("a column");
    assert_eq!(lines[1][column], "7");
    // A model has its own number.
    assert!(output("vector --size 64 --device sim:pascal").contains("multiprocessors 56"));
}

#[test]
fn what_is_no_number_of_multiprocessors_is_refused() {
    for number in ["0", "10001", "-1", "x"] {
        let command = host(&format!("{REDUCE} --device sim --multiprocessors {number}"));
        fails(command, 2, &["--multiprocessors", "give a whole number from 1 to 10000"]);
    }
    // A lab whose launches do not depend on it.
    fails(host("offset --multiprocessors 4"), 2, &["unexpected argument '--multiprocessors'"]);
}
