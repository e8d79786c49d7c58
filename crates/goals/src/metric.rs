//! The metrics of goals and questions, named as in the reports: `loads.sectors_per_request`,
//! `shared.bank_conflicts`, `occupancy`. They are computed from the reports of a run. Pure.
//!
//! Most are a sum over the instructions of the launches, or a ratio of two sums. So each line of a
//! kernel has its own share, and a missed goal can name the line to blame.

use std::collections::BTreeMap;

use simt::counts::{
    AccessKind, Evenness, InstructionClass, InstructionCounters, InstructionInfo, MemoryCounters, SharedCounters,
    Shares,
};
use simt::prediction::Queue;
use simt::{Counters, Report};
use wording::several;

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in `goals.toml`.
    pub name: &'static str,
    source: Source,
}

/// Where the number comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// From each instruction.
    Instructions(fn(InstructionClass, &InstructionCounters) -> Share),
    /// From a launch's model.
    Model(fn(&Counters) -> Option<f64>),
    /// From how evenly blocks or warps share something.
    Evenness(fn(Evenness) -> Shares),
    /// The number of launches.
    Launches,
    /// From the text of the kernels.
    Text,
    /// From the predicted times of two runs.
    Speedup,
    /// From what a program's host code did: the judge knows how.
    Host,
    /// From a program's launches, besides their counters: see [`crate::requirement`].
    Program,
}

/// The contribution of one or all instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The sum.
    amount: f64,
    /// The divisor; 0 for a plain sum.
    of: f64,
    /// Whether it is a ratio.
    ratio: bool,
}

impl Share {
    fn sum(amount: u64) -> Self {
        Self { amount: amount as f64, of: 0.0, ratio: false }
    }

    fn ratio(amount: u64, of: u64) -> Self {
        Self { amount: amount as f64, of: of as f64, ratio: true }
    }

    fn add(&mut self, other: Self) {
        self.amount += other.amount;
        self.of += other.of;
        self.ratio |= other.ratio;
    }

    /// The value; `None` for a ratio with divisor 0.
    pub fn value(self) -> Option<f64> {
        match self.ratio {
            true => (self.of > 0.0).then(|| self.amount / self.of),
            false => Some(self.amount),
        }
    }
}

/// The counts of one launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The kernel's name.
    pub kernel: String,
    /// The counts of its instructions.
    pub report: Report,
    /// Its counters.
    pub counters: Counters,
}

/// A line of the source, and its share of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Blamed {
    /// The line, from 1.
    pub line: u32,
    /// The metric's value for this line alone; of a speed-up, the percentage of all waiting.
    pub value: f64,
}

impl Metric {
    /// The metric of this name.
    pub fn named(name: &str) -> Option<Self> {
        METRICS.iter().find(|metric| metric.name == name).copied()
    }

    /// All metrics.
    pub fn all() -> impl Iterator<Item = Self> {
        METRICS.iter().copied()
    }

    /// The names of all metrics, for a message.
    pub fn names() -> String {
        METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ")
    }

    /// Its value over these launches; `None` if nothing was counted for it.
    pub fn value(&self, launches: &[&Launched]) -> Option<f64> {
        match self.source {
            Source::Launches => Some(launches.len() as f64),
            Source::Speedup | Source::Text | Source::Host | Source::Program => None,
            Source::Evenness(of) => {
                let mut all = Shares::default();
                launches.iter().for_each(|launched| all += of(launched.report.evenness()));
                all.effective()
            }
            Source::Model(of) => {
                let mut all = launches.iter().map(|launched| launched.counters);
                let first = all.next()?;
                of(&all.fold(first, |mut sum, counters| {
                    sum += counters;
                    sum
                }))
            }
            Source::Instructions(of) => {
                let mut all = Share::default();
                for row in launches.iter().flat_map(|launched| launched.report.instructions()) {
                    all.add(of(row.info.class, row.counters));
                }
                all.value()
            }
        }
    }

    /// Whether it is how many times as fast as the starter's launches these are predicted to be.
    pub fn is_speedup(&self) -> bool {
        matches!(self.source, Source::Speedup)
    }

    /// Whether it is a count of words in the kernels' text.
    pub fn is_of_text(&self) -> bool {
        matches!(self.source, Source::Text)
    }

    /// Whether it is about what a program's host code did.
    pub fn is_of_host(&self) -> bool {
        matches!(self.source, Source::Host)
    }

    /// Whether only exercises have it, whose text, host code and starter are known.
    pub fn is_of_exercises(&self) -> bool {
        self.is_of_text() || self.is_speedup() || self.is_of_host()
    }

