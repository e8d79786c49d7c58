//! The table of the lab: its patterns, its flags, what it plots, and what it concludes.

use std::borrow::Cow;

use crate::flag_values::whole_number;
use clap::Args;
use kernels::banks::STAGE_WORDS;
use picture::Scale;

use crate::labs::showcase::{Showcase, Slider};
use crate::report::Gap::{Of, Times, Whole};
use crate::report::measures::{
    PASSES_A_SHARED_LOAD, SHARED_LOAD_CONFLICTS, SHARED_LOAD_WAVEFRONTS, SHARED_LOADS, TIME,
};
use crate::report::{
    Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Meaning, Measure, Row, Rows, Sweep, Target,
};

/// The maximum number of reads per thread: no pattern leaves the staged data.
const MOST_ROUNDS: u32 = 128;

/// What the names of the patterns mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("stride-N", "Words of 4 bytes, N words from lane to lane"),
    ("permuted", "Neighbouring words in another order of lanes"),
    ("one-word", "One word for all lanes"),
    ("bytes-N", "Neighbouring words of N bytes"),
    ("structure-of-N", "Neighbouring structures of N words, a load for each word"),
    ("two-interleaved", "Two words for each lane, side by side"),
    ("two-block-apart", "Two words for each lane, 32 words apart"),
    ("column-of-32x32", "A column of a tile of 32 x 32"),
    ("column-of-32x33", "A column of a tile of 32 x 33"),
    ("32 banks", "Since Fermi: 32 banks, which serve a warp together"),
    ("g80", "Before: 16 banks, which serve half a warp together"),
];

/// The flags of `host banks`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Only these patterns, by their names in the table, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse)]
    pub(super) pattern: Vec<Pattern>,
    /// All patterns: further strides, words and structures, two loads, and a column of a tile
    #[arg(long, conflicts_with = "pattern")]
    pub(super) all: bool,
    /// Only these strides in words, separated by commas
    #[arg(long, value_name = "N,...", value_delimiter = ',', conflicts_with_all = ["pattern", "all"],
          value_parser = whole_number(0, STAGE_WORDS))]
    pub(super) stride: Vec<u32>,
    /// Blocks of one warp each
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u32 << 24))]
    pub(super) blocks: Option<u32>,
    /// Reads of each thread
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, MOST_ROUNDS))]
    pub(super) rounds: Option<u32>,
}

/// How the lanes of a warp read the staged data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) name: Cow<'static, str>,
    pub(super) reads: Reads,
    /// Whether it runs only with `--all` or by its name.
    pub(super) extra: bool,
}

/// What a lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// One word per lane, this many words from the next lane's.
    Stride(u32),
    /// One word per lane, in another order.
    Permuted,
    /// One word of this many bytes per lane, side by side.
    Bytes(u32),
    /// The fields of a structure of this many words, one after another.
    Structure(u32),
    /// Two words per lane, this far apart.
    Two(u32),
}

const fn pattern(name: &'static str, reads: Reads, extra: bool) -> Pattern {
    Pattern { name: Cow::Borrowed(name), reads, extra }
}

pub(super) const PATTERNS: [Pattern; 19] = [
    pattern("stride-1", Reads::Stride(1), false),
    pattern("stride-2", Reads::Stride(2), false),
    pattern("stride-3", Reads::Stride(3), false),
    pattern("stride-8", Reads::Stride(8), true),
    pattern("stride-16", Reads::Stride(16), false),
    pattern("stride-32", Reads::Stride(32), false),
    pattern("stride-33", Reads::Stride(33), false),
    pattern("permuted", Reads::Permuted, false),
    pattern("one-word", Reads::Stride(0), false),
    pattern("bytes-1", Reads::Bytes(1), false),
    pattern("bytes-2", Reads::Bytes(2), true),
    pattern("bytes-8", Reads::Bytes(8), false),
    pattern("bytes-16", Reads::Bytes(16), false),
    pattern("structure-of-2", Reads::Structure(2), true),
    pattern("structure-of-3", Reads::Structure(3), false),
    pattern("two-interleaved", Reads::Two(1), true),
    pattern("two-block-apart", Reads::Two(32), true),
    // What the transpose does.
    pattern("column-of-32x32", Reads::Stride(32), true),
    pattern("column-of-32x33", Reads::Stride(33), true),
];

fn parse(text: &str) -> std::result::Result<Pattern, String> {
    PATTERNS.into_iter().find(|pattern| pattern.name == text).ok_or_else(|| {
        let names = PATTERNS.map(|pattern| pattern.name);
        format!("unknown pattern '{text}'; give some of {}", names.join(", "))
    })
}

/// One word per lane, with this stride.
pub(super) fn of_stride(stride: u32) -> Pattern {
    Pattern { name: format!("stride-{stride}").into(), reads: Reads::Stride(stride), extra: false }
}

impl Reads {
    /// Bytes that a lane reads in a round.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Stride(_) | Self::Permuted => 4,
            Self::Bytes(bytes) => bytes.into(),
            Self::Structure(words) => 4 * u64::from(words),
            Self::Two(_) => 8,
        }
    }
}

