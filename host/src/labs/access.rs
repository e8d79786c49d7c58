//! The access patterns of a warp, on each memory model. The kernels and what they show are in `kernels::access`. Listed in
//! [`super::ALL`] and run by [`super::flow`]; without a GPU or a model it opens a simulated device for each of `--models`.

use clap::Args;
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, Device, DeviceChoice, Error, LaunchConfig, LoadCaching, Model, POISON, Result};
use kernels::access::{self as kernel, Pattern};
use serde_json::{Value, json};

use super::compare::Shape;
use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::settings::Settings;
use crate::report::{Cell, Grid, LabReport, Subject, VariantReport};
use crate::units::{percent, three_digits};
use simt::{MemoryCounters, TransactionCounters};

const THREADS: DefaultSize = DefaultSize { on_gpu: 1 << 22, on_simulator: 1024 };

/// Threads of a block.
const BLOCK: u32 = 128;

/// The most elements that a pattern may spread over: kernels index with 32 bits.
const MOST_ELEMENTS: u64 = 1 << 31;

/// The flags of `host access`.
///
/// With neither `--loads` nor `--stores`, both run.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Load with each pattern
    #[arg(long, help_heading = "Variants (default: both)")]
    pub loads: bool,
    /// Store with each pattern
    #[arg(long, help_heading = "Variants (default: both)")]
    pub stores: bool,

    /// Threads, one access each [default: 4194304 on a GPU, 1024 on the simulator]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u64 << 26))]
    pub size: Option<u64>,
    /// Strides in elements, separated by commas
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "2,3,8,16,32",
          value_parser = whole_number(2, 1024u32))]
    pub stride: Vec<u32>,
    /// On the simulator without a model: the models to compare, separated by commas, as for --device sim:MODEL
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',', value_parser = model,
          default_value = "fermi:ca,fermi:cg,hopper")]
    pub models: Vec<ModelChoice>,
}

/// A model, and how it caches loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelChoice(&'static Model, LoadCaching);

fn model(text: &str) -> std::result::Result<ModelChoice, String> {
    match format!("sim:{text}").parse() {
        Ok(DeviceChoice::Model(model, caching)) => Ok(ModelChoice(model, caching)),
        _ => Err(format!("unknown model '{text}'; give some of {}", device::models_named())),
    }
}

/// What each thread does.
#[derive(Clone, Copy)]
enum Task {
    /// Loads the pattern's element.
    Load(Pattern),
    /// Stores to the pattern's element.
    Store(Pattern),
    /// Loads `a[scale * i + shift]` and `a[i]`.
    Difference { scale: u32, shift: u32 },
}

impl Task {
    /// The last element that it touches, for this many threads.
    fn last(self, threads: u32) -> u64 {
        match self {
            Self::Load(pattern) | Self::Store(pattern) => {
                let i = match pattern.scatter_bits {
                    0 => threads.next_multiple_of(32) - 1,
                    bits => (1 << bits) - 1,
                };
                u64::from(i) * u64::from(pattern.stride) + u64::from(pattern.offset)
            }
            Self::Difference { scale, shift } => u64::from(threads) * u64::from(scale) + u64::from(shift),
        }
    }
}

/// The lab: patterns, and data for the widest of them.
pub struct Access {
    options: Options,
    threads: u32,
    seed: u32,
    /// Whether a GPU's launches are also counted.
    counted: bool,
    /// Names and tasks.
    tasks: Vec<(String, Task)>,
    elements: Vec<u32>,
    /// Elements up to the last one that a store reaches.
    stored: usize,
}

/// The data on each device.
pub struct Data(Vec<OnDevice>);

/// The data on one device.
struct OnDevice {
    input: Buffer<u32>,
    /// A result of each thread, for the tasks that load.
    results: Buffer<u32>,
    /// The values to store, for the tasks that store.
    stored: Buffer<u32>,
}

