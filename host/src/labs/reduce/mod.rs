//! Reduction in six steps, and the last one. The kernels and what they show are in `kernels::reduce`. Listed in
//! [`super::ALL`](crate::labs::ALL); `number` has what differs between the types, `peer` has CUB's rows.

mod number;
mod peer;

use std::path::PathBuf;
use std::rc::Rc;

use best_kernels::{blocks, reduce as best};
use clap::{Args, ValueEnum};
use device::flag_values::{each_once, power_of_two, whole_number};
use device::peers::Peers;
use device::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::reduce as kernel;
use serde_json::{Value, json};

use number::Number;

use super::best::slots;
use super::compare::Shape;
use super::inputs::{DefaultSize, Room, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::launcher::Launcher;
use super::settings::Settings;
use crate::npy;
use crate::peers::Peer;
use crate::report::{LabReport, Subject};
use crate::units::three_digits;

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 17 };

/// The input and two buffers for partial results, on the device; the input on the host.
const ROOM: Room = Room { what: "the reduction of a vector", on_device: 3, on_host: 2 };

/// The flags of `host reduce`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Interleaved threads: divergent warps
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce1: bool,
    /// Interleaved values: bank conflicts
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce2: bool,
    /// Neighbouring values
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce3: bool,
    /// The first addition while loading
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce4: bool,
    /// The last warp unrolled
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce5: bool,
    /// Shuffles
    #[arg(long, help_heading = "Variants (default: all)")]
    pub reduce6: bool,
    /// Many values per thread, one launch
    #[arg(long, help_heading = "Variants (default: all)")]
    pub best: bool,

    /// Operations, separated by commas
    #[arg(long, value_enum, value_name = "OPERATION,...", value_delimiter = ',', default_values_t = [Operation::Sum])]
    pub operation: Vec<Operation>,
    /// Types of the values, separated by commas
    #[arg(long = "type", value_enum, value_name = "TYPE,...", value_delimiter = ',', default_values_t = [Type::F32])]
    pub types: Vec<Type>,
    /// Values; 1000 is the lab sheet's size [default: large against a GPU's caches, or quick on the simulator]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    pub size: Option<u64>,
    /// Take the vector in this NumPy file instead of a random one; its type is that of --type
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// Threads of a block of the six steps: a power of two from 64 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256,
          value_parser = power_of_two(kernel::FEWEST_THREADS, kernel::MOST_THREADS))]
    pub block: u32,
}

/// The reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Operation {
    /// Their sum; of integers, modulo 2^32.
    Sum,
    /// Their product; of integers, modulo 2^32.
    Product,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// The type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    /// float32
    F32,
    /// int32
    I32,
}

/// One of the six steps, or the best kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// 1 to 6.
    Numbered(u8),
    Best,
}

impl Step {
    /// How often a sum is rounded on the way of a value, at most, where `launch` is that of the best kernel.
    fn roundings(self, size: usize, block: u32, launch: &LaunchConfig) -> u64 {
        let tree = u64::from(block.ilog2()) + 1;
        match self {
            // A tree in each pass, of which the last leaves less than a block.
            Self::Numbered(_) => {
                let passes = std::iter::successors(Some(size), |left| Some(left.div_ceil(block as usize)));
                tree * passes.skip(1).take_while(|&left| left >= block as usize).count() as u64 + tree + 1
            }
            // Each thread's values, a tree, the blocks' results, and a tree.
            Self::Best => {
                let tree = u64::from(launch.block[0].ilog2()) + 1;
                blocks::numbers_of_a_thread(size, launch.grid[0]) + 2 * tree + u64::from(launch.grid[0])
            }
        }
    }
}

impl Operation {
    fn name(self) -> &'static str {
        ["sum", "product", "min", "max"][self as usize]
    }
}

/// The values of one type: those to add up and compare, and those to multiply.
struct Values<T> {
    values: Vec<T>,
    factors: Vec<T>,
}

/// The lab: values of each requested type.
pub struct Reduce {
    options: Options,
    size: usize,
    f32: Option<Values<f32>>,
    i32: Option<Values<i32>>,
}

/// What lies on a device.
pub struct Data {
    f32: Option<OnDevice<f32>>,
    i32: Option<OnDevice<i32>>,
}

/// The values of one type on a device.
pub struct OnDevice<T> {
    values: Buffer<T>,
    factors: Buffer<T>,
    /// Partial results: each pass reads one and writes the other.
    partials: [Buffer<T>; 2],
    /// How many partial results the last launch left, and where.
    left: (usize, usize),
    /// Where the blocks of the best kernel leave their results; empty between launches.
    slots: Buffer<u64>,
}

