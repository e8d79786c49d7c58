//! The table of the lab: its parts, patterns and operators, its flags, what its grids show, and
//! what it concludes.

use crate::flag_values::whole_number;
use clap::{Args, ValueEnum};
use cuda_std::launch::{DisjointSlice, SafeKernel, Slice};
use kernels::access::Pattern;
use kernels::cache as kernel;
use picture::Scale;

use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Of, Times, Whole};
use crate::report::measures::{BEYOND_L1, GBPS, L1_HITS, READ_ONLY_HITS, SECTORS_A_LOAD, TIME, TRANSACTIONS_A_LOAD};
use crate::report::{Cell, Conclusion, FirstScreen, Holds, LabReport, Meaning, Measure, Row, Rows, Sweep};
use crate::units::percent;

/// What varies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Operators,
    Configurations,
    Carveouts,
    Compiled,
}

impl Variants for Part {
    const TITLE: &'static str = "Variants";
    #[rustfmt::skip]
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("operators", "Each cache operator of loads, on each pattern; on the simulator without a model by default ca and cg, beside --compiled", Self::Operators),
        variant("configurations", "Preferences for L1 or shared memory, of the context and of the kernel", Self::Configurations).extra(),
        variant("carveouts", "Each share of L1's memory that can be shared memory", Self::Carveouts).extra(),
        variant("compiled", "Loads compiled to use or bypass L1 (-dlcm), with a small and with a large L1", Self::Compiled).extra(),
    ];
}

/// What the names of the patterns and of the cache operators mean (PTX ISA, "Cache Operators").
pub(super) const MEANINGS: &[Meaning] = &[
    ("aligned", "Neighbouring words, from the start of a line"),
    ("misaligned", "Neighbouring words, from the second word of a line"),
    ("strided", "Every eighth word, so one of each sector"),
    ("scattered", "One word of each line"),
    ("stencil", "Nine neighbours of each word, a load for each"),
    ("table", "Eight neighbours anywhere in 32 KB, of which each multiprocessor caches a copy"),
    ("default", "As ca"),
    ("ca", "Caches in L1 and L2"),
    ("cg", "Caches only in L2"),
    ("cs", "Expects to read the data once"),
    ("lu", "For data that is read for the last time: bypasses L1 on an H200"),
    ("cv", "Reads memory again"),
    ("nc", "For data that no kernel writes"),
];

/// The flags of `host cache`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) parts: Chosen<Part>,
    /// All of these variants
    #[arg(long)]
    pub(super) all: bool,
    /// Threads
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u64 << 25))]
    pub(super) size: Option<u64>,
    /// Patterns to read with, separated by commas; strided is every eighth element, scattered one
    /// of each line, stencil nine neighbours, table eight neighbours anywhere in 32 KB
    #[arg(
        long,
        value_enum,
        value_name = "PATTERN,...",
        value_delimiter = ',',
        default_value = "aligned,misaligned,strided,scattered,stencil,table",
        hide_possible_values = true
    )]
    pub(super) pattern: Vec<Reads>,
}

/// The elements that each thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reads {
    /// The thread's own element.
    Aligned,
    /// The next thread's element.
    Misaligned,
    /// Every eighth element: one of each sector.
    Strided,
    /// One element in a cache line of its own, anywhere.
    Scattered,
    /// Nine neighbours.
    Stencil,
    /// Eight neighbours anywhere in a table of 32 KB.
    Table,
}

impl Reads {
    pub(super) fn name(self) -> &'static str {
        ["aligned", "misaligned", "strided", "scattered", "stencil", "table"][self as usize]
    }

    /// Elements that a thread reads.
    pub(super) fn taps(self) -> u32 {
        [1, 1, 1, 1, 9, 8][self as usize]
    }

    /// The first element for this thread.
    pub(super) fn pattern(self, threads: u32) -> Pattern {
        let aligned = Pattern::ALIGNED;
        match self {
            Self::Aligned | Self::Stencil => aligned,
            Self::Misaligned => Pattern { offset: 1, ..aligned },
            Self::Strided => Pattern { stride: 8, ..aligned },
            Self::Scattered => {
                Pattern { stride: 32, scatter_bits: threads.max(32).next_power_of_two().ilog2(), ..aligned }
            }
            Self::Table => Pattern { scatter_bits: TABLE_BITS, ..aligned },
        }
    }

    /// The elements that all threads reach.
    pub(super) fn reach(self, threads: u32) -> u64 {
        let last = match self {
            Self::Strided => 8 * u64::from(threads),
            Self::Scattered => 32 * u64::from(threads.max(32).next_power_of_two()),
            Self::Table => 1 << TABLE_BITS,
            _ => u64::from(threads),
        };
        last + u64::from(self.taps()) + 1
    }
}

/// The table has 2^13 floats: 32 KB, more than a small L1 and less than a large one.
const TABLE_BITS: u32 = 13;

/// The kernels' parameters: data, output, threads, taps, pattern.
pub(super) type Parameters = (Slice<f32>, DisjointSlice<f32>, u32, Pattern);

/// A cache operator of loads, with its kernel.
pub(super) type Operator = (&'static str, &'static SafeKernel<Parameters>);

/// All of them.
pub(super) const OPERATORS: [Operator; 7] = [
    ("default", &kernel::cache_default),
    ("ca", &kernel::cache_ca),
    ("cg", &kernel::cache_cg),
    ("cs", &kernel::cache_cs),
    ("lu", &kernel::cache_lu),
    ("cv", &kernel::cache_cv),
    ("nc", &kernel::cache_nc),
];

