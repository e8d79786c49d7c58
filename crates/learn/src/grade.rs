//! `cargo learn grade`: marks a folder of submissions that has a folder for each student. For
//! teachers.
//!
//! A submission is data: only the files that students edit are read ([`crate::submission`]), and
//! each is judged in a process that is confined ([`crate::isolation`]), so that one that crashes or
//! never ends costs only its own mark. `docs/TEACHING.md` says what protects the machine, and what
//! does not.
//!
//! Ctrl-C ends the processes and keeps the marks made so far; `--resume` continues with the rest.

use std::fs::{self, File};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use clap::Args;
use common::{output_file, signals};
use exercise::Exercise;
use exercise::data::some_seed;
use wording::{several, shell_word};

use crate::arguments::{Orders, Where, simulated};
use crate::compile::Compiler;
use crate::course::Course;
use crate::digest;
use crate::error::{Error, Result};
use crate::formats::{Format, junit};
use crate::isolation::{Judges, Limits, Pages};
use crate::judge::judge;
use crate::leaderboard;
use crate::marks::{Mark, Marks, Status, Student};
use crate::outputs::{self, Target};
use crate::programs;
use crate::runs::Judging;
use crate::shards::{self, Part};
use crate::similarity::{self, Tool};
use crate::submission::{self, Submission};
use crate::terminal::{note, plain, show};
use crate::variant::Variant;
use account::Account;

mod account;

/// Options of `grade`.
#[derive(Args, Debug)]
pub struct Options {
    /// A folder with a folder for each student, which contains NAME/kernel.rs or
    /// exercises/NAME/kernel.rs
    #[arg(required_unless_present = "merge")]
    submissions: Option<PathBuf>,
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
    /// Write the best times of open exercises, for `cargo learn leaderboard FILE`
    #[arg(long, value_name = "FILE")]
    leaderboard: Option<PathBuf>,
    /// Write the marks and points as another program reads them, to --out or in place of the table
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Mark nothing: write the submissions, without their starters' lines, to the folder --out, for
    /// a tool that finds copied work
    #[arg(long, value_name = "TOOL", requires_all = ["out", "submissions"], conflicts_with_all = ["format", "junit", "json", "csv", "leaderboard"])]
    export_for: Option<Tool>,
    /// Where --format and --export-for write: a file, or a folder, as DIR/, with a folder for each
    /// student
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Mark this part of the students alone, such as 3/16, and write it to --json: for an array of
    /// jobs, all with the same --seed
    #[arg(long, value_name = "NUMBER/COUNT", requires = "json")]
    shard: Option<Part>,
    /// Mark nothing: put the files of all parts together, or take one file of --json, and write
    /// what is asked for
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["submissions", "only", "shard", "resume", "seed", "jobs"])]
    merge: Vec<PathBuf>,
    /// Keep the marks that the file of --json has where file, exercise, limits and grader are the
    /// same, and judge the rest with its seed
    #[arg(long, requires = "json", conflicts_with = "seed")]
    resume: bool,
    /// Draw sizes and values from this number, the same for all students [default: another each
    /// time]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    #[command(flatten)]
    variant: Variant,
    #[command(flatten)]
    orders: Orders,
    /// The GPU whose times are predicted in open exercises [default: sim:hopper]
    #[arg(long, value_name = "sim:MODEL", default_value = "sim", hide_default_value = true, value_parser = simulated)]
    device: Where,
    #[command(flatten)]
    limits: Limits,
    /// Time limit for all files of one student together, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..))]
    student_time_limit: u64,
    /// How many files to judge at the same time [default: as many as there are cores]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Marks all submissions, or puts marks together. Bad marks are not a failure; files that are not
/// judged are.
pub fn grade(course: &Course, options: &Options) -> Result<bool> {
    if options.out.is_some() && options.format.is_none() && options.export_for.is_none() {
        return Err(Error::Usage("--out: say what to write there with --format".to_owned()));
    }
    match &options.submissions {
        Some(submissions) if options.export_for.is_some() => export(course, submissions, options),
        Some(submissions) => mark_class(course, submissions, options),
        None => merge(course, options),
    }
}

/// Puts marks together that were made before.
fn merge(course: &Course, options: &Options) -> Result<bool> {
    let read = |file: &PathBuf| Marks::read(file).map(|marks| (file.clone(), marks));
    let mut marks = shards::merge(options.merge.iter().map(read).collect::<Result<_>>()?)?;
    let target = check_outputs(options, marks.students.len())?;
    end_on_signals();
    marks.award(&course.points);
    finish(&marks, target.as_ref(), options)
}

