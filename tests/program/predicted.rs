//! Tests of predicted times: where they are shown, and what is refused.

use serde_json::Value;

use crate::{fails, host, output};

fn json(arguments: &str) -> Value {
    serde_json::from_str(&output(&format!("{arguments} --format json"))).expect("JSON")
}

#[test]
fn the_simulator_predicts_as_an_h200_or_as_its_model() {
    let small = "transpose --naive --tiled --rows 1024 --cols 1024";
    let (report, plain) = (json(&format!("{small} --device sim:hopper")), json(&format!("{small} --device sim")));
    for (variant, plain) in
        report["variants"].as_array().expect("variants").iter().zip(plain["variants"].as_array().expect("variants"))
    {
        let predicted = &variant["predicted"];
        assert!(predicted["time_ms"].as_f64().is_some_and(|time| time > 0.0), "{predicted}");
        assert!(predicted["warm_time_ms"].as_f64().is_some_and(|time| time > 0.0), "{predicted}");
        assert_eq!(predicted["model"], "hopper");
        assert!(variant["time_ms"].is_null() && variant["gbps"].is_null(), "a prediction is no measurement: {variant}");
        assert_eq!(predicted, &plain["predicted"]);
    }
    for arguments in ["--device sim --no-predict", "--device sim:hopper --no-predict"] {
        let without = json(&format!("{small} {arguments}"));
        assert!(without["variants"][0].get("predicted").is_none(), "{arguments}");
    }
    for device in ["sim", "sim:hopper"] {
        let counters =
            |flags: &str| json(&format!("{small} --device {device} {flags}"))["variants"][0]["counters"].clone();
        assert_eq!(counters(""), counters("--no-predict"));
    }
}

/// Where launches take most of the time it says nothing about the kernels: without a model, it is
/// there only if asked for.
#[test]
fn data_that_is_too_small_has_counts_alone() {
    let small = "vector --copy4 --copy16 --size 4096 --device sim";
    let text = output(small);
    assert!(text.contains("\non the simulator: counts\n"), "{text}");
    assert!(!text.contains("predicted"), "{text}");
    assert!(json(small)["variants"][0].get("predicted").is_none());
    for asked in ["--thread-registers 32", "--predict"] {
        assert!(json(&format!("{small} {asked}"))["variants"][1]["predicted"]["time_ms"].is_number(), "{asked}");
    }
}

/// A launch that fills less than half of the GPU is predicted only beside one that does.
#[test]
fn small_launches_have_times_beside_large_ones() {
    let rows = |size: u32| {
        let report = json(&format!("rows --sum --rows {size} --cols {size} --device sim"));
        report["variants"].as_array().expect("variants").clone()
    };
    let small = rows(64);
    assert!(small.iter().all(|row| row.get("predicted").is_none()), "{small:?}");
    // A thread for each row: 4 blocks. A block for each: 1024.
    let on_model = json("rows --sum --rows 1024 --cols 1024 --device sim:hopper");
    for (row, on_model) in rows(1024).iter().zip(on_model["variants"].as_array().expect("variants")) {
        assert!(row["predicted"]["time_ms"].is_number() && row["predicted"]["speedup"].is_number(), "{row}");
        assert_eq!(row["predicted"], on_model["predicted"], "{}", row["name"]);
    }
}

/// A speed-up compares kernels, not GPUs.
#[test]
fn rows_on_two_models_are_compared_with_their_own() {
    let report = json("pitch --by-rows --rows 512 --device sim --thread-registers 32");
    let rows = report["variants"].as_array().expect("variants");
    let speedup = |row: &Value| row["predicted"]["speedup"].as_f64();
    let models: Vec<_> = rows.iter().map(|row| row["predicted"]["model"].as_str().unwrap_or_default()).collect();
    assert_eq!(models, ["fermi", "fermi", "hopper", "hopper"]);
    assert_eq!((speedup(&rows[0]), speedup(&rows[2])), (Some(1.0), Some(1.0)));
}

