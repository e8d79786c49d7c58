//! The measures that labs share: the columns of every table, in order, and those that sentences and grids name. What a measure
//! means stands in `explanations`. Pure.

use device::Counters;
use simt::SharedCounters;

use super::cost::Cost;
use super::explanations as explain;
use super::measure::Better::{Higher, Lower, Neither};
use super::measure::{Better, Cell, Measure, Section};
use super::predicted::PredictedTime;
use super::variant_report::VariantReport;
use crate::timing::Timing;
use crate::units::{self, three_digits};

/// A measure that the counters give.
const fn counter(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&Counters) -> Option<Cell>,
) -> Measure {
    Measure::counted(Section::Counter, key, title, better, of)
}

/// A time, or what follows from it.
const fn time(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&VariantReport) -> Option<Cell>,
) -> Measure {
    Measure::new(Section::Time, key, title, better, of)
}

/// What a model's caches and its occupancy give.
const fn modelled(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&Counters) -> Option<Cell>,
) -> Measure {
    Measure::counted(Section::Model, key, title, better, of)
}

const fn compared(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&VariantReport) -> Option<Cell>,
) -> Measure {
    Measure::new(Section::Comparison, key, title, better, of)
}

/// A row's name.
pub const NAME: Measure =
    Measure::new(Section::Name, "variant", &["variant"], Neither, |variant| Some(Cell::text(&variant.name)));

/// The largest error of a result.
pub const MAX_ERROR: Measure = compared("max_error", &["worst", "error"], Lower, |variant| {
    let error = variant.comparison.as_ref()?.max_error;
    Some(Cell::new(error, short_error(error)))
});

/// Whether the result was right.
pub const CHECKS: &[Measure] = &[
    compared("right", &["right"], Neither, |variant| Some(Cell::text(if variant.correct()? { "yes" } else { "NO" })))
        .explained(explain::sampled),
    MAX_ERROR,
    compared("percent_of_allowed_error", &["% of", "allowed"], Lower, |variant| {
        let percent = variant.comparison.as_ref()?.tolerance.as_ref()?.worst_part * 100.0;
        Some(Cell::new(percent, part(percent)))
    })
    .unit("%")
    .explained(explain::allowed_errors),
    compared("faults", &["faults"], Lower, |variant| {
        variant.findings.as_ref().map(|_| Cell::count(variant.faults().len() as u64))
    }),
];

/// A median time.
fn median(timing: Option<&Timing>) -> Option<Cell> {
    timing.map(|timing| Cell::new(timing.median_ms, units::milliseconds(timing.median_ms)))
}

/// The median time, cold where there are two.
pub const TIME: Measure =
    time("time_ms", &["time,", "median"], Lower, |variant| median(variant.timing.as_ref())).unit("ms");

/// One series of times needs no name.
pub const ONE_TIME: &[Measure] = &[TIME];

/// Two series of times.
pub const COLD_AND_WARM: &[Measure] = &[
    TIME.titled(&["time,", "cold"]).explained(explain::cold),
    time("warm_time_ms", &["time,", "warm"], Lower, |variant| median(variant.warm_timing.as_ref())).unit("ms"),
];

/// What the task itself reads and writes, in a second.
pub const GBPS: Measure = time("gbps", &["GB/s"], Higher, |variant| variant.gbps.map(Cell::number)).unit("GB/s");

/// Floating-point operations that the task needs, in a second.
pub const GFLOPS: Measure =
    time("gflops", &["GFLOP/s"], Higher, |variant| variant.gflops.map(Cell::number)).unit("GFLOP/s");

/// The same in percent of the device's own copy.
pub const PERCENT_OF_COPY: Measure = time("percent_of_copy", &["% of", "copy"], Higher, |variant| {
    variant.percent_of_copy.map(|percent| Cell::new(percent, format!("{percent:.1}")))
})
.unit("%");

