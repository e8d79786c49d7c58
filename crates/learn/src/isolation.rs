//! Judges one submission in a separate process, `cargo learn grade-one`, so that a hostile file
//! harms nothing but its own mark. [`crate::grade`] starts the process, and ends it with all that
//! it started.
//!
//! Before the process reads the file, it sets its resource limits ([`Limits`]) and enters a
//! [`Sandbox`]. There it may read the exercise and what the compiler reads, and write the cached
//! PTX and the folders that are emptied for each file. The compiler runs in a narrower sandbox
//! inside: see [`crate::compile`].
//!
//! *Invariant:* whatever the process does, only the mark of its own submission is lost.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use exercise::Exercise;
use exercise::run::LaunchLimits;
use sandbox::Sandbox;
use simt::Model;
use wording::several;

use crate::arguments::{Orders, Where, simulated};
use crate::compile::{Compiler, JOB_VARIABLE};
use crate::course::Course;
use crate::error::{Error, Result};
use crate::events;
use crate::judge::judge;
use crate::leaderboard::Score;
use crate::marks::{Mark, Status};
use crate::process::{self, INTERVAL, in_group};
use crate::processor::{self, OwnTime};
use crate::programs;
use crate::report::{Report, shown_path};
use crate::runs::Judging;
use crate::terminal::show_line;

/// The maximum length of a report: rustc's messages may be long.
const LONGEST_REPORT: usize = 1 << 16;

/// The maximum length of a process's verdict: a report in JSON, which may write each byte as six.
const LONGEST_VERDICT: u64 = 1 << 20;

/// The same with a page, whose pictures have some hundred kilobytes.
const LONGEST_PAGE: u64 = 8 << 20;

/// The largest file in bytes that the compiler may write. The largest that it writes for `core` has
/// a tenth of that.
#[cfg(unix)]
const LARGEST_FILE: u64 = 512 << 20;

/// How long a process may take, after its time limit, to report what was found until then.
const GRACE: Duration = Duration::from_secs(2);

/// Set in the process that judges a file when its time is up.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);

/// What one file may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct Limits {
    /// Time limit for one file, in seconds; time in which others have the processor does not count
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().time_limit, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: u64,
    /// Memory limit of the compiler and the simulator for one file, in MiB
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().memory_limit, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_limit: u64,
    /// Limit of warp instructions for one launch
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().step_limit)]
    pub step_limit: u64,
    /// Stop a launch once its threads have had more than this many faults
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().fault_limit)]
    pub fault_limit: u64,
    /// Judge without a sandbox: a submission may then read every file that you can read, and show
    /// it in its report
    #[arg(long)]
    pub no_sandbox: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time_limit: 60,
            memory_limit: 6144,
            step_limit: crate::runs::STEPS,
            fault_limit: simt::limits::DEFAULT_FAULT_LIMIT,
            no_sandbox: false,
        }
    }
}

impl Limits {
    /// What is said of whatever took longer.
    pub fn out_of_time(&self) -> String {
        format!("took more than {}", several(self.time_limit as usize, "second"))
    }

    /// All that a mark depends on, as text.
    pub fn basis(&self) -> String {
        let Self { time_limit, memory_limit, step_limit, fault_limit, no_sandbox } = self;
        format!("{time_limit} {memory_limit} {step_limit} {fault_limit} {no_sandbox}")
    }
}

/// When a process is ended that does not end by itself.
struct Deadline {
    start: Instant,
    limit: Duration,
    /// When to look at its processor time again, and since when its time is up.
    next: Duration,
    up: Option<Duration>,
}

impl Deadline {
    /// The end of a process that has this limit, in seconds, and begins now.
    fn of(seconds: u64) -> Self {
        let limit = Duration::from_secs(seconds);
        Self { start: Instant::now(), limit, next: limit, up: None }
    }

