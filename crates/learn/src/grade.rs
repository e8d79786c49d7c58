//! `cargo learn grade`: marks a folder of submissions, a folder for each student.
//!
//! A submission is data. Of each student's folder only the files that students edit are read, each by itself; links are refused. Each
//! file is judged by a process of its own (`grade-one`), with a limit of time and memory, so that one that breaks or never ends costs its
//! own mark and no other. What protects the machine, and what does not, stands in `docs/TEACHING.md`.

use std::collections::VecDeque;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;

use crate::compile::Compiler;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::exercise::Exercise;
use crate::guard;
use crate::judge::{Judging, STEPS, judge};
use crate::marks::{Mark, Marks, Status, Student};
use crate::report::Report;

/// Bytes of a verdict that are read from a process.
const LONGEST_VERDICT: u64 = 1 << 20;

/// How often a process is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// Options of `grade`.
#[derive(Args, Debug)]
pub struct Options {
    /// A folder with a folder for each student, in which NAME/kernel.rs or exercises/NAME/kernel.rs is
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
    /// Write a table of marks, a line for each student
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw sizes and values from this number: the same for all students [default: 1]
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Seconds that one file may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// Mebibytes of memory that the compiler and the simulator may have for one file
    #[arg(long, value_name = "MIB", default_value_t = 6144, value_parser = clap::value_parser!(u64).range(1..))]
    memory_limit: u64,
    /// Warp instructions that one launch may take
    #[arg(long, value_name = "NUMBER", default_value_t = STEPS)]
    step_limit: u64,
    /// Files that are judged at the same time [default: as many as there are cores]
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<usize>,
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

/// Marks all submissions. The outcome is good however bad the marks are.
pub fn grade(course: &Course, options: &Options) -> Result<bool> {
    let exercises = match options.only.is_empty() {
        true => course.names().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
        false => options.only.iter().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
    };
    let folders = students(&options.submissions)?;
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    // Before any submission is looked at: the compiler, the device library, and what all are compared with.
    for job in 0..jobs {
        prepare(course, &exercises, job)?;
    }
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
    let (students, tasks) = (Mutex::new(students), Mutex::new(tasks));
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let (tasks, students, exercises) = (&tasks, &students, &exercises);
            scope.spawn(move || {
                while let Some(task) = take(tasks) {
                    let mark = judge_apart(course, &exercises[task.exercise], &task.file, job, options);
                    students.lock().expect("no job panics")[task.student].marks[task.exercise] = mark;
                }
            });
        }
    });
    let marks = Marks { seed: options.seed, students: students.into_inner().expect("no job panics") };
    if let Some(file) = &options.junit {
        cuda_builder::write_whole(file, &marks.junit())?;
    }
    if let Some(file) = &options.json {
        cuda_builder::write_whole(file, &marks.json())?;
    }
    if let Some(file) = &options.csv {
        cuda_builder::write_whole(file, &marks.csv())?;
    }
    anstream::print!("{}", marks.table());
    Ok(true)
}

fn take(tasks: &Mutex<VecDeque<Task>>) -> Option<Task> {
    tasks.lock().expect("no job panics").pop_front()
}

/// The students' folders, in the order of their names.
fn students(submissions: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(submissions).map_err(Error::reading(submissions))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    match folders.is_empty() {
        true => Err(Error::Usage(format!("{}: there is no student's folder in it", submissions.display()))),
        false => Ok(folders),
    }
}

/// What a student handed in for an exercise.
enum Found {
    File(PathBuf),
    Nothing,
    Refused(String),
}

fn find(student: &Path, exercise: &Exercise) -> Found {
    let inner = [PathBuf::from(&exercise.name), Path::new("exercises").join(&exercise.name)];
    for folder in inner {
        let path = folder.join(exercise.file_name());
        // Each step of the way: a link could lead out of the submission.
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
                    "{} has {} bytes, and {} are read at most",
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

/// Compiles what submissions are compared with.
fn prepare(course: &Course, exercises: &[Exercise], job: usize) -> Result<()> {
    let compiler = Compiler::new(&course.root, job, false)?;
    if job > 0 {
        // The device library is compiled in each job's folder; the exercises' own files are kept for all.
        let file = exercises[0].solution_file();
        return match exercises[0].explains() {
            true => Ok(()),
            false => compiler.warm(&fs::read_to_string(&file).map_err(Error::reading(&file))?),
        };
    }
    for exercise in exercises {
        let verdict = judge(exercise, &exercise.solution_file(), &compiler, Judging::seeded(1))?;
        if !verdict.passed() {
            return Err(Error::exercise(
                &exercise.folder,
                format!("the solution fails: see cargo learn check {}", exercise.name),
            ));
        }
    }
    Ok(())
}

/// Judges a file in a process of its own.
fn judge_apart(course: &Course, exercise: &Exercise, file: &Path, job: usize, options: &Options) -> Mark {
    let start = Instant::now();
    let mark = |status, message: String| Mark {
        seconds: start.elapsed().as_secs_f64(),
        ..Mark::of(exercise, status, message)
    };
    // A copy: what is judged does not change on the way.
    let copy = tempfile::NamedTempFile::new();
    let copied = copy.and_then(|copy| fs::copy(file, copy.path()).map(|_| copy));
    let Ok(copy) = copied else { return mark(Status::Failed, "the file cannot be read".to_owned()) };
    let mut child = match command(course, exercise, copy.path(), job, options).spawn() {
        Ok(child) => child,
        Err(error) => return mark(Status::Failed, format!("the judge cannot be started: {error}")),
    };
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|output| output.take(LONGEST_VERDICT).read_to_string(&mut text));
        read.is_some_and(|read| read.is_ok()).then_some(text).unwrap_or_default()
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
        Some(_) => match serde_json::from_str::<Mark>(&text) {
            Ok(judged) => Mark { seconds: start.elapsed().as_secs_f64(), ..judged },
            Err(_) => mark(
                Status::Failed,
                "the judge ended without a verdict: more memory was needed than the limit".to_owned(),
            ),
        },
    }
}

/// The process that judges one file: with a limit of memory where the system has a shell to set it, and little of the environment.
fn command(course: &Course, exercise: &Exercise, file: &Path, job: usize, options: &Options) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("learn"));
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "ulimit -v \"$0\" 2>/dev/null; exec \"$@\""])
            .arg((options.memory_limit * 1024).to_string())
            .arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.arg("--course").arg(&course.folder).arg("grade-one").arg(&exercise.name).arg(file);
    command.arg("--job").arg(job.to_string()).arg("--seed").arg(options.seed.to_string());
    command.arg("--step-limit").arg(options.step_limit.to_string());
    command.current_dir(&course.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let keep = |name: &str| {
        matches!(
            name,
            "PATH" | "HOME" | "USERPROFILE" | "CARGO_HOME" | "RUSTUP_HOME" | "CARGO" | "TMPDIR" | "TEMP" | "SystemRoot"
        ) || name.starts_with("COALESCE_")
    };
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(keep)));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // With all that it starts, so that all of it can be ended.
        command.process_group(0);
    }
    command
}

/// Ends a process and those that it started.
fn end(child: &mut std::process::Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
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
            let report = report.replace(&*options.file.to_string_lossy(), &shown.to_string_lossy());
            Mark::of(&exercise, Status::of(&verdict), report)
        }
        Err(error) => Mark::of(&exercise, Status::Failed, error.to_string()),
    };
    println!("{}", serde_json::to_string(&mark).expect("strings and numbers can be written"));
    Ok(true)
}
