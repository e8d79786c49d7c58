//! Writes `docs/RESULTS.md` from the measurements: a page that says what they show. [`super`] calls
//! it. Pure: it returns the text.

use std::collections::BTreeMap;
use std::fmt::Write;

use wording::units::milliseconds;
use wording::{WIDTH, paragraph, wrapped};

use super::measurements::{Results, Run};
use super::nvcc;
use super::plan::{self, Sheet};
use crate::program::Machine;
use crate::tables::{geometric_mean, head, line, listed};

/// How the level-2 cache was handled, for measurements with one time for each variant.
const ONE_TIME: &str = "Data is larger than the level-2 cache, or the cache is flushed before each launch; only launches shorter \
                        than 50 us are timed many at once, in a warm cache.";

/// The same for measurements with two.
const COLD_AND_WARM: &str = "Times are cold unless a column says otherwise: [TIMING.md](TIMING.md).";

/// Our kernels may take this many times as long as nvcc's.
const BOUND: f64 = 1.03;

/// The whole page.
pub(super) fn of(results: &Results) -> String {
    let Machine { device, driver, cuda, nvcc, date } = &results.machine;
    let mut variants = results.runs.values().flat_map(|run| &run.variants);
    let caches = match variants.any(|variant| variant.warm_time_ms.is_some()) {
        true => COLD_AND_WARM,
        false => ONE_TIME,
    };
    let link = plan::TIMES;
    let mut text = format!(
        "# Results\n\n\
         {}\n\n\
         ```text\n\
         cargo build --release -p host && cargo xtask results --measure\n\
         ```\n\n\
         {}\n\n",
        paragraph(&format!(
            "What the labs show, measured on one {device} (driver {driver}, CUDA {cuda}). [{link}](../{link}) has every time. \
             The date is {date}{}; the command:",
            earlier(results)
        )),
        paragraph(&format!(
            "Times are medians of as many launches as make them steady. Each result was compared with a reference on the CPU before \
             the kernel was timed, and was right. {caches}"
        ))
    );
    sheets(&mut text, results);
    compilers(&mut text, results, nvcc);
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
        let model = device.strip_prefix("NVIDIA ").unwrap_or(device);
        let heads: Vec<String> = sizes.iter().map(|size| format!("{model}, {size}")).collect();
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

/// Our kernels beside nvcc's, lab by lab.
fn compilers(text: &mut String, results: &Results, compiler: &str) {
    let mut by_lab: Vec<(&str, Vec<nvcc::Kernel<'_>>)> = Vec::new();
    for arguments in plan::TWINS {
        let (lab, kernels) = (plan::lab(arguments), nvcc::kernels(results, arguments));
        match by_lab.last_mut() {
            Some((last, found)) if *last == lab => found.extend(kernels),
            _ if kernels.is_empty() => {}
            _ => by_lab.push((lab, kernels)),
        }
    }
    let ratios = |kernels: &[nvcc::Kernel<'_>]| kernels.iter().map(nvcc::Kernel::ratio).collect::<Vec<_>>();
    let all: Vec<f64> = by_lab.iter().flat_map(|(_, kernels)| ratios(kernels)).collect();
    let _ = write!(
        text,
        "\n## Rust and nvcc\n\n{}\n\n",
        paragraph(&format!(
            "`docs/compare` has the same kernels in CUDA C++, with the same names and parameters. Compiled by nvcc {compiler} with its \
             usual optimisation, they were timed in turn with ours, on the same data and with the same check (`host LAB --ptx`). The \
             ratio is our median time over nvcc's: below 1, Rust is faster. Over {} kernels the geometric mean is {:.3}.",
            all.len(),
            geometric_mean(&all)
        ))
    );
    head(text, &["lab", "kernels", "Rust / nvcc", "range"]);
    for (lab, kernels) in &by_lab {
        let of_lab = ratios(kernels);
        let least = of_lab.iter().copied().fold(f64::INFINITY, f64::min);
        let most = of_lab.iter().copied().fold(0.0, f64::max);
        let numbers = [format!("{:.2}", geometric_mean(&of_lab)), format!("{least:.2}..{most:.2}")];
        line(text, [(*lab).to_owned(), kernels.len().to_string()].into_iter().chain(numbers));
    }
    let kernels = || by_lab.iter().flat_map(|(_, kernels)| kernels);
    let above = |ratio: f64| ratio > BOUND;
    let slow: Vec<&str> = kernels().filter(|kernel| above(kernel.ratio())).map(|kernel| kernel.name).collect();
    let variants = kernels().filter(|kernel| !above(kernel.ratio())).flat_map(|kernel| &kernel.variants);
    let variants = variants.filter(|twin| above(twin.ratio()));
    let variants: Vec<String> = variants.map(|twin| format!("{} {:.3}", twin.variant, twin.ratio())).collect();
    let slow = match slow.as_slice() {
        [] => format!("No kernel takes more than {BOUND} times nvcc's time."),
        slow => format!("Above {BOUND}: {}.", slow.join(", ")),
    };
    let one_variant = match variants.as_slice() {
        [] => String::new(),
        variants => format!(" Above it in one variant, though not in the mean: {}.", variants.join(", ")),
    };
    let _ = write!(text, "\n{}\n", paragraph(&(slow + &one_variant)));
}

/// What each lab says of its own numbers.
fn labs(text: &mut String, results: &Results) {
    text.push_str("\n## The labs\n\n");
    for arguments in plan::LABS {
        let Some(Run { conclusions, .. }) = results.runs.get(*arguments) else { continue };
        if !conclusions.is_empty() {
            let item = format!("**{}**: {}", plan::lab(arguments), conclusions.join(" "));
            let _ = writeln!(text, "{}", wrapped(&item, WIDTH, "- ", "  "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_how_the_times_were_taken() {
        let document = |warm_time_ms| {
            let run = serde_json::json!({"conclusions": [], "variants": [{
                "name": "padded", "time_ms": 0.02, "warm_time_ms": warm_time_ms, "spread_percent": 0.5,
            }]});
            let run = serde_json::from_value(run).unwrap();
            of(&Results { runs: [("transpose".to_owned(), run)].into(), ..Results::default() }).replace('\n', " ")
        };
        let (old, new) = (document(None), document(Some(0.01)));
        assert!(old.contains("warm cache.") && !old.contains("TIMING.md"), "{old}");
        assert!(new.contains("[TIMING.md](TIMING.md)") && !new.contains("50 us"), "{new}");
    }

    #[test]
    fn labs_that_were_measured_before_have_their_dates() {
        let text = |earlier: &[(&str, &str)]| {
            let dates = earlier.iter().map(|&(lab, date)| (lab.to_owned(), date.to_owned())).collect();
            let machine = Machine { date: "May 3".to_owned(), ..Machine::default() };
            of(&Results { machine, dates, ..Results::default() }).replace('\n', " ")
        };
        assert!(text(&[]).contains("date is May 3; the command:"), "{}", text(&[]));
        assert!(text(&[("dot", "May 1")]).contains("date is May 3 (`dot` on May 1); the command:"));
        let three = text(&[("dot", "May 1"), ("gram", "May 2"), ("rows", "May 1")]);
        assert!(three.contains(" (`dot` and `rows` on May 1; `gram` on May 2); the"), "{three}");
    }
}
