//! Whole reports in each format, and what each format says of faults.

use device::Error;
use serde_json::{Value, json};

use super::*;
use crate::faults::{Fault, Findings};

const TABLE_OF_COUNTS: &str = "\
Bank conflicts, and how padding removes them
transpose: rows 1000, cols 1000, pitched no, seed 1
on the simulator: counts, no times

                              global  global      global  global
                              loads:  loads:     stores: stores: shared loads: shared stores: active
                   worst sectors per sectors sectors per sectors    wavefronts     wavefronts  lanes
variant      right error     request / ideal     request / ideal       / ideal        / ideal  of 32
with-strides   yes     0        5.00    1.25        32.0    8.00          32.0           1.00   31.5
padded          NO  1e36        5.00    1.25        32.0    8.00          32.0           1.00   31.5
padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

A request is a load or a store of one warp.
Sectors are 32 bytes: a request for 32 neighbouring floats needs 4, for 32 words of 16 bytes 16.
sectors / ideal: the sectors touched, over the fewest that could hold the bytes asked for. 1.00 is
perfect, 8.00 a column of floats, which uses an eighth of each.
Wavefronts are passes over the banks of shared memory; ideal: those without bank conflicts. 1.00 is
perfect, 32.0 is 32 lanes in one bank.
";

const TABLE_OF_TIMES: &str = "\
Bank conflicts, and how padding removes them
transpose: rows 1000, cols 1000, pitched no, seed 1
on NVIDIA H200, compute capability 9.0, driver 580.95.05, CUDA 13.0
the device's own copy of 3.81 MiB: 4000 GB/s
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

                   worst   time,   time, spread      % of  % of speed-up
variant      right error    cold    warm   +- % GB/s copy limit over 1st
with-strides   yes     0 10.0 us 5.00 us    1.0  800 20.0  16.0     1.00
padded          NO  1e36 2.50 us 1.25 us    1.0 3200 80.0  64.0     4.00
padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

Rates, percentages and speed-ups are those of the cold times.
Each cold time includes a few microseconds to begin and end a launch: compare short ones with care.
The limit is the memory bus, 5000 GB/s.
";

#[test]
fn tables_are_pinned_and_fit_a_hundred_columns() {
    assert_eq!(text(&report(simulator()), Format::Table), TABLE_OF_COUNTS);
    assert_eq!(text(&report(gpu()), Format::Table), TABLE_OF_TIMES);

    // The widest table of any lab: times, counters and a long name.
    let mut widest = report(gpu());
    for variant in &mut widest.variants {
        variant.name = "with-strides".into();
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
    let site = simt::faults::Site {
        action: None,
        function: "transpose_kernel".into(),
        instruction: "bar.warp.sync %r1;".into(),
        ptx_line: 7,
        source: vec![],
        block: [0; 3],
        thread: [1, 0, 0],
    };
    let finding = simt::Finding {
        kind: simt::faults::FindingKind::NotMember { members: 1, lane: 1 },
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
    assert!(table.contains("\nvariant      right error faults\nwith-strides   yes     0      1\n"), "{table}");
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
Bank conflicts, and how padding removes them\x20\x20
transpose: rows 1000, cols 1000, pitched no, seed 1\x20\x20
on NVIDIA H200, compute capability 9.0, driver 580.95.05, CUDA 13.0\x20\x20
the device's own copy of 3.81 MiB: 4000 GB/s\x20\x20
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

- padded: A tile of 32 x 33

| variant | right | worst error | time, cold | time, warm | spread +- % | GB/s | % of copy | % of limit | speed-up over 1st |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| with-strides | yes | 0 | 10.0 us | 5.00 us | 1.0 | 800 | 20.0 | 16.0 | 1.00 |
| padded | NO | 1e36 | 2.50 us | 1.25 us | 1.0 | 3200 | 80.0 | 64.0 | 4.00 |

padded is wrong: 2 of 1000000 elements, the first at [3, 14]: 1.5e36 instead of 0.5

Rates, percentages and speed-ups are those of the cold times. \
Each cold time includes a few microseconds to begin and end a launch: compare short ones with care. \
The limit is the memory bus, 5000 GB/s.
";
    let mut report = report(gpu());
    report.meanings = vec![("padded", "A tile of 32 x 33"), ("copy", "No transpose")];
    assert_eq!(text(&report, Format::Markdown), expected);
}

#[test]
fn csv_is_pinned() {
    let expected = "\
lab,device,name,rows,cols,pitched,seed,block,correct,max_error,wrong_elements,faults,useful_bytes,time_ms,warm_time_ms,gbps,\
percent_of_copy,percent_of_limit,limit,percent_of_memory_limit,percent_of_arithmetic_limit,speedup,\
time_lower_quartile_ms,time_upper_quartile_ms,samples,launches_per_sample,cache,steady,sm_clock_mhz,throttled_by,dropped_samples,\
warm_time_lower_quartile_ms,warm_time_upper_quartile_ms,warm_samples,warm_launches_per_sample,warm_cache,warm_steady,\
warm_sm_clock_mhz,warm_throttled_by,warm_dropped_samples
transpose,NVIDIA H200,with-strides,1000,1000,false,1,32x8,true,0.0,0,0,8000000,0.01,0.005,800.0,20.0,16.0,memory,16.0,,1.0,\
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
fn a_table_takes_the_width_there_is() {
    let report = report(simulator());
    let tables = |width: usize| {
        let mut out = Vec::new();
        write_in(&report, Format::Table, width, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        // What is wrong is one line for programs that look for it.
        let wide = text.lines().find(|line| line.chars().count() > width && !line.contains("is wrong"));
        assert_eq!(wide, None, "{width}: {text}");
        text.lines().filter(|line| line.starts_with("variant")).count()
    };
    assert_eq!([60, 100, 160].map(tables), [3, 1, 1]);
}
