//! The table of the lab: its rows, its flags, and what it concludes. Plain data.

use clap::Args;
use picture::Scale;

use super::method::Method;
use crate::flag_values::whole_number;
use crate::labs::in_flight::{self, IN_FLIGHT, KIB, OF_NEEDED};
use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::Chosen;
use crate::report::Gap::{Of, Whole};
use crate::report::measures::{GBPS, INSTRUCTIONS_FIRST, OCCUPANCY, PREDICTED_GBPS, REGISTERS};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, Meaning, Measure, Row, Rows, Section, Sweep, Target,
};

/// On the simulator, 16 records for each multiprocessor of an H200: four for each of four blocks.
pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 28, on_simulator: 132 * 16 * 2048 };

/// The samples on the device; on the host also while the last record is filled up.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "a pipeline over a vector", on_device: 1, on_host: 2 };

/// What the names of the rows mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("load xN", "A block loads a tile of 8 KiB, uses it, and loads the next; N blocks on each multiprocessor"),
    ("registers xN", "While it uses a tile, the loads of the next are under way to registers"),
    ("async-S xN", "S tiles in shared memory: it uses one while cp.async brings the others"),
    ("bulk-S xN", "The same by the copy engine: one thread copies a tile by one instruction"),
];

/// The flags of `host pipeline`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) methods: Chosen<Method>,
    /// Stages of the copies, separated by commas [default: 2,3,4]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(2, 4u32))]
    pub(super) stages: Vec<u32>,
    /// Blocks on each multiprocessor, separated by commas; dynamic shared memory keeps others away
    /// [default: 1,2,4,8; on the simulator 1,2,4, and 1 for stages without --predict]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, 16u32))]
    pub(super) blocks: Vec<u32>,
    #[command(flatten)]
    pub(super) values: VectorFlags,
}

impl Options {
    /// Whether a method has one of the given numbers of stages, if there are any.
    pub(super) fn has(&self, method: Method) -> bool {
        self.stages.is_empty() || method.stages().is_some_and(|stages| self.stages.contains(&stages))
    }
}

/// The fact with a row's method.
pub(super) const METHOD: &str = "method";

const LOAD_1: Row = Row::Named("load x1");
const LOAD_4: Row = Row::Named("load x4");
const LOAD_8: Row = Row::Named("load x8");
const REGISTERS_1: Row = Row::Named("registers x1");
const ASYNC_4: Row = Row::Named("async-4 x1");
const BULK_4: Row = Row::Named("bulk-4 x1");

/// The shared memory of a block's tiles.
const STAGES: Measure =
    Measure::new(Section::Counter, "kib_of_stages", &["shared", "KiB"], Better::Neither, |variant| {
        variant.fact("KiB_of_stages")?.as_u64().map(Cell::count)
    })
    .unit("KiB");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[
        IN_FLIGHT.titled(&["KiB in", "flight"]),
        OF_NEEDED,
        OCCUPANCY.among(Section::Counter),
        STAGES,
        REGISTERS,
        INSTRUCTIONS_FIRST,
        PREDICTED_GBPS.titled(&["predicted", "GB/s"]).among(Section::Counter),
    ],
    words: &[],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "With one block of 256 threads on each multiprocessor, loading a tile and then using it reaches {} GB/s, the next tile through \
         registers {}, four stages by cp.async {} and by bulk copies {}; with eight blocks, loading reaches {}.",
        &[Of(LOAD_1, &GBPS), Of(REGISTERS_1, &GBPS), Of(ASYNC_4, &GBPS), Of(BULK_4, &GBPS), Of(LOAD_8, &GBPS)],
    )
    .holds(&[Holds::More(2, 0), Holds::More(3, 0)]),
    Conclusion::new(
        "At {} occupancy, a block that loads a tile and then uses it has {} KiB in flight and reaches a predicted {} GB/s; with \
         four stages it has {} KiB and reaches {}; four blocks have {} and reach {}. Little's law (latency x \
         bandwidth) asks for {}; measured, an H200 takes two to three times what the law says.",
        &[
            Of(LOAD_1, &OCCUPANCY),
            Of(LOAD_1, &IN_FLIGHT),
            Of(LOAD_1, &PREDICTED_GBPS),
            Of(ASYNC_4, &IN_FLIGHT),
            Of(ASYNC_4, &PREDICTED_GBPS),
            Of(LOAD_4, &IN_FLIGHT),
            Of(LOAD_4, &PREDICTED_GBPS),
            Whole(in_flight::needed),
        ],
    )
    .holds(&[Holds::More(4, 2)]),
    Conclusion::new(
        "Four stages have {} KiB in flight at {} occupancy; loading a tile and then using it has {}, and needs more blocks for as many.",
        &[Of(ASYNC_4, &IN_FLIGHT), Of(ASYNC_4, &OCCUPANCY), Of(LOAD_1, &IN_FLIGHT)],
    )
    .holds(&[Holds::More(0, 2), Holds::If(|report| report.variants.iter().all(|row| row.predicted_time().is_none()))]),
    Conclusion::new(
        "A copy through registers is a load and a store for each word, a bulk copy one instruction for a whole tile: {} and {} warp \
         instructions, by cp.async {}.",
        &[Of(REGISTERS_1, &INSTRUCTIONS_FIRST), Of(BULK_4, &INSTRUCTIONS_FIRST), Of(ASYNC_4, &INSTRUCTIONS_FIRST)],
    )
    .holds(&[Holds::More(0, 1)]),
    Conclusion::new(
        "By Little's law (latency x bandwidth) the {} needs {} in flight per multiprocessor; measured, an H200 takes \
         two to three times what the law says.",
        &[Whole(in_flight::chip), Whole(in_flight::needed)],
    ),
];

pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "KiB_in_flight",
    title: "KiB in flight on a multiprocessor",
    scale: Scale::Log,
    series: &[METHOD],
    rows: Rows::All,
    timed: (&GBPS, Scale::Linear),
    counted: (&[&PREDICTED_GBPS, &INSTRUCTIONS_FIRST], Scale::Linear),
}];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "540672"), ("blocks", "1")],
    row: "load x1",
    beside: "",
    access: "",
    goals: &[Goal {
        ask: "Keep twice latency x bandwidth in flight with one block on each multiprocessor.",
        row: Row::Named(""),
        measure: &IN_FLIGHT,
        unit: " KiB in flight on a multiprocessor",
        bound: Bound::AtLeast(Target::Of(|report| {
            Some(2.0 * in_flight::model(&report.device)?.bytes_in_flight()? / KIB)
        })),
        except: &[],
    }],
    steps: Some(Steps {
        title: "stages",
        rows: &[
            ("load x1", "load, then use"),
            ("registers x1", "the next through registers"),
            ("async-2 x1", "2 by cp.async"),
            ("async-3 x1", "3 by cp.async"),
            ("async-4 x1", "4 by cp.async"),
            ("bulk-4 x1", "4 by bulk copies"),
        ],
    }),
    tabled: true,
    ..Showcase::DEFAULTS
};
