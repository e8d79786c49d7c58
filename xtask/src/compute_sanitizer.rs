//! `cargo xtask compute-sanitizer`: the suite of planted bugs on a GPU, under each tool of NVIDIA's compute-sanitizer.
//!
//! What the tools said goes to a file of lines, `KERNEL TOOL ERRORS WARNINGS ENDED MESSAGE` with tabs between them, below a
//! heading that says on what and with which version. The tests make the table in `docs/SANITIZER.md` of it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::suite::{self, Case};
use crate::workspace::{self, NotInWorkspace};

/// The tools; the first run is without any, to see what the GPU does by itself.
const TOOLS: [&str; 5] = ["none", "memcheck", "initcheck", "racecheck", "synccheck"];

/// Options of `compute-sanitizer`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    host: PathBuf,
    /// NVIDIA's program [default: that of the PATH or of /usr/local/cuda].
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,
    /// Where the results go.
    #[arg(long, value_name = "FILE", default_value = "tests/planted/h200.tsv")]
    out: PathBuf,
    /// Where the beginning of all that the tools print goes.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Only kernels whose names contain this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Runs at the same time.
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    jobs: usize,
    /// Seconds after which a run is taken to hang.
    #[arg(long, value_name = "SECONDS", default_value_t = 25)]
    run_limit: u64,
    /// Seconds after which no further run is started.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    time_limit: u64,
}

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error("there is no compute-sanitizer: install the CUDA toolkit, or name it with --tool")]
    NoTool,
    #[error("{path}: {problem}")]
    File { path: String, problem: std::io::Error },
    #[error("{what} does not run: {problem}")]
    Run { what: String, problem: String },
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    errors: Option<u64>,
    warnings: u64,
    /// The exit code, `hang`, or `skipped`.
    ended: String,
    message: String,
}

impl Outcome {
    fn without_end(ended: &str, message: &str) -> Self {
        Self { errors: None, warnings: 0, ended: ended.to_owned(), message: message.to_owned() }
    }
}

/// Runs every kernel under every tool.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let file = |path: &Path| {
        let path = path.display().to_string();
        move |problem| Error::File { path: path.clone(), problem }
    };
    let tool = options.tool.clone().or_else(find_tool).ok_or(Error::NoTool)?;
    let host = fs::canonicalize(&options.host).map_err(file(&options.host))?;
    let mut cases = suite::cases(&root).map_err(file(&root.join(suite::FOLDER)))?;
    cases.retain(|case| case.kernel.contains(&options.only));

    let mut text = format!("# {}\n", heading(&tool)?);
    text += "# kernel\ttool\terrors\twarnings\tended\tfirst message\n";
    let mut log = String::new();
    for (case, tool, outcome, output) in run_all(&cases, &tool, &host, &root, options) {
        let errors = outcome.errors.map_or("-".to_owned(), |errors| errors.to_string());
        let Outcome { warnings, ended, message, .. } = &outcome;
        let _ = writeln!(text, "{}\t{tool}\t{errors}\t{warnings}\t{ended}\t{message}", case.kernel);
        let beginning: Vec<&str> = output.lines().take(14).collect();
        let _ = writeln!(log, "== {} {tool}: {ended}\n{}", case.kernel, beginning.join("\n"));
    }
    fs::write(&options.out, text).map_err(file(&options.out))?;
    if let Some(path) = &options.log {
        fs::write(path, log).map_err(file(path))?;
    }
    eprintln!("{}", options.out.display());
    Ok(())
}

/// Runs them, several at a time; the results in the order of the cases.
fn run_all<'a>(
    cases: &'a [Case],
    tool: &Path,
    host: &Path,
    root: &Path,
    options: &Options,
) -> Vec<(&'a Case, &'static str, Outcome, String)> {
    let all = cases.iter().flat_map(|case| TOOLS.into_iter().map(move |tool| (case, tool)));
    let mut jobs: Vec<(usize, (&Case, &'static str))> = all.enumerate().collect();
    // Should the time not be enough, then for the clean ones.
    jobs.sort_by_key(|(_, (case, _))| !case.is_planted());
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let done = Mutex::new(Vec::new());
    let run_next = || {
        let &(index, (case, name)) = jobs.get(next.fetch_add(1, Ordering::Relaxed))?;
        let (outcome, output) = match start.elapsed() > Duration::from_secs(options.time_limit) {
            true => (Outcome::without_end("skipped", ""), String::new()),
            false => run_one(case, name, tool, host, root, options.run_limit),
        };
        let mut done = done.lock().expect("no run panics");
        done.push((index, case, name, outcome, output));
        if done.len() % 50 == 0 {
            eprintln!("{} of {} runs, {} s", done.len(), jobs.len(), start.elapsed().as_secs());
        }
        Some(())
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| while run_next().is_some() {});
        }
    });
    let mut done = done.into_inner().expect("no run panics");
    done.sort_by_key(|(index, ..)| *index);
    done.into_iter().map(|(_, case, name, outcome, output)| (case, name, outcome, output)).collect()
}

