//! The table of the lab: its variants, its flags, and what it concludes.

use clap::Args;
use kernels::spill as kernel;

use super::Echo;
use crate::flag_values::whole_number;
use crate::labs::inputs::{DefaultSize, MatrixFlags};
use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Times};
use crate::report::measures::{L1_LOCAL_HITS, L2_MOVED, OCCUPANCY_HERE, PREDICTED_TIME, REGISTERS, TIME};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Meaning, Measure, Row, Section, Target,
};

/// As many as an H200 has threads; on the simulator half of that, which is enough for a time.
pub(super) const CHANNELS: DefaultSize = DefaultSize { on_gpu: 132 * 2048, on_simulator: 132 * 1024 };
pub(super) const SAMPLES: DefaultSize = DefaultSize { on_gpu: 256, on_simulator: 64 };
pub(super) const LISTS: DefaultSize = DefaultSize { on_gpu: 132 * 2048, on_simulator: 132 * 2048 };
pub(super) const STEPS: DefaultSize = DefaultSize { on_gpu: 128, on_simulator: 16 };

/// What a row runs.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// Echoes: the kernel, the words of its ring, and whether these are in shared memory.
    Echo(&'static Echo, usize, bool),
    /// Lists: how many a thread follows at a time, and whether a multiprocessor has room for one
    /// block.
    Walk { at_a_time: u32, alone: bool },
}

impl Way {
    /// Whether it has a ring of one of these numbers of words, if any are given.
    pub(super) fn is_of(self, given: &[usize]) -> bool {
        given.is_empty() || matches!(self, Self::Echo(_, words, _) if given.contains(&words))
    }

    /// Whether a multiprocessor is to have room for one block only.
    pub(super) fn is_alone(self) -> bool {
        matches!(self, Self::Walk { alone: true, .. })
    }

    /// The bytes of shared memory of a block.
    pub(super) fn shared(self) -> u64 {
        match self {
            Self::Echo(_, words, true) => (words * kernel::BLOCK as usize * size_of::<f32>()) as u64,
            _ => 0,
        }
    }
}

const fn alone(name: &'static str, help: &'static str, at_a_time: u32) -> VariantSpec<Way> {
    variant(name, help, Way::Walk { at_a_time, alone: true }).flag("alone")
}

impl Variants for Way {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant(
            "local-64",
            "Rings with a computed index, in local memory",
            Self::Echo(&kernel::spill_local_64, 64, false),
        )
        .flag("local"),
        variant(
            "shared-64",
            "The same in shared memory, a column for each thread",
            Self::Echo(&kernel::spill_shared_64, 64, true),
        )
        .flag("shared"),
        variant(
            "registers-64",
            "Rings whose indices are all constants, in registers",
            Self::Echo(&kernel::spill_registers_64, 64, false),
        )
        .flag("registers"),
        variant(
            "bounded-64",
            "A ring of 64 words with so few registers that 16 blocks fit: ptxas spills, which only a GPU shows",
            Self::Echo(&kernel::spill_bounded_64, 64, false),
        )
        .flag("bounded")
        .extra(),
        variant("local-16", "", Self::Echo(&kernel::spill_local_16, 16, false)).flag("local"),
        variant("shared-16", "", Self::Echo(&kernel::spill_shared_16, 16, true)).flag("shared").extra(),
        variant("registers-16", "", Self::Echo(&kernel::spill_registers_16, 16, false)).flag("registers").extra(),
        variant("full-1", "Lists, one at a time, by as many threads as fit", Self::Walk { at_a_time: 1, alone: false })
            .flag("full"),
        alone("alone-1", "Lists, 1, 2, 4 and 8 at a time, by one block of each multiprocessor", 1),
        alone("alone-2", "", 2),
        alone("alone-4", "", 4),
        alone("alone-8", "", 8),
    ];
}

/// What the names of the rows mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("local-N", "A ring of N words for each thread, whose index is computed: in local memory"),
    ("shared-N", "The same in shared memory, a column for each thread"),
    ("registers-N", "The same with all rounds written out, so that each index is a constant: in registers"),
    ("bounded-N", "The same with 32 registers, so that 16 blocks fit: ptxas spills the rest to local memory"),
    ("full-N", "Each thread follows N lists at a time; as many blocks as fit"),
    ("alone-N", "The same with one block on each multiprocessor, with all its shared memory"),
];

/// The flags of `host spill`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) ways: Chosen<Way>,
    /// Also rings of 16 words in shared memory and in registers, and the ring that ptxas spills; on a
    /// GPU they run without this flag
    #[arg(long)]
    pub(super) all: bool,
    /// Words of the rings, separated by commas: 16 and 64 [default: both]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = words)]
    pub(super) words: Vec<usize>,
    /// The samples: a channel is a column.
    #[command(flatten)]
    pub(super) matrix: MatrixFlags,
    /// Number of lists
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u32 << 28))]
    pub(super) lists: Option<u32>,
    /// Steps along each list
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u32 << 20))]
    pub(super) steps: Option<u32>,
}