impl Lab for Access {
    const NAME: &'static str = "access";
    const ABOUT: &'static str = "Coalescing: what each access pattern of a warp costs, from Fermi to Hopper";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let threads = options.size.unwrap_or_else(|| THREADS.on(device)) as u32;
        let options = Options { stride: each_once(options.stride), models: each_once(options.models), ..options };
        let tasks = tasks(&options, threads);
        let last = tasks.iter().map(|(_, task)| task.last(threads)).max().unwrap_or(0);
        if last >= MOST_ELEMENTS {
            let problem = format!(
                "{threads} threads with these strides need {} elements, more than the limit of {MOST_ELEMENTS}",
                last + 1
            );
            return Err(Error::flag("--stride", problem));
        }
        let devices = if compares_models(device) { options.models.len() as u64 } else { 1 };
        let stores = tasks.iter().filter(|(_, task)| matches!(task, Task::Store(_)));
        let stored = stores.map(|(_, task)| task.last(threads) + 1).max().unwrap_or(0);
        let most_output = stored.max(u64::from(threads));
        let on_device = bytes_of::<u32>(&[last + 1 + u64::from(threads) + stored]);
        let on_host = bytes_of::<u32>(&[last + 1 + 2 * most_output]);
        check_room(device, "reading and writing with these patterns", on_device.saturating_mul(devices), on_host)?;
        let elements = Random::new(settings.seed).samples(last as usize + 1);
        let (seed, counted) = (settings.seed as u32, settings.counters);
        Ok(Self { options, threads, seed, counted, tasks, elements, stored: stored as usize })
    }

    fn parameters(&self) -> Value {
        json!({"threads": self.threads, "block": BLOCK})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let devices = match compares_models(device) {
            true => {
                let as_model = |ModelChoice(model, caching): &ModelChoice| {
                    let choice = DeviceChoice::Model(model, *caching).to_string();
                    Ok((choice.trim_start_matches("sim:").to_owned(), device.as_model(model, *caching)?))
                };
                self.options.models.iter().map(as_model).collect::<Result<Vec<_>>>()?
            }
            false => vec![(String::new(), device.clone())],
        };
        let mut data = Data(Vec::new());
        let mut plan_variants = Vec::new();
        for (index, (name, device)) in devices.into_iter().enumerate() {
            let mut input = device.buffer(self.elements.len())?;
            input.write(&self.elements)?;
            data.0.push(OnDevice {
                input,
                results: device.buffer(self.threads as usize)?,
                stored: device.buffer(self.stored)?,
            });
            for (pattern, task) in &self.tasks {
                plan_variants.push(self.variant(index, &name, device.clone(), pattern, *task));
            }
        }
        let (timed, counted) = (device.properties().is_gpu(), !device.properties().is_gpu() || self.counted);
        let shown = match (timed, counted) {
            (true, false) => "GB/s",
            (true, true) => "GB/s, transactions of a warp, and the share of their bytes that was requested",
            _ => "transactions of a warp, and the share of their bytes that was requested",
        };
        let grid = |group: &str, cell| Grid {
            title: format!("{group}: {shown}"),
            rows: "pattern",
            columns: "model",
            group: group.to_owned(),
            rows_compete: false,
            cell,
        };
        Ok(Plan::new(data, plan_variants).grid(grid("loads", loads)).grid(grid("stores", stores)).compact())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|device| device.results.poison().and_then(|()| device.stored.poison()))
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        // The last device's: the newest of the models, if there are several.
        let of = |pattern: &str| {
            let is = |variant: &&VariantReport| variant.fact("pattern") == Some(&pattern.into());
            let counters = report.variants.iter().rfind(is)?.counters?;
            let load = counters.global.load;
            let (transactions, used) = match counters.model {
                Some(model) => (model.global_load.transactions, model.global_load.percent_used()),
                None => (load.sectors, load.percent_of_bytes_used()),
            };
            Some((transactions as f64 / load.requests as f64, used?))
        };
        let sentence = || {
            let (aligned, permuted) = (of("load aligned")?.0, of("load permuted")?.0);
            let (misaligned, (scattered, used)) = (of("load misaligned")?.0, of("load scattered")?);
            let order = match aligned == permuted {
                true => "and the order of its lanes does not matter".to_owned(),
                false => format!("in another order {}", three_digits(permuted)),
            };
            Some(format!(
                "A warp's aligned load takes {} transactions, {order}; misaligned it takes {}, scattered {}, of whose bytes {} is used.",
                three_digits(aligned),
                three_digits(misaligned),
                three_digits(scattered),
                percent(used)
            ))
        };
        let time = || {
            let time = |pattern: &str| Some(report.variant(pattern)?.timing.as_ref()?.median_ms);
            Some(format!(
                "Scattered loads take {} times as long as aligned ones.",
                three_digits(time("load scattered")? / time("load aligned")?)
            ))
        };
        [time(), sentence()].into_iter().flatten().collect()
    }
}

/// Whether the lab runs on models of the simulator, and not on `device` itself.
fn compares_models(device: &Device) -> bool {
    let properties = device.properties();
    !properties.is_gpu() && properties.simulates.is_none()
}

/// The patterns that the flags request, by name.
fn tasks(options: &Options, threads: u32) -> Vec<(String, Task)> {
    let bits = threads.max(32).next_power_of_two().ilog2();
    let aligned = Pattern::ALIGNED;
    let mut patterns = vec![
        ("aligned".to_owned(), aligned),
        ("permuted".to_owned(), Pattern { exchange: 5, ..aligned }),
        ("misaligned".to_owned(), Pattern { offset: 1, ..aligned }),
        ("one word".to_owned(), Pattern { stride: 0, ..aligned }),
    ];
    patterns.extend(options.stride.iter().map(|&stride| (format!("stride {stride}"), Pattern { stride, ..aligned })));
    // Each thread in a cache line of its own; and anywhere.
    patterns.push(("scattered".to_owned(), Pattern { stride: 32, scatter_bits: bits, ..aligned }));
    patterns.push(("random".to_owned(), Pattern { scatter_bits: bits, ..aligned }));
    let mut tasks = Vec::new();
    for stores in chosen(&[(false, options.loads), (true, options.stores)]) {
        for (name, pattern) in &patterns {
            tasks.push(match stores {
                false => (format!("load {name}"), Task::Load(*pattern)),
                true => (format!("store {name}"), Task::Store(*pattern)),
            });
        }
        if !stores {
            tasks.push(("load a[i+1]-a[i]".to_owned(), Task::Difference { scale: 1, shift: 1 }));
            tasks.push(("load a[64i]-a[i]".to_owned(), Task::Difference { scale: 64, shift: 0 }));
        }
    }
    tasks
}

