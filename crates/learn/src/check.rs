//! `cargo learn check`: proves that each exercise can be solved, and not by accident. For authors.
//! `cli` calls it. It reads the course and compiles in `target/learn`; it changes no exercise.
//!
//! The starter must fail for the reason in `starter_fails`, and miss every goal except those with
//! `also = true`. The solution must pass with several seeds. Each wrong solution must fail, and the
//! report must contain the words in its first line (`exercise::wrong`). With `--variant`, the same
//! holds of the varied exercises, and the solutions of the others must fail. Texts must fit in 100
//! columns, and what a student reads of the unchanged starter on one screen.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use exercise::Exercise;
use exercise::goals_file::Task;
use exercise::wrong::WrongSolution;
use simt::Model;
use wording::{WIDTH, several};

use crate::arguments::{Where, device};
use crate::compile::{Compiled, Compiler};
use crate::course::Course;
use crate::error::{Error, Result};
use crate::given;
use crate::judge::judge;
use crate::report::{Report, heading};
use crate::runs::Judging;
use crate::student::why_not_on_a_gpu;
use crate::terminal::{note, show_line};
use crate::variant::Variant;
use crate::verdict::Verdict;

/// Seeds with which a solution must pass.
const SEEDS: [u64; 3] = [1, 20, 300];

/// The lines of a screen: what is said of the unchanged starter has at most as many.
const MOST_LINES: usize = 40;
/// Those around the report: an empty one above it, and below it one and the two of advice.
const AROUND: usize = 4;

/// Options of `check`.
#[derive(Args, Debug)]
pub struct Options {
    /// The exercises to check [default: all]
    names: Vec<String>,
    /// Exercises that are checked at the same time [default: as many as there are cores; 1 on a
    /// GPU]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// sim, or gpu to also run the solutions on a GPU and time them beside the starters; sim:MODEL
    /// grades open exercises on that model
    #[arg(long, value_name = "DEVICE", default_value = "sim", value_parser = device)]
    device: Where,
    /// Write the PTX of given kernels, given.ptx, instead of checking it
    #[arg(long, conflicts_with = "variant")]
    write_ptx: bool,
    #[command(flatten)]
    variant: Variant,
}

