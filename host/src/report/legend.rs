//! The sentences below a table that explain the terms in it, and no others. `table` and `markdown` call it with what they show. Pure.

use device::Properties;
use device::flag_values::each_once;
use simt::{BankRule, TransactionRule};

use super::cost;
use super::lab_report::{Limit, Tolerance, VariantReport};
use crate::timing::Timing;
use crate::units;

const SECTORS: &str = "Sectors are 32 bytes: a warp of 32 lanes that asks for neighbouring floats needs 4.";

const IDEAL_SECTORS: &str = "sectors / ideal: the sectors touched, over the fewest that could hold the bytes asked for. 1.00 is perfect, \
                             8.00 a column of floats.";

const MOVED: &str = "bytes moved / asked: what the transactions move, over what the lanes ask for. 1.00 is perfect.";

/// What wavefronts are; the sentence's begin says of whose banks it is.
const WAVEFRONTS: &str = "passes over the banks of shared memory: 1 without bank conflicts.";

const WIDE_WAVEFRONTS: &str = "passes over the banks of shared memory: without bank conflicts, 1 for words of up to 4 bytes, up to 2 \
                               for 8, up to 4 for 16.";

const HALF_WARP_WAVEFRONTS: &str =
    "passes over the 16 banks of shared memory, for each half warp: 2 without bank conflicts.";

const IDEAL_WAVEFRONTS: &str = "passes over the banks of shared memory; ideal: those without bank conflicts. 1.00 is perfect, 32.0 is \
                                32 lanes in one bank.";

const IDEAL_HALF_WARP_WAVEFRONTS: &str = "passes over the 16 banks of shared memory, for each half warp; ideal: those without bank \
                                          conflicts. 1.00 is perfect, 16.0 is a half warp in one bank.";

const CONFLICTS: &str =
    "Bank conflicts are extra passes over the banks of shared memory, for lanes that need different words of one bank.";

const TEXTURES: &str =
    "A GPU takes a warp four lanes at a time for textures, eight where the texture is linear memory.";

const CONSTANTS: &str = "The constant cache serves one address at a time: 1 per request where all lanes read the same.";

const CACHES: &str = "All caches are empty at the start.";

const CACHES_AND_DRAM: &str =
    "All caches are empty at the start; dirty lines that are left in L2 at the end are not counted as written.";

const READ_ONLY: &str = "The read-only cache is asked for 32 bytes at a time, by four lanes together: for 32 neighbouring \
                         floats a warp makes 8 queries, and the 4 that repeat another one hit.";

/// The sentences that explain the terms in these texts, which are all that is shown: titles and conclusions.
pub(super) fn of(variants: &[VariantReport], shown: &[String]) -> Vec<String> {
    let mut legend: Vec<String> = Vec::new();
    let counted = |test: &dyn Fn(&simt::Counters) -> bool| {
        variants.iter().filter_map(|variant| variant.counters.as_ref()).any(test)
    };
    let shows = |term: &str| shown.iter().any(|text| text.contains(term));
    let models = models(variants);
    if counted(&|_| true) {
        if shows("sectors") {
            legend.push(SECTORS.into());
        }
        if shows("sectors / ideal") {
            legend.push(IDEAL_SECTORS.into());
        }
        if shows("transactions per request") {
            legend.extend(transactions(variants));
        }
        if shows("bytes moved / asked") {
            legend.push(MOVED.into());
        }
        if shows("wavefronts") {
            legend.extend(wavefronts(variants, shows("wavefronts / ideal")));
        } else if shows("bank conflicts") && variants.iter().any(uses_shared) {
            legend.push(CONFLICTS.into());
        }
        if shows("constant") && counted(&|counters| counters.constant.requests > 0) {
            legend.push(CONSTANTS.into());
        }
        if shows("texture") && counted(&|counters| counters.texture.requests > 0) {
            legend.push(TEXTURES.into());
        }
        if shows("transactions of a warp") && !models.is_empty() {
            legend.push(
                "Transactions are as each modelled GPU makes them, with the share of their bytes that was requested."
                    .into(),
            );
        }
        if shows("hits")
            && counted(&|counters| counters.model.is_some_and(|model| model.caches.read_only().sectors > 0))
        {
            legend.push(READ_ONLY.into());
        }
        if shows("hits") && !models.is_empty() {
            legend.push(if shows("DRAM") { CACHES_AND_DRAM } else { CACHES }.into());
        }
    }
    legend.extend(sampled(variants));
    legend.extend(allowed(variants));
    legend
}

/// The names of the models that variants ran on, each once.
fn models<'a>(variants: impl IntoIterator<Item = &'a VariantReport>) -> Vec<&'static str> {
    let names = variants.into_iter().filter_map(|variant| Some(variant.counters?.model?.model.name));
    each_once(names.collect())
}

/// What transactions are: a sentence for each kind that older models make.
fn transactions(variants: &[VariantReport]) -> Vec<String> {
    let models = variants.iter().filter_map(|variant| Some(cost::old_model(variant.counters.as_ref()?)?.model));
    let sentence = |rule| match rule {
        TransactionRule::Strict => {
            "A transaction moves a segment of 32, 64 or 128 bytes: one for a half warp whose lanes ask for neighbouring words in order, \
             otherwise one for each lane."
        }
        TransactionRule::Segments => {
            "A transaction moves a segment of 32, 64 or 128 bytes, as small as possible, for a half warp."
        }
        TransactionRule::LinesAndSectors => "A transaction moves a line of 128 bytes through L1, or 32 bytes past it.",
        TransactionRule::Sectors => "A transaction moves 32 bytes.",
    };
    each_once(models.map(|model| sentence(model.global).to_owned()).collect())
}

