//! What a model's caches and its occupancy give.

use device::Counters;

use crate::report::explanations as explain;
use crate::report::measure::Better::{Higher, Lower, Neither};
use crate::report::measure::{Better, Cell, Measure, Section};
use crate::units::{self, three_digits};

/// What a model's caches and its occupancy give.
const fn modelled(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&Counters) -> Option<Cell>,
) -> Measure {
    Measure::counted(Section::Model, key, title, better, of)
}

/// A percentage of hits.
fn percent(percent: Option<f64>) -> Option<Cell> {
    percent.map(Cell::number)
}

/// A number of bytes.
fn bytes(count: u64) -> Cell {
    Cell::new(count as f64, units::bytes(count))
}

/// Hits of loads in L1.
pub const L1_HITS: Measure = modelled("l1_hits_percent", &["L1 hits", "%"], Higher, |counters| {
    percent(counters.model?.caches.l1_global_load.hit_percent())
})
.unit("%")
.explained(explain::caches);

/// Hits of loads from local memory in L1.
pub const L1_LOCAL_HITS: Measure = modelled("l1_local_hits_percent", &["L1", "hits %"], Higher, |counters| {
    percent(counters.model?.caches.l1_local_load.hit_percent())
})
.unit("%")
.explained(explain::caches);

/// What L2 sends to multiprocessors and gets from them.
pub const L2_MOVED: Measure = modelled("l2_bytes", &["L2", "moves"], Lower, |counters| {
    let caches = counters.model?.caches;
    Some(bytes(32 * (caches.l2_to_l1_sectors + caches.l1_to_l2_sectors)))
})
.unit("bytes");

/// Hits in a read-only cache.
pub const READ_ONLY_HITS: Measure = modelled("read_only_hits_percent", &["read-only", "hits %"], Higher, |counters| {
    percent(counters.model?.caches.read_only().hit_percent())
})
.unit("%")
.explained(explain::read_only);

/// The bytes that come from beyond L1 and the read-only cache.
pub const BEYOND_L1: Measure = modelled("bytes_from_beyond_l1", &["bytes from", "beyond L1"], Lower, |counters| {
    let bytes = counters.model?.caches.l2_to_l1_sectors as f64 * 32.0;
    // One unit for a whole grid.
    Some(Cell::new(bytes, format!("{} KiB", three_digits(bytes / 1024.0))))
})
.unit("bytes");

/// Hits of reads in L2.
pub const L2_READ_HITS: Measure = modelled("l2_read_hits_percent", &["L2 read", "hits %"], Higher, |counters| {
    percent(counters.model?.caches.l2_read.hit_percent())
})
.unit("%")
.explained(explain::caches);

/// The bytes that are read from DRAM.
pub const DRAM_READ: Measure = modelled("dram_read_bytes", &["DRAM", "read"], Lower, |counters| {
    Some(bytes(counters.model?.caches.dram_read_bytes))
})
.unit("bytes");

/// The same for each byte that must come from there.
pub const DRAM_READ_OVER_IDEAL: Measure =
    Measure::new(Section::Counter, "dram_read_over_ideal", &["DRAM read", "/ ideal"], Lower, |variant| {
        let read = variant.counters?.model?.caches.dram_read_bytes;
        let ideal = variant.fact("ideal_bytes")?.as_f64()?;
        Some(Cell::number(read as f64 / ideal))
    })
    .explained(explain::ideal_dram);

/// A model's caches and occupancy.
pub const MODEL: &[Measure] = &[
    L1_HITS,
    READ_ONLY_HITS,
    // What the read-only cache is for; without one, the transactions tell.
    modelled("bytes_from_l2", &["from", "L2"], Lower, |counters| {
        let counted = counters.model.filter(|counted| counted.model.read_only.is_some())?;
        Some(bytes(counted.caches.l2_to_l1_sectors * 32))
    })
    .unit("bytes"),
    L2_READ_HITS,
    DRAM_READ,
    modelled("dram_written_bytes", &["DRAM", "written"], Lower, |counters| {
        Some(bytes(counters.model?.caches.dram_write_bytes))
    })
    .unit("bytes")
    .explained(explain::dirty_lines),
    OCCUPANCY_PERCENT,
    OCCUPANCY_LIMIT,
];

const OCCUPANCY_PERCENT: Measure =
    modelled("occupancy_percent", &["occup.", "%"], Neither, |counters| percent(Some(counters.occupancy?.percent())))
        .unit("%")
        .explained(explain::occupancy);

/// What keeps warps away; nothing where a multiprocessor is full of them.
const OCCUPANCY_LIMIT: Measure = modelled("occupancy_limited_by", &["occupancy", "limited by"], Neither, |counters| {
    let occupancy = counters.occupancy?;
    let limiters: Vec<_> = occupancy.limiters().map(simt::models::Limiter::name).collect();
    Some(Cell::text(if occupancy.percent() < 100.0 { limiters.join(", ") } else { "nothing".to_owned() }))
});

/// Occupancy, where it is what the lab is about.
pub const OCCUPANCIES: &[Measure] =
    &[OCCUPANCY_PERCENT.titled(&["occupancy", "%"]).among(Section::Counter), OCCUPANCY_LIMIT.among(Section::Counter)];

/// The share of a multiprocessor's warps that are resident, on a GPU or a model.
pub const OCCUPANCY: Measure = Measure::new(Section::Model, "occupancy", &["occupancy"], Neither, |variant| {
    let of_gpu = variant.occupancy.map(|occupancy| occupancy.percent);
    let percent = of_gpu.or_else(|| Some(variant.counters?.occupancy?.percent()))?;
    Some(Cell::new(percent, units::percent(percent)))
})
.unit("%");

/// The same where registers limit it, too: predicted, unless there is a GPU.
pub const OCCUPANCY_HERE: Measure =
    Measure::new(Section::Counter, "occupancy_with_registers", &["occupancy"], Neither, |variant| {
        let of_gpu = variant.occupancy.map(|occupancy| occupancy.percent);
        let predicted = || match variant.predicted_time()?.launches.as_slice() {
            [(_, launch)] => Some(100.0 * f64::from(launch.warps.0) / f64::from(launch.warps.1)),
            _ => None,
        };
        let percent = of_gpu.or_else(predicted)?;
        Some(Cell::new(percent, units::percent(percent)))
    })
    .unit("%")
    .explained(explain::occupancy);

/// The registers of a thread, predicted.
pub const REGISTERS: Measure = Measure::new(Section::Counter, "registers", &["registers"], Neither, |variant| {
    match variant.predicted_time()?.launches.as_slice() {
        [(_, launch)] => Some(Cell::count(launch.registers.into())),
        _ => None,
    }
})
.explained(explain::registers);
