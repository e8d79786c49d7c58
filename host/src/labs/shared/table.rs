//! The table of the lab: its variants, its flags, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Times, Whole};
use crate::report::measures::{BLOCK_LIMITS, BLOCKS_DRAWN, OCCUPANCY, OCCUPANCY_FIRST, RESIDENT_BLOCKS, TIME};
use crate::report::{
    Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Meaning, Measure, Row, Target, of_fact,
};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 27, on_simulator: 1 << 17 };

/// The input and the output on the device; the input and a result on the host.
pub(super) const NEEDS: MemoryNeeds =
    MemoryNeeds { what: "reversing the chunks of a vector", on_device: 2, on_host: 2 };

/// Sizes of a block's shared memory in kilobytes, and whether only `--all` runs them; those that
/// the device does not have are omitted.
pub(super) const KILOBYTES: [(u32, bool); 11] = [
    (1, false),
    (4, true),
    (8, true),
    (16, false),
    (27, true),
    (32, true),
    (48, false),
    (64, true),
    (96, false),
    (160, true),
    (227, false),
];

/// Those of `--all` that the simulator runs without it: where blocks begin to be fewer, and the next
/// steps.
pub(super) const SIMULATED: [u32; 3] = [27, 32, 64];

/// How a variant's chunks get their shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunks {
    Static,
    Dynamic,
    Carveouts,
}

impl Variants for Chunks {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("static", "Chunks whose size is known to the compiler", Self::Static),
        variant("dynamic", "Chunks whose size is given at launch", Self::Dynamic),
        variant("carveouts", "A dynamic chunk, with each carveout", Self::Carveouts),
    ];
}

/// What the names of the rows mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("static-N", "A block has N KiB of shared memory, fixed when the kernel is compiled"),
    ("dynamic-N", "A block has N KiB, given at launch"),
    ("carveout-N", "A block has 16 KiB, an H200 reserves 1 KiB more; shared memory is N % of the most that it can be"),
];

/// The flags of `host shared`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Chunks>,
    /// Kilobytes of dynamic chunks, separated by commas [default: 1,16,48,96,227, as far as a block
    /// can have them; on the simulator also 27,32,64]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, 1024u32))]
    pub(super) kilobytes: Vec<u32>,
    /// Also dynamic chunks of 4, 8, 27, 32, 64 and 160 kilobytes
    #[arg(long, conflicts_with = "kilobytes")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) vector: VectorFlags,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub(super) block: u32,
}

const STATIC: Row = Row::Named("static-16");
const DYNAMIC: Row = Row::Named("dynamic-16");
const MIDDLE: Row = Row::Named("dynamic-48");
const LEAST: Row = Row::Least(&[("chunks", "dynamic")], &CHUNK);
const MOST: Row = Row::Most(&[("chunks", "dynamic")], &CHUNK);

/// The kilobytes of a chunk.
pub(super) const CHUNK: Measure =
    of_fact("shared_KiB", |variant| variant.fact("shared_KiB")?.as_u64().map(Cell::count));

/// The same where at least four blocks fit on a multiprocessor, 0 elsewhere.
const CHUNK_OF_FOUR: Measure = of_fact("shared_KiB_of_four", |variant| {
    let four = RESIDENT_BLOCKS.of(variant)?.value? >= 4.0;
    if four { CHUNK.of(variant) } else { Some(Cell::count(0)) }
});

/// Whether one row takes longer than another.
fn is_slower(row: Row, than: Row, report: &LabReport) -> bool {
    let time = |row: Row| row.find(report).and_then(|row| TIME.of(row)?.value);
    time(row) > time(than)
}