/// Hits in L1, or in a read-only cache where loads go through that.
const HITS: Measure =
    Measure::new(L1_HITS.section, "hits_percent", &["hits before L2, %"], L1_HITS.better, |variant| {
        let hits = L1_HITS.of(variant).or_else(|| READ_ONLY_HITS.of(variant))?.value?;
        Some(Cell::new(hits, format!("{hits:.0}")))
    })
    .unit("%");

/// A grid for each: times, or without a clock what comes from beyond L1. Hits are in the other
/// formats: data that is read once has none, however well it is read.
pub(super) const SHOWN: [&[&Measure]; 2] = [&[&GBPS], &[&BEYOND_L1]];

const HITS_OF_LOADS: Measure = HITS.titled(&["hits in L1"]);

/// Operators by pattern, and carveouts.
pub(super) const SWEEPS: &[Sweep] = &[
    Sweep {
        x: "pattern",
        title: "pattern",
        scale: Scale::Names,
        series: &["operator"],
        rows: Rows::Group("operators"),
        timed: (&GBPS, Scale::Linear),
        counted: (&[&HITS_OF_LOADS], Scale::Linear),
    },
    Sweep {
        x: "carveout",
        title: "carveout, percent",
        scale: Scale::Linear,
        series: &[],
        rows: Rows::Group("carveouts"),
        timed: (&GBPS, Scale::Linear),
        counted: (&[&HITS_OF_LOADS], Scale::Linear),
    },
];

/// Hits in L1, for a sentence.
const HIT_SHARE: Measure = Measure::new(L1_HITS.section, "l1_hits", L1_HITS.title, L1_HITS.better, |variant| {
    let hits = L1_HITS.of(variant)?.value?;
    Some(Cell::new(hits, percent(hits)))
});

/// The same for a goal, which loads past L1 do not reach.
pub(super) const FOUND_IN_L1: Measure =
    Measure::new(L1_HITS.section, "found_in_l1", L1_HITS.title, L1_HITS.better, |variant| {
        let hits = L1_HITS.of(variant).and_then(|hits| hits.value).unwrap_or(0.0);
        Some(Cell::new(hits, if hits == 0.0 { "0 %".to_owned() } else { percent(hits) }))
    });

const CA: Row = Row::At(&[("group", "operators"), ("operator", "ca"), ("pattern", "stencil")]);
const CG: Row = Row::At(&[("group", "operators"), ("operator", "cg"), ("pattern", "stencil")]);

const STRIDED: Row = Row::At(&[("group", "operators"), ("operator", "ca"), ("pattern", "strided")]);
const STRIDED_PAST: Row = Row::At(&[("group", "operators"), ("operator", "cg"), ("pattern", "strided")]);

// On Fermi, with the larger L1.
const LINES: Row = Row::At(&[("group", "compiled, scattered"), ("compiled", "ca"), ("l1", "large")]);
const SECTORS: Row = Row::At(&[("group", "compiled, scattered"), ("compiled", "cg"), ("l1", "large")]);

// And a table, with the smaller one.
const SMALL: Row = Row::At(&[("group", "compiled, table"), ("compiled", "ca"), ("l1", "small")]);
const PAST_SMALL: Row = Row::At(&[("group", "compiled, table"), ("compiled", "cg"), ("l1", "small")]);

/// The chip that a row ran on.
fn chip(report: &LabReport, row: Row) -> Option<Cell> {
    Some(Cell::text(row.find(report)?.counters?.model?.model.chip.split(" (").next()?))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD],
    words: &[],
    removes: &[],
    left_out: &["strided"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new("Bypassing L1, a stencil takes {} times as long.", &[Times(CG, CA, &TIME)]),
    Conclusion::new(
        "On an {}, a stencil takes {} from L2 with L1 (ca), {} without (cg). Fermi loses on scattered words ({}, without L1 {}) and \
         on a table larger than an L1 of 16 KiB ({}, without L1 {}).",
        &[
            Whole(|report| chip(report, CA)),
            Of(CA, &BEYOND_L1),
            Of(CG, &BEYOND_L1),
            Of(LINES, &BEYOND_L1),
            Of(SECTORS, &BEYOND_L1),
            Of(SMALL, &BEYOND_L1),
            Of(PAST_SMALL, &BEYOND_L1),
        ],
    )
    .holds(&[Holds::More(2, 1), Holds::More(3, 4), Holds::More(5, 6)]),
    Conclusion::new(
        "A stencil finds {} of its sectors in L1; bypassing L1, {} times as many bytes come from beyond it. Strided words gain nothing: \
         {} either way.",
        &[Of(CA, &HIT_SHARE), Times(CG, CA, &BEYOND_L1), Of(STRIDED, &BEYOND_L1), Of(STRIDED_PAST, &BEYOND_L1)],
    )
    .holds(&[Holds::Same(2, 3)]),
    Conclusion::new(
        "A stencil finds {} of its sectors in L1; bypassing L1, {} times as many bytes come from beyond it.",
        &[Of(CA, &HIT_SHARE), Times(CG, CA, &BEYOND_L1)],
    )
    .holds(&[Holds::If(|report| {
        let bytes = |row: Row| BEYOND_L1.of(row.find(report)?)?.value;
        bytes(STRIDED).is_none() || bytes(STRIDED) != bytes(STRIDED_PAST)
    })]),
];
