//! Tests of `host run ... --then ...`: several launches on the same memory.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::{fails, files_in, host, one_error};

/// A sum in two steps: sums of blocks of 64, and the sum of these by one thread, which a variable
/// scales.
const SUM: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .const .align 4 .f32 scale = 0f3F800000;
.visible .entry block_sums(.param .u64 data, .param .u64 sums) {
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 part[256];
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [sums];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 6;
    add.s32 %r4, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, part;
    add.s32 %r6, %r6, %r5;
    st.shared.f32 [%r6], %f1;
    mov.u32 %r7, 32;
again:
    bar.sync 0;
    setp.ge.u32 %p, %r1, %r7;
    @%p bra skip;
    shl.b32 %r5, %r7, 2;
    add.s32 %r5, %r6, %r5;
    ld.shared.f32 %f2, [%r5];
    ld.shared.f32 %f3, [%r6];
    add.f32 %f3, %f3, %f2;
    st.shared.f32 [%r6], %f3;
skip:
    shr.u32 %r7, %r7, 1;
    setp.ne.u32 %p, %r7, 0;
    @%p bra again;
    setp.ne.u32 %p, %r1, 0;
    @%p ret;
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f3;
    ret;
}
.visible .entry total(.param .u64 sums, .param .u64 result, .param .u32 count) {
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [sums];
    ld.param.u64 %rd2, [result];
    ld.param.u32 %r1, [count];
    mov.f32 %f1, 0f00000000;
    mov.u32 %r2, 0;
again:
    ld.global.f32 %f2, [%rd1];
    add.f32 %f1, %f1, %f2;
    add.s64 %rd1, %rd1, 4;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r1;
    @%p bra again;
    ld.const.f32 %f3, [scale];
    mul.f32 %f4, %f1, %f3;
    st.global.f32 [%rd2], %f4;
    ret;
}
";

const FIRST: &str = "block_sums --grid 4 --block 64 f32[256]=ramp f32[4]";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sum.ptx"), SUM).expect("the file is written");
    folder
}

fn run(folder: &Path, arguments: &str) -> Command {
    let mut command = host("run sum.ptx");
    command.args(arguments.split_whitespace()).args(["--device", "sim", "--no-predict"]).current_dir(folder);
    command
}

fn json_of(mut command: Command, code: i32) -> Value {
    let run = command.args(["--format", "json"]).assert().code(code);
    serde_json::from_slice(&run.get_output().stdout).expect("JSON")
}

