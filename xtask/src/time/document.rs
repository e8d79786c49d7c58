//! `docs/TIME.md`: predicted times beside measured ones; `measurements/time.md`: by lab and by family.
//! Pure.

use std::fmt::Write;

use super::data::{Measurements, Predictions};
use super::errors::{self, Pair};
use super::held_out;
use super::history::History;
use super::limits::{self, Profiles};

const INTRODUCTION: &str = "\
# Predicted times, compared with measured ones

For whoever wants to know how far a predicted time can be trusted. `cargo xtask time` writes this
page from [measurements](../measurements/README.md).

An error is the predicted time over the measured one, less 1; times are cold.
[time.md](../measurements/time.md) has the errors by lab and by family of kernels, and the causes of
the largest. The model was fitted to the labs: how well it predicts, other kernels show.
";

const REST: &str = "\
## What is not predicted

- Tensor cores, bulk reductions, clusters of blocks, surfaces, and the driver's copies and fills.
- Instruction caches, page tables, and whole loops that `ptxas` unrolls.
- A sample of blocks ends after 9 million warp instructions (32 million where blocks wait for each
  other) or 31 million sectors of L2, or with its first block, after 67 million instructions at
  most; a sector counts as two. Longer blocks have no time, nor have long ones that wait for each
  other without a cooperative launch (`gram`: best).

Registers are estimated from the PTX; `--thread-registers` takes a compiler's number.

## Known to be wrong

- Long blocks are timed by how they begin: `nbody` of 65,536 bodies is predicted to take 2.75 ms on
  an H100, and takes 3.43 (2026-11-28).
- Each multiprocessor gets an equal share of L2 and DRAM, also where few have much to do
  (`mandelbrot`) or the others wait at barriers.
- A share of L2 has no burst: with few blocks, tiles of 8 KiB are predicted to take up to 27 %
  longer than they do (`pipeline`).
- What `ptxas` spills is not in the PTX: `spill`: bounded-64 takes four times as long as predicted.
- Slices of L2 are not modelled: addresses all over L2 (`cache`: cg-table) take twice as long as
  predicted.
- Columns of large matrices (`pitch`, `rows`: column-means) are off by 25 to 40 %: L2 keeps fewer of
  their lines on an H100 than in the model.
- With a small L1, random sectors all over memory take 1.5 times as long (`cache`).
- Blocks that wait for each other: `consistency` takes up to three times as long as predicted, and a
  look-back by one thread of a block (`scan`: single) a tenth of it.
- Loops of a few instructions take longer, and so, up to twice as long, do sums of floats by all
  warps of a block in one word of shared memory.

## In exercises

Some exercises have a [goal in the predicted
speed-up](WRITING_EXERCISES.md#goals-in-predicted-time) over the starter on an H200. For the
solutions, by `host run` at those sizes (2026-11-27):

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

const GROUPS: &str = "\
# Predicted times, by lab and by family of kernels

Errors of predicted times, cold: [TIME.md](../docs/TIME.md) says what they mean. `cargo xtask time`
writes this page.
";

/// The document, and the page with the errors by lab and by family.
pub(super) fn of(
    predictions: &Predictions,
    measurements: &Measurements,
    held_out: &held_out::Measured,
    history: &History,
    profiles: &Profiles,
) -> (String, String) {
    let (mut text, mut groups) = (INTRODUCTION.to_owned(), GROUPS.to_owned());
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
    let heading = format!("\n## The labs, on an H200 ({})\n", predictions.date);
    let _ = writeln!(text, "{heading}");
    let missing = [("without a prediction", vec![missing.to_string()])];
    errors::summary(&mut text, &["reached"], &[&pairs], ["6 %", "17 %", "98 %"], &missing);
    groups.push_str(&heading);
    errors::by_group(&mut groups, "lab", errors::groups(&pairs, Pair::lab));
    text.push('\n');
    held_out::write(&mut text, &mut groups, &predictions.held_out, held_out);
    limits::write(&mut text, &predictions.profiled, profiles);
    history.write(&mut text, &mut groups, &predictions.history);
    (text + REST, groups)
}
