//! Predicted times compared with measured ones: how far off they are, and whether they are in the right order. Pure.

use std::collections::BTreeMap;

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
        self.group.split(' ').next().unwrap_or_default()
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
    /// The errors with their signs.
    pub lowest: f64,
    pub highest: f64,
}

impl Errors {
    /// The errors of these rows.
    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a Pair<'a>>) -> Self {
        let all: Vec<f64> = pairs.into_iter().map(Pair::error).collect();
        let extreme = |of: fn(f64, f64) -> f64| all.iter().copied().reduce(of).unwrap_or(f64::NAN);
        let (lowest, highest) = (extreme(f64::min), extreme(f64::max));
        let mut sorted: Vec<f64> = all.iter().map(|error| error.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted, lowest, highest }
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

/// Pairs of rows of a group whose measured times differ: how many, and how many are predicted in this order.
pub(super) fn order(pairs: &[&Pair<'_>], different: f64) -> (usize, usize) {
    let (mut all, mut right) = (0, 0);
    for (index, one) in pairs.iter().enumerate() {
        for other in &pairs[index + 1..] {
            let (low, high) = match one.measured_ms <= other.measured_ms {
                true => (one, other),
                false => (other, one),
            };
            if high.measured_ms > low.measured_ms * (1.0 + different) {
                all += 1;
                right += usize::from(high.predicted_ms > low.predicted_ms);
            }
        }
    }
    (all, right)
}

/// As [`order`], over all groups.
pub(super) fn order_in_groups(pairs: &[Pair<'_>]) -> (usize, usize) {
    let orders = groups(pairs).into_values().map(|pairs| order(&pairs, DIFFERENT));
    orders.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// The rows of each group.
pub(super) fn groups<'a, 'b>(pairs: impl IntoIterator<Item = &'b Pair<'a>>) -> BTreeMap<&'a str, Vec<&'b Pair<'a>>>
where
    'a: 'b,
{
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    pairs.into_iter().for_each(|pair| all.entry(pair.group).or_default().push(pair));
    all
}

/// Rows whose occupancy is known: how many, and for how many it is as on the GPU.
pub(super) fn occupancies(pairs: &[Pair<'_>]) -> (usize, usize) {
    let known = pairs.iter().filter_map(|pair| pair.occupancy);
    known.fold((0, 0), |(all, same), (one, other)| (all + 1, same + usize::from((one - other).abs() < 1.0)))
}

pub(super) fn percent(part: f64) -> String {
    format!("{} %", percents(part))
}

/// As [`percent`], in a column that has the unit in its heading.
pub(super) fn percents(part: f64) -> String {
    format!("{:.1}", part * 100.0)
}

/// An error with its sign, in percent.
pub(super) fn signed_percents(part: f64) -> String {
    format!("{:+.0}", part * 100.0)
}

/// The lowest and the highest error, in percent.
pub(super) fn range(errors: &Errors) -> String {
    format!("{}..{}", signed_percents(errors.lowest), signed_percents(errors.highest))
}

/// How many pairs are in the right order, for a table.
pub(super) fn in_order((all, right): (usize, usize)) -> String {
    format!("{} of {all}", percent(right as f64 / all.max(1) as f64))
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
        assert_eq!(order(&pairs.iter().collect::<Vec<_>>(), DIFFERENT), (2, 0));
        assert_eq!(order(&pairs.iter().collect::<Vec<_>>(), 0.0), (3, 0));
        assert_eq!(order_in_groups(&pairs), (2, 0));
        assert_eq!(occupancies(&pairs), (3, 3));
        let errors = Errors::of(&pairs);
        assert!((errors.ninth() - 0.5).abs() < 1e-12 && (errors.lowest + 0.5).abs() < 1e-12);
        assert!((errors.within(0.25) - 2.0 / 3.0).abs() < 1e-12);
    }
}
