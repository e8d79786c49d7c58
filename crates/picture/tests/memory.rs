//! Memory charts, from counters: every arrow has its number or says that it is not counted, and all
//! lines fit.

use picture::{Cache, Flow, MemoryChart, MemoryPanel, Paint, Way, memory_svg, memory_text};
use simt::counts::{ConstantCounters, MemoryCounters, ModelCounters, SectorCounters, SharedCounters};
use simt::{Counters, Model};

fn loads(requests: u64, sectors: u64, ideal_sectors: u64) -> Counters {
    let mut counters = Counters::default();
    counters.global.load = MemoryCounters { requests, sectors, ideal_sectors, bytes: 32 * ideal_sectors };
    counters.global.store = MemoryCounters { requests: 16, sectors: 64, ideal_sectors: 64, bytes: 2048 };
    counters
}

/// With the caches of Hopper.
fn modelled(mut counters: Counters) -> Counters {
    let model = Model::named("hopper").unwrap();
    let mut counted = ModelCounters::of_numbers(model, [0; ModelCounters::NUMBERS]);
    counted.global_load.bytes_moved = 32 * counters.global.load.sectors;
    counted.global_store.bytes_moved = 32 * counters.global.store.sectors;
    counted.caches.l1_global_load =
        SectorCounters { sectors: counters.global.load.sectors, hits: counters.global.load.sectors * 7 / 8 };
    counted.caches.l2_to_l1_sectors = counters.global.load.sectors / 8;
    counted.caches.l1_to_l2_sectors = 64;
    counted.caches.l2_read =
        SectorCounters { sectors: counters.global.load.sectors / 8, hits: counters.global.load.sectors / 16 };
    counted.caches.dram_read_bytes = 1024;
    counters.model = Some(counted);
    counters
}

fn pair() -> MemoryChart {
    let mut tiled = loads(64, 256, 256);
    tiled.shared.load = SharedCounters { requests: 320, wavefronts: 640, bank_conflicts: 320 };
    let panel = |name: &str, counters: Counters| MemoryPanel::new(name, "", &modelled(counters));
    MemoryChart { panels: vec![panel("naive", loads(2048, 8192, 4096)), panel("tiled", tiled)] }
}

#[test]
fn what_moves_is_what_was_counted() {
    let chart = pair();
    let flow = |panel: usize, way: Way| chart.panels[panel].flow(way);
    let load = Flow { requests: Some(2048), amount: Some(8192 * 32), least: Some(4096 * 32) };
    assert_eq!(flow(0, Way::Load), Some(load));
    assert_eq!(flow(0, Way::SharedLoad), None);
    let shared = Flow { requests: Some(320), amount: Some(640), least: Some(320) };
    assert_eq!(flow(1, Way::SharedLoad), Some(shared));
    assert_eq!(flow(0, Way::L2Read).unwrap().amount, Some(1024 * 32));
    assert_eq!(flow(0, Way::DramWrite), Some(Flow { amount: Some(0), ..Flow::default() }));
    assert_eq!(chart.panels[0].l1, Cache::Sectors { asked: 8192, hits: 7168 });
    assert_eq!(chart.sentence(), "tiled: 8 KiB from L1/TEX to kernel, not 256 KiB: 32.0× less.");
}

#[test]
fn atomic_operations_move_a_sector_for_each_turn() {
    let mut counters = loads(16, 64, 64);
    counters.global.reduction = MemoryCounters { requests: 4, sectors: 128, ideal_sectors: 4, bytes: 16 };
    let chart = MemoryChart { panels: vec![MemoryPanel::new("alike", "", &counters)] };
    let moved = Flow { requests: Some(4), amount: Some(4096), least: Some(128) };
    assert_eq!(chart.panels[0].flow(Way::Atomic), Some(moved));
    assert_eq!(MemoryPanel::new("none", "", &loads(16, 64, 64)).flow(Way::Atomic), None);
}

#[test]
fn passes_of_a_load_say_what_totals_hide() {
    // One load that is taken apart, beside eight that are not.
    let panel = |name: &str, requests, addresses| {
        let mut counters = loads(16, 64, 64);
        counters.constant = ConstantCounters { requests, addresses };
        MemoryPanel::new(name, "", &counters)
    };
    let chart = MemoryChart { panels: vec![panel("polynomial", 2048, 2048), panel("lookup", 256, 7733)] };
    let sentence = "lookup: 30.2 passes a load from constant memory, not 1.00: 30.2× more.";
    assert_eq!(chart.sentence(), sentence);
}

