//! What the measures mean, in sentences, for the rows that are shown: a GPU of sectors is not
//! explained transactions. A measure names its explanation, so that a legend has what the columns,
//! grids and sentences show, and nothing else. Pure.

use crate::flag_values::each_once;
use device::Properties;
use simt::models::{BankRule, TransactionRule};
use simt::prediction::Bound;

use super::cost::{self, Cost};
use super::measure::{Explanation, Shown};
use super::predicted::{RowPrediction, Together};
use super::variant_report::{Limit, Tolerance, VariantReport};
use crate::timing::Timing;
use crate::units;

/// A sentence about a term.
fn one(term: &'static str, text: impl Into<String>) -> Vec<Explanation> {
    vec![Explanation { term, text: text.into() }]
}

/// What a request is.
pub(super) fn requests(_: Shown<'_>) -> Vec<Explanation> {
    one("requests", "A request is a load or a store of one warp.")
}

/// Who says whether an old message is allowed.
pub(super) fn old_messages(_: Shown<'_>) -> Vec<Explanation> {
    one("old message", "PTX's memory model says whether a message may be old when its flag is new: see `host litmus`.")
}

/// What the runs are that are counted.
pub(super) fn runs_again(shown: Shown<'_>) -> Vec<Explanation> {
    let drawn = shown.variants.iter().filter_map(|variant| variant.again).any(|again| again.in_drawn_orders);
    one(
        "runs",
        match drawn {
            true => {
                "Each run is in an order of blocks that is drawn from the seed; in a third of them stores are late and reads stale."
            }
            false => "Each run is a launch on the GPU.",
        },
    )
}

/// What a task needs of memory.
pub(super) fn needed(_: Shown<'_>) -> Vec<Explanation> {
    one("needed", "Bytes needed are those of the inputs, read once, and of the result, written once.")
}

/// The same, where loads find in L1 what others brought there.
pub(super) fn touched(shown: Shown<'_>) -> Vec<Explanation> {
    let touched = "bytes touched / needed: those of all sectors that requests touch, over the bytes needed. L1 has those that were \
                   touched shortly before.";
    [needed(shown), one("bytes touched / needed", touched)].concat()
}

/// What a load asks for.
pub(super) fn words(_: Shown<'_>) -> Vec<Explanation> {
    one(
        "words a load",
        "Words a load: the distinct words of 4 bytes that a warp's load asks for; lanes may be idle, or share one.",
    )
}

/// What is counted for each result.
pub(super) fn loads_for_results(_: Shown<'_>) -> Vec<Explanation> {
    one("loads", "Loads are those of a warp, from global memory or by texture fetches, over the results, 32 at a time.")
}

/// What the bytes of a memory are compared with.
pub(super) fn over_input(_: Shown<'_>) -> Vec<Explanation> {
    one(
        "/ input",
        "from L2 / input, from DRAM / input: the bytes that each sends, over those of the input. No counter knows those of textures.",
    )
}

/// What requests and sectors are.
pub(super) fn sectors(shown: Shown<'_>) -> Vec<Explanation> {
    let sectors = "Sectors are 32 bytes: a request for 32 neighbouring floats needs 4, for 32 words of 16 bytes 16.";
    [requests(shown), one("sectors", sectors)].concat()
}

/// What is paid for what is needed, in sectors.
pub(super) fn ideal_sectors(shown: Shown<'_>) -> Vec<Explanation> {
    let ideal = "sectors / ideal: the sectors touched, over the fewest that could hold the bytes asked for. 1.00 is perfect, 8.00 a \
                 column of floats, which uses an eighth of each.";
    [sectors(shown), one("sectors / ideal", ideal)].concat()
}

/// The same in bytes that transactions move.
pub(super) fn moved(shown: Shown<'_>) -> Vec<Explanation> {
    let moved = "bytes moved / requested: the bytes that move, over those that the lanes request. 1.00 is perfect.";
    [cost(shown), one("bytes moved / requested", moved)].concat()
}

