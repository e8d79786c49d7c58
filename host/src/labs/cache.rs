//! The lab `cache`: cache operators of loads, cache configuration, carveout, and how the kernels are compiled. The kernels
//! are in `kernels::cache`, with what to look for. Listed in [`super::ALL`] and run by [`super::flow`]; its preferences
//! apply to its own launches only.

use clap::{Args, ValueEnum};
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, CacheConfig, Device, LaunchConfig, LoadCaching, Model, Result};
use kernels::access::Pattern;
use kernels::cache as kernel;
use serde_json::{Value, json};

use super::compare::Shape;
use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::launcher::Preferences;
use super::settings::Settings;
use crate::report::{Cell, Grid, LabReport, Subject, VariantReport};
use crate::units::{percent, three_digits};

const THREADS: DefaultSize = DefaultSize { on_gpu: 1 << 23, on_simulator: 1 << 13 };

/// Threads of a block.
const BLOCK: u32 = 256;

/// The flags of `host cache`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Each cache operator of loads, on each pattern
    #[arg(long, help_heading = "Variants (default: all)")]
    pub operators: bool,
    /// Preferences for L1 or shared memory, of the context and of the kernel
    #[arg(long, help_heading = "Variants (default: all)")]
    pub configurations: bool,
    /// Each share of L1's memory that can be shared memory
    #[arg(long, help_heading = "Variants (default: all)")]
    pub carveouts: bool,
    /// Loads compiled to use or bypass L1 (-dlcm), with a small and with a large L1
    #[arg(long, help_heading = "Variants (default: all)")]
    pub compiled: bool,

    /// Threads [default: 8388608 on a GPU, 8192 on the simulator]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u64 << 25))]
    pub size: Option<u64>,
    /// Patterns to read with, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "PATTERN,...",
        value_delimiter = ',',
        default_value = "aligned,misaligned,strided,scattered,stencil,table"
    )]
    pub pattern: Vec<Reads>,
}

/// The elements that each thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reads {
    /// The thread's own element.
    Aligned,
    /// The next thread's element.
    Misaligned,
    /// Every eighth element: one of each sector.
    Strided,
    /// One element in a cache line of its own, anywhere.
    Scattered,
    /// Nine neighbours.
    Stencil,
    /// Eight neighbours anywhere in a table of 32 KB.
    Table,
}

impl Reads {
    fn name(self) -> &'static str {
        ["aligned", "misaligned", "strided", "scattered", "stencil", "table"][self as usize]
    }

    /// Elements that a thread reads.
    fn taps(self) -> u32 {
        [1, 1, 1, 1, 9, 8][self as usize]
    }

    /// The first element for this thread.
    fn pattern(self, threads: u32) -> Pattern {
        let aligned = Pattern::ALIGNED;
        match self {
            Self::Aligned | Self::Stencil => aligned,
            Self::Misaligned => Pattern { offset: 1, ..aligned },
            Self::Strided => Pattern { stride: 8, ..aligned },
            Self::Scattered => {
                Pattern { stride: 32, scatter_bits: threads.max(32).next_power_of_two().ilog2(), ..aligned }
            }
            Self::Table => Pattern { scatter_bits: TABLE_BITS, ..aligned },
        }
    }

    /// The elements that all threads reach.
    fn reach(self, threads: u32) -> u64 {
        let last = match self {
            Self::Strided => 8 * u64::from(threads),
            Self::Scattered => 32 * u64::from(threads.max(32).next_power_of_two()),
            Self::Table => 1 << TABLE_BITS,
            _ => u64::from(threads),
        };
        last + u64::from(self.taps()) + 1
    }
}

/// The table has 2^13 floats: 32 KB, more than a small L1 and less than a large one.
const TABLE_BITS: u32 = 13;

/// The kernels' parameters: data, output, threads, taps, pattern.
type Parameters = (Slice<f32>, DisjointSlice<f32>, u32, Pattern);

/// The cache operators of loads, with their kernels.
const OPERATORS: [(&str, &SafeKernel<Parameters>); 7] = [
    ("default", &kernel::cache_default),
    ("ca", &kernel::cache_ca),
    ("cg", &kernel::cache_cg),
    ("cs", &kernel::cache_cs),
    ("lu", &kernel::cache_lu),
    ("cv", &kernel::cache_cv),
    ("nc", &kernel::cache_nc),
];

/// The lab: the data to read.
pub struct Cache {
    options: Options,
    threads: u32,
    elements: Vec<f32>,
}

/// The data on each device: on the report's, or on a model of an old GPU and one of a new GPU.
pub struct Data(Vec<(Buffer<f32>, Buffer<f32>)>);

/// A device that variants run on: its index in [`Data`], its name as a fact, and the device, if it is not the lab's.
#[derive(Clone)]
struct Target {
    index: usize,
    model: Value,
    device: Option<Device>,
}