/// What is said of two launches: what a reader sees at the widest arrow.
#[test]
fn the_sentence_is_about_what_moves_most() {
    let panel = |name: &str, load: u64, store: u64, requests: u64, texture: u64| {
        let mut counters = Counters::default();
        counters.global.load =
            MemoryCounters { requests, sectors: load, bytes: 32 * load, ..MemoryCounters::default() };
        counters.global.store = MemoryCounters { requests: store, sectors: store, ..MemoryCounters::default() };
        counters.texture = MemoryCounters { requests: texture.min(1), sectors: texture, ..MemoryCounters::default() };
        MemoryPanel::new(name, "", &counters)
    };
    for (first, second, sentence) in [
        // A few stores more, beside many loads less.
        (
            panel("thread", 4096, 8, 128, 0),
            panel("block", 512, 64, 128, 0),
            "block: 16 KiB from L1/TEX to kernel, not 128 KiB: 8.00× less.",
        ),
        (
            panel("narrow", 512, 16, 128, 0),
            panel("wide", 512, 16, 32, 0),
            "wide: 32 loads from global memory, not 128: 4.00× fewer.",
        ),
        (
            panel("rows", 4096, 16, 128, 0),
            panel("texture", 0, 16, 0, 2048),
            "texture: 64 KiB from L1/TEX to kernel, not 128 KiB: 2.00× less.",
        ),
    ] {
        assert_eq!(MemoryChart { panels: vec![first, second] }.sentence(), sentence);
    }
}

#[test]
fn a_chart_as_text() {
    let chart = pair();
    for width in [40, 60, 72, 100] {
        let text = memory_text(&chart, width, Paint::Plain);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "over {width} columns: {line}");
        }
        for said in ["256 KiB", "8 KiB", "32.0× less", "640 passes", "hits 87.5 %", "stay in L2", "none"] {
            assert!(text.contains(said), "no {said} in {width} columns:\n{text}");
        }
    }
    insta::assert_snapshot!("memory", memory_text(&chart, 100, Paint::Plain));
}

#[test]
fn what_is_not_counted_has_no_number() {
    let chart = MemoryChart { panels: vec![MemoryPanel::new("naive", "", &loads(2048, 8192, 4096))] };
    let text = memory_text(&chart, 100, Paint::Plain);
    let said = "L1, L2 and DRAM are counted on a GPU's model, such as sim:hopper.";
    assert!(text.matches(said).count() == 1 && !text.contains("not counted"), "{text}");
    let svg = memory_svg(&chart);
    assert!(svg.contains(&format!(">{said}")) && !svg.contains(">L2<") && !svg.contains("not counted"), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_texture_beyond_a_cache_that_does_not_count_it_is_unknown() {
    let mut counters = loads(8, 32, 32);
    counters.texture = MemoryCounters { requests: 64, sectors: 256, ..MemoryCounters::default() };
    let panel = MemoryPanel::new("texture", "", &modelled(counters));
    assert_eq!(panel.flow(Way::L2Read), Some(Flow::default()));
    assert_eq!(panel.flow(Way::Texture).unwrap().amount, Some(256 * 32));
    assert_eq!(panel.l2, Cache::NotCounted);
    let svg = memory_svg(&MemoryChart { panels: vec![panel] });
    assert_eq!((svg.matches("class=\"way unknown\"").count(), svg.matches(">counted<").count()), (4, 1), "{svg}");
}

/// Look-ups of an H200's far partition are misses of the near one; the bytes say what hit.
#[test]
fn hits_of_l2_are_the_bytes_that_dram_need_not_send() {
    let chart = pair();
    let naive = &chart.panels[0];
    // 1024 sectors to L1, of which 32 from DRAM.
    assert_eq!(naive.l2, Cache::Sectors { asked: 1024, hits: 992 });
    assert_eq!(naive.flow(Way::DramRead).unwrap(), Flow { amount: Some(1024), least: Some(1024), ..Flow::default() });
    let note = "Hits of L2: what it sends and DRAM need not.";
    assert!(memory_text(&chart, 100, Paint::Plain).replace('\n', " ").contains(note));
    assert!(memory_svg(&chart).contains(note));
}

#[test]
fn a_gpu_without_caches_says_so() {
    let mut counters = loads(8, 32, 32);
    counters.model = Some(ModelCounters::of_numbers(Model::named("g80").unwrap(), [7; ModelCounters::NUMBERS]));
    let chart = MemoryChart { panels: vec![MemoryPanel::new("old", "", &counters)] };
    assert_eq!((chart.panels[0].l1, chart.panels[0].l2), (Cache::Missing, Cache::Missing));
    assert!(memory_svg(&chart).contains("none here") && chart.panels[0].flow(Way::L2Read).is_none());
}

#[test]
fn nothing_at_all_is_drawn_too() {
    let empty = |name: &str| MemoryPanel::new(name, "", &Counters::default());
    for panels in [vec![], vec![empty("a")], vec![empty("a"), empty("b")]] {
        let chart = MemoryChart { panels };
        assert!(memory_svg(&chart).starts_with("<svg"));
        memory_text(&chart, 40, Paint::Plain);
    }
    let chart = MemoryChart { panels: vec![empty("a"), empty("b")] };
    assert_eq!(chart.sentence(), "a and b move the same.");
}
