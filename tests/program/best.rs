//! `host LAB --best`: the kernels whose blocks wait for each other.

use serde_json::Value;

use crate::host;

/// Sizes at which the blocks of a kernel meet: several blocks for a vector, for a row and for a
/// column, and tiles that blocks share.
const RUNS: [&str; 9] = [
    "reduce --best --size 100000 --operation sum,min --type f32,i32",
    "reduce --best --size 1000",
    "dot --best --size 100000",
    "rows --best --rows 3 --cols 20000",
    "rows --best --rows 700 --cols 100",
    "vector --best --size 10003",
    "transpose --best --rows 130 --cols 70",
    "matmul --best --rows 200 --cols 300 --inner 700",
    "gram --best --rows 300 --cols 700",
];

#[test]
fn all_checks_are_silent() {
    for run in RUNS {
        let command = format!("{run} --check all,strict --device sim --format json");
        let text = host(&command).assert().success();
        assert_eq!(String::from_utf8_lossy(&text.get_output().stderr), "", "{command}");
        let report: Value = serde_json::from_slice(&text.get_output().stdout).expect("JSON");
        for variant in report["variants"].as_array().expect("a list") {
            assert_eq!(variant["faults"], serde_json::json!([]), "{command}: {variant}");
            assert!(variant["kernels"][0].as_str().is_some(), "{command}: {variant}");
        }
    }
}
