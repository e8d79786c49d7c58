//! The lab `shared`: static and dynamic shared memory, and its effect on occupancy. The kernels and what they show are in
//! `kernels::shared`. Listed in [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use clap::Args;
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, LoadCaching, Model, Result};
use kernels::shared as kernel;
use serde_json::{Value, json};

use super::compare::Shape;
use super::inputs::{DefaultSize, Room, VectorFlags, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::launcher::Preferences;
use super::settings::Settings;
use crate::report::{LabReport, Subject, VariantReport};
use crate::units::{as_fast, percent};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 27, on_simulator: 1 << 17 };

/// The input and the output on the device; the input and a result on the host.
const ROOM: Room = Room { what: "reversing the chunks of a vector", on_device: 2, on_host: 2 };

/// Default sizes of a block's shared memory in kilobytes; those that the device does not have are omitted.
const KILOBYTES: [u32; 10] = [1, 4, 8, 16, 32, 48, 64, 96, 160, 227];

/// The flags of `host shared`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Chunks whose size is known to the compiler
    #[arg(long = "static", help_heading = "Variants (default: all)")]
    pub fixed: bool,
    /// Chunks whose size is given at launch
    #[arg(long, help_heading = "Variants (default: all)")]
    pub dynamic: bool,
    /// A dynamic chunk, with each carveout
    #[arg(long, help_heading = "Variants (default: all)")]
    pub carveouts: bool,

    /// Kilobytes of dynamic chunks, separated by commas [default: 1 to what the device allows a block]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, 1024u32))]
    pub kilobytes: Vec<u32>,
    /// The vector.
    #[command(flatten)]
    pub vector: VectorFlags,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Static,
    Dynamic,
    Carveouts,
}

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
    const ABOUT: &'static str = "Shared memory against occupancy: up to all that a block can have";
    const SUBJECTS: &'static [Subject] = &[Subject::SharedLoads, Subject::SharedStores, Subject::Instructions];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, ROOM, &mut Random::new(settings.seed))?;
        let most = most_kilobytes(device);
        if let Some(kilobytes) = options.kilobytes.iter().find(|&&kilobytes| kilobytes > most) {
            let name = &device.properties().name;
            let problem = format!("{kilobytes} are more than a block can have on {name}: {most}");
            return Err(Error::flag("--kilobytes", problem));
        }
        let options = Options { kilobytes: each_once(options.kilobytes), ..options };
        Ok(Self { options, elements })
    }

    fn parameters(&self) -> Value {
        let Options { block, vector, .. } = &self.options;
        json!({"size": self.elements.len(), "block": block, "input": named(vector.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let stand_in = stand_in(device)?;
        let on = stand_in.as_ref().unwrap_or(device);
        let size = self.elements.len();
        let mut data = Data { input: on.buffer(size)?, output: on.buffer(size)? };
        data.input.write(&self.elements)?;
        let Options { fixed, dynamic, carveouts, ref kilobytes, .. } = self.options;
        let parts = chosen(&[(Part::Static, fixed), (Part::Dynamic, dynamic), (Part::Carveouts, carveouts)]);
        let most = most_kilobytes(on);
        let sizes: Vec<u32> = match kilobytes.as_slice() {
            [] => KILOBYTES.into_iter().filter(|&kilobytes| kilobytes <= most).collect(),
            sizes => sizes.to_vec(),
        };
        let mut variants = Vec::new();
        for part in parts {
            match part {
                Part::Static => variants.push(self.variant("static-16", None, Preferences::default())),
                Part::Dynamic => variants.extend(sizes.iter().map(|&kilobytes| {
                    self.variant(&format!("dynamic-{kilobytes}"), Some(kilobytes), Preferences::default())
                })),
                Part::Carveouts => variants.extend([0, 25, 50, 75, 100].map(|carveout| {
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

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let occupancy = |variant: &VariantReport| match variant.occupancy {
            Some(occupancy) => Some(occupancy.percent),
            None => Some(variant.counters?.occupancy?.percent()),
        };
        let kilobytes = |variant: &VariantReport| variant.fact("kilobytes")?.as_u64();
        let dynamic = || report.variants.iter().filter(|variant| variant.name.starts_with("dynamic"));
        let occupied = || {
            let (least, most) = (dynamic().min_by_key(|it| kilobytes(it))?, dynamic().max_by_key(|it| kilobytes(it))?);
            if kilobytes(least) == kilobytes(most) {
                return None;
            }
            Some(format!(
                "With {} KB of shared memory a block the occupancy is {}, with {} KB it is {}.",
                kilobytes(least)?,
                percent(occupancy(least)?),
                kilobytes(most)?,
                percent(occupancy(most)?)
            ))
        };
        let same = || {
            let (fixed, dynamic) = (report.counters("static-16")?, report.counters("dynamic-16")?);
            let same = fixed.shared == dynamic.shared && fixed.global == dynamic.global;
            Some(format!(
                "Static and dynamic shared memory of the same size make {} accesses.",
                if same { "the same" } else { "different" }
            ))
        };
        let time = || {
            let ratio = report.speedup("static-16", "dynamic-16")?;
            Some(format!("Static shared memory is {} as dynamic of the same size.", as_fast(ratio)))
        };
        [time(), occupied(), same()].into_iter().flatten().collect()
    }
}

/// The size in kilobytes of the chunks for each carveout.
const CARVED: u32 = 16;

/// The model that replaces the plain simulator, which has no occupancy.
const MODEL: &str = "hopper";

fn stand_in(device: &Device) -> Result<Option<Device>> {
    let properties = device.properties();
    match Model::named(MODEL).filter(|_| !properties.is_gpu() && properties.simulates.is_none()) {
        Some(model) => Ok(Some(device.as_model(model, LoadCaching::Default)?)),
        None => Ok(None),
    }
}

/// The maximum shared memory of a block.
fn most_kilobytes(device: &Device) -> u32 {
    (device.properties().shared_per_block_opt_in >> 10) as u32
}

impl Shared {
    /// Reverses in dynamic chunks of this many kilobytes, or in static ones.
    fn variant(&self, name: &str, kilobytes: Option<u32>, preferences: Preferences) -> Variant<'_, Data> {
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
        .axis("kilobytes", kilobytes.unwrap_or(kernel::STATIC_CHUNK >> 8))
        .fact("grid", json!(launch.grid))
        .bytes(2 * bytes)
        .computes(format!("the chunks of {}", chunk * 4), bytes)
        .preferences(preferences)
    }
}
