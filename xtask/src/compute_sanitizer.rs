//! `cargo xtask compute-sanitizer`: runs the suite of planted bugs on a GPU under each tool of
//! NVIDIA's compute-sanitizer, as the reference for the simulator's sanitizer.
//!
//! The results go to a file of tab-separated lines, `KERNEL TOOL ERRORS WARNINGS ENDED MESSAGE`,
//! below a heading with the machine and the version. The tests make the tables in `docs/PLANTED.md`
//! and `measurements/planted.md` from it.
//!
//! Some of these kernels hang a GPU. So each run has a time limit, is killed with all its
//! processes, and writes its line at once; kernels that may hang run last.

use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::output_file;

use crate::suite::{self, Case};
use crate::workspace::{self, NotInWorkspace};

/// The tools, and a run without any, which shows what the GPU does by itself.
const TOOLS: [&str; 5] = ["none", "memcheck", "initcheck", "racecheck", "synccheck"];

/// The environment variable that marks the processes of a run.
const MARK: &str = "COALESCE_SANITIZER_RUN";

/// Options of `compute-sanitizer`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    host: PathBuf,
    /// NVIDIA's compute-sanitizer [default: the one in PATH, else in /usr/local/cuda].
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,
    /// The file for the results.
    #[arg(long, value_name = "FILE", default_value = "tests/planted/h200.tsv")]
    out: PathBuf,
    /// Run only kernels whose names contain this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Run only kernels without results in the file, and add theirs.
    #[arg(long)]
    new: bool,
    /// How many kernels to run at the same time; those that may hang run one by one.
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    jobs: usize,
    /// Seconds after which a run counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    run_limit: u64,
    /// Seconds after which no more runs are started.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    time_limit: u64,
}

/// Why it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error("compute-sanitizer was not found: install the CUDA toolkit, or name it with --tool")]
    NoTool,
    #[error("{0}")]
    Write(String),
    #[error("{path}: {problem}")]
    File { path: String, problem: std::io::Error },
    #[error("{what} does not run: {problem}")]
    Run { what: String, problem: String },
}

/// The result of a run.
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

    fn line(&self, kernel: &str, tool: &str) -> String {
        let errors = self.errors.map_or("-".to_owned(), |errors| errors.to_string());
        let Self { warnings, ended, message, .. } = self;
        format!("{kernel}\t{tool}\t{errors}\t{warnings}\t{ended}\t{message}\n")
    }
}

/// A planned run.
#[derive(Clone, Copy)]
struct Job<'a> {
    /// Its position in the results.
    index: usize,
    case: &'a Case,
    tool: &'static str,
}

impl Job<'_> {
    /// Whether it may hang: a barrier that not all threads reach does on some GPUs, and undefined
    /// behaviour may.
    fn may_hang(&self) -> bool {
        self.case.marks.iter().any(|mark| matches!(mark.kind.as_str(), "sync" | "undefined"))
    }

    /// The order of the runs: the most important first, in case the time runs out.
    fn rank(&self) -> (bool, bool, bool) {
        (self.may_hang(), !self.case.is_planted(), self.tool == "none")
    }
}

/// What all runs share.
struct Bench<'a> {
    options: &'a Options,
    tool: PathBuf,
    host: PathBuf,
    root: PathBuf,
    /// A folder for PTX files of one kernel and for the runs' output.
    scratch: tempfile::TempDir,
    start: Instant,
    /// The results so far, and the file that they are also written to.
    done: Mutex<(Vec<(usize, String)>, File)>,
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
    let known = match options.new {
        true => results_of(&fs::read_to_string(&options.out).map_err(file(&options.out))?, &cases),
        false => String::new(),
    };
    cases.retain(|case| !known.lines().any(|line| kernel_of(line) == Some(&case.kernel)));
    let columns = "# kernel\ttool\terrors\twarnings\tended\tfirst message\n";
    let before = format!("# {}\n{columns}{known}", heading(&tool)?);

    let scratch = tempfile::tempdir().map_err(file(Path::new("a folder for what the runs print")))?;
    for case in &cases {
        let ptx = fs::read_to_string(root.join(&case.ptx)).map_err(file(&root.join(&case.ptx)))?;
        let path = scratch.path().join(format!("{}.ptx", case.kernel));
        fs::write(&path, alone(&ptx, &case.kernel)).map_err(file(&path))?;
    }
    let write = |text: &str| {
        output_file::write_whole(&options.out, |out| out.write_all(text.as_bytes()))
            .map_err(|error| Error::Write(error.to_string()))
    };
    write(&before)?;
    let out = File::options().append(true).open(&options.out).map_err(file(&options.out))?;
    let done = Mutex::new((Vec::new(), out));
    let bench = Bench { options, tool, host, root, scratch, start: Instant::now(), done };

    // Clean kernels need no run without a tool.
    let all = cases.iter().flat_map(|case| TOOLS.into_iter().map(move |tool| (case, tool)));
    let all = all.filter(|(case, tool)| case.is_planted() || *tool != "none").enumerate();
    let mut jobs: Vec<Job> = all.map(|(index, (case, tool))| Job { index, case, tool }).collect();
    jobs.sort_by_key(Job::rank);
    let (safe, hanging) = jobs.split_at(jobs.partition_point(|job| !job.may_hang()));
    bench.run_all(safe, options.jobs);
    bench.run_all(hanging, 2);

    let (mut lines, _) = bench.done.into_inner().expect("no run panics");
    lines.sort();
    let text = lines.into_iter().map(|(_, line)| line).fold(before, |text, line| text + &line);
    write(&text)?;
    println!("{}", options.out.display());
    Ok(())
}

