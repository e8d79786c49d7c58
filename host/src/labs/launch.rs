//! The lab `launch`: blocks, grids, words and independent loads, and which of them keep the memory
//! busy. The kernels and what they show are in `kernels::launch`.

mod table;
mod word;

use crate::flag_values::each_once;
use common::random::Random;
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::launch as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, MEANINGS, NEEDS, SHOWCASE, SIZE, SWEEPS, THREADS};
pub use word::Word;

use super::compare::Shape;
use super::in_flight::{self, BYTES_IN_FLIGHT, IN_FLIGHT, NEEDED};
use super::inputs::{DefaultSize, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::measures::GBPS;
use crate::report::{Best, Conclusion, FirstScreen, Grid, Meaning, Subject, Sweep};

/// The lab: a vector to increment.
pub struct Launch {
    options: Options,
    elements: Vec<f32>,
    predicts: bool,
}

/// The data on a device.
pub struct Data {
    input: Buffer<f32>,
    vector: Buffer<f32>,
}

impl Lab for Launch {
    const NAME: &'static str = "launch";
    const ABOUT: &'static str = "Bytes in flight: wide words, independent loads, blocks";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalLoadTotals, Subject::GlobalLoadRequests, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || MEANINGS.to_vec();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        let Options { word, loads, block, grid, vector } = options;
        let (word, loads, block, grid) = (each_once(word), each_once(loads), each_once(block), each_once(grid));
        let options = Options { word, loads, block, grid, vector };
        Ok(Self { options, elements, predicts: settings.predicts() })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.elements.len(), "input": named(self.options.vector.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.elements.len();
        let mut data = Data { input: device.buffer(size)?, vector: device.buffer(size)? };
        data.input.write(&self.elements)?;
        let Options { word, loads, block, grid, .. } = &self.options;
        let none_given = word.is_empty() && loads.is_empty() && block.is_empty() && grid.is_empty();
        if none_given && !device.properties().is_gpu() {
            return self.one_block_each(device, data);
        }
        let word = if word.is_empty() { &Word::ALL[..] } else { word };
        let loads = if loads.is_empty() { &LOADS[..] } else { loads };
        // Without times, omit the variants that only differ in time.
        let on_gpu = device.properties().is_gpu();
        let timed = on_gpu || self.predicts;
        let blocks = match block.as_slice() {
            [] if timed => &[64, 256, 1024],
            [] => &[256][..],
            blocks => blocks,
        };
        let grids: Vec<Option<u32>> = match grid.as_slice() {
            [] if timed => vec![None, Some(device.multiprocessors())],
            [] => vec![None],
            grids => grids.iter().copied().map(Some).collect(),
        };
        let mut plan = Plan::new(data, Vec::new());
        for &block in blocks {
            for &grid in &grids {
                let group = match grid {
                    None if timed => format!("blocks of {block} threads, as many as the vector needs"),
                    None => format!("blocks of {block} threads"),
                    Some(blocks) => format!("{blocks} blocks of {block} threads"),
                };
                for &word in word {
                    for &loads in loads {
                        plan.variants.push(self.variant(device, word, loads, block, grid)?.group(&group));
                    }
                }
                plan = plan.grid(Grid {
                    title: group.clone(),
                    rows: "word",
                    columns: "loads",
                    group,
                    best: Best::OfAll,
                    measures: if on_gpu { &[&GBPS] } else { &[&IN_FLIGHT] },
                });
            }
        }
        Ok(if on_gpu { plan.compact() } else { plan })
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.input.copy_to(&mut data.vector)
    }
}

/// The numbers of independent loads for which there are kernels.
const LOADS: [u32; 4] = [1, 2, 4, 8];

impl Launch {
    /// One block on each multiprocessor: from the fewest bytes in flight to the most.
    fn one_block_each<'a>(&'a self, device: &Device, data: Data) -> Result<Plan<'a, Data>> {
        let wide = (Word::F32x4, 1);
        let mut each = Vec::new();
        let most = device.properties().max_threads_per_block;
        for block in [64, 256, 1024].into_iter().filter(|&block| block <= most) {
            let own = LOADS.map(|loads| (Word::F32, loads)).into_iter().chain([wide]);
            each.extend(own.map(|(word, loads)| (block, word, loads)));
        }
        each.sort_by_key(|(block, word, loads)| u64::from(block * loads) * word.bytes() as u64);
        let blocks = device.multiprocessors();
        let group = format!("one block on each of {blocks} multiprocessors");
        let variant = |(block, word, loads)| Ok(self.variant(device, word, loads, block, Some(blocks))?.group(&group));
        Ok(Plan::new(data, each.into_iter().map(variant).collect::<Result<_>>()?))
    }

    fn variant(
        &self,
        device: &Device,
        word: Word,
        loads: u32,
        block: u32,
        grid: Option<u32>,
    ) -> Result<Variant<'_, Data>> {
        let size = self.elements.len();
        let kernel = word.kernel(loads);
        let words = size.div_ceil(word.bytes() / size_of::<f32>());
        let mut launch = LaunchConfig::linear(words.div_ceil(loads as usize), block);
        // Elements that do not fill a word have threads of their own, at most three.
        launch.grid[0] = launch.grid[0].max(3_u32.div_ceil(block));
        let mut name = format!("{loads} x {}, {block} threads", word.name());
        if let Some(blocks) = grid {
            launch.grid[0] = blocks.max(3_u32.div_ceil(block));
            name += &format!(", {} blocks", launch.grid[0]);
        }
        let bytes = size_of_val(self.elements.as_slice()) as u64;
        let registers = word.registers(loads);
        let resident = kernel.resident_threads(device, &launch, registers, grid.is_some())?;
        let in_flight = resident.map(|threads| threads * u64::from(loads) * word.bytes() as u64);
        Ok(Variant::new(
            name,
            move |data: &mut Data, launcher| kernel.launch(launcher, &launch, &mut data.vector),
            move |data| {
                let found = data.vector.read()?;
                Ok(Outcome::exact(Shape::Vector(size), found, |_, i| self.elements[i] + kernel::INCREMENT))
            },
        )
        .axis("word", word.name())
        .axis("loads", loads)
        .axis("block", block)
        .axis("blocks", grid.map_or_else(|| json!("as needed"), |_| json!(launch.grid[0])))
        .fact("grid", json!(launch.grid))
        .fact(THREADS, format!("{block} threads"))
        .fact("bytes_in_flight_of_a_thread", loads as usize * word.bytes())
        .axis("registers_of_a_thread", (!device.properties().is_gpu()).then_some(registers))
        .axis("blocks_on_a_multiprocessor", resident.map(|threads| threads / u64::from(block)))
        .fact(BYTES_IN_FLIGHT, in_flight)
        .fact(NEEDED, in_flight::model(device.properties()).and_then(|model| model.bytes_in_flight()))
        .bytes(2 * bytes)
        .computes("the incremented vector", bytes))
    }
}
