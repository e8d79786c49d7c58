//! Runs an exercise's kernels once on a device: copies the data there (`device_data`), launches,
//! and reads the buffers. Judges call it.
//!
//! *Invariant:* a run leaves nothing for the next one, in buffers, statics or the heap: otherwise
//! kernels could know a later run by what an earlier one has kept, and repeat its results.

use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use common::random::Random;
use cuda_std::launch::Arguments;
use device::limits::Limits;
use device::{Device, DeviceChoice, LaunchConfig, Options, Predict, PtxFile};
use indexmap::IndexMap;
use simt::orders::{DrawnOrder, Followed};
use simt::{Checks, LoadCaching, Model};

use crate::data::{self, Buffers, Sizes};
use crate::device_data::DeviceData;
use crate::fault::{Fault, Problem};
use crate::files::Exercise;
use crate::goals_file::{Argument, Data, Extents, Launch, ReferenceLaunch};
use goals::metric::Launched;

/// Memory of the simulated device: enough for every exercise, and a limit for a kernel's own
/// allocations.
const DEVICE_MEMORY: u64 = 1 << 30;

/// The most that the statics of a file may take of it.
const LARGEST_STATICS: u64 = 1 << 28;

/// The name of a block's size in `goals.toml` if the kernel decides it.
const LAUNCH_BOUNDS: &str = "launch_bounds";

/// What a launch may take on the simulator.
#[derive(Clone, Copy, Debug)]
pub struct LaunchLimits {
    /// Warp instructions.
    pub steps: u64,
    /// Faults that the checks find, each thread's counted.
    pub faults: u64,
    /// Stops it when it is set.
    pub cancel: Option<&'static AtomicBool>,
}

/// Compiled kernels on a device.
pub struct Module {
    /// The device of all runs, unless each has its own.
    device: Rc<Device>,
    /// What opens the device of a run.
    opens: (DeviceChoice, Options),
    /// Whether each run has a device of its own: the kernels may keep something there, or addresses
    /// are to be the same in all runs.
    own_devices: bool,
    kernels: IndexMap<String, Signature>,
    /// Bytes of its statics in global and constant memory.
    statics: u64,
    /// Whether times of the student's launches are predicted.
    predict: Predict,
}

/// A kernel's signature in the PTX.
struct Signature {
    /// Bytes of each parameter.
    parameters: Vec<u64>,
    /// The block that it was compiled for.
    bounds: Option<[u32; 3]>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The contents of each buffer, without padding between rows.
    pub buffers: Buffers,
    /// The counts of each launch; empty on a GPU.
    pub launches: Vec<Launched>,
    /// The sanitizer's findings.
    pub faults: Vec<Fault>,
    /// Where the buffers were.
    pub places: IndexMap<String, BufferPlace>,
}

/// Where a buffer was on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlace {
    /// Its first byte.
    pub address: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes of all rows.
    pub bytes: u64,
}

/// Draws the initial values of every buffer.
pub fn draw_values(exercise: &Exercise, sizes: &Sizes, random: &mut Random) -> Result<Buffers, String> {
    let of = |(name, plan): (&String, &Data)| {
        let [rows, columns] = data::shape(plan, sizes).map_err(|problem| format!("data '{name}': {problem}"))?;
        let values = match plan.scratch || plan.output && plan.values.is_none() {
            true => vec![device::POISON; rows * columns * plan.element.bytes()],
            false => data::values(plan, rows * columns, sizes, random)?,
        };
        Ok((name.clone(), values))
    };
    exercise.goals.data.iter().map(of).collect()
}

/// Which launches to make.
#[derive(Clone, Copy)]
pub enum Kernels<'a> {
    /// The launches of the exercise.
    Student,
    /// The reference's launch.
    Reference(&'a ReferenceLaunch),
}

