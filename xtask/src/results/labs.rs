//! Writes `measurements/labs.md` from the measurements: every number of every lab, and every kernel
//! beside nvcc's. [`super`] calls it. Pure: it returns the text.

use std::fmt::Write;

use wording::paragraph;
use wording::units::{milliseconds, three_digits};

use super::measurements::{Results, Run, Variant};
use super::{nvcc, plan};
use crate::program::{Machine, lab};
use crate::tables::{extremes, geometric_mean, head, line};

/// The whole document.
pub(super) fn of(results: &Results) -> String {
    let Machine { device, nvcc, .. } = &results.machine;
    let mut text = format!(
        "# The labs' times\n\n{}\n",
        paragraph(&format!(
            "Every time on one {device}. [RESULTS.md](../docs/RESULTS.md) says what they show, and how they were taken. The spread is half \
             the distance between the quartiles. \"Of the copy\" is the part of the bandwidth that the driver's own copy from device \
             to device reached with as many bytes in the same run; \"of the limit\" that of the memory's bandwidth, or of the f32 \
             arithmetic where that is closer."
        ))
    );
    labs(&mut text, results);
    kernels(&mut text, results, nvcc);
    text
}

/// A column: its title, and its cells.
type Column = (&'static str, fn(&Variant) -> Option<String>);

/// The columns of a lab's table after the names. One without any number is left out.
const COLUMNS: [Column; 10] = [
    ("occupancy, %", |variant| variant.bytes_in_flight.and(variant.occupancy).map(three_digits)),
    ("KB in flight per SM", |variant| variant.bytes_in_flight.map(|bytes| three_digits(bytes / 1e3))),
    ("time", |variant| Some(milliseconds(variant.time_ms))),
    ("warm", |variant| variant.warm_time_ms.map(milliseconds)),
    ("spread, %", |variant| Some(format!("{:.1}", variant.spread_percent))),
    ("GB/s", |variant| variant.gbps.map(three_digits)),
    ("of the copy, %", |variant| variant.percent_of_copy.map(three_digits)),
    ("GFLOP/s", |variant| variant.gflops.map(three_digits)),
    ("of the limit, %", |variant| variant.percent_of_limit.map(three_digits)),
    ("speedup", |variant| variant.speedup.map(three_digits)),
];

/// A table for each lab.
fn labs(text: &mut String, results: &Results) {
    text.push_str("\n## The labs\n");
    for arguments in plan::LABS {
        let Some(Run { copy_gbps, variants, .. }) = results.runs.get(*arguments) else { continue };
        let _ = write!(text, "\n### {}\n\n", lab(arguments));
        let _ = write!(text, "```text\ncargo run --release -p host -- {arguments}\n```\n\n");
        let known = |column: &&Column| variants.iter().any(|variant| (column.1)(variant).is_some());
        let columns: Vec<&Column> = COLUMNS.iter().filter(known).collect();
        let titles = columns.iter().map(|(title, _)| *title);
        head(text, &std::iter::once("variant").chain(titles).collect::<Vec<_>>());
        for variant in variants {
            let cells = columns.iter().map(|(_, cell)| cell(variant).unwrap_or_else(|| "-".to_owned()));
            line(text, std::iter::once(variant.name.clone()).chain(cells));
        }
        if let Some(copy) = copy_gbps {
            let _ = write!(text, "\nThe device's own copy: {copy:.0} GB/s.\n");
        }
    }
}

/// Our kernels beside nvcc's.
fn kernels(text: &mut String, results: &Results, compiler: &str) {
    let _ = write!(
        text,
        "\n## Rust and nvcc\n\n{}\n\n",
        paragraph(&format!(
            "Medians with our kernels and with those of `docs/compare`, compiled by nvcc {compiler}: the times of a kernel's first \
             variant, and the geometric mean, least and greatest of the ratios of all its variants."
        ))
    );
    head(text, &["lab", "kernels", "Rust / nvcc", "range"]);
    for (lab, kernels) in nvcc::by_lab(results) {
        let ratios = nvcc::ratios(&kernels);
        let [least, most] = extremes(&ratios);
        let numbers = [format!("{:.2}", geometric_mean(&ratios)), format!("{least:.2}..{most:.2}")];
        line(text, [lab.to_owned(), kernels.len().to_string()].into_iter().chain(numbers));
    }
    text.push('\n');
    head(text, &["kernel", "variants", "Rust", "nvcc", "Rust / nvcc", "from", "to"]);
    for arguments in plan::TWINS {
        for kernel in nvcc::kernels(results, arguments) {
            let [least, most] = kernel.extremes();
            let [rust, nvcc] = kernel.times();
            let cells = [
                format!("`{}`", kernel.name),
                kernel.variants.len().to_string(),
                milliseconds(rust),
                milliseconds(nvcc),
                format!("{:.2}", kernel.ratio()),
                format!("{least:.2}"),
                format!("{most:.2}"),
            ];
            line(text, cells.into_iter());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_times_and_limits_are_shown_where_they_were_measured() {
        let variant = |warm_time_ms| Variant {
            name: "padded".into(),
            time_ms: 0.02,
            warm_time_ms,
            spread_percent: 0.5,
            gbps: Some(400.0),
            percent_of_copy: Some(50.0),
            percent_of_limit: warm_time_ms.map(|_| 8.14),
            gflops: None,
            speedup: Some(1.0),
            occupancy: None,
            bytes_in_flight: None,
        };
        let document = |warm| {
            let run = Run { copy_gbps: None, conclusions: vec![], variants: vec![variant(warm)] };
            of(&Results { runs: [("transpose".to_owned(), run)].into(), ..Results::default() })
        };
        let old = document(None);
        assert!(old.contains("| variant | time | spread, % | GB/s | of the copy, % | speedup |"), "{old}");
        let new = document(Some(0.01));
        assert!(new.contains("| padded | 20.0 us | 10.0 us | 0.5 | 400 | 50.0 | 8.14 | 1.00 |"), "{new}");
    }
}
