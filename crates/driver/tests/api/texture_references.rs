//! Texture and surface references: variables of a module that the host says the contents of.

use std::ptr::null;

use super::support::{
    Copy2D, Descriptor3D, Driver, Handle, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, Plane, Side2D, null_pointer,
};

/// Fetches texels of a reference, as words or as floats, and doubles elements of a surface.
const FETCHES: &str = "\
.version 7.8
.target sm_75
.address_size 64
.global .texref texels;
.global .surfref target;
.visible .entry plane(.param .u64 out) {
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    shr.u32 %r3, %r1, 2;
    tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [texels, {%r2, %r3}];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry row(.param .u64 out) {
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    tex.1d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [texels, {%r1}];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
.visible .entry double() {
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r1, %r1, 2;
    mov.u32 %r3, 0;
    suld.b.2d.b32.trap {%r2}, [target, {%r1, %r3}];
    add.u32 %r2, %r2, %r2;
    sust.b.2d.b32.trap [target, {%r1, %r3}], {%r2};
    ret;
}
";

const WORDS: Descriptor3D = Descriptor3D { width: 4, height: 2, depth: 0, format: 3, channels: 1, flags: 2 };

/// An array with these words.
fn array(driver: &Driver, words: &[u32; 8]) -> Handle {
    let mut array = 0;
    assert_eq!(driver.cuArray3DCreate_v2(&mut array, &WORDS), 0);
    let copy = Copy2D { from: Side2D::host(words.as_ptr(), 16), to: Side2D::array(array), width: 16, height: 2 };
    assert_eq!(driver.cuMemcpy2D_v2(&copy), 0);
    array
}

fn texels(driver: &Driver, module: Handle) -> Handle {
    let mut reference = 0;
    assert_eq!(driver.cuModuleGetTexRef(&mut reference, module, c"texels".as_ptr()), 0);
    reference
}

#[test]
fn a_kernel_fetches_through_a_reference() {
    let driver = Driver::new();
    let module = driver.module(FETCHES);
    let (reference, out) = (texels(&driver, module), driver.words(&[0; 8]));
    assert_eq!(texels(&driver, module), reference, "a variable has one reference");
    let plane = |driver: &Driver| {
        assert_eq!(driver.launch(driver.kernel(module, "plane"), 1, 8, &[(&raw const out).cast()]), 0);
        driver.read(out, 8)
    };
    let first = array(&driver, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(driver.cuTexRefSetArray(reference, first, 1), 0);
    // Flags come after: nothing is bound before the launch.
    assert_eq!(driver.cuTexRefSetFlags(reference, 1), 0);
    assert_eq!(plane(&driver), [1, 2, 3, 4, 5, 6, 7, 8]);
    // Another array; then rows in memory.
    let mut found = 0;
    let second = array(&driver, &[9; 8]);
    assert_eq!(driver.cuTexRefSetArray(reference, second, 1), 0);
    assert_eq!((driver.cuTexRefGetArray(&mut found, reference), found), (0, second));
    assert_eq!(plane(&driver), [9; 8]);
    let rows = driver.words(&(0..256).collect::<Vec<u32>>());
    let shape = Plane { width: 4, height: 2, format: 3, channels: 1 };
    assert_eq!(driver.cuTexRefSetAddress2D_v3(reference, &shape, rows, 512), 0);
    assert_eq!(plane(&driver), [0, 1, 2, 3, 128, 129, 130, 131]);
    let mut address = 0;
    assert_eq!((driver.cuTexRefGetAddress_v2(&mut address, reference), address), (0, rows));
    assert_eq!(driver.cuTexRefGetArray(&mut found, reference), INVALID_VALUE);
}

#[test]
fn bytes_become_numbers_from_0_to_1_unless_flags_say_otherwise() {
    let driver = Driver::new();
    let module = driver.module(FETCHES);
    let (reference, out, bytes) = (texels(&driver, module), driver.words(&[0; 4]), driver.words(&[0xff80_0001, 7]));
    let (mut format, mut channels) = (0, 0);
    assert_eq!(driver.cuTexRefSetFormat(reference, 1, 1), 0);
    assert_eq!((driver.cuTexRefGetFormat(&mut format, &mut channels, reference), format, channels), (0, 1, 1));
    assert_eq!(driver.cuTexRefSetAddress_v2(null_pointer(), reference, bytes, 4), 0);
    assert_eq!(driver.launch(driver.kernel(module, "row"), 1, 4, &[(&raw const out).cast()]), 0);
    let read: Vec<f32> = driver.read(out, 4).into_iter().map(f32::from_bits).collect();
    assert_eq!(read, [1.0 / 255.0, 0.0, 128.0 / 255.0, 1.0]);
    let (mut mode, mut color) = (9, [0f32; 4]);
    assert_eq!(driver.cuTexRefSetAddressMode(reference, 1, 3), 0);
    assert_eq!((driver.cuTexRefGetAddressMode(&mut mode, reference, 1), mode), (0, 3));
    assert_eq!(driver.cuTexRefSetBorderColor(reference, [1.0, 2.0, 3.0, 4.0].as_ptr()), 0);
    assert_eq!((driver.cuTexRefGetBorderColor(color.as_mut_ptr(), reference), color), (0, [1.0, 2.0, 3.0, 4.0]));
    // Words are not averaged: the reference cannot be bound as it was set, and can be set anew.
    assert_eq!((driver.cuTexRefSetFormat(reference, 3, 1), driver.cuTexRefSetFlags(reference, 1)), (0, 0));
    assert_eq!((driver.cuTexRefSetFormat(reference, 99, 1), driver.cuTexRefSetFilterMode(reference, 0)), (0, 0));
    assert_ne!(driver.launch(driver.kernel(module, "row"), 1, 4, &[(&raw const out).cast()]), 0);
    assert_eq!(driver.cuTexRefSetFormat(reference, 0x20, 1), 0);
    assert_eq!(driver.launch(driver.kernel(module, "row"), 1, 1, &[(&raw const out).cast()]), 0);
    assert_eq!(driver.read(out, 1), [0xff80_0001]);
}

#[test]
fn a_kernel_writes_through_a_surface_reference() {
    let driver = Driver::new();
    let module = driver.module(FETCHES);
    let (mut reference, mut found) = (0, 0);
    assert_eq!(driver.cuModuleGetSurfRef(&mut reference, module, c"target".as_ptr()), 0);
    let array = array(&driver, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(driver.cuSurfRefGetArray(&mut found, reference), INVALID_VALUE);
    assert_eq!(driver.cuSurfRefSetArray(reference, array, 0), 0);
    assert_eq!((driver.cuSurfRefGetArray(&mut found, reference), found), (0, array));
    assert_eq!(driver.launch(driver.kernel(module, "double"), 1, 4, &[]), 0);
    let mut words = [0u32; 8];
    let copy = Copy2D { from: Side2D::array(array), to: Side2D::host(words.as_mut_ptr(), 16), width: 16, height: 2 };
    assert_eq!((driver.cuMemcpy2D_v2(&copy), words), (0, [2, 4, 6, 8, 5, 6, 7, 8]));
}

#[test]
fn what_is_no_reference_is_refused() {
    let driver = Driver::new();
    let module = driver.module(FETCHES);
    let (mut reference, mut created) = (0, 0);
    for (of, name, status) in
        [(module, c"nothing", NOT_FOUND), (module, c"plane", NOT_FOUND), (7, c"texels", INVALID_HANDLE)]
    {
        assert_eq!(driver.cuModuleGetTexRef(&mut reference, of, name.as_ptr()), status);
    }
    assert_eq!(driver.cuModuleGetTexRef(&mut reference, module, null()), INVALID_VALUE);
    let texels = texels(&driver, module);
    assert_eq!(driver.cuModuleGetSurfRef(&mut reference, module, c"texels".as_ptr()), NOT_FOUND);
    assert_eq!((driver.cuTexRefCreate(&mut created), driver.cuTexRefSetFlags(created, 1)), (0, 0));
    assert_eq!((driver.cuTexRefDestroy(created), driver.cuTexRefDestroy(created)), (0, INVALID_HANDLE));
    assert_eq!(driver.cuTexRefDestroy(texels), INVALID_VALUE);
    assert_eq!(driver.cuTexRefSetAddressMode(texels, 3, 0), INVALID_VALUE);
    // A fetch through one that refers to nothing is a fault; a module takes its references along.
    let out = driver.words(&[0; 8]);
    assert_ne!(driver.launch(driver.kernel(module, "plane"), 1, 8, &[(&raw const out).cast()]), 0);
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    assert_eq!(driver.cuTexRefSetFlags(texels, 1), INVALID_HANDLE);
}
