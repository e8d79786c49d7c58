//! Stencils: how often each value is loaded, from which memory.

use host::report::VariantReport;

use super::near;
use crate::labs::{counters, run, variant};

/// A matrix of whole warps and tiles, linear, so that rows begin on sectors: of the neighbours a
/// column aside, all warps but those at the edge touch a sector more. Rows outside are not loaded.
fn of_matrix() {
    let (rows, warps) = (64_u64, 4_u64);
    let report = run("stencil", &format!("--points 5,25 --rows {rows} --cols {}", 32 * warps));
    let all = rows * warps;
    let inner_rows = (rows - 1) * warps;
    let aside = rows * (5 * (warps - 1) + 4);

    let global = counters(&report, "global-5").global.load;
    assert_eq!((global.requests, global.sectors), (3 * all + 2 * inner_rows, 4 * all + 8 * inner_rows + 2 * aside));
    // Rows of windows at the upper and lower edge are not there: 2 + 1 of 5, each.
    let global = counters(&report, "global-25").global.load;
    assert_eq!(global.requests, 5 * warps * (5 * rows - 6));

    // Two tiles, one above the other, share their halo's rows with each other.
    let tile_lines = |halo: u64| rows + 2 * halo;
    for (points, halo) in [(5, 1), (25, 2)] {
        let counted = counters(&report, &format!("shared-{points}"));
        assert_eq!(counted.global.load.requests, 2 * warps * tile_lines(halo), "{points}");
        assert_eq!(counted.global.load.sectors, tile_lines(halo) * (7 * (warps - 1) + 5), "{points}");
        let loads = counted.shared.load;
        assert_eq!((loads.requests, loads.bank_conflicts), (points * all, 0), "{points}");
    }
    let registers = counters(&report, "registers-25");
    assert_eq!(registers.global.load.sectors, counters(&report, "shared-25").global.load.sectors);
    assert_eq!((registers.shared.load.requests, registers.shared.load.bank_conflicts), (10 * all, 0));

    // A warp has 128 results. Its floats aside are in 16 sectors, without those at the edges.
    let wide = counters(&report, "wide-5").global.load;
    assert_eq!((wide.requests, wide.sectors), (3 * rows + 2 * (rows - 1), 16 * (rows + 2 * (rows - 1)) + 32 * rows));
    // At the left the warp's first lane has no word before its own, at the right the last none after.
    assert_eq!(counters(&report, "wide-25").global.load.requests, 3 * (5 * rows - 6));

    for points in [5, 25] {
        let texture = counters(&report, &format!("texture-{points}"));
        assert_eq!((texture.texture.requests, texture.global.load.requests), (points * 8 * all, 0));
        for way in ["global", "shared", "texture", "wide"] {
            let stored = counters(&report, &format!("{way}-{points}")).global.store.sectors;
            assert_eq!(stored, 4 * all, "{way}-{points}");
        }
        // L1 finds what a warp has loaded before: L2 sends little more than the input, and DRAM the input.
        let caches = |way: &str| counters(&report, &format!("{way}-{points}")).model.expect("a model").caches;
        let input = 4 * all;
        for way in ["global", "shared", "wide"] {
            let caches = caches(way);
            assert!((input..4 * input).contains(&caches.l2_to_l1_sectors), "{way}-{points}: {caches:?}");
            assert_eq!(caches.dram_read_bytes, 32 * input, "{way}-{points}");
        }
    }
}

/// A volume of whole tiles: a walk of 16 planes loads the first plane, the ones below and above it,
/// and then one a step.
fn of_volume() {
    let (planes, height, warps) = (32_u64, 16_u64, 2_u64);
    let report = run("stencil", &format!("--points 7 --volume {planes},{height},{}", 32 * warps));
    let of_plane = height * warps;
    let (all, walks, blocks) = (planes * of_plane, planes / 16, height / 8);
    let (inner_rows, inner_planes) = (planes * (height - 1) * warps, (planes - 1) * of_plane);
    let loads = |way: &str| counters(&report, &format!("{way}-7")).global.load;

    assert_eq!(loads("global").requests, 3 * all + 2 * inner_planes + 2 * inner_rows);
    // A column: the first value of each walk, the one below it, and the one above in each step.
    let column = walks * of_plane + (walks - 1) * of_plane + inner_planes;
    assert_eq!(loads("registers").requests, column + 2 * inner_rows + 2 * all);
    // Rows above and below a block, and a lane of each warp at its sides.
    let halo = 2 * planes * (blocks - 1) * warps + 2 * planes * height * (warps - 1);
    assert_eq!(loads("both").requests, column + halo);
    assert_eq!(loads("shared").requests, all + 2 * inner_planes + halo);
    for way in ["shared", "both"] {
        let shared = counters(&report, &format!("{way}-7")).shared;
        assert_eq!((shared.load.requests, shared.load.bank_conflicts), (4 * all, 0), "{way}");
    }
    // Half a warp has all 64 columns.
    assert_eq!(loads("wide").requests, (column + 2 * inner_rows + 2 * all) / warps);

    // L2 sends planes to several blocks where these do not walk.
    let from_l2 = |way: &str| counters(&report, &format!("{way}-7")).model.expect("a model").caches.l2_to_l1_sectors;
    assert!(from_l2("global") > 3 * from_l2("registers") / 2, "{} {}", from_l2("global"), from_l2("registers"));
}

/// The roofline has a point for each memory of each row whose bytes are known.
fn roofline() {
    let report = run("stencil", "--rows 64 --cols 64 --volume 16,16,32");
    let drawn = report.roofline().expect("a roofline");
    let names: Vec<&str> = drawn.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names.len(), report.variants.iter().filter(|row| !row.name.starts_with("texture")).count());
    let of = |row: &VariantReport| drawn.kernels.iter().find(|kernel| kernel.name == row.name).expect("a point");
    let row = variant(&report, "global-5");
    // Ten operations, for four bytes of input and four of output.
    near(Some(of(row).intensities[0]), 10.0 / 8.0, "global-5");
}

pub fn stencil() {
    of_matrix();
    of_volume();
    roofline();
}
