//! `cargo learn grade`: marks a folder of submissions that has a folder for each student. For teachers.
//!
//! A submission is data. Only the files that students edit are read from each student's folder; links are refused. Each file is
//! judged by a separate process (`grade-one`) on a copy, with limits on time, memory and file sizes, so that one that crashes or
//! never ends costs only its own mark. `docs/TEACHING.md` says what protects the machine, and what does not.

use std::collections::VecDeque;
use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use host::output_file;

use crate::compile::{Compiler, JOB_VARIABLE};
use crate::course::Course;
use crate::data::some_seed;
use crate::error::{Error, Result};
use crate::exercise::Exercise;
use crate::guard;
use crate::judge::{Judging, STEPS, judge};
use crate::marks::{Mark, Marks, Status, Student};
use crate::report::Report;
use crate::words::several;

/// The maximum length of a report: rustc's messages may be long.
const LONGEST_REPORT: usize = 1 << 16;

/// The maximum length of a process's verdict: a report in JSON, which may write each byte as six.
const LONGEST_VERDICT: u64 = 1 << 20;

/// The largest file that the compiler may write, in the units of `ulimit -f`: 512 MiB. The largest that it writes for `core` has a
/// tenth of that.
const LARGEST_FILE: u64 = 1 << 20;

/// How often to check whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// Options of `grade`.
#[derive(Args, Debug)]
pub struct Options {
    /// A folder with a folder for each student, which contains NAME/kernel.rs or exercises/NAME/kernel.rs
    submissions: PathBuf,
    /// The exercises to mark [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Write the marks as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the marks and the reports as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a table of marks as CSV, one line for each student
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw sizes and values from this number, the same for all students [default: another each time]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Time limit for one file, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// Memory limit of the compiler and the simulator for one file, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 6144, value_parser = clap::value_parser!(u64).range(1..))]
    memory_limit: u64,
    /// Limit of warp instructions for one launch
    #[arg(long, value_name = "NUMBER", default_value_t = STEPS)]
    step_limit: u64,
    /// How many files to judge at the same time [default: as many as there are cores]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
}

/// Options of `grade-one`.
#[derive(Args, Debug)]
pub struct OneOptions {
    exercise: String,
    file: PathBuf,
    #[arg(long)]
    job: usize,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    step_limit: u64,
}

/// A file to judge.
struct Task {
    student: usize,
    exercise: usize,
    file: PathBuf,
}

