//! Markdown for the documents of `results` and `compare`: tables, and means of numbers. Pure.

use std::fmt::Write;

/// The head of a table: the first column aligned to the left, the others to the right.
pub fn head(text: &mut String, titles: &[&str]) {
    let _ = writeln!(text, "| {} |", titles.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(titles.len() - 1));
}

/// A line of a table.
pub fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

/// The median.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0,
    }
}

/// Names in a sentence: `a, b and c`.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        one_or_none => one_or_none.concat(),
    }
}

/// The least and the greatest.
pub fn extremes(numbers: &[f64]) -> [f64; 2] {
    [f64::min, f64::max].map(|of| numbers.iter().copied().reduce(of).unwrap_or(f64::NAN))
}

/// The geometric mean.
pub fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_summed_up() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(extremes(&[3.0, 1.0, 2.0]), [1.0, 3.0]);
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }
}
