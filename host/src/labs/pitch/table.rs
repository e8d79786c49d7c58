//! The table of the lab: its accesses and layouts, its flags, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;

use crate::labs::inputs::{DefaultSize, MatrixFlags, MemoryNeeds};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{self, AsFast, Fact, Of};
use crate::report::measures::{A_LOAD, A_LOAD_IN_UNITS, MOVED_A_LOAD};
use crate::report::{
    Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Meaning, Measure, Row, Target, of_fact,
};
use crate::units::percent;

/// The columns of the lecture's matrix.
pub(super) const COLUMNS: DefaultSize = DefaultSize { on_gpu: 120, on_simulator: 120 };
pub(super) const ROWS: DefaultSize = DefaultSize { on_gpu: 1 << 19, on_simulator: 512 };

/// The matrix and its transpose, linear and with a pitch that may be four times as long, and an
/// output for each; the matrix and a result on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "copying a matrix", on_device: 12, on_host: 2 };

/// How a variant reads the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Rows,
    Columns,
    Transposed,
    Copies,
}

impl Variants for Access {
    const TITLE: &'static str = "Accesses";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("rows", "Each warp reads 32 floats of a row", Self::Rows).flag("by-rows"),
        variant("columns", "Each warp reads 32 floats of a column", Self::Columns).flag("by-columns").timed(),
        variant("transposed", "Each warp reads 32 floats of a row of the transposed copy", Self::Transposed).timed(),
        variant("copies", "Copy to and from the device", Self::Copies).timed(),
    ];
}

/// How the matrix is stored: the index in [`OnDevice`](super::OnDevice).
#[derive(Clone, Copy)]
pub(super) struct Layout(pub(super) usize);

impl Variants for Layout {
    const TITLE: &'static str = "Layouts";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("linear", "Rows directly after each other", Self(0)),
        variant("pitched", "Rows that each start at the device's preferred alignment", Self(1)),
    ];
}

/// The flags of `host pitch`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) accesses: Chosen<Access>,
    #[command(flatten)]
    pub(super) layouts: Chosen<Layout>,
    #[command(flatten)]
    pub(super) matrix: MatrixFlags,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 128, value_parser = whole_number(1, 1024u32))]
    pub(super) block: u32,
}

const LINEAR: Row = Row::Named("rows-linear");
const PITCHED: Row = Row::Named("rows-pitched");
const COLUMNS_PITCHED: Row = Row::Named("columns-pitched");
const TRANSPOSED: Row = Row::Named("transposed-pitched");
const LINEAR_LINES: Gap = Of(Row::Named("rows-linear on fermi"), &LOADED_LINES);
const PITCHED_LINES: Gap = Of(Row::Named("rows-pitched on fermi"), &LOADED_LINES);

/// How much more memory the pitched matrix takes.
const EXTRA_MEMORY: Measure = of_fact("extra_memory", |variant| {
    let extra = variant.fact("extra_memory_%")?.as_f64()?;
    Some(Cell::new(extra, if extra > 0.0 { percent(extra) } else { "no".to_owned() }))
});

/// The lines of 128 bytes that a load takes through the model's L1.
const LOADED_LINES: Measure = of_fact("lines", |variant| {
    let counters = variant.counters.as_ref()?;
    Some(Cell::number(counters.model?.global_load.transactions as f64 / counters.global.load.requests as f64))
});

/// What padding gains on Fermi, and on the device.
const ON_FERMI: &[Gap] = &[
    Fact(LINEAR, "pitch_bytes"),
    Fact(PITCHED, "pitch_bytes"),
    Of(Row::Named("rows-pitched on fermi"), &MOVED_A_LOAD),
    Of(Row::Named("rows-linear on fermi"), &MOVED_A_LOAD),
    Of(PITCHED, &EXTRA_MEMORY),
    Of(PITCHED, &MOVED_A_LOAD),
    Of(LINEAR, &MOVED_A_LOAD),
];

/// Whether the device counts as every GPU since Volta does.
fn is_newer(report: &LabReport) -> bool {
    LINEAR.find(report).and_then(|row| row.fact("model")?.as_str()) == Some(NEWER)
}

const NEWER_BESIDE: Holds = Holds::If(is_newer);

/// The floats of a row.
fn columns(report: &LabReport) -> Option<u64> {
    report.parameters.get("cols")?.as_u64()
}

/// Whether each row of a linear matrix begins at a sector's boundary.
fn sectors_align(report: &LabReport) -> bool {
    columns(report).is_some_and(|columns| columns.is_multiple_of(8))
}

/// What to reach on the lab's page in a browser.
pub(super) const GOALS: &[Goal] = &[Goal {
    ask: "Choose the columns such that a pitched matrix takes no more memory than a linear one.",
    row: PITCHED,
    measure: &EXTRA_MEMORY,
    unit: " more memory",
    bound: Bound::AtMost(Target::Number(0.0)),
    except: &[],
}];

