//! Tests of `host run`: any kernel of any PTX, on the simulator.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::{fails, files_in, host, output};

/// PTX of other tests: the patterns whose counts an H200 has confirmed, and the labs' kernels.
const PATTERNS: &str = "run ../crates/simt/tests/data/patterns.ptx";
const KERNELS: &str = "run ../kernels/ptx/kernels.sm_75.ptx";

/// Small kernels: one that adds to each element, one that takes a struct, one that never ends.
const SMALL: &str = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry add(.param .u64 data, .param .s32 value, .param .u32 count) {
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    ld.param.s32 %r1, [value];
    ld.param.u32 %r5, [count];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r5;
    @%p ret;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    add.s32 %r4, %r3, %r1;
    st.global.u32 [%rd1], %r4;
    ret;
}
.visible .entry unpack(.param .u64 out, .param .align 4 .b8 pair[8]) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [pair];
    ld.param.u32 %r2, [pair+4];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    ret;
}
.visible .entry halves(.param .u64 out, .param .f32 x, .param .f64 y)
.reqntid 32, 1, 1
{
    .reg .b32 %f<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.b32 %f1, [x];
    st.global.b32 [%rd1], %f1;
    ret;
}
.visible .entry endless() {
again:
    bra again;
}
";

/// A folder with the small kernels, and the start of a command that runs one.
fn small() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("small.ptx");
    fs::write(&file, SMALL).expect("the file is written");
    (folder, file)
}

fn run(file: &Path, arguments: &str) -> Command {
    let mut command = host("run");
    command.arg(file);
    command.args(arguments.split_whitespace());
    command.args(["--device", "sim"]);
    command
}

fn json_of(mut command: Command) -> Value {
    let run = command.args(["--format", "json"]).assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("JSON")
}

#[test]
fn the_counters_are_those_of_an_h200() {
    let rows: Value = serde_json::from_str(include_str!("../../crates/simt/tests/data/h200.json")).expect("JSON");
    let row = rows.as_array().expect("rows").iter().find(|row| row["case"] == "read_offset2").expect("the row");
    assert_eq!((&row["kernel"], &row["grid"], &row["block"]), (&json!("g_read_offset"), &json!(256), &json!(256)));
    assert_eq!(row["args"], json!(["A", "B", "O", 65536, 2]));
    let text = output(&format!(
        "{PATTERNS} g_read_offset --grid 256 --block 256 f32[65536]=ramp f32[65536]=1 f32[65536]=-1 u32:65536 u32:2 --print 2 \
         --device sim --no-predict --format json"
    ));
    let found: Value = serde_json::from_str(&text).expect("JSON");
    for (name, expected) in row["counters"].as_object().expect("counters") {
        let (expected, counted) = (expected.as_f64().expect("a number"), &found["counters"][name]);
        // The profiler shows 0 if nothing was counted, and rounds a ratio to two digits.
        let difference = (counted.as_f64().unwrap_or(0.0) - expected).abs();
        assert!(difference < 0.0051 && (difference == 0.0 || name.ends_with(".pct")), "{name}: {counted}, {expected}");
    }
    let keys: Vec<&String> = found.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["kernel", "device", "correct", "counters", "faults", "output", "buffers"]);
    assert_eq!(
        (&found["kernel"], &found["correct"], &found["faults"]),
        (&json!("g_read_offset"), &json!(null), &json!([]))
    );
    assert_eq!(found["device"]["kind"], "simulator");
    assert_eq!(found["buffers"].as_object().map(serde_json::Map::len), Some(1));
    // a[i + 2] + b[i + 2]; the last two are unchanged.
    let expected: Vec<f64> = (0..65536).map(|i| if i < 65534 { f64::from(i + 3) } else { -1.0 }).collect();
    assert!(found["buffers"]["2"] == json!(expected));
}

#[test]
fn a_kernel_of_slices_takes_addresses_and_lengths() {
    let text = output(&format!(
        "{KERNELS} offset_read --grid 1 --block 64 f32[64]=ramp u64:64 f32[64]=0.5 u64:64 f32[64] u64:64 u64:0 --print 4 \
         --device sim --format json"
    ));
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let expected: Vec<f64> = (0..64).map(|i| f64::from(i) + 0.5).collect();
    assert_eq!(found["buffers"]["4"], json!(expected));
}

