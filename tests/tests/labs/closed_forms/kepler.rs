//! Closed forms of Kepler's read-only cache: KAUST CS 380, lecture 14. Four lanes together ask for
//! 32 bytes at a time, and each of the four schedulers has a cache of its own.

use super::*;

/// What variants on Kepler asked of the read-only cache, for each warp: queries, misses, and the
/// sectors from L2.
fn of_a_warp(report: &LabReport, name: &str, warps: u64) -> (f64, f64, f64) {
    let caches = counters(report, name).model.expect("a model").caches;
    let each = |count: u64| count as f64 / warps as f64;
    (each(caches.read_only().sectors), each(caches.read_only().misses()), each(caches.l2_to_l1_sectors))
}

/// Structures of 12 bytes: each field costs 16 queries, and all 12 sectors of a warp's structures
/// miss once. Directly, each of three loads takes all 12 from L2.
pub fn layout() {
    let report = right(run_on(&simulator("sim:kepler"), "layout", "--points --size 4096"), "on Kepler");
    let of = |name| of_a_warp(&report, name, 4096 / 32);
    assert_eq!(of("points-direct"), (0.0, 0.0, 36.0));
    assert_eq!(of("points-read-only"), (48.0, 12.0, 12.0));
    assert_eq!(of("points-arrays"), (24.0, 12.0, 12.0));
    let counted = counters(&report, "points-read-only").model.expect("a model");
    near(counted.caches.read_only_load.hit_percent(), 75.0, "points-read-only");
    // Nearly optimal: all that leaves L2 is points.
    assert_eq!(counted.caches.l2_to_l1_sectors * 32, 4096 * 12);
    let sentence = "75.0 % of the queries hit and L2 sends 48.0 KiB, of which 100 % is points; directly, 144 KiB.";
    assert!(report.conclusions.iter().any(|conclusion| conclusion.contains(sentence)), "{:?}", report.conclusions);
}

/// Loads by `nc` with each pattern. Neighbouring warps, on other schedulers, share nothing.
pub fn cache() {
    let report = right(run_on(&simulator("sim:kepler"), "cache", "--operators --size 8192"), "on Kepler");
    let of = |name| of_a_warp(&report, name, 8192 / 32);
    assert_eq!(of("nc-aligned"), (8.0, 4.0, 4.0));
    assert_eq!(of("nc-misaligned"), (12.0, 5.0, 5.0));
    assert_eq!(of("nc-strided"), (32.0, 32.0, 32.0));
    assert_eq!(of("nc-scattered"), (32.0, 32.0, 32.0));
    // Three loads of nine are aligned to four words. The last one reaches into a fifth sector.
    assert_eq!(of("nc-stencil"), (3.0 * 8.0 + 6.0 * 12.0, 5.0, 5.0));
    for name in ["default-stencil", "cg-stencil", "ca-stencil"] {
        let caches = counters(&report, name).model.expect("a model").caches;
        assert_eq!(caches.read_only().sectors, 0, "{name}");
    }
    // `nc` takes the read-only cache even where other loads go through L1.
    let report = right(run_on(&simulator("sim:kepler:ca"), "cache", "--operators --pattern aligned"), "on Kepler");
    assert_eq!(of_a_warp(&report, "nc-aligned", 8192 / 32), (8.0, 4.0, 4.0));
}

/// Texels. A sector of an array holds four floats of each of two rows, which warps on different
/// schedulers read.
pub fn texture() {
    let report = right(run_on(&simulator("sim:kepler"), "texture", "--all --size 128"), "on Kepler");
    let of = |name| of_a_warp(&report, name, 128 * 128 / 32);
    assert_eq!(of("linear-texture"), (8.0, 4.0, 4.0));
    assert_eq!(of("rows-texture"), (8.0, 8.0, 8.0));
    assert_eq!(of("columns-texture"), (16.0, 16.0, 16.0));
    // Eight rows of four texels, which begin in the middle: two sectors a row, and five pairs of
    // rows.
    assert_eq!(of("windows-texture"), (16.0, 10.0, 10.0));
    let caches = counters(&report, "windows-texture").model.expect("a model").caches;
    assert_eq!((caches.read_only_load.sectors, caches.dram_read_bytes), (0, 128 * 128 * 4));
}

/// From Maxwell on `nc` and textures share L1: the second and third field of a structure hit there.
#[test]
fn later_gpus_have_no_read_only_cache_of_their_own() {
    for model in simt::Model::all().iter().filter(|model| model.compute_capability >= (5, 0)) {
        let model = model.name;
        let device = simulator(&format!("sim:{model}"));
        let report = right(run_on(&device, "layout", "--points --size 4096"), model);
        let caches = counters(&report, "points-read-only").model.expect("a model").caches;
        assert_eq!(caches.read_only().sectors, 0, "{model}");
        near(caches.l1_global_load.hit_percent(), 200.0 / 3.0, model);
        assert_eq!(caches.l2_to_l1_sectors * 32, 4096 * 12, "{model}");
    }
}

/// The JSON has nvprof's names, and no such names on a model without this cache.
#[test]
fn json_has_the_read_only_cache_under_nvprofs_names() {
    let value = |device: &str, name: &str| {
        let report = run_on(&simulator(device), "layout", "--points --size 4096");
        let metrics = counters(&report, "points-read-only").metrics();
        metrics.into_iter().find(|metric| metric.name == name).map(|metric| metric.value)
    };
    for (name, expected) in [
        ("tex_cache_sector_queries", simt::counts::MetricValue::Count(128 * 48)),
        ("tex_cache_sector_misses", simt::counts::MetricValue::Count(128 * 12)),
        ("nc_l2_read_transactions", simt::counts::MetricValue::Count(128 * 12)),
        ("gld_transactions", simt::counts::MetricValue::Count(0)),
        ("nc_cache_global_hit_rate", simt::counts::MetricValue::Ratio(Some(75.0))),
        ("tex_cache_hit_rate", simt::counts::MetricValue::Ratio(None)),
    ] {
        assert_eq!(value("sim:kepler", name), Some(expected), "{name}");
        if name != "gld_transactions" {
            assert_eq!(value("sim:maxwell", name), None, "{name}");
        }
    }
}