impl Lab for Cache {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "What L1 keeps: cache operators, configurations and carveouts";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let options = Options { pattern: each_once(options.pattern), ..options };
        let threads = options.size.unwrap_or_else(|| THREADS.on(device)) as u32;
        let reach = options.pattern.iter().map(|pattern| pattern.reach(threads)).max().unwrap_or(1);
        let bytes = bytes_of::<f32>(&[reach + u64::from(threads)]);
        check_room(device, "reading through the caches", bytes.saturating_mul(2), bytes)?;
        let elements = Random::new(settings.seed).samples(reach as usize);
        Ok(Self { options, threads, elements })
    }

    fn parameters(&self) -> Value {
        json!({"threads": self.threads, "block": BLOCK})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let places = places(device)?;
        let mut data = Data(Vec::new());
        for place in &places {
            let device = place.device.as_ref().unwrap_or(device);
            data.0.push((device.buffer(self.elements.len())?, device.buffer(self.threads as usize)?));
            data.0[place.index].0.write(&self.elements)?;
        }
        let (old, new) = (&places[0], &places[places.len() - 1]);
        let Options { operators, configurations, carveouts, compiled, .. } = self.options;
        type Part<'a> = fn(&'a Cache, &Target) -> Vec<Variant<'a, Data>>;
        let parts: [((Part<'a>, &Target), bool); 4] = [
            ((Self::operators, new), operators),
            ((Self::configurations, new), configurations),
            ((Self::carveouts, new), carveouts),
            ((Self::compiled, old), compiled),
        ];
        let variants = chosen(&parts).into_iter().flat_map(|(part, place)| part(self, place)).collect();
        let grid = |title: &str, rows, columns, group: &str| Grid {
            title: title.to_owned(),
            rows,
            columns,
            group: group.to_owned(),
            rows_compete: rows != "pattern",
            cell,
        };
        // The simulator without a model has no caches: name the model that replaces it.
        let on = |place: &Target| place.model.as_str().map_or(String::new(), |model| format!(" on the {model} model"));
        let (on_old, on_new) = (on(old), on(new));
        let has_read_only =
            device.properties().simulates.and_then(Model::named).is_some_and(|it| it.read_only.is_some());
        let unit = match device.properties().is_gpu() {
            true => "GB/s",
            false if has_read_only => "hits in L1 or the read-only cache, and bytes from beyond it",
            false => "hits in L1, and bytes from beyond it",
        };
        let plan = Plan::new(data, variants)
            .grid(grid(&format!("operators{on_new}: {unit}"), "pattern", "operator", "operators"))
            .grid(grid(
                &format!("preference of the context or of the kernel{on_new}: {unit}"),
                "scope",
                "prefers",
                "configurations",
            ))
            .grid(grid(&format!("carveout in percent{on_new}: {unit}"), "pattern", "carveout", "carveouts"));
        // One small table for each pattern, as in the lectures.
        let compiled = self.options.pattern.iter().map(|pattern| {
            let group = format!("compiled, {}", pattern.name());
            grid(&format!("{group}{on_old}: {unit}"), "compiled", "l1", &group)
        });
        Ok(compiled.fold(plan, Plan::grid).compact())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|(_, output)| output.poison())
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let of = |group: &str, name: &str, value: &str| {
            let is = |variant: &&VariantReport| {
                variant.group == group
                    && variant.fact(name) == Some(&value.into())
                    && variant.fact("pattern") == Some(&"stencil".into())
            };
            report.variants.iter().find(is)
        };
        let hits = |variant: &VariantReport| variant.counters?.model?.caches.l1_global_load.hit_percent();
        let stencil = || {
            let (ca, cg) = (of("operators", "operator", "ca")?, of("operators", "operator", "cg")?);
            let beyond = |variant: &VariantReport| Some(variant.counters?.model?.caches.l2_to_l1_sectors);
            Some(format!(
                "A stencil finds {} of its sectors in L1; bypassing L1, {:.1} times as many sectors come from L2.",
                percent(hits(ca)?),
                beyond(cg)? as f64 / beyond(ca)? as f64
            ))
        };
        let time = || {
            let time = |variant: &VariantReport| variant.timing.as_ref().map(|timing| timing.median_ms);
            let (ca, cg) = (of("operators", "operator", "ca")?, of("operators", "operator", "cg")?);
            Some(format!("Bypassing L1, a stencil takes {} times as long.", three_digits(time(cg)? / time(ca)?)))
        };
        [time(), stencil()].into_iter().flatten().collect()
    }
}

/// The devices that the lab runs on. The simulator without a model has no caches, so two models replace it: an old GPU, where the
/// compiler chose the cache, and a new one.
fn places(device: &Device) -> Result<Vec<Target>> {
    let properties = device.properties();
    if properties.is_gpu() || properties.simulates.is_some() {
        return Ok(vec![Target { index: 0, model: Value::Null, device: None }]);
    }
    let place = |(index, name): (usize, &str)| {
        let model = Model::named(name).map(|model| device.as_model(model, LoadCaching::Default)).transpose()?;
        Ok(Target { index, model: name.into(), device: model })
    };
    ["fermi", "hopper"].into_iter().enumerate().map(place).collect()
}

