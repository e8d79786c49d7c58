//! Arguments of `host run` as people write them: numbers without a type, C's names of types,
//! NumPy's default types, and files that are no PTX.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{fails, host};

/// Kernels whose parameters have sizes only, as clang's; a float, an integer and a texture.
const KERNELS: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry takes(.param .b64 out, .param .b32 scale, .param .b32 count, .param .u16 half, .param .f64 exact) {
    .reg .b16 %h1;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    .reg .f64 %fd1;
    ld.param.b64 %rd1, [out];
    ld.param.b32 %f1, [scale];
    mul.f32 %f2, %f1, 0f40000000;
    ld.param.b32 %r1, [count];
    add.s32 %r2, %r1, 1;
    ld.param.u16 %h1, [half];
    ld.param.f64 %fd1, [exact];
    cvt.rn.f32.f64 %f3, %fd1;
    cvt.u32.u16 %r3, %h1;
    st.global.f32 [%rd1], %f2;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    st.global.f32 [%rd1+12], %f3;
    ret;
}
.visible .entry doubles(.param .u64 data) {
    .reg .b32 %r<2>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd4], %f2;
    ret;
}
.visible .entry halves(.param .u64 data) {
    .reg .b16 %h<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [data];
    ld.global.b16 %h1, [%rd1];
    add.f16 %h2, %h1, %h1;
    st.global.b16 [%rd1], %h2;
    ret;
}
.visible .entry samples(.param .u64 image, .param .u64 out) {
    .reg .b64 %rd<3>;
    .reg .f32 %f<5>;
    ld.param.u64 %rd1, [image];
    ld.param.u64 %rd2, [out];
    mov.f32 %f1, 0f00000000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}];
    st.global.f32 [%rd2], %f1;
    ret;
}
";

fn kernels() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it.ptx");
    std::fs::write(&file, KERNELS).expect("the file is written");
    (folder, file)
}

fn run(file: &Path, arguments: &str) -> assert_cmd::Command {
    let mut command = host("run");
    command.arg(file).args(arguments.split_whitespace()).args("--grid 1 --block 1 --device sim".split(' '));
    command
}

/// The elements of a buffer, which may be of several types, as the type after its name.
fn printed(file: &Path, arguments: &str, buffer: &str) -> Value {
    let run = run(file, &format!("{arguments} --print {buffer} --format json")).assert().success();
    assert!(run.get_output().stderr.is_empty(), "{}", String::from_utf8_lossy(&run.get_output().stderr));
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    report["buffers"][buffer].clone()
}

/// The bits of floats and of integers.
fn bits(scale: f32, count: u32, half: u32, exact: f32) -> Value {
    json!([(2.0 * scale).to_bits(), count + 1, half, exact.to_bits()])
}

/// Each number needed a type: `100` was refused.
#[test]
fn a_number_without_a_type_has_the_parameters() {
    let (_folder, file) = kernels();
    // `3` is a float where the kernel multiplies floats, whatever the declaration says.
    assert_eq!(printed(&file, "takes u32[4] 3 100 7 2", "0"), bits(3.0, 100, 7, 2.0));
    assert_eq!(
        printed(&file, "takes u32[4] -0.5 -1 7 1e-3", "0"),
        json!([(-1.0_f32).to_bits(), 0, 7, 1e-3_f32.to_bits()])
    );
    assert_eq!(printed(&file, "takes u32[4] float:3 int:100 ushort:7 double:2", "0"), bits(3.0, 100, 7, 2.0));
    for (arguments, part) in [
        (
            "takes 100 3 100 7 2",
            "argument 0, 100: parameter 0 (b64 out) is an address; a buffer is written as in f32[1024]",
        ),
        ("takes u32[4] 3 0.5 7 2", "argument 2, 0.5: parameter 2 (b32 count) is an integer, and 0.5 is not whole"),
        ("takes u32[4] 3 100 70000 2", "'70000' is not a number of type u16; give a whole number from 0 to 65535"),
        ("takes u32[4] 3 100 7 2 5", "takes 5 arguments"),
        ("takes u32[4] 3 100 7 seven", "give a number (5 or u32:5)"),
        ("takes u32[4] 3 integer:100 7 2", "unknown type 'integer'; give one of u8, "),
    ] {
        fails(run(&file, arguments), 2, &[part]);
    }
}

