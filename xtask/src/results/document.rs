//! Writes `docs/RESULTS.md` from the measurements. [`super`] calls it. Pure: it returns the text.

use std::collections::BTreeMap;
use std::fmt::Write;

use wording::paragraph;
use wording::units::{milliseconds, three_digits};

use super::measurements::{Results, Run, Twin};
use super::plan::{self, Sheet};
use crate::program::Machine;
use crate::tables::{geometric_mean, head, line, listed, median};

/// How the level-2 cache was handled, for measurements with one time for each variant.
const ONE_TIME: &str = "Data is larger than the level-2 cache, or the cache is flushed before each launch; only launches shorter \
                        than 50 us are timed many at once, in a warm cache.";

/// The same for measurements with two.
const COLD_AND_WARM: &str = "Data is larger than the level-2 cache, or each launch is timed twice: cold, alone and with the cache \
                             flushed before it, and warm, many launches back to back. The time is the cold one unless a column says \
                             otherwise. [TIMING.md](TIMING.md) has more. \"Of the limit\" is the part of the memory's bandwidth, or \
                             of the f32 arithmetic where that is closer.";

/// Our kernels may take this many times as long as nvcc's.
const BOUND: f64 = 1.03;

/// The whole document.
pub(super) fn of(results: &Results) -> String {
    let Machine { device, driver, cuda, nvcc, date } = &results.machine;
    let mut variants = results.runs.values().flat_map(|run| &run.variants);
    let caches = match variants.any(|variant| variant.warm_time_ms.is_some()) {
        true => COLD_AND_WARM,
        false => ONE_TIME,
    };
    let mut text = format!(
        "# Results\n\n\
         {}\n\n\
         ```text\n\
         cargo build --release -p host && cargo xtask results --measure\n\
         ```\n\n\
         {}\n\n",
        paragraph(&format!(
            "Every number here is from one {device} (driver {driver}, CUDA {cuda}), measured on {date}{} by",
            earlier(results)
        )),
        paragraph(&format!(
            "Times are medians of as many launches as make them steady. The spread is half the distance between the quartiles. Each \
             result was compared with a reference on the CPU before it was timed, and was right. \"Of the copy\" is the part of the \
             bandwidth that the driver's own copy from device to device reached with as many bytes in the same run. {caches}"
        ))
    );
    sheets(&mut text, results);
    twins(&mut text, results, nvcc);
    labs(&mut text, results);
    text
}

/// The labs that were measured before the others, and when.
fn earlier(results: &Results) -> String {
    let mut days: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for (lab, date) in results.earlier() {
        days.entry(date).or_default().push(format!("`{lab}`"));
    }
    let days: Vec<String> = days.iter().map(|(date, labs)| format!("{} on {date}", listed(labs))).collect();
    if days.is_empty() { String::new() } else { format!(" ({})", days.join("; ")) }
}

/// The lab sheet's tables.
fn sheets(text: &mut String, results: &Results) {
    let device = &results.machine.device;
    text.push_str("## The lab sheet's tables\n");
    for sheet in plan::SHEETS {
        let Sheet { title, about, commands, rows } = sheet;
        let _ = write!(text, "\n### {title}\n\n{}\n\n```text\n", paragraph(about));
        for (_, arguments) in *commands {
            let _ = writeln!(text, "cargo run --release -p host -- {arguments}");
        }
        text.push_str("```\n\n");
        let sizes: Vec<&str> = commands.iter().map(|(size, _)| *size).collect();
        let of_device = |size: &&str| format!("{device}, {size}");
        let heads: Vec<String> = sizes.iter().map(of_device).collect();
        head(text, &["", "the sheet"].into_iter().chain(heads.iter().map(String::as_str)).collect::<Vec<_>>());
        let time = |arguments: &str, variant: &str| {
            let run = results.runs.get(arguments)?;
            run.variants.iter().find(|found| found.name == variant).map(|found| found.time_ms)
        };
        for row in *rows {
            let ours = commands.iter().map(|(_, arguments)| time(arguments, row.variant));
            let ours = ours.map(|time| time.map_or("-".to_owned(), milliseconds));
            line(text, [row.what.to_owned(), format!("{:.2} ms", row.sheet_ms)].into_iter().chain(ours));
        }
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        let ratios = commands.iter().map(|(_, arguments)| {
            let ratio = Some(time(arguments, first.variant)? / time(arguments, last.variant)?);
            ratio.map(|ratio| format!("{ratio:.1}"))
        });
        let ratios = ratios.map(|ratio| ratio.unwrap_or_else(|| "-".to_owned()));
        let of_sheet = format!("{:.1}", first.sheet_ms / last.sheet_ms);
        line(text, ["the first over the last".to_owned(), of_sheet].into_iter().chain(ratios));
    }
}