/// The chip whose multiprocessor holds the blocks.
fn chip(report: &LabReport) -> Option<Cell> {
    let model = report.variants.iter().find_map(|variant| variant.counters?.model)?.model;
    Some(Cell::text(model.chip.split(" (").next()?))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &["shared_KiB"],
    columns: &[RESIDENT_BLOCKS, BLOCKS_DRAWN, OCCUPANCY_FIRST, BLOCK_LIMITS],
    words: &[("shared_KiB", "KiB per block")],
    removes: &[],
    // Their blocks are alike: what differs is what the driver is asked for.
    left_out: &["carveout-N"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new("Static shared memory is {} as dynamic of the same size.", &[AsFast(STATIC, DYNAMIC)]),
    Conclusion::new(
        "Up to 27 KiB per block, {} blocks fit on a multiprocessor of an {}; with more, fewer do: {} at 48 KiB, {} at {} KiB, which \
         is {} occupancy (of the warps that it can hold).",
        &[
            Of(Row::Named("dynamic-27"), &RESIDENT_BLOCKS),
            Whole(chip),
            Of(MIDDLE, &RESIDENT_BLOCKS),
            Of(MOST, &RESIDENT_BLOCKS),
            Of(MOST, &CHUNK),
            Of(MOST, &OCCUPANCY),
            Of(DYNAMIC, &RESIDENT_BLOCKS),
        ],
    )
    .holds(&[Holds::Same(0, 6), Holds::More(0, 2), Holds::More(2, 3)]),
    Conclusion::new(
        "More shared memory per block, fewer blocks at once: it takes {} times as long with 48 KiB as with 16, and {} times with {} KiB.",
        &[Times(MIDDLE, DYNAMIC, &TIME), Times(MOST, DYNAMIC, &TIME), Of(MOST, &CHUNK)],
    )
    .holds(&[Holds::More(1, 0), Holds::If(|report| is_slower(MIDDLE, DYNAMIC, report))]),
    Conclusion::new(
        "More shared memory for each block, fewer blocks at once: with {} KiB each, occupancy is {}; with {} KiB each, {}.",
        &[Of(LEAST, &CHUNK), Of(LEAST, &OCCUPANCY), Of(MOST, &CHUNK), Of(MOST, &OCCUPANCY)],
    )
    .holds(&[Holds::More(2, 0), Holds::If(|report| MIDDLE.find(report).and_then(|row| RESIDENT_BLOCKS.of(row)).is_none())]),
    Conclusion::new(
        "The carveout is a hint: a percentage of the largest shared memory, rounded up to a size that the GPU has. With 0 % the occupancy is \
         {}, with 100 % it is {}. Without a carveout, the smallest size that holds the most blocks is used.",
        &[Of(Row::Named("carveout-0"), &OCCUPANCY), Of(Row::Named("carveout-100"), &OCCUPANCY)],
    )
    .holds(&[Holds::More(1, 0)]),
    Conclusion::new("Static and dynamic shared memory of the same size are accessed alike.", &[]).holds(&[Holds::If(
        |report| {
            let accesses = |row: Row| row.find(report)?.counters.map(|counted| (counted.shared, counted.global));
            accesses(STATIC).is_some() && accesses(STATIC) == accesses(DYNAMIC)
        },
    )]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "2048"), ("dynamic", "")],
    row: "dynamic-{}",
    access: "shared load",
    slider: Some(Slider {
        flag: "kilobytes",
        title: "KiB of shared memory a block",
        range: (2, 227, 96),
        other: 48,
        with: "1,",
    }),
    goals: &[
        Goal {
            ask: "Leave room for 4 blocks on a multiprocessor ...",
            row: Row::LastAt(&[("chunks", "dynamic")]),
            measure: &RESIDENT_BLOCKS,
            unit: " blocks at once",
            bound: Bound::AtLeast(Target::Number(4.0)),
            except: &[],
        },
        Goal {
            ask: "... each with as much shared memory as four can have, in whole multiples of 8 KiB.",
            row: Row::LastAt(&[("chunks", "dynamic")]),
            measure: &CHUNK_OF_FOUR,
            unit: " KiB in each of four blocks",
            bound: Bound::AtLeast(Target::Number(56.0)),
            except: &[],
        },
    ],
    tabled: true,
    ..Showcase::DEFAULTS
};
