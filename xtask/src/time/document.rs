//! `docs/TIME.md`: predicted times beside measured ones. Pure.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::data::{Measurements, Predictions};
use super::errors::{self, Errors, LARGE, Pair, percent, signed};
use super::held_out;
use super::history::History;
use super::limits::{self, Profiles};
use crate::tables::{head, line};

const INTRODUCTION: &str = "\
# Predicted times, compared with measured ones

Written by `cargo xtask time` from [results/time.json](results/time.json), the predictions of
`--predict` on `sim:hopper`, and [results/h200.json](results/h200.json), the cold times on an
NVIDIA H200. Do not edit it.

The model was fitted to measurements of these labs, so their numbers say how well it fits.
[Kernels outside the labs](#kernels-outside-the-labs) say how well it predicts. An error is the
predicted time over the measured one, less 1.
";

const LIMITS: &str = "\
## What is not predicted

- Tensor cores, bulk copies, clusters of blocks and surfaces: a row says so, and has no time.
- Copies and fills by the driver: they are no kernels.
- Warm times of the labs are predicted, and not compared here.
- Instruction caches and page tables are not modelled, nor whole loops that `ptxas` unrolls.
- Registers are estimated from the PTX. `--thread-registers` gives the number that a compiler
  reports.
- A launch on blocks that wait for each other runs as a whole, up to 32 million instructions of
  warps. Any other sample ends after 9 million. If no block has ended by then, one of them runs to
  its end without caches, up to 67 million, and the beginnings of blocks stand for the rest: `nbody`
  of 65,536, 131,072 and 262,144 bodies is predicted to take 2.75, 11.1 and 44.1 ms on an H100, and
  takes 3.43, 12.9 and 48.5 (2026-11-28). A launch that goes on beyond these has no time, nor one of
  so long blocks that wait for each other without being launched to do so (`gram`: best).

## Known to be wrong

- Long blocks that change as they go on are timed by how they begin.
- Each multiprocessor has its share of L2 and DRAM at any moment. In truth one that asks for much
  while others wait at barriers gets more.
- A loop of a few instructions takes longer: an H100's scheduler does a branch back each 4.8 cycles
  (four instructions, all warps resident), the model each two.
- Sums of floats by all warps of a block in one word of shared memory take up to twice as long: the
  model's warps do not make each other's compare-and-swap fail.
- A table of more than half of L2 that is read all over misses more (32 MiB on an H100: 1.2 times as
  long as predicted), since each partition of L2 keeps its own copies.
- A launch takes as long as an average multiprocessor. Where some have much more to do than others,
  as in `mandelbrot 640 x 480`, it takes longer.
- Addresses all over L2 (`cache`: cg-table) take twice as long as is predicted: there are no slices
  of L2.
- Down columns of memory (`pitch`: columns), L2 has lost most lines before the next column needs
  them. In a sample of the blocks it keeps a third: an H100 moves 4.3 GB, the model 2.5.
- Columns that few threads add up (`rows`: column-means-global) take up to 1.5 times as long as
  predicted, and two streams down columns 1.3 times. `rows`: column-means-shared uses all of DRAM's
  bandwidth on an H200; in the model, gaps between rows cost it a quarter.
- Random sectors all over memory (`cache`: scattered) take an H200 1.14 times as long: what gaps
  cost is from an H100. With a small L1 (`dlcm-ca-small-l1-scattered`) they take 1.5 times as long;
  it is not known why.
- One warp alone whose lanes meet in words of shared memory takes 1.5 times as long for its atomic
  operations.
- A multiprocessor's order of loads and stores is `ptxas`'s at its best: it has more loads under way
  than `ptxas` does (`matmul_tile64 512`).
- Of 47 launches of new kernels (histograms, columns, gathers, loops), predicted for an H100 before
  they were timed, the median error was 8.9 %, and nine in ten were within 27 %; with two changes
  that came after, 7.6 % and 24 %.
- The model's last changes were chosen on micro-benchmarks of an H200 and an H100 (slices of L2 for
  atomic operations, those of shared memory by what they do, atomic operations on one address, cold
  launches, tags of L1), on what `ptxas` makes of the kernels (loops unrolled by four, values of the
  whole grid in uniform registers, predicates, loads ahead of stores to other memories, halves of 64
  bits, registers for loads that are moved up, operands of products and sums), and on `transpose`,
  `access`, `banks`, `launch`, `reduce`, `rows`, `pitch` and the kernels outside (open rows of DRAM,
  modified data in L2, tables that fit L2, pairs of sectors all over DRAM).

## In exercises

