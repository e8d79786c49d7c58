//! `cargo xtask pictures`: draws the pictures of the documents into `docs/pictures`, or checks that
//! they are as they would be drawn: the course's shapes of access, two sweeps, and a report at a
//! glance, which `host` runs for.

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;
use picture::{Overview, OverviewLine, Plot, Point, Scale, Series, access_svg, file, overview_svg, plot_svg, shapes};
use serde_json::Value;
use simt::LoadCaching;
use simt::counts::AccessKind;
use simt::requests::{Request, RequestedMemory};

use crate::program::{list, sibling, succeed, text};
use crate::workspace;

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// Write nothing; fail if a picture is not as it would be drawn
    #[arg(long)]
    check: bool,
}

/// The folder, in the workspace.
const FOLDER: &str = "docs/pictures";

/// Draws the pictures, or checks them.
///
/// # Errors
///
/// What went wrong, and what to do.
pub fn run(options: &Options) -> Result<(), String> {
    let folder = workspace::root().map_err(|error| error.to_string())?.join(FOLDER);
    let mut pictures = pictures();
    pictures.push(("report.svg".into(), file(&overview_svg(&report()?))));
    if options.check {
        return check(&folder, &pictures);
    }
    let failed = |path: &Path, error: std::io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    for (name, drawing) in &pictures {
        let path = folder.join(name);
        cuda_builder::write_whole(&path, drawing).map_err(|error| error.to_string())?;
    }
    println!("{} pictures are in {FOLDER}", pictures.len());
    Ok(())
}

fn check(folder: &Path, pictures: &[(String, String)]) -> Result<(), String> {
    let stale =
        |(name, drawing): &&(String, String)| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(drawing);
    let mut wrong: Vec<String> = pictures.iter().filter(stale).map(|(name, _)| name.clone()).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    wrong.extend(found.filter(|name| pictures.iter().all(|(known, _)| known != name)));
    match wrong.as_slice() {
        [] => Ok(()),
        names => {
            Err(format!("{FOLDER}: {} are not as they would be drawn; run `cargo xtask pictures`", names.join(", ")))
        }
    }
}

/// The names of all files, and what is in them.
fn pictures() -> Vec<(String, String)> {
    let accesses = shapes().into_iter().map(|shape| (shape.name.to_owned(), access_svg(&shape.scene())));
    let plots = [("sweep-offset", offsets()), ("sweep-banks", strides())];
    let plots = plots.into_iter().map(|(name, plot)| (name.to_owned(), plot_svg(&plot)));
    accesses.chain(plots).map(|(name, drawing)| (name + ".svg", file(&drawing))).collect()
}

/// What the report shows of why the 33rd column pays.
fn report() -> Result<Overview, String> {
    let host = sibling("host").map_err(|error| error.to_string())?;
    let run = "transpose --tiled --padded --rows 64 --cols 64 --device sim --lines --format json";
    let json = succeed(Command::new(host).args(run.split(' '))).map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let texts = |value: &Value| list(value).iter().map(text).collect::<Vec<_>>();
    let key = |column: &Value| text(&column["key"]);
    let shown = |column: &&Value| {
        !matches!(key(column).as_str(), "right" | "max_error") && !key(column).contains("sectors_per_ideal")
    };
    let column = |column: &Value| {
        (texts(&column["title"]), list(&column["cells"]).iter().map(|cell| text(&cell["text"])).collect())
    };
    let line = |line: &Value| {
        let units = list(&line["accesses"])
            .iter()
            .map(|access| &access[if access["memory"] == "shared" { "wavefronts" } else { "sectors" }]);
        let cost = units.filter_map(Value::as_u64).sum();
        OverviewLine { number: line["line"].as_u64().unwrap_or(0), cost, source: text(&line["source"]) }
    };
    let listing = |variant: &Value| {
        let accessing = list(&variant["lines"]).iter().map(line).filter(|line| line.cost > 0);
        (text(&variant["name"]), accessing.collect())
    };
    Ok(Overview {
        title: text(&report["lab"]),
        sentences: texts(&report["conclusions"]),
        columns: list(&report["table"]["columns"]).iter().filter(shown).map(column).collect(),
        listings: list(&report["variants"]).iter().map(listing).collect(),
    })
}

/// The sectors of a load that begins in the middle of a sector.
fn offsets() -> Plot {
    Plot {
        title: "Sectors of a load of 32 floats, by offset".into(),
        x: "offset in floats".into(),
        y: "sectors".into(),
        series: vec![series(0..=32, |offset, lane| (RequestedMemory::Global, offset + lane))],
        best: Some(4.0),
        ..bars()
    }
}

/// The wavefronts of a load from shared memory with a stride.
fn strides() -> Plot {
    Plot {
        title: "Wavefronts of a load from shared memory, by stride".into(),
        x: "stride in words".into(),
        y: "wavefronts".into(),
        series: vec![series(0..=33, |stride, lane| (RequestedMemory::Shared, stride * lane))],
        best: Some(1.0),
        ..bars()
    }
}

fn bars() -> Plot {
    let [title, x, y] = [(); 3].map(|()| String::new());
    let (x_scale, y_scale) = (Scale::Names, Scale::Linear);
    Plot { title, x, y, x_scale, y_scale, series: vec![], reference_lines: vec![], best: None }
}

/// What loads of 32 words cost, one for each value of `swept`: in which memory, and which word each
/// lane reads.
fn series(swept: impl Iterator<Item = u64>, word: fn(u64, u64) -> (RequestedMemory, u64)) -> Series {
    let cost = |x: u64| {
        let addresses = std::array::from_fn(|lane| 4 * word(x, lane as u64).1);
        let request = Request::new(AccessKind::Load, word(x, 0).0, 4, u32::MAX, addresses);
        f64::from(request.service(None, LoadCaching::Default).count)
    };
    let point = |x: u64| Point { label: x.to_string(), x: x as f64, y: cost(x) };
    Series { name: String::new(), points: swept.map(point).collect() }
}