/// The model whose cache has lines of 128 bytes.
pub(super) const LINES: &str = "fermi";

/// What the simulator without a model counts like.
pub(super) const NEWER: &str = "since volta";

/// What the two are.
pub(super) const MODELS: &[Meaning] =
    &[(LINES, "A Tesla C2050, whose L1 has lines of 128 bytes"), (NEWER, "Sectors of 32 bytes")];

/// What a load moves on each.
pub(super) const MOVES: [(&str, &str); 2] =
    [(LINES, "Fermi, lines of 128 bytes"), (NEWER, "since Volta, sectors of 32 bytes")];

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &["pitch_bytes", "extra_memory_%"],
    columns: &[MOVED_A_LOAD],
    words: &[],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "By rows the pitched matrix is {} as the linear one; its transposed copy is {} as its columns.",
        &[AsFast(PITCHED, LINEAR), AsFast(TRANSPOSED, COLUMNS_PITCHED)],
    ),
    Conclusion::new(
        "On Fermi, padding rows of {} bytes to {}, so that each starts at a line of 128 bytes, moves {} bytes for each requested instead \
         of {}, for {} more memory. Since Volta, with sectors of 32 bytes, it gains nothing: {} with and without.",
        ON_FERMI,
    )
    .holds(&[Holds::More(3, 2), Holds::Same(5, 6), NEWER_BESIDE]),
    Conclusion::new(
        "On Fermi, padding rows of {} bytes to {}, so that each starts at a line of 128 bytes, moves {} bytes for each requested instead \
         of {}, for {} more memory; since Volta {} instead of {}.",
        ON_FERMI,
    )
    .holds(&[Holds::More(3, 2), Holds::More(6, 5), NEWER_BESIDE]),
    Conclusion::new(
        "On Fermi, padding rows of {} bytes to {}, so that each starts at a line of 128 bytes, moves {} bytes for each requested instead \
         of {}, for {} more memory.",
        ON_FERMI,
    )
    .holds(&[Holds::More(3, 2), Holds::If(|report| !is_newer(report))]),
    Conclusion::new(
        "By rows, a load takes {} with and without padding, since rows of {} bytes start at a sector anyway; padding takes {} more memory.",
        &[Of(LINEAR, &A_LOAD_IN_UNITS), Fact(LINEAR, "pitch_bytes"), Of(PITCHED, &EXTRA_MEMORY), Of(PITCHED, &A_LOAD_IN_UNITS)],
    )
    .holds(&[Holds::Same(0, 3), Holds::If(sectors_align)]),
    Conclusion::new(
        "By rows, a load takes {} with and without padding, which takes {} more memory.",
        &[Of(LINEAR, &A_LOAD_IN_UNITS), Of(PITCHED, &EXTRA_MEMORY), Of(PITCHED, &A_LOAD_IN_UNITS)],
    )
    .holds(&[Holds::Same(0, 2), Holds::If(|report| !sectors_align(report))]),
    Conclusion::new(
        "By rows, a load takes {} of the linear matrix and {} of the pitched one, which takes {} more memory.",
        &[Of(LINEAR, &A_LOAD_IN_UNITS), Of(PITCHED, &A_LOAD), Of(PITCHED, &EXTRA_MEMORY), Of(LINEAR, &A_LOAD)],
    )
    .holds(&[Holds::Differ(1, 3)]),
    Conclusion::new("The last warp of a row has idle lanes and needs fewer sectors, so the mean is below 4.", &[Of(LINEAR, &A_LOAD)])
        .holds(&[Holds::If(|report| columns(report).is_some_and(|columns| (1..=24).contains(&(columns % 32))))]),
    Conclusion::new("Through Fermi's L1 a load takes {} lines of 128 bytes either way.", &[LINEAR_LINES, PITCHED_LINES])
        .holds(&[Holds::Same(0, 1)]),
    Conclusion::new(
        "Through Fermi's L1 a load takes {} lines of 128 bytes from the linear matrix, where two warps may share one, \
         and {} from the pitched one.",
        &[LINEAR_LINES, PITCHED_LINES],
    )
        .holds(&[Holds::Differ(0, 1)]),
    Conclusion::new(
        "By columns, a load takes {} either way; by rows of the transposed copy, {}.",
        &[Of(COLUMNS_PITCHED, &A_LOAD_IN_UNITS), Of(TRANSPOSED, &A_LOAD), Of(Row::Named("columns-linear"), &A_LOAD_IN_UNITS)],
    )
    .holds(&[Holds::Same(0, 2)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("rows", "64")],
    row: "rows-linear on fermi",
    beside: "rows-pitched on fermi",
    tabled: true,
    access: "global load",
    goals: GOALS,
    slider: Some(Slider { flag: "cols", title: "columns", range: (100, 140, 120), other: 128, with: "" }),
    ..Showcase::DEFAULTS
};