/// How many times as fast as the first row of its group.
pub const SPEEDUP: Measure = time("speedup", &["speed-up", "over 1st"], Higher, |variant| {
    variant.speedup.map(|speedup| Cell::new(speedup, format!("{speedup:.2}")))
});

/// What follows from the times.
pub const RATES: &[Measure] = &[
    time("spread_percent", &["spread", "+- %"], Lower, |variant| {
        let percent = variant.timing.as_ref()?.spread_percent();
        Some(Cell::new(percent, format!("{percent:.1}")))
    })
    .unit("%"),
    GBPS,
    PERCENT_OF_COPY,
    GFLOPS,
    time("percent_of_limit", &["% of", "limit"], Higher, |variant| {
        variant.limit().map(|(_, percent)| Cell::new(percent, format!("{percent:.1}")))
    })
    .unit("%")
    .explained(explain::limits),
    SPEEDUP,
    time("gpu_occupancy_percent", &["occup.", "%"], Neither, |variant| {
        variant.occupancy.map(|occupancy| Cell::number(occupancy.percent))
    })
    .unit("%"),
];

/// What the simulator predicts.
const fn predicted(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&PredictedTime) -> Option<Cell>,
) -> Measure {
    Measure::predicted(key, title, better, of).explained(explain::predicted)
}

/// The predicted bandwidth.
pub const PREDICTED_GBPS: Measure =
    predicted("predicted_gbps", &["predicted", "GB/s"], Higher, |time| time.gbps.map(Cell::number)).unit("GB/s");

/// How many times as fast as the first row on the same model, in a table of models.
pub const SPEEDUP_ON_MODEL: Measure = predicted("predicted_speedup", &["predicted", "speed-up"], Higher, |time| {
    time.speedup.map(|speedup| Cell::new(speedup, two_decimals(speedup)))
});

/// Two decimals, as far as they are three digits.
fn two_decimals(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { three_digits(value) }
}

/// What a GPU would take, and why. Each title says that it is predicted; where the same row was measured, the measured time stands
/// before it.
pub const PREDICTED: &[Measure] = &[
    Measure::new(Section::Predicted, "measured_time_ms", &["measured", "time"], Lower, |variant| {
        variant.predicted_time()?.over_measured?;
        median(variant.timing.as_ref())
    })
    .unit("ms"),
    predicted("predicted_time_ms", &["predicted", "time"], Lower, |time| {
        Some(Cell::new(time.time_ms, units::milliseconds(time.time_ms)))
    })
    .unit("ms"),
    predicted("predicted_over_measured", &["predicted", "/ measured"], Neither, |time| {
        time.over_measured.map(|ratio| Cell::new(ratio, format!("{ratio:.2}")))
    }),
    PREDICTED_GBPS,
    predicted("predicted_gflops", &["predicted", "GFLOP/s"], Higher, |time| time.gflops.map(Cell::number))
        .unit("GFLOP/s"),
    predicted("predicted_speedup", &["predicted", "speed-up"], Higher, |time| {
        time.speedup.map(|speedup| Cell::new(speedup, format!("{speedup:.2}")))
    }),
    predicted("predicted_limit", &["predicted", "limit"], Neither, |time| Some(Cell::text(time.limit.name()))),
];

/// A number of things, unless it is 0.
fn some(count: u64) -> Option<Cell> {
    (count > 0).then(|| Cell::count(count))
}

const SECTORS: &str = "sectors";
const TRANSACTIONS: &str = "transactions";

/// The cost of a request, if it is in this unit.
fn per_request(cost: Option<Cost>, unit: &str) -> Option<Cell> {
    cost.filter(|cost| cost.unit == unit).map(|cost| Cell::number(cost.per_request))
}

/// What is moved for what was requested, if the cost is in this unit.
fn per_ideal(cost: Option<Cost>, unit: &str) -> Option<Cell> {
    cost.filter(|cost| cost.unit == unit).map(|cost| Cell::number(cost.per_ideal))
}

