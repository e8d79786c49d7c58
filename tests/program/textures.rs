//! Tests of textures and surfaces as arguments of `host run`, on the simulator.

use std::fs;

use serde_json::{Value, json};

use crate::{fails, host, one_error, output};

/// The kernels of the simulator's own tests: a texture or surface, coordinates, results.
const KERNELS: &str = "run ../crates/simt/tests/data/textures.ptx";

fn printed(arguments: &str) -> Value {
    let text = output(&format!("{KERNELS} {arguments} --print 2 --device sim --format json"));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    json["buffers"]["2"].clone()
}

#[test]
fn textures_are_made_as_the_argument_says() {
    // Two positions: between the first four texels, and beyond the right edge.
    let places = "f32[8]=1,1,0,0,100,0.5,0,0 f32[8]";
    let of = |texture: &str| printed(&format!("fetch_2d_f32_f32 --grid 1 --block 2 {texture} {places}"));
    assert_eq!(of("tex2d:f32[64x48],linear=ramp"), json!([32.5, 0.0, 0.0, 0.0, 63.0, 0.0, 0.0, 0.0]));
    assert_eq!(of("tex2d:f32[64x48]=ramp"), json!([65.0, 0.0, 0.0, 0.0, 63.0, 0.0, 0.0, 0.0]));
    assert_eq!(of("tex2d:f32[64x48],border:-1=ramp"), json!([65.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0]));
    assert_eq!(of("tex2d:u8x4[2x2],float=255")[3], json!(1.0));
    let wrapped =
        printed("fetch_2d_f32_f32 --grid 1 --block 1 tex2d:f32[8x4],norm,wrap=ramp f32[4]=1.25,0.5,0,0 f32[4]");
    assert_eq!(wrapped[0], json!(18.0));
    let layer = printed("fetch_a2d_f32_f32 --grid 1 --block 1 texa2d:f32[4x2x3]=ramp u32[4]=0,0,0,2 f32[4]");
    assert_eq!(layer[0], json!(16.0));
    let linear = printed("fetch_1d_u32_s32 --grid 1 --block 1 texlin:u16[1000]=ramp u32[4]=999,0,0,0 u32[4]");
    assert_eq!(linear[0], json!(999));
}

#[test]
fn surfaces_are_saved_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.npy");
    let text = output(&format!(
        "{KERNELS} store_2d_zero --grid 1 --block 1 surf2d:f32[8x4]=ramp f32[4]=0,0,7,9 f32[4] --print 0 --save 0={} --device sim \
         --format json",
        file.display()
    ));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["buffers"]["0"].as_array().expect("the surface")[..4], [7.0, 9.0, 2.0, 3.0]);
    assert_eq!(json["counters"]["l1tex__t_requests_pipe_tex_mem_surface_op_st.sum"], json!(1));
    assert!(fs::read(&file).expect("saved").starts_with(b"\x93NUMPY"));
}

#[test]
fn what_is_no_texture_is_one_line() {
    let kernel = format!("{KERNELS} fetch_2d_f32_f32 --grid 1 --block 1 --device sim");
    for (texture, parts) in [
        ("tex2d:f64[4x4]", &["unknown texel type 'f64'"][..]),
        ("tex2d:u8[4x4],linear", &["linear filtering mixes floats"]),
        ("tex2d:f32[4x4]=1,2", &["2 values do not fill 16 elements"]),
        ("tex5d:f32[4]", &["unknown kind 'tex5d'"]),
    ] {
        fails(host(&format!("{kernel} {texture} f32[4] f32[4]")), 2, parts);
    }
    fails(host(&format!("{kernel} tex2d:f32[4x4] f32[4] f32[4] --print 0")), 2, &["is not a buffer"]);
    // The wrong shape is the kernel's fault.
    let wrong = host(&format!("{kernel} tex3d:f32[4x4x4] f32[4] f32[4]")).assert().code(1);
    let error = String::from_utf8_lossy(&wrong.get_output().stderr).into_owned();
    assert!(one_error(&error).contains("a .2d instruction on an object of 3 dimensions"), "{error}");
}