/// Writes the submissions for a tool that finds copied work.
fn export(course: &Course, submissions: &Path, options: &Options) -> Result<bool> {
    let course = &options.variant.of(course)?;
    let (Some(tool), Some(out)) = (options.export_for, &options.out) else { return Ok(false) };
    end_on_signals();
    similarity::export(course, &exercises(course, options)?, submissions, tool, out)
}

/// Lets a signal end the program where no judge runs: it finds only files that are being written.
fn end_on_signals() {
    signals::on_each(|signal| {
        outputs::remove_unfinished();
        std::process::exit(128 + signal);
    });
}

/// Checks that all that is asked for can be written, before the long work. Returns where the
/// format goes.
fn check_outputs(options: &Options, students: usize) -> Result<Option<Target>> {
    for file in [&options.junit, &options.json, &options.csv, &options.leaderboard].into_iter().flatten() {
        output_file::check(file)?;
    }
    options.format.map(|format| Target::of(format, options.out.as_deref(), students)).transpose()
}

/// The exercises to mark.
fn exercises(course: &Course, options: &Options) -> Result<Vec<Exercise>> {
    let mut exercises = match options.only.is_empty() {
        true => course.names().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
        false => options.only.iter().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
    };
    course.must_have_solutions(&exercises.iter().map(|exercise| exercise.name.as_str()).collect::<Vec<_>>())?;
    if options.limits.no_sandbox {
        without_host(&mut exercises, options)?;
    }
    Ok(exercises)
}

/// Marks all submissions.
fn mark_class(course: &Course, submissions: &Path, options: &Options) -> Result<bool> {
    let course = &options.variant.of(course)?;
    let exercises = exercises(course, options)?;
    let before = options.json.as_deref().filter(|_| options.resume).map(Marks::read).transpose()?;
    let (folders, others) = submission::students(submissions)?;
    others
        .iter()
        .for_each(|other| note!("note: {} is not a folder and is skipped", plain(&other.display().to_string())));
    let (shard, folders) = match options.shard {
        None => (None, folders),
        Some(_) if options.seed.is_none() && !options.resume => {
            return Err(Error::Usage("--shard: give --seed NUMBER, the same for all parts".to_owned()));
        }
        Some(part) => {
            let (shard, own) = part.take(folders, &shared_basis(&exercises, options)?);
            (Some(shard), own)
        }
    };
    if before.as_ref().is_some_and(|before| before.shard != shard) {
        return Err(Error::Usage(
            "--resume: the file of --json has another part of the class, or another class".to_owned(),
        ));
    }
    let target = check_outputs(options, folders.len())?;
    if let Some(why) = sandbox::missing().filter(|_| !options.limits.no_sandbox) {
        return Err(Error::Usage(format!(
            "no sandbox: {why}; without one a submission may read every file that you can read: grade on Linux 6.2 or newer, or, \
             if you trust all submissions or are in a container for this, with --no-sandbox"
        )));
    }
    // A second Ctrl-C ends the program at once.
    signals::on_each(|signal| {
        if STOP.swap(true, Ordering::Relaxed) {
            outputs::remove_unfinished();
            std::process::exit(128 + signal);
        }
    });
    let seed = before.as_ref().map(|marks| marks.seed).or(options.seed).unwrap_or_else(some_seed);
    let students = mark_students(course, (&folders, &exercises), seed, before.as_ref(), options)?;
    let mut marks = Marks { seed, shard, students };
    marks.award(&course.points);
    finish(&marks, target.as_ref(), options)
}

