//! What the lab shows first, concludes, plots and asks for.

use picture::Scale;

use super::table::{AMOUNT, COPIED, WAY, kib};
use crate::labs::showcase::{Showcase, Slider};
use crate::report::Gap::{Fact, Of, Times, Whole};
use crate::report::measures::{GBPS, LOAD_REQUESTS, PREDICTED_GBPS};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Measure, Row, Rows, Section, Sweep, Target,
    VariantReport,
};
use crate::units;

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[AMOUNT],
    columns: &[],
    words: &[
        ("streams-1", "in turn"),
        ("streams-2", "overlapped"),
        ("streams-4", "overlapped"),
        ("mapped", "zero-copy"),
        ("managed", "page faults"),
    ],
    removes: &[],
    left_out: &[
        "to-device-pageable-1",
        "to-device-pageable-16",
        "to-device-pageable-512",
        "to-device-pageable-16384",
        "to-device-pinned-16",
        "to-device-pinned-512",
        "to-device-pinned-16384",
        "to-host-pageable-1",
        "to-host-pageable-16",
        "to-host-pageable-512",
        "to-host-pageable-16384",
        "to-host-pinned-16",
        "to-host-pinned-512",
        "to-host-pinned-16384",
        "on-device-1",
        "on-device-16",
        "on-device-512",
        "on-device-16384",
        "to-peer-1",
        "to-peer-16",
        "to-peer-512",
        "to-peer-16384",
    ],
};

/// A row's time: measured, or else predicted.
const EITHER_TIME: Measure = Measure::new(Section::Time, "either_time_ms", &["time"], Better::Lower, |variant| {
    let time = milliseconds(variant)?;
    Some(Cell::new(time, units::milliseconds(time)))
})
.unit("ms");

/// Likewise its bandwidth.
const EITHER_GBPS: Measure = Measure::new(Section::Time, "either_gbps", &["GB/s"], Better::Higher, |variant| {
    Some(Cell::number(bandwidth(variant)?))
})
.unit("GB/s");

fn milliseconds(variant: &VariantReport) -> Option<f64> {
    let measured = variant.timing.map(|timing| timing.median_ms);
    measured.or_else(|| Some(variant.predicted_time()?.time_ms))
}

fn bandwidth(variant: &VariantReport) -> Option<f64> {
    Some(variant.useful_bytes as f64 / milliseconds(variant)? / 1e6)
}

/// A row of copies, of the least and of the most bytes.
const SMALL: Row = Row::At(&[(WAY, "to-device-pinned")]);
const LARGE: Row = Row::LastAt(&[(WAY, "to-device-pinned")]);
const PAGEABLE: Row = Row::LastAt(&[(WAY, "to-device-pageable")]);
const ONE_STREAM: Row = Row::Named("streams-1");
const STREAMS: Row = Row::Named("streams-4");
const COPIED_ONCE: Row = Row::Named("copied");
const MANAGED: Row = Row::Named("managed");
const PREFETCHED: Row = Row::Named("prefetched");

/// Whether times are measured or predicted, in a word.
fn whose(report: &LabReport) -> Option<Cell> {
    Some(Cell::text(if report.device.is_gpu() { "Measured" } else { "Predicted" }))
}

/// The knee: the size at which a copy from pinned memory reaches half of the bandwidth of the largest,
/// if it costs what the smallest does and its bytes at that bandwidth.
fn knee(report: &LabReport) -> Option<Cell> {
    let [small, large] = [SMALL, LARGE].map(|row| row.find(report));
    let (small, large) = (small?, large?);
    let (bytes, time) = (large.useful_bytes as f64, milliseconds(large)?);
    let latency = milliseconds(small)?;
    (time > 10.0 * latency).then(|| {
        let knee = latency * bytes / (time - latency);
        Cell::number(kib(knee as u64))
    })
}

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "{}: a copy of {} KiB takes {}, which is latency; {} KiB of pinned memory move at {} GB/s, {} times as fast \
         as pageable memory. Half of that bandwidth is reached at {} KiB. Chunks in four streams take {} instead of {} in one: \
         copies in both directions and the kernel overlap.",
        &[
            Whole(whose),
            Fact(SMALL, AMOUNT),
            Of(SMALL, &EITHER_TIME),
            Fact(LARGE, AMOUNT),
            Of(LARGE, &EITHER_GBPS),
            Times(LARGE, PAGEABLE, &EITHER_GBPS),
            Whole(knee),
            Of(STREAMS, &EITHER_TIME),
            Of(ONE_STREAM, &EITHER_TIME),
        ],
    )
    .holds(&[Holds::More(8, 7)]),
    Conclusion::new(
        "Chunks in four streams take {} instead of {} in one: copies in both directions and the kernel overlap.",
        &[Of(STREAMS, &EITHER_TIME), Of(ONE_STREAM, &EITHER_TIME)],
    )
    .holds(&[Holds::More(1, 0), Holds::If(|report| LARGE.find(report).is_none())]),
    Conclusion::new(
        "A kernel that reads managed memory takes {}, and {} if that was prefetched.",
        &[Of(MANAGED, &EITHER_TIME), Of(PREFETCHED, &EITHER_TIME)],
    )
    .holds(&[Holds::More(0, 1)]),
    Conclusion::new(
        "The chunks' kernels make {} load requests, and one kernel for all makes {}: what streams gain is time.",
        &[Of(STREAMS, &LOAD_REQUESTS), Of(COPIED_ONCE, &LOAD_REQUESTS)],
    )
    .holds(&[Holds::Same(0, 1)]),
];

pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: COPIED,
    title: "size, KiB",
    scale: Scale::Log,
    series: &[WAY],
    rows: Rows::All,
    timed: (&GBPS, Scale::Log),
    counted: (&[&PREDICTED_GBPS], Scale::Log),
}];

/// Microseconds of a row, for the page's goal.
const MICROSECONDS: Measure =
    Measure::new(Section::Predicted, "either_time_us", &["time, us"], Better::Lower, |variant| {
        Some(Cell::number(1e3 * milliseconds(variant)?))
    });

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "262144"), ("rounds", "128"), ("streams-1", ""), ("streams-2", ""), ("streams-4", "")],
    row: "streams-4",
    slider: Some(Slider { flag: "chunks", title: "chunks", range: (1, 16, 1), other: 4, with: "" }),
    goals: &[Goal {
        ask: "Choose the chunks so that four streams take at most 43 us: too few overlap little, too many cost latency.",
        row: STREAMS,
        measure: &MICROSECONDS,
        unit: " us in four streams",
        bound: Bound::AtMost(Target::Number(43.0)),
        except: &[],
    }],
    tabled: true,
    ..Showcase::DEFAULTS
};