    /// Whether its time is up, and the time in which it may report what was found. It has `taken`
    /// so much processor time.
    fn has_passed(&mut self, taken: impl FnOnce() -> Option<Duration>) -> bool {
        let elapsed = self.start.elapsed();
        if self.up.is_none() && elapsed >= self.next {
            self.next = elapsed.saturating_add(GRACE / 4);
            self.up = processor::is_up(elapsed, self.limit, taken).then_some(elapsed);
        }
        self.up.is_some_and(|up| elapsed >= up.saturating_add(GRACE))
    }
}

/// Options of `grade-one`.
#[derive(Args, Debug)]
pub struct GradeOneOptions {
    exercise: String,
    file: PathBuf,
    /// The process to end with
    #[cfg(target_os = "linux")]
    #[arg(long)]
    parent: u32,
    #[arg(long)]
    job: usize,
    #[arg(long)]
    seed: u64,
    #[command(flatten)]
    orders: Orders,
    #[arg(long, default_value = "sim", value_parser = simulated)]
    device: Where,
    #[command(flatten)]
    limits: Limits,
    /// Before the mark, say what happens as `run --events` does
    #[arg(long)]
    events: bool,
    /// There, do not explain wrong predictions
    #[arg(long)]
    unexplained: bool,
}

/// What a judge says besides the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "class"), expect(dead_code, reason = "the pages of a class alone show it"))]
pub enum Pages {
    /// Nothing.
    None,
    /// What happens, and the verdict as a part of a page.
    Unexplained,
    /// The same, with explanations of wrong predictions.
    Explained,
}

/// What a judge has said: the mark, and the verdict as a part of a page.
pub type Said = (Mark, Option<String>);

/// How the files of a class are judged.
pub struct Judges<'a> {
    pub course: &'a Course,
    pub limits: Limits,
    pub seed: u64,
    pub orders: Orders,
    /// The model whose times are predicted in open exercises, if not the usual one.
    pub model: Option<&'static Model>,
    /// Set when everything is to stop.
    pub stop: &'a AtomicBool,
    /// What the judge says besides the mark.
    pub pages: Pages,
}

