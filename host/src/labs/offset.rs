//! The lab `offset`: reads and writes that start in the middle of a sector. The kernels and what
//! they show are in `kernels::offset`.

mod table;

use crate::flag_values::each_once;
use common::random::Random;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use device::{Buffer, Device, Error, LaunchConfig, POISON, Result};
use kernels::offset as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, NEEDS, SHOWCASE, SIZE, SWEEPS, Side};

use super::inputs::{DefaultSize, named, second_vector};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject, Sweep};

/// The kernels' parameters: A, B, C, offset.
type Parameters = (Slice<f32>, Slice<f32>, DisjointSlice<f32>, usize);

/// The lab: two vectors, their sum, and the offsets.
pub struct Offset {
    options: Options,
    a: Vec<f32>,
    b: Vec<f32>,
    offsets: Vec<usize>,
}

/// The data on a device.
pub struct Data {
    a: Buffer<f32>,
    b: Buffer<f32>,
    sums: Buffer<f32>,
}

impl Lab for Offset {
    const NAME: &'static str = "offset";
    const ABOUT: &'static str = "Misaligned vectors: a warp takes five sectors, not four";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Side>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let a: Vec<f32> = options.a.vector(device, SIZE, NEEDS, &mut random)?;
        let b =
            second_vector(options.input_b.as_deref(), a.len(), "A and B are added element by element", &mut random)?;
        let usual = if device.properties().is_gpu() { ON_GPU } else { ON_SIMULATOR };
        let offsets = offsets(&options.offset, options.all, settings.plot, usual, a.len())?;
        Ok(Self { options, a, b, offsets })
    }

    fn parameters(&self) -> Value {
        let Options { block, a, input_b, .. } = &self.options;
        json!({"size": self.a.len(), "block": block, "input": named(a.input.as_ref()), "input_b": named(input_b.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.a.len();
        let mut data = Data { a: device.buffer(size)?, b: device.buffer(size)?, sums: device.buffer(size)? };
        data.a.write(&self.a)?;
        data.b.write(&self.b)?;
        let sides = self.options.sides.chosen();
        let variants = sides.into_iter().flat_map(|side| self.offsets.iter().map(move |&k| self.variant(side, k)));
        Ok(Plan::new(data, variants.collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.sums.poison()
    }
}

impl Offset {
    fn variant(&self, &VariantSpec { name, of: side, .. }: &VariantSpec<Side>, offset: usize) -> Variant<'_, Data> {
        let size = self.a.len();
        let launch = LaunchConfig::linear(size, self.options.block);
        let (kernel, written): (&'static SafeKernel<Parameters>, _) = match side {
            Side::Read => (&kernel::offset_read, 0..size - offset),
            Side::Write => (&kernel::offset_write, offset..size),
        };
        let bytes = (written.len() * size_of::<f32>()) as u64;
        Variant::new(
            format!("{name}+{offset}"),
            move |data: &mut Data, launcher| {
                launcher.launch(kernel, &launch, (&data.a, &data.b, &mut data.sums, offset))
            },
            move |data| {
                let found = data.sums.read()?;
                Ok(Outcome::exact_part(found, written.clone(), |_, i| self.expected(side, offset, i)))
            },
        )
        .group(name)
        .axis("shifted", name)
        .axis("offset", offset)
        .fact("grid", json!(launch.grid))
        .bytes(3 * bytes)
        .computes(format!("the sums of {name}+{offset}"), bytes)
    }

    /// The expected element `index` of C: a sum, or poison where the kernel writes nothing.
    fn expected(&self, side: Side, offset: usize, index: usize) -> f32 {
        let from = match side {
            Side::Read => index.checked_add(offset),
            Side::Write => index.checked_sub(offset),
        };
        match from.and_then(|from| self.a.get(from).zip(self.b.get(from))) {
            Some((a, b)) => a + b,
            None => f32::from_le_bytes([POISON; 4]),
        }
    }
}

/// The default offsets.
const ON_GPU: &[usize] = &[0, 1, 8];
const ON_SIMULATOR: &[usize] = &[0, 1, 4, 8, 11, 32];

/// The offsets of the flag, all, those of a plot, or the default ones, for vectors of `size`
/// elements.
fn offsets(named: &[u64], all: bool, plot: bool, usual: &[usize], size: usize) -> Result<Vec<usize>> {
    if all {
        return Ok((0..=32).chain([128]).filter(|&offset| offset < size).collect());
    }
    if named.is_empty() && plot {
        return Ok((0..=32).filter(|&offset| offset < size).collect());
    }
    if named.is_empty() {
        return Ok(usual.iter().copied().filter(|&offset| offset < size).collect());
    }
    let check = |&offset: &u64| {
        usize::try_from(offset).ok().filter(|&offset| offset < size).ok_or_else(|| {
            Error::request(
                "--offset",
                format!("{offset} is not below the size of {size} elements; give a smaller offset"),
            )
        })
    };
    named.iter().map(check).collect::<Result<_>>().map(each_once)
}

#[cfg(test)]
mod tests;
