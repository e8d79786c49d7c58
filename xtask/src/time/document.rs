//! `docs/TIME.md`: predicted times beside measured ones. Pure.

use std::fmt::Write;

use super::data::{Measurements, Predictions};
use super::errors::{self, Pair};
use super::held_out;
use super::history::History;
use super::limits::{self, Profiles};

const INTRODUCTION: &str = "\
# Predicted times, compared with measured ones

For whoever wants to know how far a predicted time can be trusted. `cargo xtask time` writes this
page from [measurements](../measurements/README.md); do not edit it.

An error is the predicted time over the measured one, less 1. Times are cold. The model was fitted
to the labs, so their errors say how well it fits. The errors of [other
kernels](#kernels-outside-the-labs) say how well it predicts.
";

const REST: &str = "\
## What is not predicted

- Tensor cores, bulk copies, clusters of blocks, surfaces, and the driver's copies and fills.
- Instruction caches, page tables, and whole loops that `ptxas` unrolls are not modelled.
- Registers are estimated from the PTX; `--thread-registers` takes a compiler's number.
- A sample of blocks ends after 9 million warp instructions (32 million where blocks wait for each
  other), or with its first block, after 67 million at most. Longer blocks have no time, nor have
  long ones that wait for each other without a cooperative launch (`gram`: best).

## Known to be wrong

- Long blocks are timed by how they begin: `nbody` of 65,536 bodies is predicted to take 2.75 ms on
  an H100, and takes 3.43 (2026-11-28).
- All multiprocessors are taken for equal, each with its share of L2 and DRAM. That is wrong where
  few have much to do (`mandelbrot`), or where the others wait at barriers.
- Slices of L2 are not modelled: addresses all over L2 (`cache`: cg-table) take twice as long as
  predicted.
- Columns of large matrices (`pitch`, `rows`: column-means) are off by 25 to 40 %: L2 keeps fewer of
  their lines on an H100 than in the model.
- With a small L1, random sectors all over memory take 1.5 times as long (`cache`).
- Loops of a few instructions take longer, and so, up to twice as long, do sums of floats by all
  warps of a block in one word of shared memory.

## In exercises

`cargo learn run` predicts how many times as fast as the starter a student's kernels are on an H200,
at the sizes under `[predicted]` in `goals.toml`. Some exercises have a goal in that ratio
([WRITING_EXERCISES](WRITING_EXERCISES.md#goals-in-predicted-time)). For the solutions, by `host
run` at those sizes (2026-11-27):

| exercise | ratio measured | predicted | goal |
| --- | ---: | ---: | ---: |
| `columns_to_rows` | 2.93 | 3.32 | 2.5 |
| `padding` | 1.75 | 1.67 | 1.25 |
| `swizzle` | 1.67 | 1.56 | 1.25 |
| `transpose` | 2.45 | 2.67 | 2 |
| `transpose_wide` | 2.31 | 2.92 | 2 |
| `shared_tile` | 1.46 | 1.73 | 1.4 |
| `reduce_first_add` | 1.60 | 1.58 | 1.3 |

Exercises whose ratio is off have no such sizes, such as `constant_broadcast` and `bank_stride`.
";

/// The document.
pub(super) fn of(
    predictions: &Predictions,
    measurements: &Measurements,
    held_out: &held_out::Measured,
    history: &History,
    profiles: &Profiles,
) -> String {
    let mut text = INTRODUCTION.to_owned();
    let (mut pairs, mut missing) = (Vec::new(), 0);
    for (run, measured) in &measurements.runs {
        let rows = predictions.runs.get(run).map_or(&[][..], Vec::as_slice);
        for (index, measured) in measured.variants.iter().enumerate() {
            let row = rows.get(index).filter(|row| row.name == measured.name);
            let row = row.or_else(|| rows.iter().find(|row| row.name == measured.name));
            match row.and_then(|row| Some((row, row.time_ms?))) {
                Some((predicted, time_ms)) => pairs.push(Pair {
                    group: run,
                    name: &measured.name,
                    predicted_ms: time_ms,
                    measured_ms: measured.time_ms,
                    limiter: predicted.limiter.as_deref().unwrap_or_default(),
                    occupancy: predicted.occupancy_percent.zip(measured.occupancy),
                }),
                None => missing += 1,
            }
        }
    }
    let _ = writeln!(text, "\n## The labs, on an H200 ({})\n", predictions.date);
    let missing = [("without a prediction", vec![missing.to_string()])];
    errors::summary(&mut text, &["reached"], &[&pairs], ["6 %", "17 %", "98 %"], &missing);
    errors::by_group(&mut text, "lab", errors::groups(&pairs, Pair::lab));
    text.push('\n');
    held_out::write(&mut text, &predictions.held_out, held_out);
    limits::write(&mut text, &predictions.profiled, profiles);
    history.write(&mut text, &predictions.history);
    text + REST
}