/// Runs the check. Returns whether all exercises are good.
pub fn check(course: &Course, options: &Options) -> Result<bool> {
    let names: Vec<&str> = match options.names.is_empty() {
        true => course.names().collect(),
        false => options.names.iter().map(String::as_str).collect(),
    };
    course.must_have_solutions(&names)?;
    // The solutions of the course as it is must fail in a variant.
    let (course, others) = (&options.variant.of(course)?, options.variant.variant.map(|_| course));
    let (gpu, model) = (options.device.gpu(), options.device.model());
    let cores = || if gpu.is_some() { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let jobs = options.jobs.map_or_else(cores, |jobs| jobs as usize).clamp(1, names.len().max(1));
    let (next, bad) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let (names, next, bad, failure) = (&names, &next, &bad, &failure);
            scope.spawn(move || {
                let work = || -> Result<()> {
                    let compiler = Compiler::new(&course.root, job, false)?;
                    while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let Examined { problems, times } = match course.exercise(name) {
                            Ok(exercise) if options.write_ptx => {
                                Examined { problems: written(&exercise, &compiler)?, times: None }
                            }
                            Ok(exercise) => {
                                if let Some(why) = gpu.and_then(|_| why_not_on_a_gpu(&exercise)) {
                                    note!("note: --device: {why}");
                                }
                                examined(&exercise, &compiler, (gpu, model), others)?
                            }
                            Err(error) => Examined { problems: vec![error.to_string()], times: None },
                        };
                        report(name, &problems, times)?;
                        bad.fetch_add(usize::from(!problems.is_empty()), Ordering::Relaxed);
                    }
                    Ok(())
                };
                if let Err(error) = work() {
                    // The other jobs stop, too.
                    next.store(names.len(), Ordering::Relaxed);
                    *failure.lock().expect("no job panics with the lock held") = Some(error);
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().expect("no job panics with the lock held") {
        return Err(error);
    }
    let bad = bad.into_inner();
    match bad {
        0 if options.write_ptx => show_line!("\ngiven.ptx is written where kernels are given.")?,
        0 => show_line!("\n{} checked: all can be solved, and none by accident.", several(names.len(), "exercise"))?,
        _ => show_line!("\n{bad} of {} must be corrected.", several(names.len(), "exercise"))?,
    }
    Ok(bad == 0)
}

/// Compiles the given kernels, if there are, and writes their PTX.
fn written(exercise: &Exercise, compiler: &Compiler) -> Result<Vec<String>> {
    if !exercise.is_given() {
        return Ok(Vec::new());
    }
    let file = exercise.given_file();
    let source = fs::read_to_string(&file).map_err(Error::reading(&file))?;
    match compiler.compile(&source)? {
        Compiled::Ptx(ptx) => {
            let text = fs::read_to_string(&ptx).map_err(Error::reading(&ptx))?;
            given::write(exercise, &text)?;
            Ok(Vec::new())
        }
        Compiled::Rejected(messages) => Ok(vec![messages]),
    }
}

/// The result for one exercise.
#[derive(Default)]
struct Examined {
    problems: Vec<String>,
    /// The starter's and the solution's times on a GPU, in milliseconds.
    times: Option<[f64; 2]>,
}

fn report(name: &str, problems: &[String], times: Option<[f64; 2]>) -> Result<()> {
    let times = times.map(|[starter, solution]| {
        let (starter_us, solution_us) = (1e3 * starter, 1e3 * solution);
        format!(
            "  starter {starter_us:8.1} us, solution {solution_us:8.1} us: {:5.2} times as fast",
            starter / solution
        )
    });
    let times = times.unwrap_or_default();
    match problems {
        [] => show_line!("{}", format!("   ok  {name:22}{times}").trim_end()),
        _ => {
            let text: String = problems.iter().map(|problem| format!("       {problem}\n")).collect();
            show_line!("wrong  {name}\n{}", text.trim_end())
        }
    }
}

/// The GPU to run on as well, and the model whose times are predicted.
type On = (Option<u32>, Option<&'static Model>);

/// Finds the problems of an exercise. An error is not the exercise's fault.
fn examined(exercise: &Exercise, compiler: &Compiler, on: On, others: Option<&Course>) -> Result<Examined> {
    let mut found = Examined::default();
    let all = examine(exercise, compiler, on, &mut found);
    match all.and_then(|()| others.map_or(Ok(()), |course| of_others(exercise, compiler, course, &mut found))) {
        Ok(()) => {}
        Err(error @ (Error::Exercise(_) | Error::File { .. })) => found.problems.push(error.to_string()),
        Err(other) => return Err(other),
    }
    Ok(found)
}

fn examine(exercise: &Exercise, compiler: &Compiler, (gpu, model): On, found: &mut Examined) -> Result<()> {
    let Examined { problems, times } = found;
    if exercise.is_predicted() && given::ptx(exercise)?.is_none() {
        problems.push("given.ptx is not of this given.rs: run `cargo learn check --write-ptx`".to_owned());
    }
    exercise.variants()?;
    let hints = exercise.hints()?;
    if !(2..=5).contains(&hints.len()) {
        problems.push(format!("hints.md has {}, and should have 2 to 5", several(hints.len(), "hint")));
    }
    for seed in SEEDS {
        let file = exercise.solution_file();
        let gpu = gpu.filter(|_| seed == SEEDS[0]);
        let (verdict, text) = judged(exercise, &file, compiler, Judging { gpu, model, ..Judging::seeded(seed) })?;
        if !verdict.passed() {
            problems.push(format!("the solution fails (seed {seed}):\n{text}"));
            break;
        }
        // On another model than the usual one the best grade may be out of reach.
        let best = exercise.goals.open.as_ref().and_then(|open| open.grades.keys().last());
        let reached = verdict.rating.as_ref().and_then(|rating| rating.grade());
        if model.is_none() && reached != best.map(String::as_str) {
            problems.push(format!("the solution does not reach the best grade (seed {seed}):\n{text}"));
            break;
        }
    }
    let starter = exercise.starter_file();
    let (verdict, text) = judged(exercise, &starter, compiler, Judging { gpu, model, ..Judging::seeded(SEEDS[0]) })?;
    *times = verdict.times.as_ref().map(|times| [times.student, times.solution]);
    must_fail("the starter", &verdict, &text, &exercise.goals.starter_fails, problems);
    let first = Report { file: &starter, explain: false }.text(&verdict);
    let lines = heading(exercise).lines().count() + first.lines().count() + AROUND;
    if lines > MOST_LINES {
        problems.push(format!("the report on the starter has {lines} lines, and a screen {MOST_LINES}:\n{text}"));
    }
    let met = verdict.goals.iter().filter(|result| result.met && !result.also);
    if exercise.goals.task == Task::Fast {
        problems.extend(met.map(|result| {
            format!("the starter meets the goal `{}` already: set also = true, or remove it", result.goal)
        }));
    }
    let wrong = exercise.wrong_solutions()?;
    if wrong.len() < 2 {
        problems.push(format!("wrong/ has {}, and should have two or more", several(wrong.len(), "file")));
    }
    let scratch = tempfile::tempdir().map_err(|source| Error::writing(&std::env::temp_dir())(source))?;
    for WrongSolution { file, fails, text } in &wrong {
        if fails.is_empty() {
            problems.push(format!(
                "{file}: its first line does not say what fails: `// fails: WORDS`, or `# fails: WORDS`"
            ));
            continue;
        }
        let whole = scratch.path().join(exercise.file_name());
        fs::write(&whole, text).map_err(Error::writing(&whole))?;
        let (verdict, text) = judged(exercise, &whole, compiler, Judging { model, ..Judging::seeded(SEEDS[0]) })?;
        must_fail(file, &verdict, &text, fails, problems);
    }
    let read = [
        "starter.rs",
        "starter.toml",
        "solution.rs",
        "solution.toml",
        "reference.rs",
        "hints.md",
        "given.rs",
        "main.rs",
    ];
    for file in read.into_iter().chain(wrong.iter().map(|wrong| wrong.file.as_str())) {
        let text = fs::read_to_string(exercise.folder.join(file)).unwrap_or_default();
        if let Some(line) = text.lines().position(|line| line.chars().count() > WIDTH) {
            problems.push(format!("{file}:{}: more than {WIDTH} columns", line + 1));
        }
    }
    Ok(())
}

/// Judges the solution of the course as it is in one of its variants.
fn of_others(exercise: &Exercise, compiler: &Compiler, course: &Course, found: &mut Examined) -> Result<()> {
    let own = course.exercise(&exercise.name)?;
    if own.variants()?.is_some() && judge(exercise, &own.solution_file(), compiler, Judging::seeded(SEEDS[0]))?.passed()
    {
        found.problems.push("the solution of another class passes: its numbers or names do not matter".to_owned());
    }
    Ok(())
}

/// The verdict on a file, and its report as plain text.
fn judged(exercise: &Exercise, file: &Path, compiler: &Compiler, judging: Judging) -> Result<(Verdict, String)> {
    let verdict = judge(exercise, file, compiler, judging)?;
    let text = Report { file, explain: true }.text(&verdict);
    Ok((verdict, anstream::adapter::strip_str(&text).to_string()))
}

fn must_fail(what: &str, verdict: &Verdict, report: &str, words: &str, problems: &mut Vec<String>) {
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if verdict.passed() {
        problems.push(format!("{what} passes"));
    } else if !joined(report).contains(&joined(words)) {
        problems.push(format!("{what} fails without the words \"{words}\":\n{report}"));
    }
}
