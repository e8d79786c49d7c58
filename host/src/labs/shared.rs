//! The lab `shared`: static and dynamic shared memory, and its effect on occupancy. The kernels and
//! what they show are in `kernels::shared`.

mod table;

use std::collections::BTreeSet;

use crate::flag_values::each_once;
use common::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Result};
use kernels::shared as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{CHUNK, CONCLUSIONS, Chunks, FIRST, KILOBYTES, MEANINGS, NEEDS, SHOWCASE, SIMULATED, SIZE};

use super::compare::Shape;
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::launcher::Preferences;
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// The lab: a vector to reverse chunk by chunk.
pub struct Shared {
    options: Options,
    elements: Vec<f32>,
}

/// The data on the device, or on the model that replaces the plain simulator.
pub struct Data {
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl Lab for Shared {
    const NAME: &'static str = "shared";
    const ABOUT: &'static str = "Shared memory against occupancy, up to the most that a block can have";
    const SUBJECTS: &'static [Subject] = &[Subject::Occupancy];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        let most = most_kilobytes(device);
        if let Some(kilobytes) = options.kilobytes.iter().find(|&&kilobytes| kilobytes > most) {
            let name = &device.properties().name;
            let problem = format!("{kilobytes} are more than a block can have on {name}: {most}");
            return Err(Error::request("--kilobytes", problem));
        }
        let options = Options { kilobytes: each_once(options.kilobytes), ..options };
        Ok(Self { options, elements })
    }

    fn parameters(&self) -> Value {
        let Options { block, vector, .. } = &self.options;
        json!({"size": self.elements.len(), "block": block, "input": named(vector.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let stand_in = stand_in(device, MODEL)?;
        let on = stand_in.as_ref().unwrap_or(device);
        let size = self.elements.len();
        let mut data = Data { input: on.buffer(size)?, output: on.buffer(size)? };
        data.input.write(&self.elements)?;
        let Options { all, ref kilobytes, .. } = self.options;
        let most = most_kilobytes(on);
        let sizes: Vec<u32> = match kilobytes.as_slice() {
            [] => {
                let usual = KILOBYTES.into_iter().filter(|&(_, extra)| all || !extra).map(|(kilobytes, _)| kilobytes);
                let simulated = SIMULATED.into_iter().filter(|_| !device.properties().is_gpu());
                let fit: BTreeSet<u32> = usual.chain(simulated).filter(|&kilobytes| kilobytes <= most).collect();
                fit.into_iter().collect()
            }
            sizes => sizes.to_vec(),
        };
        let mut variants = Vec::new();
        for chunks in self.options.variants.chosen() {
            match chunks.of {
                Chunks::Static => variants.push(self.variant("static-16", None, Preferences::default())),
                Chunks::Dynamic => variants.extend(sizes.iter().map(|&kilobytes| {
                    self.variant(&format!("dynamic-{kilobytes}"), Some(kilobytes), Preferences::default())
                })),
                Chunks::Carveouts => variants.extend([0, 25, 50, 75, 100].map(|carveout| {
                    let preferences = Preferences { carveout: Some(carveout), ..Preferences::default() };
                    self.variant(&format!("carveout-{carveout}"), Some(CARVED), preferences).axis("carveout", carveout)
                })),
            }
        }
        if let Some(model) = stand_in {
            variants = variants.into_iter().map(|variant| variant.axis("model", MODEL).on(model.clone())).collect();
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.output.poison()
    }
}

/// The size in kilobytes of the chunks for each carveout.
const CARVED: u32 = 16;

/// The model that replaces the plain simulator, which has no occupancy.
const MODEL: &str = "hopper";

/// The maximum shared memory of a block.
fn most_kilobytes(device: &Device) -> u32 {
    (device.properties().shared_per_block_opt_in >> 10) as u32
}

impl Shared {
    /// Reverses in dynamic chunks of this many kilobytes, or in static ones.
    fn variant(&self, name: &str, kilobytes: Option<u32>, preferences: Preferences) -> Variant<'_, Data> {
        let chunks = name.split('-').next().unwrap_or_default();
        let size = self.elements.len();
        let chunk = kilobytes.map_or(kernel::STATIC_CHUNK, |kilobytes| kilobytes << 8);
        let grid = size.div_ceil(chunk as usize) as u32;
        let launch = LaunchConfig {
            dynamic_shared: kilobytes.unwrap_or(0) << 10,
            ..LaunchConfig::new([grid, 1, 1], [self.options.block, 1, 1])
        };
        let bytes = size_of_val(self.elements.as_slice()) as u64;
        Variant::new(
            name,
            move |data: &mut Data, launcher| match kilobytes {
                None => launcher.launch(&kernel::shared_static, &launch, (&data.input, &mut data.output)),
                Some(_) => launcher.launch(&kernel::shared_dynamic, &launch, (&data.input, &mut data.output)),
            },
            move |data| {
                let chunk = chunk as usize;
                Ok(Outcome::exact(Shape::Vector(size), data.output.read()?, |_, i| {
                    let first = i / chunk * chunk;
                    let last = (first + chunk).min(size) - 1;
                    self.elements[first + last - i]
                }))
            },
        )
        .axis(CHUNK.key, kilobytes.unwrap_or(kernel::STATIC_CHUNK >> 8))
        .fact("chunks", chunks)
        .fact("grid", json!(launch.grid))
        .bytes(2 * bytes)
        .computes(format!("the chunks of {}", chunk * 4), bytes)
        .preferences(preferences)
    }
}
