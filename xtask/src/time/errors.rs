//! Predicted times compared with measured ones: how far off they are, whether they are in the right
//! order, and the tables that say so. Pure.

use std::collections::BTreeMap;

use crate::tables::{extremes, head, line};

/// Pairs whose measured times differ by less have no order.
pub(super) const DIFFERENT: f64 = 0.05;
/// Errors from here on are listed, row by row.
pub(super) const LARGE: f64 = 0.25;

/// A row that was predicted and measured.
pub(super) struct Pair<'a> {
    /// What it is compared with for the order: a run of a lab, or a family of kernels.
    pub group: &'a str,
    pub name: &'a str,
    pub predicted_ms: f64,
    pub measured_ms: f64,
    /// What limits it, as predicted.
    pub limiter: &'a str,
    /// The occupancy, as predicted and as on the GPU.
    pub occupancy: Option<(f64, f64)>,
}

impl Pair<'_> {
    /// The lab whose run it is of.
    pub fn lab(&self) -> &str {
        crate::program::lab(self.group)
    }

    /// The predicted time over the measured one, less 1.
    pub fn error(&self) -> f64 {
        self.predicted_ms / self.measured_ms - 1.0
    }
}

/// Some rows in one table: how far off they are.
pub(super) struct Errors {
    /// Absolute errors, the smallest first.
    sorted: Vec<f64>,
    /// The lowest and the highest error, with their signs.
    extremes: [f64; 2],
}

impl Errors {
    /// The errors of these rows.
    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a Pair<'a>>) -> Self {
        let all: Vec<f64> = pairs.into_iter().map(Pair::error).collect();
        let extremes = extremes(&all);
        let mut sorted: Vec<f64> = all.iter().map(|error| error.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted, extremes }
    }

    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    pub fn median(&self) -> f64 {
        crate::tables::median(&self.sorted)
    }

    /// The error that nine in ten do not exceed.
    pub fn ninth(&self) -> f64 {
        let index = (self.count() * 9).div_ceil(10).saturating_sub(1);
        self.sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    /// The part of the rows whose errors do not exceed this.
    pub fn within(&self, most: f64) -> f64 {
        self.sorted.iter().filter(|error| **error <= most).count() as f64 / self.count().max(1) as f64
    }
}

/// Pairs of rows whose measured times differ: how many, and how many are predicted in this order.
/// Each row is its measured and its predicted time.
pub(super) fn order(rows: &[(f64, f64)], different: f64) -> (usize, usize) {
    let pairs =
        rows.iter().enumerate().flat_map(|(index, one)| rows[index + 1..].iter().map(move |other| (one, other)));
    let ordered = pairs.map(|(one, other)| if one.0 <= other.0 { (one, other) } else { (other, one) });
    let differ = ordered.filter(|(low, high)| high.0 > low.0 * (1.0 + different));
    differ.fold((0, 0), |(all, right), (low, high)| (all + 1, right + usize::from(high.1 > low.1)))
}

/// As [`order`], over all groups.
fn order_in_groups(pairs: &[Pair<'_>]) -> (usize, usize) {
    let orders = groups(pairs, |pair| pair.group).into_values();
    let orders = orders.map(|pairs| {
        order(&pairs.iter().map(|pair| (pair.measured_ms, pair.predicted_ms)).collect::<Vec<_>>(), DIFFERENT)
    });
    orders.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The rows of each group.
pub(super) fn groups<'a>(
    pairs: impl IntoIterator<Item = &'a Pair<'a>>,
    name: fn(&'a Pair<'a>) -> &'a str,
) -> BTreeMap<&'a str, Vec<&'a Pair<'a>>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    pairs.into_iter().for_each(|pair| all.entry(name(pair)).or_default().push(pair));
    all
}