impl Module {
    /// Loads PTX on a device, with limits for a launch.
    ///
    /// # Errors
    ///
    /// Those of [`device::open`].
    pub fn open(ptx: &Path, choice: DeviceChoice, most: LaunchLimits) -> Result<Self, device::Error> {
        let file = PtxFile::from(ptx.to_owned());
        let module = file.module()?;
        let of_device = |space| matches!(space, ptx::Space::Global | ptx::Space::Constant);
        let variables = module.variables.iter().filter(|(_, variable)| of_device(variable.space));
        let statics = variables.map(|(_, variable)| variable.size.unwrap_or(0)).fold(0, u64::saturating_add);
        if statics > LARGEST_STATICS {
            let problem = format!("its statics have {statics} bytes, and {LARGEST_STATICS} are allowed");
            return Err(device::Error::Ptx { name: ptx.display().to_string(), problem });
        }
        let limits = Limits {
            memory_limit: Some(DEVICE_MEMORY),
            step_limit: Some(most.steps),
            fault_limit: Some(most.faults),
            ..Limits::default()
        };
        let options = Options { ptx: vec![file], limits, cancel: most.cancel, ..Options::default() };
        let device = Rc::new(device::open(choice, &options)?);
        let signature = |kernel: &ptx::Function| Signature {
            parameters: kernel.parameters.iter().map(|&one| module.variables[one].size.unwrap_or(0)).collect(),
            bounds: kernel.required_threads.or(kernel.max_threads),
        };
        let kernels = module.kernels().map(|(_, kernel)| (kernel.name.clone(), signature(kernel))).collect();
        let own_devices = keeps_something(&module);
        Ok(Self { device, opens: (choice, options), own_devices, kernels, statics, predict: Predict::Nothing })
    }

    /// The bytes of its statics in global and constant memory.
    pub fn statics(&self) -> u64 {
        self.statics
    }

    /// Opens the simulator with `model`, or without a model.
    ///
    /// # Errors
    ///
    /// As [`Module::open`].
    pub fn simulated(ptx: &Path, model: Option<&'static Model>, most: LaunchLimits) -> Result<Self, device::Error> {
        let choice = match model {
            Some(model) => DeviceChoice::Model(model, LoadCaching::Default),
            None => DeviceChoice::Simulator,
        };
        Self::open(ptx, choice, most)
    }

    /// The same, with predicted times: the model's, or an H200's without a model.
    pub fn predicting(self) -> Self {
        Self { predict: Predict::Time, ..self }
    }

    /// The same, with buffers at the same addresses in each run.
    pub fn at_fixed_addresses(self) -> Self {
        Self { own_devices: true, ..self }
    }

    /// The device of one run.
    fn device(&self) -> Result<Rc<Device>, Problem> {
        if !self.own_devices {
            return Ok(self.device.clone());
        }
        let (choice, options) = &self.opens;
        device::open(*choice, options).map(Rc::new).map_err(Problem::Device)
    }

    /// Runs the kernels once.
    ///
    /// # Errors
    ///
    /// [`Problem`] for a mistake of the kernels, the exercise or the device.
    pub fn run(
        &self,
        exercise: &Exercise,
        sizes: &Sizes,
        values: &Buffers,
        kernels: Kernels<'_>,
        checks: Checks,
    ) -> Result<Outcome, Problem> {
        let placed = DeviceData::new(self.device()?, exercise, sizes, values)?;
        let mut outcome = Outcome::default();
        let launched = match kernels {
            Kernels::Reference(launch) => {
                let lookup = |name: &str| placed.lookup(name);
                let (grid, block) = (extents(&launch.grid, &lookup)?, extents(&launch.block, &lookup)?);
                let config = LaunchConfig { checks, ..LaunchConfig::new(grid, block) };
                self.launch(&placed, &launch.kernel, &config, &launch.arguments, &mut outcome)
            }
            Kernels::Student => self.launch_all(&placed, checks, None, &mut outcome),
        };
        // What earlier launches did may be the cause.
        let before = std::mem::take(&mut outcome.faults);
        launched.map_err(|problem| problem.map_faults(|faults| faults.into_iter().chain(before.clone()).collect()))?;
        outcome.faults = before;
        read(&placed, outcome)
    }

