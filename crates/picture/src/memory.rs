//! The memory chart's data: how much went from each memory to the next in a launch, for one variant
//! or for two. The numbers are the launch's own counters; what those do not have is unknown here.

use simt::Counters;
use simt::counts::{MemoryCounters, ModelCounters, SharedCounters};
use wording::units::three_digits;

/// The bytes of a sector.
const SECTOR: u64 = 32;

/// Of the most that moves one way, a part that is no more than this one makes no sentence.
const SMALL: u64 = 16;

/// One launch, or two at one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryChart {
    /// What is drawn, one below the other. Ratios are over the first.
    pub panels: Vec<MemoryPanel>,
}

/// What a launch moved.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPanel {
    /// The variant's name.
    pub name: String,
    /// What else there is to say of it, such as its predicted time; may be empty.
    pub note: String,
    /// What moved, each way once.
    flows: Vec<(Way, Flow)>,
    /// L1, and the read-only cache if that is a separate memory.
    pub l1: Cache,
    /// L2, for reads: the sectors that it sends, and those of them that DRAM need not.
    pub l2: Cache,
}

/// From where to where, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Loads from global and local memory.
    Load,
    /// Stores to global and local memory.
    Store,
    /// Atomic operations on global memory.
    Atomic,
    /// Fetches from textures, and loads from surfaces.
    Texture,
    /// Loads and atomic operations of shared memory.
    SharedLoad,
    /// Stores to shared memory, and what asynchronous copies write there.
    SharedStore,
    /// Loads from constant memory.
    Constant,
    /// From L2 to L1.
    L2Read,
    /// From L1 to L2.
    L2Write,
    /// From DRAM to L2.
    DramRead,
    /// From L2 to DRAM.
    DramWrite,
}

/// What moves one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Warp instructions, where the way begins at the kernel.
    pub requests: Option<u64>,
    /// Bytes, or passes over banks or over the constant cache; `None` if they are not counted.
    pub amount: Option<u64>,
    /// The least that could have done it; `None` if that is unknown.
    pub least: Option<u64>,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// The device counts no caches.
    NotCounted,
    /// The GPU has none there.
    Missing,
    /// Sectors that were asked for, and those that hit.
    Sectors {
        /// All.
        asked: u64,
        /// Hits.
        hits: u64,
    },
}

impl Way {
    /// All, from the kernel on.
    pub(crate) const ALL: [Way; 11] = [
        Way::Load,
        Way::Store,
        Way::Atomic,
        Way::Texture,
        Way::SharedLoad,
        Way::SharedStore,
        Way::Constant,
        Way::L2Read,
        Way::L2Write,
        Way::DramRead,
        Way::DramWrite,
    ];

    /// Whether passes are counted, not bytes.
    pub(crate) fn has_passes(self) -> bool {
        matches!(self, Way::SharedLoad | Way::SharedStore | Way::Constant)
    }

    /// Whether data goes to the kernel.
    pub(crate) fn comes(self) -> bool {
        !matches!(self, Way::Store | Way::SharedStore | Way::L2Write | Way::DramWrite)
    }

    /// The two ends, the one nearer to the kernel first.
    pub(crate) fn ends(self) -> (&'static str, &'static str) {
        match self {
            Way::Load | Way::Store | Way::Atomic | Way::Texture => ("kernel", "L1/TEX"),
            Way::SharedLoad | Way::SharedStore => ("kernel", "shared"),
            Way::Constant => ("kernel", "constant"),
            Way::L2Read | Way::L2Write => ("L1/TEX", "L2"),
            Way::DramRead | Way::DramWrite => ("L2", "DRAM"),
        }
    }

    /// What moves, in a word.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Way::Load | Way::SharedLoad | Way::Constant => "loads",
            Way::Store | Way::SharedStore => "stores",
            Way::Atomic => "atomics",
            Way::Texture => "fetches",
            Way::L2Read | Way::DramRead => "reads",
            Way::L2Write | Way::DramWrite => "writes",
        }
    }
}