#[test]
fn launches_share_their_memory() {
    let folder = folder();
    let arguments = format!("{FIRST} --then total --grid 1 --block 1 arg:1 f32[1] u32:4 --print 1,1.0,1.1");
    let found = json_of(run(folder.path(), &arguments), 0);
    let keys: Vec<&String> = found.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["device", "correct", "launches", "buffers"]);
    let sums = json!([2016.0, 6112.0, 10208.0, 14304.0]);
    assert_eq!(found["buffers"], json!({"1": sums, "1.0": sums, "1.1": [32640.0]}));
    let launches = found["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), 2);
    for (launch, kernel, stored) in [(&launches[0], "block_sums", 4), (&launches[1], "total", 1)] {
        assert_eq!((&launch["kernel"], &launch["faults"], &launch["output"]), (&json!(kernel), &json!([]), &json!("")));
        assert_eq!(launch["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], stored);
    }

    // Part of a buffer, a variable between launches, a repeated value, and files.
    let arguments = format!(
        "{FIRST} --then total --grid 1 --block 1 arg:1+8 f32[1] u32:2 --set scale=f32:0.5 --save 1.1=t.npy \
         --then total --grid 1 --block 1 --set scale=f32:2 arg:1.0+4 arg:1.1 arg:1.2 --print 2.1,scale"
    );
    let found = json_of(run(folder.path(), &arguments), 0);
    assert_eq!(found["buffers"], json!({"2.1": [32640.0], "scale": [2.0]}));
    assert_eq!(found["launches"].as_array().map(Vec::len), Some(3));
    assert_eq!(files_in(folder.path()).len(), 2);
}

#[test]
fn other_formats_have_each_launch() {
    let folder = folder();
    let arguments = format!("{FIRST} --then total --grid 1 --block 1 arg:1 f32[1] u32:4 --print 1.1");
    let printed = |format: &str| {
        let run = run(folder.path(), &format!("{arguments} --format {format}")).assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    let text = printed("table");
    assert!(text.starts_with("Launch 0:\nblock_sums of sum.ptx: 4 x 1 x 1 blocks of 64 x 1 x 1 threads\n"), "{text}");
    assert!(text.contains("\n\nLaunch 1:\ntotal of sum.ptx: 1 x 1 x 1 blocks of 1 x 1 x 1 threads\n"), "{text}");
    assert!(text.ends_with("\nArgument 1.1, f32[1]:\n0: 32640\n"), "{text}");
    let text = printed("csv");
    assert!(text.starts_with("launch,kernel,name,value\n0,block_sums,") && text.contains("\n1,total,"), "{text}");
    assert!(text.ends_with("\n,,buffer 1.1[0],32640\n"), "{text}");
}

#[test]
fn a_fault_ends_the_launches_and_is_reported_with_its_number() {
    let folder = folder();
    // Reads beyond the end of the sums.
    let arguments = format!(
        "{FIRST} --then total --grid 1 --block 1 arg:1 f32[1] u32:400 --save 0=never.npy --then total --grid 1 --block 1 \
         arg:1 f32[1] u32:4"
    );
    let stopped = format!("{arguments} --check none");
    let command = run(folder.path(), &stopped).assert().code(1);
    let error = String::from_utf8_lossy(&command.get_output().stderr).into_owned();
    assert!(one_error(&error).starts_with("error: launch 1: kernel `total`: out of bounds"), "{error}");
    let text = String::from_utf8_lossy(&command.get_output().stdout).into_owned();
    assert!(text.starts_with("Launch 0:\nblock_sums") && text.ends_with("\n\nLaunch 1: total was stopped\n"), "{text}");
    let found = json_of(run(folder.path(), &stopped), 1);
    let launches = found["launches"].as_array().expect("launches");
    assert_eq!(launches.len(), 2, "the third does not run");
    assert!(launches[0]["counters"].is_object() && launches[0]["faults"] == json!([]));
    assert_eq!((&launches[1]["counters"], &launches[1]["faults"][0]["kind"]), (&json!(null), &json!("out_of_bounds")));
    assert_eq!(files_in(folder.path()).len(), 1, "nothing is saved");

    // Findings do not end the run.
    let command = run(folder.path(), &arguments.replace("u32:400", "u32:5")).assert().code(1);
    let reported = String::from_utf8_lossy(&command.get_output().stderr).into_owned();
    assert!(reported.starts_with("In launch 1, total:\n\nfault[memory]: out of bounds read"), "{reported}");
    assert!(reported.ends_with("\nerror: kernel total: the checks found 1 fault\n"), "{reported}");
    let found = json_of(run(folder.path(), &arguments.replace("u32:400", "u32:5")), 1);
    let faults: Vec<usize> = found["launches"]
        .as_array()
        .expect("launches")
        .iter()
        .map(|launch| launch["faults"].as_array().map_or(0, Vec::len))
        .collect();
    assert_eq!(faults, [0, 1, 0]);
}

#[test]
fn what_does_not_fit_is_one_line() {
    let folder = folder();
    let total = "--then total --grid 1 --block 1";
    for (arguments, parts) in [
        (format!("{FIRST} --then total --block 1 arg:1 f32[1] u32:4"), &["--grid: launch 1 (total) has none"][..]),
        (format!("{FIRST} {total} --block 2 arg:1 f32[1] u32:4"), &["--block: launch 1 (total)", "more than once"]),
        (
            format!("{FIRST} --then sum --grid 1 --block 1"),
            &["kernel sum: is not in sum.ptx, which has block_sums, total"],
        ),
        (format!("{FIRST} {total} arg:1"), &["kernel total: takes 3 arguments", "1 was given"]),
        (format!("{FIRST} {total} arg:2 f32[1] u32:4"), &["argument 1.0, arg:2: there is no argument 2 before it"]),
        (format!("{FIRST} {total} arg:1.0 f32[1] u32:4"), &["argument 1.0, arg:1.0: there is no argument 1.0 before"]),
        (format!("{FIRST} {total} f32[1] arg:2.0 u32:4"), &["there is no argument 2.0 before it"]),
        (format!("{FIRST} {total} arg:1+20 f32[1] u32:4"), &["argument arg:1+20: the buffer has 16 bytes"]),
        (format!("{FIRST} {total} arg:x f32[1] u32:4"), &["'x' does not name an argument", "arg:1.0"]),
        (
            format!("{FIRST} {total} arg:1 f32[1] arg:1"),
            &["parameter 2 (u32 count) has 4 bytes", "argument 1.2, arg:1, has 8"],
        ),
        (format!("{FIRST} {total} arg:1 f32[1] u32:4 --print 1.2"), &["--print: argument 1.2, u32:4, is not a buffer"]),
        (format!("{FIRST} {total} arg:1 f32[1] u32:4 --print 2.0"), &["--print: there is no argument 2.0"]),
        (format!("{FIRST} --then"), &["--then"]),
        (
            "block_sums --grid 1 --block 64 freed:f32[64] arg:0".to_owned(),
            &["freed:f32[64] is freed before its launch"],
        ),
        ("block_sums --grid 1 --block 64 freed:arg:0 f32[1]".to_owned(), &["only a buffer can be freed"]),
    ] {
        fails(run(folder.path(), &arguments), 2, parts);
    }
    assert_eq!(files_in(folder.path()).len(), 1, "nothing is left");
}
