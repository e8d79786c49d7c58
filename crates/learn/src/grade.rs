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
use std::io::{ErrorKind, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use clap::Args;
use common::{output_file, signals};
use exercise::Exercise;
use exercise::data::some_seed;
use wording::{several, shell_word};

use crate::arguments::Orders;
use crate::compile::Compiler;
use crate::course::Course;
use crate::digest;
use crate::error::{Error, Result};
use crate::isolation::{Judges, Limits};
use crate::judge::judge;
use crate::junit;
use crate::marks::{Mark, Marks, Status, Student};
use crate::programs;
use crate::runs::Judging;
use crate::submission::{self, Submission};
use crate::terminal::{note, plain, show};
use crate::variant::Variant;

/// Options of `grade`.
#[derive(Args, Debug)]
pub struct Options {
    /// A folder with a folder for each student, which contains NAME/kernel.rs or
    /// exercises/NAME/kernel.rs
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

/// Marks all submissions. Bad marks are not a failure; files that are not judged are.
pub fn grade(course: &Course, options: &Options) -> Result<bool> {
    let course = &options.variant.of(course)?;
    let mut exercises = match options.only.is_empty() {
        true => course.names().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
        false => options.only.iter().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?,
    };
    course.must_have_solutions(&exercises.iter().map(|exercise| exercise.name.as_str()).collect::<Vec<_>>())?;
    for file in [&options.junit, &options.json, &options.csv].into_iter().flatten() {
        output_file::check(file)?;
    }
    let before = options.json.as_deref().filter(|_| options.resume).map(Marks::read).transpose()?;
    let (folders, others) = submission::students(&options.submissions)?;
    others
        .iter()
        .for_each(|other| note!("note: {} is not a folder and is skipped", plain(&other.display().to_string())));
    if let Some(why) = sandbox::missing().filter(|_| !options.limits.no_sandbox) {
        return Err(Error::Usage(format!(
            "no sandbox: {why}; without one a submission may read every file that you can read: grade on Linux 6.2 or newer, or, \
             if you trust all submissions or are in a container for this, with --no-sandbox"
        )));
    }
    // A second Ctrl-C ends the program at once.
    signals::on_each(|signal| {
        if STOP.swap(true, Ordering::Relaxed) {
            output_file::remove_unfinished();
            std::process::exit(128 + signal);
        }
    });
    if options.limits.no_sandbox {
        without_host(&mut exercises, options)?;
    }
    let files = folders.len() * exercises.len();
    let jobs = options.jobs.map_or_else(cores, |jobs| jobs as usize).clamp(1, files.max(1));
    // Prepare the compiler, the device library and the references before any submission is judged.
    let compilers = prepare(course, &exercises, jobs, options.limits.no_sandbox).map_err(|error| match stopped() {
        true => Error::Usage("interrupted before any file was judged".to_owned()),
        false => error,
    })?;
    let seed = before.as_ref().map(|marks| marks.seed).or(options.seed).unwrap_or_else(some_seed);
    let judges = Judges { course, limits: options.limits, seed, orders: options.orders, stop: &STOP };
    let bases =
        exercises.iter().map(|exercise| basis(exercise, &compilers[0].0, &judges)).collect::<Result<Vec<_>>>()?;
    let name = |folder: &PathBuf| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unjudged = |exercise| Mark::of(exercise, Status::Failed, "grading was interrupted before".to_owned());
    let student = |folder| Student { name: name(folder), marks: exercises.iter().map(unjudged).collect() };
    let marks = Mutex::new(Marks { seed, students: folders.iter().map(student).collect() });
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let accounts: Vec<Account> = folders.iter().map(|_| Account::of(options.student_time_limit)).collect();
    let names: Vec<&str> = course.names().collect();
    std::thread::scope(|scope| {
        for (job, (compiler, _lock)) in compilers.iter().enumerate() {
            let (judges, marks, next, done, before) = (&judges, &marks, &next, &done, before.as_ref());
            let (folders, exercises, bases) = (&folders, &exercises, &bases);
            let (accounts, names) = (&accounts, &names);
            scope.spawn(move || {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < files && !stopped()) {
                    let [row, column] = [at / exercises.len(), at % exercises.len()];
                    let (folder, exercise) = (&folders[row], (&exercises[column], bases[column].as_str()));
                    let kept = before.and_then(|marks| marks.mark(&name(folder), &exercise.0.name));
                    let student = (folder.as_path(), &accounts[row], names.as_slice());
                    if let Some(mark) = marked(judges, student, exercise, (compiler, job), kept) {
                        marks.lock().expect("no job panics").students[row].marks[column] = mark;
                    }
                    progress(1 + done.fetch_add(1, Ordering::Relaxed), files);
                }
            });
        }
    });
    finish(&marks.into_inner().expect("no job panics"), options)
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
    let Judges { limits, seed, orders, .. } = judges;
    let orders = orders.schedules.unwrap_or(0);
    let mut parts = vec![
        program,
        compiler.basis()?.into_bytes(),
        limits.basis().into_bytes(),
        seed.to_le_bytes().into(),
        orders.to_le_bytes().into(),
    ];
    for file in exercise.deciding_files() {
        parts.push(match fs::read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(Error::reading(&file))?,
        });
    }
    Ok(digest::of(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
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

/// The time that a student's files may take together, so that one student's do not keep the others
/// waiting: files that take long each cost no more than a class's files do.
struct Account {
    limit: u64,
    /// What the files that are judged have taken, and what those may take that are being judged.
    used: Mutex<Used>,
    /// Some were judged.
    paid: Condvar,
}

#[derive(Default)]
struct Used {
    spent_ms: u64,
    taken: u64,
}

/// Seconds that a file may take. What it does not take is given back.
struct Taken<'a> {
    account: &'a Account,
    seconds: u64,
    spent_ms: u64,
}

impl Account {
    fn of(limit: u64) -> Self {
        Self { limit, used: Mutex::default(), paid: Condvar::new() }
    }

    /// Takes what a file may take: this, or what is left if that is less. Waits as long as files
    /// that are being judged may leave too little. `None`: nothing is left.
    fn take(&self, wanted: u64) -> Option<Taken<'_>> {
        let mut used = self.used.lock().expect("no job panics");
        loop {
            let left = self.limit.saturating_sub(used.spent_ms.div_ceil(1000));
            let seconds = wanted.min(left);
            if seconds == 0 {
                return None;
            }
            if used.taken + seconds <= left {
                used.taken += seconds;
                return Some(Taken { account: self, seconds, spent_ms: 0 });
            }
            used = self.paid.wait(used).expect("no job panics");
        }
    }

    /// What is said when nothing is left.
    fn empty(&self) -> String {
        format!(
            "the student's files together took the {} of --student-time-limit: this one was not judged to its end",
            several(self.limit as usize, "second")
        )
    }
}

impl Taken<'_> {
    fn pay(mut self, seconds: f64) {
        self.spent_ms = (1e3 * seconds) as u64;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut used = self.account.used.lock().expect("no job panics");
        used.taken -= self.seconds;
        used.spent_ms += self.spent_ms;
        self.account.paid.notify_all();
    }
}