/// Our kernels beside nvcc's.
fn twins(text: &mut String, results: &Results, nvcc: &str) {
    let _ = write!(
        text,
        "\n## Rust and nvcc\n\n{}\n\n",
        paragraph(&format!(
            "`docs/compare` has the same kernels in CUDA C++, with the same names and parameters. `host LAB --ptx` launches them in place \
             of ours: same data, same check, same stopwatch. They were compiled by nvcc {nvcc} with its usual optimisation, and timed in \
             turn with ours. The ratio is our median time over nvcc's, of all rounds: below 1, Rust is faster. A kernel that several \
             variants launch has a ratio for each."
        ))
    );
    head(text, &["kernel", "variants", "Rust", "nvcc", "Rust / nvcc", "from", "to"]);
    let (mut above, mut all, mut variants_above) = (Vec::new(), Vec::new(), Vec::new());
    for arguments in plan::TWINS {
        let Some(twins) = results.twins.get(*arguments) else { continue };
        let mut kernels: Vec<&str> = twins.iter().map(|twin| twin.kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        for kernel in kernels {
            let of_kernel: Vec<&Twin> = twins.iter().filter(|twin| twin.kernel == kernel).collect();
            let ratios: Vec<f64> = of_kernel.iter().map(|twin| twin.ratio()).collect();
            let mean = geometric_mean(&ratios);
            all.push(mean);
            if mean > BOUND {
                above.push(kernel.to_owned());
            }
            let slow = of_kernel.iter().filter(|twin| mean <= BOUND && twin.ratio() > BOUND);
            variants_above.extend(slow.map(|twin| format!("{} {:.3}", twin.variant, twin.ratio())));
            let first = of_kernel[0];
            let (least, most) =
                (ratios.iter().copied().fold(f64::INFINITY, f64::min), ratios.iter().copied().fold(0.0, f64::max));
            let cells = [
                format!("`{kernel}`"),
                of_kernel.len().to_string(),
                milliseconds(median(&first.rust_ms)),
                milliseconds(median(&first.nvcc_ms)),
                format!("{mean:.2}"),
                format!("{least:.2}"),
                format!("{most:.2}"),
            ];
            line(text, cells.into_iter());
        }
    }
    let _ = write!(
        text,
        "\n{}",
        paragraph(&format!(
            "Times are those of the first variant; the ratio of several is their geometric mean. Over all {} kernels the geometric mean \
             is {:.3}.",
            all.len(),
            geometric_mean(&all)
        ))
    );
    match above.as_slice() {
        [] => {
            let _ = writeln!(text, " No kernel takes more than {BOUND} times nvcc's time.");
        }
        above => {
            let _ = write!(text, "\n\n{}\n", paragraph(&format!("Above {BOUND}: {}.", above.join(", "))));
        }
    }
    if !variants_above.is_empty() {
        let sentence = format!(
            "Above {BOUND} in one variant, though not in the mean of the kernel's variants: {}.",
            variants_above.join(", ")
        );
        let _ = write!(text, "\n{}\n", paragraph(&sentence));
    }
}

/// A table for each lab.
fn labs(text: &mut String, results: &Results) {
    text.push_str("\n## The labs\n");
    for arguments in plan::LABS {
        let Some(Run { copy_gbps, conclusions, variants }) = results.runs.get(*arguments) else { continue };
        let _ = write!(text, "\n### {}\n\n", plan::lab(arguments));
        if !conclusions.is_empty() {
            let _ = write!(text, "{}\n\n", paragraph(&conclusions.join(" ")));
        }
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

impl Twin {
    /// Our time over nvcc's.
    fn ratio(&self) -> f64 {
        median(&self.rust_ms) / median(&self.nvcc_ms)
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
        assert!(old.replace('\n', " ").contains("warm cache.") && !old.contains("TIMING.md"), "{old}");
        let new = document(Some(0.01));
        assert!(new.contains("| padded | 20.0 us | 10.0 us | 0.5 | 400 | 50.0 | 8.14 | 1.00 |"), "{new}");
        assert!(new.contains("[TIMING.md](TIMING.md)") && !new.contains("50 us"), "{new}");
    }

    #[test]
    fn labs_that_were_measured_before_have_their_dates() {
        let text = |earlier: &[(&str, &str)]| {
            let dates = earlier.iter().map(|&(lab, date)| (lab.to_owned(), date.to_owned())).collect();
            let machine = Machine { date: "May 3".to_owned(), ..Machine::default() };
            of(&Results { machine, dates, ..Results::default() }).replace('\n', " ")
        };
        assert!(text(&[]).contains("measured on May 3 by"), "{}", text(&[]));
        assert!(text(&[("dot", "May 1")]).contains("measured on May 3 (`dot` on May 1) by"));
        let three = text(&[("dot", "May 1"), ("gram", "May 2"), ("rows", "May 1")]);
        assert!(three.contains(" (`dot` and `rows` on May 1; `gram` on May 2) by"), "{three}");
    }
}
