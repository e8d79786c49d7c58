//! Pairs the reports and variants of two files that belong together, and compares them. [`super`]
//! calls it with the reports that `read` returned. Pure.

use std::path::Path;

use device::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};
use wording::printable;

use super::read::{Report, State, Variant};
use super::verdict::{self, Judgement, Verdict};
use crate::report::plain;

/// The comparison of two files.
#[derive(Debug, Serialize)]
pub(super) struct RunTimes {
    pub before: Side,
    pub after: Side,
    /// The labs in both files.
    pub labs: Vec<LabTimes>,
    /// Labs in only one file, as text.
    pub not_compared: Vec<String>,
}

/// One of the files.
#[derive(Debug, Serialize)]
pub(super) struct Side {
    pub file: String,
    /// The devices of its reports.
    pub devices: Vec<String>,
}

/// The comparison of two reports of one lab.
#[derive(Debug, Serialize)]
pub(super) struct LabTimes {
    pub lab: String,
    pub parameters: Map<String, Value>,
    pub variants: Vec<Row>,
    /// Variants that cannot be compared, and why, as text.
    pub not_compared: Vec<String>,
    /// Times to be treated with care, and why, as text.
    pub doubts: Vec<String>,
}

/// The comparison of a variant's times in one state of the cache.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub name: String,
    pub cache: State,
    pub before_ms: f64,
    pub after_ms: f64,
    /// The time after over the time before.
    pub ratio: f64,
    /// The uncertainty of the ratio in percent.
    pub uncertainty_percent: f64,
    pub verdict: Verdict,
}

/// Compares the reports of two files.
///
/// # Errors
///
/// [`Error::File`] if no report has a counterpart in the other file; it names what differs.
pub(super) fn compare(before: (&Path, Vec<Report>), after: (&Path, Vec<Report>)) -> Result<RunTimes> {
    let ((before_path, before), (after_path, after)) = (before, after);
    let sides = [side(before_path, &before), side(after_path, &after)];
    let (mut labs, mut not_compared) = (Vec::new(), Vec::new());
    let mut rest: Vec<&Report> = after.iter().collect();
    for report in &before {
        match rest.iter().position(|other| difference(report, other).is_none()) {
            Some(index) => labs.push(compare_labs(report, rest.remove(index))),
            None => not_compared.push(format!("only before: {}", title(&report.lab, &report.parameters))),
        }
    }
    if labs.is_empty() {
        // The pair that has most in common shows what differs.
        let all = before.iter().flat_map(|one| after.iter().map(move |other| (one, other)));
        let closest = all.min_by_key(|(one, other)| one.lab != other.lab);
        let what = closest.and_then(|(one, other)| difference(one, other)).unwrap_or_default();
        let before_path = before_path.display();
        return Err(Error::file(
            after_path,
            format!("cannot be compared with {before_path}: {what}; compare runs of one lab with the same parameters"),
        ));
    }
    not_compared.extend(rest.iter().map(|report| format!("only after: {}", title(&report.lab, &report.parameters))));
    let [before, after] = sides;
    Ok(RunTimes { before, after, labs, not_compared })
}

fn side(path: &Path, reports: &[Report]) -> Side {
    let mut devices: Vec<String> = Vec::new();
    for report in reports {
        let driver = report.device.driver.as_ref().map(|driver| format!(", driver {driver}")).unwrap_or_default();
        let device = format!("{}{driver}", report.device.name);
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    Side { file: path.display().to_string(), devices }
}

/// Why two reports cannot be compared; `None` if they can.
fn difference(before: &Report, after: &Report) -> Option<String> {
    if before.lab != after.lab {
        return Some(format!("it is a run of {}, the other one of {}", printable(&after.lab), printable(&before.lab)));
    }
    let mut names = before.parameters.keys().chain(after.parameters.keys());
    let name = names.find(|&name| before.parameters.get(name) != after.parameters.get(name))?;
    let value = |parameters: &Map<String, Value>| parameters.get(name).map_or("not given".to_owned(), plain);
    Some(format!(
        "its parameter {} is {}, the other one's {}",
        printable(name),
        printable(&value(&after.parameters)),
        printable(&value(&before.parameters))
    ))
}

/// Parameters as text.
pub(super) fn words(parameters: &Map<String, Value>) -> String {
    let word = |(name, value): (&String, &Value)| format!("{} {}", name.replace('_', " "), plain(value));
    parameters.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// A lab with its parameters, as in a report's first line.
pub(super) fn title(lab: &str, parameters: &Map<String, Value>) -> String {
    format!("{lab}: {}", words(parameters))
}

/// Compares two reports of one lab.
fn compare_labs(before: &Report, after: &Report) -> LabTimes {
    let mut comparison = LabTimes {
        lab: before.lab.clone(),
        parameters: before.parameters.clone(),
        variants: Vec::new(),
        not_compared: Vec::new(),
        doubts: Vec::new(),
    };
    for old in &before.variants {
        match after.variants.iter().find(|new| new.name == old.name) {
            None => comparison.not_compared.push(format!("{}: only before", old.name)),
            Some(new) => comparison.add(old, new),
        }
    }
    let is_new = |new: &&Variant| before.variants.iter().all(|old| old.name != new.name);
    let new = after.variants.iter().filter(is_new).map(|new| format!("{}: only after", new.name));
    comparison.not_compared.extend(new);
    comparison
}

impl LabTimes {
    /// Compares a variant that both runs have.
    fn add(&mut self, before: &Variant, after: &Variant) {
        let sides = [(before, "before"), (after, "after")];
        let all = |is_so: fn(&Variant) -> bool| sides.iter().filter(move |(variant, _)| is_so(variant));
        let name = &before.name;
        // A wrong result may have taken less work.
        if let Some((_, when)) = all(|variant| variant.correct == Some(false)).next() {
            self.not_compared.push(format!("{name}: wrong {when}"));
            return;
        }
        if let Some((_, when)) = all(|variant| !variant.is_timed()).next() {
            self.not_compared.push(format!("{name}: not timed {when}"));
            return;
        }
        let mut rows = Vec::new();
        for cache in [State::Cold, State::Warm] {
            let (Some(old), Some(new)) = (before.series(cache), after.series(cache)) else { continue };
            let Judgement { ratio, uncertainty, verdict } = verdict::judge(old, new);
            rows.push(Row {
                name: name.clone(),
                cache,
                before_ms: old.time_ms,
                after_ms: new.time_ms,
                ratio,
                uncertainty_percent: uncertainty * 100.0,
                verdict,
            });
            for (series, when) in [(old, "before"), (new, "after")] {
                let cache = cache.words();
                if let Some(by) = &series.throttled_by {
                    self.doubts.push(format!("{name}, {cache}: throttled {when} ({by})"));
                }
                if !series.steady {
                    self.doubts.push(format!("{name}, {cache}: not steady {when}"));
                }
            }
        }
        if rows.is_empty() {
            self.not_compared.push(format!("{name}: cold in one run, warm in the other"));
        }
        self.variants.append(&mut rows);
    }
}
