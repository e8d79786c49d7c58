use std::ptr::null;

use super::support::{
    Copy2D, Descriptor3D, Driver, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, Resource, Side2D, Texture, null_pointer,
};

/// Fetches texel (x, y) of a texture of integers for each thread (x, y).
const FETCH: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry fetch(.param .u64 out, .param .u64 texture) {
    .reg .b32 %r<10>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [texture];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    shr.u32 %r3, %r1, 2;
    tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r2, %r3}];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r4;
    ret;
}
";

/// Writes the number of each thread (x, y) to a surface.
const PUT: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry put(.param .u64 surface) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [surface];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    shl.b32 %r2, %r2, 2;
    shr.u32 %r3, %r1, 2;
    sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r1};
    ret;
}
";

const WORDS: Descriptor3D = Descriptor3D { width: 4, height: 2, depth: 0, format: 3, channels: 1, flags: 0 };

fn fill(driver: &Driver, array: usize, words: &[u32]) {
    let copy = Copy2D { from: Side2D::host(words.as_ptr(), 16), to: Side2D::array(array), width: 16, height: 2 };
    assert_eq!(driver.cuMemcpy2D_v2(&copy), 0);
}

#[test]
fn a_kernel_reads_an_array_through_a_texture() {
    let driver = Driver::new();
    let (mut array, mut texture) = (0, 0);
    assert_eq!(driver.cuArray3DCreate_v2(&mut array, &WORDS), 0);
    let words: Vec<u32> = (100..108).collect();
    fill(&driver, array, &words);
    let resource = Resource { first: array as u64, ..Resource::default() };
    // Clamped coordinates; elements, not numbers from 0 to 1.
    let mut sampling = Texture::default();
    sampling.numbers[..5].copy_from_slice(&[1, 1, 1, 0, 1]);
    assert_eq!(driver.cuTexObjectCreate(&mut texture, &resource, &sampling, null()), 0);
    let (kernel, out) = (driver.kernel(driver.module(FETCH), "fetch"), driver.words(&[0; 8]));
    assert_eq!(driver.launch(kernel, 1, 8, &[(&raw const out).cast(), (&raw const texture).cast()]), 0);
    assert_eq!(driver.read(out, 8), words);
    assert_eq!((driver.cuTexObjectDestroy(texture), driver.cuTexObjectDestroy(texture)), (0, INVALID_VALUE));
    let mut shape = Descriptor3D::default();
    assert_eq!((driver.cuArray3DGetDescriptor_v2(&mut shape, array), shape), (0, WORDS));
    // Rows beyond the array.
    let copy = Copy2D { from: Side2D::host(words.as_ptr(), 16), to: Side2D::array(array), width: 17, height: 1 };
    assert_eq!(driver.cuMemcpy2D_v2(&copy), INVALID_VALUE);
    assert_eq!((driver.cuArrayDestroy(array), driver.cuArrayDestroy(array)), (0, INVALID_HANDLE));
    assert_eq!(driver.cuTexObjectCreate(&mut texture, &resource, &sampling, null()), INVALID_HANDLE);
    assert_eq!(driver.cuTexObjectCreate(&mut texture, null(), &sampling, null()), INVALID_VALUE);
}

#[test]
fn levels_are_arrays_of_their_own() {
    let driver = Driver::new();
    let (mut all, mut first, mut second) = (0, 0, 0);
    assert_eq!(driver.cuMipmappedArrayCreate(&mut all, &WORDS, 2), 0);
    assert_eq!(driver.cuMipmappedArrayGetLevel(&mut first, all, 0), 0);
    assert_eq!(driver.cuMipmappedArrayGetLevel(&mut second, all, 1), 0);
    assert_eq!(driver.cuMipmappedArrayGetLevel(&mut 0, all, 2), INVALID_VALUE);
    let mut shape = Descriptor3D::default();
    assert_eq!(driver.cuArray3DGetDescriptor_v2(&mut shape, second), 0);
    assert_eq!((shape.width, shape.height), (2, 1));
    fill(&driver, first, &[1; 8]);
    let words = [7u32, 8];
    let copy = Copy2D { from: Side2D::host(words.as_ptr(), 8), to: Side2D::array(second), width: 8, height: 1 };
    assert_eq!(driver.cuMemcpy2D_v2(&copy), 0);
    let mut back = [0u32; 2];
    let copy = Copy2D { from: Side2D::array(second), to: Side2D::host(back.as_mut_ptr(), 8), width: 8, height: 1 };
    assert_eq!((driver.cuMemcpy2D_v2(&copy), back), (0, words));
    assert_eq!(driver.cuArrayDestroy(second), INVALID_HANDLE);
    assert_eq!(driver.cuMipmappedArrayDestroy(all), 0);
    assert_eq!(driver.cuMemcpy2D_v2(&copy), INVALID_HANDLE);
    assert_eq!(driver.cuMipmappedArrayDestroy(all), INVALID_HANDLE);
}