    /// Runs the student's kernels once in a drawn order of blocks and warps, without checks, and
    /// records the accesses that are followed. On the simulator without a model.
    ///
    /// # Errors
    ///
    /// As [`Module::run`].
    pub fn run_in_order(
        &self,
        exercise: &Exercise,
        sizes: &Sizes,
        values: &Buffers,
        order: DrawnOrder,
        follows: Option<Followed>,
    ) -> Result<Outcome, Problem> {
        let placed = DeviceData::new(self.device()?, exercise, sizes, values)?;
        let mut outcome = Outcome::default();
        self.launch_all(&placed, Checks::NONE, Some((order, follows)), &mut outcome)?;
        read(&placed, outcome)
    }

    /// The launches, one after another.
    fn launch_all(
        &self,
        placed: &DeviceData<'_>,
        checks: Checks,
        ordered: Option<(DrawnOrder, Option<Followed>)>,
        outcome: &mut Outcome,
    ) -> Result<(), Problem> {
        for launch in &placed.exercise.goals.launch {
            if launch.optional && !self.kernels.contains_key(&launch.kernel) {
                continue;
            }
            let (order, follows) = (ordered.map(|(order, _)| order), ordered.and_then(|(_, follows)| follows));
            let config = self.config(launch, placed).map_err(|problem| problem.of_launch(launch))?;
            let config = LaunchConfig { checks, watch: 1, predict: self.predict, order, follows, ..config };
            let launched = self.launch(placed, &launch.kernel, &config, &launch.arguments, outcome);
            launched.map_err(|problem| problem.in_line(launch.line))?;
        }
        Ok(())
    }

