//! The times that `host run` prints of a GPU, on the fake driver: in each format, with GB/s where
//! `--bytes` is given. Outputs are those of the first launch. Any time between two events is 1.5
//! ms.

use std::path::Path;

use serde_json::Value;

use crate::gpu::{folder, on_fake_gpu};
use crate::{fails, host, output};

const RUN: &str = "run it.ptx k --device gpu --grid 1 --block 32 u32[16]=ramp";

/// A short measurement, on a GPU whose level-2 cache has room for some data.
const SHORT: &str = "--time-limit 0.5";

/// What a run prints, with a level-2 cache of so many bytes.
fn printed(arguments: &str, l2: &str) -> String {
    let mut command = on_fake_gpu(arguments, "");
    let run = command.env("FAKE_CUDA_L2", l2).assert().success();
    String::from_utf8_lossy(&run.get_output().stdout).into_owned()
}

/// `host run` printed no time on a GPU.
#[test]
fn a_run_on_a_gpu_prints_its_times() {
    let table = printed(&format!("{RUN} {SHORT} --print 0"), "65536");
    let expected = "\
k of it.ptx: 1 x 1 x 1 blocks of 32 x 1 x 1 threads
on Fake GPU
timed: cold (level-2 cache flushed before each launch) and warm (back to back)

         time,  time, spread
kernel    cold   warm   +- %
k      1.50 ms 750 us    0.0

Rates, percentages and speed-ups are those of the cold times.

Argument 0, u32[16]:
 0: 0 1 2 3 4 5 6 7
 8: 8 9 10 11 12 13 14 15
";
    assert_eq!(table, expected);
    // 3 MiB in 750 us, of 4814 GB/s.
    let table = printed(&format!("{RUN} {SHORT} --bytes 3M"), "64");
    assert!(table.contains("\ntimed: the data is far larger than the level-2 cache\n"), "{table}");
    assert!(table.contains("\nk      750 us    0.0 4.19   0.1\n"), "{table}");
    assert!(table.ends_with("\nThe limit is the memory bus, 4814 GB/s.\n"), "{table}");
}

#[test]
fn every_format_has_the_times_under_the_labs_names() {
    let text = |format: &str| printed(&format!("{RUN} {SHORT} --bytes 3000000 --format {format}"), "4000000");
    let json: Value = serde_json::from_str(&text("json")).expect("JSON");
    assert_eq!((&json["time_ms"], &json["warm_time_ms"]), (&1.5.into(), &0.75.into()), "{json}");
    assert_eq!((&json["useful_bytes"], &json["gbps"]), (&3_000_000.into(), &2.0.into()), "{json}");
    assert_eq!((&json["timing"]["cache"], &json["warm_timing"]["cache"]), (&"flushed".into(), &"warm".into()));
    assert_eq!(json["timing"]["time_upper_quartile_ms"], 1.5);
    assert!(json["percent_of_memory_limit"].as_f64().is_some_and(|percent| percent > 0.04 && percent < 0.05));
    let csv = text("csv");
    for row in
        ["useful_bytes,3000000", "time_ms,1.5", "warm_time_ms,0.75", "gbps,2.0", "cache,flushed", "warm_cache,warm"]
    {
        assert!(csv.contains(&format!("\n{row}\n")), "{row}: {csv}");
    }
    let markdown = text("markdown");
    for row in ["| time_ms | 1.5 |", "| warm_time_lower_quartile_ms | 0.75 |", "| gbps | 2.0 |"] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
    // Without --bytes, there is no rate in any of them.
    for format in ["table", "json", "csv", "markdown"] {
        let text = printed(&format!("{RUN} {SHORT} --format {format}"), "65536");
        let (rate, bytes) = (
            text.contains("GB/s") || text.contains("gbps,") || text.contains("gbps |"),
            text.contains("useful_bytes,"),
        );
        assert!(!rate && !bytes && !text.contains("\"gbps\": 2"), "{text}");
    }
}

/// The lines of the file of launches: what each found in the first word of its buffer, and its
/// grid.
fn launches(file: &Path) -> Vec<(u32, String)> {
    let text = std::fs::read_to_string(file).expect("there were launches");
    let line = |line: &str| {
        let (found, shape) = line.split_once(' ').expect("two parts");
        (found.parse().expect("a number"), shape.split("] ").next().unwrap_or_default().to_owned() + "]")
    };
    text.lines().map(line).collect()
}

/// A run of kernels that count their launches: what it prints, and the launches.
fn counted(arguments: &str) -> (String, Vec<(u32, String)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("launches");
    let mut command = on_fake_gpu(arguments, "");
    let run = command.env("FAKE_CUDA_LAUNCHES", &log).env("FAKE_CUDA_COUNTS", "").assert().success();
    (String::from_utf8_lossy(&run.get_output().stdout).into_owned(), launches(&log))
}

/// A kernel that works in place changes its data whenever it is timed.
#[test]
fn outputs_are_those_of_the_first_launch() {
    let (table, launches) = counted(&format!("{RUN} {SHORT} --print 0"));
    assert!(table.contains("\n 0: 1 1 2 3 "), "{table}");
    // The timed launches begin anew, and then find what those before them left.
    let found: Vec<u32> = launches.iter().map(|(found, _)| *found).collect();
    assert!(found.len() > 20, "{found:?}");
    assert_eq!(found[0], 0);
    assert!(found[1..].iter().copied().eq(0..found.len() as u32 - 1), "{found:?}");
}

#[test]
fn each_of_several_launches_is_timed_with_what_it_found_the_first_time() {
    let two = format!("{RUN} --bytes 3000000 --then k --grid 2 --block 32 arg:0 --print 0 {SHORT}");
    let (table, launches) = counted(&two);
    assert!(table.contains("\n 0: 2 1 2 3 "), "{table}");
    assert_eq!(table.matches("\ntimed: ").count(), 2, "{table}");
    assert_eq!(table.matches("GB/s").count(), 1 + 1, "only the first launch has --bytes: {table}");
    let of_grid =
        |grid: &str| -> Vec<u32> { launches.iter().filter(|(_, of)| of == grid).map(|(found, _)| *found).collect() };
    let second = of_grid("[2, 1, 1]");
    // Once for the outputs, and then after a new first launch.
    assert_eq!(second[..3], [1, 1, 2]);
    // The first launch for the outputs, timed, and once more before the second is timed.
    let first = of_grid("[1, 1, 1]");
    assert_eq!((first[0], first[1], first.last()), (0, 0, Some(&0)));

    let json: Value = serde_json::from_str(&counted(&format!("{two} --format json")).0).expect("JSON");
    assert_eq!((&json["launches"][0]["time_ms"], &json["launches"][1]["time_ms"]), (&0.75.into(), &1.5.into()));
    assert_eq!(json["launches"][0]["gbps"], 4.0);
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
        let mut command = on_fake_gpu(&format!("run prints.ptx {kernel} --device gpu --grid 1 --block 1 {SHORT}"), "");
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
        fails(on_fake_gpu(&format!("{RUN} {SHORT}"), failing), code, parts);
    };
    // The first launch and its outputs are synchronized with before.
    failing("cuEventSynchronize:700", 1, &["kernel k", "(700)", "--once launches once"]);
    failing("cuEventRecord:999", 2, &["(999)"]);
    // No room for the buffer that flushes the cache: a note, and the results.
    let run = on_fake_gpu(&format!("{RUN} {SHORT} --print 0"), "cuMemAlloc_v2:2:3").assert().success();
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