impl Judges<'_> {
    /// Judges a file in a process, for so many seconds. Its compiler has been handed over in the
    /// job's folder. `None` if it was stopped.
    pub fn mark(&self, exercise: &Exercise, text: &[u8], at: (&Compiler, usize), time_limit: u64) -> Option<Mark> {
        self.said(exercise, text, at, time_limit, &|_| {}).map(|(mark, _)| mark)
    }

    /// The mark and the verdict's page. `tell` gets each event as it happens.
    pub fn said(
        &self,
        exercise: &Exercise,
        text: &[u8],
        (compiler, job): (&Compiler, usize),
        time_limit: u64,
        tell: &(dyn Fn(&str) + Sync),
    ) -> Option<Said> {
        let limits = Limits { time_limit, ..self.limits };
        let start = Instant::now();
        let mark = |status, report: String| {
            Some((Mark { seconds: start.elapsed().as_secs_f64(), ..Mark::of(exercise, status, report) }, None))
        };
        let failed = |problem: String| mark(Status::Failed, problem);
        // Emptied before each file: temporary files go here too, and the process may have been
        // killed.
        let folder = compiler.judge_folder();
        let file = folder.join(exercise.file_name());
        let _ = fs::remove_dir_all(&folder);
        if let Err(error) = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, text)) {
            return failed(format!("the file cannot be copied: {error}"));
        }
        let mut command = self.command(exercise, &file, job, limits);
        let mut child = match in_group(command.env("TMPDIR", &folder)).spawn() {
            Ok(child) => child,
            Err(error) => return failed(format!("the judge cannot be started: {error}")),
        };
        let output = child.stdout.take();
        let stopped = || self.stop.load(Ordering::Relaxed);
        let group = child.id();
        let mut limit = Deadline::of(time_limit);
        let (ended, (text, page)) = std::thread::scope(|scope| {
            let longest = if self.pages == Pages::None { LONGEST_VERDICT } else { LONGEST_PAGE };
            let reader =
                scope.spawn(move || output.map(|output| listen(output.take(longest), tell)).unwrap_or_default());
            let ended = process::wait(&mut child, || stopped() || limit.has_passed(|| processor::of_group(group)));
            process::end(&mut child);
            (ended, reader.join().unwrap_or_default())
        });
        let _ = fs::remove_dir_all(&folder);
        match ended {
            Err(error) => failed(format!("the judge is lost: {error}")),
            Ok(None) if stopped() => None,
            Ok(None) => mark(Status::TimedOut, limits.out_of_time()),
            Ok(Some(status)) => match serde_json::from_str::<Mark>(&text) {
                Ok(judged) if status.success() => {
                    // Its processor time, or the clock's on a system that does not say.
                    let less = if judged.status == Status::TimedOut { f64::INFINITY } else { judged.seconds };
                    let said = mark(judged.status, judged.report);
                    let score = judged.score;
                    said.map(|(mark, _)| (Mark { seconds: mark.seconds.min(less), score, ..mark }, page))
                }
                _ => failed(format!(
                    "the judge ended without a verdict ({status}): most often, {} MiB of memory were not enough",
                    self.limits.memory_limit
                )),
            },
        }
    }

    /// The process that judges one file, with little of the environment.
    fn command(&self, exercise: &Exercise, file: &Path, job: usize, limits: Limits) -> Command {
        let Limits { time_limit, memory_limit, step_limit, fault_limit, no_sandbox } = limits;
        let mut command = Command::new(programs::own_program());
        command.arg("--course").arg(&self.course.folder).arg("grade-one").arg(&exercise.name).arg(file);
        for (name, value) in [
            #[cfg(target_os = "linux")]
            ("--parent", std::process::id().into()),
            ("--job", job as u64),
            ("--seed", self.seed),
            ("--time-limit", time_limit),
            ("--memory-limit", memory_limit),
            ("--step-limit", step_limit),
            ("--fault-limit", fault_limit),
        ] {
            command.arg(name).arg(value.to_string());
        }
        if let Some(schedules) = self.orders.schedules {
            command.arg("--schedules").arg(schedules.to_string());
        }
        if let Some(order) = self.orders.schedule {
            command.arg("--schedule").arg(order.to_string());
        }
        if let Some(model) = self.model {
            command.arg("--device").arg(format!("sim:{}", model.name));
        }
        command.args(no_sandbox.then_some("--no-sandbox"));
        command.args((self.pages != Pages::None).then_some("--events"));
        command.args((self.pages == Pages::Unexplained).then_some("--unexplained"));
        command.current_dir(&self.course.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // On Windows the names' case does not matter, and programs need the last three.
        let kept = [JOB_VARIABLE, "PATH", "SystemRoot", "TEMP"].into_iter().take(if cfg!(windows) { 4 } else { 1 });
        let is_kept = |name: &str| kept.clone().any(|kept| name.eq_ignore_ascii_case(kept));
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept)));
        command
    }
}

/// Reads what a judge says: events, which `tell` is told of, the verdict as a part of a page, and at
/// last the mark, which comes first here.
fn listen(output: impl Read, tell: &dyn Fn(&str)) -> (String, Option<String>) {
    let (mut mark, mut page) = (String::new(), None);
    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
        if line.starts_with(events::VERDICT) {
            page = Some(line);
        } else if line.starts_with(events::EVENT) {
            tell(&line);
        } else {
            mark = line;
        }
    }
    (mark, page)
}

