//! Tests of the lab's offsets and its reference.

use super::*;

#[test]
fn offsets_are_those_below_the_size() {
    let all = offsets(&[], true, false, ON_GPU, 1000).unwrap();
    assert_eq!((all.len(), all[0], all[33]), (34, 0, 128));
    assert_eq!(offsets(&[], false, false, ON_GPU, 1000).unwrap(), [0, 1, 8]);
    assert_eq!(offsets(&[], false, true, ON_GPU, 4).unwrap(), [0, 1, 2, 3]);
    assert_eq!(offsets(&[], false, false, ON_GPU, 1).unwrap(), [0]);
    assert_eq!(offsets(&[0, 11, 128], false, false, ON_GPU, 1000).unwrap(), [0, 11, 128]);
    assert_eq!(offsets(&[1, 0, 1], false, false, ON_GPU, 1000).unwrap(), [1, 0]);
    assert_eq!(
        offsets(&[128], false, false, ON_GPU, 100).unwrap_err().to_string(),
        "--offset: 128 is not below the size of 100 elements; give a smaller offset"
    );
}

#[test]
fn the_reference_shifts_the_right_side() {
    let lab = Offset {
        options: crate::flag_values::defaults(),
        a: vec![1.0, 2.0, 3.0],
        b: vec![10.0, 20.0, 30.0],
        offsets: vec![1],
    };
    let poison = f32::from_le_bytes([POISON; 4]);
    let of = |side| [0, 1, 2].map(|index| lab.expected(side, 1, index));
    assert_eq!(of(Side::Read), [22.0, 33.0, poison]);
    assert_eq!(of(Side::Write), [poison, 11.0, 22.0]);
}
