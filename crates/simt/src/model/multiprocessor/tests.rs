//! Tests of [`Multiprocessor`]: what becomes of a few accesses, by model.

use super::*;
use crate::metric::MetricValue;

fn requests(model: &str, caching: LoadCaching, accesses: &[(AccessKind, CacheHint, u64)]) -> Multiprocessor {
    let model = Model::named(model).unwrap();
    let mut multiprocessor = Multiprocessor::new(model, Position::default(), model.shared.carveouts[0], caching);
    for &(kind, hint, start) in accesses {
        let addresses = std::array::from_fn(|lane| 0x7000_0000_0000 + start + 4 * lane as u64);
        multiprocessor.access(kind, AccessOrigin::Global, hint, &Access::new(u32::MAX, &addresses, 4));
    }
    multiprocessor
}

const LOAD: (AccessKind, CacheHint, u64) = (AccessKind::Load, CacheHint::None, 0);

#[test]
fn a_second_load_hits_where_loads_are_cached() {
    let hits = |model, caching| {
        let multiprocessor = requests(model, caching, &[LOAD, LOAD]);
        let caches = multiprocessor.counters.caches;
        (caches.l1_global_load.sectors, caches.l1_global_load.hits, caches.l2_to_l1_sectors)
    };
    // Fermi counts lines, the others sectors.
    assert_eq!(hits("fermi", LoadCaching::Default), (2, 1, 4));
    assert_eq!(hits("fermi", LoadCaching::GlobalLevel), (0, 0, 8));
    assert_eq!(hits("kepler", LoadCaching::Default), (0, 0, 8));
    assert_eq!(hits("kepler", LoadCaching::AllLevels), (2, 1, 4));
    assert_eq!(hits("maxwell", LoadCaching::Default), (0, 0, 8));
    assert_eq!(hits("pascal", LoadCaching::Default), (8, 4, 4));
    assert_eq!(hits("hopper", LoadCaching::Default), (8, 4, 4));
}

#[test]
fn a_misaligned_warp_fetches_lines_on_fermi_and_sectors_later() {
    let upstream = |model| requests(model, LoadCaching::Default, &[(AccessKind::Load, CacheHint::None, 4)]).upstream;
    let sectors = |model| upstream(model).iter().map(|request| request.sectors).collect::<Vec<_>>();
    assert_eq!(sectors("fermi"), [0b1111, 0b1111]);
    assert_eq!(sectors("kepler"), [0b1111, 0b0001]);
    assert_eq!(sectors("hopper"), [0b1111, 0b0001]);
    assert_eq!(upstream("tesla"), []);
}

#[test]
fn what_a_store_leaves_in_l1() {
    let store = (AccessKind::Store, CacheHint::None, 0);
    let hits =
        |model, accesses: &[_]| requests(model, LoadCaching::Default, accesses).counters.caches.l1_global_load.hits;
    assert_eq!(hits("fermi", &[LOAD, store, LOAD]), 0);
    assert_eq!(hits("hopper", &[LOAD, store, LOAD]), 4);
    assert_eq!(hits("hopper", &[store, LOAD]), 4);
    // Half a sector at each end: only the three whole ones are present.
    let partial = (AccessKind::Store, CacheHint::None, 16);
    assert_eq!(hits("hopper", &[partial, LOAD]), 3);
    let reduction = (AccessKind::Reduction, CacheHint::None, 0);
    assert_eq!(hits("hopper", &[LOAD, reduction, LOAD]), 0);
}

#[test]
fn operators_choose_the_path() {
    let hits = |hint| {
        let load = (AccessKind::Load, hint, 0);
        requests("hopper", LoadCaching::Default, &[load, load]).counters.caches.l1_global_load.hits
    };
    assert_eq!([CacheHint::None, CacheHint::Cached, CacheHint::ReadOnly, CacheHint::Bypass].map(hits), [4, 4, 4, 0]);
}

