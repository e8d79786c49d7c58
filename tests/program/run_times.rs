//! The times that `host run` prints of a GPU, on the driver that executes: in each format, with
//! GB/s where `--bytes` is given. Outputs are those of the first launch.

use serde_json::Value;

use crate::gpu::{MEASURED, folder, launches, on_measured_gpu};
use crate::{fails, host, output};

const RUN: &str = "run it.ptx k --device gpu --grid 1 --block 32 u32[16]=ramp";

/// A kernel that adds 1 to the first word of its buffer.
const COUNTING: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p, %r1, 0;
	@%p ret;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	add.u32 %r2, %r1, 1;
	st.global.u32 [%rd1], %r2;
	ret;
}
";

/// A short measurement.
const SHORT: &str = "--time-limit 0.5";

/// What a run prints, measured.
fn printed(arguments: &str) -> String {
    let run = on_measured_gpu(arguments, "").assert().success();
    String::from_utf8_lossy(&run.get_output().stdout).into_owned()
}

/// `host run` printed no time on a GPU.
#[test]
fn a_run_on_a_gpu_prints_its_times() {
    let table = printed(&format!("{RUN} {SHORT} --print 0"));
    let begins = format!(
        "\
k of it.ptx: 1 x 1 x 1 blocks of 32 x 1 x 1 threads
on {MEASURED}
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

"
    );
    let ends = "Argument 0, u32[16]:
 0: 0 1 2 3 4 5 6 7
 8: 8 9 10 11 12 13 14 15
";
    assert!(table.starts_with(&begins) && table.ends_with(ends), "{table}");
    assert!(table.contains("\n\nRates, percentages and speed-ups are those of the cold times.\n"), "{table}");
    let heads: Vec<Vec<&str>> = table.lines().skip(4).take(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(heads, [vec!["time,", "time,", "spread"], vec!["kernel", "cold", "warm", "+-", "%"]], "{table}");
    assert!(table.contains("\nk "), "{table}");
    let table = printed(&format!("{RUN} {SHORT} --bytes 3M"));
    assert!(table.lines().any(|line| line.split_whitespace().last() == Some("GB/s")), "{table}");
    let table = printed(&format!("{RUN} {SHORT} --bytes 16M"));
    assert!(table.contains("\ntimed: the data is far larger than the level-2 cache\n"), "{table}");
}

/// The predicted time of an empty launch, which is the same in each run, so that its rates are,
/// too.
#[test]
fn predicted_times_are_taken_once() {
    let text = |format: &str| {
        let mut command = crate::gpu::on_gpu(&format!("{RUN} --bytes 3000000 --format {format}"), "");
        let run = command.env_remove("COALESCE_PREDICT").assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    let json: Value = serde_json::from_str(&text("json")).expect("JSON");
    let (time, rate) = (json["time_ms"].as_f64().expect("a time"), json["gbps"].as_f64().expect("a rate"));
    // An empty launch takes an H200 some microseconds.
    assert!((0.002..0.005).contains(&time) && (3.0 / time / rate - 1.0).abs() < 1e-3, "{json}");
    assert_eq!((&json["timing"]["samples"], &json["warm_time_ms"]), (&1.into(), &Value::Null), "{json}");
    assert_eq!(text("json"), text("json"));
}

#[test]
fn every_format_has_the_times_under_the_labs_names() {
    let text = |format: &str| printed(&format!("{RUN} {SHORT} --bytes 3000000 --format {format}"));
    let json: Value = serde_json::from_str(&text("json")).expect("JSON");
    let number = |value: &Value| value.as_f64().expect("a number");
    let (time, rate) = (number(&json["time_ms"]), number(&json["gbps"]));
    assert!(time > 0.0 && number(&json["warm_time_ms"]) > 0.0, "{json}");
    assert_eq!(json["useful_bytes"], 3_000_000);
    assert!((3.0 / time / rate - 1.0).abs() < 1e-3, "{json}");
    assert_eq!((&json["timing"]["cache"], &json["warm_timing"]["cache"]), (&"flushed".into(), &"warm".into()));
    assert!(number(&json["timing"]["time_upper_quartile_ms"]) >= time, "{json}");
    let csv = text("csv");
    for row in ["useful_bytes,3000000\n", "time_ms,", "warm_time_ms,", "gbps,", "cache,flushed\n", "warm_cache,warm\n"]
    {
        assert!(csv.contains(&format!("\n{row}")), "{row}: {csv}");
    }
    let markdown = text("markdown");
    for row in ["| time_ms | ", "| warm_time_lower_quartile_ms | ", "| gbps | "] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
    // Without --bytes, there is no rate in any of them.
    for format in ["table", "json", "csv", "markdown"] {
        let text = printed(&format!("{RUN} {SHORT} --format {format}"));
        let (rate, bytes) = (
            text.contains("GB/s") || text.contains("gbps,") || text.contains("gbps |"),
            text.contains("useful_bytes,"),
        );
        assert!(!rate && !bytes && !text.contains("\"gbps\": 2"), "{text}");
    }
}

/// A run of kernels that count their launches: what it prints, and the launches and the copies to
/// the device, in their order.
fn counted(arguments: &str) -> (String, Vec<String>) {
    std::fs::write(folder().join("counting.ptx"), COUNTING).expect("the file is written");
    let arguments = arguments.replace("it.ptx", "counting.ptx");
    let text = printed(&arguments);
    (text, launches(on_measured_gpu(&arguments, "")))
}

/// A kernel that works in place changes its data whenever it is timed.
#[test]
fn outputs_are_those_of_the_first_launch() {
    let (table, launches) = counted(&format!("{RUN} {SHORT} --print 0"));
    assert!(table.contains("\n 0: 1 1 2 3 "), "{table}");
    assert!(launches.len() > 20 && launches.iter().all(|launch| launch == "k: grid [1, 1, 1]"), "{launches:?}");
}

#[test]
fn each_of_several_launches_is_timed_with_what_it_found_the_first_time() {
    let two = format!("{RUN} --bytes 3000000 --then k --grid 2 --block 32 arg:0 --print 0 {SHORT}");
    let (table, launches) = counted(&two);
    // Of the second launch each of two blocks adds 1.
    assert!(table.contains("\n 0: 3 1 2 3 "), "{table}");
    assert_eq!(table.matches("\ntimed: ").count(), 2, "{table}");
    assert_eq!(table.matches("GB/s").count(), 1, "only the first launch has --bytes: {table}");
    // Both for the outputs; the first, timed; the first once more, and the second, timed.
    let mut runs = launches.clone();
    runs.dedup();
    let [first, second] = ["k: grid [1, 1, 1]", "k: grid [2, 1, 1]"];
    assert_eq!(runs, [first, second, first, second], "{launches:?}");

    let json: Value = serde_json::from_str(&counted(&format!("{two} --format json")).0).expect("JSON");
    assert!(json["launches"][0]["time_ms"].as_f64() > Some(0.0) && json["launches"][1]["time_ms"].as_f64() > Some(0.0));
    assert!(json["launches"][0]["gbps"].as_f64() > Some(0.0));
    assert!(json["launches"][1]["gbps"].is_null());
}

#[test]
fn a_kernel_may_be_launched_once() {
    let (table, launches) = counted(&format!("{RUN} --once --print 0"));
    assert_eq!(launches.len(), 1, "{launches:?}");
    assert!(table.contains("\n 0: 1 1 2 3 ") && !table.contains("time"), "{table}");
    fails(host(&format!("{RUN} --once {SHORT}")), 2, &["--once", "--time-limit", "cannot be used"]);
}

/// The driver prints the lines of every launch.
#[test]
fn a_kernel_that_prints_is_not_timed() {
    let ptx = "\
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.func inner() {
	.reg .b32 %r<2>;
	call.uni (%r1), vprintf, (0, 0);
	ret;
}
.visible .entry says() {
	call.uni inner;
	ret;
}
.visible .entry is_silent() {
	ret;
}
";
    std::fs::write(folder().join("prints.ptx"), ptx).expect("the file is written");
    let run = |kernel: &str| {
        let mut command =
            on_measured_gpu(&format!("run prints.ptx {kernel} --device gpu --grid 1 --block 1 {SHORT}"), "");
        let run = command.assert().success();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&run.get_output().stdout), text(&run.get_output().stderr))
    };
    let (table, note) = run("says");
    assert_eq!(note, "note: says prints, so it is launched once, and not timed\n");
    assert!(!table.contains("timed"), "{table}");
    assert!(run("is_silent").0.contains("\ntimed: "));
}

