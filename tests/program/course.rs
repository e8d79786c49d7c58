//! Tests of `host course`, which a lecturer runs on each machine before a class.

use serde_json::Value;

use crate::{host, output};

/// Every lab, `devices` first.
fn labs() -> Vec<String> {
    let list: Value = serde_json::from_str(&output("list --format json")).expect("JSON");
    list.as_array().expect("a list").iter().map(|lab| lab["lab"].as_str().expect("a name").to_owned()).collect()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn every_lab_is_a_line_and_right() {
    let labs = labs();
    assert_eq!(labs.len(), 28);
    let text = output("course --device sim --check all");
    let lines: Vec<&str> = text.lines().collect();
    for (line, lab) in lines[1..].iter().zip(&labs) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((cells[0], cells[2]), (lab.as_str(), "right"), "{text}");
    }
    assert_eq!(lines.last(), Some(&"28 of 28 labs are right on the simulator."));
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn what_is_wrong_is_named_and_the_rest_runs() {
    // Changed PTX of the kernels: a transpose that only copies, and a lab without its kernels.
    let text = kernels::PTX[0].text.replace("transpose_padded", "elsewhere");
    let text = text.replace("transpose_copy", "transpose_padded").replace("vector_copy16", "vector_copy32");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.ptx");
    std::fs::write(&file, text).expect("the file is written");
    let best = "../kernels/best/ptx/best_kernels.sm_90.ptx";
    let files = format!("--ptx {} --ptx {best}", file.display());
    let report = json_of(&format!("course --device sim --seed 7 --format json {files}"), 1);
    assert_eq!((&report["correct"], &report["seed"]), (&false.into(), &7.into()));
    for lab in report["labs"].as_array().expect("a list") {
        let name = lab["lab"].as_str().expect("a name");
        match name {
            "transpose" | "vector" => assert_eq!(lab["correct"], false, "{lab}"),
            _ => assert_eq!((&lab["correct"], &lab["error"]), (&true.into(), &Value::Null), "{lab}"),
        }
        if name == "vector" {
            assert!(lab["error"].as_str().expect("an error").contains("vector_copy16"), "{lab}");
        }
    }
    // A model omits variants whose blocks it does not support, and runs the rest.
    let table = host(&format!("course --device sim:g80 {files}")).assert().code(1);
    let table = String::from_utf8_lossy(&table.get_output().stdout).into_owned();
    assert!(table.contains("26 of 28 labs are right"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

/// The JSON of a command that ends with this exit code.
fn json_of(arguments: &str, code: i32) -> Value {
    let run = host(arguments).assert().code(code);
    serde_json::from_slice(&run.get_output().stdout).expect("JSON")
}