/// Levels are read and written by kernels as arrays of their own: a mipmap is made level by level.
#[test]
fn a_level_is_a_texture_and_a_surface() {
    let driver = Driver::new();
    let (mut all, mut second, mut texture, mut surface) = (0, 0, 0, 0);
    let shape = Descriptor3D { width: 8, height: 4, flags: 2, ..WORDS };
    assert_eq!(driver.cuMipmappedArrayCreate(&mut all, &shape, 2), 0);
    assert_eq!(driver.cuMipmappedArrayGetLevel(&mut second, all, 1), 0);
    let resource = Resource { first: second as u64, ..Resource::default() };
    assert_eq!(driver.cuSurfObjectCreate(&mut surface, &resource), 0);
    let (fetch, put) = (driver.kernel(driver.module(FETCH), "fetch"), driver.kernel(driver.module(PUT), "put"));
    assert_eq!(driver.launch(put, 1, 8, &[(&raw const surface).cast()]), 0);
    let mut back = [0u32; 8];
    let copy = Copy2D { from: Side2D::array(second), to: Side2D::host(back.as_mut_ptr(), 16), width: 16, height: 2 };
    assert_eq!((driver.cuMemcpy2D_v2(&copy), back), (0, [0, 1, 2, 3, 4, 5, 6, 7]));
    let mut sampling = Texture::default();
    sampling.numbers[..5].copy_from_slice(&[1, 1, 1, 0, 1]);
    assert_eq!(driver.cuTexObjectCreate(&mut texture, &resource, &sampling, null()), 0);
    let out = driver.words(&[9; 8]);
    assert_eq!(driver.launch(fetch, 1, 8, &[(&raw const out).cast(), (&raw const texture).cast()]), 0);
    assert_eq!(driver.read(out, 8), back);
    // A part of the levels would be a view.
    assert_eq!(driver.cuTexObjectCreate(&mut texture, &resource, &sampling, (&raw const back).cast()), NOT_SUPPORTED);
    // The first level is as it was.
    let mut first = 0;
    assert_eq!(driver.cuMipmappedArrayGetLevel(&mut first, all, 0), 0);
    let copy = Copy2D { from: Side2D::array(first), to: Side2D::host(back.as_mut_ptr(), 16), width: 16, height: 2 };
    assert_eq!((driver.cuMemcpy2D_v2(&copy), back), (0, [0; 8]));
    // Once the array is gone, its level is no address to write to.
    assert_eq!(driver.cuMipmappedArrayDestroy(all), 0);
    assert_ne!(driver.launch(put, 1, 8, &[(&raw const surface).cast()]), 0);
}