/// Loads from global memory: what a request takes, and what is paid for what is needed, in the unit of the GPU.
pub const LOADS: &[Measure] = &[
    counter("loads_sectors_per_request", &["loads:", "sectors per", "request"], Lower, |counters| {
        per_request(Cost::of_loads(counters), SECTORS)
    })
    .explained(explain::sectors),
    counter("loads_sectors_per_ideal", &["loads:", "sectors", "/ ideal"], Lower, |counters| {
        per_ideal(Cost::of_loads(counters), SECTORS)
    })
    .explained(explain::ideal_sectors),
    counter("loads_transactions_per_request", &["loads:", "transactions", "per request"], Lower, |counters| {
        per_request(Cost::of_loads(counters), TRANSACTIONS)
    })
    .explained(explain::transactions),
    counter("loads_moved_per_asked", &["loads:", "bytes moved", "/ asked"], Lower, |counters| {
        per_ideal(Cost::of_loads(counters), TRANSACTIONS)
    })
    .explained(explain::moved),
];

/// Stores to global memory, likewise.
pub const STORES: &[Measure] = &[
    counter("stores_sectors_per_request", &["stores:", "sectors per", "request"], Lower, |counters| {
        per_request(Cost::of_stores(counters), SECTORS)
    })
    .explained(explain::sectors),
    counter("stores_sectors_per_ideal", &["stores:", "sectors", "/ ideal"], Lower, |counters| {
        per_ideal(Cost::of_stores(counters), SECTORS)
    })
    .explained(explain::ideal_sectors),
    counter("stores_transactions_per_request", &["stores:", "transactions", "per request"], Lower, |counters| {
        per_request(Cost::of_stores(counters), TRANSACTIONS)
    })
    .explained(explain::transactions),
    counter("stores_moved_per_asked", &["stores:", "bytes moved", "/ asked"], Lower, |counters| {
        per_ideal(Cost::of_stores(counters), TRANSACTIONS)
    })
    .explained(explain::moved),
];

/// What a load takes, in the unit of the GPU.
pub const A_LOAD: Measure =
    counter("load_cost", &["a load"], Lower, |counters| Some(Cell::number(Cost::of_loads(counters)?.per_request)))
        .explained(explain::cost);

/// The same with its unit: `4.00 sectors`.
pub const A_LOAD_IN_UNITS: Measure = counter("load_cost", &["a load"], Lower, |counters| {
    let cost = Cost::of_loads(counters)?;
    Some(Cell::new(cost.per_request, cost.to_string()))
})
.explained(explain::cost);

/// The percentage of the bytes that loads move which was requested.
pub const LOADED_BYTES_USED: Measure = counter("loaded_bytes_used", &["bytes", "used, %"], Higher, |counters| {
    let percent = Cost::of_loads(counters)?.percent_used;
    Some(Cell::new(percent, units::percent(percent)))
})
.unit("%");

/// What a store takes, in the unit of the GPU.
pub const A_STORE: Measure =
    counter("store_cost", &["a store"], Lower, |counters| Some(Cell::number(Cost::of_stores(counters)?.per_request)))
        .explained(explain::cost);

/// The same with its unit.
pub const A_STORE_IN_UNITS: Measure = counter("store_cost", &["a store"], Lower, |counters| {
    let cost = Cost::of_stores(counters)?;
    Some(Cell::new(cost.per_request, cost.to_string()))
})
.explained(explain::cost);

/// Load requests to global memory.
pub const LOAD_REQUESTS: Measure =
    counter("load_requests", &["load", "requests"], Lower, |counters| some(counters.global.load.requests));

/// The number of requests to global memory.
pub const REQUESTS: &[Measure] = &[
    LOAD_REQUESTS,
    counter("store_requests", &["store", "requests"], Lower, |counters| some(counters.global.store.requests)),
];

/// Load and store requests together.
pub const ALL_REQUESTS: Measure = counter("requests", &["requests"], Lower, |counters| {
    Some(Cell::count(counters.global.load.requests + counters.global.store.requests))
});