/// The unit of what a load or a store takes: sectors, or the transactions of older models.
pub(super) fn cost(shown: Shown<'_>) -> Vec<Explanation> {
    let costs = shown.variants.iter().filter_map(|variant| Cost::of_loads(variant.counters.as_ref()?));
    let in_sectors = costs.map(|cost| cost.unit).any(|unit| unit == "sectors");
    [if in_sectors { sectors(shown) } else { Vec::new() }, transactions(shown)].concat()
}

/// The sectors of a texture's loads.
pub(super) fn texture_sectors(shown: Shown<'_>) -> Vec<Explanation> {
    let lanes = "A texture request is of four lanes, not of a warp, so that a sector may count for several of them; of eight where the texture is \
                 linear memory.";
    [sectors(shown), one("texture", lanes)].concat()
}

/// The sectors that warps read, from textures or not.
pub(super) fn read_sectors(shown: Shown<'_>) -> Vec<Explanation> {
    let each = "Each load of a warp counts a sector once, however many lanes need it.";
    [sectors(shown), one("sectors read", each)].concat()
}

/// What transactions are: a sentence for each kind that older models make.
pub(super) fn transactions(shown: Shown<'_>) -> Vec<Explanation> {
    let counters = shown.variants.iter().filter_map(|variant| variant.counters.as_ref());
    let rules = each_once(counters.filter_map(|counters| Some(cost::old_model(counters)?.model.global)).collect());
    let sentences = rules.into_iter().map(transaction).flat_map(|(term, text)| one(term, text));
    let sentences: Vec<_> = sentences.collect();
    if sentences.is_empty() { sentences } else { [requests(shown), sentences].concat() }
}

/// What a transaction by this rule is: the term, and the sentence.
fn transaction(rule: TransactionRule) -> (&'static str, &'static str) {
    match rule {
        TransactionRule::Strict => (
            "transactions in order",
            "A transaction moves a segment of 32, 64 or 128 bytes: one for a half warp whose lanes ask for neighbouring words in order, \
             otherwise one for each lane.",
        ),
        TransactionRule::Segments => (
            "transactions of segments",
            "A transaction moves a segment of 32, 64 or 128 bytes, as small as possible, for a half warp.",
        ),
        TransactionRule::LinesAndSectors => (
            "transactions of lines",
            "A load's transaction moves a line of 128 bytes through L1 (ca), or 32 bytes past it (cg); a store's moves 32, 64 or 128 bytes \
             of a line.",
        ),
        TransactionRule::Sectors => ("transactions of sectors", "A transaction moves a sector of 32 bytes."),
    }
}

/// The transactions of models side by side: a sentence for each kind, with the names of its models.
pub(crate) fn of_each_model(shown: Shown<'_>) -> Vec<Explanation> {
    let counters = shown.variants.iter().filter_map(|variant| variant.counters.as_ref());
    let models = each_once(counters.filter_map(|counters| Some(counters.model?.model)).collect());
    let rules = each_once(models.iter().map(|model| model.global).collect());
    let sentence = |rule| {
        let (term, text) = transaction(rule);
        let names: Vec<_> = models.iter().filter(|model| model.global == rule).map(|model| model.name).collect();
        one(term, format!("{}: {}{}", names.join(", "), text[..1].to_lowercase(), &text[1..]))
    };
    rules.into_iter().flat_map(sentence).collect()
}

/// Wavefronts over those without bank conflicts.
pub(super) fn ideal_wavefronts(shown: Shown<'_>) -> Vec<Explanation> {
    banks(
        shown,
        "passes over the banks of shared memory; ideal: those without bank conflicts. 1.00 is perfect, 32.0 is 32 lanes in one bank.",
        "passes over the 16 banks of shared memory, for each half warp; ideal: those without bank conflicts. 1.00 is perfect, 16.0 is \
         a half warp in one bank.",
    )
}

