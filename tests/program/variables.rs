//! Tests of `--set`, and of `--print` and `--save` of the module's variables.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::{fails, files_in, host};

/// A kernel that adds `offset` and each of `coefficients` to an element of `sums`, as many as
/// `ns::count` says.
pub(crate) const VARIABLES: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .const .align 4 .b8 coefficients[16] = {1, 0, 0, 0};
.visible .const .align 4 .u32 _ZN2ns5countE = 4;
.visible .global .align 4 .s32 sums[4] = {100, 200};
.global .align 4 .f32 offset;
.visible .global .texref image;
.visible .entry k() {
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.const.u32 %r2, [_ZN2ns5countE];
    setp.ge.u32 %p, %r1, %r2;
    @%p ret;
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, coefficients;
    add.s64 %rd3, %rd2, %rd1;
    ld.const.f32 %f1, [%rd3];
    ld.global.f32 %f2, [offset];
    add.f32 %f3, %f1, %f2;
    cvt.rzi.s32.f32 %r3, %f3;
    mov.u64 %rd4, sums;
    add.s64 %rd5, %rd4, %rd1;
    ld.global.u32 %r4, [%rd5];
    add.s32 %r5, %r4, %r3;
    st.global.u32 [%rd5], %r5;
    ret;
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("it.ptx"), VARIABLES).expect("the file is written");
    folder
}

fn run(folder: &Path, arguments: &str) -> Command {
    let mut command = host("run it.ptx k --grid 1 --block 32 --device sim");
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

fn buffers(folder: &Path, arguments: &str) -> Value {
    let run = run(folder, &format!("{arguments} --format json")).assert().success();
    let found: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    found["buffers"].clone()
}

#[test]
fn variables_are_set_and_read_back() {
    let folder = folder();
    let found = buffers(folder.path(), "--print sums,count,coefficients");
    assert_eq!(
        found,
        json!({"coefficients": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "count": [4], "sums": [100, 200, 0, 0]})
    );
    let found = buffers(
        folder.path(),
        "--set coefficients=f32[4]=ramp --set ns::count=u32:3 --set offset=f32:0.5 --print sums,coefficients,offset,sums:u8",
    );
    assert_eq!(found["sums"], json!([100, 201, 2, 0]));
    assert_eq!(found["coefficients"], json!([0.0, 1.0, 2.0, 3.0]), "as the type of what was set");
    assert_eq!(found["offset"], json!([0.5]));
    assert_eq!(found["sums:u8"].as_array().map(Vec::len), Some(16));

    host::npy::write(&folder.path().join("c.npy"), &[4], &[5.0_f32, 6.0, 7.0, 8.0]).expect("the file is written");
    run(folder.path(), "--set coefficients=@c.npy --save sums=out.npy --save coefficients:f32=c2.npy")
        .assert()
        .success();
    let written = host::npy::read::<i32>(&folder.path().join("out.npy"), 1).expect("the result");
    assert_eq!(written.data, [105, 206, 7, 8]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("the file is read");
    assert!(read("c.npy") == read("c2.npy"));

    let output =
        run(folder.path(), "--set sums=bytes:ffffffff000000000000000001000000 --print sums").assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.ends_with("\nVariable sums, i32[4]:\n0: -1 0 0 1\n"), "{text}");
}

#[test]
fn what_does_not_fit_is_one_line() {
    let folder = folder();
    host::npy::write(&folder.path().join("c.npy"), &[3], &[5.0_f32; 3]).expect("the file is written");
    for (arguments, parts) in [
        ("--set coefficients=f32[5]", &["--set: coefficients has 16 bytes (b8[16]), but f32[5] has 20"][..]),
        ("--set coefficients=f32[5000000000]=ramp", &["16 bytes", "has 20000000000"]),
        ("--set coefficients=@c.npy", &["16 bytes", "@c.npy has 12"]),
        ("--set count=u64:4", &["--set: ns::count has 4 bytes (u32), but u64:4 has 8"]),
        ("--set nothing=u32:1", &["'nothing' is not a variable", "coefficients, ns::count, sums, offset"]),
        ("--set image=u64:1", &["'image' is not a variable"]),
        ("--set sums=tex2d:f32[2x2]", &["--set", "give a value"]),
        ("--set sums=i32[4]+4", &["--set", "give a value"]),
        ("--set sums=i32[4]=x", &["--set", "'x' is not a number of type i32"]),
        ("--set =u32:1", &["--set", "count=u32:5"]),
        ("--set sums=@missing.npy", &["missing.npy", "cannot be opened"]),
        ("--print nothing", &["--print: 'nothing' is not a variable"]),
        ("--print count:u64", &["--print: the 4 bytes of ns::count do not divide into elements of u64"]),
        ("--print count:u33", &["--print: 'count:u33' is not a variable"]),
        ("--save nothing=x.npy", &["--save: 'nothing' is not a variable"]),
        ("--print sums --output-limit 15", &["--output-limit", "16 B"]),
    ] {
        fails(run(folder.path(), arguments), 2, parts);
    }
    assert_eq!(files_in(folder.path()).len(), 2, "nothing is left");
}
