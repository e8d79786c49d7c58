//! Tests of a lab's report in its formats. Its look is part of the program's interface, so texts
//! are pinned. The report is made up here; nothing runs.

mod formats;
mod parts;
mod times;

use device::{ComputeCapability, Counters, Kind, Properties};
use serde_json::{Map, Value, json};
use simt::counts::{ByKind, MemoryCounters, SharedCounters};

use super::*;
use crate::timing::{Cache, Timing};

fn simulator() -> Properties {
    let capability = ComputeCapability { major: 7, minor: 5 };
    Properties { model: Some("counts".into()), ..Properties::simulator(capability, "sm_75".into(), 1 << 30) }
}

fn gpu() -> Properties {
    Properties {
        kind: Kind::Gpu,
        index: Some(0),
        name: "NVIDIA H200".into(),
        compute_capability: ComputeCapability { major: 9, minor: 0 },
        cuda_version: Some("13.0".into()),
        driver: Some("580.95.05".into()),
        model: None,
        peak_gbps: Some(5000.0),
        multiprocessors: Some(132),
        f32_lanes_per_multiprocessor: Some(128),
        clock_mhz: Some(1980.0),
        ..simulator()
    }
}

fn timing(median_ms: f64, cache: Cache) -> Timing {
    Timing {
        median_ms,
        lower_quartile_ms: median_ms * 0.99,
        upper_quartile_ms: median_ms * 1.01,
        samples: 11,
        launches_per_sample: 1,
        cache,
        steady: true,
        sm_clock_mhz: Some(1980.0),
        throttled_by: None,
        dropped_samples: 0,
    }
}

fn counters() -> Counters {
    Counters {
        instructions_executed: 1000,
        thread_instructions_executed: 31_500,
        global: ByKind {
            load: MemoryCounters { requests: 100, sectors: 500, ideal_sectors: 400, bytes: 12_800 },
            store: MemoryCounters { requests: 100, sectors: 3200, ideal_sectors: 400, bytes: 12_800 },
            ..ByKind::default()
        },
        shared: ByKind {
            load: SharedCounters { requests: 100, wavefronts: 3200, bank_conflicts: 3100 },
            store: SharedCounters { requests: 100, wavefronts: 100, bank_conflicts: 0 },
            ..ByKind::default()
        },
        ..Counters::default()
    }
}

/// An axis of a sweep, for each variant in turn.
fn axis(report: &mut LabReport, name: &'static str, values: [Value; 2]) {
    for (variant, value) in report.variants.iter_mut().zip(values) {
        variant.facts.push(Fact { name, value, axis: true });
    }
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn report(device: Properties) -> LabReport {
    let on_gpu = device.is_gpu();
    let variant = |name: &str, time: f64, comparison: Comparison| VariantReport {
        name: name.into(),
        kernels: vec!["transpose_kernel"],
        facts: vec![Fact { name: "block", value: json!([32, 8]), axis: false }],
        comparison: Some(comparison),
        useful_bytes: 8_000_000,
        timing: on_gpu.then(|| timing(time, Cache::Flushed)),
        gbps: on_gpu.then(|| 8.0 / time),
        percent_of_copy: on_gpu.then(|| 8.0 / time / 4000.0 * 100.0),
        percent_of_memory_limit: on_gpu.then(|| 8.0 / time / 5000.0 * 100.0),
        warm_timing: on_gpu.then(|| timing(time / 2.0, Cache::Warm)),
        speedup: on_gpu.then(|| 0.01 / time),
        counters: (!on_gpu).then(counters),
        ..VariantReport::default()
    };
    let wrong = Comparison {
        elements: 1_000_000,
        sample: None,
        too_exact: false,
        wrong: 2,
        max_error: 1.5e36,
        first: Some(Mismatch { index: vec![3, 14], expected: 0.5, found: 1.5e36 }),
        tolerance: None,
    };
    LabReport {
        too_small_to_predict: false,
        lab: "transpose",
        about: "Bank conflicts, and how padding removes them",
        meanings: vec![],
        subjects: &[
            Subject::GlobalLoads,
            Subject::GlobalStores,
            Subject::SharedLoads,
            Subject::SharedStores,
            Subject::ActiveLanes,
        ],
        first: FirstScreen { axes: &[], columns: &[], words: &[], removes: &[], left_out: &[] },
        every_row: false,
        tiles: false,
        legend: true,
        why: false,
        device,
        parameters: map(json!({"rows": 1000, "cols": 1000, "pitched": false, "seed": 1})),
        device_copy: on_gpu.then(|| DeviceCopy { bytes: 4_000_000, gbps: 4000.0, timing: timing(0.002, Cache::Warm) }),
        counters_from: (!on_gpu).then_some(CounterSource::Simulator),
        variants: vec![
            variant("with-strides", 0.01, Comparison { elements: 1_000_000, ..Comparison::default() }),
            variant("padded", 0.0025, wrong),
        ],
        grids: vec![],
        instead_of_table: None,
        compact: false,
        sweeps: &[],
        roofline: false,
        plot: false,
        plays: false,
        charted: None,
        chart: false,
        elements: None,
        maps: false,
        conclusions: vec![],
        concluded: vec![],
        orders: Vec::new(),
        stopped: None,
    }
}

fn text(report: &LabReport, format: Format) -> String {
    let mut out = Vec::new();
    write_in(report, format, wording::WIDTH, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
