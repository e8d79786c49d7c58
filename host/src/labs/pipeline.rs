//! Tiles on their way while a block works: through registers, by `cp.async`, by the copy engine. The
//! kernels and what they show are in `kernels::pipeline` and `best_kernels::pipeline`; `method` has
//! the variants, `table` the rows, `on_device` the launches.

mod method;
mod on_device;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::random::Random;
use device::{ComputeCapability, Device, Error, Result};
use kernels::pipeline::RECORD;
use rayon::prelude::*;
use serde_json::{Value, json};

use method::{Method, TILE_BYTES};
use on_device::{Data, Walk};
pub use table::Options;
use table::{CONCLUSIONS, FIRST, MEANINGS, METHOD, NEEDS, SHOWCASE, SIZE, SWEEPS};

use super::compare::Shape;
use super::in_flight::{self, BYTES_IN_FLIGHT, KIB, NEEDED};
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::VariantSpec;
use crate::flag_values::each_once;
use crate::report::measures::GBPS;
use crate::report::{Best, Conclusion, FirstScreen, Grid, Meaning, Subject, Sweep};

/// The lab: records of samples of four channels. The last record ends with zeros.
pub struct Pipeline {
    options: Options,
    size: usize,
    samples: Vec<f32>,
    predicts: bool,
}

/// The model that replaces the plain simulator, which has no occupancy.
const MODEL: &str = "hopper";

/// Blocks on each multiprocessor. On the simulator at most four: each is to have several records.
const BLOCKS: [u32; 4] = [1, 2, 4, 8];

impl Lab for Pipeline {
    const NAME: &'static str = "pipeline";
    const ABOUT: &'static str = "Pipelines: stages that keep bytes in flight at low occupancy; cp.async, TMA";
    const SUBJECTS: &'static [Subject] = &[Subject::Instructions, Subject::SharedTotals, Subject::GlobalLoadTotals];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let Options { methods, stages, blocks, values } = options;
        let options = Options { methods, stages: each_once(stages), blocks: each_once(blocks), values };
        let properties = device.properties();
        for spec in options.methods.chosen().into_iter().filter(|_| options.methods.any()) {
            let (major, minor) = spec.of.since();
            if properties.compute_capability < (ComputeCapability { major, minor }) {
                let (name, has) = (&properties.name, properties.compute_capability);
                let problem = format!("it needs compute capability {major}.{minor}; {name} has {has}");
                return Err(Error::request(format!("--{}", spec.flag), problem));
            }
        }
        if !options.methods.chosen().iter().any(|spec| options.has(spec.of)) {
            return Err(Error::request("--stages", "no chosen variant has so many stages"));
        }
        let mut samples = options.values.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        let size = samples.len();
        samples.resize(size.next_multiple_of(TILE_BYTES / size_of::<f32>()), 0.0);
        Ok(Self { options, size, samples, predicts: settings.predicts() })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.size, "input": named(self.options.values.input.as_ref())})
    }

    fn chooses_rows(&self) -> bool {
        let Options { methods, stages, blocks, .. } = &self.options;
        methods.any() || !stages.is_empty() || !blocks.is_empty()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let stand_in = stand_in(device, MODEL)?;
        let on = stand_in.as_ref().unwrap_or(device);
        let all = if device.properties().is_gpu() { &BLOCKS[..] } else { &BLOCKS[..3] };
        let timed = device.properties().is_gpu() || self.predicts;
        let mut walks = Vec::new();
        for spec in self.options.methods.chosen().into_iter().filter(|spec| self.options.has(spec.of)) {
            let blocks = match (self.options.blocks.as_slice(), spec.of) {
                ([], method) if timed || method == Method::Load => all,
                ([], _) => &all[..1],
                (given, _) => given,
            };
            for &blocks in blocks {
                walks.extend(Walk::new(on, spec.of, blocks)?.map(|walk| (spec, blocks, walk)));
            }
        }
        if walks.is_empty() {
            let problem = "no chosen variant can have exactly so many blocks on a multiprocessor of";
            return Err(Error::request("--blocks", format!("{problem} {}", on.properties().name)));
        }
        let data = Data::new(on, &self.samples, walks.iter().map(|(.., walk)| walk.threads()).max().unwrap_or(0))?;
        let mut sums = BTreeMap::new();
        let variants = walks.into_iter().map(|(spec, blocks, walk)| {
            let expected = sums.entry(walk.blocks()).or_insert_with(|| Arc::new(sums_of(&self.samples, walk.blocks())));
            let variant = self.variant(spec, blocks, walk, Arc::clone(expected), on);
            match &stand_in {
                Some(model) => variant.axis("model", MODEL).on(model.clone()),
                None => variant,
            }
        });
        let plan = Plan::new(data, variants.collect());
        Ok(match device.properties().is_gpu() && self.options.blocks.len() != 1 {
            true => plan.compact().grid(Grid {
                title: "blocks of 256 threads on each multiprocessor".into(),
                rows: METHOD,
                columns: "blocks",
                group: String::new(),
                best: Best::OfAll,
                measures: &[&GBPS],
            }),
            false => plan,
        })
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.reset()
    }
}

impl Pipeline {
    fn variant(
        &self,
        spec: &VariantSpec<Method>,
        blocks: u32,
        walk: Walk,
        expected: Arc<Vec<f32>>,
        device: &Device,
    ) -> Variant<'_, Data> {
        let (method, threads) = (spec.of, walk.threads());
        let in_flight = blocks as usize * method.tiles_ahead() * TILE_BYTES;
        Variant::new(
            format!("{} x{blocks}", spec.name),
            move |data: &mut Data, launcher| data.launch(launcher, &walk),
            move |data| Ok(Outcome::exact(Shape::Vector(threads), data.sums(threads)?, |_, thread| expected[thread])),
        )
        .axis(METHOD, spec.name)
        .axis("blocks", blocks)
        .fact("KiB_in_flight", in_flight as f64 / KIB)
        .fact("KiB_of_stages", (method.tiles() * TILE_BYTES) >> 10)
        .fact(BYTES_IN_FLIGHT, in_flight)
        .fact(NEEDED, in_flight::model(device.properties()).and_then(|model| model.bytes_in_flight()))
        .bytes(size_of_val(self.samples.as_slice()) as u64)
        .computes(format!("the sums of {threads} threads"), (threads * size_of::<f32>()) as u64)
    }
}

/// What each thread of so many blocks adds up, in the order of the kernels.
fn sums_of(samples: &[f32], blocks: usize) -> Vec<f32> {
    let (threads, record) = (kernels::pipeline::BLOCK as usize, RECORD as usize);
    let mut sums = vec![0.0; blocks * threads];
    sums.par_chunks_mut(threads).enumerate().for_each(|(block, sums)| {
        for samples in samples.chunks_exact(4 * record).skip(block).step_by(blocks) {
            for (thread, sum) in sums.iter_mut().enumerate() {
                let mut change = 0.0_f32;
                for i in [thread, thread + threads] {
                    let (next, this) = (4 * ((i + 1) % record), 4 * i);
                    (0..4).for_each(|channel| change += (samples[next + channel] - samples[this + channel]).abs());
                }
                *sum += change;
            }
        }
    });
    sums
}
