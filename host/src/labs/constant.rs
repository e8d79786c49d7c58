//! Constant memory against global memory. The kernels and what they show are in
//! `kernels::constant`. It sets the module's constant before it launches.

mod table;

use std::path::Path;

use common::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Result, Variable};
use kernels::constant::{self as kernel, DEGREE, ENTRIES};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, Memory, NEEDS, SHOWCASE, SIZE, Task};

use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject, Tolerance};

/// The lab: its input and the constants.
pub struct Constant {
    options: Options,
    x: Vec<f32>,
    bytes: Vec<u8>,
    coefficients: [f32; DEGREE + 1],
    gamma: [f32; 2],
    table: [f32; ENTRIES],
    predicts: bool,
}

/// The data on a device.
pub struct Data {
    x: Buffer<f32>,
    bytes: Buffer<u8>,
    output: Buffer<f32>,
    in_global: [Buffer<f32>; 3],
    coefficients: Variable<[f32; DEGREE + 1]>,
    gamma: Variable<[f32; 2]>,
    table: Variable<[f32; ENTRIES]>,
}

impl Lab for Constant {
    const NAME: &'static str = "constant";
    const ABOUT: &'static str = "Constant memory: one address for all lanes is fast, 32 addresses are not";
    const SUBJECTS: &'static [Subject] =
        &[Subject::ConstantTotals, Subject::GlobalLoadTotals, Subject::GlobalLoadRequests, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Task>(), meanings::<Memory>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let mut x: Vec<f32> = options.x.vector(device, SIZE, NEEDS, &mut random)?;
        // The power needs numbers that are not negative, the polynomial small ones.
        match &options.x.input {
            Some(path) => check_range(path, &x)?,
            None => x.iter_mut().for_each(|x| *x = x.abs()),
        }
        let bytes = random.samples(x.len());
        let coefficients = std::array::from_fn(|_| random.next_f32());
        let table = std::array::from_fn(|_| random.next_f32());
        Ok(Self { options, x, bytes, coefficients, gamma: [0.95, 1.0 / 2.2], table, predicts: settings.predicts() })
    }

    fn parameters(&self) -> Value {
        let Options { block, x, .. } = &self.options;
        json!({"size": self.x.len(), "block": block, "input": named(x.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        self.options.tasks.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let filled = |elements: &[f32]| {
            let mut buffer = device.buffer(elements.len())?;
            buffer.write(elements)?;
            Ok::<_, Error>(buffer)
        };
        let mut data = Data {
            x: filled(&self.x)?,
            bytes: device.buffer(self.bytes.len())?,
            output: device.buffer(self.x.len())?,
            in_global: [filled(&self.coefficients)?, filled(&self.gamma)?, filled(&self.table)?],
            coefficients: device.variable(&kernel::CONSTANT_POLYNOMIAL)?,
            gamma: device.variable(&kernel::CONSTANT_GAMMA)?,
            table: device.variable(&kernel::CONSTANT_TABLE)?,
        };
        data.bytes.write(&self.bytes)?;
        let mut variants = Vec::new();
        for task in self.options.tasks.chosen_where(device.properties().is_gpu() || self.predicts) {
            match task.of {
                Task::Set => variants.extend([self.set(false), self.set(true)]),
                _ => {
                    variants.extend(self.options.memories.chosen().into_iter().map(|memory| self.variant(task, memory)))
                }
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.coefficients.write(&self.coefficients)?;
        data.gamma.write(&self.gamma)?;
        data.table.write(&self.table)?;
        data.output.poison()
    }
}

/// Fails unless all of a file's numbers are valid inputs.
fn check_range(path: &Path, x: &[f32]) -> Result<()> {
    match x.iter().enumerate().find(|(_, x)| !(0.0..=1.0).contains(*x)) {
        Some((index, x)) => {
            Err(Error::file(path, format!("element {index} is {x}; the lab takes numbers from 0 to 1")))
        }
        None => Ok(()),
    }
}

impl Constant {
    fn variant(&self, task: &VariantSpec<Task>, memory: &VariantSpec<Memory>) -> Variant<'_, Data> {
        let size = self.x.len();
        let launch = LaunchConfig::linear(size, self.options.block);
        let (name, memory, of, global) = (task.name, memory.name, task.of, memory.of == Memory::Global);
        let read = if of == Task::Lookup { 1 } else { 4 };
        Variant::new(
            format!("{name}-{memory}"),
            move |data: &mut Data, launcher| {
                let Data { x, bytes, output, in_global: [coefficients, gamma, table], .. } = data;
                let (x, bytes) = (&*x, &*bytes);
                match (of, global) {
                    (Task::Polynomial, false) => launcher.launch(&kernel::constant_polynomial, &launch, (x, output)),
                    (Task::Polynomial, true) => {
                        launcher.launch(&kernel::constant_polynomial_global, &launch, (x, output, &*coefficients))
                    }
                    (Task::Gamma, false) => launcher.launch(&kernel::constant_gamma, &launch, (x, output)),
                    (Task::Gamma, true) => {
                        launcher.launch(&kernel::constant_gamma_global, &launch, (x, output, &*gamma))
                    }
                    (_, false) => launcher.launch(&kernel::constant_lookup, &launch, (bytes, output)),
                    (_, true) => launcher.launch(&kernel::constant_lookup_global, &launch, (bytes, output, &*table)),
                }
            },
            move |data| Ok(self.outcome(of, data.output.read()?)),
        )
        .group(name)
        .axis("task", name)
        .axis("memory", memory)
        .fact("grid", json!(launch.grid))
        .bytes((size * (read + size_of::<f32>())) as u64)
        .computes(format!("the results of {name}"), (size * size_of::<f32>()) as u64)
    }

    fn outcome(&self, task: Task, found: Vec<f32>) -> Outcome {
        let shape = Shape::Vector(found.len());
        match task {
            // The same operations in the same order, each rounded as on the device.
            Task::Polynomial => Outcome::exact(shape, found, |_, i| kernel::polynomial(&self.coefficients, self.x[i])),
            Task::Gamma => {
                let [gain, exponent] = self.gamma.map(f64::from);
                // The power is exact to one unit in the last place, and the product is rounded.
                Outcome::near(shape, found, Tolerance::Roundings(3), |_, i| {
                    Reference::from(gain * f64::from(self.x[i]).powf(exponent))
                })
            }
            Task::Lookup | Task::Set => Outcome::exact(shape, found, |_, i| self.table[usize::from(self.bytes[i])]),
        }
    }

    /// Sets the table to other values and reads it back.
    fn set(&self, on_stream: bool) -> Variant<'_, Data> {
        let reversed = {
            let mut table = self.table;
            table.reverse();
            table
        };
        let name = if on_stream { "set-on-stream" } else { "set" };
        Variant::new(
            name,
            move |data: &mut Data, _launcher| match on_stream {
                false => data.table.write(&reversed),
                true => data.table.write_on_stream(&reversed),
            },
            move |data| {
                let found = data.table.read()?.to_vec();
                Ok(Outcome::exact(Shape::Vector(ENTRIES), found, |_, i| reversed[i]))
            },
        )
        .group("set")
        .axis("task", name)
        .bytes(size_of_val(&reversed) as u64)
        .computes("the constants", size_of_val(&reversed) as u64)
    }
}
