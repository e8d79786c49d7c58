//! `cargo xtask count`: counts the labs' kernels on a GPU with Nsight Compute, as the reference for
//! the simulator's counters. `main` calls it.
//!
//! `tests/tests/data/h200_labs.json` names the runs and the metrics. This chore runs each under
//! `ncu` and writes the counts of every launch back to the file, in the order of the launches. The
//! test `tests/tests/counters.rs` compares the simulator with them. To add a run or a metric, add
//! it to the file without counts, then run this chore.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::program::{Error, file};
use crate::records;
use crate::workspace;

/// Options of `count`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    host: PathBuf,
    /// Nsight Compute's program.
    #[arg(long, value_name = "FILE", default_value = "ncu")]
    tool: PathBuf,
    /// The file of runs.
    #[arg(long, value_name = "FILE", default_value = "tests/tests/data/h200_labs.json")]
    file: PathBuf,
    /// Count only runs that have no counts yet.
    #[arg(long)]
    new: bool,
}

/// The file.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Counted {
    /// The machine and the tools that counted.
    machine: String,
    /// The metrics, by Nsight Compute's names.
    metrics: Vec<String>,
    runs: Vec<Run>,
}

/// A run of the program.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Run {
    /// Its arguments.
    run: String,
    launches: Vec<Launch>,
}

/// A launch of a kernel.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Launch {
    kernel: String,
    /// A count for each metric.
    counts: Vec<f64>,
}

/// Counts every run of the file.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let path = root.join(&options.file);
    let mut counted: Counted = records::read(&path)?;
    let scratch = tempfile::tempdir().map_err(|problem| file(&path, problem))?;
    let log = scratch.path().join("counts.csv");
    for run in counted.runs.iter_mut().filter(|run| !options.new || run.launches.is_empty()) {
        println!("host {}", run.run);
        run.launches = count(options, &root, &counted.metrics, &run.run, &log)?;
    }
    counted.machine = machine(&options.tool);
    cuda_builder::write_whole(&path, &compact(&counted))?;
    println!("{}", path.display());
    Ok(())
}

/// Launches a run under the tool.
fn count(options: &Options, root: &Path, metrics: &[String], run: &str, log: &Path) -> Result<Vec<Launch>, Error> {
    let failed = |problem: String| Error::Count { run: run.to_owned(), problem };
    let mut command = Command::new(&options.tool);
    command.args([
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--metrics",
        &metrics.join(","),
        "--log-file",
    ]);
    command.arg(log).arg(root.join(&options.host)).args(run.split(' ')).args(["--once", "--device", "gpu"]);
    let output = command.output().map_err(|problem| failed(problem.to_string()))?;
    let text = fs::read_to_string(log).unwrap_or_default();
    if !output.status.success() {
        let said = format!("{}{}", text, String::from_utf8_lossy(&output.stderr));
        let said = said.lines().rfind(|line| line.contains("ERROR") || line.starts_with("error"));
        return Err(failed(said.unwrap_or("it printed nothing").to_owned()));
    }
    launches(&text, metrics).map_err(failed)
}

/// The launches in the tool's table, whose lines follow its own notes.
fn launches(text: &str, metrics: &[String]) -> Result<Vec<Launch>, String> {
    let table = text.find("\"ID\"").map(|start| &text[start..]).ok_or("it printed no table")?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let header = reader.headers().map_err(|problem| problem.to_string())?.clone();
    let column = |name: &str| {
        let found = header.iter().position(|title| title == name);
        found.ok_or_else(|| format!("it does not know the metric {name}"))
    };
    let kernel = column("Kernel Name")?;
    let columns = metrics.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
    let mut launches = Vec::new();
    // The first line below the titles has the units.
    for record in reader.records().skip(1) {
        let record = record.map_err(|problem| problem.to_string())?;
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let count = |&column: &usize| {
            let text = cell(column).replace(',', "");
            text.parse().map_err(|_| format!("{} is '{text}'", &header[column]))
        };
        let counts = columns.iter().map(count).collect::<Result<_, _>>()?;
        launches.push(Launch { kernel: cell(kernel).to_owned(), counts });
    }
    Ok(launches)
}

/// The machine and the tools.
fn machine(tool: &Path) -> String {
    let line = |program: &Path, arguments: &[&str], wanted: &str| {
        let output = Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find(|line| line.contains(wanted)).map(|line| line.trim().to_owned())
    };
    let gpu = line(Path::new("nvidia-smi"), &["--query-gpu=name,driver_version", "--format=csv,noheader"], ",");
    let version = line(tool, &["--version"], "Version").map(|text| text.replace("Version ", ""));
    let date = line(Path::new("date"), &["+%F"], "-");
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    let gpu = or_unknown(gpu).replace(", ", ", driver ");
    format!("{gpu}; Nsight Compute {}; {}", or_unknown(version), or_unknown(date))
}

/// The file's text: a line for each launch.
fn compact(counted: &Counted) -> String {
    let metrics: Vec<_> = counted.metrics.iter().map(|name| format!("  {}", json(name))).collect();
    let runs = counted.runs.iter().map(|run| {
        let launches: Vec<_> = run.launches.iter().map(|launch| format!("  {}", json(launch))).collect();
        format!("{{\"run\": {}, \"launches\": [\n{}\n]}}", json(&run.run), launches.join(",\n"))
    });
    format!(
        "{{\n\"machine\": {},\n\"metrics\": [\n{}\n],\n\"runs\": [\n{}\n]\n}}\n",
        json(&counted.machine),
        metrics.join(",\n"),
        runs.collect::<Vec<_>>().join(",\n")
    )
}

/// As JSON. Writing text and numbers cannot fail.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "==PROF== Connected\n\
        \"ID\",\"Process ID\",\"Kernel Name\",\"a.sum\",\"b.ratio\"\n\
        \"\",\"\",\"\",\"sector\",\"\"\n\
        \"0\",\"77\",\"transpose_copy\",\"25,000\",\"4.76\"\n";

    #[test]
    fn the_table_is_read_below_the_notes() {
        let launches = launches(CSV, &["b.ratio".to_owned(), "a.sum".to_owned()]).unwrap();
        assert_eq!(launches, [Launch { kernel: "transpose_copy".to_owned(), counts: vec![4.76, 25_000.0] }]);
        assert_eq!(self::launches(CSV, &["c.sum".to_owned()]).unwrap_err(), "it does not know the metric c.sum");
        assert_eq!(self::launches("nothing", &[]).unwrap_err(), "it printed no table");
    }

    #[test]
    fn the_file_is_written_as_it_is_read() {
        let counted = Counted {
            machine: "a GPU".to_owned(),
            metrics: vec!["a.sum".to_owned()],
            runs: vec![Run {
                run: "vector --size 3".to_owned(),
                launches: vec![Launch { kernel: "vector_copy4".to_owned(), counts: vec![0.5] }],
            }],
        };
        assert_eq!(serde_json::from_str::<Counted>(&compact(&counted)).unwrap(), counted);
    }
}