/// Wavefronts of an access.
pub(super) fn wavefronts(shown: Shown<'_>) -> Vec<Explanation> {
    let is_wide = |variant: &VariantReport| {
        let accesses = variant.counters.map(|counters| [counters.shared.load, counters.shared.store]);
        let wide = |access: &simt::counts::SharedCounters| access.bank_conflicts + access.requests < access.wavefronts;
        bank_rule(variant) != BankRule::HalfWarps && accesses.iter().flatten().any(wide)
    };
    match shown.variants.iter().any(is_wide) {
        true => banks(
            shown,
            "passes over the banks of shared memory: without bank conflicts, 1 for words of up to 4 bytes, up to 2 for 8, up to 4 for 16.",
            "passes over the 16 banks of shared memory, for each half warp: without bank conflicts, 2 for words of up to 4 bytes, 4 for 8, \
             8 for 16.",
        ),
        false => banks(
            shown,
            "passes over the banks of shared memory: 1 without bank conflicts.",
            "passes over the 16 banks of shared memory, for each half warp: 2 without bank conflicts.",
        ),
    }
}

/// Bank conflicts, where wavefronts do not explain them.
pub(super) fn conflicts(shown: Shown<'_>) -> Vec<Explanation> {
    let conflicts = "Bank conflicts are extra passes over the banks of shared memory, for lanes that need different words of one bank.";
    match shown.variants.iter().any(uses_shared) {
        true => one(BANKS, conflicts),
        false => Vec::new(),
    }
}

/// The same of all accesses, asynchronous copies included.
pub(super) fn all_conflicts(shown: Shown<'_>) -> Vec<Explanation> {
    let copied =
        |variant: &VariantReport| variant.counters.is_some_and(|counters| counters.shared.copy.bank_conflicts > 0);
    let copies = match shown.variants.iter().any(copied) {
        true => one("copies", "Bank conflicts are those of loads, stores and asynchronous copies to shared memory."),
        false => Vec::new(),
    };
    [conflicts(shown), copies].concat()
}

/// One term: who knows wavefronts knows conflicts.
const BANKS: &str = "banks";

/// What wavefronts are on the banks that rows ran on: 32 for a warp, 16 for a half warp.
fn banks(shown: Shown<'_>, of_wholes: &str, of_halves: &str) -> Vec<Explanation> {
    let users = shown.variants.iter().filter(|variant| uses_shared(variant));
    let (halves, wholes): (Vec<_>, Vec<_>) = users.partition(|variant| bank_rule(variant) == BankRule::HalfWarps);
    match (wholes.is_empty(), halves.is_empty()) {
        (true, true) => Vec::new(),
        (false, true) => one(BANKS, format!("Wavefronts are {of_wholes}")),
        (true, false) => one(BANKS, format!("Wavefronts are {of_halves}")),
        (false, false) => {
            let on = models(halves).join(" and ");
            let both = [(BANKS, format!("With 32 banks, wavefronts are {of_wholes}"))];
            let both = both.into_iter().chain([("16 banks", format!("On {on}, wavefronts are {of_halves}"))]);
            both.flat_map(|(term, text)| one(term, text)).collect()
        }
    }
}

/// What the constant cache serves.
pub(super) fn constants(_: Shown<'_>) -> Vec<Explanation> {
    one("constant", "The constant cache serves one address at a time: 1 per request where all lanes read the same.")
}

/// What the read-only cache is asked for.
pub(super) fn read_only(shown: Shown<'_>) -> Vec<Explanation> {
    let asked = |variant: &VariantReport| variant.counters.and_then(|counters| counters.model);
    let queries = "Four lanes together query the read-only cache, 32 bytes at a time: for 32 neighbouring floats a warp makes 8 queries, \
                   and the 4 that repeat another one hit.";
    let any = shown.variants.iter().filter_map(asked).any(|model| model.caches.read_only().sectors > 0);
    let queries = if any { one("read-only", queries) } else { Vec::new() };
    [queries, caches(shown)].concat()
}

