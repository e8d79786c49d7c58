//! Closed forms of the labs about constant memory and textures.

use super::*;

/// Polynomial and gamma: one address for all lanes. Lookup: one for each different byte in a warp.
pub fn constant() {
    let size = 4096;
    let report = run("constant", &format!("--size {size}"));
    let warps = size / 32;
    let constant = |name| counters(&report, name).constant;
    assert_eq!(
        (constant("polynomial-constant").requests, constant("polynomial-constant").addresses),
        (8 * warps, 8 * warps)
    );
    assert_eq!((constant("gamma-constant").requests, constant("gamma-constant").addresses), (2 * warps, 2 * warps));
    // The lab's own random bytes: the numbers drawn after those of the elements, one for each.
    let mut random = common::random::Random::new(1);
    let _x: Vec<f32> = random.samples(size as usize);
    let bytes: Vec<u8> = random.samples(size as usize);
    let different = |warp: &[u8]| warp.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    let addresses: u64 = bytes.chunks(32).map(different).sum();
    assert_eq!((constant("lookup-constant").requests, constant("lookup-constant").addresses), (warps, addresses));
    for (name, loads) in [("polynomial", 8), ("gamma", 2), ("lookup", 1)] {
        let of = |memory| counters(&report, &format!("{name}-{memory}"));
        assert_eq!(of("global").constant.requests, 0, "{name}");
        let more = of("global").global.load.requests - of("constant").global.load.requests;
        assert_eq!(more, loads * warps, "{name}");
    }
}

/// Walks along rows favour row order, all others Morton order.
pub fn texture() {
    let report = run("texture", "--all --size 128");
    for (walk, rows, morton) in [("rows", 4.0, 8.0), ("columns", 32.0, 16.0)] {
        load_sectors(&report, &format!("{walk}-row-order"), rows);
        load_sectors(&report, &format!("{walk}-morton-order"), morton);
    }
    load_sectors(&report, "diagonals-row-order", 32.0);
    let sectors = |name: String| counters(&report, &name).global.load.sectors;
    for walk in ["columns", "diagonals", "windows"] {
        let (rows, morton) = (sectors(format!("{walk}-row-order")), sectors(format!("{walk}-morton-order")));
        assert!(morton < rows, "{walk}: {morton} against {rows}");
    }
    // A sector of an array is 4 x 2 texels, as along a Morton curve, and counts once for a warp.
    // Four lanes look it up together: the windows, which begin in the middle, need 16 lookups for
    // 10 sectors.
    for walk in ["rows", "columns", "diagonals", "windows"] {
        let texture = counters(&report, &format!("{walk}-texture"));
        assert_eq!(texture.texture_sectors_of_warps, sectors(format!("{walk}-morton-order")), "{walk}");
        assert!(texture.texture_sectors_of_warps <= texture.texture.sectors, "{walk}");
    }
    let windows = counters(&report, "windows-texture");
    assert_eq!((windows.texture.sectors, windows.texture_sectors_of_warps), (128 * 128 / 2, 128 * 128 / 32 * 10));
    // A warp makes requests of four lanes, or of eight for a texture of linear memory.
    let requests = |name| counters(&report, name).texture.requests;
    assert_eq!((requests("rows-texture"), requests("linear-texture")), (128 * 128 / 4, 128 * 128 / 8));
    kepler::texture();
}