/// What wavefronts are: a sentence for each kind of banks that variants ran on. `ideal`: they are compared with the fewest.
fn wavefronts(variants: &[VariantReport], ideal: bool) -> Vec<String> {
    let users = variants.iter().filter(|variant| uses_shared(variant));
    let (halves, wholes): (Vec<_>, Vec<_>) = users.partition(|variant| bank_rule(variant) == BankRule::HalfWarps);
    let wide = wholes.iter().filter_map(|variant| variant.counters).any(|counters| {
        let accesses = [counters.shared.load, counters.shared.store];
        accesses.iter().any(|access| access.bank_conflicts + access.requests < access.wavefronts)
    });
    let of_wholes = match (ideal, wide) {
        (true, _) => IDEAL_WAVEFRONTS,
        (false, true) => WIDE_WAVEFRONTS,
        (false, false) => WAVEFRONTS,
    };
    let of_halves = if ideal { IDEAL_HALF_WARP_WAVEFRONTS } else { HALF_WARP_WAVEFRONTS };
    match (wholes.is_empty(), halves.is_empty()) {
        (true, true) => Vec::new(),
        (false, true) => vec![format!("Wavefronts are {of_wholes}")],
        (true, false) => vec![format!("Wavefronts are {of_halves}")],
        (false, false) => vec![
            format!("With 32 banks, wavefronts are {of_wholes}"),
            format!("On {}, wavefronts are {of_halves}", models(halves).join(" and ")),
        ],
    }
}

const COLD: &str = "Rates, percentages and speed-ups are those of the cold times.";

const SHORT: &str =
    "Each cold time includes a few microseconds to begin and end a launch: compare short ones with care.";

/// Cold times below this, in milliseconds, are mostly overhead.
const SHORT_MS: f64 = 0.01;

/// The maximum number of names in a sentence.
const MOST_NAMES: usize = 3;

/// The sentences about times: what they mean, and which are to be treated with care.
pub(super) fn of_times(variants: &[VariantReport], device: &Properties) -> Vec<String> {
    let mut sentences = Vec::new();
    if variants.iter().any(|variant| variant.warm_timing.is_some()) {
        sentences.push(COLD.into());
        let cold = variants.iter().filter(|variant| variant.warm_timing.is_some()).filter_map(|v| v.timing.as_ref());
        if cold.map(|timing| timing.median_ms).any(|time| time < SHORT_MS) {
            sentences.push(SHORT.into());
        }
    }
    sentences.extend(limits(variants, device));
    sentences.extend(doubts(variants, device));
    sentences
}

/// What the limits are.
fn limits(variants: &[VariantReport], device: &Properties) -> Option<String> {
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
    (!limits.is_empty()).then(|| format!("The limit is {}.", limits.join(", or ")))
}

/// Which times are to be treated with care, and why.
fn doubts(variants: &[VariantReport], device: &Properties) -> Vec<String> {
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

/// How much of the results was compared, if not all.
fn sampled(variants: &[VariantReport]) -> Vec<String> {
    let sizes = variants
        .iter()
        .filter_map(|variant| variant.comparison.as_ref())
        .filter_map(|check| check.sample.map(|sample| (sample, check.elements)));
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort_unstable();
    sizes.dedup();
    let [.., (sample, elements)] = sizes.as_slice() else { return Vec::new() };
    let fewer = if sizes.len() > 1 { "at most " } else { "" };
    vec![format!(
        "Compared with the reference: {fewer}{sample} of {elements} elements, chosen by --seed, a few in each neighbourhood. Of the \
         others only that they are no larger than the inputs allow."
    )]
}

/// The allowed errors of each kind of tolerance, in one sentence.
fn allowed(variants: &[VariantReport]) -> Option<String> {
    let all = || variants.iter().filter_map(|variant| Some(variant.comparison.as_ref()?.tolerance.as_ref()?.tolerance));
    let roundings = || all().filter_map(|it| if let Tolerance::Roundings(count) = it { Some(count) } else { None });
    let ulps = all().filter_map(|it| if let Tolerance::Ulps(count) = it { Some(count) } else { None }).max();
    let absolute = all().filter_map(|it| if let Tolerance::Absolute(error) = it { Some(error) } else { None });
    let mut errors = Vec::new();
    if let (Some(least), Some(most)) = (roundings().min(), roundings().max()) {
        let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
        errors.push(format!("2^-24 of the magnitude for each of {range} roundings on the way to an element"));
    }
    errors.extend(ulps.map(|count| format!("the nearest float and {count} on either side of it are right")));
    errors.extend(absolute.reduce(f64::max).map(|error| format!("{error:.1e} where neighbours are mixed")));
    (!errors.is_empty()).then(|| format!("Allowed errors: {}.", errors.join("; ")))
}

fn uses_shared(variant: &VariantReport) -> bool {
    variant.counters.is_some_and(|counters| counters.shared.load.requests + counters.shared.store.requests > 0)
}

/// How the banks served the variant: as on Volta and later unless a model says otherwise.
fn bank_rule(variant: &VariantReport) -> BankRule {
    let model = variant.counters.and_then(|counters| counters.model);
    model.map_or(BankRule::Words, |counted| counted.model.shared.banks)
}

/// Each sentence as a paragraph.
pub(super) fn wrapped(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| wording::paragraph(sentence) + "\n").collect()
}
