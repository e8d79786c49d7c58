//! Runs the labs beside the libraries on this machine's GPU. [`super`] calls it; it saves the
//! measurements after each run, so an interruption loses none.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Options;
use super::measurements::{Results, Row, Run};
use super::plan::{self, Goal};
use crate::program::{self, Error, Failed, file, lab, list, machine, spread_percent, succeed, text, timed};
use crate::records;

/// The depth of the records in the file.
const DEPTH: usize = 3;

/// Runs all that is wanted, and saves the results after each command.
pub(super) fn all(options: &Options, root: &Path, results: &mut Results, data: &Path) -> Result<(), Error> {
    let wanted = |goal: &&Goal| options.run.only.as_deref().is_none_or(|lab| lab == goal.lab_name());
    if let Some(lab) = &options.run.only
        && !plan::GOALS.iter().any(|goal| wanted(&goal))
    {
        let mut labs: Vec<_> = plan::GOALS.iter().map(Goal::lab_name).collect();
        labs.dedup();
        return Err(Error::NoSuchLab { lab: lab.clone(), known: labs.join(", ") });
    }
    let real = |path: &Path| fs::canonicalize(path).map_err(|problem| file(path, problem));
    let host = real(&options.run.host)?;
    let scratch = tempfile::tempdir().map_err(|problem| file(Path::new("a folder for the library"), problem))?;
    let library = match &options.library {
        Some(library) => {
            results.machine = machine(None, &host)?;
            real(library)?
        }
        None => {
            let nvcc = options.nvcc.clone().or_else(nvcc).ok_or(Error::NoCompiler)?;
            results.machine = machine(Some(&nvcc), &host)?;
            compiled(&nvcc, &host, root, scratch.path())?
        }
    };
    results.processes = options.processes;
    let mut done: Vec<String> = Vec::new();
    for goal in plan::GOALS.iter().filter(wanted) {
        for size in goal.sizes {
            let arguments = goal.arguments(size);
            if !done.contains(&arguments) {
                let run = |_| measured(&host, &arguments, &library, options);
                let runs: Vec<Run> =
                    timed(&format!("host {arguments}"), || (0..options.processes).map(run).collect::<Result<_, _>>())?;
                results.runs.insert(arguments.clone(), middle(&runs));
                results.dates.insert(goal.lab_name().to_owned(), results.machine.date.clone());
                records::save(results, DEPTH, data)?;
                done.push(arguments.clone());
            }
            complete(goal, &arguments, &results.runs[&arguments])?;
        }
    }
    // Remove runs that are no longer planned, so that the data matches the plan.
    let planned = |arguments: &String| {
        let mut all = plan::GOALS.iter().flat_map(|goal| goal.sizes.iter().map(|size| goal.arguments(size)));
        all.any(|planned| planned == *arguments)
    };
    results.runs.retain(|arguments, _| planned(arguments));
    results.dates.retain(|lab, _| plan::GOALS.iter().any(|goal| goal.lab_name() == lab));
    records::save(results, DEPTH, data)
}

/// Whether a run has the rows that a goal compares.
fn complete(goal: &Goal, arguments: &str, run: &Run) -> Result<(), Error> {
    let needed = goal.pairs.iter().flat_map(|pair| std::iter::once(&pair.ours).chain(pair.peers));
    match needed.copied().find(|name| !run.contains_key(*name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("it has no row {name}: is the library there?");
            Err(Failed { command: format!("host {arguments} --peer"), problem }.into())
        }
    }
}

/// The compiler in PATH or in the toolkit's folder.
fn nvcc() -> Option<PathBuf> {
    let folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let places = folders.into_iter().chain([PathBuf::from("/usr/local/cuda/bin")]);
    places.map(|folder| folder.join("nvcc")).find(|path| path.is_file())
}

/// The library that the compiler makes for this machine's GPU.
fn compiled(nvcc: &Path, host: &Path, root: &Path, scratch: &Path) -> Result<PathBuf, Error> {
    let devices = program::devices(host)?;
    let architecture = text(&devices[0]["compute_capability"]).replace('.', "");
    let library = scratch.join("libcub.so");
    let mut command = Command::new(nvcc);
    command.args(["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", &format!("-arch=sm_{architecture}"), "-o"]);
    command.arg(&library).arg(root.join("docs/compare/cub.cu"));
    timed("docs/compare/cub.cu", || succeed(&mut command))?;
    Ok(library)
}

/// A lab beside the libraries.
fn measured(host: &Path, arguments: &str, library: &Path, options: &Options) -> Result<Run, Error> {
    let mut command = Command::new(host);
    command.args(arguments.split(' ')).args(["--device", "gpu", "--format", "json", "--peer"]);
    command.args(["--time-limit", &options.time_limit]);
    // The other labs have nothing of it.
    if ["vector", "reduce", "rows"].contains(&lab(arguments)) {
        command.arg("--peer-library").arg(library);
    }
    let output = command.output().map_err(|problem| Failed::of(&command, problem))?;
    // With a wrong result the program fails, and its report says which it is.
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failed::of(&command, said.lines().last().unwrap_or("it printed nothing")).into());
    };
    run_of(&report).map_err(|problem| Failed::of(&command, problem).into())
}

/// What is kept of a report, if every row is right.
pub(super) fn run_of(report: &Value) -> Result<Run, String> {
    let row = |variant: &Value| {
        let name = text(&variant["name"]);
        if variant["correct"] != Value::Bool(true) {
            return Err(format!("{name} is wrong"));
        }
        let time = variant["time_ms"].as_f64().zip(spread_percent(variant));
        let (time_ms, spread_percent) = time.ok_or_else(|| format!("{name} has no time"))?;
        let row = Row {
            library: variant["parameters"]["library"].as_str().map(str::to_owned),
            time_ms,
            spread_percent,
            warm_time_ms: variant["warm_time_ms"].as_f64(),
            percent_of_limit: variant["percent_of_limit"].as_f64(),
            limit: variant["limit"].as_str().map(str::to_owned),
        };
        Ok((name, row))
    };
    list(&report["variants"]).iter().map(row).collect()
}

/// Of each row the middle of these runs, cold and warm.
pub(super) fn middle(runs: &[Run]) -> Run {
    let middle_of = |name: &String| {
        let mut rows: Vec<&Row> = runs.iter().filter_map(|run| run.get(name)).collect();
        rows.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
        let mut warm: Vec<f64> = rows.iter().filter_map(|row| row.warm_time_ms).collect();
        warm.sort_by(f64::total_cmp);
        Some(Row { warm_time_ms: warm.get(warm.len() / 2).copied(), ..(*rows.get(rows.len() / 2)?).clone() })
    };
    let names = runs.first().into_iter().flat_map(Run::keys);
    names.filter_map(|name| Some((name.clone(), middle_of(name)?))).collect()
}
