//! The table of the lab: its variants, its flags, and what it concludes.

use std::path::PathBuf;

use clap::Args;
use device::Device;
use kernels::order::TILE;
use kernels::order_table as kernel;

use super::passes::Kernel;
use crate::flag_values::whole_number;
use crate::labs::models::is_plain;
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Whole};
use crate::report::measures::{DRAM_READ, DRAM_READ_OVER_IDEAL, L2_READ_HITS, TIME};
use crate::report::{Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Row, Section, Target};

/// The order of tiles.
#[derive(Clone, Copy)]
pub(super) enum TileWalk {
    Rows,
    Squares,
    Curve,
}

/// What a row runs.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The product in this order.
    Tiles(TileWalk),
    /// The passes over the table by this kernel, and whether with an access policy window.
    Passes(&'static Kernel, bool),
}

impl Way {
    /// Whether the device can do it: blocks of 1024 threads, and priorities from compute capability 8.0 on.
    pub(super) fn fits(self, device: &Device) -> bool {
        let asks = match self {
            Self::Passes(kernel, window) => {
                window || [kernel::order_table_first.name(), kernel::order_table_last.name()].contains(&kernel.name())
            }
            Self::Tiles(_) => return is_plain(device) || device.properties().max_threads_per_block >= TILE * TILE,
        };
        !asks || is_plain(device) || device.properties().compute_capability.major >= 8
    }
}

const fn passes(name: &'static str, help: &'static str, kernel: &'static Kernel) -> VariantSpec<Way> {
    variant(name, help, Way::Passes(kernel, false))
}

impl Variants for Way {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("row-by-row", "The tiles of a product, row by row", Self::Tiles(TileWalk::Rows)),
        variant("squares", "In bands of --side rows, each column by column", Self::Tiles(TileWalk::Squares)),
        variant("curve", "Along Hilbert's curve", Self::Tiles(TileWalk::Curve)),
        passes("table", "Passes over a table, each beside another part of a stream", &kernel::order_table),
        passes("streaming", "The same; the stream is loaded with ld.cs: read once", &kernel::order_table_streaming),
        passes("evict-first", "The stream has a policy: L2 is to evict it first", &kernel::order_table_first),
        passes(
            "evict-last",
            "The table has a policy: L2 is to evict it last; without a window nothing changes",
            &kernel::order_table_last,
        ),
        variant(
            "window",
            "The launch has an access policy window: the table",
            Self::Passes(&kernel::order_table, true),
        ),
    ];
}

/// The flags of `host order`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) ways: Chosen<Way>,
    /// Rows of A and of the product
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    pub(super) m: Option<u32>,
    /// Columns of B and of the product
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    pub(super) n: Option<u32>,
    /// Columns of A and rows of B
    #[arg(long, value_name = "NUMBER", conflicts_with = "input", value_parser = whole_number(1, u32::MAX))]
    pub(super) k: Option<u32>,
    /// Rows of tiles in a band of squares
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 4096u32))]
    pub(super) side: Option<u32>,
    /// Numbers in the table, of 4 bytes each; a multiple of 4
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(4, 1u32 << 30))]
    pub(super) entries: Option<u32>,
    /// Passes over the table, each beside as much of the stream
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 4096u32))]
    pub(super) passes: Option<u32>,
    /// Take A from this NumPy file, a float32 matrix, instead of a random one
    #[arg(long, value_name = "A.npy", conflicts_with_all = ["m", "n"])]
    pub(super) input: Option<PathBuf>,
    /// Take B from this NumPy file; otherwise B is random, and as wide as A is high
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub(super) input_b: Option<PathBuf>,
}

const ROWS: Row = Row::Named("row-by-row");
const SQUARES: Row = Row::Named("squares");
const CURVE: Row = Row::Named("curve");
const PLAIN: Row = Row::Named("table");
const FIRST_OUT: Row = Row::Named("evict-first");
const LAST_OUT: Row = Row::Named("evict-last");
const WINDOW: Row = Row::Named("window");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &["model"],
    columns: &[L2_READ_HITS.among(Section::Counter), DRAM_READ.among(Section::Counter), DRAM_READ_OVER_IDEAL],
    words: &[
        ("squares", "bands of --side rows"),
        ("curve", "Hilbert's"),
        ("table", "no hints"),
        ("streaming", "stream by ld.cs"),
        ("evict-first", "the stream"),
        ("evict-last", "the table"),
        ("window", "over the table"),
    ],
    removes: &[],
    left_out: &[],
};