/// A number of words for which there are kernels.
fn words(text: &str) -> std::result::Result<usize, String> {
    let number = text.parse().ok().filter(|number| [16, 64].contains(number));
    number.ok_or_else(|| "give 16 or 64".to_owned())
}

const LOCAL: Row = Row::Named("local-64");
const LOCAL_16: Row = Row::Named("local-16");
const REGISTERS_64: Row = Row::Named("registers-64");
const FULL: Row = Row::Named("full-1");
const ALONE_1: Row = Row::Named("alone-1");
const ALONE_8: Row = Row::Named("alone-8");

/// The sectors of local memory, 0 where there are none.
const LOCAL_SECTORS: Measure =
    Measure::counted(Section::Counter, "local_sectors_or_none", &["local", "sectors"], Better::Lower, |counters| {
        Some(Cell::count(counters.local.load.sectors + counters.local.store.sectors))
    });

/// Whether so many times as long is about as long.
fn is_as_fast(row: Row, as_row: Row, report: &LabReport) -> bool {
    let time = |row: Row| row.find(report).and_then(|row| PREDICTED_TIME.of(row)?.value);
    time(row).zip(time(as_row)).is_some_and(|(row, other)| row < 1.2 * other)
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[
        LOCAL_SECTORS,
        L1_LOCAL_HITS.among(Section::Counter),
        L2_MOVED.among(Section::Counter),
        REGISTERS,
        OCCUPANCY_HERE,
    ],
    words: &[
        ("local-N", "computed index"),
        ("shared-N", "a column each"),
        ("registers-N", "constants"),
        ("bounded-N", "32 registers"),
        ("full-N", "full occupancy"),
        ("alone-N", "one resident block"),
    ],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "In registers, a ring of 64 words is {} as in local memory, where it outgrows L1; a ring of 16 words is {}. With 32 registers a \
         thread, where ptxas spills the rest, the ring of 64 is {} as with all the registers it needs.",
        &[
            AsFast(REGISTERS_64, LOCAL),
            AsFast(Row::Named("registers-16"), LOCAL_16),
            AsFast(Row::Named("bounded-64"), REGISTERS_64),
        ],
    ),
    Conclusion::new(
        "With one block on each multiprocessor, one list at a time takes {} times as long as with all that fit, 8 at a time {} times.",
        &[Times(ALONE_1, FULL, &TIME), Times(ALONE_8, FULL, &TIME)],
    ),
    Conclusion::new(
        "Where its index is computed, a thread's ring is in local memory; of 64 words, rings outgrow L1: L2 moves {} ({}). With \
         constant indices they are in registers: {} ({}). Fewer threads that do more are about as fast: 8 lists at a time at {} \
         occupancy take {}, 1 at {} {}. Times are predicted.",
        &[
            Of(LOCAL, &L2_MOVED),
            Of(LOCAL, &PREDICTED_TIME),
            Of(REGISTERS_64, &L2_MOVED),
            Of(REGISTERS_64, &PREDICTED_TIME),
            Of(ALONE_8, &OCCUPANCY_HERE),
            Of(ALONE_8, &PREDICTED_TIME),
            Of(FULL, &OCCUPANCY_HERE),
            Of(FULL, &PREDICTED_TIME),
        ],
    )
    .holds(&[Holds::More(0, 2), Holds::If(|report| is_as_fast(ALONE_8, FULL, report))]),
    Conclusion::new(
        "A ring of 64 words whose index is computed takes {} sectors of local memory; in registers it takes {}.",
        &[Of(LOCAL, &LOCAL_SECTORS), Of(REGISTERS_64, &LOCAL_SECTORS)],
    )
    .holds(&[Holds::More(0, 1)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("rows", "128"), ("cols", "1024"), ("lists", "1024"), ("steps", "8")],
    row: "local-64",
    beside: "",
    access: "",
    steps: Some(Steps {
        title: "a ring of 64 words",
        rows: &[("local-64", "in local memory"), ("shared-64", "in shared memory"), ("registers-64", "in registers")],
    }),
    goals: &[Goal {
        ask: "Keep the ring out of local memory.",
        row: LOCAL,
        measure: &LOCAL_SECTORS,
        unit: " sectors of local memory",
        bound: Bound::AtMost(Target::Number(0.0)),
        except: &[],
    }],
    tabled: true,
    ..Showcase::DEFAULTS
};