/// NumPy's default float is 8 bytes long: the kernel read halves of them.
#[test]
fn numpys_default_types_are_not_taken_for_smaller_ones() {
    let (folder, file) = kernels();
    let data = folder.path().join("data.npy");
    host::npy::write(&data, &[4], &[1.0_f64, 2.0, 3.0, 4.0]).expect("the file is written");
    let bare = format!("doubles @{}", data.display());
    let parts = [
        "holds numbers of 8 bytes, such as float64, NumPy's default",
        "accesses numbers of 4 bytes",
        "M.astype(numpy.float32)",
        "f64[LENGTH]=@",
    ];
    fails(run(&file, &bare), 2, &parts);
    // Asked for, it is passed.
    run(&file, &format!("doubles f64[4]=@{}", data.display())).assert().success();
    host::npy::write(&data, &[4], &[1_i64, 2, 3, 4]).expect("the file is written");
    fails(run(&file, &bare), 2, &["int64, NumPy's default", "M.astype(numpy.int32)"]);
    host::npy::write(&data, &[4], &[1.0_f32, 2.0, 3.0, 4.0]).expect("the file is written");
    assert_eq!(printed(&file, &bare, "0"), json!([2.0, 2.0, 3.0, 4.0]));
}

/// NumPy's float16 was of no known type.
#[test]
fn files_of_float16_are_taken_printed_and_saved() {
    let (folder, file) = kernels();
    let (from, to) = (folder.path().join("from.npy"), folder.path().join("to.npy"));
    let halves = [0.5, 2.0, 65504.0].map(half::f16::from_f32);
    host::npy::write(&from, &[3], &halves).expect("the file is written");
    assert_eq!(printed(&file, &format!("halves @{}", from.display()), "0"), json!([1.0, 2.0, 65504.0]));
    run(&file, &format!("halves f16[3]=1.5 --save 0={}", to.display())).assert().success();
    let saved = host::npy::read::<half::f16>(&to, 1).expect("the file");
    assert_eq!(saved.data.iter().map(|half| half.to_f32()).collect::<Vec<_>>(), [3.0, 1.5, 1.5]);
}

/// The kernel trapped at the handle, which no argument was named for.
#[test]
fn a_buffer_in_place_of_a_texture_is_named() {
    let (_folder, file) = kernels();
    let said = "argument 0, f32[64]: parameter 0 (u64 image) is a texture, not a buffer; a texture is written as in tex2d:f32[64x48]";
    fails(run(&file, "samples f32[64] f32[1]"), 2, &[said]);
    run(&file, "samples tex2d:f32[8x8] f32[1]").assert().success();
}

#[test]
fn what_is_no_ptx_is_named_with_the_command_that_makes_ptx() {
    let folder = tempfile::tempdir().expect("a folder");
    let elf = |machine: u8| [&b"\x7fELF\x02\x01\x01"[..], &[0; 11], &[machine, 0], &[0; 44]].concat();
    for (name, bytes, parts) in [
        ("k.cubin", elf(190), ["it is a cubin", "`nvcc -ptx -lineinfo k.cu` makes PTX"]),
        ("k.o", elf(62), ["it is an object file", "`cuobjdump -ptx FILE`"]),
        ("k.fatbin", b"\x50\xed\x55\xba\x01\0".to_vec(), ["it is a fatbin", "`cuobjdump -ptx FILE`"]),
        ("k.cu", b"__global__ void k() {}\n".to_vec(), ["it is CUDA C++", "`nvcc -ptx -lineinfo FILE` makes PTX"]),
    ] {
        std::fs::write(folder.path().join(name), bytes).expect("the file is written");
        for command in [format!("run {name} k --grid 1 --block 1"), format!("check {name}")] {
            let mut command = host(&command);
            command.current_dir(folder.path());
            fails(command, 2, &[name, parts[0], parts[1]]);
        }
    }
}