    /// Times the student's launches on a GPU, in milliseconds: the median of several runs. `None`
    /// on the simulator.
    ///
    /// # Errors
    ///
    /// As [`Module::run`].
    pub fn time(&self, exercise: &Exercise, sizes: &Sizes, values: &Buffers) -> Result<Option<f64>, Problem> {
        const RUNS: usize = 21;
        let placed = DeviceData::new(self.device()?, exercise, sizes, values)?;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let mut failed = None;
            let time = placed.device.time(&mut || {
                failed = self.launch_all(&placed, Checks::NONE, None, &mut Outcome::default()).err();
                Ok(())
            });
            if let Some(problem) = failed {
                return Err(problem);
            }
            match time.map_err(Problem::of)? {
                Some(time) => times.push(time),
                None => return Ok(None),
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(Some(times[RUNS / 2]))
    }

    fn config(&self, launch: &Launch, placed: &DeviceData<'_>) -> Result<LaunchConfig, Problem> {
        let signature = self.signature(&launch.kernel)?;
        let lookup = |name: &str| match (name, &placed.exercise.goals.open) {
            ("multiprocessors", Some(open)) => Some(open.multiprocessors.into()),
            _ => placed.lookup(name),
        };
        let decided = matches!(launch.block.0.as_slice(), [one] if one.as_name() == Some(LAUNCH_BOUNDS));
        let block = match (decided, signature.bounds) {
            (true, Some(bounds)) => bounds,
            (true, None) => {
                return Err(Problem::Signature(format!(
                    "kernel `{}` does not say how large its blocks are: write #[kernel(block(N))]",
                    launch.kernel
                )));
            }
            (false, _) => extents(&launch.block, &lookup)?,
        };
        let with_block = |name: &str| match name {
            "block.x" => Some(block[0].into()),
            "block.y" => Some(block[1].into()),
            "block.z" => Some(block[2].into()),
            _ => lookup(name),
        };
        let grid = extents(&launch.grid, &with_block)?;
        let shared = match &launch.shared {
            Some(shared) => shared.whole(&with_block, u32::MAX.into()).map_err(Problem::Exercise)?,
            None => 0,
        };
        Ok(LaunchConfig { dynamic_shared: shared as u32, ..LaunchConfig::new(grid, block) })
    }

    fn signature(&self, kernel: &str) -> Result<&Signature, Problem> {
        self.kernels.get(kernel).ok_or_else(|| {
            let there: Vec<String> = self.kernels.keys().map(|name| format!("`{name}`")).collect();
            Problem::Signature(format!("there is no kernel `{kernel}`; this file has {}", there.join(", ")))
        })
    }

    fn launch(
        &self,
        placed: &DeviceData<'_>,
        kernel: &str,
        config: &LaunchConfig,
        arguments: &[Argument],
        outcome: &mut Outcome,
    ) -> Result<(), Problem> {
        let bytes = self.arguments(placed, kernel, arguments)?;
        // SAFETY: the arguments fit the signature. What the kernel does with them is the student's
        // business, on the simulator first; a GPU gets only what is right there.
        let launched = unsafe { placed.device.launch_untyped(kernel, config, &bytes) };
        let report = launched.map_err(|error| {
            Problem::of(error).map_faults(|faults| faults.into_iter().map(|fault| placed.with_element(fault)).collect())
        })?;
        if let Some(report) = report {
            let named = |finding| placed.with_element(Fault::found(finding));
            outcome.faults.extend(report.findings().iter().map(named));
            let counters = report.counters();
            outcome.launches.push(Launched { kernel: kernel.to_owned(), report, counters });
        }
        Ok(())
    }

    /// The kernel's parameters, each as wide as the PTX has it.
    fn arguments(&self, placed: &DeviceData<'_>, kernel: &str, arguments: &[Argument]) -> Result<Arguments, Problem> {
        let sizes = &self.signature(kernel)?.parameters;
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Reference(name) => values.extend(placed.reference(name)?),
                Argument::F32(value) => values.push((placed.number(value)? as f32).to_le_bytes().into()),
                Argument::F64(value) => values.push(placed.number(value)?.to_le_bytes().into()),
                Argument::Value(value) => values.push(match value.as_name().and_then(|name| placed.pointer(name)) {
                    Some(address) => address.to_le_bytes().into(),
                    None => {
                        let number = value.whole(&|name| placed.lookup(name), 1 << 53).map_err(Problem::Exercise)?;
                        // As wide as the kernel has it.
                        match (sizes.get(values.len()), u32::try_from(number)) {
                            (Some(4), Ok(number)) => number.to_le_bytes().into(),
                            _ => number.to_le_bytes().into(),
                        }
                    }
                }),
            }
        }
        if values.len() != sizes.len() {
            return Err(Problem::Signature(format!(
                "kernel `{kernel}` has {} parameters in the PTX, and is launched with {} (a slice counts as two, a matrix as \
                 four): keep its signature as it was",
                sizes.len(),
                values.len()
            )));
        }
        let mut bytes = Arguments::new();
        for (value, &size) in values.iter().zip(sizes) {
            if value.len() as u64 != size {
                return Err(Problem::Signature(format!(
                    "parameter {} of kernel `{kernel}` has {size} bytes, and is launched with {}: keep its signature as it was",
                    bytes.len() + 1,
                    value.len()
                )));
            }
            bytes.push_bytes(value, value.len());
        }
        Ok(bytes)
    }
}

/// Whether the kernels can keep something on the device from one launch to the next: in a static,
/// or on the heap.
fn keeps_something(module: &ptx::Module) -> bool {
    let mut variables = module.variables.iter();
    let mut functions = module.functions.iter();
    variables.any(|(_, variable)| variable.space == ptx::Space::Global)
        || functions.any(|(_, function)| function.body.is_none() && function.name == "malloc")
}

/// Adds the contents of the buffers.
fn read(placed: &DeviceData<'_>, mut outcome: Outcome) -> Result<Outcome, Problem> {
    placed.device.synchronize().map_err(Problem::of)?;
    for (name, buffer) in &placed.buffers {
        outcome.buffers.insert(name.clone(), buffer.read().map_err(Problem::of)?);
        outcome.places.insert(name.clone(), placed.place(name, buffer)?);
    }
    Ok(outcome)
}

/// The numbers of a grid or a block.
fn extents(written: &Extents, value_of: &dyn Fn(&str) -> Option<f64>) -> Result<[u32; 3], Problem> {
    let mut extents = [1; 3];
    for (extent, expression) in extents.iter_mut().zip(&written.0) {
        *extent = expression.whole(value_of, u32::MAX.into()).map_err(Problem::Exercise)? as u32;
    }
    Ok(extents)
}
