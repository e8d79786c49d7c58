//! `docs/TIME.md`: predicted times beside measured ones. Pure.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{MeasuredRow, Measurements, Predictions, Row};
use crate::tables::{head, line, median};

/// Pairs whose measured times differ by less have no order.
const DIFFERENT: f64 = 0.05;
/// Errors from here on are listed, row by row.
const LARGE: f64 = 0.25;

const INTRODUCTION: &str = "\
# Predicted times, compared with measured ones

Written by `cargo xtask time` from [results/time.json](results/time.json), the predictions of
`--predict` on `sim:hopper`, and [results/h200.json](results/h200.json), the cold times on an
NVIDIA H200. Do not edit it.

The model was fitted to measurements of these labs, so the numbers here say how well it fits, not
how well it predicts kernels that it has not seen. A prototype was 17 % off (median) on ten
kernels from elsewhere. An error is the predicted time over the measured one, less 1.
";

const LIMITS: &str = "\
## What is not predicted

- Tensor cores, bulk copies, clusters of blocks and surfaces: a row says so, and has no time.
- Copies and fills by the driver: they are no kernels.
- Warm times are predicted, and not compared here.
- Instruction caches, page tables and what `ptxas` unrolls are not modelled.
- Registers are estimated from the PTX. `--thread-registers` gives the number that a compiler
  reports.
- A launch on blocks that wait for each other runs as a whole, whatever its size.

## Known to be wrong

- Long blocks, as in `matmul`, `gram` and `rows`: a sample ends before their first blocks do, so it
  sees L2 as it is at the beginning, with few hits. The predicted time is too long, twice as long
  for naive products. Where not even one multiprocessor's blocks end, none is shown.
- The numbers in the tables are of the model after its last changes were chosen on `transpose`,
  `access` and `banks`: tiles as samples, and 6 registers beyond the live ones, not 8.

## Other models

Each model's numbers stand in `crates/simt/src/model/timing.rs` with their sources. Only `hopper`
is compared with measurements here. `volta`, `ampere` and `ada` take bandwidths and latencies from
public measurements, but no kernel's time was compared. All others are from data sheets, not
verified, and their reports say so.
";

/// A row that was predicted and measured.
struct Pair<'a> {
    run: &'a str,
    predicted: &'a Row,
    time_ms: f64,
    measured: &'a MeasuredRow,
}

impl Pair<'_> {
    fn error(&self) -> f64 {
        self.time_ms / self.measured.time_ms - 1.0
    }
}