/// What a predicted time is.
pub(super) fn predicted(shown: Shown<'_>) -> Vec<Explanation> {
    let times: Vec<_> = shown.variants.iter().filter_map(|variant| variant.predicted_time()).collect();
    let mut models: Vec<_> = times.iter().map(|time| time.model).collect();
    models.dedup_by_key(|model| model.name);
    let doubtful = models.iter().filter_map(|model| Some((model, model.timing().filter(|timing| !timing.measured)?)));
    let (doubtful_names, doubtful): (Vec<_>, Vec<_>) =
        doubtful.map(|(model, timing)| (model.name, format!("{}: {}", model.chip, timing.source))).unzip();
    let (what, caches) = match times.first().map(|time| time.together) {
        Some(Together::Added { warm: false }) => ("all launches would take, added up,", "each cold"),
        Some(Together::Added { warm: true }) => {
            ("all launches would take, added up,", "each with its data in the level-2 cache, if it fits")
        }
        Some(Together::Queued) | None => ("a launch would take", "cold"),
    };
    let mut text =
        format!("Predicted: what {what} by the simulator's model of that GPU, {caches}; nothing is measured.");
    match doubtful.len() {
        0 => {}
        1..=2 => text += &format!(" ({}.)", doubtful.join("; ")),
        // docs/TIME.md has their sources.
        _ => text += &format!(" Not verified: {}.", doubtful_names.join(", ")),
    }
    let launch = times.iter().filter_map(|time| Some(time.launches.first()?.1.empty_us / 1e3 / time.time_ms));
    let mut all = one("predicted", text);
    if launch.fold(0.0, f64::max) > 0.25 {
        let most = times.iter().filter_map(|time| Some(time.launches.first()?.1.empty_us)).fold(0.0, f64::max);
        let empty = units::milliseconds(most / 1e3);
        let text = format!("An empty launch takes {empty}. Larger data, as with --predict, shows more.");
        all.extend(one("predicted launch", text));
    }
    all
}

/// What predicted times are, where a model's were compared with no measurement.
pub(super) fn not_verified(shown: Shown<'_>) -> Vec<String> {
    let models = shown.variants.iter().filter_map(|variant| variant.predicted_time()).map(|time| time.model);
    let doubtful = models.filter_map(|model| model.timing()).any(|timing| !timing.measured);
    let text = predicted(shown).into_iter().take(1).map(|explanation| explanation.text);
    if doubtful { text.collect() } else { Vec::new() }
}

/// What predicted speed-ups are over, where there are several first rows.
pub(super) fn predicted_speedups(shown: Shown<'_>) -> Vec<Explanation> {
    let groups = each_once(shown.variants.iter().map(|variant| &variant.group).collect());
    let first = "A speed-up is over the first row of the same kind.";
    let speedups = if groups.len() > 1 { one("predicted speed-up", first) } else { Vec::new() };
    [predicted(shown), speedups].concat()
}

/// What the limits of predicted times are, for those whose names do not say it.
pub(super) fn predicted_limits(shown: Shown<'_>) -> Vec<Explanation> {
    let limits = shown.variants.iter().filter_map(|variant| Some(variant.predicted_time()?.limit));
    let meaning = |limit: Bound| {
        Some(match limit {
            Bound::Dram | Bound::L2 => "its bandwidth",
            Bound::Lsu => "the load/store units, which serve each request sector by sector",
            Bound::SharedMemory => "its wavefronts",
            Bound::Issue => "the schedulers, which issue instructions in nearly all cycles",
            Bound::Latency => "waiting for memory, while no unit is busy",
            Bound::Barriers => "waiting for the other warps of a block",
            Bound::Dependences => "waiting for the instruction before",
            Bound::Launch => "starting the launch and its blocks",
            Bound::Link => "copies to or from the device",
            Bound::Fp32 | Bound::Integer | Bound::Fp64 | Bound::SpecialFunctions => "that arithmetic",
            Bound::Constants | Bound::Textures => return None,
        })
    };
    let meanings = each_once(limits.collect()).into_iter();
    let meanings: Vec<_> =
        meanings.filter_map(|limit| Some(format!("{}: {}", limit.name(), meaning(limit)?))).collect();
    let text = format!("The limit is what a launch waits for most. {}.", meanings.join("; "));
    let limits = if meanings.is_empty() { Vec::new() } else { one("predicted limit", text) };
    [predicted(shown), limits].concat()
}