/// Marks the files of these folders.
fn mark_students(
    course: &Course,
    (folders, exercises): (&[PathBuf], &[Exercise]),
    seed: u64,
    before: Option<&Marks>,
    options: &Options,
) -> Result<Vec<Student>> {
    let files = folders.len() * exercises.len();
    if files == 0 {
        // A part of a class that is smaller than the number of parts.
        return Ok(Vec::new());
    }
    let jobs = options.jobs.map_or_else(cores, |jobs| jobs as usize).clamp(1, files);
    // Prepare the compiler, the device library and the references before any submission is judged.
    let compilers = prepare(course, exercises, jobs, options.limits.no_sandbox).map_err(|error| match stopped() {
        true => Error::Usage("interrupted before any file was judged".to_owned()),
        false => error,
    })?;
    let judges = Judges {
        course,
        limits: options.limits,
        seed,
        orders: options.orders,
        model: options.device.model(),
        stop: &STOP,
        pages: Pages::None,
    };
    let bases =
        exercises.iter().map(|exercise| basis(exercise, &compilers[0].0, &judges)).collect::<Result<Vec<_>>>()?;
    let name = |folder: &PathBuf| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unjudged = |exercise| Mark::of(exercise, Status::Failed, "grading was interrupted before".to_owned());
    let student = |folder| Student { name: name(folder), marks: exercises.iter().map(unjudged).collect() };
    let students: Mutex<Vec<Student>> = Mutex::new(folders.iter().map(student).collect());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let accounts: Vec<Account> = folders.iter().map(|_| Account::of(options.student_time_limit)).collect();
    let names: Vec<&str> = course.names().collect();
    std::thread::scope(|scope| {
        for (job, (compiler, _lock)) in compilers.iter().enumerate() {
            let (judges, students, next, done, bases) = (&judges, &students, &next, &done, &bases);
            let (accounts, names) = (&accounts, &names);
            scope.spawn(move || {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < files && !stopped()) {
                    let [row, column] = [at / exercises.len(), at % exercises.len()];
                    let (folder, exercise) = (&folders[row], (&exercises[column], bases[column].as_str()));
                    let kept = before.and_then(|marks| marks.mark(&name(folder), &exercise.0.name));
                    let student = (folder.as_path(), &accounts[row], names.as_slice());
                    if let Some(mark) = marked(judges, student, exercise, (compiler, job), kept) {
                        students.lock().expect("no job panics")[row].marks[column] = mark;
                    }
                    progress(1 + done.fetch_add(1, Ordering::Relaxed), files);
                }
            });
        }
    });
    Ok(students.into_inner().expect("no job panics"))
}

/// Leaves host exercises out: what students hand in there is native code, which is run in a sandbox
/// or not at all.
fn without_host(exercises: &mut Vec<Exercise>, options: &Options) -> Result<()> {
    let host: Vec<String> =
        exercises.iter().filter(|exercise| exercise.is_host()).map(|exercise| exercise.name.clone()).collect();
    if host.is_empty() {
        return Ok(());
    }
    let why = "host code is graded in the sandbox alone, without --no-sandbox";
    exercises.retain(|exercise| !exercise.is_host());
    if exercises.is_empty() || !options.only.is_empty() {
        return Err(Error::Usage(format!("{}: {why}", host.join(", "))));
    }
    note!("note: {} are not marked: {why}", host.join(", "));
    Ok(())
}