#[test]
fn the_read_only_cache_is_past_l1_and_stores_do_not_reach_it() {
    let words = std::array::from_fn(|lane| 0x7000_0000_0000 + 4 * lane as u64);
    let access = Access::new(u32::MAX, &words, 4);
    for (model, caching) in [("kepler", LoadCaching::Default), ("kepler8", LoadCaching::AllLevels)] {
        let mut multiprocessor = requests(model, caching, &[(AccessKind::Load, CacheHint::None, 0)]);
        let before = multiprocessor.counters;
        multiprocessor.read_only_load(0, &access);
        multiprocessor.access(AccessKind::Store, AccessOrigin::Global, CacheHint::None, &access);
        multiprocessor.read_only_load(0, &access);
        // A texture in the same memory reads what a load has fetched.
        multiprocessor.texture_fetch(0, (0..32).map(|lane| (lane, words[lane as usize] / 32)));
        let after = multiprocessor.counters;
        assert_eq!(after.caches.read_only_load, SectorCounters { sectors: 16, hits: 12 });
        assert_eq!(after.caches.read_only_texture, SectorCounters { sectors: 8, hits: 8 });
        assert_eq!(after.caches.l1_global_load, before.caches.l1_global_load);
        assert_eq!(after.caches.l2_to_l1_sectors - before.caches.l2_to_l1_sectors, 4);
        let upstream: Vec<_> = multiprocessor.upstream.iter().filter(|sent| sent.kind == AccessKind::Load).collect();
        assert_eq!(upstream[upstream.len() - 4..].iter().map(|sent| sent.sectors).sum::<u8>(), 0b1111);
        let value = |name| after.metrics().into_iter().find(|metric| metric.name == name).map(|metric| metric.value);
        assert_eq!(value("nc_cache_global_hit_rate"), Some(MetricValue::Ratio(Some(75.0))));
        assert_eq!(value("tex_cache_hit_rate"), Some(MetricValue::Ratio(Some(100.0))));
        assert_eq!(value("tex_cache_sector_queries"), Some(MetricValue::Count(24)));
        assert_eq!(value("tex_cache_sector_misses"), Some(MetricValue::Count(4)));
        assert_eq!(value("nc_l2_read_transactions"), Some(MetricValue::Count(4)));
        // The two read-only loads are not among nvprof's `gld`.
        assert_eq!(after.global_load.transactions - before.global_load.transactions, 8);
        assert_eq!(value("gld_transactions"), Some(MetricValue::Count(before.global_load.transactions)));
    }
}

#[test]
fn from_maxwell_on_read_only_loads_hit_in_l1() {
    for model in Model::all() {
        let name = model.name;
        let has = model.compute_capability.0 == 3;
        let load = (AccessKind::Load, CacheHint::ReadOnly, 0);
        let counted = requests(name, LoadCaching::Default, &[load, load]);
        assert_eq!(counted.has_read_only_cache(), has, "{name}");
        if model.compute_capability >= (5, 0) {
            assert_eq!(counted.counters.caches.l1_global_load, SectorCounters { sectors: 8, hits: 4 }, "{name}");
        }
        let names: Vec<_> = counted.counters.metrics().into_iter().map(|metric| metric.name).collect();
        for of_kepler in ["nc_cache_global_hit_rate", "tex_cache_hit_rate", "tex_cache_sector_queries"] {
            assert_eq!(names.contains(&of_kepler), has, "{name}");
        }
    }
}

#[test]
fn the_copy_engine_goes_in_parts_of_128_bytes() {
    let copied = |model| {
        let mut multiprocessor = requests(model, LoadCaching::Default, &[LOAD]);
        let before = multiprocessor.upstream.len();
        // To two blocks: bytes 16 to 144 in five sectors, and 144 to 176 in two.
        multiprocessor.bulk(AccessKind::Copy, (0x7000_0000_0010, 160), 2);
        let sectors = multiprocessor.upstream[before..].iter().map(|request| request.sectors).collect::<Vec<_>>();
        (sectors, multiprocessor.counters.caches)
    };
    let (sectors, caches) = copied("hopper");
    assert_eq!(sectors, [0b1111, 0b0001, 0b0011]);
    assert_eq!((caches.l2_to_l1_sectors, caches.l1_to_l2_sectors), (4 + 2 * 7, 0));
    let (sectors, caches) = copied("tesla");
    assert_eq!((sectors, caches.dram_read_bytes, caches.dram_write_bytes), (vec![], 128 + 7 * 32, 0));
}

#[test]
fn what_goes_to_another_block_and_what_it_acquires() {
    let mut multiprocessor = requests("hopper", LoadCaching::Default, &[LOAD]);
    let words = std::array::from_fn(|lane| 0x100_0000 + 4 * lane as u64);
    let mut crossed = |kind, addresses: &[u64; 32]| {
        let before = multiprocessor.counters.caches.distributed_sectors;
        multiprocessor.distributed(kind, &Access::new(u32::MAX, addresses, 4));
        multiprocessor.counters.caches.distributed_sectors - before
    };
    assert_eq!((crossed(AccessKind::Load, &words), crossed(AccessKind::Store, &words)), (4, 4));
    assert_eq!((crossed(AccessKind::Atomic, &words), crossed(AccessKind::Reduction, &[words[0]; 32])), (8, 64));
    assert_eq!(multiprocessor.l1.as_mut().unwrap().look_up(0x7000_0000_0000 / LINE_BYTES), 0b1111);
    multiprocessor.acquire();
    assert_eq!(multiprocessor.l1.as_mut().unwrap().look_up(0x7000_0000_0000 / LINE_BYTES), 0);
}

#[test]
fn without_caches_all_goes_past_caches() {
    let multiprocessor = requests("tesla", LoadCaching::Default, &[LOAD, (AccessKind::Store, CacheHint::None, 4)]);
    let caches = multiprocessor.counters.caches;
    assert_eq!((caches.dram_read_bytes, caches.dram_write_bytes), (128, 224));
}
