//! What a terminal shows first of the lab, what the lab concludes, and what its page begins with.

use serde_json::Value;

use super::table::SIDE;
use crate::labs::showcase::{Showcase, Steps};
use crate::report::Gap::{AsFast, Of, Whole};
use crate::report::measures::{FROM_DRAM, FROM_L2, L1_HITS, LOADS_FOR_RESULTS, SHARED_LOADS_FOR_RESULTS};
use crate::report::{Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Row, Section, Target};

const GLOBAL_5: Row = Row::Named("global-5");
const SHARED_5: Row = Row::Named("shared-5");
const GLOBAL_25: Row = Row::Named("global-25");
const SHARED_25: Row = Row::Named("shared-25");
const REGISTERS_25: Row = Row::Named("registers-25");
const WIDE_25: Row = Row::Named("wide-25");
const GLOBAL_7: Row = Row::Named("global-7");
const REGISTERS_7: Row = Row::Named("registers-7");
const WIDE_7: Row = Row::Named("wide-7");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[LOADS_FOR_RESULTS, SHARED_LOADS_FOR_RESULTS, L1_HITS.among(Section::Counter), FROM_L2, FROM_DRAM],
    words: &[
        ("global-N", "straight"),
        ("shared-N", "a tile"),
        ("registers-25", "a tile, 4 a thread"),
        ("registers-7", "along z"),
        ("both-7", "a tile along z"),
        ("texture-N", "by a texture"),
        ("wide-N", "16-byte words"),
    ],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "With a tile in shared memory 5 points are {} as with loads from global memory, 25 points {}, and {} if a thread \
         computes four results. Seven points of a volume are {} if a block walks along z, and {} if it does that with words of \
         16 bytes.",
        &[
            AsFast(SHARED_5, GLOBAL_5),
            AsFast(SHARED_25, GLOBAL_25),
            AsFast(REGISTERS_25, GLOBAL_25),
            AsFast(REGISTERS_7, GLOBAL_7),
            AsFast(WIDE_7, GLOBAL_7),
        ],
    ),
    Conclusion::new(
        "For 32 results of 25 points a warp loads {} times, and finds {} % in L1: neighbours need the same values. A tile makes \
         them {} loads from shared memory; a thread that keeps values for four results in registers needs {}, and with \
         words of 16 bytes {} without a tile. In a volume L1 seldom has the planes above and below: L2 sends each value {} times, \
         and {} times if a thread keeps them in registers along z.{}",
        &[
            Of(GLOBAL_25, &LOADS_FOR_RESULTS),
            Of(GLOBAL_25, &L1_HITS),
            Of(SHARED_25, &SHARED_LOADS_FOR_RESULTS),
            Of(REGISTERS_25, &SHARED_LOADS_FOR_RESULTS),
            Of(WIDE_25, &LOADS_FOR_RESULTS),
            Of(GLOBAL_7, &FROM_L2),
            Of(REGISTERS_7, &FROM_L2),
            Whole(of_little),
        ],
    )
    .holds(&[Holds::More(2, 3), Holds::More(3, 4), Holds::More(5, 6)]),
    Conclusion::new(
        "In a volume L1 seldom has the planes above and below: L2 sends each value {} times, and {} times if a thread keeps them \
         in registers along z.",
        &[Of(GLOBAL_7, &FROM_L2), Of(REGISTERS_7, &FROM_L2)],
    )
    .holds(&[Holds::More(0, 1), Holds::If(|report| GLOBAL_25.find(report).is_none())]),
];

/// What the predicted times are not: those of the sizes for a GPU.
fn of_little(report: &LabReport) -> Option<Cell> {
    let is_predicted = report.variants.iter().any(|row| row.predicted_time().is_some());
    let is_little = report.parameters.get("rows").and_then(Value::as_u64).is_some_and(|rows| rows <= SIDE.on_simulator);
    Some(Cell::text(match is_predicted && is_little {
        true => {
            " The times are of little data, which leaves multiprocessors idle; large data ranks the variants \
                 differently: see --predict."
        }
        false => "",
    }))
}

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("points", "7"), ("volume", "32,32,128")],
    row: "global-7",
    beside: "",
    access: "global load",
    charted: Some(("global-7", "registers-7")),
    steps: Some(Steps {
        title: "seven points",
        rows: &[
            ("global-7", "straight"),
            ("shared-7", "a tile of a plane"),
            ("registers-7", "along z in registers"),
            ("both-7", "a tile along z"),
            ("wide-7", "16-byte words along z"),
        ],
    }),
    goals: &[Goal {
        ask: "Load less than two words for each result.",
        row: GLOBAL_7,
        measure: &LOADS_FOR_RESULTS,
        unit: " loads of a warp for 32 results",
        bound: Bound::AtMost(Target::Number(2.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