impl Flow {
    /// Passes of a request.
    fn passes(self) -> Option<f64> {
        let requests = self.requests.filter(|count| *count > 0)?;
        let passes = self.amount.filter(|count| *count > 0)?;
        Some(passes as f64 / requests as f64)
    }
}

impl Cache {
    /// What there is to say of it.
    pub(crate) fn says(self) -> String {
        match self {
            Cache::NotCounted => "hits: not counted".into(),
            Cache::Missing => "this GPU has none".into(),
            Cache::Sectors { asked: 0, .. } => "no look-ups".into(),
            Cache::Sectors { asked, hits } => format!("hits {} %", percentage(hits, asked)),
        }
    }
}

/// With three significant digits, and 0 in full.
fn percentage(part: u64, all: u64) -> String {
    match part {
        0 => "0".into(),
        _ => three_digits(part as f64 * 100.0 / all as f64),
    }
}

impl MemoryPanel {
    /// Bytes that loads and textures bring to the kernel.
    fn read(&self) -> u64 {
        [Way::Load, Way::Texture].into_iter().filter_map(|way| self.flow(way)?.amount).sum()
    }

    /// What these counters say.
    pub fn new(name: impl Into<String>, note: impl Into<String>, counters: &Counters) -> Self {
        let (l1, l2) = caches(counters);
        Self { name: name.into(), note: note.into(), flows: flows(counters), l1, l2 }
    }

    /// What moves this way; `None` if nothing does.
    pub fn flow(&self, way: Way) -> Option<Flow> {
        self.flows.iter().find(|(other, _)| *other == way).map(|(_, flow)| *flow)
    }
}

/// L1 and L2.
fn caches(counters: &Counters) -> (Cache, Cache) {
    let Some(model) = &counters.model else { return (Cache::NotCounted, Cache::NotCounted) };
    let caches = &model.caches;
    let parts = [caches.l1_global_load, caches.l1_local_load, caches.read_only_load, caches.read_only_texture];
    let (asked, hits) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.sectors, sum.1 + part.hits));
    let l1 = match model.model.l1.is_some() || model.model.read_only.is_some() {
        true => Cache::Sectors { asked, hits },
        false => Cache::Missing,
    };
    // Look-ups would not fit the bytes: those of an H200's far partition count as misses of the near
    // one, and half of what DRAM sends may not have been asked for yet.
    let l2 = match model.model.l2 {
        Some(_) if counts_beyond_l1(counters) => {
            let asked = caches.l2_to_l1_sectors;
            Cache::Sectors { asked, hits: asked.saturating_sub(caches.dram_read_bytes / SECTOR) }
        }
        Some(_) => Cache::NotCounted,
        None => Cache::Missing,
    };
    (l1, l2)
}

/// Whether a model counts what moves beyond L1: not where it fetches textures past its caches.
fn counts_beyond_l1(counters: &Counters) -> bool {
    let Counters { texture, surface, model, .. } = counters;
    let surfaces = surface.load.requests + surface.store.requests + surface.reduction.requests;
    let textures = |model: &ModelCounters| texture.requests == 0 || model.caches.read_only_texture.sectors > 0;
    surfaces == 0 && model.as_ref().is_some_and(textures)
}