/// `grade-one`: judges a file and prints the mark.
pub fn grade_one(course: &Course, options: &GradeOneOptions) -> Result<bool> {
    #[cfg(target_os = "linux")]
    crate::start::end_with(options.parent)?;
    let start = Instant::now();
    let time_limit = Duration::from_secs(options.limits.time_limit);
    let (mut own_time, mut taken) = (OwnTime::new(), OwnTime::new());
    std::thread::spawn(move || {
        std::thread::sleep(time_limit);
        while !processor::is_up(start.elapsed(), time_limit, || own_time.taken()) {
            std::thread::sleep(INTERVAL);
        }
        TIME_IS_UP.store(true, Ordering::Relaxed);
    });
    let exercise = course.exercise(&options.exercise)?;
    let sandboxed = !options.limits.no_sandbox;
    let compiler = Compiler::taken_over(&course.root, options.job, sandboxed)?;
    limit(options.limits)?;
    if sandboxed {
        let reads = compiler.reads()?.into_iter().chain([exercise.folder.clone(), programs::own_program()]);
        let writes = compiler.folders().into_iter().chain([compiler.cache().to_owned()]);
        let sandbox = Sandbox::new(reads, writes);
        #[cfg(target_os = "linux")]
        let sandbox = match exercise.is_host() {
            true => sandbox.with_host(compiler.program_folder(), compiler.host()?.reads()),
            false => sandbox,
        };
        sandbox.enter().map_err(Error::Usage)?;
    }
    let Limits { step_limit: steps, fault_limit: faults, .. } = options.limits;
    let limits = LaunchLimits { steps, faults, cancel: Some(&TIME_IS_UP) };
    let Orders { schedules, schedule } = options.orders;
    let model = options.device.model();
    let judging = Judging { limits, model, schedules, schedule, ..Judging::seeded(options.seed) };
    let judging = if options.events { Judging { lines: true, tell: events::tell, ..judging } } else { judging };
    let mark = match judge(&exercise, &options.file, &compiler, judging) {
        Ok(verdict) => {
            let named = exercise.student_file();
            let shown = Path::new(&exercise.name).join(named.file_name().unwrap_or_default());
            let names = [options.file.display().to_string(), shown_path(&options.file)];
            let named =
                |text: String| names.iter().fold(text, |text, name| text.replace(name, &shown.to_string_lossy()));
            let report = Report { file: &options.file, explain: !options.unexplained };
            if options.events {
                events::say(&events::verdict(&exercise, &report, &verdict, named))?;
            }
            let report = report.text(&verdict);
            let report = cut(named(anstream::adapter::strip_str(&report).to_string()));
            match Status::of(&verdict) {
                status @ Status::TimedOut => {
                    Mark::of(&exercise, status, format!("{}\n{report}", options.limits.out_of_time()))
                }
                status => {
                    let score = verdict.rating.as_ref().filter(|_| verdict.passed()).and_then(Score::of);
                    Mark { score, ..Mark::of(&exercise, status, report) }
                }
            }
        }
        // While it ran something of the exercise's own.
        Err(_) if TIME_IS_UP.load(Ordering::Relaxed) => {
            Mark::of(&exercise, Status::TimedOut, options.limits.out_of_time())
        }
        Err(error) => Mark::of(&exercise, Status::Failed, error.to_string()),
    };
    let seconds = taken.taken().unwrap_or_else(|| start.elapsed()).as_secs_f64();
    let mark = Mark { seconds, ..mark };
    show_line!("{}", serde_json::to_string(&mark).expect("strings and numbers can be written"))?;
    Ok(true)
}

/// Limits this process and all that it starts: memory, processor time (in case that nobody ends
/// them), the largest file, no core dumps.
#[cfg(unix)]
pub fn limit(limits: Limits) -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    for (resource, most) in [
        (Resource::As, limits.memory_limit.saturating_mul(1 << 20)),
        (Resource::Cpu, limits.time_limit.saturating_add(GRACE.as_secs()).saturating_mul(cores)),
        (Resource::Fsize, LARGEST_FILE),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| Error::Usage(format!("the limits cannot be set: {error}")))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn limit(_limits: Limits) -> Result<()> {
    Ok(())
}

/// Cuts a report that is too long.
fn cut(mut report: String) -> String {
    if report.len() > LONGEST_REPORT {
        report.truncate((0..=LONGEST_REPORT).rev().find(|&at| report.is_char_boundary(at)).unwrap_or(0));
        report.push_str("\n[the rest is omitted]\n");
    }
    report
}