impl Bench<'_> {
    /// Runs the kernels, several at a time.
    fn run_all(&self, jobs: &[Job], at_once: usize) {
        let next = AtomicUsize::new(0);
        let run_next = || {
            let job = jobs.get(next.fetch_add(1, Ordering::Relaxed))?;
            let late = self.start.elapsed() > Duration::from_secs(self.options.time_limit);
            let outcome = if late { Outcome::without_end("skipped", "") } else { self.run_one(job) };
            let line = outcome.line(&job.case.kernel, job.tool);
            let mut done = self.done.lock().expect("no run panics");
            // The file is rewritten at the end; this line survives if the chore is killed before.
            let _ = done.1.write_all(line.as_bytes()).and_then(|()| done.1.flush());
            done.0.push((job.index, line));
            if done.0.len().is_multiple_of(20) {
                println!("{} runs, {} s", done.0.len(), self.start.elapsed().as_secs());
            }
            Some(())
        };
        std::thread::scope(|scope| {
            for _ in 0..at_once.max(1) {
                scope.spawn(|| while run_next().is_some() {});
            }
        });
    }

    fn run_one(&self, job: &Job) -> Outcome {
        let failed = |problem: std::io::Error| Outcome::without_end("failed", &format!("does not run: {problem}"));
        let Job { index, case, tool } = *job;
        let mut command = Command::new(if tool == "none" { &self.host } else { &self.tool });
        if tool != "none" {
            // The driver's message about a failed launch is not the tool's.
            command.args(["--tool", tool, "--report-api-errors", "no"]).arg(&self.host);
        }
        let ptx = self.scratch.path().join(format!("{}.ptx", case.kernel));
        command.arg("run").arg(ptx).arg(&case.kernel).args(&case.arguments).args(["--device", "gpu", "--once"]);
        let mark = format!("{}.{index}", std::process::id());
        command.current_dir(&self.root).env(MARK, &mark).stdin(Stdio::null());
        // Into a file, because processes that outlive the run would keep a pipe open.
        let path = self.scratch.path().join(format!("{index}.txt"));
        let code = File::create(&path)
            .and_then(|out| command.stdout(out.try_clone()?).stderr(out).spawn())
            .map(|child| wait(child, Duration::from_secs(self.options.run_limit), &mark));
        match (code, fs::read(&path)) {
            (Ok(code), Ok(text)) => outcome(tool, code, &String::from_utf8_lossy(&text)),
            (Err(problem), _) | (_, Err(problem)) => failed(problem),
        }
    }
}

/// The kernel that a line of the results is about.
fn kernel_of(line: &str) -> Option<&str> {
    line.split('\t').next().filter(|_| !line.starts_with('#'))
}

/// The lines of the results of these kernels. A kernel with a skipped run has none, so that all its
/// runs are repeated.
fn results_of(text: &str, cases: &[Case]) -> String {
    let skipped = |line: &str| line.split('\t').nth(4) == Some("skipped");
    let again: Vec<&str> = text.lines().filter(|line| skipped(line)).filter_map(kernel_of).collect();
    let is_known = |kernel: &str| cases.iter().any(|case| case.kernel == kernel) && !again.contains(&kernel);
    let lines = text.lines().filter(|line| kernel_of(line).is_some_and(is_known));
    lines.fold(String::new(), |lines, line| lines + line + "\n")
}