/// What the models show that stand in for the simulator without one.
const BOTH: Conclusion = Conclusion::new(
    "Blocks that run together should share rows and columns: in squares they read {} from DRAM, along a curve {}, row by row {}.{} \
     Passes over a table beside a stream read {} from DRAM; {} if L2 \
     evicts the stream first, {} with a window. Evicting the table last changes nothing by itself: {}.",
    &[
        Of(SQUARES, &DRAM_READ),
        Of(CURVE, &DRAM_READ),
        Of(ROWS, &DRAM_READ),
        Whole(waits),
        Of(PLAIN, &DRAM_READ),
        Of(FIRST_OUT, &DRAM_READ),
        Of(WINDOW, &DRAM_READ),
        Of(LAST_OUT, &DRAM_READ),
    ],
)
.holds(&[Holds::More(2, 0), Holds::More(2, 1), Holds::More(4, 5), Holds::More(4, 6), Holds::Same(4, 7)]);

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "In squares the product is {} as row by row, along the curve {}{}. If the stream is to leave L2 first, the passes over the table \
         are {} as without a hint, with a window {}; if only the table is to leave last, {}.",
        &[
            AsFast(SQUARES, ROWS),
            AsFast(CURVE, ROWS),
            Whole(limited),
            AsFast(FIRST_OUT, PLAIN),
            AsFast(WINDOW, PLAIN),
            AsFast(LAST_OUT, PLAIN),
        ],
    ),
    BOTH,
    // Where not all of that can be said.
    Conclusion::new("{} {}{}", &[Whole(product), Whole(table), Whole(smaller)])
        .holds(&[Holds::If(|report| BOTH.sentence(report).is_none())]),
    Conclusion::new("{}", &[Whole(product)]).holds(&[Holds::If(|report| table(report).is_none())]),
    Conclusion::new("{}", &[Whole(table)]).holds(&[Holds::If(|report| product(report).is_none())]),
];

/// The bytes that a row reads from DRAM, and whether L2 had what was read again.
fn read(report: &LabReport, row: Row) -> Option<(Cell, bool)> {
    let row = row.find(report)?;
    Some((DRAM_READ.of(row)?, DRAM_READ_OVER_IDEAL.of(row)?.value? < 1.01))
}

/// What the orders of tiles show.
fn product(report: &LabReport) -> Option<Cell> {
    let ((squares, fits), (rows, rows_fit)) = (read(report, SQUARES)?, read(report, ROWS)?);
    if fits && rows_fit {
        return Some(Cell::text(format!("The factors fit in L2: each order of tiles reads {} from DRAM.", rows.text)));
    }
    (rows.value > squares.value).then(|| {
        let time = waits(report).unwrap_or_else(|| Cell::text(""));
        Cell::text(format!(
            "Blocks that run together should share rows and columns: in squares they read {} from DRAM, row by row {}.{}",
            squares.text, rows.text, time.text
        ))
    })
}

/// What the passes over the table show.
fn table(report: &LabReport) -> Option<Cell> {
    let (plain, fits) = read(report, PLAIN)?;
    let read_in_all = &plain.text;
    if fits {
        return Some(Cell::text(format!(
            "The table stays in L2 beside a stream: with a hint or without, its passes read {read_in_all} from DRAM."
        )));
    }
    let is_without_hints = report.device.simulates.is_some() && report.device.compute_capability.major < 8;
    let more = match read(report, FIRST_OUT) {
        Some((first, _)) if first.value < plain.value => format!(", and {} if L2 evicts the stream first.", first.text),
        None if is_without_hints => {
            ": the stream drives the table out. L2 has no priorities before compute capability 8.0.".to_owned()
        }
        _ => return None,
    };
    Some(Cell::text(format!("Passes over a table beside a stream read {read_in_all} from DRAM{more}")))
}

/// Where to see more, if all fits in L2.
fn smaller(report: &LabReport) -> Option<Cell> {
    let all_fit = [ROWS, SQUARES, PLAIN].iter().all(|row| read(report, *row).is_some_and(|(_, fits)| fits));
    let advice = " Without --device, models of GPUs whose L2 is smaller show what orders and hints do.";
    Some(Cell::text(if all_fit { advice } else { "" }))
}

/// What alike times say of orders that differ in the bytes from DRAM alone.
fn limited(report: &LabReport) -> Option<Cell> {
    let time = |row: Row| TIME.of(row.find(report)?)?.value;
    Some(Cell::text(if time(ROWS)? < 1.2 * time(CURVE)? { ": DRAM does not limit it" } else { "" }))
}

/// The same of predicted times.
fn waits(report: &LabReport) -> Option<Cell> {
    let limit = |row: Row| Some(row.find(report)?.predicted_time()?.limit.name());
    let waits = [ROWS, SQUARES].iter().all(|row| limit(*row) == Some("shared memory"));
    Some(Cell::text(if waits { " Time does not follow: shared memory limits this product." } else { "" }))
}

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:fermi"), ("row-by-row", ""), ("squares", "")],
    row: "squares",
    slider: Some(Slider { flag: "side", title: "rows of tiles in a band", range: (1, 16, 1), other: 8, with: "" }),
    goals: &[Goal {
        ask: "Read each byte of the factors from DRAM at most twice.",
        row: SQUARES,
        measure: &DRAM_READ_OVER_IDEAL,
        unit: " times the bytes needed",
        bound: Bound::AtMost(Target::Number(2.0)),
        except: &[],
    }],
    tabled: true,
    ..Showcase::DEFAULTS
};
