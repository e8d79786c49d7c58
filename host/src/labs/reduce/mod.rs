//! Reduction in six steps, and the last one. The kernels and what they show are in
//! `kernels::reduce`; `table` has the variants, `number` what differs between the types,
//! `on_device` the launches, `peer` CUB's rows.

mod number;
mod on_device;
mod peer;
mod table;
mod values;

use std::rc::Rc;

use crate::flag_values::each_once;
use best_kernels::reduce as best;
use common::random::Random;
use device::peers::Peers;
use device::{Buffer, Device, Error, LaunchConfig, Result};
use serde_json::{Value, json};

use number::Number;
use on_device::OnDevice;
pub use table::Options;
use table::{BLOCKS, CONCLUSIONS, FIRST, Operation, SHOWCASE, SWEEPS, Step, Type};
use values::{SIZE, Values, sizes, values};

use super::compare::Shape;
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::labs::launcher::config_of;
use crate::peers::Peer;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject, Sweep};

/// The lab: values of each requested type.
pub struct Reduce {
    options: Options,
    /// How many of the values each row reduces.
    sizes: Vec<usize>,
    f32: Option<Values<f32>>,
    i32: Option<Values<i32>>,
}

/// What lies on a device.
pub struct Data {
    f32: Option<OnDevice<f32>>,
    i32: Option<OnDevice<i32>>,
}

impl Lab for Reduce {
    const NAME: &'static str = "reduce";
    const ABOUT: &'static str = "A sum in six kernels: idle lanes, bank conflicts, barriers, shuffles";
    const SUBJECTS: &'static [Subject] =
        &[Subject::Instructions, Subject::ActiveLanes, Subject::BankConflicts, Subject::GlobalRequests];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Library];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Step>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let options = Options { operation: each_once(options.operation), types: each_once(options.types), ..options };
        let types = &options.types;
        if let (Some(_), [_, _, ..]) = (&options.input, types.as_slice()) {
            return Err(Error::request("--type", "a file holds values of one type; choose one"));
        }
        let has = |ty| types.contains(&ty);
        let runs = |spec: &&VariantSpec<Step>| {
            options.operation.iter().any(|&operation| types.iter().any(|&ty| spec.of.has(operation, ty)))
        };
        if !options.variants.chosen().iter().any(runs) {
            return Err(Error::request("--type", "--phased3 and --phased6 are sums of f32; choose another step"));
        }
        let sizes = sizes(device, &options, settings.plot);
        let f32 = has(Type::F32).then(|| values::<f32>(device, &options, &sizes, &mut random)).transpose()?;
        let i32 = has(Type::I32).then(|| values::<i32>(device, &options, &sizes, &mut random)).transpose()?;
        let read = f32.as_ref().map_or_else(|| i32.as_ref().map_or(0, |of| of.values.len()), |of| of.values.len());
        let sizes = match options.input {
            Some(_) => vec![read],
            // There was room for all of them.
            None => sizes.into_iter().map(|size| size as usize).collect(),
        };
        Ok(Self { options, sizes, f32, i32 })
    }

    fn parameters(&self) -> Value {
        let size = if let [only] = self.sizes.as_slice() { json!(only) } else { Value::Null };
        json!({"size": size, "block": self.options.block, "input": named(self.options.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let launches: Vec<_> = self.sizes.iter().map(|&size| best_launch(size, device)).collect();
        let most = self.sizes.iter().copied().max().unwrap_or(1);
        let steps = self.options.variants.chosen();
        let least = steps.iter().map(|step| step.of.block(self.options.block)).min().unwrap_or(self.options.block);
        let blocks = [most.div_ceil(least as usize), most_blocks(&launches)];
        let data = Data {
            f32: self.f32.as_ref().map(|values| OnDevice::new(device, values, blocks)).transpose()?,
            i32: self.i32.as_ref().map(|values| OnDevice::new(device, values, blocks)).transpose()?,
        };
        let mut variants = Vec::new();
        for ty in &self.options.types {
            for &operation in &self.options.operation {
                for (&size, &launch) in self.sizes.iter().zip(&launches) {
                    for step in steps.iter().filter(|step| step.of.has(operation, *ty)) {
                        let reduction = (size, operation, launch);
                        variants.push(match (ty, &self.f32, &self.i32) {
                            (Type::F32, Some(values), _) => {
                                self.variant(values, step, reduction, |data: &mut Data| data.f32.as_mut())
                            }
                            (Type::I32, _, Some(values)) => {
                                self.variant(values, step, reduction, |data: &mut Data| data.i32.as_mut())
                            }
                            _ => continue,
                        });
                    }
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
}

/// The launch of the best kernel.
fn best_launch(size: usize, device: &Device) -> LaunchConfig {
    config_of(best::launch(size, device.multiprocessors()))
}

fn most_blocks(launches: &[LaunchConfig]) -> usize {
    launches.iter().map(|launch| launch.grid[0] as usize).max().unwrap_or(1)
}

impl Reduce {
    /// A name of a row or a group, which has the size if there are several.
    fn named(&self, name: String, size: usize) -> String {
        if self.sizes.len() > 1 { format!("{name} of {size}") } else { name }
    }

    fn variant<'a, T: Number>(
        &'a self,
        values: &'a Values<T>,
        spec: &VariantSpec<Step>,
        (size, operation, launch): (usize, Operation, LaunchConfig),
        of: impl Fn(&mut Data) -> Option<&mut OnDevice<T>> + Copy + 'a,
    ) -> Variant<'a, Data> {
        let block = spec.of.block(self.options.block);
        let what = self.named(format!("{} of {}", operation.name(), T::TYPE), size);
        let (name, step) = (spec.name, spec.of);
        let variant = Variant::new(
            self.named(format!("{name}-{}-{}", operation.name(), T::TYPE), size),
            move |data: &mut Data, launcher| match of(data) {
                Some(data) => match step {
                    Step::Numbered(number) => data.reduce(launcher, number, operation, size, block),
                    Step::Phased(number) => data.reduce_phased(launcher, number, size),
                    Step::Best => data.reduce_best(launcher, operation, size, &launch),
                },
                None => Ok(()),
            },
            move |data| match of(data) {
                Some(data) => data.outcome(operation, values, size, step.roundings(size, block, &launch)),
                None => Ok(Outcome::unchecked(Shape::Scalar, vec![T::zeroed()])),
            },
        )
        .group(&what)
        .axis("step", name)
        .axis("operation", operation.name())
        .axis("type", T::TYPE)
        // The steps have several launches, each smaller than the one before.
        .fact(BLOCKS, step.blocks(size, block))
        .fact("grid", (step == Step::Best).then(|| json!(launch.grid)))
        .bytes((size * size_of::<T>()) as u64)
        .computes(format!("the {what}"), size_of::<T>() as u64);
        // One size is a parameter of all rows.
        let variant = if self.sizes.len() > 1 { variant.axis("size", size) } else { variant };
        if step == Step::Best { variant.one_of_several_kernels() } else { variant }
    }
}