/// One run: what it came to, and all that it printed.
fn run_one(case: &Case, name: &str, tool: &Path, host: &Path, root: &Path, limit: u64) -> (Outcome, String) {
    // `timeout` ends the whole group of processes: the tool, and the program that it runs.
    let mut command = Command::new("timeout");
    command.args(["--kill-after=3", &limit.to_string()]).current_dir(root).stdin(Stdio::null());
    if name != "none" {
        // What the driver says of a launch that failed is not the tool's.
        command.arg(tool).args(["--tool", name, "--report-api-errors", "no"]);
    }
    command.arg(host).args(case.command()).args(["--device", "gpu"]);
    match command.output() {
        Err(problem) => (Outcome::without_end("failed", &format!("does not run: {problem}")), String::new()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            (outcome(name, output.status.code(), &text), text.into_owned())
        }
    }
}

/// What a run's exit code and text come to.
fn outcome(tool: &str, code: Option<i32>, text: &str) -> Outcome {
    let ended = match code {
        Some(124 | 137) | None => "hang".to_owned(),
        Some(code) => code.to_string(),
    };
    let said = text.lines().filter_map(|line| line.strip_prefix("========= ")).map(str::trim);
    let message = if tool == "none" {
        text.lines().find(|line| line.starts_with("error: ")).map(str::to_owned)
    } else {
        let of_tool = |line: &&str| {
            !["COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "Program hit"]
                .iter()
                .any(|start| line.starts_with(start))
        };
        said.clone().find(of_tool).map(str::to_owned)
    };
    let number_before = |line: &str, word: &str| -> Option<u64> {
        let words: Vec<&str> = line.split([' ', '(', ',', ')']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|&found| found.trim_end_matches('s') == word)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    let summary = said.clone().find(|line| line.contains("SUMMARY: "));
    let number = |word| {
        let (_, line) = summary?.split_once("SUMMARY: ")?;
        number_before(line, word)
    };
    let message = message.unwrap_or_default().replace('\t', " ");
    Outcome { errors: number("error"), warnings: number("warning").unwrap_or(0), ended, message }
}

/// On what this runs: GPU, driver, tool, date.
fn heading(tool: &Path) -> Result<String, Error> {
    let line = |program: &Path, arguments: &[&str], wanted: &str| -> Result<String, Error> {
        let failed = |problem: String| Error::Run { what: program.display().to_string(), problem };
        let output = Command::new(program).args(arguments).output().map_err(|problem| failed(problem.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = text.lines().find(|line| line.contains(wanted)).map(|line| line.trim().to_owned());
        found.ok_or_else(|| failed(format!("it printed no '{wanted}'")))
    };
    let gpu = line(Path::new("nvidia-smi"), &["--query-gpu=name,driver_version", "--format=csv,noheader"], ",")?;
    let version = line(tool, &["--version"], "Version")?;
    let date = line(Path::new("date"), &["+%F"], "-")?;
    let (name, driver) = gpu.split_once(", ").unwrap_or((&gpu, "?"));
    Ok(format!("{name}, driver {driver}; compute-sanitizer {}; {date}", version.trim_start_matches("Version ")))
}

/// NVIDIA's program, where it usually is.
fn find_tool() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin"].map(PathBuf::from);
    let folders = env::split_paths(&path).chain(usual);
    folders.map(|folder| folder.join("compute-sanitizer")).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tools_print_is_understood() {
        let memcheck = "\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at bounds_off_by_one+0x90
========= ERROR SUMMARY: 1 error
";
        let expected = Outcome {
            errors: Some(1),
            warnings: 0,
            ended: "0".into(),
            message: "Invalid __global__ write of size 4 bytes".into(),
        };
        assert_eq!(outcome("memcheck", Some(0), memcheck), expected);
        let racecheck = "\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at race_reverse+0xf0
=========     and Read access at race_reverse+0x130 [256 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
";
        let found = outcome("racecheck", Some(0), racecheck);
        assert_eq!((found.errors, found.warnings), (Some(1), 1));
        let clean = outcome("synccheck", Some(0), "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
        assert_eq!((clean.errors, clean.message.as_str()), (Some(0), ""));
        let hung = outcome("synccheck", Some(124), "========= COMPUTE-SANITIZER\n");
        assert_eq!((hung.errors, hung.ended.as_str()), (None, "hang"));
        let plain = outcome("none", Some(1), "error: kernel k: an illegal address\n");
        assert_eq!((plain.errors, plain.message.as_str()), (None, "error: kernel k: an illegal address"));
    }
}