#[test]
fn files_go_in_and_come_out() {
    let (folder, file) = small();
    let (input, result) = (folder.path().join("in.npy"), folder.path().join("out.npy"));
    // What NumPy writes for numpy.array([[5, -6, 7], [1, 2, 3]], dtype=numpy.int32).
    let mut bytes = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    bytes.extend(format!("{:<69}\n", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }").bytes());
    bytes.extend([5_i32, -6, 7, 1, 2, 3].iter().flat_map(|value| value.to_le_bytes()));
    fs::write(&input, &bytes).expect("the file is written");
    let arguments = format!("add --grid 1 --block 32 @{} i32:-10 u32:5 --save 0={}", input.display(), result.display());
    run(&file, &arguments).assert().success();
    let written = host::npy::read::<i32>(&result, 2).expect("the result");
    assert_eq!((written.shape, written.data), (vec![2, 3], vec![-5, -16, -3, -9, -8, 3]));
    assert_eq!(files_in(folder.path()).len(), 3, "nothing else is left");
}

#[test]
fn negative_numbers_structs_and_moved_addresses_arrive() {
    let (_folder, file) = small();
    let found = json_of(run(&file, "add --grid 1 --block 32 i32[4]+8=1,2,3,4 i32:-7 u32:2 --print 0"));
    assert_eq!(found["buffers"]["0"], json!([1, 2, -4, -3]));
    let found = json_of(run(&file, "unpack --grid 1 --block 1 u32[2] bytes:0100000000010000 --print 0"));
    assert_eq!(found["buffers"]["0"], json!([1, 256]));
    let found = json_of(run(&file, "halves --grid 1 --block 32 f32[1] f32:0.1 f64:-2 --print 0"));
    // The shortest text of the f32, not of the f64 next to it.
    assert_eq!(found["buffers"]["0"], json!([0.1]));
    let empty = json_of(run(&file, "add --grid 1 --block 32 i32[0] i32:1 u32:0 --print 0"));
    assert_eq!(empty["buffers"]["0"], json!([]));
}

#[test]
fn the_table_is_for_people() {
    let (_folder, file) = small();
    let run = run(&file, "add --grid 1 --block 32 u32[10]=ramp i32:100 u32:10 --print 0").assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout);
    assert!(text.contains("small.ptx: 1 x 1 x 1 blocks of 32 x 1 x 1 threads\non the simulator: counts"), "{text}");
    // The labs' columns and their legend, then the counters by their names.
    let (table, names) = text.split_once("\nAll counters that are not zero").expect("a table and a list");
    assert!(table.contains("loads:") && table.contains("\nadd "), "{text}");
    assert!(table.contains("Sectors are 32 bytes") && !table.contains("Wavefronts"), "{text}");
    assert!(names.contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), "{text}");
    assert!(text.ends_with("\nArgument 0, u32[10]:\n0: 100 101 102 103 104 105 106 107\n8: 108 109\n"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.len() <= 100), "{text}");
}

#[test]
fn a_fault_is_in_the_json_and_the_exit_code_is_1() {
    let (folder, file) = small();
    let result = folder.path().join("out.npy");
    let arguments = format!(
        "add --check none --grid 1 --block 32 u32[10]=ramp i32:100 u32:32 --print 0 --save 0={}",
        result.display()
    );
    fails(run(&file, &arguments), 1, &["add", "out of bounds", "thread (10, 0, 0)"]);
    let mut command = run(&file, &arguments);
    let run_json = command.args(["--format", "json"]).assert().code(1);
    let found: Value = serde_json::from_slice(&run_json.get_output().stdout).expect("JSON");
    assert_eq!((&found["counters"], &found["buffers"]), (&json!(null), &json!({})));
    let faults = found["faults"].as_array().expect("faults");
    assert_eq!(faults.len(), 1);
    let fault = &faults[0];
    assert_eq!((&fault["kind"], &fault["kernel"]), (&json!("out_of_bounds"), &json!("add")));
    assert_eq!((&fault["block"], &fault["thread"]), (&json!([0, 0, 0]), &json!([10, 0, 0])));
    assert_eq!((&fault["line"], &fault["width"]), (&json!(17), &json!(4)));
    assert_eq!(fault["file"], json!(file.display().to_string()));
    assert!(fault["address"].as_u64().expect("an address") % 256 == 40, "{fault}");
    assert!(!result.exists(), "nothing is saved");

    // With `.loc`, the line is in the Rust source.
    let arguments = "offset_read --grid 1 --block 64 f32[8] u64:64 f32[64] u64:64 f32[32] u64:64 u64:0 --check none --format json --device sim";
    let run = host(&format!("{KERNELS} {arguments}")).assert().code(1);
    let found: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let file = found["faults"][0]["file"].as_str().expect("a file");
    assert!(file.ends_with("kernels/src/offset.rs"), "{found}");
}