/// Waits for a run and returns its exit code. If it hangs, kills all its processes and returns
/// `None`.
fn wait(mut child: Child, limit: Duration, mark: &str) -> Option<i32> {
    let start = Instant::now();
    let mut killed = false;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return if killed { None } else { status.code() },
            // Give up on a process that hangs in the driver.
            _ if start.elapsed() > limit + Duration::from_secs(3) => return None,
            _ => {}
        }
        if start.elapsed() > limit && !killed {
            killed = true;
            end_marked(mark);
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills all processes of a run, also those in other sessions.
fn end_marked(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().filter(|name| name.bytes().all(|digit| digit.is_ascii_digit())) else {
            continue;
        };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()) {
            let _ = Command::new("kill").args(["-9", process]).status();
        }
    }
}

/// The PTX of this kernel alone and without line information, which the tools process faster.
fn alone(ptx: &str, kernel: &str) -> String {
    let mut text = String::with_capacity(ptx.len() / 8);
    let (mut left_out, mut depth) = (false, 0);
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".visible .entry ") {
            left_out = rest.split('(').next() != Some(kernel);
        }
        let of_source = matches!(line.split_whitespace().next(), Some(".loc" | ".file"));
        if !left_out && !of_source {
            text.push_str(line);
            text.push('\n');
        }
        depth += line.matches('{').count();
        depth -= line.matches('}').count().min(depth);
        left_out &= depth > 0 || !line.contains('}');
    }
    text
}

/// The result of a run, from its exit code and output.
fn outcome(tool: &str, code: Option<i32>, text: &str) -> Outcome {
    let ended = code.map_or("hang".to_owned(), |code| code.to_string());
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

/// The heading of the results: GPU, driver, tool, date.
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

/// NVIDIA's program, in its usual place.
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
        let hung = outcome("synccheck", None, "========= COMPUTE-SANITIZER\n");
        assert_eq!((hung.errors, hung.ended.as_str()), (None, "hang"));
        let plain = outcome("none", Some(1), "error: kernel k: an illegal address\n");
        assert_eq!((plain.errors, plain.message.as_str()), (None, "error: kernel k: an illegal address"));
    }

    #[test]
    fn results_of_old_are_kept_for_kernels_that_are_still_there() {
        let case = |kernel: &str| Case {
            kernel: kernel.to_owned(),
            title: String::new(),
            file: String::new(),
            ptx: String::new(),
            arguments: Vec::new(),
            marks: Vec::new(),
        };
        let text = "# H200\n# kernel\ttool\n\
                    a\tnone\t-\t0\t0\t\na\tmemcheck\t1\t0\t0\tInvalid\n\
                    gone\tnone\t-\t0\t0\t\n\
                    b\tnone\t-\t0\t0\t\nb\tmemcheck\t-\t0\tskipped\t\n";
        let known = results_of(text, &["a", "b", "c"].map(case));
        assert_eq!(known, "a\tnone\t-\t0\t0\t\na\tmemcheck\t1\t0\t0\tInvalid\n");
    }

    #[test]
    fn a_kernel_alone_keeps_what_it_needs() {
        let ptx = "\
.version 7.8
.const .b32 table;
.visible .entry first()
{
    .loc 1 2 3
    .local .b8 stack[4];
    ret;
}
.visible .entry second()
{
    {
    mov.v2.b32 %pair, {%r1, %r2};
}
    ret;
}
.extern .shared .b8 dynamic[];
.file 1 \"k.rs\"
";
        let expected = "\
.version 7.8
.const .b32 table;
.visible .entry first()
{
    .local .b8 stack[4];
    ret;
}
.extern .shared .b8 dynamic[];
";
        assert_eq!(alone(ptx, "first"), expected);
    }

    #[test]
    fn a_run_that_hangs_ends_with_all_its_processes() {
        let mark = format!("test.{}", std::process::id());
        // The second process is in a session of its own, as with the tools.
        let script = "setsid sleep 600 & wait";
        let child = Command::new("sh").args(["-c", script]).env(MARK, &mark).spawn().unwrap();
        assert_eq!(wait(child, Duration::from_millis(300), &mark), None);
        let wanted = format!("{MARK}={mark}");
        let alive = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
        });
        assert!(!alive);
    }
}