    /// Whether only [requirements](crate::requirement) have it: no exercise does.
    pub fn is_of_program(&self) -> bool {
        matches!(self.source, Source::Program)
    }

    /// Whether only a simulated GPU has it: the simulator without a model has no caches.
    pub fn is_of_model(&self) -> bool {
        matches!(self.source, Source::Model(_))
    }

    /// The metric of which some must have been counted before this one says anything: the requests,
    /// for what they cost.
    pub fn base(&self) -> Option<Self> {
        let (of, what) = self.name.rsplit_once('.')?;
        let costs = what.starts_with("sectors") || what.starts_with("bytes") || what.starts_with("addresses");
        let conflicts = what.starts_with("bank_conflicts") || what.starts_with("wavefronts");
        let requests = what == "requests" && matches!(of, "loads" | "stores");
        match (costs && of != "local") || conflicts || requests {
            true => Self::named(&format!("{of}.requests")),
            false => None,
        }
    }

    /// The total that needless accesses, which improve a ratio, make worse. `None` if it is no
    /// ratio of counts.
    pub fn total(&self) -> Option<Self> {
        let of = |suffix: &str, total: &str| Some(format!("{}{total}", self.name.strip_suffix(suffix)?));
        let name = match self.name {
            "transactions_per_request" => Some("transactions".to_owned()),
            "l1_hit_percent" => Some("l2_to_l1_sectors".to_owned()),
            "accesses.active_lanes" => Some("accesses".to_owned()),
            "active_lanes" => Some("instructions".to_owned()),
            _ => of("_per_request", "").or_else(|| of("bytes_used_percent", "sectors")),
        };
        Self::named(&name?)
    }

    /// Its value over these launches, where the starter's are those.
    pub fn value_beside(&self, launches: &[&Launched], starters: &[&Launched]) -> Option<f64> {
        let time = |launches: &[&Launched]| Some(predicted(launches)?.ok()?.cold_us);
        match self.is_speedup() {
            true => Some(time(starters)? / time(launches)?),
            false => self.value(launches),
        }
    }