/// The digest of all that the marks for an exercise depend on, but for the files: its own files,
/// limits, seed, number of orders, device library, compiler, and this program.
fn basis(exercise: &Exercise, compiler: &Compiler, judges: &Judges<'_>) -> Result<String> {
    let program = programs::own_program();
    let program = fs::read(&program).map_err(Error::reading(&program))?;
    let Judges { limits, seed, orders, model, .. } = judges;
    let model = model.map_or("", |model| model.name);
    let orders = orders.basis();
    let mut parts = vec![
        program,
        compiler.basis()?.into_bytes(),
        limits.basis().into_bytes(),
        seed.to_le_bytes().into(),
        orders.into_bytes(),
        model.into(),
    ];
    parts.extend(digest::contents(&exercise.deciding_files())?);
    Ok(digest::of(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// What decides the marks of all parts of a class, but for the seed: not this program, which each
/// machine may have compiled for itself.
fn shared_basis(exercises: &[Exercise], options: &Options) -> Result<Vec<String>> {
    let orders = options.orders.basis();
    let model = options.device.model().map_or("", |model| model.name);
    let mut parts = vec![options.limits.basis(), format!("{orders} {} {model}", options.student_time_limit)];
    for exercise in exercises {
        let files = digest::contents(&exercise.deciding_files())?;
        parts.push(exercise.name.clone());
        parts.push(digest::of(&files.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    }
    Ok(parts)
}

/// Marks one submission, or keeps the mark that it would get again. `None` if it was stopped.
fn marked(
    judges: &Judges<'_>,
    (student, account, names): (&Path, &Account, &[&str]),
    (exercise, basis): (&Exercise, &str),
    (compiler, job): (&Compiler, usize),
    kept: Option<&Mark>,
) -> Option<Mark> {
    let of = |status, why| Some(Mark::of(exercise, status, why));
    match submission::read(student, exercise, names) {
        Submission::File(text) => {
            let digest = Some(digest::of(&[basis.as_bytes(), &text]));
            if let Some(mark) = kept.filter(|mark| mark.status != Status::Failed && mark.digest == digest) {
                return Some(mark.clone());
            }
            let Some(taken) = account.take(judges.limits.time_limit) else {
                return of(Status::TimedOut, account.empty());
            };
            let limit = taken.seconds;
            let mut mark = judges.mark(exercise, &text, (compiler, job), limit)?;
            taken.pay(mark.seconds);
            let cut_short = mark.status == Status::TimedOut && limit < judges.limits.time_limit;
            if cut_short {
                mark.report = format!("{}\n{}", account.empty(), mark.report);
            }
            // What other files have cost is not in the digest.
            Some(Mark { digest: digest.filter(|_| !cut_short), ..mark })
        }
        Submission::Missing(why) => of(Status::Missing, why),
        Submission::Refused(why) => of(Status::Refused, why),
        Submission::Unreadable(why) => of(Status::Failed, why),
    }
}

/// Shows the marks and writes the files.
fn finish(marks: &Marks, target: Option<&Target>, options: &Options) -> Result<bool> {
    // A full disk shall not lose the table, nor a closed terminal the files.
    let shown = if target == Some(&Target::Out) { Ok(()) } else { show!("{}", marks.table()) };
    let leaderboard = leaderboard::lines(marks.scores());
    let files = [
        (&options.junit, junit::of(marks)),
        (&options.json, marks.json()),
        (&options.csv, marks.csv()),
        (&options.leaderboard, leaderboard),
    ];
    for (file, text) in files {
        if let Some(file) = file {
            output_file::write_whole(file, |out| out.write_all(text.as_bytes()))?;
        }
    }
    if let (Some(target), Some(format)) = (target, options.format) {
        target.write(format, marks)?;
    }
    shown?;
    match (marks.count(Status::Failed), stopped(), &options.json) {
        (0, ..) => Ok(true),
        (count, true, Some(json)) => Err(Error::Usage(format!(
            "interrupted: {} not judged; go on with --resume --json {}",
            several(count, "file"),
            shell_word(&json.display().to_string())
        ))),
        (count, true, None) => Err(Error::Usage(format!("interrupted: {} not judged", several(count, "file")))),
        (count, ..) => {
            Err(Error::Usage(format!("{} not judged: the reports (--json) say why", several(count, "file"))))
        }
    }
}

fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Shows how many files are done.
fn progress(done: usize, files: usize) {
    if std::io::stderr().is_terminal() {
        let end = if done == files { "\r\u{1b}[K" } else { "" };
        crate::terminal::write_note(&format!("\r{done} of {}{end}", several(files, "file")));
    }
}

/// Compiles the device library, a kernel in each job's folder, and the references and solutions.
/// The locks keep other processes out, for which a submission would have to wait.
fn prepare(course: &Course, exercises: &[Exercise], jobs: usize, no_sandbox: bool) -> Result<Vec<(Compiler, File)>> {
    let compilers = (0..jobs)
        .map(|job| Ok(Compiler::new(&course.root, job, false)?.sandboxed(!no_sandbox).stopped_by(&STOP)))
        .collect::<Result<Vec<_>>>()?;
    if compilers[0].is_new() {
        note!("Compiling the device library: this takes half a minute, once.");
    }
    compilers[0].warm()?;
    std::thread::scope(|scope| {
        let warm = |compiler| scope.spawn(move || Compiler::warm(compiler));
        let all: Vec<_> = compilers[1..].iter().map(warm).collect();
        all.into_iter().try_for_each(|one| one.join().expect("no job panics"))
    })?;
    for exercise in exercises {
        let verdict = judge(exercise, &exercise.solution_file(), &compilers[0], Judging::seeded(1).stopped_by(&STOP))?;
        if !verdict.passed() {
            return Err(Error::exercise(
                &exercise.folder,
                format!("the solution fails: see cargo learn check {}", exercise.name),
            ));
        }
    }
    let locked = compilers.into_iter().map(|compiler| compiler.hand_over(exercises).map(|lock| (compiler, lock)));
    locked.collect()
}
