use std::ptr::null;

use super::support::{Copy2D, Driver, INVALID_VALUE, Side2D, null_pointer};

#[test]
fn bytes_go_there_and_back() {
    let driver = Driver::new();
    let data: Vec<u32> = (0..1000).collect();
    let (first, second) = (driver.words(&data), driver.words(&[0; 1000]));
    assert_eq!(driver.cuMemcpyDtoD_v2(second, first, 4000), 0);
    assert_eq!(driver.read(second, 1000), data);
    // Overlapping, as memmove does it.
    assert_eq!(driver.cuMemcpyDtoDAsync_v2(second + 4, second, 3996, 0), 0);
    assert_eq!(driver.read(second, 4), [0, 0, 1, 2]);
    // Parts of words.
    assert_eq!(driver.cuMemsetD8_v2(second + 1, 0xff, 6), 0);
    assert_eq!(driver.read(second, 3), [0xffff_ff00, 0x00ff_ffff, 1]);
    assert_eq!(driver.cuMemsetD32_v2(second + 4, 0x0102_0304, 3), 0);
    assert_eq!(driver.read(second, 5), [0xffff_ff00, 0x0102_0304, 0x0102_0304, 0x0102_0304, 3]);
    assert_eq!(driver.cuMemcpyHtoD_v2(first, null(), 0), 0);
}

#[test]
fn copies_beyond_an_allocation_are_refused_and_change_nothing() {
    let driver = Driver::new();
    let (address, words) = (driver.words(&[5; 4]), [9u32; 8]);
    let mut back = [0u32; 8];
    for bytes in [17, 32, usize::MAX, isize::MAX as usize] {
        assert_eq!(driver.cuMemcpyDtoD_v2(address, address, bytes), INVALID_VALUE);
        assert_eq!(driver.cuMemsetD8_v2(address, 1, bytes), INVALID_VALUE);
    }
    assert_eq!(driver.cuMemcpyHtoD_v2(address, words.as_ptr(), 32), INVALID_VALUE);
    assert_eq!(driver.cuMemcpyDtoH_v2(back.as_mut_ptr(), address, 32), INVALID_VALUE);
    assert_eq!(driver.cuMemsetD32_v2(address, 1, usize::MAX), INVALID_VALUE);
    assert_eq!(driver.cuMemsetD2D32_v2(address, 8, 1, 1, usize::MAX), INVALID_VALUE);
    assert_eq!(driver.cuMemsetD2D32_v2(address, 8, 1, 1, 3), INVALID_VALUE);
    assert_eq!(driver.read(address, 4), [5; 4]);
    assert_eq!(back, [0; 8]);
    // Addresses of nothing, and of what was freed.
    assert_eq!(driver.cuMemFree_v2(address), 0);
    for bad in [0, 0x1000, address] {
        assert_eq!(driver.cuMemcpyHtoD_v2(bad, words.as_ptr(), 4), INVALID_VALUE);
        assert_eq!(driver.cuMemcpyDtoH_v2(back.as_mut_ptr(), bad, 4), INVALID_VALUE);
        assert_eq!(driver.cuMemsetD8_v2(bad, 0, 4), INVALID_VALUE);
    }
    let good = driver.words(&[1]);
    assert_eq!(driver.cuMemcpyDtoH_v2(null_pointer(), good, 4), INVALID_VALUE);
    assert_eq!(driver.cuMemcpyHtoD_v2(good, null(), 4), INVALID_VALUE);
}

#[test]
fn rows_are_copied_between_pitches() {
    let driver = Driver::new();
    let (mut pitched, mut pitch) = (0, 0);
    assert_eq!(driver.cuMemAllocPitch_v2(&mut pitched, &mut pitch, 12, 4, 4), 0);
    let data: Vec<u32> = (0..12).collect();
    let copy =
        Copy2D { from: Side2D::host(data.as_ptr(), 12), to: Side2D::device(pitched, pitch), width: 12, height: 4 };
    assert_eq!(driver.cuMemcpy2D_v2(&copy), 0);
    for row in 0..4 {
        assert_eq!(driver.read(pitched + (row * pitch) as u64, 3), data[3 * row..3 * row + 3]);
    }
    assert_eq!(driver.cuMemsetD2D32_v2(pitched, pitch, 8, 2, 4), 0);
    assert_eq!(driver.read(pitched + pitch as u64, 3), [8, 8, 5]);
    let mut back = [1u32; 8];
    let rest = Copy2D {
        from: Side2D { x: 4, y: 2, ..Side2D::device(pitched, pitch) },
        to: Side2D::host(back.as_mut_ptr(), 16),
        width: 8,
        height: 2,
    };
    assert_eq!(driver.cuMemcpy2D_v2(&rest), 0);
    assert_eq!(back, [8, 8, 1, 1, 8, 11, 1, 1]);
    // Rows beyond the allocation, rows too long to count, no side at all.
    for (height, width, kind) in [(5, 12, 2), (4, usize::MAX, 2), (usize::MAX, 12, 2), (4, 12, 0), (4, 12, 9)] {
        let from = Side2D { kind, ..Side2D::device(pitched, pitch) };
        let other = driver.words(&[0; 64]);
        let bad = Copy2D { from, to: Side2D::device(other, 12), width, height };
        assert_eq!(driver.cuMemcpy2D_v2(&bad), INVALID_VALUE, "{height} {width} {kind}");
    }
    assert_eq!(driver.cuMemcpy2D_v2(null()), INVALID_VALUE);
}
