//! Structs by value that hold addresses of buffers, as kernels in C++ take them:
//! `bytes:{arg:0}...`.

use std::path::Path;

use serde_json::Value;

use crate::{fails, host, output};

/// `struct { float* out; unsigned n; const float* in; }`: doubles `n` elements.
const DOUBLES: &str = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry twice(.param .align 8 .b8 s[24]) {
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [s];
    ld.param.u32 %r1, [s+8];
    ld.param.u64 %rd2, [s+16];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f1, [%rd2];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd1], %f2;
    ret;
}
.visible .entry with_address(.param .u64 out, .param .align 8 .b8 s[24]) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [s+16];
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    ret;
}
";

/// The folder with the file, and the beginning of a run.
fn doubles() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("twice.ptx");
    std::fs::write(&path, DOUBLES).expect("the file is written");
    let run = format!("run {} twice --device sim --no-predict --grid 1 --block 32", path.display());
    (folder, run)
}

#[test]
fn a_struct_holds_addresses_of_buffers() {
    let (_folder, run) = doubles();
    let data = "data:f32[8]=uninit data:f32[8]=ramp";
    let text = output(&format!("{run} {data} bytes:{{arg:0}}{{u32:8}}00000000{{arg:1}} --print 0"));
    assert!(text.ends_with("\nArgument 0, f32[8]:\n0: 0 2 4 6 8 10 12 14\n"), "{text}");
    // From the middle of one to the middle of the same; by hexadecimal digits.
    let text = output(&format!("{run} data:f32[8]=ramp bytes:{{arg:0+16}}0200000000000000{{arg:0+4}} --print 0"));
    assert!(text.ends_with("\n0: 0 1 2 3 2 4 6 7\n"), "{text}");
    // Buffers of another launch, and of arguments that are parameters.
    let two = format!(
        "{run} data:f32[4]=ramp bytes:{{arg:0}}{{u32:4}}00000000{{arg:0}} --then with_address --grid 1 --block 1 \
         f32[1] bytes:00000000000000000000000000000000{{arg:0+8}} --print 1.0,0"
    );
    assert!(output(&two).ends_with("\nArgument 0, f32[4]:\n0: 0 2 4 6\n\nArgument 1.0, f32[1]:\n0: 4\n"));
}

/// Out of bounds by one element: the sanitizer knows the buffer that the struct's address is in.
#[test]
fn the_sanitizer_knows_the_buffer_of_an_address_in_a_struct() {
    let (_folder, run) = doubles();
    let findings = |arguments: &str, kind: &str| -> Value {
        let run = host(&format!("{run} {arguments} --format json")).assert().code(1);
        let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
        let all = report["faults"].as_array().expect("faults").clone();
        let found = all.iter().find(|fault| fault["check"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}: {report}")).clone()
    };
    let fault = findings("data:f32[32] data:f32[7]=ramp bytes:{arg:0}{u32:8}00000000{arg:1}", "memory");
    assert_eq!((&fault["allocation"]["bytes"], &fault["thread"][0]), (&28.into(), &7.into()), "{fault}");
    let fault = findings("data:f32[8] data:f32[8]=uninit bytes:{arg:0}{u32:8}00000000{arg:1}", "init");
    assert_eq!((&fault["allocation"]["bytes"], &fault["count"]), (&32.into(), &8.into()), "{fault}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_gpu_gets_the_address_of_its_buffer() {
    let (folder, run) = doubles();
    let run = run.replace("--device sim --no-predict", "--device gpu --once");
    let arguments =
        format!("{run} data:f32[4]=ramp data:f32[4]=5 bytes:{{arg:1+8}}{{u32:2}}00000000{{arg:0}} --print 0,1");
    let run = crate::gpu::on_gpu(&arguments, "").assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(text.contains("\n0: 0 1 2 3\n") && text.ends_with("\n0: 5 5 0 2\n"), "{text}");
    drop(folder);
}

#[test]
fn what_is_wrong_with_a_struct_is_one_line() {
    let (folder, run) = doubles();
    let data = "data:f32[8]";
    for (arguments, parts) in [
        ("bytes:{arg:0}{u32:8}00000000{arg:0}", &["there is no argument 0 before it"][..]),
        ("data:f32[8] bytes:{arg:0}{u32:8}00000000{arg:3}", &["argument 1, bytes:", "there is no argument 3"]),
        ("data:f32[8] bytes:{arg:0}{u32:8}00000000{arg:1}", &["there is no argument 1 before it"]),
        ("data:f32[8] bytes:{arg:0}{u32:8}{arg:0}", &["(b8[24] s) has 24 bytes", "argument 1,", "has 20"]),
        ("data:f32[8] bytes:{arg:0}{u32:8}00000000{arg:0+33}", &["the buffer has 32 bytes"]),
        ("data:f32[8] u32:5", &["has 24 bytes", "a struct is written as in bytes:{arg:0}{u32:5}00000000"]),
        ("data:f32[8]", &["takes 1 argument", "but 0 were given"]),
        ("f32[8] bytes:{arg:0}{u32:8}00000000{arg:0}", &["takes 1 argument", "but 2 were given"]),
        ("data:f32[8] bytes:{arg:0}{u32:8}00000000{arg", &["the brace of '{arg' is not closed"]),
        ("data:f32[8] bytes:{arg:0}{u32}", &["'{u32}' is no part of a struct"]),
        ("data:f32[8] bytes:{arg:-1}", &["'-1' does not name an argument"]),
        ("data:f32[8] bytes:{u32:8", &["the brace of '{u32:8' is not closed"]),
        ("data:f32[8] bytes:{u32:-8}", &["'-8' is not a number of type u32"]),
        ("data:u32:5 bytes:{arg:0}", &["only a buffer, texture, surface or tensor can be data alone"]),
        ("data:tensor:f32[4x4],box:4x4 bytes:{arg:0}{u32:8}00000000{arg:0}", &["is not a buffer with an address"]),
    ] {
        fails(host(&format!("{run} {arguments}")), 2, parts);
    }
    // Of a number, of a texture with an offset, and of a buffer that is freed.
    let run = run.replace(" twice ", " with_address ");
    let zeros = "0".repeat(32);
    for (first, piece, problem) in [
        ("u64:5", "{arg:0}", "u64:5 is not a buffer with an address"),
        ("tex2d:f32[4x4]", "{arg:0+8}", "tex2d:f32[4x4] is not a buffer with an address"),
        ("freed:f32[4]", "{arg:0}", "freed:f32[4] is freed before its launch"),
    ] {
        fails(host(&format!("{run} {first} bytes:{zeros}{piece}")), 2, &["argument 1, bytes:", problem]);
    }
    // A variable has no buffer to point to.
    fails(host(&format!("{run} {data} --set x=bytes:{{arg:0}}")), 2, &["--set", "give a value (u32:5) or elements"]);
    assert_eq!(crate::files_in(folder.path()), [Path::new("twice.ptx")]);
}