/// Rows whose occupancy is known: how many, and for how many it is as on the GPU.
fn occupancies(pairs: &[Pair<'_>]) -> (usize, usize) {
    let known = pairs.iter().filter_map(|pair| pair.occupancy);
    known.fold((0, 0), |(all, same), (one, other)| (all + 1, same + usize::from((one - other).abs() < 1.0)))
}

pub(super) fn percent(part: f64) -> String {
    format!("{} %", percents(part))
}

/// As [`percent`], in a column that has the unit in its heading.
fn percents(part: f64) -> String {
    format!("{:.1}", part * 100.0)
}

/// An error with its sign, in percent.
pub(super) fn signed_percents(part: f64) -> String {
    format!("{:+.0}", part * 100.0)
}

/// A table of how far off some rows are: a column for each set of rows. The targets are those of
/// the median, of the error that nine in ten do not exceed, and of the pairs in order; `more` are
/// further lines.
pub(super) fn summary(
    text: &mut String,
    titles: &[&str],
    columns: &[&[Pair<'_>]],
    [median, ninth, ordered]: [&str; 3],
    more: &[(&str, Vec<String>)],
) {
    head(text, &[&["what", "target"], titles].concat());
    let errors: Vec<Errors> = columns.iter().map(|pairs| Errors::of(*pairs)).collect();
    let of = |of: fn(&Errors) -> String| errors.iter().map(of).collect::<Vec<_>>();
    let orders = columns.iter().map(|pairs| {
        let (all, right) = order_in_groups(pairs);
        format!("{} of {all}", percent(right as f64 / all.max(1) as f64))
    });
    let occupancies = columns.iter().map(|pairs| {
        let (known, same) = occupancies(pairs);
        format!("{same} of {known}")
    });
    let mut cells = |what: &str, target: &str, reached: Vec<String>| {
        line(text, [what.to_owned(), target.to_owned()].into_iter().chain(reached));
    };
    cells("compared", "", of(|errors| errors.count().to_string()));
    cells("median error", median, of(|errors| percent(errors.median())));
    cells("nine in ten are within", ninth, of(|errors| percent(errors.ninth())));
    cells("within 25 %", "", of(|errors| percent(errors.within(LARGE))));
    cells("pairs that differ by more than 5 %, in the right order", ordered, orders.collect());
    cells("occupancy as on the GPU", "", occupancies.collect());
    for (what, reached) in more {
        cells(what, "", reached.clone());
    }
}

/// A table of the errors of each group of rows, over all of them: of labs, or of families.
pub(super) fn by_group<'a>(text: &mut String, what: &str, groups: BTreeMap<&str, Vec<&'a Pair<'a>>>) {
    text.push('\n');
    head(text, &[what, "compared", "median error, %", "nine in ten, %", "errors, %"]);
    for (name, pairs) in groups {
        let errors = Errors::of(pairs.iter().copied());
        let range = errors.extremes.map(signed_percents).join("..");
        let cells =
            [name.to_owned(), pairs.len().to_string(), percents(errors.median()), percents(errors.ninth()), range];
        line(text, cells.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_order() {
        let pair = |name, measured_ms, predicted_ms| Pair {
            group: "r",
            name,
            predicted_ms,
            measured_ms,
            limiter: "DRAM",
            occupancy: Some((50.0, 50.2)),
        };
        let pairs = [pair("a", 1.0, 1.1), pair("b", 1.02, 1.0), pair("c", 2.0, 1.0)];
        assert_eq!(order(&[(1.0, 1.1), (1.02, 1.0), (2.0, 1.0)], DIFFERENT), (2, 0));
        assert_eq!(order(&[(1.0, 1.1), (1.02, 1.0), (2.0, 1.0)], 0.0), (3, 0));
        assert_eq!(order_in_groups(&pairs), (2, 0));
        assert_eq!(occupancies(&pairs), (3, 3));
        let errors = Errors::of(&pairs);
        assert!((errors.ninth() - 0.5).abs() < 1e-12 && (errors.extremes[0] + 0.5).abs() < 1e-12);
        assert!((errors.within(0.25) - 2.0 / 3.0).abs() < 1e-12);
    }
}
