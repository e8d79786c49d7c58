//! Tests of the kernels that predicted times are held to, `measurements/kernels`: each runs clean
//! in the simulator, and a GPU measures them on the data that `host run` gives them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toml::Table;

use crate::{host, output};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../measurements/kernels");

/// The kernels of the manifest.
fn kernels() -> Vec<Table> {
    let text = fs::read_to_string(Path::new(FOLDER).join("kernels.toml")).expect("the manifest");
    let manifest: Table = text.parse().expect("it is TOML");
    let kernels = manifest["kernel"].as_array().expect("it lists kernels");
    kernels.iter().map(|kernel| kernel.as_table().expect("each is a table").clone()).collect()
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {table}"))
}

/// A command line that runs a kernel of the folder.
fn run(kernel: &str, arguments: &str) -> String {
    format!("run {FOLDER}/kernels.sm_90.ptx {kernel} {arguments} --device sim")
}

/// Kernels whose loads an H200 counts otherwise: each is said to have a loop that `ptxas` unrolls,
/// which lanes of a warp leave after different numbers of iterations.
const UNROLLED: [&str; 4] = ["argmax", "gemv_rows", "spmv_threads", "layer_norm"];

/// Metrics of constants: a kernel loads its parameters as constants, too, as often as the assembler
/// likes.
const NOT_COMPARED: [&str; 2] = ["smsp__inst_executed_op_ldc.sum", "idc__requests.sum"];