`cargo learn run` predicts what a student's change gains on an H200: the cold time of all launches
beside that of the kernels as handed out, at the sizes under `[predicted]` in the exercise's
`goals.toml`. Some exercises have a goal in the ratio
([WRITING_EXERCISES](WRITING_EXERCISES.md#goals-in-predicted-time)), which their model solution
reaches on the GPU, too. Starter and solution on an H200, by `host run` at those sizes
(2026-11-27):

| exercise | measured, us | predicted, us | ratio measured | predicted | goal |
| --- | ---: | ---: | ---: | ---: | ---: |
| `columns_to_rows` | 29.2, 9.96 | 28.7, 8.64 | 2.93 | 3.32 | 2.5 |
| `padding` | 13.4, 7.66 | 12.0, 7.19 | 1.75 | 1.67 | 1.25 |
| `swizzle` | 13.3, 7.98 | 11.4, 7.33 | 1.67 | 1.56 | 1.25 |
| `transpose` | 29.4, 12.0 | 31.1, 11.6 | 2.45 | 2.67 | 2 |
| `transpose_wide` | 21.4, 9.28 | 24.9, 8.53 | 2.31 | 2.92 | 2 |
| `shared_tile` | 10.6, 7.23 | 11.5, 6.67 | 1.46 | 1.73 | 1.4 |
| `reduce_first_add` | 14.8, 9.30 | 13.3, 8.42 | 1.60 | 1.58 | 1.3 |
| `wide_words` | 9.82, 8.30 | 8.91, 8.12 | 1.18 | 1.10 |  |
| `reduce_shuffle` | 8.19, 8.02 | 8.07, 8.06 | 1.02 | 1.00 |  |
| `read_only` | 11.3, 11.3 | 10.5, 10.6 | 1.00 | 0.99 |  |
| `neighbours_once` | 11.0, 13.1 | 10.4, 11.4 | 0.84 | 0.91 |  |

Exercises whose ratio is off have no such sizes: by the times in [EXERCISES](EXERCISES.md),
`constant_broadcast`, `structure_of_arrays` and `three_words` are predicted to gain more than they
do, `bank_stride`, `reduce_banks` and `reduce_last_warp` less.

## Other models

Each model's numbers stand in `crates/simt/src/model/timing.rs` with their sources. `hopper` and
`h100` are compared with our measurements, `g80`, `tesla`, `volta`, `ampere` and `ada` with the
published ones above. All others are from data sheets, not verified, and their reports say so.

Two numbers of `g80` and `tesla` are from memory, not verified: the latency of an integer division
(600 to 700 cycles, Wong et al. 2010) and the 10 registers of a tiled product (Ryoo et al. 2008).
That a partition takes four pixels a cycle was verified: reviews of the GeForce 8800 GTX count 24
ROPs in six partitions at 575 MHz.
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
    let (mut pairs, mut missing): (Vec<Pair<'_>>, BTreeMap<&str, usize>) = <_>::default();
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
                None => {
                    let unknown = match row {
                        Some(_) => "nothing is launched but the driver's copies and fills",
                        None => "the run has no row of this name now",
                    };
                    let why = row.and_then(|row| row.not_predicted.as_deref()).unwrap_or(unknown);
                    *missing.entry(why).or_default() += 1;
                }
            }
        }
    }
    summary(&mut text, &pairs, &missing, &predictions.date);
    by_run(&mut text, &pairs);
    large(&mut text, &pairs);
    limits::write(&mut text, &predictions.profiled, profiles);
    held_out::write(&mut text, &predictions.held_out, held_out);
    history.write(&mut text, &predictions.history);
    text + LIMITS
}

fn summary(text: &mut String, pairs: &[Pair<'_>], missing: &BTreeMap<&str, usize>, date: &str) {
    let errors = Errors::of(pairs);
    let (known, same) = errors::occupancies(pairs);
    let _ = writeln!(text, "\n## The labs, in all ({date})\n");
    head(text, &["what", "target", "reached"]);
    let rows = [
        ("rows compared", "", errors.count().to_string()),
        ("median error", "6 %", percent(errors.median())),
        ("nine in ten are within", "17 %", percent(errors.ninth())),
        ("rows within 25 %", "", percent(errors.within(LARGE))),
        (
            "pairs of a run that differ by more than 5 %, in the right order",
            "98 %",
            errors::in_order(errors::order_in_groups(pairs)),
        ),
        ("occupancy as on the GPU", "", format!("{same} of {known}")),
    ];
    for (what, target, reached) in rows {
        line(text, [what.to_owned(), target.to_owned(), reached].into_iter());
    }
    if !missing.is_empty() {
        let _ = writeln!(text, "\nMeasured rows without a prediction:\n");
        missing.iter().for_each(|(why, count)| {
            let _ = writeln!(text, "- {count}: {why}");
        });
    }
}

fn by_run(text: &mut String, pairs: &[Pair<'_>]) {
    let _ = writeln!(
        text,
        "\n## The labs, by run\n\nTau is Kendall's, over the pairs of a run whose measured times differ at all.\n"
    );
    head(text, &["run", "rows", "median", "nine in ten", "lowest", "highest", "tau"]);
    for (run, pairs) in errors::groups(pairs) {
        let errors = Errors::of(pairs.iter().copied());
        let tau = errors::tau(errors::order(&pairs, 0.0)).map_or("-".to_owned(), |tau| format!("{tau:.2}"));
        let cells = [
            format!("`{run}`"),
            pairs.len().to_string(),
            percent(errors.median()),
            percent(errors.ninth()),
            signed(errors.lowest),
            signed(errors.highest),
            tau,
        ];
        line(text, cells.into_iter());
    }
}

fn large(text: &mut String, pairs: &[Pair<'_>]) {
    let mut far: Vec<_> = pairs.iter().filter(|pair| pair.error().abs() > LARGE).collect();
    far.sort_by(|one, other| other.error().abs().total_cmp(&one.error().abs()));
    if !far.is_empty() {
        let _ = writeln!(text, "\n## The labs, rows that are more than 25 % off\n");
        head(text, &["row", "measured, ms", "predicted, ms", "error", "predicted limit"]);
        for pair in far {
            let cells = [
                format!("`{}`: {}", pair.group, pair.name),
                format!("{:.4}", pair.measured_ms),
                format!("{:.4}", pair.predicted_ms),
                signed(pair.error()),
                pair.limiter.to_owned(),
            ];
            line(text, cells.into_iter());
        }
    }
    text.push('\n');
}
