//! Tests of predicted times: where they are shown, and what is refused.

use serde_json::Value;

use crate::{fails, host, output};

fn json(arguments: &str) -> Value {
    serde_json::from_str(&output(&format!("{arguments} --format json"))).expect("JSON")
}

#[test]
fn a_model_predicts_and_the_simulator_alone_counts() {
    let small = "transpose --tiled --padded --rows 64 --cols 64";
    let report = json(&format!("{small} --device sim:hopper"));
    for variant in report["variants"].as_array().expect("variants") {
        let predicted = &variant["predicted"];
        assert!(predicted["time_ms"].as_f64().is_some_and(|time| time > 0.0), "{predicted}");
        assert!(predicted["warm_time_ms"].as_f64().is_some_and(|time| time > 0.0), "{predicted}");
        assert_eq!((&predicted["model"], &predicted["limiter"]), (&"hopper".into(), &"launch".into()));
        assert!(variant["time_ms"].is_null() && variant["gbps"].is_null(), "a prediction is no measurement: {variant}");
    }
    for arguments in ["--device sim", "--device sim:hopper --no-predict"] {
        let without = json(&format!("{small} {arguments}"));
        assert!(without["variants"][0].get("predicted").is_none(), "{arguments}");
    }
    let counters =
        |flags: &str| json(&format!("{small} --device sim:hopper {flags}"))["variants"][0]["counters"].clone();
    assert_eq!(counters(""), counters("--no-predict"));
}

#[test]
fn every_format_says_predicted() {
    let run = |format: &str| output(&format!("transpose --padded --rows 64 --device sim:ada --format {format}"));
    assert!(run("csv").lines().next().is_some_and(|head| head.contains("predicted_time_ms,predicted_warm_time_ms")));
    assert!(run("markdown").contains("predicted time"));
    let text = output("transpose --padded --rows 64 --device sim:g80");
    assert!(text.contains("counts; times are predicted\n") && text.contains("not verified"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_prediction_alone_is_of_a_gpus_size_and_says_whose() {
    let report = json("vector --device sim --predict");
    let counted = json("vector --device sim");
    assert!(report["parameters"]["size"].as_u64() > counted["parameters"]["size"].as_u64());
    let variant = &report["variants"][0];
    assert!(variant["counters"].is_null() && variant["predicted"]["model"] == "hopper", "{variant}");
    let text = output("vector --device sim --predict");
    assert!(text.contains("on the simulator: counts; times are predicted for: H200 (GH100)\n"), "{text}");
}

#[test]
fn why_explains_one_row() {
    let text = output("transpose --padded --rows 64 --device sim --why --thread-registers 64");
    for part in ["transpose_padded, predicted for H200", "Used, in percent", "Warps wait for:", "What would help:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("64 registers") || text.contains("64\nregisters"), "{text}");
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let cases = [
        (
            "--predict --output x.npy",
            "--predict: it runs a part of the blocks and computes nothing; leave out --output",
        ),
        ("--why", "--why: it explains one row; 8 would run, choose one"),
        ("--thread-registers 0", "from 1 to 255"),
        ("--thread-registers 256", "from 1 to 255"),
        ("--no-predict --why", "cannot be used with"),
    ];
    for (flags, said) in cases {
        fails(host(&format!("transpose --device sim {flags}")), 2, &[said]);
    }
}
