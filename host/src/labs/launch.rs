//! The lab `launch`: blocks, grids, words and independent loads, and which of them keep the memory
//! busy. The kernels and what they show are in `kernels::launch`.

mod word;

use clap::Args;
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, Device, LaunchConfig, Result};
use kernels::launch as kernel;
use picture::Scale;
use serde_json::{Value, json};

pub use word::Word;
use word::model;

use super::compare::Shape;
use super::inputs::{DefaultSize, MemoryNeeds, VectorFlags, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use crate::report::Gap::{Name, Of};
use crate::report::measures::{GBPS, LOAD_REQUESTS};
use crate::report::{
    Best, Better, Bound, Cell, Conclusion, Goal, Grid, Holds, Measure, Row, Rows, Section, Subject, Sweep, Target,
};
use crate::units;

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 14 };

/// The vector and its initial values on the device; both and a result on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "incrementing a vector", on_device: 2, on_host: 2 };

/// What the lab is about: the bytes that a full multiprocessor has requested at once.
const IN_FLIGHT: Measure = Measure::new(
    Section::Axis,
    "bytes_in_flight",
    &["bytes in flight on a multiprocessor"],
    Better::Higher,
    |variant| {
        let bytes = variant.fact("bytes_in_flight")?.as_u64()?;
        Some(Cell::new(bytes as f64, units::bytes(bytes)))
    },
)
.unit("bytes");

/// The threads that a full multiprocessor has at once.
const RESIDENT: Measure =
    Measure::new(Section::Axis, "resident_threads", &["threads on a multiprocessor"], Better::Higher, |variant| {
        let of = |fact| variant.fact(fact)?.as_u64();
        Some(Cell::count(of(IN_FLIGHT.key)?.checked_div(of("bytes_in_flight_of_a_thread")?)?))
    });

/// The flags of `host launch`.
///
/// The variants are all combinations.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Words to load, separated by commas: f32, f32x2 and f32x4, of 4, 8 and 16 bytes
    #[arg(
        long,
        value_enum,
        value_name = "WORD,...",
        value_delimiter = ',',
        default_value = "f32,f32x2,f32x4",
        hide_possible_values = true
    )]
    pub word: Vec<Word>,
    /// Independent loads per thread, separated by commas: 1, 2, 4, 8
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,8", value_parser = loads)]
    pub loads: Vec<u32>,
    /// Threads of a block, separated by commas [default: 64,256,1024 on a GPU, 256 on the simulator]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, 1024u32))]
    pub block: Vec<u32>,
    /// Blocks of the grid, separated by commas [default: as many as the vector needs; on a GPU also one for each multiprocessor]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, i32::MAX as u32))]
    pub grid: Vec<u32>,
    /// The vector.
    #[command(flatten)]
    pub vector: VectorFlags,
}

/// A number of independent loads for which there is a kernel.
fn loads(text: &str) -> std::result::Result<u32, String> {
    let number = text.parse().ok().filter(|number| [1, 2, 4, 8].contains(number));
    number.ok_or_else(|| "give 1, 2, 4 or 8".to_owned())
}

/// The lab: a vector to increment.
pub struct Launch {
    options: Options,
    elements: Vec<f32>,
}

/// The data on a device.
pub struct Data {
    input: Buffer<f32>,
    vector: Buffer<f32>,
}

const ONE: Row = Row::At(&[("word", "f32"), ("loads", "1"), ("block", "256")]);
const FOUR: Row = Row::At(&[("word", "f32"), ("loads", "4"), ("block", "256")]);
const WIDE: Row = Row::At(&[("word", "f32x4"), ("loads", "1"), ("block", "256")]);
// In blocks of the first size.
const FOUR_LOADS: Row = Row::At(&[("word", "f32"), ("loads", "4")]);
const WIDE_LOAD: Row = Row::At(&[("word", "f32x4"), ("loads", "1")]);

impl Lab for Launch {
    const NAME: &'static str = "launch";
    const ABOUT: &'static str = "Bytes in flight: words, independent loads, blocks and grids";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalRequests, Subject::GlobalLoads, Subject::Instructions];
    const CONCLUSIONS: &'static [Conclusion] = &[
        Conclusion::new(
            "With blocks of 256 threads, one load of 4 bytes at a time reaches {} GB/s, four independent ones {}, and one of 16 bytes {}: \
             what counts is bytes in flight.",
            &[Of(ONE, &GBPS), Of(FOUR, &GBPS), Of(WIDE, &GBPS)],
        )
        .holds(&[Holds::More(1, 0), Holds::More(2, 0)]),
        Conclusion::new("The best is {}, with {} GB/s.", &[Name(Row::Most(&[], &GBPS)), Of(Row::Most(&[], &GBPS), &GBPS)]),
        Conclusion::new(
            "Four loads of 4 bytes keep as much in flight as one of 16, with {} load requests instead of {}.",
            &[Of(FOUR_LOADS, &LOAD_REQUESTS), Of(WIDE_LOAD, &LOAD_REQUESTS)],
        )
        .holds(&[Holds::More(0, 1)]),
    ];
    const SWEEPS: &'static [Sweep] = &[Sweep {
        x: "loads",
        title: "independent loads of a thread",
        scale: Scale::Log,
        series: &["word"],
        rows: Rows::EachGroup,
        timed: (&GBPS, Scale::Linear),
        counted: (&[&IN_FLIGHT], Scale::Log),
    }];
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("size", "8192"), ("loads", "1,4"), ("block", "32")],
        access: "global load",
        goals: &[Goal {
            ask: "Choose a block with which a multiprocessor is full of threads.",
            row: Row::At(&[]),
            measure: &RESIDENT,
            unit: " threads at once",
            bound: Bound::AtLeast(Target::Of(|report| Some(f64::from(model(&report.device)?.limits.threads)))),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let elements = options.vector.vector(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        let Options { word, loads, block, grid, vector } = options;
        let (word, loads, block, grid) = (each_once(word), each_once(loads), each_once(block), each_once(grid));
        Ok(Self { options: Options { word, loads, block, grid, vector }, elements })
    }

    fn parameters(&self) -> Value {
        json!({"size": self.elements.len(), "input": named(self.options.vector.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.elements.len();
        let mut data = Data { input: device.buffer(size)?, vector: device.buffer(size)? };
        data.input.write(&self.elements)?;
        let Options { word, loads, block, grid, .. } = &self.options;
        // Without times, omit the variants that only differ in time.
        let on_gpu = device.properties().is_gpu();
        let timed = on_gpu || device.predicts_only();
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
                    None => format!("blocks of {block} threads, as many as the vector needs"),
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

impl Launch {
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
        let in_flight = match kernel.resident_threads(device, &launch, grid.is_some())? {
            Some(threads) => Value::from(threads * u64::from(loads) * word.bytes() as u64),
            None => Value::Null,
        };
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
        .fact("grid", json!(launch.grid))
        .fact("bytes_in_flight_of_a_thread", loads as usize * word.bytes())
        .axis(IN_FLIGHT.key, in_flight)
        .bytes(2 * bytes)
        .computes("the incremented vector", bytes))
    }
}
