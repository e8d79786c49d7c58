//! Tests of walks: swizzles as in the manual, and boxes compared with an element-by-element walk.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::tensor_map::map::Swizzle;

#[test]
fn swizzled_pieces_are_where_the_manual_has_them() {
    // The tables of PTX ISA, "Swizzling Modes": the piece that is at each place of each line.
    let lines = |swizzle: u64, line: u32| {
        let layout = RowLayout { row: 128, pitch: 128, swizzle };
        let place = |piece: u32| (layout.address(1024, 128 * line + 16 * piece) - 1024) / 16 % 8;
        (0..8).map(place).collect::<Vec<u64>>()
    };
    assert_eq!(lines(1, 1), [1, 0, 3, 2, 5, 4, 7, 6]);
    assert_eq!(lines(1, 2), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lines(3, 2), [2, 3, 0, 1, 6, 7, 4, 5]);
    assert_eq!(lines(3, 4), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lines(7, 3), [3, 2, 1, 0, 7, 6, 5, 4]);
    assert_eq!(lines(7, 5), [5, 4, 7, 6, 1, 0, 3, 2]);
}

#[test]
fn parts_are_aligned() {
    let parts = |address, bytes| {
        let piece = Piece { offset: 4, bytes, address };
        piece.parts().map(|part| (part.offset, part.bytes, part.address)).collect::<Vec<_>>()
    };
    assert_eq!(parts(0x100, 32), [(4, 16, 0x100), (20, 16, 0x110)]);
    assert_eq!(parts(0x103, 6), [(4, 1, 0x103), (5, 4, 0x104), (9, 1, 0x108)]);
    assert_eq!(parts(0x10c, 0), []);
    assert_eq!(parts(u64::MAX, 1), [(4, 1, u64::MAX)]);
}

#[test]
fn boxes_that_no_memory_holds_are_refused() {
    let map = TensorMap::tiled(TensorElement::U8, 0, &[256, 256, 256, 256, 256], &[256; 5]);
    let corner = Corner { coordinates: &[0; 5], offsets: None, shared: 0, stores: false };
    assert_eq!(TensorBox::new(&map, &corner).unwrap_err(), TensorFault::BoxSize { bytes: 1 << 40 });
}

#[test]
fn a_row_is_what_of_it_is_inside() {
    let map =
        TensorMap { swizzle: Swizzle::Bytes32, ..TensorMap::tiled(TensorElement::U16, 0x1000, &[24, 3], &[16, 2]) };
    let pieces = |coordinates: &[i32]| {
        let corner = Corner { coordinates, offsets: None, shared: 0x80, stores: false };
        let found = TensorBox::new(&map, &corner).unwrap();
        assert_eq!((found.bytes, found.layout), (64, RowLayout { row: 32, pitch: 32, swizzle: 1 }));
        found.pieces.iter().map(|piece| (piece.offset, piece.bytes, piece.address)).collect::<Vec<_>>()
    };
    assert_eq!(pieces(&[0, 0]), [(0, 32, 0x1000), (32, 32, 0x1030)]);
    assert_eq!(pieces(&[-8, 2]), [(16, 16, 0x1060)]);
    assert_eq!(pieces(&[16, -1]), [(32, 16, 0x1020)]);
    assert_eq!(pieces(&[i32::MIN, i32::MAX]), []);
    assert_eq!(pieces(&[24, 0]), []);
}

