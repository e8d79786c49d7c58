//! Times, measured and predicted, and what follows from them.

use crate::report::explanations as explain;
use crate::report::measure::Better::{Higher, Lower, Neither};
use crate::report::measure::{Better, Cell, Measure, Section};
use crate::report::predicted::PredictedTime;
use crate::report::variant_report::VariantReport;
use crate::timing::Timing;
use crate::units::{self, three_digits};

/// A time, or what follows from it.
const fn time(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&VariantReport) -> Option<Cell>,
) -> Measure {
    Measure::new(Section::Time, key, title, better, of)
}

/// A median time.
fn median(timing: Option<&Timing>) -> Option<Cell> {
    timing.map(|timing| Cell::new(timing.median_ms, units::milliseconds(timing.median_ms)))
}

/// The median time, cold where there are two.
pub const TIME: Measure =
    time("time_ms", &["time,", "median"], Lower, |variant| median(variant.timing.as_ref())).unit("ms");

/// One series of times needs no name.
pub const ONE_TIME: &[Measure] = &[TIME];

/// Two series of times.
pub const COLD_AND_WARM: &[Measure] = &[
    TIME.titled(&["time,", "cold"]).explained(explain::cold),
    time("warm_time_ms", &["time,", "warm"], Lower, |variant| median(variant.warm_timing.as_ref())).unit("ms"),
];

/// What the task itself reads and writes, in a second.
pub const GBPS: Measure = time("gbps", &["GB/s"], Higher, |variant| variant.gbps.map(Cell::number)).unit("GB/s");

/// Floating-point operations that the task needs, in a second.
pub const GFLOPS: Measure =
    time("gflops", &["GFLOP/s"], Higher, |variant| variant.gflops.map(Cell::number)).unit("GFLOP/s");

/// The same in percent of the device's own copy.
pub const PERCENT_OF_COPY: Measure = time("percent_of_copy", &["% of", "copy"], Higher, |variant| {
    variant.percent_of_copy.map(|percent| Cell::new(percent, format!("{percent:.1}")))
})
.unit("%");

/// How many times as fast as the first row of its group.
pub const SPEEDUP: Measure = time("speedup", &["speed-up", "over 1st"], Higher, |variant| {
    variant.speedup.map(|speedup| Cell::new(speedup, format!("{speedup:.2}")))
});

/// What a terminal shows first of measured times.
pub const MEASURED: &[Measure] = &[TIME, GBPS, GFLOPS, SPEEDUP];

/// What follows from the times.
pub const RATES: &[Measure] = &[
    time("spread_percent", &["spread", "+- %"], Lower, |variant| {
        let percent = variant.timing.as_ref()?.spread_percent();
        Some(Cell::new(percent, format!("{percent:.1}")))
    })
    .unit("%"),
    GBPS,
    PERCENT_OF_COPY,
    GFLOPS,
    time("percent_of_limit", &["% of", "limit"], Higher, |variant| {
        variant.limit().map(|(_, percent)| Cell::new(percent, format!("{percent:.1}")))
    })
    .unit("%")
    .explained(explain::limits),
    SPEEDUP,
    time("gpu_occupancy_percent", &["occup.", "%"], Neither, |variant| {
        variant.occupancy.map(|occupancy| Cell::number(occupancy.percent))
    })
    .unit("%"),
];

/// What the simulator predicts.
const fn predicted(
    key: &'static str,
    title: &'static [&'static str],
    better: Better,
    of: fn(&PredictedTime) -> Option<Cell>,
) -> Measure {
    Measure::predicted(key, title, better, of).explained(explain::predicted)
}

/// The predicted time, cold.
pub const PREDICTED_TIME: Measure = predicted("predicted_time_ms", &["predicted", "time"], Lower, |time| {
    Some(Cell::new(time.time_ms, units::milliseconds(time.time_ms)))
})
.unit("ms");

/// The predicted bandwidth.
pub const PREDICTED_GBPS: Measure =
    predicted("predicted_gbps", &["predicted", "GB/s"], Higher, |time| time.gbps.map(Cell::number)).unit("GB/s");

/// How many times as fast as the first row on the same model, in a table of models.
pub const SPEEDUP_ON_MODEL: Measure =
    predicted("predicted_speedup", &["predicted", "speed-up", "over 1st"], Higher, |time| {
        time.speedup.map(|speedup| Cell::new(speedup, two_decimals(speedup)))
    });

/// Two decimals, as far as they are three digits.
fn two_decimals(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { three_digits(value) }
}

/// What a GPU would take, and why. Each title says that it is predicted; where the same row was
/// measured, the measured time stands before it.
pub const PREDICTED: &[Measure] = &[
    Measure::new(Section::Predicted, "measured_time_ms", &["measured", "time"], Lower, |variant| {
        variant.predicted_time()?.over_measured?;
        median(variant.timing.as_ref())
    })
    .unit("ms"),
    PREDICTED_TIME,
    predicted("predicted_over_measured", &["predicted", "/ measured"], Neither, |time| {
        time.over_measured.map(|ratio| Cell::new(ratio, format!("{ratio:.2}")))
    }),
    PREDICTED_GBPS,
    predicted("predicted_gflops", &["predicted", "GFLOP/s"], Higher, |time| time.gflops.map(Cell::number))
        .unit("GFLOP/s"),
    predicted("predicted_speedup", &["predicted", "speed-up", "over 1st"], Higher, |time| {
        time.speedup.map(|speedup| Cell::new(speedup, two_decimals(speedup)))
    })
    .explained(explain::predicted_speedups),
    predicted("predicted_limit", &["predicted", "limit"], Neither, |time| Some(Cell::text(time.limit.name())))
        .explained(explain::predicted_limits),
];