/// What moves each way, if anything does.
fn flows(counters: &Counters) -> Vec<(Way, Flow)> {
    let Counters { global, local, shared, constant, texture, surface, model, .. } = counters;
    let mut flows = Vec::new();
    let mut add = |way: Way, requests: Option<u64>, amount: Option<u64>, least: Option<u64>| {
        if requests.unwrap_or(0) > 0 || amount.unwrap_or(1) > 0 {
            let least = least.zip(amount).map(|(least, amount)| least.min(amount));
            flows.push((way, Flow { requests: requests.filter(|count| *count > 0), amount, least }));
        }
    };
    // Older GPUs move lines and segments, which their models count.
    let moved = |sectors: u64, bytes: Option<u64>| bytes.unwrap_or(sectors * SECTOR);
    let loads = moved(global.load.sectors, model.map(|model| model.global_load.bytes_moved));
    let stores = moved(global.store.sectors, model.map(|model| model.global_store.bytes_moved));
    let (local_loads, local_stores) = (local.load.sectors * SECTOR, local.store.sectors * SECTOR);
    add(
        Way::Load,
        Some(global.load.requests + local.load.requests),
        Some(loads + local_loads),
        Some(global.load.ideal_sectors * SECTOR + local_loads),
    );
    add(
        Way::Store,
        Some(global.store.requests + local.store.requests),
        Some(stores + local_stores),
        Some(global.store.ideal_sectors * SECTOR + local_stores),
    );
    let atomics = [global.atomic, global.reduction];
    let sum = |of: fn(&MemoryCounters) -> u64| atomics.iter().map(of).sum::<u64>();
    // Lanes that share a word take turns, each with a sector.
    add(
        Way::Atomic,
        Some(sum(|part| part.requests)),
        Some(sum(|part| part.sectors) * SECTOR),
        Some(sum(|part| part.ideal_sectors) * SECTOR),
    );
    let pictures = texture.requests + surface.load.requests;
    let fetched = texture.sectors + surface.load.sectors;
    add(Way::Texture, Some(pictures), Some(fetched * SECTOR), None);
    let loads = [shared.load, shared.atomic, shared.reduction];
    let stores = [shared.store, shared.copy];
    for (way, parts) in [(Way::SharedLoad, loads.as_slice()), (Way::SharedStore, stores.as_slice())] {
        let sum = |of: fn(&SharedCounters) -> u64| parts.iter().map(of).sum::<u64>();
        let passes = sum(|part| part.wavefronts);
        let conflicts = sum(|part| part.bank_conflicts);
        add(way, Some(sum(|part| part.requests)), Some(passes), Some(passes.saturating_sub(conflicts)));
    }
    add(Way::Constant, Some(constant.requests), Some(constant.addresses), Some(constant.requests));
    let writes = global.store.requests + local.store.requests + surface.store.requests > 0;
    let Some(model) = model else { return flows };
    let known = |amount: u64| counts_beyond_l1(counters).then_some(amount);
    let caches = &model.caches;
    if model.model.l2.is_some() {
        add(Way::L2Read, None, known(caches.l2_to_l1_sectors * SECTOR), None);
        add(Way::L2Write, None, known(caches.l1_to_l2_sectors * SECTOR), None);
    }
    // What DRAM sends beyond what leaves L2 was fetched beside it.
    let sent = caches.l2_to_l1_sectors + caches.l2_reduction.sectors;
    let least = model.model.l2.map(|_| sent * SECTOR);
    add(Way::DramRead, None, known(caches.dram_read_bytes), least);
    if writes || caches.dram_write_bytes > 0 {
        let amount = known(caches.dram_write_bytes);
        flows.push((Way::DramWrite, Flow { requests: None, amount, least: None }));
    }
    flows
}

/// What a flow is compared with the first panel's.
pub(crate) enum Ratio {
    /// About the same.
    Same,
    /// Nothing, where the first has something.
    Nothing,
    /// So many times less.
    Less(f64),
    /// So many times more.
    More(f64),
}

impl Ratio {
    /// Of two numbers, `here` after `first`.
    pub fn of(first: u64, here: u64) -> Option<Self> {
        match (first, here) {
            (0, _) => None,
            (_, 0) => Some(Ratio::Nothing),
            _ => Some(Self::of_values(first as f64, here as f64)),
        }
    }

    /// Of two positive numbers.
    fn of_values(first: f64, here: f64) -> Self {
        let ratio = here / first;
        match ratio {
            _ if (0.995..1.005).contains(&ratio) => Ratio::Same,
            _ if ratio < 1.0 => Ratio::Less(1.0 / ratio),
            _ => Ratio::More(ratio),
        }
    }

    /// In words; bytes are less, other things fewer.
    pub fn words(&self, bytes: bool) -> String {
        let less = if bytes { "less" } else { "fewer" };
        match self {
            Ratio::Same => "same".into(),
            Ratio::Nothing => "none".into(),
            Ratio::Less(times) => format!("{}× {less}", three_digits(*times)),
            Ratio::More(times) => format!("{}× more", three_digits(*times)),
        }
    }

