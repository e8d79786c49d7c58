//! The formats, pinned as text: the look of a report is part of the program's interface.

use serde_json::{Map, Value, json};
use simt::{ByKind, MemoryCounters, SharedCounters};

use super::*;
use crate::device::{ComputeCapability, Kind, Properties};
use crate::error::Error;
use crate::faults::{Fault, Findings};
use crate::timing::{Cache, Throttle, Timing};

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
            load: MemoryCounters { requests: 100, sectors: 500, bytes: 12_800 },
            store: MemoryCounters { requests: 100, sectors: 3200, bytes: 12_800 },
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
        wrong: 2,
        max_error: 1.5e36,
        first: Some(Mismatch { index: vec![3, 14], expected: 0.5, found: 1.5e36 }),
        tolerance: None,
    };
    LabReport {
        lab: "transpose",
        subjects: &[
            Subject::GlobalLoads,
            Subject::GlobalStores,
            Subject::SharedLoads,
            Subject::SharedStores,
            Subject::ActiveLanes,
        ],
        device,
        parameters: map(json!({"rows": 1000, "cols": 1000, "pitched": false, "seed": 1})),
        device_copy: on_gpu.then(|| DeviceCopy { bytes: 4_000_000, gbps: 4000.0, timing: timing(0.002, Cache::Warm) }),
        counters_from: (!on_gpu).then_some(CounterSource::Simulator),
        variants: vec![
            variant("naive-writes", 0.01, Comparison { elements: 1_000_000, ..Comparison::default() }),
            variant("padded", 0.0025, wrong),
        ],
        grids: vec![],
        compact: false,
        conclusions: vec![],
        stopped: None,
    }
}