/// Why rows have no predicted time; `None` if all have one, or none was to have one.
fn not_predicted(variants: &[VariantReport]) -> Option<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for variant in variants {
        let Some(RowPrediction::Not(what)) = &variant.predicted else { continue };
        match reasons.iter_mut().find(|(reason, _)| reason == what) {
            Some((_, names)) => names.push(variant.name_on_model()),
            None => reasons.push((what, vec![variant.name_on_model()])),
        }
    }
    let of = |(reason, names): (&str, Vec<String>)| Some(format!("{} ({reason})", some_of(&names)?));
    let reasons: Vec<_> = reasons.into_iter().filter_map(of).collect();
    (!reasons.is_empty()).then(|| format!("Not predicted: {}.", reasons.join("; ")))
}

/// How the caches begin.
pub(super) fn caches(_: Shown<'_>) -> Vec<Explanation> {
    one("caches", "All caches are empty at the start.")
}

/// The term of what stands for a value that is not known.
const DASH: &str = "dash";

/// What it is.
pub(super) fn dashes() -> Vec<Explanation> {
    one(DASH, "A dash: does not apply.")
}

/// What occupancy is.
pub(super) fn occupancy(_: Shown<'_>) -> Vec<Explanation> {
    one("occupancy", "Occupancy: the warps that a multiprocessor has at once, over the most that it can have.")
}

/// Who allocates registers.
pub(super) fn registers(_: Shown<'_>) -> Vec<Explanation> {
    one(
        "registers",
        "Registers of a thread are estimated from the PTX. ptxas allocates them, and may spill some: PTX does not show that.",
    )
}

/// What must come from DRAM.
pub(super) fn ideal_dram(_: Shown<'_>) -> Vec<Explanation> {
    one("ideal DRAM reads", "Ideal DRAM reads are those of the inputs, each byte once.")
}

/// What is not counted as written.
pub(super) fn dirty_lines(_: Shown<'_>) -> Vec<Explanation> {
    one("dirty lines", "Dirty lines that are left in L2 at the end are not counted as written.")
}

/// How much of the results was compared, if not all.
pub(super) fn sampled(shown: Shown<'_>) -> Vec<Explanation> {
    let comparisons = shown.variants.iter().filter_map(|variant| variant.comparison.as_ref());
    let sizes = comparisons.filter_map(|check| check.sample.map(|sample| (sample, check.elements)));
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort_unstable();
    sizes.dedup();
    let [.., (sample, elements)] = sizes.as_slice() else { return Vec::new() };
    let fewer = if sizes.len() > 1 { "at most " } else { "" };
    one(
        "sample",
        format!(
            "Compared with the reference: {fewer}{sample} of {elements} elements, chosen by --seed, a few in each neighbourhood. The others \
             are only checked to be no larger than the inputs allow."
        ),
    )
}

/// The allowed errors of each kind of tolerance, in one sentence.
pub(super) fn allowed_errors(shown: Shown<'_>) -> Vec<Explanation> {
    let tolerances = shown.variants.iter().filter_map(|it| Some(it.comparison.as_ref()?.tolerance.as_ref()?.tolerance));
    let (mut roundings, mut ulps, mut absolute) = (Vec::new(), None, None);
    for tolerance in tolerances {
        match tolerance {
            Tolerance::Roundings(count) => roundings.push(count),
            Tolerance::Ulps(count) => ulps = ulps.max(Some(count)),
            Tolerance::Absolute(error) => absolute = Some(absolute.unwrap_or(0.0_f64).max(error)),
        }
    }
    let mut errors = Vec::new();
    if let (Some(least), Some(most)) = (roundings.iter().min(), roundings.iter().max()) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        errors.push(format!("{range} roundings, each by at most 2^-24 of the value"));
    }
    errors.extend(ulps.map(|count| format!("the nearest float and {count} on either side of it are right")));
    errors.extend(absolute.map(|error| format!("{error:.1e} where neighbours are mixed")));
    one("allowed errors", format!("Allowed errors: {}.", errors.join("; ")))
}

/// Cold times below this, in milliseconds, are mostly overhead.
const SHORT_MS: f64 = 0.01;