/// The kernels run clean under all checks, and count what an H200 counted (`cargo xtask count
/// --file tests/tests/data/h200_kernels.json`): 28 metrics of each.
#[test]
fn kernels_run_clean_and_count_what_an_h200_counts() {
    let counted: Value = serde_json::from_str(include_str!("../tests/data/h200_kernels.json")).expect("the counts");
    let metrics: Vec<&str> = counted["metrics"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let runs = counted["runs"].as_array().unwrap();
    let kernels = kernels();
    assert_eq!((runs.len(), metrics.len()), (kernels.len(), 30));
    for (kernel, counted) in kernels.iter().zip(runs) {
        let (name, arguments) = (text(kernel, "name"), text(kernel, "check"));
        let words = format!("run measurements/kernels/kernels.sm_90.ptx {name} {arguments}");
        assert!(counted["run"].as_str().unwrap().split_whitespace().eq(words.split_whitespace()), "{name}: count anew");
        let run = host(&run(name, arguments)).args(["--check", "all", "--no-predict", "--format", "json"]).assert();
        let output = run.success().get_output().clone();
        let simulated: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let expected = counted["launches"][0]["counts"].as_array().unwrap();
        assert_eq!(expected.len(), metrics.len(), "{name}");
        let differ: Vec<String> = metrics
            .iter()
            .zip(expected)
            .filter(|(metric, _)| !NOT_COMPARED.contains(metric))
            .filter_map(|(metric, expected)| {
                // The profiler has wavefronts of instructions by a name of their own.
                let found = simulated["counters"].get(metric.replace("smsp__sass_l1tex_", "l1tex__"));
                let found = found.unwrap_or_else(|| panic!("the simulator does not count {metric}"));
                // The profiler shows 0 where nothing was counted.
                let (found, expected) = (found.as_f64().unwrap_or(0.0), expected.as_f64().unwrap());
                // It rounds ratios to two digits.
                let tolerance = if metric.ends_with(".sum") { 0.0 } else { 0.005 + 1e-9 };
                ((found - expected).abs() > tolerance).then(|| format!("{metric}: {found}, on the GPU {expected}"))
            })
            .collect();
        let said = String::from_utf8_lossy(&output.stderr);
        match UNROLLED.contains(&name) {
            true => assert!(!differ.is_empty() && said.contains("ptxas unrolls it by four"), "{name}: {said}"),
            false => assert!(differ.is_empty(), "{name}: {}", differ.join("; ")),
        }
    }
}

#[test]
fn there_are_enough_kernels_and_launches_of_all_sizes() {
    let kernels = kernels();
    let launches: Vec<(String, &Table)> = kernels
        .iter()
        .flat_map(|kernel| {
            let launches = kernel["launch"].as_array().expect("a kernel has launches");
            launches.iter().filter_map(toml::Value::as_table).map(|one| (text(kernel, "name").to_owned(), one))
        })
        .collect();
    let names: HashSet<String> =
        launches.iter().map(|(kernel, one)| format!("{kernel} {}", text(one, "size"))).collect();
    assert_eq!(names.len(), launches.len(), "two launches have the same name");
    assert!(kernels.len() >= 40, "{} kernels", kernels.len());
    for size in ["2^10", "2^28"] {
        assert!(launches.iter().any(|(_, one)| text(one, "size") == size), "no launch of {size} elements");
    }
    // What a launch needs, and nothing that a GPU's measuring program does not read.
    for (kernel, one) in &launches {
        let options: Vec<&str> = text(one, "run").split_whitespace().filter(|word| word.starts_with("--")).collect();
        assert!(options.starts_with(&["--grid", "--block"]), "{kernel}: {options:?}");
        assert!(options[2..].iter().all(|option| ["--shared", "--set"].contains(option)), "{kernel}: {options:?}");
    }
}

/// The errors in TIME.md are of these predictions: who changes what they come from sees here that the
/// errors are others now. Launches of at most 50 us are predicted in a second.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn recorded_predictions_are_those_of_today() {
    let recorded = fs::read_to_string(Path::new(FOLDER).join("../time.json")).expect("the predictions");
    let recorded: Value = serde_json::from_str(&recorded).expect("JSON");
    let recorded = recorded["held_out"]["hopper"].as_array().expect("a row for each launch");
    let (mut compared, mut differ) = (0, Vec::new());
    for kernel in kernels() {
        let launches = kernel["launch"].as_array().expect("a kernel has launches").iter();
        let time = |launch: &Table| {
            let name = format!("{} {}", text(&kernel, "name"), text(launch, "size"));
            let row = recorded.iter().find(|row| row["name"] == *name).unwrap_or_else(|| panic!("no row {name}"));
            row["time_ms"].as_f64().unwrap_or_else(|| panic!("{name} has no time"))
        };
        let timed = launches.filter_map(toml::Value::as_table).map(|launch| (time(launch), launch));
        let (before, launch) = timed.min_by(|(one, _), (other, _)| one.total_cmp(other)).expect("a launch");
        if before > 0.05 {
            continue;
        }
        let name = text(&kernel, "name");
        let command = format!("run {FOLDER}/kernels.sm_90.ptx {name} {}", text(launch, "run"));
        let run: Value =
            serde_json::from_str(&output(&format!("{command} --device sim:hopper --predict --format json"))).unwrap();
        let now = run["predicted"]["time_ms"].as_f64().unwrap_or_else(|| panic!("{name} has no time: {run}"));
        compared += 1;
        if (now / before - 1.0).abs() > 1e-9 {
            differ.push(format!("{name} {}: {before} ms recorded, {now} ms now", text(launch, "size")));
        }
    }
    assert!(compared >= 40, "only {compared} kernels");
    assert!(
        differ.is_empty(),
        "predict anew with `cargo xtask time --run`, and see what it does to the errors in docs/TIME.md:\n{}",
        differ.join("\n")
    );
}

#[test]
fn the_measured_data_is_that_of_host_run() {
    for ty in ["u8", "u32", "f32", "f64"] {
        for (filled, more, contents) in [("ramp", "", "ramp"), ("random", "u64:77", "rand:77")] {
            let kernel = format!("fill_{filled}_{ty}");
            let values = |buffer: &str, count: &str| {
                let arguments = format!("--grid 3 --block 64 {buffer} u64:{count} {more} --print 0");
                let text = output(&run(&kernel, &arguments));
                let (_, values) = text.split_once("\n  0: ").unwrap_or_else(|| panic!("no values: {text}"));
                values.lines().map(str::to_owned).take(60).collect::<Vec<_>>()
            };
            let by_kernel = values(&format!("{ty}[300]"), "300");
            assert_eq!(by_kernel, values(&format!("{ty}[300]={contents}"), "0"), "{kernel}");
            assert_ne!(by_kernel, values(&format!("{ty}[300]"), "0"), "{kernel} fills nothing");
        }
    }
}