/// The API limits the number of levels to those that there can be, and one level is not the whole
/// array.
#[test]
fn numbers_of_levels_are_limited() {
    let driver = Driver::new();
    for (levels, height, there) in [(0, 2, 1), (1, 2, 1), (3, 2, 3), (100, 2, 3), (u32::MAX, 300, 9)] {
        let (mut all, mut level) = (0, 0);
        assert_eq!(driver.cuMipmappedArrayCreate(&mut all, &Descriptor3D { height, ..WORDS }, levels), 0);
        assert_eq!(driver.cuMipmappedArrayGetLevel(&mut level, all, there - 1), 0, "{levels}");
        assert_eq!(driver.cuMipmappedArrayGetLevel(&mut 0, all, there), INVALID_VALUE, "{levels}");
        assert_eq!(driver.cuArrayDestroy(level), INVALID_HANDLE);
        assert_eq!((driver.cuMipmappedArrayDestroy(all), driver.cuArrayDestroy(level)), (0, INVALID_HANDLE));
    }
    let mut all = 0;
    assert_eq!(driver.cuMipmappedArrayCreate(&mut all, &Descriptor3D { width: 0, ..WORDS }, 1), INVALID_VALUE);
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    let driver = Driver::new();
    let mut array = 0;
    for bad in [
        Descriptor3D { format: 77, ..WORDS },
        Descriptor3D { channels: 3, ..WORDS },
        Descriptor3D { width: 0, ..WORDS },
        Descriptor3D { width: 1 << 40, ..WORDS },
    ] {
        assert_ne!(driver.cuArray3DCreate_v2(&mut array, &bad), 0, "{bad:?}");
    }
    // Sparse arrays, and those that are mapped later.
    for flag in [0x40, 0x80] {
        let other = Descriptor3D { width: 4, height: 4, depth: 6, flags: flag, ..WORDS };
        assert_eq!(driver.cuArray3DCreate_v2(&mut array, &other), NOT_SUPPORTED, "{flag}");
        assert_eq!(driver.cuMipmappedArrayCreate(&mut array, &other, 2), NOT_SUPPORTED, "{flag}");
    }
    assert_eq!(driver.cuArray3DCreate_v2(&mut array, null()), INVALID_VALUE);
    assert_eq!(driver.cuArray3DCreate_v2(null_pointer(), &WORDS), INVALID_VALUE);
}

/// Arrays of cubes are made and described; no texture or surface reads them.
#[test]
fn cubes_have_six_faces() {
    let driver = Driver::new();
    let (mut array, mut found, mut surface) = (0, WORDS, 0);
    for (depth, flags, status) in
        [(6, 4, 0), (12, 5, 0), (5, 4, INVALID_VALUE), (12, 4, INVALID_VALUE), (0, 5, INVALID_VALUE)]
    {
        let cube = Descriptor3D { width: 4, height: 4, depth, flags, ..WORDS };
        assert_eq!(driver.cuArray3DCreate_v2(&mut array, &cube), status, "{depth} {flags}");
        if status == 0 {
            assert_eq!(driver.cuArray3DGetDescriptor_v2(&mut found, array), 0);
            assert_eq!(found, cube);
            let resource = Resource { first: array as u64, ..Resource::default() };
            assert_eq!(driver.cuSurfObjectCreate(&mut surface, &resource), NOT_SUPPORTED);
            let texture = Texture::default();
            assert_eq!(driver.cuTexObjectCreate(&mut surface, &resource, &texture, null()), NOT_SUPPORTED);
            assert_eq!(driver.cuArrayDestroy(array), 0);
        }
    }
    let long = Descriptor3D { width: 4, height: 5, depth: 6, flags: 4, ..WORDS };
    assert_eq!(driver.cuArray3DCreate_v2(&mut array, &long), INVALID_VALUE);
}

#[test]
fn tensor_maps_are_encoded_or_refused() {
    let driver = Driver::new();
    let mut map = [0u8; 128];
    let address = driver.words(&[0; 64]);
    let (dimensions, strides, extents, steps) = ([8u64, 8], [32u64], [4u32, 4], [1u32, 1]);
    let mut encode = |element, rank, dimensions: *const u64, swizzle| {
        driver.cuTensorMapEncodeTiled(
            &mut map,
            element,
            rank,
            address,
            dimensions,
            strides.as_ptr(),
            extents.as_ptr(),
            steps.as_ptr(),
            0,
            swizzle,
            0,
            0,
        )
    };
    // Nothing is encoded there yet.
    assert_eq!(driver.cuTensorMapReplaceAddress(&mut [7; 128], address), INVALID_VALUE);
    assert_eq!(encode(7, 2, dimensions.as_ptr(), 0), 0);
    assert_eq!(encode(7, 0, dimensions.as_ptr(), 0), INVALID_VALUE);
    assert_eq!(encode(7, 6, dimensions.as_ptr(), 0), INVALID_VALUE);
    assert_eq!(encode(99, 2, dimensions.as_ptr(), 0), INVALID_VALUE);
    assert_eq!(encode(7, 2, null(), 0), INVALID_VALUE);
    assert_eq!(encode(7, 2, dimensions.as_ptr(), 9), INVALID_VALUE);
}