/// Transactions per request and the share of their bytes that was requested: on a model in its transactions, else in sectors. On
/// a GPU without counters, GB/s.
fn cell(variant: &VariantReport, sectors: &MemoryCounters, modelled: Option<TransactionCounters>) -> Option<Cell> {
    let (transactions, used) = match modelled {
        Some(modelled) => (modelled.transactions, modelled.percent_used()?),
        None => (sectors.sectors, sectors.percent_of_bytes_used()?),
    };
    let each = three_digits(transactions as f64 / sectors.requests as f64);
    let speed = variant.gbps.map_or(String::new(), |gbps| format!("{} GB/s ", three_digits(gbps)));
    Some(Cell::plain(format!("{speed}{each} {:>5}%", three_digits(used))))
}

fn loads(variant: &VariantReport) -> Option<Cell> {
    match variant.counters {
        Some(counters) => cell(variant, &counters.global.load, counters.model.map(|model| model.global_load)),
        None => Some(Cell::plain(three_digits(variant.gbps?))),
    }
}

fn stores(variant: &VariantReport) -> Option<Cell> {
    match variant.counters {
        Some(counters) => cell(variant, &counters.global.store, counters.model.map(|model| model.global_store)),
        None => Some(Cell::plain(three_digits(variant.gbps?))),
    }
}

impl Access {
    fn variant(&self, index: usize, model: &str, device: Device, pattern: &str, task: Task) -> Variant<'_, Data> {
        let (threads, seed) = (self.threads, self.seed);
        let launch = LaunchConfig::linear(threads as usize, BLOCK);
        let name = match model {
            "" => pattern.to_owned(),
            model => format!("{pattern} on {model}"),
        };
        let (group, bytes) = match task {
            Task::Load(_) => ("loads", 8),
            Task::Store(_) => ("stores", 4),
            Task::Difference { .. } => ("loads", 12),
        };
        let written = self.written(task);
        let variant = Variant::new(
            name.clone(),
            move |data: &mut Data, launcher| {
                let OnDevice { input, results, stored } = &mut data.0[index];
                match task {
                    Task::Load(pattern) => launcher.launch(&kernel::access_load, &launch, (&*input, results, pattern)),
                    Task::Store(pattern) => {
                        // SAFETY: the pattern stays within `stored`, which was made as long as it reaches.
                        unsafe {
                            launcher.launch_unchecked(&kernel::access_store, &launch, (stored, threads, seed, pattern))
                        }
                    }
                    Task::Difference { scale, shift } => {
                        launcher.launch(&kernel::access_difference, &launch, (&*input, results, scale, shift))
                    }
                }
            },
            move |data| {
                let OnDevice { results, stored, .. } = &data.0[index];
                let found = if matches!(task, Task::Store(_)) { stored.read()? } else { results.read()? };
                let expected = self.expected(task);
                Ok(Outcome::exact(Shape::Vector(found.len()), found, |_, i| expected[i]))
            },
        )
        .group(group)
        .axis("pattern", pattern)
        .fact("grid", json!(launch.grid))
        .bytes(bytes * u64::from(threads))
        .computes(format!("the result of {name}"), (written * size_of::<u32>()) as u64);
        match model {
            "" => variant.axis("model", "this device"),
            model => variant.axis("model", model).on(device),
        }
    }

    /// The elements of a task's output.
    fn written(&self, task: Task) -> usize {
        match task {
            Task::Store(_) => self.stored,
            _ => self.threads as usize,
        }
    }

    /// The expected output: poison where nothing is written.
    fn expected(&self, task: Task) -> Vec<u32> {
        let mut output = vec![u32::from_le_bytes([POISON; 4]); self.written(task)];
        for i in 0..self.threads {
            match task {
                Task::Load(pattern) => output[i as usize] = self.elements[pattern.element(i) as usize],
                Task::Store(pattern) => {
                    let element = pattern.element(i);
                    output[element as usize] = kernel::value_at(element, self.seed);
                }
                Task::Difference { scale, shift } => {
                    let other = self.elements[(scale * i + shift) as usize];
                    output[i as usize] = other.wrapping_sub(self.elements[i as usize]);
                }
            }
        }
        output
    }
}