/// GB/s; without times, hits in L1 or in a read-only cache, and the bytes that came from beyond it.
fn cell(variant: &VariantReport) -> Option<Cell> {
    if let Some(gbps) = variant.gbps {
        return Some(Cell::ranked(three_digits(gbps), gbps));
    }
    let caches = variant.counters?.model?.caches;
    let hits = caches.l1_global_load.hit_percent().or(caches.read_only().hit_percent());
    let hits = hits.map_or("-".to_owned(), |hits| format!("{hits:.0}%"));
    let beyond = caches.l2_to_l1_sectors * 32;
    Some(Cell::ranked(format!("{hits} {}", crate::units::bytes(beyond)), -(beyond as f64)))
}

impl Cache {
    /// A variant that reads with one of the patterns.
    fn variant(
        &self,
        place: &Target,
        name: String,
        kernel: &'static SafeKernel<Parameters>,
        reads: Reads,
        preferences: Preferences,
    ) -> Variant<'_, Data> {
        let (threads, index) = (self.threads, place.index);
        let (pattern, taps) = (reads.pattern(threads), reads.taps());
        let launch = LaunchConfig::linear(threads as usize, BLOCK);
        let bytes = u64::from(threads) * size_of::<f32>() as u64;
        let variant = Variant::new(
            name.clone(),
            move |data: &mut Data, launcher| {
                let (input, output) = &mut data.0[index];
                launcher.launch(kernel, &launch, (&*input, output, taps, pattern))
            },
            move |data| {
                let expected = |i: usize| {
                    let first = pattern.element(i as u32) as usize;
                    self.elements[first..first + taps as usize].iter().fold(0.0, |sum, element| sum + element)
                };
                Ok(Outcome::exact(Shape::Vector(threads as usize), data.0[index].1.read()?, |_, i| expected(i)))
            },
        )
        .axis("model", place.model.clone())
        .axis("pattern", reads.name())
        .bytes(bytes * u64::from(taps + 1))
        .computes(format!("the sums of {}", reads.name()), bytes)
        .preferences(preferences);
        match &place.device {
            Some(device) => variant.on(device.clone()),
            None => variant,
        }
    }

    fn operators(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let pairs = self.options.pattern.iter().flat_map(|&reads| OPERATORS.map(|operator| (reads, operator)));
        let variant = |(reads, (operator, kernel)): (Reads, (&str, &'static SafeKernel<Parameters>))| {
            self.variant(place, format!("{operator}-{}", reads.name()), kernel, reads, Preferences::default())
                .group("operators")
                .axis("operator", operator)
        };
        pairs.map(variant).collect()
    }

    fn configurations(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let wishes = [
            ("nothing", CacheConfig::None),
            ("shared", CacheConfig::Shared),
            ("l1", CacheConfig::L1),
            ("equal", CacheConfig::Equal),
        ];
        let scopes = [("context", true), ("kernel", false)];
        let pairs = scopes.into_iter().flat_map(|scope| wishes.map(|wish| (scope, wish)));
        let variant = |((scope, of_context), (prefers, wish)): ((&str, bool), (&str, CacheConfig))| {
            let preferences = match of_context {
                true => Preferences { context_cache: wish, ..Preferences::default() },
                false => Preferences { cache: wish, ..Preferences::default() },
            };
            let name = format!("{scope}-prefers-{prefers}");
            self.variant(place, name, &kernel::cache_ca, self.busiest(), preferences)
                .group("configurations")
                .axis("scope", scope)
                .axis("prefers", prefers)
        };
        pairs.map(variant).collect()
    }

    fn carveouts(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let variant = |carveout: u8| {
            let preferences = Preferences { carveout: Some(carveout), ..Preferences::default() };
            self.variant(place, format!("carveout-{carveout}"), &kernel::cache_ca, self.busiest(), preferences)
                .group("carveouts")
                .axis("carveout", carveout)
        };
        [0, 25, 50, 75, 100].map(variant).into()
    }

    /// The pattern that profits most from L1, for the variants that change its size.
    fn busiest(&self) -> Reads {
        self.options.pattern.iter().copied().max_by_key(|&reads| reads as usize).unwrap_or(Reads::Table)
    }

    /// `{ca, cg}` x `{a small L1, a large L1}`.
    fn compiled(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let mut variants = Vec::new();
        for &reads in &self.options.pattern {
            for (compiled, load_caching) in [("ca", LoadCaching::AllLevels), ("cg", LoadCaching::GlobalLevel)] {
                for (l1, cache) in [("small", CacheConfig::Shared), ("large", CacheConfig::L1)] {
                    let preferences = Preferences { cache, load_caching, ..Preferences::default() };
                    let name = format!("dlcm-{compiled}-{l1}-l1-{}", reads.name());
                    variants.push(
                        self.variant(place, name, &kernel::cache_default, reads, preferences)
                            .group(format!("compiled, {}", reads.name()))
                            .axis("compiled", compiled)
                            .axis("l1", l1),
                    );
                }
            }
        }
        variants
    }
}
