//! `--report`: the launches of `host run` as a web page. [`super`] calls it when all of them have
//! ended.

use std::path::{Path, PathBuf};

use common::output_file;
use device::{Error, Result, names};

use super::flags::Flags;
use super::output::Report;
use crate::faults::Findings;
use crate::lines::Lines;
use crate::report::{self, Launched, RunView};

/// Fails if the page cannot be written, before anything runs.
pub(super) fn check(flags: &Flags) -> Result<()> {
    let Some(path) = &flags.report else { return Ok(()) };
    output_file::check(path)?;
    let same = |other: &PathBuf| output_file::identity(other) == output_file::identity(path);
    if same(&flags.file) {
        return Err(Error::request("--report", format!("{} is the PTX file; give another", path.display())));
    }
    if flags.save.iter().any(|save| same(&save.file)) {
        return Err(Error::request("--report", "--save writes the same file; give another"));
    }
    Ok(())
}

/// What a page shows of the launches. `on_page` has the lines of each, `findings` what checks found
/// in it.
pub(super) fn view(reports: &[Report<'_>], on_page: Vec<Option<Lines>>, findings: &[Findings]) -> Option<RunView> {
    let device = reports.first()?.device;
    let launched =
        reports.iter().zip(on_page).zip(findings).enumerate().map(|(index, ((report, on_page), findings))| {
            let name = names::shown(report.kernel);
            Launched {
                row: report.row(match reports.len() {
                    1 => name.into_owned(),
                    _ => format!("launch {index}: {name}"),
                }),
                on_page,
                findings: findings.clone(),
                metrics: report.known_metrics(),
                printed: report.printed_text(),
            }
        });
    let why = reports.iter().flat_map(Report::conclusions).collect();
    Some(report::of_launches(launched.collect(), why, device))
}

/// Writes the page.
pub(super) fn write(reports: &[Report<'_>], view: Option<RunView>, path: &Path) -> Result<()> {
    let (Some(first), Some(view)) = (reports.first(), view) else { return Ok(()) };
    let (about, mut details) = match reports {
        [only] => (only.what(), Vec::new()),
        several => {
            (format!("{} launches, one after the other", several.len()), several.iter().map(Report::what).collect())
        }
    };
    details.extend(first.on().lines().map(str::to_owned));
    details.extend(first.times.iter().map(|times| times.how()));
    let title = names::shown(first.kernel);
    let others = reports.last().and_then(|last| last.orders.as_ref());
    report::write_launches((&title, &about, &details), view, others, path)
}
