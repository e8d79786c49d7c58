//! Kernels that no lab has and to which nothing is fitted: `measurements/kernels`. Predicts their
//! launches, and compares them with the times measured on an H200 and on an H100.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use super::causes;
use super::data::{self, Row};
use super::errors::{self, Errors, LARGE, Pair, percent, signed_percents};
use crate::program::Error;
use crate::records;
use crate::tables::{head, line};

/// How `--only` calls them.
pub(super) const NAME: &str = "held-out";
/// The models, in the order of the table's columns.
pub(super) const MODELS: [&str; 2] = ["hopper", "h100"];

const FOLDER: &str = "measurements/kernels";
/// The measurements of each model's GPU.
const FILES: [&str; 2] = ["h200.json", "h100.json"];
const GPUS: [&str; 2] = ["H200", "H100"];

/// The manifest: what to launch.
#[derive(Debug, Deserialize)]
struct Manifest {
    kernel: Vec<Kernel>,
}

#[derive(Debug, Deserialize)]
struct Kernel {
    name: String,
    family: String,
    launch: Vec<Launch>,
}

#[derive(Debug, Deserialize)]
struct Launch {
    size: String,
    run: String,
}

/// The times on the GPUs, and the launches' families.
pub(super) struct Measured {
    families: BTreeMap<String, String>,
    gpus: Vec<Times>,
}

#[derive(Debug, Deserialize)]
struct Times {
    launches: BTreeMap<String, Time>,
}

#[derive(Debug, Deserialize)]
struct Time {
    time_ms: f64,
    warm_time_ms: f64,
    occupancy_percent: f64,
}

fn manifest(root: &Path) -> Result<Manifest, Error> {
    data::toml(&root.join(FOLDER).join("kernels.toml"))
}

impl Launch {
    /// Its name in the measurements.
    fn of(&self, kernel: &Kernel) -> String {
        format!("{} {}", kernel.name, self.size)
    }
}

impl Measured {
    /// Reads the manifest and the measurements.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let mut families = BTreeMap::new();
        for kernel in manifest(root)?.kernel {
            families.extend(kernel.launch.iter().map(|launch| (launch.of(&kernel), kernel.family.clone())));
        }
        let gpus = FILES.iter().map(|name| records::read(&root.join(FOLDER).join(name))).collect::<Result<_, _>>()?;
        Ok(Self { families, gpus })
    }
}

/// Predicts all launches on a model.
pub(super) fn predict(host: &Path, root: &Path, model: &str) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for kernel in &manifest(root)?.kernel {
        for launch in &kernel.launch {
            let arguments = format!("run {FOLDER}/kernels.sm_90.ptx {} {}", kernel.name, launch.run);
            let predicted = &data::report(host, root, &arguments, model)?["predicted"];
            let warm_time_ms = predicted["warm_time_ms"].as_f64();
            rows.push(Row { warm_time_ms, ..Row::of(launch.of(kernel), predicted) });
        }
    }
    Ok(rows)
}

/// The rows of a GPU that have both times; `time` takes the predicted and the measured one, cold or
/// warm.
fn pairs<'a>(
    rows: &'a [Row],
    measured: &'a Measured,
    gpu: usize,
    time: fn(&Row, &Time) -> Option<(f64, f64)>,
) -> Vec<Pair<'a>> {
    let pair = |row: &'a Row| {
        let (name, on_gpu) = measured.gpus[gpu].launches.get_key_value(&row.name)?;
        let (predicted_ms, measured_ms) = time(row, on_gpu)?;
        Some(Pair {
            group: &measured.families[name],
            name,
            predicted_ms,
            measured_ms,
            limiter: row.limiter.as_deref().unwrap_or_default(),
            occupancy: row.occupancy_percent.map(|predicted| (predicted, on_gpu.occupancy_percent)),
        })
    };
    rows.iter().filter_map(pair).collect()
}

fn cold(row: &Row, measured: &Time) -> Option<(f64, f64)> {
    Some((row.time_ms?, measured.time_ms))
}

fn warm(row: &Row, measured: &Time) -> Option<(f64, f64)> {
    Some((row.warm_time_ms?, measured.warm_time_ms))
}

const INTRODUCTION: &str = "\
## Kernels outside the labs

No number was fitted to these [kernels](../measurements/kernels/README.md), in launches of 2^10 to
2^28 elements. But which mechanisms the model got was decided on their errors, too. Of 47 launches
of other new kernels, predicted for an H100 before they were timed (2026-11-28), the median error
was 8.9 %, and nine in ten were within 27 %.
";

/// The section about them, and the errors of each family.
pub(super) fn write(
    text: &mut String,
    groups: &mut String,
    predicted: &BTreeMap<String, Vec<Row>>,
    measured: &Measured,
) {
    let rows = MODELS.map(|model| predicted.get(model).map_or(&[][..], Vec::as_slice));
    let all: Vec<Vec<Pair<'_>>> = (0..MODELS.len()).map(|gpu| pairs(rows[gpu], measured, gpu, cold)).collect();
    let _ = writeln!(text, "{INTRODUCTION}");
    let warm = (0..MODELS.len()).map(|gpu| {
        let errors = Errors::of(&pairs(rows[gpu], measured, gpu, warm));
        format!("{}, {}, {}", errors.count(), percent(errors.median()), percent(errors.ninth()))
    });
    let without = rows.iter().map(|rows| rows.iter().filter(|row| row.time_ms.is_none()).count().to_string());
    let more =
        [("without a prediction", without.collect()), ("warm: compared, median error, nine in ten", warm.collect())];
    let columns: Vec<&[Pair<'_>]> = all.iter().map(Vec::as_slice).collect();
    errors::summary(text, &GPUS, &columns, ["12 %", "25 %", ""], &more);
    let _ = writeln!(groups, "\n## Kernels outside the labs, on {}", GPUS.join(" and "));
    errors::by_group(groups, "family", errors::groups(all.iter().flatten(), |pair| pair.group));
    large(groups, &all);
    text.push('\n');
}

/// The launches that are far off on either GPU, the worst first.
fn large(text: &mut String, all: &[Vec<Pair<'_>>]) {
    let [first, second] = all else { return };
    let on_second = |name: &str| second.iter().find(|pair| pair.name == name);
    let worst = |pair: &Pair<'_>| pair.error().abs().max(on_second(pair.name).map_or(0.0, |other| other.error().abs()));
    let mut far: Vec<&Pair<'_>> = first.iter().filter(|pair| worst(pair) > LARGE).collect();
    far.sort_by(|one, other| worst(other).total_cmp(&worst(one)));
    if !far.is_empty() {
        let _ = writeln!(text, "\nMore than 25 % off, with the cause by machine code and profiles:\n");
        let [one, other] = GPUS.map(|gpu| format!("{gpu}, %"));
        head(text, &["launch", &one, &other, "predicted limit", "cause"]);
        for pair in far {
            let cells = [
                format!("`{}`", pair.name),
                signed_percents(pair.error()),
                on_second(pair.name).map_or("-".to_owned(), |other| signed_percents(other.error())),
                pair.limiter.to_owned(),
                causes::of(pair.name).to_owned(),
            ];
            line(text, cells.into_iter());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_launch_was_measured_on_both_gpus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let measured = Measured::read(root).unwrap();
        assert!(measured.families.len() > 100);
        for times in &measured.gpus {
            assert!(measured.families.keys().all(|name| times.launches.contains_key(name)));
        }
    }
}