/// Loads from shared memory: what is paid for what is needed.
pub const SHARED_LOADS: &[Measure] =
    &[counter("shared_loads_wavefronts_per_ideal", &["shared loads:", "wavefronts", "/ ideal"], Lower, |counters| {
        counters.shared.load.wavefronts_per_ideal().map(Cell::number)
    })
    .explained(explain::ideal_wavefronts)];

/// Stores to shared memory, likewise.
pub const SHARED_STORES: &[Measure] =
    &[counter("shared_stores_wavefronts_per_ideal", &["shared stores:", "wavefronts", "/ ideal"], Lower, |counters| {
        counters.shared.store.wavefronts_per_ideal().map(Cell::number)
    })
    .explained(explain::ideal_wavefronts)];

/// What a load from shared memory takes.
pub const SHARED_LOAD_WAVEFRONTS: Measure =
    counter("wavefronts_per_shared_load", &["wavefronts", "per shared load"], Lower, |counters| {
        counters.shared.load.wavefronts_per_request().map(Cell::number)
    })
    .explained(explain::wavefronts);

/// Of those, the ones that bank conflicts add.
pub const SHARED_LOAD_CONFLICTS: Measure =
    counter("conflicts_per_shared_load", &["conflicts", "per shared load"], Lower, |counters| {
        let loads = counters.shared.load;
        match loads.bank_conflicts {
            _ if loads.requests == 0 => None,
            0 => Some(Cell::new(0.0, "no")),
            conflicts => Some(Cell::number(conflicts as f64 / loads.requests as f64)),
        }
    });

/// The accesses of every kind to shared memory.
fn shared_accesses(counters: &Counters) -> [SharedCounters; 5] {
    let shared = &counters.shared;
    [shared.load, shared.store, shared.atomic, shared.reduction, shared.copy]
}

/// The total number of bank conflicts.
pub const BANK_CONFLICTS: &[Measure] = &[counter("bank_conflicts", &["bank", "conflicts"], Lower, |counters| {
    let all = shared_accesses(counters);
    let requests: u64 = all.iter().map(|access| access.requests).sum();
    (requests > 0).then(|| Cell::count(all.iter().map(|access| access.bank_conflicts).sum()))
})
.explained(explain::conflicts)];

/// Active lanes of a warp instruction.
pub const ACTIVE_LANES: &[Measure] = &[counter("active_lanes", &["active", "lanes"], Higher, |counters| {
    counters.active_lanes_per_instruction().map(Cell::number)
})];

/// Warp instructions, of PTX.
pub const INSTRUCTIONS: &[Measure] =
    &[counter("ptx_warp_instructions", &["PTX warp", "instructions"], Lower, |counters| {
        Some(Cell::count(counters.instructions_executed))
    })];

/// Atomic operations on global and on shared memory.
pub const ATOMICS: &[Measure] = &[
    counter("global_atomics", &["global", "atomics"], Lower, |counters| {
        some(counters.global.atomic.requests + counters.global.reduction.requests)
    }),
    counter("shared_atomics", &["shared", "atomics"], Lower, |counters| {
        some(counters.shared.atomic.requests + counters.shared.reduction.requests)
    }),
];

/// Addresses of a load from constant memory.
pub const CONSTANT_ADDRESSES: Measure =
    counter("constant_addresses_per_request", &["constant", "addresses", "per request"], Lower, |counters| {
        counters.constant.addresses_per_request().map(Cell::number)
    })
    .explained(explain::constants);

/// Loads from constant memory.
pub const CONSTANTS: &[Measure] = &[
    counter("constant_requests", &["constant", "requests"], Lower, |counters| some(counters.constant.requests)),
    CONSTANT_ADDRESSES,
];

