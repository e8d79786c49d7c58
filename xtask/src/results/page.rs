//! Writes `docs/RESULTS.md` from the measurements: a page that says what they show. [`super`] calls
//! it. Pure: it returns the text.

use std::fmt::Write;

use wording::units::milliseconds;
use wording::{WIDTH, paragraph, wrapped};

use super::measurements::{Results, Run};
use super::nvcc;
use super::plan::{self, Sheet};
use crate::program::{Machine, lab};
use crate::tables::{geometric_mean, head, line};

/// Our kernels may take this many times as long as nvcc's.
const BOUND: f64 = 1.03;

/// The whole page.
pub(super) fn of(results: &Results) -> String {
    let Machine { device, driver, cuda, nvcc, date } = &results.machine;
    let link = plan::TIMES;
    let mut text = format!(
        "# Results\n\n\
         For whoever asks what the labs show on a GPU.\n\n\
         {}\n\n\
         ```text\n\
         cargo build --release -p host && cargo xtask results --measure\n\
         ```\n\n\
         {}\n\n",
        paragraph(&format!(
            "Measured on one {device} (driver {driver}, CUDA {cuda}, {date}{}). [{link}](../{link}) has every time; the command:",
            earlier(results)
        )),
        paragraph(
            "Times are medians of as many launches as make them steady, cold unless a column says otherwise: [TIMING.md](TIMING.md). Each \
             result was compared with a reference on the CPU before the kernel was timed, and was right."
        )
    );
    sheets(&mut text, results);
    compilers(&mut text, results, nvcc);
    labs(&mut text, results);
    text
}

/// Since when labs were measured, if some were before the others.
fn earlier(results: &Results) -> String {
    let first = results.earlier().map(|(_, date)| date).min();
    first.map_or(String::new(), |first| format!(", some labs since {first}"))
}

/// The lab sheet's tables.
fn sheets(text: &mut String, results: &Results) {
    let device = &results.machine.device;
    text.push_str("## The lab sheet's tables\n");
    for sheet in plan::SHEETS {
        let Sheet { title, about, commands, rows } = sheet;
        let first = commands[0].1;
        let _ = write!(text, "\n### {title}\n\n{}\n\n", paragraph(about));
        let _ = write!(text, "```text\ncargo run --release -p host -- {first}\n```\n\n");
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

/// Our kernels beside nvcc's.
fn compilers(text: &mut String, results: &Results, compiler: &str) {
    let by_lab = nvcc::by_lab(results);
    let means: Vec<(&str, f64)> =
        by_lab.iter().map(|(lab, kernels)| (*lab, geometric_mean(&nvcc::ratios(kernels)))).collect();
    let extreme =
        |found: Option<&(&str, f64)>| found.map_or("-".to_owned(), |(lab, mean)| format!("{mean:.2} ({lab})"));
    let least = extreme(means.iter().min_by(|(_, one), (_, other)| one.total_cmp(other)));
    let most = extreme(means.iter().max_by(|(_, one), (_, other)| one.total_cmp(other)));
    let kernels: Vec<_> = by_lab.iter().flat_map(|(_, kernels)| kernels).collect();
    let all: Vec<f64> = kernels.iter().map(|kernel| kernel.ratio()).collect();
    let slow: Vec<&str> = kernels.iter().filter(|kernel| kernel.ratio() > BOUND).map(|kernel| kernel.name).collect();
    let slow = match slow.as_slice() {
        [] => format!("No kernel takes more than {BOUND} times nvcc's time."),
        slow => format!("Above {BOUND}: {}.", slow.join(", ")),
    };
    let link = plan::TIMES;
    let _ = write!(
        text,
        "\n## Rust and nvcc\n\n{}\n",
        paragraph(&format!(
            "`docs/compare` has the same kernels in CUDA C++. Compiled by nvcc {compiler} with its usual optimisation, they were timed in \
             turn with ours, on the same data and with the same check (`host LAB --ptx`). The ratio is our median time over nvcc's: \
             below 1, Rust is faster. Over {} kernels the geometric mean is {:.3}, by lab from {least} to {most}: \
             [{link}](../{link}#rust-and-nvcc). {slow}",
            all.len(),
            geometric_mean(&all)
        ))
    );
}

/// The conclusions of each lab.
fn labs(text: &mut String, results: &Results) {
    text.push_str("\n## The labs\n\n");
    for arguments in plan::LABS {
        let Some(Run { conclusions, .. }) = results.runs.get(*arguments) else { continue };
        if !conclusions.is_empty() {
            let item = format!("**{}**: {}", lab(arguments), conclusions.join(" "));
            let _ = writeln!(text, "{}", wrapped(&item, WIDTH, "- ", "  "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labs_that_were_measured_before_are_mentioned() {
        let text = |earlier: &[(&str, &str)]| {
            let dates = earlier.iter().map(|&(lab, date)| (lab.to_owned(), date.to_owned())).collect();
            let machine = Machine { date: "May 3".to_owned(), ..Machine::default() };
            of(&Results { machine, dates, ..Results::default() }).replace('\n', " ")
        };
        assert!(text(&[]).contains(", May 3). ["), "{}", text(&[]));
        let three = text(&[("dot", "May 2"), ("gram", "May 1"), ("rows", "May 2")]);
        assert!(three.contains(", May 3, some labs since May 1). ["), "{three}");
    }
}
