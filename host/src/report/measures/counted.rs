//! What the counters give: requests, sectors and wavefronts of every memory, instructions, lanes.

use device::Counters;
use simt::counts::SharedCounters;

use crate::report::cost::{Cost, bytes_moved};
use crate::report::explanations as explain;
use crate::report::measure::Better::{Higher, Lower, Neither};
use crate::report::measure::{Better, Cell, Measure, Section};
use crate::report::variant_report::VariantReport;
use crate::units;

/// A measure that the counters give.
const fn counter(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&Counters) -> Option<Cell>,
) -> Measure {
    Measure::counted(Section::Counter, key, title, better, of)
}

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

/// Loads from global memory: what a request takes, and what is paid for what is needed, in the unit
/// of the GPU.
pub const LOADS: &[Measure] = &[
    counter("loads_sectors_per_request", &["global", "loads:", "sectors per", "request"], Lower, |counters| {
        per_request(Cost::of_loads(counters), SECTORS)
    })
    .explained(explain::sectors),
    counter("loads_sectors_per_ideal", &["global", "loads:", "sectors", "/ ideal"], Lower, |counters| {
        per_ideal(Cost::of_loads(counters), SECTORS)
    })
    .explained(explain::ideal_sectors),
    counter(
        "loads_transactions_per_request",
        &["global", "loads:", "transactions", "per request"],
        Lower,
        |counters| per_request(Cost::of_loads(counters), TRANSACTIONS),
    )
    .explained(explain::transactions),
    counter("loads_moved_per_asked", &["global", "loads:", "bytes moved", "/ requested"], Lower, |counters| {
        per_ideal(Cost::of_loads(counters), TRANSACTIONS)
    })
    .explained(explain::moved),
];

/// All sectors of loads.
pub const LOADED_SECTORS: Measure = counter("loaded_sectors", &["global", "loads:", "sectors"], Lower, |counters| {
    Cost::of_loads(counters).filter(|cost| cost.unit == SECTORS).map(|cost| Cell::count(cost.total))
})
.explained(explain::sectors);

/// All that loads take, where rows make different numbers of them for the same work.
pub const LOAD_TOTALS: &[Measure] = &[
    LOADED_SECTORS,
    counter("loaded_transactions", &["global", "loads:", "transactions"], Lower, |counters| {
        Cost::of_loads(counters).filter(|cost| cost.unit == TRANSACTIONS).map(|cost| Cell::count(cost.total))
    })
    .explained(explain::transactions),
];

/// Stores to global memory, likewise.
pub const STORES: &[Measure] = &[
    counter("stores_sectors_per_request", &["global", "stores:", "sectors per", "request"], Lower, |counters| {
        per_request(Cost::of_stores(counters), SECTORS)
    })
    .explained(explain::sectors),
    counter("stores_sectors_per_ideal", &["global", "stores:", "sectors", "/ ideal"], Lower, |counters| {
        per_ideal(Cost::of_stores(counters), SECTORS)
    })
    .explained(explain::ideal_sectors),
    counter(
        "stores_transactions_per_request",
        &["global", "stores:", "transactions", "per request"],
        Lower,
        |counters| per_request(Cost::of_stores(counters), TRANSACTIONS),
    )
    .explained(explain::transactions),
    counter("stores_moved_per_asked", &["global", "stores:", "bytes moved", "/ requested"], Lower, |counters| {
        per_ideal(Cost::of_stores(counters), TRANSACTIONS)
    })
    .explained(explain::moved),
];

/// What is paid for what is needed alone: the same for words of any width.
pub const LOADS_OVER_IDEAL: &[Measure] = &[LOADS[1], LOADS[3]];

/// Stores, likewise.
pub const STORES_OVER_IDEAL: &[Measure] = &[STORES[1], STORES[3]];

/// Bytes moved for each byte that is asked for.
fn moved(cost: Option<Cost>) -> Option<Cell> {
    cost.map(|cost| Cell::number(100.0 / cost.percent_used))
}

