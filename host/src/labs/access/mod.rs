//! The access patterns of a warp, on each memory model. The kernels and what they show are in
//! `kernels::access`; `task` has the patterns. Without a GPU or a model it opens a simulated
//! device for each of `--models`.

mod table;
mod task;

use crate::flag_values::each_once;
use common::random::Random;
use device::{Buffer, Device, DeviceChoice, Error, LaunchConfig, Result};
use kernels::access as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, LOADS, MEANINGS, ModelChoice, SHOWCASE, STORES, SWEEPS};
use task::{Task, tasks};

use super::compare::Shape;
use super::inputs::{DefaultSize, bytes_of, check_room};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::models::is_plain;
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::{Best, Conclusion, FirstScreen, Grid, Meaning, Subject, Sweep};

const THREADS: DefaultSize = DefaultSize { on_gpu: 1 << 22, on_simulator: 1024 };

/// Threads of a block.
const BLOCK: u32 = 128;

/// The most elements that a pattern may spread over: kernels index with 32 bits.
const MOST_ELEMENTS: u64 = 1 << 31;

/// The lab: patterns, and data for the widest of them.
pub struct Access {
    options: Options,
    threads: u32,
    seed: u32,
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
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", THREADS)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let threads = options.size.unwrap_or_else(|| THREADS.on(device)) as u32;
        let options = Options { stride: each_once(options.stride), models: each_once(options.models), ..options };
        let tasks = tasks(&options, threads, device.properties().is_gpu());
        let last = tasks.iter().map(|(_, task)| task.last(threads)).max().unwrap_or(0);
        if last >= MOST_ELEMENTS {
            let problem = format!(
                "{threads} threads with these strides need {} elements, more than the limit of {MOST_ELEMENTS}",
                last + 1
            );
            return Err(Error::request("--stride", problem));
        }
        let devices = if is_plain(device) { options.models.len() as u64 } else { 1 };
        let stores = tasks.iter().filter(|(_, task)| matches!(task, Task::Store(_)));
        let stored = stores.map(|(_, task)| task.last(threads) + 1).max().unwrap_or(0);
        let most_output = stored.max(u64::from(threads));
        let on_device = bytes_of::<u32>(&[last + 1 + u64::from(threads) + stored]);
        let on_host = bytes_of::<u32>(&[last + 1 + 2 * most_output]);
        check_room(device, "reading and writing with these patterns", on_device.saturating_mul(devices), on_host)?;
        let elements = Random::new(settings.seed).samples(last as usize + 1);
        Ok(Self { options, threads, seed: settings.seed as u32, tasks, elements, stored: stored as usize })
    }

    fn parameters(&self) -> Value {
        json!({"threads": self.threads, "block": BLOCK})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let devices = match is_plain(device) {
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
        let grid = |group: &str, measures| Grid {
            title: group.to_owned(),
            rows: "pattern",
            columns: "model",
            group: group.to_owned(),
            best: Best::Unmarked,
            measures,
        };
        Ok(Plan::new(data, plan_variants).grid(grid("loads", LOADS)).grid(grid("stores", STORES)).compact())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|device| device.results.poison().and_then(|()| device.stored.poison()))
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
        let (access, pattern) = pattern.split_once(' ').unwrap_or((pattern, ""));
        let variant = Variant::new(
            name.clone(),
            move |data: &mut Data, launcher| {
                let OnDevice { input, results, stored } = &mut data.0[index];
                match task {
                    Task::Load(pattern) => launcher.launch(&kernel::access_load, &launch, (&*input, results, pattern)),
                    Task::Store(pattern) => {
                        // SAFETY: the pattern stays within `stored`, which was made as long as it
                        // reaches.
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
        .axis("access", access)
        .axis("pattern", pattern)
        .fact("grid", json!(launch.grid))
        .bytes(bytes * u64::from(threads))
        .computes(format!("the result of {name}"), (written * size_of::<u32>()) as u64);
        match model {
            "" => variant.axis("model", "this device"),
            model => variant.axis("model", model).on(device),
        }
    }
}