/// Textures.
pub const TEXTURES: &[Measure] = &[
    counter("texture_requests", &["texture", "requests"], Lower, |counters| some(counters.texture.requests)),
    counter("texture_sectors_per_request", &["texture", "sectors per", "request"], Lower, |counters| {
        counters.texture.sectors_per_request().map(Cell::number)
    })
    .explained(explain::texture_sectors),
    counter("texture_sectors_per_ideal", &["texture", "sectors", "/ ideal"], Lower, |counters| {
        counters.texture.sectors_per_ideal().map(Cell::number)
    })
    .explained(explain::ideal_sectors),
];

/// Local memory.
pub const LOCAL_MEMORY: &[Measure] = &[counter("local_sectors", &["local", "sectors"], Lower, |counters| {
    some(counters.local.load.sectors + counters.local.store.sectors)
})
.explained(explain::sectors)];

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

/// Hits in a read-only cache.
pub const READ_ONLY_HITS: Measure = modelled("read_only_hits_percent", &["read-only", "hits %"], Higher, |counters| {
    percent(counters.model?.caches.read_only().hit_percent())
})
.unit("%")
.explained(explain::read_only);

/// The bytes that come from beyond L1 and the read-only cache.
pub const BEYOND_L1: Measure = modelled("bytes_from_beyond_l1", &["bytes from", "beyond L1"], Lower, |counters| {
    Some(bytes(counters.model?.caches.l2_to_l1_sectors * 32))
})
.unit("bytes");

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
    modelled("l2_read_hits_percent", &["L2 read", "hits %"], Higher, |counters| {
        percent(counters.model?.caches.l2_read.hit_percent())
    })
    .unit("%")
    .explained(explain::caches),
    modelled("dram_read_bytes", &["DRAM", "read"], Lower, |counters| {
        Some(bytes(counters.model?.caches.dram_read_bytes))
    })
    .unit("bytes"),
    modelled("dram_written_bytes", &["DRAM", "written"], Lower, |counters| {
        Some(bytes(counters.model?.caches.dram_write_bytes))
    })
    .unit("bytes")
    .explained(explain::dirty_lines),
    modelled("occupancy_percent", &["occup.", "%"], Neither, |counters| percent(Some(counters.occupancy?.percent())))
        .unit("%"),
    modelled("occupancy_limited_by", &["occupancy", "limited by"], Neither, |counters| {
        let limiters: Vec<_> = counters.occupancy?.limiters().map(simt::Limiter::name).collect();
        Some(Cell::text(limiters.join(", ")))
    }),
];

/// The share of a multiprocessor's warps that are resident, on a GPU or a model.
pub const OCCUPANCY: Measure = Measure::new(Section::Model, "occupancy", &["occupancy"], Neither, |variant| {
    let of_gpu = variant.occupancy.map(|occupancy| occupancy.percent);
    let percent = of_gpu.or_else(|| Some(variant.counters?.occupancy?.percent()))?;
    Some(Cell::new(percent, units::percent(percent)))
})
.unit("%");

/// Larger numbers have an exponent.
const MOST_WRITTEN_OUT: f64 = 1e5;

/// Smaller percentages are shown as smaller than this.
const LEAST_WRITTEN_OUT: f64 = 0.001;

/// A percentage of the allowed error: that of a wrong result may be as large as the error itself.
fn part(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        part if part < LEAST_WRITTEN_OUT => format!("<{LEAST_WRITTEN_OUT}"),
        part if part < MOST_WRITTEN_OUT => three_digits(part),
        part => short_error(part),
    }
}

/// An error in few characters.
fn short_error(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.001..MOST_WRITTEN_OUT).contains(&value) {
        three_digits(value)
    } else if value.is_finite() {
        format!("{value:.0e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::short_error;

    #[test]
    fn errors_are_short() {
        let cases =
            [(0.0, "0"), (2.0, "2.00"), (0.5, "0.500"), (6e-8, "6e-8"), (1.6e36, "2e36"), (f64::INFINITY, "inf")];
        for (value, text) in cases {
            assert_eq!(short_error(value), text);
        }
    }
}