/// Bytes moved for each byte that is asked for, where rows run on GPUs of different units.
pub const MOVED: &[Measure] = &[
    counter("loads_moved_per_asked", &["global", "loads:", "bytes moved", "/ requested"], Lower, |counters| {
        moved(Cost::of_loads(counters))
    })
    .explained(explain::moved),
    counter("stores_moved_per_asked", &["global", "stores:", "bytes moved", "/ requested"], Lower, |counters| {
        moved(Cost::of_stores(counters))
    })
    .explained(explain::moved),
];

/// Bytes that loads and stores move for each byte that the task needs to read and to write.
pub const MOVED_OF_NEEDED: Measure =
    Measure::new(Section::Counter, "moved_per_needed", &["bytes moved", "/ needed"], Lower, of_needed)
        .explained(explain::needed);

/// The same where L1 has much of what requests touch, so that less moves.
pub const TOUCHED_OF_NEEDED: Measure =
    Measure::new(Section::Counter, "touched_per_needed", &["bytes touched", "/ needed"], Lower, of_needed)
        .explained(explain::touched);

fn of_needed(variant: &VariantReport) -> Option<Cell> {
    let moved = bytes_moved(variant.counters.as_ref()?);
    (variant.useful_bytes > 0).then(|| Cell::number(moved as f64 / variant.useful_bytes as f64))
}

/// The distinct words of 4 bytes that a load asks for, on average.
pub const WORDS_A_LOAD: Measure = counter("words_per_load", &["words", "a load"], Higher, |counters| {
    let loads = counters.global.load;
    (loads.requests > 0).then(|| Cell::number(loads.bytes as f64 / (4 * loads.requests) as f64))
})
.explained(explain::words);

/// The percentage of a format's places that holds no entry.
pub const PADDED: Measure = Measure::new(Section::Counter, "padding", &["padding"], Lower, |variant| {
    let percent = variant.fact("padding")?.as_f64()?;
    Some(Cell::new(percent, if percent > 0.0 { units::percent(percent) } else { "0 %".to_owned() }))
})
.unit("%");

/// The same alone.
pub const PADDING: &[Measure] = &[PADDED];

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
    counter("load_requests", &["global", "load", "requests"], Lower, |counters| some(counters.global.load.requests))
        .explained(explain::requests);

/// Load requests alone.
pub const LOADED_REQUESTS: &[Measure] = &[LOAD_REQUESTS];

/// The number of requests to global memory.
pub const REQUESTS: &[Measure] = &[
    LOAD_REQUESTS,
    counter("store_requests", &["global", "store", "requests"], Lower, |counters| some(counters.global.store.requests))
        .explained(explain::requests),
];

/// Load and store requests together.
pub const ALL_REQUESTS: Measure = counter("requests", &["requests"], Lower, |counters| {
    Some(Cell::count(counters.global.load.requests + counters.global.store.requests))
})
.explained(explain::requests);

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

/// All passes over the banks, with conflicts and without.
pub const SHARED_TOTALS: &[Measure] = &[counter("shared_wavefronts", &["shared:", "wavefronts"], Lower, |counters| {
    some(shared_accesses(counters).iter().map(|access| access.wavefronts).sum())
})
.explained(explain::wavefronts)];

/// The total number of bank conflicts.
pub const BANK_CONFLICTS: &[Measure] = &[counter("bank_conflicts", &["bank", "conflicts"], Lower, |counters| {
    let all = shared_accesses(counters);
    let requests: u64 = all.iter().map(|access| access.requests).sum();
    (requests > 0).then(|| Cell::count(all.iter().map(|access| access.bank_conflicts).sum()))
})
.explained(explain::all_conflicts)];