impl Lab for Reduce {
    const NAME: &'static str = "reduce";
    const ABOUT: &'static str = "A sum in six steps: idle lanes, bank conflicts, barriers, shuffles";
    const SUBJECTS: &'static [Subject] =
        &[Subject::ActiveLanes, Subject::BankConflicts, Subject::Instructions, Subject::GlobalRequests];
    const PEERS: &'static [Peer] = &[Peer::Library];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let options = Options { operation: each_once(options.operation), types: each_once(options.types), ..options };
        let types = &options.types;
        if let (Some(_), [_, _, ..]) = (&options.input, types.as_slice()) {
            return Err(Error::flag("--type", "a file holds values of one type; choose one"));
        }
        let has = |ty| types.contains(&ty);
        let f32 = has(Type::F32).then(|| values::<f32>(device, &options, &mut random)).transpose()?;
        let i32 = has(Type::I32).then(|| values::<i32>(device, &options, &mut random)).transpose()?;
        let size = f32.as_ref().map_or_else(|| i32.as_ref().map_or(0, |of| of.values.len()), |of| of.values.len());
        Ok(Self { options, size, f32, i32 })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.size, "block": self.options.block, "input": named(self.options.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let data = Data {
            f32: self.f32.as_ref().map(|values| self.on_device(device, values)).transpose()?,
            i32: self.i32.as_ref().map(|values| self.on_device(device, values)).transpose()?,
        };
        let Options { reduce1, reduce2, reduce3, reduce4, reduce5, reduce6, best, .. } = self.options;
        let named = [reduce1, reduce2, reduce3, reduce4, reduce5, reduce6];
        let numbered = (1..).zip(named).map(|(step, named)| (Step::Numbered(step), named));
        let steps = chosen(&numbered.chain([(Step::Best, best)]).collect::<Vec<_>>());
        let launch = best_launch(self.size, device);
        let mut variants = Vec::new();
        for ty in &self.options.types {
            for &operation in &self.options.operation {
                for &step in &steps {
                    variants.push(match (ty, &self.f32, &self.i32) {
                        (Type::F32, Some(values), _) => {
                            self.variant(values, step, operation, launch, |data: &mut Data| data.f32.as_mut())
                        }
                        (Type::I32, _, Some(values)) => {
                            self.variant(values, step, operation, launch, |data: &mut Data| data.i32.as_mut())
                        }
                        _ => continue,
                    });
                }
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        self.rows_of(peers)
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        if let Some(data) = &mut data.f32 {
            data.partials.iter_mut().try_for_each(Buffer::poison)?;
        }
        if let Some(data) = &mut data.i32 {
            data.partials.iter_mut().try_for_each(Buffer::poison)?;
        }
        Ok(())
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let find = |step: &str| report.variants.iter().find(|variant| variant.fact("step") == Some(&step.into()));
        let counted = |step: &str| find(step)?.counters;
        let lanes = || {
            let of = |step| counted(step)?.active_lanes_per_instruction().map(three_digits);
            let conflicts = |step| {
                let shared = counted(step)?.shared;
                Some(shared.load.bank_conflicts + shared.store.bank_conflicts)
            };
            Some(format!(
                "reduce2 has {} active lanes in a warp instruction, reduce1 {}; reduce3 has {} bank conflicts, reduce2 {}.",
                of("reduce2")?,
                of("reduce1")?,
                conflicts("reduce3")?,
                conflicts("reduce2")?
            ))
        };
        let instructions = || {
            let of = |step| Some(counted(step)?.instructions_executed as f64);
            Some(format!(
                "reduce6 executes {} of the instructions of reduce1, the best kernel {}.",
                crate::units::percent(of("reduce6")? / of("reduce1")? * 100.0),
                crate::units::percent(of("best")? / of("reduce1")? * 100.0)
            ))
        };
        let time = || {
            let speedup = |step| find(step)?.speedup.map(three_digits);
            Some(format!(
                "Against reduce1, reduce2 to reduce6 are {}, {}, {}, {} and {} times as fast (the lab sheet measured 1.60, 1.80, 2.10 and \
                 2.20 for the first four), the best kernel {} times.",
                speedup("reduce2")?,
                speedup("reduce3")?,
                speedup("reduce4")?,
                speedup("reduce5")?,
                speedup("reduce6")?,
                speedup("best")?
            ))
        };
        [time(), lanes(), instructions()].into_iter().flatten().collect()
    }
}

/// The launch of the best kernel.
fn best_launch(size: usize, device: &Device) -> LaunchConfig {
    best::launch(size, device.multiprocessors()).into()
}

/// The values of one type, from the file or at random.
fn values<T: Number>(device: &Device, options: &Options, random: &mut Random) -> Result<Values<T>> {
    if let Some(path) = &options.input {
        let values = npy::read::<T>(path, 1)?.data;
        ROOM.check::<T>(device, &[values.len() as u64])?;
        return Ok(Values { factors: values.clone(), values });
    }
    let size = options.size.unwrap_or_else(|| SIZE.on(device));
    ROOM.check::<T>(device, &[size])?;
    let size = size as usize;
    let multiplies = options.operation.contains(&Operation::Product);
    let factors = T::factors(random, if multiplies { size } else { 0 });
    Ok(Values { values: random.samples(size), factors })
}

impl<T> Values<T> {
    fn of(&self, operation: Operation) -> &[T] {
        if operation == Operation::Product { &self.factors } else { &self.values }
    }
}

impl Reduce {
    fn on_device<T: Number>(&self, device: &Device, values: &Values<T>) -> Result<OnDevice<T>> {
        let blocks = self.size.div_ceil(self.options.block as usize);
        let filled = |values: &[T]| {
            let mut buffer = device.buffer(values.len())?;
            buffer.write(values)?;
            Ok::<_, Error>(buffer)
        };
        let slots = slots(device, best_launch(self.size, device).grid[0] as usize)?;
        let partials = [device.buffer(blocks)?, device.buffer(blocks)?];
        let (values, factors) = (filled(&values.values)?, filled(&values.factors)?);
        Ok(OnDevice { values, factors, partials, left: (0, 0), slots })
    }

    fn variant<'a, T: Number>(
        &'a self,
        values: &'a Values<T>,
        step: Step,
        operation: Operation,
        launch: LaunchConfig,
        of: impl Fn(&mut Data) -> Option<&mut OnDevice<T>> + Copy + 'a,
    ) -> Variant<'a, Data> {
        let block = self.options.block;
        let what = format!("{} of {}", operation.name(), T::TYPE);
        let step_name = match step {
            Step::Numbered(number) => format!("reduce{number}"),
            Step::Best => "best".to_owned(),
        };
        Variant::new(
            format!("{step_name}-{}-{}", operation.name(), T::TYPE),
            move |data: &mut Data, launcher| match of(data) {
                Some(data) => match step {
                    Step::Numbered(number) => data.reduce(launcher, number, operation, self.size, block),
                    Step::Best => data.reduce_best(launcher, operation, self.size, &launch),
                },
                None => Ok(()),
            },
            move |data| match of(data) {
                Some(data) => data.outcome(operation, values, step.roundings(self.size, block, &launch)),
                None => Ok(Outcome::unchecked(Shape::Scalar, vec![T::zeroed()])),
            },
        )
        .group(&what)
        .axis("step", step_name)
        .axis("operation", operation.name())
        .axis("type", T::TYPE)
        // The steps have several launches, each smaller than the one before.
        .fact("grid", (step == Step::Best).then(|| json!(launch.grid)))
        .bytes((self.size * size_of::<T>()) as u64)
        .computes(format!("the {what}"), size_of::<T>() as u64)
    }
}