#[test]
fn a_buffer_of_no_elements_has_no_byte_to_access() {
    let (_folder, file) = small();
    let reported = run(&file, "add --grid 1 --block 32 u32[0] i32:100 u32:1").assert().code(1);
    let text = String::from_utf8_lossy(&reported.get_output().stderr).replace("\n    ", " ");
    assert!(text.contains("just past the end of the allocation of 0 bytes"), "{text}");
}

#[test]
fn what_the_checks_find_does_not_stop_the_kernel() {
    let (folder, file) = small();
    let result = folder.path().join("out.npy");
    let arguments = format!("add --grid 1 --block 32 u32[10]=ramp i32:100 u32:32 --save 0={}", result.display());
    let reported = run(&file, &arguments).assert().code(1);
    let text = String::from_utf8_lossy(&reported.get_output().stderr);
    assert!(text.starts_with("fault[memory]: out of bounds read of 4 bytes"), "{text}");
    assert!(text.contains("small.ptx:17\n   = thread (10, 0, 0) of block (0, 0, 0) reads: `ld.global.u32"), "{text}");
    assert!(text.contains("   = in kernel `add`, 22 times\n\nfault[memory]: out of bounds write"), "{text}");
    assert!(text.ends_with("\nerror: kernel add: the checks found 2 faults\n"), "{text}");
    assert!(result.exists(), "what the kernel computed is saved");

    let reported = run(&file, &format!("{arguments} --format json")).assert().code(1);
    let found: Value = serde_json::from_slice(&reported.get_output().stdout).expect("JSON");
    let faults = found["faults"].as_array().expect("faults");
    assert_eq!(faults.len(), 2);
    assert_eq!((&faults[0]["check"], &faults[0]["kind"]), (&json!("memory"), &json!("out_of_bounds")));
    assert_eq!((&faults[0]["count"], &faults[0]["allocation"]["bytes"]), (&json!(22), &json!(40)));
    assert_eq!((&faults[0]["thread"], &faults[0]["line"]), (&json!([10, 0, 0]), &json!(17)));
    assert!(found["counters"].is_object(), "{found}");

    fails(run(&file, "add --check races --grid 1 --block 32 u32[10] i32:1 u32:1"), 2, &["unknown check 'races'"]);
}

#[test]
fn a_freed_buffer_is_no_longer_there() {
    let (_folder, file) = small();
    let arguments = "add --check none --grid 1 --block 32 freed:u32[32]=ramp i32:100 u32:32";
    fails(run(&file, arguments), 1, &["add", "use after free", "thread (0, 0, 0)"]);
}

#[test]
fn an_endless_kernel_ends_at_the_limit() {
    let (_folder, file) = small();
    fails(run(&file, "endless --grid 1 --block 32 --step-limit 1000"), 1, &["endless", "1000 warp instructions"]);
}