/// Marks all submissions. Bad marks are not a failure.
pub fn grade(course: &Course, options: &Options) -> Result<bool> {
    let exercises = match options.only.is_empty() {
        true => course.names().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
        false => options.only.iter().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
    };
    for file in [&options.junit, &options.json, &options.csv].into_iter().flatten() {
        output_file::check(file)?;
    }
    let folders = students(&options.submissions)?;
    let mut students: Vec<Student> = Vec::new();
    let mut tasks = VecDeque::new();
    for folder in &folders {
        let mut marks = Vec::new();
        for (index, exercise) in exercises.iter().enumerate() {
            let mark = match find(folder, exercise) {
                Found::File(file) => {
                    tasks.push_back(Task { student: students.len(), exercise: index, file });
                    Mark::of(exercise, Status::Missing, String::new())
                }
                Found::Nothing => Mark::of(exercise, Status::Missing, "no file was handed in".to_owned()),
                Found::Refused(why) => Mark::of(exercise, Status::Refused, why),
            };
            marks.push(mark);
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        students.push(Student { name, marks });
    }
    let jobs = options.jobs.map_or_else(cores, |jobs| jobs as usize).clamp(1, tasks.len().max(1));
    // Prepare the compiler, the device library and the references before any submission is judged.
    prepare(course, &exercises, jobs)?;
    let seed = options.seed.unwrap_or_else(some_seed);
    let (files, done) = (tasks.len(), AtomicUsize::new(0));
    let (students, tasks) = (Mutex::new(students), Mutex::new(tasks));
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let (tasks, students, exercises, done) = (&tasks, &students, &exercises, &done);
            scope.spawn(move || {
                while let Some(task) = take(tasks) {
                    let mark = judge_apart(course, &exercises[task.exercise], &task.file, job, seed, options);
                    students.lock().expect("no job panics")[task.student].marks[task.exercise] = mark;
                    progress(1 + done.fetch_add(1, Ordering::Relaxed), files);
                }
            });
        }
    });
    let marks = Marks { seed, students: students.into_inner().expect("no job panics") };
    // To the terminal first, so that a full disk does not lose the marks.
    anstream::print!("{}", marks.table());
    let files = [(&options.junit, marks.junit()), (&options.json, marks.json()), (&options.csv, marks.csv())];
    for (file, text) in files {
        if let Some(file) = file {
            output_file::write_whole(file, |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(true)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Shows how many files are done.
fn progress(done: usize, files: usize) {
    if std::io::stderr().is_terminal() {
        let end = if done == files { "\r\u{1b}[K" } else { "" };
        eprint!("\r{done} of {} judged{end}", several(files, "file"));
    }
}

fn take(tasks: &Mutex<VecDeque<Task>>) -> Option<Task> {
    tasks.lock().expect("no job panics").pop_front()
}

/// The students' folders, sorted by name. Hidden folders and files are skipped.
fn students(submissions: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(submissions).map_err(Error::reading(submissions))?;
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| !hidden(path));
    let (mut folders, mut others): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
    folders.sort();
    others.sort();
    for other in others {
        anstream::eprintln!("note: {} is not a folder and is skipped", other.display());
    }
    match folders.is_empty() {
        true => Err(Error::Usage(format!("{}: there is no student's folder in it", submissions.display()))),
        false => Ok(folders),
    }
}

/// Finds a student's submission for an exercise.
enum Found {
    File(PathBuf),
    Nothing,
    Refused(String),
}

fn find(student: &Path, exercise: &Exercise) -> Found {
    if student.is_symlink() {
        return Found::Refused("the student's folder is a link: put the folder there".to_owned());
    }
    let inner = [PathBuf::from(&exercise.name), Path::new("exercises").join(&exercise.name)];
    for folder in inner {
        let path = folder.join(exercise.file_name());
        // Check each component of the path: a link could lead out of the submission.
        let mut at = student.to_owned();
        let mut there = true;
        for part in path.components() {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(meta) if meta.is_symlink() => {
                    return Found::Refused(format!("{} is a link: hand in the file", path.display()));
                }
                Ok(_) => {}
                Err(_) => {
                    there = false;
                    break;
                }
            }
        }
        if there {
            return match fs::metadata(&at) {
                Ok(meta) if meta.is_file() && meta.len() <= guard::LONGEST as u64 => Found::File(at),
                Ok(meta) if meta.is_file() => Found::Refused(format!(
                    "{} has {} bytes, and {} are allowed",
                    path.display(),
                    meta.len(),
                    guard::LONGEST
                )),
                _ => Found::Refused(format!("{} is not a file", path.display())),
            };
        }
    }
    Found::Nothing
}

/// Compiles the device library for each job, and the references and solutions.
fn prepare(course: &Course, exercises: &[Exercise], jobs: usize) -> Result<()> {
    let compilers = (0..jobs).map(|job| Compiler::new(&course.root, job, false)).collect::<Result<Vec<_>>>()?;
    let new = compilers.iter().filter(|compiler| compiler.is_new()).count();
    if new > 0 {
        eprintln!(
            "Compiling the device library, once for each of {}: this takes a minute or two.",
            several(new, "job")
        );
    }
    std::thread::scope(|scope| {
        let warm = |compiler| scope.spawn(move || Compiler::warm(compiler));
        let all: Vec<_> = compilers.iter().map(warm).collect();
        all.into_iter().try_for_each(|one| one.join().expect("no job panics"))
    })?;
    let compiler = &compilers[0];
    for exercise in exercises {
        let verdict = judge(exercise, &exercise.solution_file(), compiler, Judging::seeded(1))?;
        if !verdict.passed() {
            return Err(Error::exercise(
                &exercise.folder,
                format!("the solution fails: see cargo learn check {}", exercise.name),
            ));
        }
    }
    Ok(())
}

/// Judges a file in a separate process.
fn judge_apart(course: &Course, exercise: &Exercise, file: &Path, job: usize, seed: u64, options: &Options) -> Mark {
    let start = Instant::now();
    let mark = |status, message: String| Mark {
        seconds: start.elapsed().as_secs_f64(),
        ..Mark::of(exercise, status, message)
    };
    // A copy, so that the file cannot change meanwhile. The folder is also for temporary files, and is deleted with them.
    let folder = tempfile::tempdir();
    let copied = folder.and_then(|folder| {
        let copy = folder.path().join(exercise.file_name());
        fs::copy(file, &copy).map(|_| (folder, copy))
    });
    let (folder, copy) = match copied {
        Ok(copied) => copied,
        Err(error) => return mark(Status::Failed, format!("the file cannot be copied: {error}")),
    };
    let mut command = command(course, exercise, &copy, options);
    command.arg("--job").arg(job.to_string()).arg("--seed").arg(seed.to_string()).env("TMPDIR", folder.path());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return mark(Status::Failed, format!("the judge cannot be started: {error}")),
    };
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|output| output.take(LONGEST_VERDICT).read_to_string(&mut text));
        if read.is_some_and(|read| read.is_ok()) { text } else { String::new() }
    });
    let limit = Duration::from_secs(options.time_limit);
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(INTERVAL),
            _ => break None,
        }
    };
    end(&mut child);
    let text = reader.join().unwrap_or_default();
    match ended {
        None => mark(Status::TimedOut, format!("took more than {} seconds", options.time_limit)),
        Some(status) => match serde_json::from_str::<Mark>(&text) {
            Ok(judged) if status.success() => mark(judged.status, judged.report),
            _ => mark(
                Status::Failed,
                format!(
                    "the judge ended without a verdict ({status}): most often, {} MiB of memory were not enough",
                    options.memory_limit
                ),
            ),
        },
    }
}