/// What follows from cold times, where there are two series.
pub(super) fn cold(shown: Shown<'_>) -> Vec<Explanation> {
    let both = shown.variants.iter().filter(|variant| variant.warm_timing.is_some());
    let mut sentences = one("cold", "Rates, percentages and speed-ups are those of the cold times.");
    if both.filter_map(|variant| variant.timing).any(|timing| timing.median_ms < SHORT_MS) {
        let short =
            "Each cold time includes a few microseconds to begin and end a launch: compare short ones with care.";
        sentences.extend(one("short", short));
    }
    sentences
}

/// What the limits are.
pub(super) fn limits(Shown { variants, device }: Shown<'_>) -> Vec<Explanation> {
    let is = |wanted| variants.iter().any(|variant| variant.limit().is_some_and(|(limit, _)| limit == wanted));
    let memory = device.peak_gbps.filter(|_| is(Limit::Memory));
    let memory = memory.map(|peak| format!("the memory bus, {} GB/s", units::three_digits(peak)));
    let clocks = variants.iter().filter_map(|variant| variant.timing?.sm_clock_mhz).reduce(f64::max);
    let clock = clocks.or(device.clock_mhz).filter(|_| is(Limit::Arithmetic));
    let arithmetic = clock.and_then(|clock| {
        let tflops = units::three_digits(device.peak_gflops(clock)? / 1e3);
        Some(format!("f32 arithmetic, {tflops} TFLOP/s at {clock:.0} MHz"))
    });
    let limits: Vec<_> = memory.into_iter().chain(arithmetic).collect();
    if limits.is_empty() { Vec::new() } else { one("limit", format!("The limit is {}.", limits.join(", or "))) }
}

/// The maximum number of names in a sentence.
const MOST_NAMES: usize = 3;

/// Which times are to be treated with care, and why.
pub(super) fn doubts(variants: &[VariantReport], device: &Properties) -> Vec<String> {
    // The variants with such a series, as text.
    let which = |words: &dyn Fn(&str, &Timing) -> Option<String>| {
        let of_variant = |variant: &VariantReport| {
            let cold = variant.timing.as_ref().and_then(|timing| words(&variant.name, timing));
            let warm = || words(&format!("{} (warm)", variant.name), variant.warm_timing.as_ref()?);
            cold.or_else(warm)
        };
        some_of(&variants.iter().filter_map(of_variant).collect::<Vec<_>>())
    };
    let unsteady = which(&|name, timing| (!timing.steady).then(|| name.to_owned()));
    let throttled = which(&|name, timing| {
        let (by, clock) = (timing.throttled_by?, timing.sm_clock_mhz?);
        Some(format!("{name} at {clock:.0} MHz by {by}"))
    });
    let dropped = which(&|name, timing| (timing.dropped_samples > 0).then(|| name.to_owned()));
    let highest = device.clock_mhz.map(|clock| format!(" (at most {clock:.0} MHz)")).unwrap_or_default();
    [
        not_predicted(variants),
        unsteady.map(|names| format!("Not steady when the time was up (--time-limit): {names}.")),
        throttled.map(|names| format!("The clock was throttled{highest}: {names}.")),
        dropped.map(|names| format!("Samples at far too low a clock were dropped and taken again: {names}.")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A list that is cut after some names; `None` if there are none.
fn some_of(all: &[String]) -> Option<String> {
    let some = &all[..all.len().min(MOST_NAMES)];
    match all.len() - some.len() {
        0 if all.is_empty() => None,
        0 => Some(some.join(", ")),
        more => Some(format!("{} and {more} more", some.join(", "))),
    }
}

/// The names of the models that variants ran on, each once.
fn models<'a>(variants: impl IntoIterator<Item = &'a VariantReport>) -> Vec<&'static str> {
    let names = variants.into_iter().filter_map(|variant| Some(variant.counters?.model?.model.name));
    each_once(names.collect())
}

fn uses_shared(variant: &VariantReport) -> bool {
    variant.counters.is_some_and(|counters| counters.shared.load.requests + counters.shared.store.requests > 0)
}

/// How the banks served the variant: as on Volta and later unless a model says otherwise.
fn bank_rule(variant: &VariantReport) -> BankRule {
    let model = variant.counters.and_then(|counters| counters.model);
    model.map_or(BankRule::Words, |counted| counted.model.shared.banks)
}