    /// What limits the occupancy of the first launch, or the predicted time, if this metric is
    /// that.
    pub fn limiter(&self, launches: &[&Launched]) -> Option<String> {
        if self.is_speedup() {
            return predicted(launches).map(|time| match time {
                Ok(time) => format!("limited by {}", time.bound.name()),
                Err(what) => format!("not predicted: {what}"),
            });
        }
        let occupancy = launches.first()?.counters.occupancy.filter(|_| self.name == OCCUPANCY)?;
        if occupancy.percent() >= 100.0 {
            return None;
        }
        let limiters: Vec<&str> = occupancy.limiters().map(simt::models::Limiter::name).collect();
        let blocks = several(occupancy.blocks() as usize, "block");
        let limiters = match limiters.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => limiters.concat(),
        };
        Some(format!("{blocks} a multiprocessor, limited by {limiters}"))
    }

    /// The line of `file` that contributes most to a value that is too high, or with `least` too
    /// low.
    pub fn blame(&self, launches: &[&Launched], file: &str, least: bool) -> Option<Blamed> {
        let line_of = |info: &InstructionInfo| Some(info.source.as_ref().filter(|source| *source.file == *file)?.line);
        let (line, value) = match self.source {
            Source::Speedup => waits_longest(launches, line_of)?,
            _ => self.worst(launches, line_of, least)?,
        };
        Some(Blamed { line, value })
    }

    /// The line, in whatever way lines are named, that contributes most to a value that is too
    /// high, or with `least` too low, and what the value is for that line alone. `None` if it is no
    /// sum or ratio of what instructions count.
    pub fn worst<'l, L: Ord>(
        &self,
        launches: &[&'l Launched],
        line_of: impl Fn(&'l InstructionInfo) -> Option<L>,
        least: bool,
    ) -> Option<(L, f64)> {
        let lines = self.shares(launches, line_of);
        let most = lines.values().filter_map(|share| share.value()).fold(0.0, f64::max);
        let weight = |share: &Share| match (share.ratio, least) {
            // The line with the largest deficit: the distance from the best, times the executions.
            (true, true) => (most * share.of - share.amount, 0.0),
            // The line with the highest ratio; among equal ones, the one with the largest amount.
            (true, false) => (share.value().unwrap_or(0.0), share.amount),
            (false, _) => (share.amount, 0.0),
        };
        // Among equally bad lines, the first.
        let candidates = lines.into_iter().rev().filter(|(_, share)| share.amount > 0.0);
        let (line, share) = candidates.max_by(|(_, one), (_, other)| {
            let (one, other) = (weight(one), weight(other));
            one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
        })?;
        Some((line, share.value()?))
    }

    /// What each line contributes to a sum of what instructions count; nothing of another metric.
    pub fn by_line<'l, L: Ord>(
        &self,
        launches: &[&'l Launched],
        line_of: impl Fn(&'l InstructionInfo) -> L,
    ) -> impl Iterator<Item = (L, f64)> {
        let lines = self.shares(launches, |info| Some(line_of(info))).into_iter();
        lines.filter(|(_, share)| !share.ratio && share.amount > 0.0).map(|(line, share)| (line, share.amount))
    }

    /// The share of each line; none if it is no sum or ratio of what instructions count.
    fn shares<'l, L: Ord>(
        &self,
        launches: &[&'l Launched],
        line_of: impl Fn(&'l InstructionInfo) -> Option<L>,
    ) -> BTreeMap<L, Share> {
        let mut lines: BTreeMap<L, Share> = BTreeMap::new();
        let Source::Instructions(of) = self.source else { return lines };
        for row in launches.iter().flat_map(|launched| launched.report.instructions()) {
            if let Some(line) = line_of(row.info) {
                lines.entry(line).or_default().add(of(row.info.class, row.counters));
            }
        }
        lines
    }
}

/// The predicted time of these launches, or what is not predicted; `None` if that was not asked
/// for.
pub fn predicted(launches: &[&Launched]) -> Option<Result<Queue, &'static str>> {
    Queue::of(launches.iter().map(|launched| launched.report.predicted()).collect::<Option<Vec<_>>>()?)
}

/// The line at which warps wait longest, with its percentage of all waiting, by the predicted time.
fn waits_longest(launches: &[&Launched], line_of: impl Fn(&InstructionInfo) -> Option<u32>) -> Option<(u32, f64)> {
    let mut lines: BTreeMap<u32, f64> = BTreeMap::new();
    let mut all = 0.0;
    for (info, waited) in launches.iter().flat_map(|launched| launched.report.waits()) {
        all += waited;
        if let Some(line) = line_of(info) {
            *lines.entry(line).or_default() += waited;
        }
    }
    let longest = lines.into_iter().rev().max_by(|(_, one), (_, other)| one.total_cmp(other));
    longest.map(|(line, waited)| (line, 100.0 * waited / all))
}

fn access(class: InstructionClass) -> Option<AccessKind> {
    match class {
        InstructionClass::Access(kind) => Some(kind),
        _ => None,
    }
}

/// The counts for global memory, if the instruction loads from it (as asynchronous copies do).
fn loads(class: InstructionClass, counters: &InstructionCounters) -> MemoryCounters {
    match access(class) {
        Some(AccessKind::Load | AccessKind::Copy) => counters.global,
        _ => MemoryCounters::default(),
    }
}

fn stores(class: InstructionClass, counters: &InstructionCounters) -> MemoryCounters {
    match access(class) {
        Some(AccessKind::Store) => counters.global,
        _ => MemoryCounters::default(),
    }
}

fn shared_loads(class: InstructionClass, counters: &InstructionCounters) -> SharedCounters {
    match access(class) {
        Some(AccessKind::Load) => counters.shared,
        _ => SharedCounters::default(),
    }
}

fn shared_stores(class: InstructionClass, counters: &InstructionCounters) -> SharedCounters {
    match access(class) {
        Some(AccessKind::Store) => counters.shared,
        _ => SharedCounters::default(),
    }
}

fn is_atomic(class: InstructionClass) -> bool {
    matches!(access(class), Some(AccessKind::Atomic | AccessKind::Reduction))
}

const fn counted(name: &'static str, of: fn(InstructionClass, &InstructionCounters) -> Share) -> Metric {
    Metric { name, source: Source::Instructions(of) }
}

const fn modelled(name: &'static str, of: fn(&Counters) -> Option<f64>) -> Metric {
    Metric { name, source: Source::Model(of) }
}

const fn hosted(name: &'static str) -> Metric {
    Metric { name, source: Source::Host }
}

/// The name of the metric that has a limiter.
const OCCUPANCY: &str = "occupancy";

/// Faults that checks found, and those that stopped a launch.
pub(crate) const FINDINGS: &str = "findings";

/// The registers of a thread, of the kernel with the most.
pub(crate) const REGISTERS: &str = "registers";

/// The predicted time of all launches, in microseconds.
pub const PREDICTED: &str = "predicted.us";

/// All metrics, in the order of the documentation.
pub const METRICS: &[Metric] = &[
    counted("instructions", |_, counters| Share::sum(counters.executed)),
    counted("active_lanes", |_, counters| Share::ratio(counters.guarded_on_lanes(), counters.executed)),
    counted("accesses.active_lanes", |class, counters| match access(class) {
        Some(_) => Share::ratio(counters.guarded_on_lanes(), counters.executed),
        None => Share::default(),
    }),
    counted("accesses", |class, counters| Share::sum(if access(class).is_some() { counters.executed } else { 0 })),
    counted("accesses.atomics", |class, counters| Share::sum(if is_atomic(class) { counters.executed } else { 0 })),
    counted("branches", |class, counters| {
        Share::sum(if class == InstructionClass::Branch { counters.executed } else { 0 })
    }),
    counted("divergent_branches", |_, counters| Share::sum(counters.divergent)),
    counted("barriers", |class, counters| {
        Share::sum(if class == InstructionClass::Barrier { counters.executed } else { 0 })
    }),
    Metric { name: "launches", source: Source::Launches },
    Metric { name: "working_blocks", source: Source::Evenness(|evenness| evenness.block_instructions) },
    Metric { name: "working_warps", source: Source::Evenness(|evenness| evenness.warp_instructions) },
    Metric { name: "accesses.working_blocks", source: Source::Evenness(|evenness| evenness.block_accesses) },
    Metric { name: "accesses.working_warps", source: Source::Evenness(|evenness| evenness.warp_accesses) },
    counted("global.bytes", |_, counters| Share::sum(counters.global.bytes + counters.texture.bytes)),
    counted("loads.requests", |class, counters| Share::sum(loads(class, counters).requests)),
    counted("loads.sectors", |class, counters| Share::sum(loads(class, counters).sectors)),
    counted("loads.bytes", |class, counters| Share::sum(loads(class, counters).bytes)),
    counted("loads.sectors_per_request", |class, counters| {
        let loads = loads(class, counters);
        Share::ratio(loads.sectors, loads.requests)
    }),
    counted("loads.bytes_used_percent", |class, counters| {
        let loads = loads(class, counters);
        Share::ratio(100 * loads.bytes, 32 * loads.sectors)
    }),
    counted("stores.requests", |class, counters| Share::sum(stores(class, counters).requests)),
    counted("stores.sectors", |class, counters| Share::sum(stores(class, counters).sectors)),
    counted("stores.bytes", |class, counters| Share::sum(stores(class, counters).bytes)),
    counted("stores.sectors_per_request", |class, counters| {
        let stores = stores(class, counters);
        Share::ratio(stores.sectors, stores.requests)
    }),
    counted("stores.bytes_used_percent", |class, counters| {
        let stores = stores(class, counters);
        Share::ratio(100 * stores.bytes, 32 * stores.sectors)
    }),
    counted("atomics", |class, counters| Share::sum(if is_atomic(class) { counters.global.requests } else { 0 })),
    counted("atomics.sectors", |class, counters| {
        Share::sum(if is_atomic(class) { counters.global.sectors } else { 0 })
    }),
    counted("shared.requests", |_, counters| Share::sum(counters.shared.requests)),
    counted("shared.wavefronts", |_, counters| Share::sum(counters.shared.wavefronts)),
    counted("shared.bank_conflicts", |_, counters| Share::sum(counters.shared.bank_conflicts)),
    counted("shared.wavefronts_per_request", |_, counters| {
        Share::ratio(counters.shared.wavefronts, counters.shared.requests)
    }),
    counted("shared.loads.requests", |class, counters| Share::sum(shared_loads(class, counters).requests)),
    counted("shared.loads.wavefronts", |class, counters| Share::sum(shared_loads(class, counters).wavefronts)),
    counted("shared.loads.bank_conflicts", |class, counters| Share::sum(shared_loads(class, counters).bank_conflicts)),
    counted("shared.loads.wavefronts_per_request", |class, counters| {
        let loads = shared_loads(class, counters);
        Share::ratio(loads.wavefronts, loads.requests)
    }),
    counted("shared.stores.requests", |class, counters| Share::sum(shared_stores(class, counters).requests)),
    counted("shared.stores.wavefronts", |class, counters| Share::sum(shared_stores(class, counters).wavefronts)),
    counted("shared.stores.bank_conflicts", |class, counters| {
        Share::sum(shared_stores(class, counters).bank_conflicts)
    }),
    counted("shared.stores.wavefronts_per_request", |class, counters| {
        let stores = shared_stores(class, counters);
        Share::ratio(stores.wavefronts, stores.requests)
    }),
    counted("shared.atomics", |class, counters| {
        Share::sum(if is_atomic(class) { counters.shared.requests } else { 0 })
    }),
    counted("constants.requests", |_, counters| Share::sum(counters.constant.requests)),
    counted("constants.addresses", |_, counters| Share::sum(counters.constant.addresses)),
    counted("constants.addresses_per_request", |_, counters| {
        Share::ratio(counters.constant.addresses, counters.constant.requests)
    }),
    counted("textures.requests", |_, counters| Share::sum(counters.texture.requests)),
    counted("textures.sectors", |_, counters| Share::sum(counters.texture.sectors)),
    counted("textures.sectors_per_request", |_, counters| {
        Share::ratio(counters.texture.sectors, counters.texture.requests)
    }),
    counted("local.requests", |_, counters| Share::sum(counters.local.requests)),
    counted("local.sectors", |_, counters| Share::sum(counters.local.sectors)),
    modelled(OCCUPANCY, |counters| counters.occupancy.as_ref().map(simt::models::Occupancy::percent)),
    modelled("transactions", |counters| Some(counters.model.as_ref()?.global_load.transactions as f64)),
    modelled("transactions_per_request", |counters| {
        let loads = counters.model.as_ref()?.global_load.transactions;
        let requests = counters.global.load.requests;
        (requests > 0).then(|| loads as f64 / requests as f64)
    }),
    modelled("dram_bytes", |counters| {
        let caches = &counters.model.as_ref()?.caches;
        Some((caches.dram_read_bytes + caches.dram_write_bytes) as f64)
    }),
    modelled("l1_hit_percent", |counters| {
        let loads = counters.model.as_ref()?.caches.l1_global_load;
        (loads.sectors > 0).then(|| 100.0 * loads.hits as f64 / loads.sectors as f64)
    }),
    modelled("l2_to_l1_sectors", |counters| Some(counters.model.as_ref()?.caches.l2_to_l1_sectors as f64)),
    Metric { name: "predicted_speedup", source: Source::Speedup },
    Metric { name: "unsafe", source: Source::Text },
    hosted("kernel.launches"),
    hosted("kernel.carveout"),
    hosted("kernel.prefers_shared"),
    hosted("kernel.prefers_l1"),
    hosted("kernel.timed"),
    hosted("kernel.warm_up"),
    hosted("kernel.stores.bytes"),
    hosted("copies"),
    hosted("copies.bytes"),
    hosted("copies.pitched"),
    hosted("copies.timed"),
    hosted("allocations"),
    hosted("allocations.pitched"),
    hosted("leaked_bytes"),
    hosted("leaked_handles"),
    hosted("synchronisations"),
    hosted("streams"),
    hosted("overlap"),
    Metric { name: FINDINGS, source: Source::Program },
    Metric { name: PREDICTED, source: Source::Program },
    Metric { name: REGISTERS, source: Source::Program },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_requests_cost_says_nothing_without_requests() {
        let base = |name: &str| Metric::named(name).unwrap().base().map(|metric| metric.name);
        for (name, requests) in [
            ("loads.sectors", "loads.requests"),
            ("loads.requests", "loads.requests"),
            ("stores.bytes_used_percent", "stores.requests"),
            ("shared.bank_conflicts", "shared.requests"),
            ("shared.loads.wavefronts_per_request", "shared.loads.requests"),
            ("constants.addresses_per_request", "constants.requests"),
            ("textures.sectors", "textures.requests"),
        ] {
            assert_eq!(base(name), Some(requests), "{name}");
        }
        // Costs that are best at zero.
        for name in ["local.sectors", "atomics", "shared.requests", "barriers", "instructions", "divergent_branches"] {
            assert_eq!(base(name), None, "{name}");
        }
    }

    #[test]
    fn each_ratio_of_counts_has_a_total() {
        for metric in METRICS {
            let is_ratio = metric.name.ends_with("_per_request") || metric.name.ends_with("active_lanes");
            let is_ratio = is_ratio || metric.name.ends_with("used_percent") || metric.name == "l1_hit_percent";
            assert_eq!(metric.total().is_some(), is_ratio, "{}", metric.name);
        }
        let total = |name: &str| Metric::named(name).unwrap().total().unwrap().name;
        assert_eq!(total("loads.sectors_per_request"), "loads.sectors");
        assert_eq!(total("constants.addresses_per_request"), "constants.addresses");
        assert_eq!(total("shared.loads.wavefronts_per_request"), "shared.loads.wavefronts");
    }
}