/// The document.
pub(super) fn of(predictions: &Predictions, measurements: &Measurements) -> String {
    let mut text = INTRODUCTION.to_owned();
    let (mut pairs, mut missing): (Vec<Pair<'_>>, BTreeMap<&str, usize>) = <_>::default();
    for (run, measured) in &measurements.runs {
        let rows = predictions.runs.get(run).map_or(&[][..], Vec::as_slice);
        for (index, measured) in measured.variants.iter().enumerate() {
            let row = rows.get(index).filter(|row| row.name == measured.name);
            let row = row.or_else(|| rows.iter().find(|row| row.name == measured.name));
            match row.and_then(|row| Some((row, row.time_ms?))) {
                Some((predicted, time_ms)) => pairs.push(Pair { run, predicted, time_ms, measured }),
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
    text + LIMITS
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

fn signed(part: f64) -> String {
    format!("{:+.0} %", part * 100.0)
}

/// The absolute errors, the smallest first.
fn errors<'a>(pairs: impl Iterator<Item = &'a Pair<'a>>) -> Vec<f64> {
    let mut all: Vec<f64> = pairs.map(|pair| pair.error().abs()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The value that nine in ten do not exceed.
fn ninth(sorted: &[f64]) -> f64 {
    sorted.get((sorted.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Pairs of rows of a run whose measured times differ: how many, and how many are predicted in this order.
fn order(pairs: &[&Pair<'_>], different: f64) -> (usize, usize) {
    let (mut all, mut right) = (0, 0);
    for (index, one) in pairs.iter().enumerate() {
        for other in &pairs[index + 1..] {
            let (low, high) = match one.measured.time_ms <= other.measured.time_ms {
                true => (one, other),
                false => (other, one),
            };
            if high.measured.time_ms > low.measured.time_ms * (1.0 + different) {
                all += 1;
                right += usize::from(high.time_ms > low.time_ms);
            }
        }
    }
    (all, right)
}

/// Kendall's tau of a run: pairs in the right order less those in the wrong one, over all.
fn tau((all, right): (usize, usize)) -> Option<f64> {
    (all > 0).then(|| 2.0 * right as f64 / all as f64 - 1.0)
}

fn runs<'a, 'b>(pairs: &'b [Pair<'a>]) -> BTreeMap<&'a str, Vec<&'b Pair<'a>>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    pairs.iter().for_each(|pair| all.entry(pair.run).or_default().push(pair));
    all
}

fn summary(text: &mut String, pairs: &[Pair<'_>], missing: &BTreeMap<&str, usize>, date: &str) {
    let all = errors(pairs.iter());
    let within = |most: f64| all.iter().filter(|error| **error <= most).count() as f64 / all.len().max(1) as f64;
    let orders = runs(pairs).into_values().map(|pairs| order(&pairs, DIFFERENT));
    let (different, right) = orders.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let occupancy = pairs.iter().filter_map(|pair| Some((pair.predicted.occupancy_percent?, pair.measured.occupancy?)));
    let occupancy: Vec<_> = occupancy.collect();
    let same = occupancy.iter().filter(|(one, other)| (one - other).abs() < 1.0).count();
    let _ = writeln!(text, "\n## In all ({date})\n");
    head(text, &["what", "target", "reached"]);
    let rows = [
        ("rows compared", "", all.len().to_string()),
        ("median error", "6 %", percent(median(&all))),
        ("nine in ten are within", "17 %", percent(ninth(&all))),
        ("rows within 25 %", "", percent(within(0.25))),
        (
            "pairs of a run that differ by more than 5 %, in the right order",
            "98 %",
            format!("{} of {different}", percent(right as f64 / different.max(1) as f64)),
        ),
        ("occupancy as on the GPU", "", format!("{same} of {}", occupancy.len())),
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
        "\n## By run\n\nTau is Kendall's, over the pairs of a run whose measured times differ at all.\n"
    );
    head(text, &["run", "rows", "median", "nine in ten", "lowest", "highest", "tau"]);
    for (run, pairs) in runs(pairs) {
        let all = errors(pairs.iter().copied());
        let signs: Vec<f64> = pairs.iter().map(|pair| pair.error()).collect();
        let extreme = |of: fn(f64, f64) -> f64| signs.iter().copied().reduce(of).unwrap_or(f64::NAN);
        let tau = tau(order(&pairs, 0.0)).map_or("-".to_owned(), |tau| format!("{tau:.2}"));
        let cells = [
            format!("`{run}`"),
            pairs.len().to_string(),
            percent(median(&all)),
            percent(ninth(&all)),
            signed(extreme(f64::min)),
            signed(extreme(f64::max)),
            tau,
        ];
        line(text, cells.into_iter());
    }
}

fn large(text: &mut String, pairs: &[Pair<'_>]) {
    let mut far: Vec<_> = pairs.iter().filter(|pair| pair.error().abs() > LARGE).collect();
    far.sort_by(|one, other| other.error().abs().total_cmp(&one.error().abs()));
    if !far.is_empty() {
        let _ = writeln!(text, "\n## Rows that are more than 25 % off\n");
        head(text, &["row", "measured, ms", "predicted, ms", "error", "predicted limit"]);
        for pair in far {
            let limit = pair.predicted.limiter.clone().unwrap_or_default();
            let cells = [
                format!("`{}`: {}", pair.run, pair.measured.name),
                format!("{:.4}", pair.measured.time_ms),
                format!("{:.4}", pair.time_ms),
                signed(pair.error()),
                limit,
            ];
            line(text, cells.into_iter());
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, time_ms: f64) -> Row {
        Row {
            name: name.into(),
            time_ms: Some(time_ms),
            limiter: Some("DRAM".into()),
            not_predicted: None,
            occupancy_percent: None,
        }
    }

    #[test]
    fn errors_and_order() {
        let measured = |name: &str, time_ms| MeasuredRow { name: name.into(), time_ms, occupancy: None };
        let measured = [measured("a", 1.0), measured("b", 1.02), measured("c", 2.0)];
        let rows = [row("a", 1.1), row("b", 1.0), row("c", 1.0)];
        let pair = |index: usize| Pair {
            run: "r",
            predicted: &rows[index],
            time_ms: rows[index].time_ms.unwrap(),
            measured: &measured[index],
        };
        let pairs = [pair(0), pair(1), pair(2)];
        assert_eq!(order(&pairs.iter().collect::<Vec<_>>(), DIFFERENT), (2, 0));
        assert_eq!(order(&pairs.iter().collect::<Vec<_>>(), 0.0), (3, 0));
        assert_eq!(tau((3, 0)), Some(-1.0));
        assert_eq!(tau((0, 0)), None);
        let all = errors(pairs.iter());
        assert!((all[2] - 0.5).abs() < 1e-12 && ninth(&all) == all[2]);
    }
}