    /// The class of its text in a drawing.
    pub fn class(&self) -> &'static str {
        match self {
            Ratio::Same => "faint",
            Ratio::Nothing | Ratio::Less(_) => "number",
            Ratio::More(_) => "times",
        }
    }
}

impl MemoryChart {
    /// The ways that something moves, from the kernel on.
    pub(crate) fn ways(&self) -> impl Iterator<Item = Way> + '_ {
        Way::ALL.into_iter().filter(|way| self.panels.iter().any(|panel| panel.flow(*way).is_some()))
    }

    /// The most of bytes, or of passes.
    pub(crate) fn most(&self, passes: bool) -> u64 {
        let flows = self.panels.iter().flat_map(|panel| &panel.flows);
        let amounts = flows.filter(|(way, _)| way.has_passes() == passes).filter_map(|(_, flow)| flow.amount);
        amounts.max().unwrap_or(0).max(1)
    }

    /// An amount with its unit: one unit for all bytes of the chart, which the largest decides.
    pub(crate) fn amount(&self, way: Way, amount: Option<u64>) -> String {
        let Some(amount) = amount else { return "not counted".into() };
        if way.has_passes() {
            return format!("{amount} pass{}", if amount == 1 { "" } else { "es" });
        }
        if amount == 0 && way == Way::DramWrite {
            return "stay in L2".into();
        }
        let most = self.most(false);
        let (size, unit) = match most {
            ..2048 => return format!("{amount} B"),
            2048..0x20_0000 => (1024.0, "KiB"),
            0x20_0000..0x8000_0000 => (1024.0 * 1024.0, "MiB"),
            _ => (1024.0 * 1024.0 * 1024.0, "GiB"),
        };
        let value = amount as f64 / size;
        match value.fract() == 0.0 && value < 1e6 {
            true => format!("{value} {unit}"),
            false => format!("{} {unit}", three_digits(value)),
        }
    }

    /// A panel's flow over the first panel's; `None` for the first.
    pub(crate) fn ratio(&self, panel: usize, way: Way) -> Option<Ratio> {
        let of = |panel: usize| self.panels[panel].flow(way).map_or(Some(0), |flow| flow.amount);
        (panel > 0).then(|| Ratio::of(of(0)?, of(panel)?)).flatten()
    }

    /// The same of its requests.
    pub(crate) fn ratio_of_requests(&self, panel: usize, way: Way) -> Option<Ratio> {
        let of = |panel: usize| self.panels[panel].flow(way).and_then(|flow| flow.requests).unwrap_or(0);
        (panel > 0).then(|| Ratio::of(of(0), of(panel))).flatten()
    }

    /// What the chart shows, in a sentence: what differs most between the two.
    pub fn sentence(&self) -> String {
        let [first, second] = self.panels.as_slice() else {
            return self.panels.first().map(MemoryPanel::sentence).unwrap_or_default();
        };
        let mut best: Option<(f64, String)> = None;
        // Requests only where as much moves: wider words make fewer of them.
        let mut of_requests_alone: Option<(f64, String)> = None;
        let offer = |best: &mut Option<(f64, String)>, factor: f64, text: String| {
            // The nearest to the kernel of those that differ as much.
            if best.as_ref().is_none_or(|(most, _)| factor > most * 1.01) {
                *best = Some((factor, text));
            }
        };
        let name = &second.name;
        for way in self.ways() {
            let (Some(base), Some(here)) = (first.flow(way), second.flow(way)) else { continue };
            let (near, far) = way.ends();
            let requests = base.requests.zip(here.requests).and_then(|(base, here)| Ratio::of(base, here));
            if let (Some(base), Some(here), Some(ratio @ (Ratio::Less(factor) | Ratio::More(factor)))) =
                (base.requests, here.requests, requests)
            {
                let what = of_requests(way);
                offer(
                    &mut of_requests_alone,
                    factor,
                    format!("{name}: {here} {what}, not {base}: {}.", ratio.words(false)),
                );
            }
            let counts = base.amount.max(here.amount) >= Some(self.most(way.has_passes()) / SMALL);
            if let Some(ratio @ (Ratio::Less(factor) | Ratio::More(factor))) = self.ratio(1, way).filter(|_| counts) {
                // Passes are named once; bytes have their unit.
                let base = match (way.has_passes(), base.amount) {
                    (true, Some(passes)) => passes.to_string(),
                    (_, amount) => self.amount(way, amount),
                };
                let here = self.amount(way, here.amount);
                let words = ratio.words(!way.has_passes());
                let place = match (way.has_passes(), way.comes()) {
                    (true, _) => format!("over {far} memory"),
                    (false, true) => format!("from {far} to {near}"),
                    (false, false) => format!("from {near} to {far}"),
                };
                offer(&mut best, factor, format!("{name}: {here} {place}, not {base}: {words}."));
            }
            if let (true, Some(base), Some(here)) = (way.has_passes(), base.passes(), here.passes()) {
                let ratio = Ratio::of_values(base, here);
                if let Ratio::Less(factor) | Ratio::More(factor) = ratio {
                    let [base, here] = [base, here].map(three_digits);
                    let (one, words) = (of_one(way), ratio.words(false));
                    offer(&mut best, factor, format!("{name}: {here} passes {one}, not {base}: {words}."));
                }
            }
        }
        // What one of them loads may come through a texture.
        let [base, here] = [first, second].map(MemoryPanel::read);
        if let (None, Some(ratio @ (Ratio::Less(_) | Ratio::More(_)))) = (&best, Ratio::of(base, here)) {
            let [base, here] = [base, here].map(|bytes| self.amount(Way::Load, Some(bytes)));
            return format!("{name}: {here} from L1/TEX to kernel, not {base}: {}.", ratio.words(true));
        }
        let best = best.or(of_requests_alone);
        best.map_or_else(|| format!("{} and {} move the same.", first.name, second.name), |(_, text)| text)
    }

    /// What the colours and the lengths mean.
    pub(crate) fn key(&self) -> [&'static str; 2] {
        ["asked for", "waste: sectors beyond the fewest, bank conflicts, further addresses"]
    }

    /// Whether any panel counts caches, and so L2 and DRAM.
    pub(crate) fn counts_caches(&self) -> bool {
        self.panels.iter().any(|panel| panel.l1 != Cache::NotCounted)
    }

    /// What the numbers of caches mean, or which of them there are not: each once.
    pub(crate) fn notes(&self) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if self.panels.iter().any(|panel| matches!(panel.l2, Cache::Sectors { asked: 1.., .. })) {
            notes.push("Hits of L2: what it sends and DRAM need not.");
        }
        if !self.counts_caches() && self.ways().any(|way| way.ends().1 == "L1/TEX") {
            notes.push("L1, L2 and DRAM are counted on a GPU's model, such as sim:hopper.");
        }
        if self.ways().any(|way| way == Way::Constant) {
            notes.push("Misses of the constant cache are not counted.");
        }
        notes
    }
}

impl MemoryPanel {
    fn sentence(&self) -> String {
        let requests = self.flow(Way::Load).and_then(|flow| flow.requests);
        let loads = requests.map_or(String::new(), |count| format!(", {count} {}", of_requests(Way::Load)));
        format!("{}: what moves between its memories{loads}.", self.name)
    }
}

/// What a request of a way with passes is.
fn of_one(way: Way) -> &'static str {
    match way {
        Way::SharedStore => "a store to shared memory",
        Way::Constant => "a load from constant memory",
        _ => "a load from shared memory",
    }
}

/// What the requests of a way are.
fn of_requests(way: Way) -> &'static str {
    match way {
        Way::Load => "loads from global memory",
        Way::Store => "stores to global memory",
        Way::Atomic => "atomic operations on global memory",
        Way::Texture => "requests to textures",
        Way::SharedLoad => "loads from shared memory",
        Way::SharedStore => "stores to shared memory",
        Way::Constant => "loads from constant memory",
        _ => "requests",
    }
}