fn text(report: &LabReport, format: Format) -> String {
    let mut out = Vec::new();
    write(report, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const TABLE_OF_COUNTS: &str = "\
transpose: rows 1000, cols 1000, pitched no, seed 1
on the simulator: counts, no times

                              loads: loads:     stores: stores: shared loads: shared stores:
                   worst sectors per  bytes sectors per   bytes    wavefronts     wavefronts active
variant      right error     request used %     request  used %   per request    per request  lanes
naive-writes   yes     0        5.00   80.0        32.0    12.5          32.0           1.00   31.5
padded          NO  1e36        5.00   80.0        32.0    12.5          32.0           1.00   31.5
padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

Sectors are 32 bytes: a warp that asks for 32 neighbouring floats needs 4. A warp has 32 lanes.
Wavefronts are passes over the banks of shared memory: 1 without bank conflicts.
";

const TABLE_OF_TIMES: &str = "\
transpose: rows 1000, cols 1000, pitched no, seed 1
on NVIDIA H200, compute capability 9.0, driver 580.95.05, CUDA 13.0
the device's own copy of 3.81 MiB: 4000 GB/s
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

                   worst   time,   time, spread      % of  % of speed-up
variant      right error    cold    warm   +- % GB/s copy limit over 1st
naive-writes   yes     0 10.0 us 5.00 us    1.0  800 20.0  16.0     1.00
padded          NO  1e36 2.50 us 1.25 us    1.0 3200 80.0  64.0     4.00
padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

Rates, percentages and speed-ups are those of the cold times.
Each cold time includes a few microseconds to begin and end a launch: compare short ones with care.
The limit is the memory bus, 5000 GB/s.
";

#[test]
fn one_series_is_one_column() {
    let mut large = report(gpu());
    for variant in &mut large.variants {
        (variant.timing, variant.warm_timing) = (Some(timing(2.0, Cache::Exceeded)), None);
    }
    let table = text(&large, Format::Table);
    assert!(table.contains("timed: the data is far larger than the level-2 cache\n"), "{table}");
    assert!(table.contains(" median ") && !table.contains("cold") && !table.contains("warm"), "{table}");
    // The data of one variant exceeds the cache; the other has both times.
    large.variants[0].timing = Some(timing(0.5, Cache::Flushed));
    large.variants[0].warm_timing = Some(timing(0.25, Cache::Warm));
    let table = text(&large, Format::Table);
    assert!(table.contains(" 500 us 250 us ") && table.contains(" 2.00 ms      - "), "{table}");
    assert!(table.contains("and warm (back to back) (1 of 2 variants)\n"), "{table}");
}

#[test]
fn doubtful_times_are_said_to_be_so() {
    let fine = text(&report(gpu()), Format::Table);
    assert!(!fine.contains("steady") && !fine.contains("throttled") && !fine.contains("dropped"), "{fine}");
    let mut doubtful = report(gpu());
    let throttle = Throttle { power: true, thermal: true, ..Throttle::default() };
    let [first, second] = &mut doubtful.variants[..] else { panic!("two variants") };
    first.warm_timing.as_mut().unwrap().steady = false;
    first.timing.as_mut().unwrap().throttled_by = Some(throttle);
    first.timing.as_mut().unwrap().sm_clock_mhz = Some(1410.0);
    second.timing.as_mut().unwrap().dropped_samples = 22;
    for format in [Format::Table, Format::Markdown] {
        let text = text(&doubtful, format);
        assert!(text.contains("Not steady when the time was up (--time-limit): naive-writes (warm)."), "{text}");
        let throttled =
            "The clock was throttled (at most 1980 MHz): naive-writes at 1410 MHz by the power limit and the";
        assert!(text.contains(throttled), "{text}");
        assert!(text.contains("were dropped and taken again: padded."), "{text}");
        assert!(format == Format::Markdown || text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let value: Value = serde_json::from_str(&text(&doubtful, Format::Json)).unwrap();
    assert_eq!(value["variants"][0]["timing"]["throttled_by"], "power+thermal");
    assert_eq!(value["variants"][0]["warm_timing"]["steady"], false);
    assert_eq!(value["variants"][1]["timing"]["dropped_samples"], 22);
}

#[test]
fn the_limit_is_the_one_that_is_closer() {
    let mut product = report(gpu());
    for (variant, percent) in product.variants.iter_mut().zip([75.0, 12.0]) {
        (variant.operations, variant.percent_of_arithmetic_limit) = (1000, Some(percent));
    }
    let table = text(&product, Format::Table);
    assert!(table.contains("The limit is the memory bus, 5000 GB/s, or f32 arithmetic, 66.9 TFLOP/s at 1980 MHz."));
    assert!(table.contains(" 20.0  75.0 ") && table.contains(" 80.0  64.0 "), "{table}");
    let value: Value = serde_json::from_str(&text(&product, Format::Json)).unwrap();
    let [first, second] = [0, 1].map(|index| &value["variants"][index]);
    assert_eq!((&first["limit"], &first["percent_of_limit"]), (&json!("arithmetic"), &json!(75.0)));
    assert_eq!((&second["limit"], &second["percent_of_limit"]), (&json!("memory"), &json!(64.0)));
    assert_eq!(first["percent_of_memory_limit"], json!(16.0));
}

#[test]
fn tables_are_pinned_and_fit_a_hundred_columns() {
    assert_eq!(text(&report(simulator()), Format::Table), TABLE_OF_COUNTS);
    assert_eq!(text(&report(gpu()), Format::Table), TABLE_OF_TIMES);

    // The widest table of any lab: times, counters and a long name.
    let mut widest = report(gpu());
    for variant in &mut widest.variants {
        variant.name = "naive-writes".into();
        variant.counters = Some(counters());
        variant.timing = Some(timing(123.456, Cache::Exceeded));
        variant.speedup = Some(123.45);
    }
    widest.counters_from = Some(CounterSource::Simulator);
    for line in text(&widest, Format::Table).lines().filter(|line| !line.contains("is wrong")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn faults_have_a_column_and_are_in_every_format() {
    let mut checked = report(simulator());
    let site = simt::Site {
        action: None,
        function: "transpose_kernel".into(),
        instruction: "bar.warp.sync %r1;".into(),
        ptx_line: 7,
        source: vec![],
        block: [0; 3],
        thread: [1, 0, 0],
    };
    let finding = simt::Finding {
        kind: simt::FindingKind::NotMember { members: 1, lane: 1 },
        kernel: "transpose_kernel".into(),
        module: "k.ptx".into(),
        first: site,
        second: None,
        count: 3,
    };
    for (variant, list) in checked.variants.iter_mut().zip([vec![finding.clone()], vec![finding]]) {
        variant.findings = Some(Findings { list, beyond: 0 });
    }
    let table = text(&checked, Format::Table);
    assert!(table.contains("\nvariant      right error faults\nnaive-writes   yes     0      1\n"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(text(&checked, Format::Markdown).contains("| padded | NO | 1e36 | 1 | 5.00 |"));
    assert!(text(&checked, Format::Csv).contains(",2,1,8000000,"));
    let value: Value = serde_json::from_str(&text(&checked, Format::Json)).unwrap();
    assert_eq!(value["variants"][0]["faults"][0]["check"], "sync");
    assert_eq!(value["variants"][0]["faults"][0]["count"], 3);

    // The same bug in both variants counts once.
    let all = checked.findings();
    assert_eq!((all.list.len(), all.list[0].count), (1, 6));
    assert_eq!(all.error().unwrap().to_string(), "kernel transpose_kernel: the checks found 1 fault");
    assert!(checked.variants[0].correct() == Some(true) && report(simulator()).findings().error().is_none());
}

#[test]
fn of_a_variant_that_a_fault_stopped_nothing_is_right_or_wrong() {
    let mut stopped = report(simulator());
    stopped.variants.truncate(1);
    stopped.variants[0].comparison = None;
    let error = Error::Fault { kernel: "transpose_kernel".into(), fault: "it trapped".into(), trap: None };
    stopped.variants[0].stopped = Fault::of(&error);
    assert!(!stopped.correct());
    let value: Value = serde_json::from_str(&text(&stopped, Format::Json)).unwrap();
    let variant = &value["variants"][0];
    assert_eq!((&variant["correct"], &variant["max_error"]), (&Value::Null, &Value::Null));
    assert_eq!(variant["faults"][0]["message"], "it trapped");
}

#[test]
fn markdown_is_pinned() {
    let expected = "\
transpose: rows 1000, cols 1000, pitched no, seed 1\x20\x20
on NVIDIA H200, compute capability 9.0, driver 580.95.05, CUDA 13.0\x20\x20
the device's own copy of 3.81 MiB: 4000 GB/s\x20\x20
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

| variant | right | worst error | time, cold | time, warm | spread +- % | GB/s | % of copy | % of limit | speed-up over 1st |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| naive-writes | yes | 0 | 10.0 us | 5.00 us | 1.0 | 800 | 20.0 | 16.0 | 1.00 |
| padded | NO | 1e36 | 2.50 us | 1.25 us | 1.0 | 3200 | 80.0 | 64.0 | 4.00 |

padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

Rates, percentages and speed-ups are those of the cold times. \
Each cold time includes a few microseconds to begin and end a launch: compare short ones with care. \
The limit is the memory bus, 5000 GB/s.
";
    assert_eq!(text(&report(gpu()), Format::Markdown), expected);
}

#[test]
fn csv_is_pinned() {
    let expected = "\
lab,device,name,rows,cols,pitched,seed,block,correct,max_error,wrong_elements,faults,useful_bytes,time_ms,warm_time_ms,gbps,\
percent_of_copy,percent_of_limit,limit,percent_of_memory_limit,percent_of_arithmetic_limit,speedup,\
time_lower_quartile_ms,time_upper_quartile_ms,samples,launches_per_sample,cache,steady,sm_clock_mhz,throttled_by,dropped_samples,\
warm_time_lower_quartile_ms,warm_time_upper_quartile_ms,warm_samples,warm_launches_per_sample,warm_cache,warm_steady,\
warm_sm_clock_mhz,warm_throttled_by,warm_dropped_samples
transpose,NVIDIA H200,naive-writes,1000,1000,false,1,32x8,true,0.0,0,0,8000000,0.01,0.005,800.0,20.0,16.0,memory,16.0,,1.0,\
0.0099,0.0101,11,1,flushed,true,1980.0,,0,0.00495,0.00505,11,1,warm,true,1980.0,,0
transpose,NVIDIA H200,padded,1000,1000,false,1,32x8,false,1.5e+36,2,0,8000000,0.0025,0.00125,3200.0,80.0,64.0,memory,64.0,,4.0,\
0.002475,0.002525,11,1,flushed,true,1980.0,,0,0.0012375,0.0012625,11,1,warm,true,1980.0,,0
";
    assert_eq!(text(&report(gpu()), Format::Csv), expected);

    let counted = text(&report(simulator()), Format::Csv);
    let lines: Vec<Vec<&str>> = counted.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum").unwrap();
    assert_eq!(lines[1][column], "500");
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
}

#[test]
fn json_has_what_scripts_rely_on() {
    let counted: Value = serde_json::from_str(&text(&report(simulator()), Format::Json)).unwrap();
    assert_eq!(counted["lab"], "transpose");
    assert_eq!(counted["device"]["kind"], "simulator");
    assert_eq!(counted["device"]["compute_capability"], "7.5");
    assert_eq!(counted["counters_from"], "simulator");
    let keys: Vec<_> = counted["variants"][0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "name",
            "kernels",
            "parameters",
            "correct",
            "max_error",
            "wrong_elements",
            "first_wrong",
            "useful_bytes",
            "time_ms",
            "warm_time_ms",
            "gbps",
            "percent_of_copy",
            "percent_of_limit",
            "limit",
            "percent_of_memory_limit",
            "percent_of_arithmetic_limit",
            "speedup",
            "timing",
            "warm_timing",
            "counters",
            "faults"
        ]
    );
    let wrong = &counted["variants"][1];
    assert_eq!(wrong["correct"], false);
    assert_eq!(wrong["max_error"], 1.5e36);
    assert_eq!(wrong["first_wrong"], json!({"index": [3, 14], "expected": 0.5, "found": 1.5e36}));
    assert_eq!(wrong["time_ms"], Value::Null);
    assert_eq!(wrong["gbps"], Value::Null);
    let counters = &wrong["counters"];
    assert_eq!(counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 100);
    assert_eq!(counters["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"], 80.0);
    assert_eq!(counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], 3100);

    let timed: Value = serde_json::from_str(&text(&report(gpu()), Format::Json)).unwrap();
    assert_eq!(timed["device_copy"]["gbps"], 4000.0);
    assert_eq!(timed["variants"][1]["time_ms"], 0.0025);
    assert_eq!(timed["variants"][1]["timing"]["cache"], "flushed");
    assert_eq!(timed["variants"][1]["warm_time_ms"], 0.00125);
    assert_eq!(timed["variants"][1]["warm_timing"]["cache"], "warm");
    assert_eq!(timed["variants"][1]["counters"], Value::Null);
}

#[test]
fn an_error_that_is_no_number_is_null_in_json() {
    let mut report = report(simulator());
    report.variants[1].comparison.as_mut().unwrap().max_error = f64::NAN;
    let value: Value = serde_json::from_str(&text(&report, Format::Json)).unwrap();
    assert_eq!(value["variants"][1]["max_error"], Value::Null);
    assert!(text(&report, Format::Table).contains("NaN"));
}

#[test]
fn the_table_explains_wavefronts_only_where_shared_memory_is_used() {
    let mut report = report(simulator());
    for variant in &mut report.variants {
        variant.counters.as_mut().unwrap().shared = Default::default();
    }
    let table = text(&report, Format::Table);
    assert!(table.contains("Sectors are") && !table.to_lowercase().contains("wavefronts"), "{table}");
}

#[test]
fn axes_are_columns_of_every_format() {
    let mut report = report(simulator());
    axis(&mut report, "load_width", [json!(4), json!(16)]);
    let table = text(&report, Format::Table);
    assert!(table.contains("\nvariant      load width right error"), "{table}");
    assert!(table.contains("\npadded               16    NO  1e36"), "{table}");
    assert!(text(&report, Format::Markdown).contains("| variant | load width | right |"));
    assert!(text(&report, Format::Csv).starts_with("lab,device,name,rows,cols,pitched,seed,block,load_width,correct,"));
    let value: Value = serde_json::from_str(&text(&report, Format::Json)).unwrap();
    assert_eq!(value["variants"][1]["parameters"]["load_width"], 16);
}

#[test]
fn a_sweep_of_two_axes_is_a_grid_with_the_best_marked() {
    let mut report = report(gpu());
    axis(&mut report, "block", [json!(128), json!(256)]);
    axis(&mut report, "load_width", [json!(4), json!(4)]);
    report.variants[0].facts.remove(0);
    report.variants[1].facts.remove(0);
    report.grids.push(Grid {
        title: "GB/s".into(),
        rows: "block",
        columns: "load_width",
        group: String::new(),
        cell: |variant| variant.gbps.map(|gbps| Cell::ranked(format!("{gbps:.0}"), gbps)),
    });
    let table = text(&report, Format::Table);
    let grid = "\nGB/s; the best is marked *:\nblock \\ load width     4\n128                  800\n256                3200*\n";
    assert!(table.contains(grid), "{table}");
    let markdown = text(&report, Format::Markdown);
    assert!(
        markdown.contains("\nGB/s:\n\n| block \\ load width | 4 |\n| --- | ---: |\n| 128 | 800 |\n| 256 | 3200* |\n")
    );
}

#[test]
fn the_grids_of_a_compact_report_stand_for_its_table_if_all_is_right() {
    let mut report = report(gpu());
    axis(&mut report, "pattern", [json!("aligned"), json!("scattered")]);
    axis(&mut report, "load_width", [json!(4), json!(4)]);
    report.compact = true;
    report.grids.push(Grid {
        title: "GB/s".into(),
        rows: "pattern",
        columns: "load_width",
        group: String::new(),
        cell: |variant| variant.gbps.map(|gbps| Cell::plain(format!("{gbps:.0}"))),
    });
    let table = text(&report, Format::Table);
    assert!(table.contains("\npadded ") && table.contains("\nscattered "), "one is wrong: {table}");
    report.variants[1].comparison = Some(Comparison { elements: 1_000_000, ..Comparison::default() });
    let table = text(&report, Format::Table);
    let all = "\nAll 2 variants are right. --format csv and --format json have each of them.\n";
    assert!(table.contains(all) && !table.contains("\npadded") && table.contains("\nscattered "), "{table}");
    assert!(text(&report, Format::Markdown).contains("| padded |"));
}

#[test]
fn tolerances_and_what_a_lab_computes_are_shown() {
    let mut report = report(gpu());
    report.variants.truncate(1);
    let variant = &mut report.variants[0];
    (variant.operations, variant.gflops) = (20_000_000, Some(2000.0));
    variant.comparison = Some(Comparison {
        elements: 4,
        max_error: 0.25,
        tolerance: Some(Tolerated { tolerance: Tolerance::Roundings(3), worst_part: 0.125 }),
        ..Comparison::default()
    });
    let table = text(&report, Format::Table);
    assert!(table.contains("naive-writes   yes 0.250    12.5 10.0 us 5.00 us    1.0  800 20.0    2000"), "{table}");
    assert!(
        table.contains("\nAllowed errors: 2^-24 of the magnitude for each of 3 roundings on the way to an element.\n"),
        "{table}"
    );
    let value: Value = serde_json::from_str(&text(&report, Format::Json)).unwrap();
    assert_eq!(value["variants"][0]["tolerance"], json!({"tolerance": {"roundings": 3}, "worst_part": 0.125}));
    assert_eq!(
        (&value["variants"][0]["operations"], &value["variants"][0]["gflops"]),
        (&json!(20_000_000), &json!(2000.0))
    );
    assert!(text(&report, Format::Csv).contains(",speedup,operations,gflops,"));
}

#[test]
fn conclusions_stand_below_everything() {
    let mut report = report(simulator());
    report.conclusions = vec!["It is so. ".repeat(15), "And so.".into()];
    let table = text(&report, Format::Table);
    assert!(
        table.ends_with("It is so. It is so.\nIt is so. It is so. It is so. It is so. It is so.\nAnd so.\n"),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(text(&report, Format::Markdown).ends_with("It is so.  And so.\n"));
}

#[test]
fn the_words_of_the_legend_hold_for_the_model() {
    let model = |name: &str| {
        let mut report = report(simulator());
        let counted = simt::ModelCounters {
            model: simt::Model::named(name).unwrap(),
            global_load: Default::default(),
            global_store: Default::default(),
            caches: Default::default(),
        };
        for variant in &mut report.variants {
            variant.counters.as_mut().unwrap().model = Some(counted);
        }
        text(&report, Format::Table)
    };
    assert!(model("hopper").contains("of shared memory: 1 without bank conflicts."));
    let tesla = model("tesla");
    assert!(tesla.contains("for each half warp: 2 without bank") && !tesla.contains("1 without bank"), "{tesla}");
}

#[test]
fn one_wrong_variant_makes_the_report_wrong() {
    let mut report = report(simulator());
    assert!(!report.correct());
    report.variants.remove(1);
    assert!(report.correct());
}
