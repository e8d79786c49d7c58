//! Writes `measurements/labs.md` from the measurements: every number of every lab, and every kernel
//! beside nvcc's. [`super`] calls it. Pure: it returns the text.

use std::fmt::Write;

use wording::paragraph;
use wording::units::{milliseconds, three_digits};

use super::measurements::{Results, Run};
use super::{nvcc, plan};
use crate::program::Machine;
use crate::tables::{head, line};

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

/// A table for each lab.
fn labs(text: &mut String, results: &Results) {
    text.push_str("\n## The labs\n");
    for arguments in plan::LABS {
        let Some(Run { copy_gbps, variants, .. }) = results.runs.get(*arguments) else { continue };
        let _ = write!(text, "\n### {}\n\n", plan::lab(arguments));
        let _ = write!(text, "```text\ncargo run --release -p host -- {arguments}\n```\n\n");
        let computes = variants.iter().any(|variant| variant.gflops.is_some());
        let moves = variants.iter().any(|variant| variant.gbps.is_some());
        let in_flight = variants.iter().any(|variant| variant.bytes_in_flight.is_some());
        let warm = variants.iter().any(|variant| variant.warm_time_ms.is_some());
        let limited = variants.iter().any(|variant| variant.percent_of_limit.is_some());
        let mut titles = vec!["variant"];
        if in_flight {
            titles.extend(["occupancy, %", "KB in flight per SM"]);
        }
        titles.push("time");
        if warm {
            titles.push("warm");
        }
        titles.push("spread, %");
        if moves {
            titles.extend(["GB/s", "of the copy, %"]);
        }
        if computes {
            titles.push("GFLOP/s");
        }
        if limited {
            titles.push("of the limit, %");
        }
        titles.push("speedup");
        head(text, &titles);
        for variant in variants {
            let number = |value: Option<f64>| value.map_or("-".to_owned(), three_digits);
            let mut cells = vec![variant.name.clone()];
            if in_flight {
                cells.extend([number(variant.occupancy), number(variant.bytes_in_flight.map(|bytes| bytes / 1e3))]);
            }
            cells.push(milliseconds(variant.time_ms));
            if warm {
                cells.push(variant.warm_time_ms.map_or("-".to_owned(), milliseconds));
            }
            cells.push(format!("{:.1}", variant.spread_percent));
            if moves {
                cells.extend([number(variant.gbps), number(variant.percent_of_copy)]);
            }
            if computes {
                cells.push(number(variant.gflops));
            }
            if limited {
                cells.push(number(variant.percent_of_limit));
            }
            cells.push(number(variant.speedup));
            line(text, cells.into_iter());
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
    use super::super::measurements::Variant;
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