/// What a load takes, over what it takes without bank conflicts: the same for wide words, and for
/// half warps.
pub(super) const PASSES: &[&Measure] = &[&SHARED_LOADS[0].titled(&["wavefronts / ideal"])];

const MEDIAN: Measure = TIME.titled(&["time"]);

const STRIDE_1: Row = Row::Named("stride-1");
const STRIDE_32: Row = Row::Named("stride-32");
const STRIDE_33: Row = Row::Named("stride-33");
/// The first row: of one stride, that on this device.
const ONLY: Row = Row::At(&[]);
const WIDEST: Row = Row::Named("bytes-16");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[PASSES_A_SHARED_LOAD],
    words: &[
        ("32 banks", "since Fermi"),
        ("g80", "half warps"),
        ("one-word", "one word for all"),
        ("bytes-1", "words of 1 byte"),
        ("bytes-8", "words of 8 bytes"),
        ("bytes-16", "words of 16 bytes"),
    ],
    removes: &[],
    left_out: &["permuted", "structure-of-3"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "A stride of 32 words takes {} times as long as a stride of 1.",
        &[Times(STRIDE_32, STRIDE_1, &TIME)],
    ),
    Conclusion::new(
        "An even stride costs the largest power of two that divides it, up to 32, in wavefronts (passes over the banks): {} at stride 2, {} \
         at 16, {} at 32. Stride 33 takes {}. Words of 16 bytes go in {} parts, without conflicts.",
        &[
            Of(Row::Named("stride-2"), &SHARED_LOAD_WAVEFRONTS),
            Of(Row::Named("stride-16"), &SHARED_LOAD_WAVEFRONTS),
            Of(STRIDE_32, &SHARED_LOAD_WAVEFRONTS),
            Of(STRIDE_33, &SHARED_LOAD_WAVEFRONTS),
            Of(WIDEST, &SHARED_LOAD_WAVEFRONTS),
            Of(WIDEST, &SHARED_LOAD_CONFLICTS),
        ],
    )
    .holds(&[
        Holds::More(0, 3),
        Holds::More(1, 0),
        Holds::More(2, 1),
        Holds::More(4, 3),
        Holds::If(|report| WIDEST.find(report).and_then(|row| SHARED_LOAD_CONFLICTS.of(row)?.value) == Some(0.0)),
    ]),
    Conclusion::new(
        "A load takes {} wavefronts at a stride of 32 words and {} at 33.",
        &[Of(STRIDE_32, &SHARED_LOAD_WAVEFRONTS), Of(STRIDE_33, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::More(0, 1), Holds::If(|report| WIDEST.find(report).is_none())]),
    Conclusion::new(
        "At a stride of {} words, {} lanes share a bank, and a load takes {} wavefronts: the largest power of two that divides the stride, \
         up to 32. Odd strides take 1.",
        &[Whole(even_stride), Of(ONLY, &SHARED_LOAD_WAVEFRONTS), Of(ONLY, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::If(costs_its_power_of_two)]),
    Conclusion::new(
        "At a stride of {} words, each lane has a bank of its own, and a load takes {} wavefront. Any odd stride does; an even one takes the \
         largest power of two that divides it, up to 32.",
        &[Whole(odd_stride), Of(ONLY, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::If(costs_its_power_of_two)]),
];

/// The stride of all rows, if they have the same and it is not 0.
fn only_stride(report: &LabReport) -> Option<u64> {
    let mut strides = report.variants.iter().map(|variant| variant.fact("stride")?.as_u64());
    let first = strides.next()??;
    (first > 0 && strides.all(|stride| stride == Some(first))).then_some(first)
}

fn even_stride(report: &LabReport) -> Option<Cell> {
    only_stride(report).filter(|stride| stride.is_multiple_of(2)).map(Cell::count)
}

fn odd_stride(report: &LabReport) -> Option<Cell> {
    only_stride(report).filter(|stride| !stride.is_multiple_of(2)).map(Cell::count)
}

/// Whether the only stride costs as much as on 32 banks.
fn costs_its_power_of_two(report: &LabReport) -> bool {
    let wavefronts = ONLY.find(report).and_then(|row| SHARED_LOAD_WAVEFRONTS.of(row)?.value);
    only_stride(report).is_some_and(|stride| wavefronts == Some(f64::from(1u32 << stride.trailing_zeros().min(5))))
}

/// Strides.
pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "stride",
    title: "stride, words",
    scale: Scale::Names,
    series: &["banks"],
    rows: Rows::All,
    timed: (&MEDIAN, Scale::Linear),
    counted: (&[&SHARED_LOAD_WAVEFRONTS], Scale::Linear),
}];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("rounds", "8")],
    row: "stride-{}",
    access: "shared load",
    slider: Some(Slider { flag: "stride", title: "stride, words", range: (0, 33, 32), other: 33, with: "" }),
    goals: &[Goal {
        ask: "Find a stride without bank conflicts (wavefronts beyond the first), other than 0 and 1.",
        row: Row::At(&[]),
        measure: &SHARED_LOAD_CONFLICTS,
        unit: " conflicts a load",
        bound: Bound::AtMost(Target::Number(0.0)),
        except: &[("stride", "0"), ("stride", "1")],
    }],
    ..Showcase::DEFAULTS
};
