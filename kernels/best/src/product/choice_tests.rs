//! How tiles are shared out, checked on an H200's numbers.

use super::*;

/// An H200, and tiles of 128 x 128.
const H200: Places = Places { multiprocessors: 132, resident: 2 };

#[test]
fn full_rounds_are_not_split() {
    let way = |tiles, slabs| {
        let Way { unsplit_tiles, sharing, slabs: split, head_start } =
            H200.split(tiles, slabs).unwrap();
        assert_eq!((sharing, split), (264, (tiles - unsplit_tiles) * slabs));
        (unsplit_tiles, head_start)
    };
    // 3072 x 3072: two rounds of 264, and 48 tiles, which are too few to share.
    assert_eq!(way(576, 192), (264, 85));
    // 4096 x 4096: three rounds, and 232 tiles.
    assert_eq!(way(1024, 256), (792, 93));
    // Two rounds: the second.
    assert_eq!(way(528, 256), (264, 101));
    // Less than a round: all begin at once.
    assert_eq!(way(256, 128), (0, 0));
}

#[test]
fn nothing_is_split_where_no_block_waits() {
    assert_eq!(H200.split(264, 256), None);
    assert_eq!(H200.split(0, 256), None);
    assert_eq!(Places { resident: 1, ..H200 }.split(264, 256), None);
}

#[test]
fn a_share_is_not_too_small() {
    // Two tiles of 16 slabs: no block takes fewer.
    assert_eq!(H200.split(2, 16).unwrap().sharing, 2);
    assert_eq!(H200.split(1, 16), None);
    // One tile of many slabs: four blocks.
    assert_eq!(H200.split(1, 1 << 20).unwrap().sharing, 4);
    for tiles in (0..3000).step_by(7) {
        for slabs in [1, 16, 63, 100, 256, 1 << 30] {
            let Some(way) = H200.split(tiles, slabs) else { continue };
            let each = way.slabs / way.sharing;
            assert!(
                way.sharing <= 264 && each >= FEWEST_SLABS && way.head_start < each,
                "{tiles} {slabs} {way:?}"
            );
        }
    }
}

#[test]
fn too_many_slabs_for_the_kernels_are_not_split() {
    assert!(H200.split(263, 1 << 24).is_none());
    assert!(H200.split(255, 1 << 24).is_some());
}

#[test]
fn sharing_pays_where_a_round_is_nearly_empty() {
    let cost = |way: Way, slabs| H200.slabs_of_a_multiprocessor(way, slabs);
    for (tiles, slabs) in [(576, 192), (144, 96), (528, 256), (256, 128)] {
        assert!(
            cost(H200.split(tiles, slabs).unwrap(), slabs) < cost(alone(tiles), slabs),
            "{tiles}"
        );
    }
    // Half a slab is not worth it.
    let single = Places { resident: 1, ..H200 };
    let split = single.split(131, 64).unwrap();
    assert!(
        single.slabs_of_a_multiprocessor(split, 64)
            > single.slabs_of_a_multiprocessor(alone(131), 64)
    );
}