#[test]
fn what_fails_while_it_is_timed_is_one_line() {
    let failing = |failing: &str, code: i32, parts: &[&str]| {
        fails(on_measured_gpu(&format!("{RUN} {SHORT}"), failing), code, parts);
    };
    // The first launch and its outputs are synchronized with before.
    failing("cuEventSynchronize:700", 1, &["kernel k", "(700)", "--once launches once"]);
    failing("cuEventRecord:999", 2, &["(999)"]);
    // No room for the buffer that flushes the cache: a note, and the results.
    let run = on_measured_gpu(&format!("{RUN} {SHORT} --print 0"), "cuMemAlloc_v2:2:3").assert().success();
    let (table, note) = (&run.get_output().stdout, &run.get_output().stderr);
    let note = String::from_utf8_lossy(note);
    assert!(note.starts_with("note: k is not timed: ") && note.lines().count() == 1, "{note}");
    let table = String::from_utf8_lossy(table);
    assert!(table.contains(" 0: 0 1 2 3") && !table.contains("timed"), "{table}");
}

#[test]
fn the_simulator_ignores_what_is_about_times_as_in_a_lab() {
    let path = folder().join("it.ptx");
    let run = format!("run {} k --device sim --no-predict --grid 1 --block 32 u32[16]=ramp", path.display());
    let plain = output(&run);
    assert!(plain.contains("\non the simulator: counts, no times\n"), "{plain}");
    for flags in ["--bytes 64", "--once", SHORT] {
        assert_eq!(output(&format!("{run} {flags}")), plain, "{flags}");
    }
    for (bytes, problem) in
        [("0", "give at least 1 byte"), ("x", "is not a number of bytes"), ("-1", "is not a number of bytes")]
    {
        fails(host(&format!("{run} --bytes={bytes}")), 2, &["--bytes", problem]);
    }
    fails(host(&format!("{run} --bytes 1 --bytes 2")), 2, &["--bytes", "launch 0 (k)", "more than once"]);
}
