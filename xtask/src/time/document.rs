//! `docs/TIME.md`: predicted times beside measured ones. Pure.

use std::collections::BTreeMap;
use std::fmt::Write;

use wording::paragraph;

use super::data::{Measurements, Predictions};
use super::errors::{self, Errors, LARGE, Pair, percent, percents, range, signed_percents};
use super::held_out;
use super::history::History;
use super::limits::{self, Profiles};
use crate::tables::{head, line};

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
  predicted, and a table of more than half of L2, read all over, 1.2 times as long.
- Down columns of memory, L2 keeps a third of the lines in a sample, and an H100 fewer: it moves 4.3
  GB where the model moves 2.5 (`pitch`: columns). Columns that few threads add up take up to 1.5
  times as long (`rows`: column-means-global). Gaps between rows cost DRAM less than in the model
  (`rows`: column-means-shared).
- With a small L1, random sectors all over memory take 1.5 times as long (`cache`), for unknown
  reasons.
- Loops of a few instructions take longer, and so, up to twice as long, do sums of floats by all
  warps of a block in one word of shared memory.
- Loads are moved ahead of their uses as far as `ptxas` may, not as it does (`matmul_tile64`).

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
| `wide_words` | 1.18 | 1.10 |  |
| `reduce_shuffle` | 1.02 | 1.00 |  |
| `read_only` | 1.00 | 0.99 |  |
| `neighbours_once` | 0.84 | 0.91 |  |

Exercises whose ratio is off have no such sizes: `constant_broadcast`, `structure_of_arrays` and
`three_words` are predicted to gain more than they do, `bank_stride`, `reduce_banks` and
`reduce_last_warp` less.
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
    by_lab(&mut text, &pairs);
    large(&mut text, &pairs);
    held_out::write(&mut text, &predictions.held_out, held_out);
    limits::write(&mut text, &predictions.profiled, profiles);
    history.write(&mut text, &predictions.history);
    text + REST
}

fn summary(text: &mut String, pairs: &[Pair<'_>], missing: &BTreeMap<&str, usize>, date: &str) {
    let errors = Errors::of(pairs);
    let (known, same) = errors::occupancies(pairs);
    let _ = writeln!(text, "\n## The labs, on an H200 ({date})\n");
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
        let all: Vec<String> = missing.iter().map(|(why, count)| format!("{count} ({why})")).collect();
        let sentence = format!("Measured rows without a prediction: {}.", all.join(", "));
        let _ = writeln!(text, "\n{}", paragraph(&sentence));
    }
}

/// The errors of each lab, over all of its runs.
fn by_lab(text: &mut String, pairs: &[Pair<'_>]) {
    let mut labs: BTreeMap<&str, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        labs.entry(pair.lab()).or_default().push(pair);
    }
    text.push('\n');
    head(text, &["lab", "rows", "median error, %", "nine in ten, %", "errors, %"]);
    for (lab, pairs) in labs {
        let errors = Errors::of(pairs.iter().copied());
        let cells = [
            format!("`{lab}`"),
            pairs.len().to_string(),
            percents(errors.median()),
            percents(errors.ninth()),
            range(&errors),
        ];
        line(text, cells.into_iter());
    }
}

/// The rows that are far off, the worst first; one that several runs of a lab have is listed once.
fn large(text: &mut String, pairs: &[Pair<'_>]) {
    let mut far: Vec<_> = pairs.iter().filter(|pair| pair.error().abs() > LARGE).collect();
    far.sort_by(|one, other| other.error().abs().total_cmp(&one.error().abs()));
    if !far.is_empty() {
        let mut labs: Vec<(&str, Vec<&Pair<'_>>)> = Vec::new();
        for pair in far {
            match labs.iter_mut().find(|(lab, _)| *lab == pair.lab()) {
                Some((_, rows)) if rows.iter().any(|row| row.name == pair.name) => {}
                Some((_, rows)) => rows.push(pair),
                None => labs.push((pair.lab(), vec![pair])),
            }
        }
        let row = |pair: &&Pair<'_>| format!("{} {}", pair.name, signed_percents(pair.error()));
        let of_lab = |(lab, rows): &(&str, Vec<&Pair<'_>>)| {
            format!("`{lab}`: {}", rows.iter().map(row).collect::<Vec<_>>().join(", "))
        };
        let all: Vec<String> = labs.iter().map(of_lab).collect();
        let sentence = format!("Errors above {:.0} %, in percent: {}.", LARGE * 100.0, all.join("; "));
        let _ = writeln!(text, "\n{}", paragraph(&sentence));
    }
    text.push('\n');
}
