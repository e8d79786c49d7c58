//! What the simulator counts for the labs' own kernels is what an H200 counted for the same launches.
//!
//! `data/h200_labs.json` has a row for each: the arguments of `host`, the kernel, and the counters as Nsight Compute 2025.3 read
//! them on 2026-11-20 on an H200 with driver 580.159.04. To read a row again, on a machine with a GPU and Nsight Compute:
//! `ncu --metrics NAME,... --launch-count 1 -k KERNEL host ARGUMENTS`

use std::collections::BTreeMap;

use clap::{Args, Command};
use host::device::{self, Device, DeviceChoice};
use host::labs::{offset, transpose};
use host::report::LabReport;
use serde::Deserialize;
use simt::MetricValue;

#[derive(Deserialize)]
struct Row {
    run: String,
    kernel: String,
    counters: BTreeMap<String, f64>,
}

/// The flags of a lab, as the program reads them.
fn flags<O: Args>(arguments: &[&str]) -> O {
    let matches = O::augment_args(Command::new("lab").no_binary_name(true)).try_get_matches_from(arguments).unwrap();
    O::from_arg_matches(&matches).unwrap()
}

/// Runs the lab that the arguments name.
fn run(device: &Device, run: &str) -> LabReport {
    let arguments: Vec<&str> = run.split(' ').collect();
    match arguments[0] {
        "transpose" => transpose::run(device, &flags(&arguments[1..])),
        "offset" => offset::run(device, &flags(&arguments[1..])),
        other => panic!("no lab {other}"),
    }
    .unwrap_or_else(|error| panic!("{run}: {error}"))
}

#[test]
fn the_labs_kernels_count_what_an_h200_counts() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("data/h200_labs.json")).unwrap();
    let device = device::open(DeviceChoice::Simulator, &device::Options::from_environment()).unwrap();
    let mut compared = 0;
    for row in &rows {
        let report = self::run(&device, &row.run);
        let variant = report.variants.iter().find(|variant| variant.kernels[0] == row.kernel).unwrap();
        let metrics = variant.counters.expect("the simulator counts").metrics();
        for (name, expected) in &row.counters {
            let metric = metrics.iter().find(|metric| metric.name == name).expect("the counter is there");
            let (counted, tolerance) = match metric.value {
                MetricValue::Count(count) => (count as f64, 0.0),
                // The profiler rounds ratios to two digits, and shows 0 where nothing was counted.
                MetricValue::Ratio(ratio) => (ratio.unwrap_or(0.0), 0.005 + 1e-9),
            };
            assert!((counted - expected).abs() <= tolerance, "{}: {name}: {expected}, not {counted}", row.run);
            compared += 1;
        }
    }
    assert_eq!((rows.len(), compared), (22, 22 * 20));
}
