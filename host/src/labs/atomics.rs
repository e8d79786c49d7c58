//! Histograms by atomic operations. The kernels and what they show are in `kernels::atomics`.

mod table;

use common::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::atomics::{self as kernel, BINS, BLOCK};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, EACH, FIRST, Kind, Method, NEEDS, SHOWCASE, SIZE};

use super::compare::Shape;
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: vectors of values, each with its name and its histogram.
pub struct Atomics {
    options: Options,
    /// Values of a thread.
    each: u32,
    inputs: Vec<Input>,
}

/// Values to count.
struct Input {
    name: &'static str,
    values: Vec<u8>,
    histogram: Vec<u32>,
}

/// The data on a device: the values of each input, and the counters, which are 0 before a launch.
pub struct Data {
    values: Vec<Buffer<u8>>,
    counts: Buffer<u32>,
}

impl Lab for Atomics {
    const NAME: &'static str = "atomics";
    const ABOUT: &'static str = "Atomic operations: counters shared by all threads, and private ones";
    const SUBJECTS: &'static [Subject] =
        &[Subject::Contention, Subject::Atomics, Subject::GlobalLoadRequests, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE), ("each", EACH)];
    const SHOWCASE: Showcase = SHOWCASE;
    const COUNTS_WORDS: bool = true;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Method>(), meanings::<Kind>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let values: Vec<u8> = options.values.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        if u32::try_from(values.len()).is_err() {
            let problem = format!("{} values are more than a counter of 32 bits can count", values.len());
            return Err(Error::request("--size", problem));
        }
        let inputs = match options.values.input {
            Some(_) if options.kinds.any() => {
                let problem = "the file has the values; leave out --spread, --skewed and --alike";
                return Err(Error::request("--input", problem));
            }
            Some(_) => vec![Input::new("file", values)],
            None => {
                let of = |kind: &VariantSpec<Kind>| Input::new(kind.name, kind.of.values(&values, options.distinct));
                options.kinds.chosen().into_iter().map(of).collect()
            }
        };
        let each = options.each.unwrap_or_else(|| EACH.on(device) as u32);
        Ok(Self { options, each, inputs })
    }

    fn parameters(&self) -> Value {
        let Options { values, distinct, .. } = &self.options;
        let distinct = values.input.is_none().then_some(distinct);
        json!({"size": self.size(), "distinct": distinct, "each": self.each, "input": named(values.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        self.options.methods.any() || self.options.kinds.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let mut data = Data { values: Vec::new(), counts: device.buffer(BINS)? };
        for Input { values, .. } in &self.inputs {
            let mut buffer = device.buffer(values.len())?;
            buffer.write(values)?;
            data.values.push(buffer);
        }
        let methods = self.options.methods.chosen();
        let of_input = |index| methods.iter().map(move |method| self.variant(method, index));
        let variants = (0..self.inputs.len()).flat_map(of_input).collect();
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.counts.write(&[0; BINS])
    }
}

impl Atomics {
    fn variant(&self, method: &VariantSpec<Method>, input: usize) -> Variant<'_, Data> {
        let Input { name, ref values, ref histogram } = self.inputs[input];
        let threads = values.len().div_ceil(self.each as usize);
        let launch = LaunchConfig::linear(threads, BLOCK);
        let of = method.of;
        let variant = Variant::new(
            format!("{}-{name}", method.name),
            move |data: &mut Data, launcher| {
                let arguments = (&data.values[input], &mut data.counts);
                match of {
                    Method::Global => launcher.launch(&kernel::atomics_global, &launch, arguments),
                    Method::Ballot => launcher.launch(&kernel::atomics_ballot, &launch, arguments),
                    Method::Match => launcher.launch(&kernel::atomics_match, &launch, arguments),
                    Method::Shared => launcher.launch(&kernel::atomics_shared, &launch, arguments),
                    Method::Warp => launcher.launch(&kernel::atomics_warp, &launch, arguments),
                }
            },
            move |data| Ok(Outcome::exact(Shape::Vector(BINS), data.counts.read()?, |_, bin| histogram[bin])),
        );
        variant
            .group(name)
            .axis("counted_in", method.name)
            .axis("values", name)
            .fact("grid", json!(launch.grid))
            .bytes(values.len() as u64)
            .computes(format!("the histogram of {name} values"), (BINS * size_of::<u32>()) as u64)
    }

    fn size(&self) -> usize {
        self.inputs.first().map_or(0, |input| input.values.len())
    }
}

impl Input {
    fn new(name: &'static str, values: Vec<u8>) -> Self {
        let mut histogram = vec![0; BINS];
        values.iter().for_each(|value| histogram[usize::from(*value)] += 1);
        Self { name, values, histogram }
    }
}

impl Kind {
    /// The values of this kind, made of random bytes.
    fn values(self, random: &[u8], distinct: u32) -> Vec<u8> {
        let value = |byte: &u8| match self {
            Self::Spread => (u32::from(*byte) * distinct / 256) as u8,
            Self::Skewed => byte.leading_zeros() as u8,
            Self::Alike => random[0],
        };
        random.iter().map(value).collect()
    }
}