impl<T: Number> OnDevice<T> {
    /// Whether what the last launch left is right, if a sum is rounded so often on the way of a value.
    fn outcome(&self, operation: Operation, values: &Values<T>, roundings: u64) -> Result<Outcome> {
        let (place, count) = self.left;
        let partials = self.partials[place].read()?;
        let found = T::finish(operation, &partials[..count]);
        Ok(T::judge(operation, values.of(operation), found, roundings))
    }

    /// Launches the best kernel, which leaves one value.
    fn reduce_best(
        &mut self,
        launcher: &mut Launcher<'_>,
        operation: Operation,
        size: usize,
        launch: &LaunchConfig,
    ) -> Result<()> {
        let values = if operation == Operation::Product { &self.factors } else { &self.values };
        let [result, _] = &mut self.partials;
        self.left = (0, 1);
        if best::is_small(size) {
            let kernel = T::SMALL[operation as usize];
            // SAFETY: there are `size` values, and room for the result.
            return unsafe { launcher.launch_unchecked(kernel, launch, (values, size as u32, result)) };
        }
        let arguments = (values, size, result, &mut self.slots);
        // SAFETY: the same, and the slots are those of the grid, all 0.
        unsafe { launcher.launch_unchecked(T::BEST[operation as usize], launch, arguments) }
    }

    /// Launches a step until fewer values are left than a block has threads.
    fn reduce(
        &mut self,
        launcher: &mut Launcher<'_>,
        number: u8,
        operation: Operation,
        size: usize,
        block: u32,
    ) -> Result<()> {
        let values = if operation == Operation::Product { &self.factors } else { &self.values };
        let [first, second] = &mut self.partials;
        let kernel = T::STEPS[usize::from(number) - 1][operation as usize];
        // From the fourth step on, a block takes two blocks' values.
        let per_thread = if number < 4 { 1 } else { 2 };
        let launch = |count: usize| LaunchConfig::linear(count.div_ceil(per_thread), block);
        let mut config = launch(size);
        // SAFETY: a block has a power of two of threads, from 64 to 1024, as `--block` allows.
        unsafe { launcher.launch_unchecked(kernel, &config, (values, &mut *first))? };
        let mut left = (0, config.grid[0] as usize);
        while left.1 >= block as usize {
            config = launch(left.1);
            let (from, to) = match left.0 {
                0 => (first.first(left.1), &mut *second),
                _ => (second.first(left.1), &mut *first),
            };
            // SAFETY: the same.
            unsafe { launcher.launch_unchecked(kernel, &config, (from, to))? };
            left = (1 - left.0, config.grid[0] as usize);
        }
        self.left = left;
        Ok(())
    }
}
