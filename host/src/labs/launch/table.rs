//! The table of the lab: its flags, what its grids and its plot show, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;
use picture::Scale;

use super::word::Word;
use crate::labs::in_flight::{self, IN_FLIGHT, KIB, OF_NEEDED, OF_NEEDED_DRAWN};
use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Steps};
use crate::report::Gap::{Name, Of, Whole};
use crate::report::measures::{GBPS, LOAD_REQUESTS};
use crate::report::{Bound, Conclusion, FirstScreen, Goal, Holds, Meaning, Row, Rows, Sweep, Target};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 14 };

/// The vector and its initial values on the device; both and a result on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "incrementing a vector", on_device: 2, on_host: 2 };

/// The threads of a block, in words: what else tells the curves of a sweep apart.
pub(super) const THREADS: &str = "threads_of_a_block";

/// What the names of the words mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("f32", "A load of 4 bytes by each thread"),
    ("f32x2", "A load of 8 bytes by each thread: two floats"),
    ("f32x4", "A load of 16 bytes by each thread: four floats"),
];

/// The flags of `host launch`.
///
/// The variants are all combinations. On the simulator, without any of these flags, one block on
/// each multiprocessor runs with a few of them, from the fewest bytes in flight to the most.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Words to load, separated by commas: f32, f32x2 and f32x4, of 4, 8 and 16 bytes [default:
    /// all]
    #[arg(long, value_enum, value_name = "WORD,...", value_delimiter = ',', hide_possible_values = true)]
    pub(super) word: Vec<Word>,
    /// Independent loads per thread, separated by commas [default: 1,2,4,8]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = loads)]
    pub(super) loads: Vec<u32>,
    /// Threads of a block, separated by commas [default: 64,256,1024 on a GPU, 256 on the
    /// simulator]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, 1024u32))]
    pub(super) block: Vec<u32>,
    /// Blocks of the grid, separated by commas [default: as many as the vector needs; on a GPU also
    /// one for each multiprocessor]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(1, i32::MAX as u32))]
    pub(super) grid: Vec<u32>,
    /// The vector.
    #[command(flatten)]
    pub(super) vector: VectorFlags,
}

/// A number of independent loads for which there is a kernel.
fn loads(text: &str) -> std::result::Result<u32, String> {
    let number = text.parse().ok().filter(|number| [1, 2, 4, 8].contains(number));
    number.ok_or_else(|| "give 1, 2, 4 or 8".to_owned())
}

const ONE: Row = Row::At(&[("word", "f32"), ("loads", "1"), ("block", "256")]);
const FOUR: Row = Row::At(&[("word", "f32"), ("loads", "4"), ("block", "256")]);
const WIDE: Row = Row::At(&[("word", "f32x4"), ("loads", "1"), ("block", "256")]);
// In blocks of the first size.
const FOUR_LOADS: Row = Row::At(&[("word", "f32"), ("loads", "4")]);
const WIDE_LOAD: Row = Row::At(&[("word", "f32x4"), ("loads", "1")]);

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[IN_FLIGHT, OF_NEEDED, OF_NEEDED_DRAWN],
    words: &[("f32", "4 bytes"), ("f32x2", "8 bytes"), ("f32x4", "16 bytes")],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "With blocks of 256 threads, one load of 4 bytes at a time reaches {} GB/s, four independent ones {}, and one of 16 bytes {}: \
         what counts is bytes in flight.",
        &[Of(ONE, &GBPS), Of(FOUR, &GBPS), Of(WIDE, &GBPS)],
    )
    .holds(&[Holds::More(1, 0), Holds::More(2, 0)]),
    Conclusion::new("The best is {}, with {} GB/s.", &[Name(Row::Most(&[], &GBPS)), Of(Row::Most(&[], &GBPS), &GBPS)]),
    Conclusion::new(
        "By Little's law (latency x bandwidth) the {} needs {} in flight per multiprocessor; measured, an H200 takes two to three \
         times what the law says. More threads, more loads per thread and wider words all add bytes.",
        &[Whole(in_flight::chip), Whole(in_flight::needed)],
    ),
    Conclusion::new(
        "More bytes in flight hide more of the latency of memory. Four loads of 4 bytes keep as much in flight as one of \
         16, with {} load requests instead of {}.",
        &[Of(FOUR_LOADS, &LOAD_REQUESTS), Of(WIDE_LOAD, &LOAD_REQUESTS)],
    )
    .holds(&[Holds::More(0, 1)]),
];

pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "loads",
    title: "independent loads of a thread",
    scale: Scale::Log,
    series: &["word", THREADS],
    rows: Rows::EachGroup,
    timed: (&GBPS, Scale::Linear),
    counted: (&[&IN_FLIGHT], Scale::Linear),
}];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "8192"), ("block", "32")],
    row: "1 x f32, 32 threads",
    beside: "8 x f32, 32 threads",
    access: "global load",
    goals: &[Goal {
        ask: "Choose the loads of a thread that keep latency x bandwidth in flight.",
        row: Row::Named(""),
        measure: &IN_FLIGHT,
        unit: " KiB in flight on a full multiprocessor",
        bound: Bound::AtLeast(Target::Of(|report| Some(in_flight::model(&report.device)?.bytes_in_flight()? / KIB))),
        except: &[],
    }],
    steps: Some(Steps {
        title: "independent loads of a thread",
        rows: &[
            ("1 x f32, 32 threads", "1 of 4 bytes"),
            ("2 x f32, 32 threads", "2 of 4 bytes"),
            ("4 x f32, 32 threads", "4 of 4 bytes"),
            ("8 x f32, 32 threads", "8 of 4 bytes"),
            ("1 x f32x4, 32 threads", "1 of 16 bytes"),
        ],
    }),
    tabled: true,
    ..Showcase::DEFAULTS
};
