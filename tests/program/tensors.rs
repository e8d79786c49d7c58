//! Tests of tensor maps as arguments of `host run`, on the simulator.

use std::fs;

use serde_json::{Value, json};

use crate::{fails, host, one_error, output};

/// The kernels of the simulator's own tests: a map, coordinates, bytes of the box, its target,
/// words to read, results.
const LOADS: &str = "run ../crates/simt/tests/filetests/tensors.ptx";
const STORES: &str = "run ../crates/simt/tests/filetests/tensor_stores.ptx";

fn printed(arguments: &str, argument: u32) -> Value {
    let text = output(&format!("{arguments} --grid 1 --block 32 --print {argument} --device sim --format json"));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    json["buffers"][argument.to_string()].clone()
}

#[test]
fn tensors_are_made_as_the_argument_says() {
    let of = |tensor: &str| printed(&format!("{LOADS} load_2d {tensor} i32:0 i32:-1 u32:32 u32:0 u32:8 f32[8]"), 6);
    assert_eq!(of("tensor:f32[8x4],box:4x2=ramp"), json!([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]));
    assert_eq!(of("tensor:f32[3x4],stride:32,box:4x2=5"), json!([0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 0.0]));
    assert_eq!(of("tensor:f32[8x4],box:4x4,every:1x2=ramp")[4], json!(8.0));
    let at = format!("{LOADS} load_at tensor_at:u32[8x4],box:4x2=ramp i32:4 i32:3 u32:32 u32:0 u32:8 u32[8]");
    assert_eq!(printed(&at, 6), json!([28, 29, 30, 31, 0, 0, 0, 0]));
}

#[test]
fn tensors_are_printed_and_saved_in_their_shape() {
    let store = format!("{STORES} store_2d tensor:u16[8x2],box:8x1=9 i32:0 i32:1 u16[8]=ramp u32:4");
    assert_eq!(printed(&store, 0), json!([9, 9, 9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 5, 6, 7]));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.npy");
    output(&format!("{store} --grid 1 --block 32 --save 0={} --device sim", file.display()));
    let saved = fs::read(&file).expect("saved");
    assert!(String::from_utf8_lossy(&saved).contains("'shape': (2, 8), "), "{saved:?}");
}

#[test]
fn what_is_no_tensor_is_one_line() {
    let load = |tensor: &str| {
        let rest = "i32:0 i32:0 u32:32 u32:0 u32:8 f32[8] --grid 1 --block 32 --device sim";
        host(&format!("{LOADS} load_2d {tensor} {rest}"))
    };
    for (tensor, parts) in [
        ("tensor:f32[8x4]", &["a tensor needs a box"][..]),
        ("tensor:f32[8x4],box:3x1", &["a row of the box has 12 bytes"]),
        ("tensor:f32[8x4],box:4x2=1,2", &["2 values do not fill 32 elements"]),
        ("tensor:f16[8x4],box:8x2,swizzle:96", &["unknown swizzle '96'"]),
        ("tensor_at:f32[8x4],box:4x2", &["has 128 bytes", "a tensor map is written as in tensor:f32[64x32],box:32x8"]),
        ("freed:tensor:f32[8x4],box:4x2", &["only a buffer can be freed"]),
    ] {
        fails(load(tensor), 2, parts);
    }
    // Misuse of the map is the kernel's fault; and the sanitizer reports the part of the tensor
    // that was never written.
    let wrong = host(&format!(
        "{LOADS} load_2d tensor:f32[8x4],box:4x2 i32:2 i32:0 u32:32 u32:0 u32:8 f32[8] --grid 1 --block 32 --device sim"
    ));
    fails(wrong, 1, &["a box that begins at element 2 of 4 bytes each"]);
    let wrong = load("tensor:f32[8x4x2],box:4x2x1").assert().code(1);
    let error = String::from_utf8_lossy(&wrong.get_output().stderr).into_owned();
    assert!(one_error(&error).contains("an instruction for 2 dimensions, but a tensor map of 3"), "{error}");
    let found = load("tensor:f32[8x4],box:4x2=uninit").assert().code(1);
    let error = String::from_utf8_lossy(&found.get_output().stderr).into_owned();
    assert!(error.contains("from global memory"), "{error}");
}

#[test]
fn a_parameter_that_may_be_a_tensor_map_is_listed_as_one() {
    let text = output("check ../crates/simt/tests/filetests/tensors.ptx");
    assert!(text.contains("0: b8[128]  128 bytes, align 64  map (perhaps a tensor map)"), "{text}");
}