#[test]
fn what_does_not_fit_is_one_line() {
    let (folder, file) = small();
    for (arguments, parts) in [
        ("", &["KERNEL"][..]),
        ("add u32[4] i32:1 u32:4", &["--grid"]),
        ("sub --grid 1 --block 32", &["sub", "small.ptx", "add, unpack, halves, endless"]),
        ("add --grid 1 --block 32 u32[4]", &["takes 3 arguments (u64, s32, u32)", "1 was given"]),
        ("endless --grid 1 --block 32 u32:1", &["takes no arguments", "1 was given"]),
        ("add --grid 1 --block 32 u32[4] i64:1 u32:4", &["parameter 1 (s32 value) has 4 bytes", "i64:1, has 8"]),
        ("add --grid 1 --block 32 u32:4 i32:1 u32:4", &["parameter 0", "8 bytes"]),
        ("add --grid 1 --block 32 u32[4] seven u32:4", &["seven", "u32:5"]),
        ("add --grid 1 --block 32 u32[4]=1,2 i32:1 u32:4", &["2 values do not fill 4 elements"]),
        ("add --grid 1 --block 32 @no-such.npy i32:1 u32:4", &["no-such.npy", "cannot be opened"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --print 1", &["--print", "i32:1, is not a buffer"]),
        ("add --grid 1 --block 32 freed:u32[4] i32:1 u32:4 --print 0", &["--print", "freed before the launch"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --print 3", &["--print", "no argument 3"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --save 9=x.npy", &["--save", "no argument 9"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --save x.npy", &["--save", "2=out.npy"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --save 0=no-folder/x.npy", &["no-folder", "there is no folder"]),
        ("add --grid 0 --block 32 u32[4] i32:1 u32:4", &["--grid", "from 1"]),
        ("add --grid 1 --block 2048 u32[4] i32:1 u32:4", &["2048", "1024"]),
        ("add --grid 1 --block 32 --shared 9999999 u32[4] i32:1 u32:4", &["9999999", "shared memory"]),
        ("add --grid 1 --block 32 u8[9000000000000000] i32:1 u32:4", &["u8[9000000000000000]", "memory"]),
        ("halves --grid 1 --block 64 f32[1] f32:1 f64:1", &["32 x 1 x 1", ".reqntid", "64 x 1 x 1"]),
        ("add --grid 1 --block 32 u32[4] i32:1 u32:4 --ptx a.ptx", &["unexpected argument '--ptx'"]),
        ("endless --grid 1 --block 32 --step-limit 0", &["--step-limit"]),
    ] {
        fails(run(&file, arguments), 2, parts);
    }
    // Also without a GPU: no note about the simulator if nothing runs there.
    let mut command = host("run --grid 1,70000 --block 1");
    command.arg(&file).arg("endless");
    fails(command, 2, &["70000", "65535"]);
    fails(run(&folder.path().join("none.ptx"), "k --grid 1 --block 1"), 2, &["none.ptx"]);
    assert_eq!(files_in(folder.path()).len(), 1, "nothing is left");
}

#[test]
fn lines_show_where_the_sectors_go() {
    let text = output(&format!(
        "{KERNELS} offset_read --grid 1 --block 64 f32[64]=ramp u64:64 f32[64]=0.5 u64:64 f32[64] u64:64 u64:0 --lines --device sim"
    ));
    let listed = text.split_once("\nkernels/src/offset.rs\n").expect("the file of Rust").1;
    let hot: Value = serde_json::from_str(&output(&format!(
        "{KERNELS} offset_read --grid 1 --block 64 f32[64]=ramp u64:64 f32[64]=0.5 u64:64 f32[64] u64:64 u64:0 --lines --hot 1 \
         --format json --device sim"
    )))
    .expect("JSON");
    let lines = hot["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["file"], &lines[0]["sectors_per_request"]), (&json!("kernels/src/offset.rs"), &json!(4.0)));
    let source = lines[0]["source"].as_str().expect("the source is found from within the workspace").trim();
    let start: String = source.chars().take(36).collect();
    assert!(listed.contains(&start), "{source}: {listed}");

    // Without `.loc`, the PTX itself is shown.
    let (_folder, file) = small();
    let arguments = "add --grid 1 --block 32 u32[32] i32:1 u32:32 --lines --hot 2";
    let run = run(&file, arguments).assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout);
    assert!(text.contains("ld.global.u32 %r3, [%rd1];") && text.contains("st.global.u32 [%rd1], %r4;"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.len() <= 100 || line.ends_with("small.ptx")), "{text}");
}

#[test]
fn loads_and_stores_of_a_line_are_counted_apart() {
    let text = output("offset --offset 1 --device sim --lines");
    let read = text.split_once("\nread+1, line by line:\n").expect("the lines").1;
    let line = read.split_once("*c = a + b;").expect("the line that does it").1;
    let accesses: Vec<&str> = line.lines().skip(1).take(2).map(str::trim).collect();
    assert!(accesses[0].ends_with("= global loads: 5.00 sectors per request"), "{text}");
    assert!(accesses[1].ends_with("= global stores: 4.00 sectors per request"), "{text}");
    assert_eq!(text.matches("bank conflicts are those").count(), 1, "one legend for all variants: {text}");
}

#[test]
fn no_width_hides_the_end_of_a_line() {
    let shown = |columns: &str| {
        let mut command = host("transpose --tiled --rows 64 --cols 64 --device sim --lines --hot 1");
        let run = command.env("COLUMNS", columns).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        text.split_once("line by line:\n").expect("the lines").1.to_owned()
    };
    for (columns, width) in [("60", 60), ("200", 200), ("many", 100)] {
        let text = shown(columns);
        assert!(text.lines().all(|line| line.len() <= width), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("*to = (*tile)[x as usize][line as usize];"), "{text}");
        assert!(words.contains("shared loads: 32.0 wavefronts per request, 3968 bank conflicts"), "{text}");
    }
    assert!(shown("200").lines().any(|line| line.ends_with("*to = (*tile)[x as usize][line as usize];")));
}

#[test]
fn sources_are_found_from_anywhere_or_missed_aloud() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut command = host("offset --offset 1 --size 4096 --device sim --lines");
    let run = command.current_dir(elsewhere.path()).assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout);
    assert!(text.contains("let i = thread::linear_index();") && !text.contains("not found"), "{text}");

    let (_folder, file) = small();
    let located = SMALL.replace(".address_size 64", ".address_size 64\n.file 1 \"src/no_such_kernel.rs\"");
    // The first load comes before any `.loc`, as loads of parameters often do.
    let located = located.replace("ld.param.s32 %r1", ".loc 1 7 3\n    ld.param.s32 %r1");
    fs::write(&file, located).expect("the file is written");
    let run = self::run(&file, "add --grid 1 --block 32 u32[32] i32:1 u32:32 --lines").assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout);
    let note = "src/no_such_kernel.rs was not found, so its text is missing: it is looked for below";
    assert_eq!(text.matches(note).count(), 1, "{text}");
    let unplaced = text.lines().find(|line| line.contains("(no line of its own")).expect("what has no line");
    assert_eq!(unplaced.split_whitespace().take(3).collect::<Vec<_>>(), ["-", "1", "32.0"], "{text}");
}

#[test]
fn numbers_that_do_not_suit_their_parameter_are_noted() {
    let (_folder, file) = small();
    let noted = |arguments: &str| {
        let run = run(&file, arguments).assert().success();
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    let integer = noted("halves --grid 1 --block 32 f32[1] u32:2 f64:1");
    let expected = "note: argument 1, u32:2, is an integer, but parameter 1 (f32 x) is a float: its bits are passed \
                    unchanged; f32:2 passes the number\n";
    assert_eq!(integer, expected);
    let float = noted("add --grid 1 --block 32 u32[32] i32:1 f32:32");
    assert!(float.contains("argument 2, f32:32, is a float, but parameter 2 (u32 count) is an integer"), "{float}");
    assert!(float.trim_end().ends_with("; u32:32 passes the number"), "{float}");
    // Half a thread is not valid.
    let half = noted("add --grid 1 --block 32 u32[32] i32:1 f32:0.5 --check none");
    assert!(half.trim_end().ends_with("its bits are passed unchanged"), "{half}");
    for fitting in ["halves --grid 1 --block 32 f32[1] f32:2 f64:1", "add --grid 1 --block 32 u32[32] i32:1 u32:32"] {
        assert_eq!(noted(fitting), "", "{fitting}");
    }
    // rustc's parameter for a slice is declared as an address.
    let swapped = "offset_read --grid 1 --block 1 u64:64 u64:0 u64:0 u64:0 u64:0 u64:0 u64:9 --device sim";
    let run = host(&format!("{KERNELS} {swapped}")).assert().success();
    let notes = String::from_utf8_lossy(&run.get_output().stderr);
    let expected = "argument 0, u64:64, is a number, but parameter 0 (u64 offset_read_param_0) is an address";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
fn a_wrong_count_of_arguments_mentions_slices() {
    let (_folder, file) = small();
    let too_few = host(&format!("{KERNELS} offset_read --grid 1 --block 1 f32[1] f32[1] f32[1] u64:0 --device sim"));
    fails(too_few, 2, &["takes 7 arguments", "4 were given; a Rust slice takes 2, address and length"]);
    let none = run(&file, "add --grid 1 --block 32 u32[4]").assert().code(2);
    let text = String::from_utf8_lossy(&none.get_output().stderr);
    assert!(text.contains("takes 3 arguments") && !text.contains("slice"), "{text}");
}

#[test]
fn labs_show_lines_too() {
    let text = output("transpose --naive --tiled --rows 64 --cols 64 --device sim --lines --hot 2");
    assert!(text.contains("\nstrided-reads, line by line:\n") && text.contains("\ntiled, line by line:\n"), "{text}");
    assert!(text.matches("kernels/src/transpose.rs\n").count() == 3, "{text}");
    let found = crate::json("transpose --padded --rows 64 --cols 64 --lines");
    let lines = found["variants"][0]["lines"].as_array().expect("lines");
    let sum = |key: &str| lines.iter().filter_map(|line| line[key].as_u64()).sum::<u64>();
    let requests = |op| {
        let name = format!("l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum");
        found["variants"][0]["counters"][name].as_u64().expect("a counter")
    };
    assert_eq!(sum("requests"), requests("ld") + requests("st"));
    assert_eq!(sum("bank_conflicts"), 0);
    fails(host("transpose --padded --device sim --lines --format csv"), 2, &["--lines", "--format"]);
    fails(host("transpose --padded --device sim --hot 3"), 2, &["--lines"]);
    fails(host(&format!("{KERNELS} offset_read --grid 1 --block 1 --lines --format markdown")), 2, &["--lines"]);
}

#[test]
fn clusters_are_launched_as_asked_for_or_refused_with_the_reason() {
    let run_on = |device: &str, arguments: &str| {
        host(&format!("run ../crates/simt/tests/filetests/distributed.ptx {arguments} --device {device}"))
    };
    let run = |arguments: &str| run_on("sim", arguments);
    for device in ["sim", "sim:hopper"] {
        let shown = run_on(device, "neighbours --grid 4 --block 2 --cluster 2 u32[64] --print 0").assert().success();
        let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
        assert!(text.contains("4 x 1 x 1 blocks of 2 x 1 x 1 threads, in clusters of 2 x 1 x 1 blocks"), "{text}");
        // Block 0 has block 1's values, and its neighbour's rank.
        assert!(text.contains("\n 0: 100 100 100 100 6 10 0 0\n"), "{text}");
        assert_eq!(text.contains("\nlaunch__cluster_max_active "), device != "sim", "{text}");
    }
    let reason = "which need compute capability 9.0, but the model ampere has 8.0";
    fails(run_on("sim:ampere", "neighbours --grid 4 --block 2 --cluster 2 u32[64]"), 2, &["[2, 1, 1] blocks", reason]);
    fails(run_on("sim:ampere", "demands --grid 4 --block 1 u32[1]"), 2, &["[2, 1, 1] blocks", reason]);
    run_on("sim:ampere", "explicit --grid 8 --block 1 --cluster 1 u32[1]").assert().success();
    for (arguments, parts) in [
        ("neighbours --grid 3 --block 2 --cluster 2 u32[64]", ["a grid of 3 x 1 x 1", "clusters of 2 x 1 x 1"]),
        ("neighbours --grid 32 --block 2 --cluster 32 u32[64]", ["32 blocks", "1 to 16 are allowed"]),
        ("demands --grid 4 --block 1 --cluster 4 u32[1]", ["clusters of 2 x 1 x 1", ".reqnctapercluster"]),
        ("explicit --grid 4 --block 1 u32[1]", [".explicitcluster", "--cluster"]),
        ("explicit --grid 8 --block 1 --cluster 8 u32[1]", ["at most 4 blocks", ".maxclusterrank"]),
        ("neighbours --grid 2 --block 1 --cluster 0 u32[64]", ["--cluster", "from 1"]),
    ] {
        fails(run(arguments), 2, &parts);
    }
}

/// The hardware sums floats in shared memory by loops, whose counts depend on timing.
#[test]
fn a_note_says_which_atomic_operation_a_gpu_counts_otherwise() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("sum.ptx");
    let sum = |ty: &str, register: &str| {
        let text = format!(
            ".version 7.8\n.target sm_75\n.address_size 64\n.shared .align 4 .b8 sums[4];\n.visible .entry sum()\n{{\n\
             .reg .b32 %r<2>;\n.reg .f32 %f<2>;\nmov.b32 %f1, 0f3F800000;\nmov.b32 %r1, 1;\n\
             atom.shared.add.{ty} %{register}1, [sums], %{register}1;\nret;\n}}\n"
        );
        fs::write(&file, text).expect("the folder is writable");
        let run = host(&format!("run {} sum --grid 1 --block 32 --device sim --check none", file.display()))
            .assert()
            .success();
        String::from_utf8_lossy(&run.get_output().stderr).replace("\n    ", " ")
    };
    let note = sum("f32", "f");
    assert!(note.contains("note: PTX line 11: a GPU makes this atomic operation in shared memory as a loop"), "{note}");
    assert_eq!(sum("u32", "r"), "");
}