/// The blocks of its launch: with fewer than there are multiprocessors, some have nothing to do.
pub const BLOCKS: &[Measure] = &[Measure::new(Section::Counter, "blocks", &["blocks"], Neither, |variant| {
    variant.counters.as_ref()?;
    let grid = variant.fact("grid")?.as_array()?;
    Some(Cell::count(grid.iter().filter_map(serde_json::Value::as_u64).product()))
})];

/// The threads of its launch: too few cannot hide the wait for memory.
pub const THREADS: &[Measure] = &[Measure::new(Section::Counter, "threads", &["threads"], Neither, |variant| {
    variant.counters.as_ref()?;
    Some(Cell::count(variant.fact("threads")?.as_u64()?))
})];

/// Active lanes of a warp instruction.
pub const ACTIVE_LANES: &[Measure] = &[counter("active_lanes", &["active", "lanes", "of 32"], Higher, |counters| {
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

/// Atomic operations on the word of global memory that gets most: L2 does one after the other.
pub const ATOMICS_ON_ONE_WORD: Measure =
    Measure::new(Section::Counter, "atomics_on_one_word", &["most", "atomics on", "one word"], Lower, |variant| {
        let most = variant.arrays.iter().flat_map(|array| &array.atomics).max()?;
        some((*most).into())
    });

/// The same alone.
pub const CONTENDED: &[Measure] = &[ATOMICS_ON_ONE_WORD];

/// Addresses of a load from constant memory.
pub const CONSTANT_ADDRESSES: Measure =
    counter("constant_addresses_per_request", &["constant", "addresses", "per request"], Lower, |counters| {
        counters.constant.addresses_per_request().map(Cell::number)
    })
    .explained(explain::constants);

/// Loads from constant memory.
pub const CONSTANT_REQUESTS: Measure =
    counter("constant_requests", &["constant", "requests"], Lower, |counters| some(counters.constant.requests));

/// What each takes, and all of them together.
pub const CONSTANT_TOTALS: &[Measure] = &[
    CONSTANT_ADDRESSES,
    counter("constant_addresses", &["constant", "addresses", "in all"], Lower, |counters| {
        some(counters.constant.addresses)
    })
    .explained(explain::constants),
];

/// Requests, and what each takes.
pub const CONSTANTS: &[Measure] = &[CONSTANT_REQUESTS, CONSTANT_ADDRESSES];

/// Requests to textures.
const TEXTURE_REQUESTS: Measure =
    counter("texture_requests", &["texture", "requests"], Lower, |counters| some(counters.texture.requests));

/// All that these take.
pub const TEXTURE_SECTORS: Measure =
    counter("texture_sectors", &["texture:", "sectors"], Lower, |counters| some(counters.texture.sectors))
        .explained(explain::texture_sectors);

/// Textures.
pub const TEXTURES: &[Measure] = &[
    TEXTURE_REQUESTS,
    counter("texture_sectors_per_request", &["texture", "sectors per", "request"], Lower, |counters| {
        counters.texture.sectors_per_request().map(Cell::number)
    })
    .explained(explain::texture_sectors),
    counter("texture_sectors_per_ideal", &["texture", "sectors", "/ ideal"], Lower, |counters| {
        counters.texture.sectors_per_ideal().map(Cell::number)
    })
    .explained(explain::ideal_sectors),
];

/// The sectors that warps read, through textures or with plain loads: of both, the distinct ones of
/// each warp, although the requests of textures are of fewer lanes.
pub const READ_SECTORS: &[Measure] =
    &[counter("read_sectors", &["sectors", "read"], Lower, |counters| match counters.texture.requests {
        0 => some(counters.global.load.sectors),
        _ => some(counters.texture_sectors_of_warps),
    })
    .explained(explain::read_sectors)];

/// Local memory.
pub const LOCAL_MEMORY: &[Measure] = &[counter("local_sectors", &["local", "sectors"], Lower, |counters| {
    some(counters.local.load.sectors + counters.local.store.sectors)
})
.explained(explain::sectors)];