/// The elements of a box of tiles, one by one: where each is in shared memory, and in the tensor if
/// it is inside.
fn one_by_one(map: &TensorMap, extents: &[u32], coordinates: &[i32]) -> BTreeMap<u64, Option<u64>> {
    let size = u64::from(map.element.bytes());
    let steps = |dimension: usize| if dimension == 0 { 1 } else { map.element_strides[dimension] };
    let count = |dimension: usize| u64::from(extents[dimension].div_ceil(steps(dimension)));
    let total: u64 = (0..map.rank()).map(count).product();
    let row = count(0) * size;
    let pitch = map.swizzle.span().map_or(row, u64::from);
    let mut found = BTreeMap::new();
    for element in 0..total {
        let (mut rest, mut address, mut inside) = (element, map.address as i64, true);
        for (dimension, &start) in coordinates.iter().enumerate() {
            let place = i64::from(start) + (rest % count(dimension) * u64::from(steps(dimension))) as i64;
            rest /= count(dimension);
            inside &= (0..map.dimensions[dimension] as i64).contains(&place);
            address += place * if dimension == 0 { size as i64 } else { map.strides[dimension - 1] as i64 };
        }
        let linear = element / count(0) * pitch + element % count(0) * size;
        let mask = map.swizzle.span().map_or(0, |span| u64::from(span) / 16 - 1);
        let line = linear / 128;
        let shared = linear ^ ((line & mask) * 16);
        assert_eq!(found.insert(shared, inside.then_some(address as u64)), None, "two elements at {shared:#x}");
    }
    found
}

/// Maps of up to three dimensions, with coordinates near them.
fn boxes() -> impl Strategy<Value = (TensorMap, Vec<u32>, Vec<i32>)> {
    let elements = vec![TensorElement::U8, TensorElement::F16, TensorElement::U32, TensorElement::F64];
    let swizzles = vec![Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128];
    let dimension = (1u64..12, 1u32..6, 1u32..4, -9i32..14, 0u64..3);
    let parts = (prop::sample::select(elements), prop::sample::select(swizzles), 1u32..3);
    (parts, prop::collection::vec(dimension, 1..4)).prop_map(|((element, swizzle, pieces), dimensions)| {
        let mut extents: Vec<u32> = dimensions.iter().map(|dimension| dimension.1).collect();
        // A row of 16 or 32 bytes, which fits any swizzle.
        extents[0] = pieces * 16 / element.bytes();
        let sizes: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
        let mut map = TensorMap::tiled(element, 0x10000, &sizes, &extents);
        map.swizzle = swizzle;
        map.element_strides = dimensions.iter().map(|dimension| dimension.2).collect();
        let mut stride = sizes[0] * u64::from(element.bytes());
        for (index, &(size, .., gap)) in dimensions.iter().enumerate().skip(1) {
            map.strides[index - 1] = stride.next_multiple_of(16) + 16 * gap;
            stride = map.strides[index - 1] * size;
        }
        let mut coordinates: Vec<i32> = dimensions.iter().map(|dimension| dimension.3).collect();
        // Boxes begin at pieces of 16 bytes.
        coordinates[0] -= coordinates[0].rem_euclid(16 / element.bytes() as i32);
        (map, extents, coordinates)
    })
}

proptest! {
    #[test]
    fn a_box_has_the_elements_that_counting_gives((map, extents, coordinates) in boxes()) {
        prop_assert_eq!(map.check(), Ok(()));
        let corner = Corner { coordinates: &coordinates, offsets: None, shared: 0, stores: false };
        let found = TensorBox::new(&map, &corner).unwrap();
        let size = map.element.bytes();
        let mut elements: BTreeMap<u64, Option<u64>> =
            (0..found.bytes).step_by(size as usize).map(|offset| (found.layout.address(0, offset), None)).collect();
        for piece in &found.pieces {
            for offset in (0..piece.bytes).step_by(size as usize) {
                let place = found.layout.address(0, piece.offset + offset);
                elements.insert(place, Some(piece.address + u64::from(offset)));
            }
        }
        let highest = elements.keys().next_back().copied().unwrap_or(0);
        prop_assert!(highest < found.layout.extent(found.bytes).into());
        prop_assert_eq!(elements, one_by_one(&map, &extents, &coordinates));
        // The parts of the pieces are all of their bytes, each aligned.
        for piece in &found.pieces {
            prop_assert!(piece.parts().all(|part| part.address % u64::from(part.bytes) == 0 && part.bytes <= 16));
            prop_assert_eq!(piece.parts().map(|part| part.bytes).sum::<u32>(), piece.bytes);
        }
    }
}
