//! Markdown for the documents of `results` and `compare`: tables, paragraphs, and numbers in them. Pure.

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

/// A paragraph in lines of at most `width` characters.
pub fn wrapped(paragraph: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
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

/// The geometric mean.
pub fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

/// A time with the unit that suits it.
pub fn milliseconds(time: f64) -> String {
    if time < 1.0 { format!("{} us", three_digits(time * 1e3)) } else { format!("{} ms", three_digits(time)) }
}

/// At least three significant digits.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        small if small < 0.9995 => format!("{value:.3}"),
        small if small < 9.995 => format!("{value:.2}"),
        small if small < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_summed_up() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
        assert_eq!([0.0123, 19.09, 2484.06].map(milliseconds), ["12.3 us", "19.1 ms", "2484 ms"]);
    }

    #[test]
    fn paragraphs_are_wrapped() {
        let text = wrapped(&"word ".repeat(60), 110);
        assert!(text.lines().all(|line| line.len() <= 110) && text.lines().count() == 3, "{text}");
    }
}
