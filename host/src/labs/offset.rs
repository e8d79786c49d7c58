//! The lab `offset`: reads and writes that start in the middle of a sector. The kernels and what
//! they show are in `kernels::offset`.

use std::path::PathBuf;

use clap::Args;
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use device::flag_values::{each_once, whole_number};
use device::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, POISON, Result};
use kernels::offset as kernel;
use picture::Scale;
use serde_json::{Value, json};

use super::inputs::{DefaultSize, MemoryNeeds, VectorFlags, named, second_vector};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::settings::Settings;
use super::showcase::{Showcase, Slider};
use super::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Fact, Name, Of};
use crate::report::measures::{A_LOAD, A_LOAD_IN_UNITS, GBPS, LOADED_BYTES_USED, SPEEDUP};
use crate::report::{
    Better, Bound, Cell, Conclusion, Cost, Goal, Holds, LabReport, Measure, Row, Rows, Section, Subject, Sweep, Target,
    VariantReport,
};

const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 16 };

/// Three vectors on the device; A, B and one output at a time on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "adding vectors", on_device: 3, on_host: 3 };

/// The kernels' parameters: A, B, C, offset.
type Parameters = (Slice<f32>, Slice<f32>, DisjointSlice<f32>, usize);

/// Which side is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Both loads.
    Read,
    /// The store.
    Write,
}

impl Variants for Side {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("read", "Shift the reads: `C[i] = A[i+k] + B[i+k]`", Self::Read),
        variant("write", "Shift the writes: `C[i+k] = A[i] + B[i]`", Self::Write),
    ];
}

/// The flags of `host offset`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    sides: Chosen<Side>,
    /// The offsets k in elements, separated by commas [default: 0, 1 and 8, where below the size]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = whole_number(0, u64::MAX))]
    offset: Vec<u64>,
    /// All offsets from 0 to 32, and 128
    #[arg(long, conflicts_with = "offset")]
    all: bool,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    block: u32,
    // The vector A.
    #[command(flatten)]
    a: VectorFlags,
    /// Take the float32 vector in this NumPy file as B instead of a random one
    #[arg(long, value_name = "B.npy", requires = "input")]
    input_b: Option<PathBuf>,
}

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

const ALIGNED: Row = Row::At(&[("group", "read"), ("offset", "0")]);
const WORST: Row = Row::Most(&[("group", "read")], &A_LOAD);
const SLOWEST: Row = Row::Most(&[], &SLOWDOWN);

/// How many times as long as the first offset of its side.
const SLOWDOWN: Measure = Measure::new(SPEEDUP.section, "slowdown", &["slow-down"], Better::Lower, |variant| {
    variant.speedup.map(|speedup| Cell::number(1.0 / speedup))
});

/// What a shifted access takes, in sectors or in an older GPU's transactions.
const SHIFTED: [Measure; 2] = [
    Measure::new(Section::Counter, "shifted_sectors", &["sectors", "per request"], Better::Lower, |variant| {
        shifted(variant, "sectors")
    }),
    Measure::new(
        Section::Counter,
        "shifted_transactions",
        &["transactions", "per request"],
        Better::Lower,
        |variant| shifted(variant, "transactions"),
    ),
];

/// That, in the GPU's unit.
const SHIFTED_IN_UNITS: Measure =
    Measure::new(Section::Counter, "shifted_cost", &["shifted", "access"], Better::Lower, |variant| {
        cost(variant).map(|cost| Cell::new(cost.per_request, cost.to_string()))
    });

fn cost(variant: &VariantReport) -> Option<Cost> {
    let counters = variant.counters.as_ref()?;
    if variant.group == "write" { Cost::of_stores(counters) } else { Cost::of_loads(counters) }
}

fn shifted(variant: &VariantReport, unit: &str) -> Option<Cell> {
    cost(variant).filter(|cost| cost.unit == unit).map(|cost| Cell::number(cost.per_request))
}

/// Whether offset 0 is the first, and another one the slowest.
fn begins_at_0(report: &LabReport) -> bool {
    let is_0 = |variant: &VariantReport| variant.fact("offset") == Some(&0.into());
    report.variants.first().is_some_and(is_0) && SLOWEST.find(report).is_some_and(|slowest| !is_0(slowest))
}

impl Lab for Offset {
    const NAME: &'static str = "offset";
    const ABOUT: &'static str = "Misaligned vectors: a warp takes five sectors, not four";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores, Subject::ActiveLanes];
    const CONCLUSIONS: &'static [Conclusion] = &[
        Conclusion::new(
            "The slowest offset, {}, takes {} times as long as offset 0: neighbouring warps share it in the cache.",
            &[Name(SLOWEST), Of(SLOWEST, &SLOWDOWN)],
        )
        .holds(&[Holds::If(begins_at_0)]),
        Conclusion::new(
            "A warp's load takes {} at offset 0 and {} at offset {}: {} and {} of their bytes are used.",
            &[
                Of(ALIGNED, &A_LOAD_IN_UNITS),
                Of(WORST, &A_LOAD),
                Fact(WORST, "offset"),
                Of(ALIGNED, &LOADED_BYTES_USED),
                Of(WORST, &LOADED_BYTES_USED),
            ],
        )
        .holds(&[Holds::More(1, 0)]),
    ];
    const SWEEPS: &'static [Sweep] = &[Sweep {
        x: "offset",
        title: "offset, floats",
        scale: Scale::Linear,
        series: &["shifted"],
        rows: Rows::All,
        timed: (&GBPS, Scale::Linear),
        counted: (&[&SHIFTED[0], &SHIFTED[1]], Scale::Linear),
    }];
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("read", ""), ("size", "4096")],
        row: "read+{}",
        access: "global load",
        slider: Some(Slider { flag: "offset", title: "offset, floats", range: (0, 64, 11), other: 64, with: "0," }),
        goals: &[Goal {
            ask: "Find an offset other than 0 at which a warp's access costs no more than at 0.",
            row: Row::LastAt(&[]),
            measure: &SHIFTED_IN_UNITS,
            unit: "",
            bound: Bound::AtMost(Target::Row(Row::At(&[("offset", "0")]))),
            except: &[("offset", "0")],
        }],
        ..Showcase::DEFAULTS
    };
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let a: Vec<f32> = options.a.vector(device, SIZE, NEEDS, &mut random)?;
        let b =
            second_vector(options.input_b.as_deref(), a.len(), "A and B are added element by element", &mut random)?;
        let offsets = offsets(&options.offset, options.all, settings.plot, a.len())?;
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

/// The offsets of the flag, all, those of a plot, or the default ones, for vectors of `size` elements.
fn offsets(named: &[u64], all: bool, plot: bool, size: usize) -> Result<Vec<usize>> {
    if all {
        return Ok((0..=32).chain([128]).filter(|&offset| offset < size).collect());
    }
    if named.is_empty() && plot {
        return Ok((0..=32).filter(|&offset| offset < size).collect());
    }
    if named.is_empty() {
        return Ok([0, 1, 8].into_iter().filter(|&offset| offset < size).collect());
    }
    let check = |&offset: &u64| {
        usize::try_from(offset).ok().filter(|&offset| offset < size).ok_or_else(|| {
            Error::flag("--offset", format!("{offset} is not below the size of {size} elements; give a smaller offset"))
        })
    };
    named.iter().map(check).collect::<Result<_>>().map(each_once)
}

#[cfg(test)]
mod tests;