#[test]
fn every_format_says_predicted() {
    let run = |format: &str| output(&format!("transpose --padded --rows 64 --device sim:ada --format {format}"));
    assert!(run("csv").lines().next().is_some_and(|head| head.contains("predicted_time_ms,predicted_warm_time_ms")));
    assert!(run("markdown").contains("predicted time"));
    let text = output("transpose --padded --rows 64 --device sim:pascal");
    assert!(text.contains("counts; times are predicted\n") && text.contains("not verified"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_prediction_alone_is_of_a_gpus_size_and_says_whose() {
    let report = json("vector --copy4 --device sim --predict");
    let counted = json("vector --copy4 --device sim");
    assert!(report["parameters"]["size"].as_u64() > counted["parameters"]["size"].as_u64());
    let variant = &report["variants"][0];
    assert!(variant["counters"].is_null() && variant["predicted"]["model"] == "hopper", "{variant}");
    let text = output("vector --copy4 --device sim --predict");
    assert!(text.contains("on the simulator: counts; times are predicted for: H200 (GH100)\n"), "{text}");
}

/// Each column of a matrix of 2048 columns is in one of GT200's partitions; of one of 2080 it is
/// not, and an H200 has no such partitions.
#[test]
fn the_diagonal_order_undoes_partition_camping() {
    let ratio = |rows: u32, model: &str| {
        let report = json(&format!("transpose --padded --diagonal --rows {rows} --predict --device sim:{model}"));
        let [padded, diagonal] =
            [0, 1].map(|row| report["variants"][row]["predicted"]["time_ms"].as_f64().expect("time"));
        padded / diagonal
    };
    assert!((2.5..6.0).contains(&ratio(2048, "tesla")));
    let camping = output("transpose --padded --diagonal --rows 2048 --device sim:tesla");
    assert!(camping.contains("In diagonal order the tiles use all partitions of DRAM: 2."), "{camping}");
    for (rows, model) in [(2080, "tesla"), (2048, "hopper")] {
        assert!((0.75..1.25).contains(&ratio(rows, model)), "{model}: {}", ratio(rows, model));
    }
}

/// A variant alone has no speed-up, but a time on each model, and either is drawn.
#[test]
fn a_variant_alone_has_its_time_on_each_model() {
    let run = "transpose --padded --rows 512 --compare-models --device sim --plot";
    let text = output(run);
    assert!(text.contains("predicted times on every model"), "{text}");
    assert!(text.contains("Predicted time, by model\n    g80 │██"), "{text}");
    let times: Vec<&str> = text.lines().filter(|line| line.starts_with("h100 ")).collect();
    assert!(matches!(times[..], [time] if time.ends_with(" us")), "{text}");
    assert!(!text.contains("speed-up") && !text.contains("--plot"), "{text}");
    let two = output(&format!("{run} --best"));
    assert!(two.contains("Predicted speed-up over 1st, by model\n"), "{two}");
}

/// Rows are variants, columns are models, and what a model cannot run is said.
#[test]
fn one_table_compares_all_models() {
    let run = |rows: u32| format!("transpose --padded --best --rows {rows} --compare-models --device sim");
    let report = json(&run(512));
    let variants = report["variants"].as_array().expect("variants");
    let models = output("devices --format csv").lines().next().map_or(0, |head| head.matches("sim:").count());
    assert_eq!(variants.len(), 2 * models);
    let columns = report["table"]["columns"].as_array().expect("columns");
    assert_eq!((columns.len(), &columns[1]["title"][0]), (models + 1, &"g80".into()));
    assert_eq!(columns[1]["cells"][0]["text"], "1.00", "the first row is the reference");
    assert!(columns[1]["cells"][1].is_null(), "a block of G80 has no room for it");
    assert!(columns[3]["cells"][1]["value"].is_number());
    for row in variants {
        let predicted = &row["predicted"];
        let why = predicted["not_predicted"].as_str();
        assert!(predicted["time_ms"].is_number() || why.is_some_and(|why| why.contains("shared memory")), "{row}");
        assert!(row["time_ms"].is_null() && row["counters"].is_null(), "{row}");
    }
    let table = output(&run(512));
    assert!(table.contains("Not predicted: best on g80, best on tesla (the launch failed"), "{table}");
    assert!(table.contains("\npadded takes ") && table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let run = run(64);
    assert!(output(&format!("{run} --format markdown")).contains("| variant \\ model | g80 | tesla |"));
    assert_eq!(output(&format!("{run} --format csv")).lines().count(), 1 + 2 * models);
    let page = tempfile::NamedTempFile::new().expect("a file");
    output(&format!("{run} --report {}", page.path().display()));
    let page = std::fs::read_to_string(page.path()).expect("a page");
    assert!(
        page.contains(">tesla</button>") && page.contains("Predicted speed-up over 1st, by model</text>"),
        "{page}"
    );
}

#[test]
fn a_comparison_of_models_refuses_what_it_cannot_do() {
    let cases = [
        ("--device sim:fermi", "--compare-models: it runs on all models, not on fermi alone; give --device sim"),
        ("--device sim --output x.npy", "--compare-models: it only predicts times; leave out --output"),
        ("--device sim --check race", "--compare-models: it only predicts times; leave out --check"),
        ("--device sim --why", "cannot be used with"),
    ];
    for (flags, said) in cases {
        fails(host(&format!("transpose --compare-models {flags}")), 2, &[said]);
    }
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

/// A line of code, so that everything of the launch is in the test.
const SCALE: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data) {
    .reg .b32 %r<4>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.s32 %r3, %r1, 256, %r2;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd1];
    add.f32 %f1, %f1, %f1;
    st.global.f32 [%rd1], %f1;
    ret;
}
.visible .entry wait(.param .u64 data) {
    nanosleep.u32 100;
    ret;
}
";

/// `host run` of that file's kernel, with further arguments.
fn run(arguments: &str) -> assert_cmd::Command {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scale.ptx");
    std::fs::write(&file, SCALE).expect("the file is written");
    let mut command = host("run");
    command.arg(&file).args("scale f32[65536]=ramp --grid 256 --block 256".split(' '));
    command.args(arguments.split_whitespace());
    // The file lives as long as the test's process.
    std::mem::forget(folder);
    command
}

fn printed(arguments: &str) -> String {
    let run = run(arguments).assert().success();
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

#[test]
fn any_kernel_has_a_predicted_time_under_the_labs_names() {
    let json = |arguments: &str| -> Value {
        serde_json::from_str(&printed(&format!("{arguments} --format json"))).expect("JSON")
    };
    let report = json("--device sim:hopper --bytes 512K");
    let predicted = &report["predicted"];
    for name in ["time_ms", "warm_time_ms", "gbps"] {
        assert!(predicted[name].as_f64().is_some_and(|value| value > 0.0), "{name}: {predicted}");
    }
    assert_eq!((&predicted["model"], &predicted["limiter"]), (&"hopper".into(), &"launch".into()));
    assert!(report.get("time_ms").is_none() && report["counters"].is_object(), "a prediction is no measurement");
    let alone = json("--device sim:hopper --bytes 512K --predict");
    assert!(alone["counters"].is_null() && alone["predicted"]["time_ms"].is_number(), "{alone}");
    for without in ["--device sim --no-predict", "--device sim:hopper --no-predict"] {
        assert!(json(without).get("predicted").is_none(), "{without}");
    }
    let table = printed("--device sim --predict --why --thread-registers 40");
    for part in [
        "on the simulator: counts; times are predicted for: H200 (GH100)\n",
        "predicted predicted\n",
        "scale, predicted for H200 (GH100)",
        "What would help:",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(table.replace('\n', " ").contains("at 40 registers a thread"), "{table}");
    let csv = printed("--device sim:ada --format csv");
    assert!(csv.contains("\npredicted_time_ms,") && csv.contains("\npredicted_limiter,"), "{csv}");
    assert!(printed("--device sim:ada --format markdown").contains("| predicted_time_ms |"));
}

#[test]
fn several_launches_have_their_times_and_the_time_of_all() {
    let two = "--then scale arg:0.0 --grid 256 --block 256 --device sim:ampere";
    let report: Value = serde_json::from_str(&printed(&format!("{two} --predict --format json"))).expect("JSON");
    let time = |of: &Value| of["predicted"]["time_ms"].as_f64().expect("a time");
    let (all, one) = (time(&report), time(&report["launches"][0]));
    assert!(one < all && all < 2.0 * one, "the second launch waits behind the first: {report}");
    assert!(printed(two).contains("\nAll launches, one after the other, predicted for A100 (GA100): "));
}

#[test]
fn what_has_no_prediction_says_why() {
    let wait = "--then wait arg:0.0 --grid 1 --block 32 --device sim --predict";
    assert!(printed(wait).contains("\nNot predicted: wait (sleeping warps).\n"), "{}", printed(wait));
    let json = printed(&format!("{wait} --format json"));
    assert!(json.contains("\"not_predicted\": \"sleeping warps\""), "{json}");
    assert!(printed(&format!("{wait} --format csv")).contains("1,wait,not_predicted,sleeping warps\n"));
    let products = output("gram --best --predict --device sim");
    assert!(products.contains("\nNot predicted: best ("), "{products}");
}

#[test]
fn what_a_run_cannot_predict_is_refused() {
    let nothing = "--predict: it runs a part of the blocks and computes nothing; leave out";
    for (flags, said) in [
        ("--predict --print 0", format!("{nothing} --print")),
        ("--predict --save 0=x.npy", format!("{nothing} --save")),
        ("--predict --report x.html", format!("{nothing} --report")),
        ("--predict --check race", format!("{nothing} --check")),
        ("--predict --lines", format!("{nothing} --lines and --picture")),
        ("--thread-registers 32 --registers 32", "cannot be used with".into()),
        ("--thread-registers 0", "from 1 to 255".into()),
        ("--why --no-predict", "cannot be used with".into()),
    ] {
        fails(run(&format!("--device sim {flags}")), 2, &[&said]);
    }
}

#[test]
fn products_have_a_rate_of_operations() {
    let report = json("matmul --tiled16 --rows 64 --device sim:hopper");
    let predicted = &report["variants"][0]["predicted"];
    assert!(predicted["gflops"].as_f64().is_some_and(|rate| rate > 0.0) && predicted["gbps"].is_null(), "{predicted}");
    let dot = json("dot --size 4096 --device sim:hopper");
    assert!(dot["variants"][0]["predicted"]["gbps"].is_number(), "bytes limit it: {dot}");
}

#[cfg(target_os = "linux")]
mod beside_a_gpu {
    use serde_json::Value;

    use crate::fails;
    use crate::gpu::{on_gpu, on_measured_gpu};

    /// What is printed on a GPU whose times are taken by samples.
    fn printed(arguments: &str) -> String {
        let run = on_measured_gpu(arguments, "").assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    }

    const LAB: &str = "transpose --tiled --padded --rows 64 --device gpu --time-limit 0.01";
    const RUN: &str = "run it.ptx k --device gpu --grid 1 --block 32 u32[16] --time-limit 0.01";

    #[test]
    fn the_prediction_stands_beside_the_measurement() {
        for flag in ["--predict", "--counters"] {
            let table = printed(&format!("{LAB} {flag} --legend"));
            for part in [
                "\npredicted: by the simulator, the same launches on: ",
                "\n        measured predicted  predicted predicted  speed-up predicted\n",
                "\nvariant     time      time / measured      GB/s  over 1st     limit\n",
            ] {
                assert!(table.contains(part), "{part}: {table}");
            }
            let json: Value = serde_json::from_str(&printed(&format!("{LAB} {flag} --format json"))).expect("JSON");
            let variant = &json["variants"][1];
            let (measured, predicted) = (&variant["time_ms"], &variant["predicted"]);
            let ratio = predicted["time_ms"].as_f64().zip(measured.as_f64()).map(|(time, measured)| time / measured);
            let apart =
                predicted["over_measured"].as_f64().zip(ratio).map(|(shown, ratio)| (shown / ratio - 1.0).abs());
            assert!(apart.is_some_and(|apart| apart < 1e-9), "{variant}");
            assert_eq!(variant["counters"].is_null(), flag == "--predict", "{flag}");
            let csv = printed(&format!("{LAB} {flag} --format csv"));
            assert!(csv.lines().next().is_some_and(|head| head.contains("predicted_over_measured")), "{csv}");
            let markdown = printed(&format!("{LAB} {flag} --format markdown"));
            assert!(markdown.contains("measured time | predicted time | predicted / measured"), "{markdown}");
        }
        let without = printed(&format!("{LAB} --counters --no-predict"));
        assert!(!without.contains("predicted"), "{without}");
    }

    /// On the simulator `pitch` has rows of a second model between its own. A GPU has none of
    /// these.
    #[test]
    fn counters_are_of_the_row_of_the_same_name() {
        let rows = |device: &str| {
            let text = printed(&format!(
                "pitch --by-rows --rows 32 --cols 40 --counters --time-limit 0.01 --format json {device}"
            ));
            let report: Value = serde_json::from_str(&text).expect("JSON");
            report["variants"].as_array().expect("rows").clone()
        };
        let (gpu, simulator) = (rows("--device gpu"), rows("--device sim"));
        assert!(gpu.len() < simulator.len(), "{} rows, {} on the simulator", gpu.len(), simulator.len());
        for row in gpu {
            let same = simulator.iter().find(|other| other["name"] == row["name"]).expect("a row of this name");
            assert_eq!(row["counters"], same["counters"], "{}", row["name"]);
        }
    }

    #[test]
    fn so_it_does_in_a_run() {
        let table = printed(&format!("{RUN} --predict"));
        for part in ["predicted: by the simulator, the same launches on: ", "measured predicted  predicted predicted\n"]
        {
            assert!(table.contains(part), "{part}: {table}");
        }
        // The GPU's result is there.
        assert!(printed(&format!("{RUN} --predict --print 0")).contains("Argument 0"));
        let csv = printed(&format!("{RUN} --counters --format csv"));
        for name in ["\ntime_ms,", "\npredicted_time_ms,", "\npredicted_over_measured,", "\nptx__inst_executed.sum,"] {
            assert!(csv.contains(name), "{name}: {csv}");
        }
        let json: Value = serde_json::from_str(&printed(&format!("{RUN} --predict --format json"))).expect("JSON");
        assert!(json["predicted"]["over_measured"].is_number() && json["counters"].is_null(), "{json}");
        fails(on_gpu(&format!("{RUN} --why"), ""), 2, &["--why: a GPU is timed, not predicted; give --predict"]);
        fails(on_gpu(&format!("{RUN} --predict --counters"), ""), 2, &["leave out --counters"]);
        assert!(printed(&format!("{RUN} --predict --why")).contains("What would help:"));
    }
}

/// `matmul_registers` asks for two blocks a multiprocessor (`.minnctapersm`), which leave a thread 128 registers.
#[test]
fn a_kernel_that_asks_for_blocks_has_the_registers_that_they_leave() {
    let matmul =
        |flags: &str| output(&format!("matmul --registers --device sim:hopper --why {flags}")).replace('\n', " ");
    let bounded = matmul("");
    assert!(
        bounded.contains("2 blocks are resident on a multiprocessor, 16 of 64 warps, at 128 registers"),
        "{bounded}"
    );
    let given = matmul("--thread-registers 130");
    assert!(given.contains("1 block is resident on a multiprocessor, 8 of 64 warps, at 130 registers"), "{given}");
}