/// A shell command that sets limits and then becomes the program: memory in KiB, processor time in seconds (in case this process
/// dies), the largest file, and no core dumps.
const SHELL: &str = "ulimit -v \"$0\"; ulimit -t \"$1\"; ulimit -f \"$2\"; ulimit -c 0; shift 2; exec \"$@\"";

/// The process that judges one file, with limits if the system has a shell to set them, and with little of the environment.
fn command(course: &Course, exercise: &Exercise, file: &Path, options: &Options) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("learn"));
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", SHELL])
            .arg(options.memory_limit.saturating_mul(1024).to_string())
            .arg(options.time_limit.saturating_mul(cores() as u64).to_string())
            .arg(LARGEST_FILE.to_string())
            .arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.arg("--course").arg(&course.folder).arg("grade-one").arg(&exercise.name).arg(file);
    command.arg("--step-limit").arg(options.step_limit.to_string());
    command.current_dir(&course.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let keep = |name: &str| {
        matches!(
            name,
            "PATH"
                | "HOME"
                | "USERPROFILE"
                | "CARGO_HOME"
                | "RUSTUP_HOME"
                | "CARGO"
                | "TEMP"
                | "SystemRoot"
                | JOB_VARIABLE
        ) || name.starts_with("COALESCE_")
    };
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(keep)));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // In a process group of its own, so that its children can be killed with it.
        command.process_group(0);
    }
    command
}

/// Kills a process and its children.
fn end(child: &mut std::process::Child) {
    if cfg!(unix) {
        // The shell's built-in `kill`: not every system has the program.
        let kill = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// `grade-one`: judges a file and prints the mark.
pub fn one(course: &Course, options: &OneOptions) -> Result<bool> {
    let exercise = course.exercise(&options.exercise)?;
    let compiler = Compiler::new(&course.root, options.job, false)?;
    let judging = Judging { steps: options.step_limit, ..Judging::seeded(options.seed) };
    let mark = match judge(&exercise, &options.file, &compiler, judging) {
        Ok(verdict) => {
            let named = exercise.student_file();
            let report = Report { file: &options.file, explain: true }.text(&verdict);
            let report = anstream::adapter::strip_str(&report).to_string();
            let shown = Path::new(&exercise.name).join(named.file_name().unwrap_or_default());
            let report = cut(report.replace(&*options.file.to_string_lossy(), &shown.to_string_lossy()));
            Mark::of(&exercise, Status::of(&verdict), report)
        }
        Err(error) => Mark::of(&exercise, Status::Failed, error.to_string()),
    };
    println!("{}", serde_json::to_string(&mark).expect("strings and numbers can be written"));
    Ok(true)
}

/// Cuts a report that is too long.
fn cut(mut report: String) -> String {
    if report.len() > LONGEST_REPORT {
        report.truncate((0..=LONGEST_REPORT).rev().find(|&at| report.is_char_boundary(at)).unwrap_or(0));
        report.push_str("\n[the rest is omitted]\n");
    }
    report
}