/// Shows the marks and writes the files.
fn finish(marks: &Marks, options: &Options) -> Result<bool> {
    // A full disk shall not lose the table, nor a closed terminal the files.
    let shown = show!("{}", marks.table());
    let files = [(&options.junit, junit::of(marks)), (&options.json, marks.json()), (&options.csv, marks.csv())];
    for (file, text) in files {
        if let Some(file) = file {
            output_file::write_whole(file, |out| out.write_all(text.as_bytes()))?;
        }
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
    let locked = compilers
        .into_iter()
        .map(|compiler| compiler.hand_over(exercises.iter().any(Exercise::is_host)).map(|lock| (compiler, lock)));
    locked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_empty_once_the_limit_is_paid() {
        let account = Account::of(3);
        let left = || account.take(u64::MAX).map(|taken| taken.seconds);
        let pay = |seconds| account.take(1).expect("some is left").pay(seconds);
        assert_eq!(left(), Some(3));
        // A second that has begun is not given again.
        pay(0.001);
        assert_eq!(left(), Some(2));
        pay(1.0);
        assert_eq!(left(), Some(1));
        pay(0.999);
        assert_eq!(left(), Some(1));
        pay(1e6);
        assert_eq!(left(), None);
        assert!(account.empty().starts_with("the student's files together took the 3 seconds of --student-time-limit"));
        assert_eq!(Account::of(u64::MAX).take(u64::MAX).map(|taken| taken.seconds), Some(u64::MAX));
    }

    #[test]
    fn files_that_are_judged_at_once_share_an_account() {
        let account = Account::of(10);
        let first = account.take(6).expect("all is left");
        let second = account.take(4).expect("four seconds are left");
        let third = std::thread::scope(|scope| {
            let third = scope.spawn(|| account.take(6).map(|taken| taken.seconds));
            first.pay(0.5);
            second.pay(3.5);
            third.join().expect("it ends")
        });
        assert_eq!(third, Some(6));
        let mut all: Vec<Taken<'_>> = (0..2).filter_map(|_| account.take(3)).collect();
        assert_eq!(all.len(), 2);
        all.drain(..).for_each(|taken| taken.pay(9.0));
        assert!(account.take(1).is_none());
    }
}
