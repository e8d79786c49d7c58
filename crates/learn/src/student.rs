//! The commands for students: progress, `run`, `hint`, `list`, `reset` and `solution`. `cli` calls
//! them, `watch` calls `run`, and `serve` does the same on pages. They write only the student's
//! file, `reset`'s copies of it and `exercises/progress.toml`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use exercise::Exercise;
use wording::{WIDTH, several};

use crate::arguments::{Orders, RunArguments};
use crate::compile::Compiler;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::judge::judge;
use crate::leaderboard;
use crate::page;
use crate::progress::Progress;
use crate::recorded::some_seed_of;
use crate::report::{Report, heading, shown_path};
use crate::runs::Judging;
use crate::terminal::{note, show, show_line};
use crate::verdict::{Failure, Verdict};

/// Wrong predictions are explained after this many runs with a number for each question.
pub const EXPLAINED_AFTER: usize = 2;

/// `cargo learn`: shows the student's progress and the next exercise.
pub fn status(course: &Course) -> Result<bool> {
    let progress = Progress::read(course)?;
    let (solved, all) = (progress.solved(course), course.names().count());
    const CELLS: usize = 40;
    let full = (CELLS * solved).checked_div(all).unwrap_or(0);
    show_line!("[{}{}] {solved} of {all} exercises solved\n", "#".repeat(full), ".".repeat(CELLS - full))?;
    let Some(next) = progress.next(course) else {
        show_line!("All of them. `cargo learn list` shows them, `cargo learn --help` all commands.")?;
        return Ok(true);
    };
    let exercise = course.exercise(next)?;
    begin(&exercise)?;
    let chapter = course.chapters.iter().find(|chapter| chapter.exercises.iter().any(|name| name == next));
    if let Some(chapter) = chapter {
        show_line!("Next, in \"{}\":\n", chapter.title)?;
    }
    show!("{}", heading(&exercise))?;
    show_line!(
        "\n  1. Read and edit  {}\n  2. Try it with    cargo learn run\n  3. When stuck     cargo learn hint",
        shown_path(&exercise.student_file())
    )?;
    if let Some(lab) = &exercise.goals.lab {
        show_line!("     Its lab          {lab}")?;
    }
    show_line!("\n`cargo learn watch` tries it each time you save; `cargo learn --help` shows the rest.")?;
    Ok(true)
}

/// The exercise of this name, or the next one, after its starter has been copied if necessary.
pub fn chosen(course: &Course, progress: &Progress, name: Option<&str>) -> Result<Exercise> {
    let name = name.or(progress.next(course)).or(course.names().last());
    let name = name.ok_or_else(|| Error::Usage("the course has no exercises".to_owned()))?;
    let exercise = course.exercise(name)?;
    begin(&exercise)?;
    Ok(exercise)
}

/// Copies the starter to the student's file, unless that exists already.
pub fn begin(exercise: &Exercise) -> Result<()> {
    let (file, starter) = (exercise.student_file(), exercise.starter_file());
    if !file.exists() {
        let text = fs::read_to_string(&starter).map_err(Error::reading(&starter))?;
        cuda_builder::write_whole(&file, &text)?;
    }
    Ok(())
}

/// `cargo learn run`.
pub fn run(course: &Course, arguments: &RunArguments) -> Result<bool> {
    let mut progress = Progress::read(course)?;
    let exercise = chosen(course, &progress, arguments.name.as_deref())?;
    let compiler = compiler(&course.root)?;
    let verdict = attempt(course, &exercise, &compiler, arguments, &mut progress)?;
    Ok(verdict.passed())
}

/// The compiler, or the command that installs one.
pub fn compiler(root: &Path) -> Result<Compiler> {
    Ok(Compiler::new(root, 0, std::io::stdout().is_terminal())?.announcing())
}

/// Judges the student's file, shows the report, and records the progress.
pub fn attempt(
    course: &Course,
    exercise: &Exercise,
    compiler: &Compiler,
    arguments: &RunArguments,
    progress: &mut Progress,
) -> Result<Verdict> {
    if let Some(path) = &arguments.report {
        page::check(exercise, path)?;
    }
    let judging = Judging { lines: arguments.report.is_some(), ..Judging::seeded(0) };
    let Tried { verdict, explain } = tried(course, exercise, compiler, arguments, judging, progress)?;
    let file = exercise.student_file();
    let report = Report { file: &file, explain };
    let mut text = heading(exercise);
    text.push('\n');
    text.push_str(&report.text(&verdict));
    text.push('\n');
    if verdict.passed() {
        let _ = writeln!(text, "Solved. {}", next_step(course, progress, exercise));
        if exercise.is_open() {
            let _ = writeln!(text, "Your best times: `cargo learn leaderboard {}`.", exercise.name);
        }
    } else {
        let _ = writeln!(text, "{}", advice(exercise, &verdict));
    }
    show!("{text}")?;
    if let Some(path) = &arguments.report {
        page::write(exercise, &report, &verdict, path)?;
    }
    Ok(verdict)
}

/// What came of a run.
pub struct Tried {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether wrong predictions are explained by now.
    pub explain: bool,
}

/// Judges the student's file as the arguments say, and records the progress.
pub fn tried(
    course: &Course,
    exercise: &Exercise,
    compiler: &Compiler,
    arguments: &RunArguments,
    judging: Judging,
    progress: &mut Progress,
) -> Result<Tried> {
    let seed = arguments.seed.map_or_else(|| some_seed_of(exercise), Ok)?;
    let gpu = arguments.device.gpu();
    if let Some(why) = gpu.and_then(|_| why_not_on_a_gpu(exercise)) {
        note!("note: --device: {why}");
    }
    let model = arguments.device.model();
    if model.is_some() && !exercise.is_open() {
        let name = &exercise.name;
        return Err(Error::Usage(format!(
            "--device: {name} has no times to predict on a model of your choice; give sim or gpu"
        )));
    }
    let Orders { schedules, schedule } = arguments.orders;
    let judging = Judging { seed, gpu, model, schedules, schedule, ..judging };
    let verdict = judge(exercise, &exercise.student_file(), compiler, judging)?;
    if matches!(verdict.failure, Some(Failure::Predictions))
        && verdict.predictions.iter().all(|prediction| prediction.predicted.is_some())
    {
        kept("your progress is not kept", progress.add_try(&exercise.name));
    }
    if verdict.passed() {
        kept("your progress is not kept", progress.set_solved(exercise, true));
        if let Some(rating) = &verdict.rating {
            kept("this time is not in your leaderboard", leaderboard::keep(course, exercise, rating));
        }
    }
    Ok(Tried { explain: progress.tries(&exercise.name) >= EXPLAINED_AFTER, verdict })
}

/// Says what is not kept; the verdict is worth more.
fn kept(otherwise: &str, outcome: Result<()>) {
    if let Err(error) = outcome {
        note!("note: {otherwise}: {error}");
    }
}

/// Why an exercise does not run on a GPU, if it does not.
pub fn why_not_on_a_gpu(exercise: &Exercise) -> Option<String> {
    exercise
        .is_host()
        .then(|| format!("{} is host code, judged by the simulator's driver; it does not run on a GPU", exercise.name))
}

fn next_step(course: &Course, progress: &Progress, exercise: &Exercise) -> String {
    let model = match exercise.is_for_students() {
        true => String::new(),
        false => format!("Model solution: `cargo learn solution {}`. ", exercise.name),
    };
    match progress.next(course) {
        Some(next) => format!("{model}Next: {next}. Run `cargo learn`."),
        None => format!("{model}That was the last one."),
    }
}

fn advice(exercise: &Exercise, verdict: &Verdict) -> String {
    let (file, name) = (shown_path(&exercise.student_file()), &exercise.name);
    let open = verdict.predictions.iter().filter(|prediction| prediction.predicted.is_none()).count();
    if open > 0 {
        let given = shown_path(&exercise.given_file());
        return format!(
            "{} left: read the kernels in {given},\nand write a number for each \"?\" in {file}.",
            several(open, "question")
        );
    }
    let again = match verdict.failure {
        Some(Failure::OtherOrders(_)) => {
            format!("\nThe same data and orders again: cargo learn run {name} --seed {}", verdict.seed)
        }
        Some(Failure::Faults(..) | Failure::Wrong(..) | Failure::InputChanged(..)) => {
            format!("\nThe same data again: cargo learn run {name} --seed {}", verdict.seed)
        }
        _ => String::new(),
    };
    let edit = format!("Edit {file} and run it again. A hint: cargo learn hint {name}");
    wording::wrapped(&edit, WIDTH, "", "") + &again
}

/// `cargo learn hint`.
pub fn hint(course: &Course, name: Option<&str>) -> Result<bool> {
    let mut progress = Progress::read(course)?;
    let exercise = chosen(course, &progress, name)?;
    let hints = exercise.hints()?;
    let shown = one_more_hint(&exercise, &hints, &progress);
    show!("{}", heading(&exercise))?;
    for (index, hint) in hints.iter().take(shown).enumerate() {
        show_line!("\nHint {} of {}\n\n{hint}", index + 1, hints.len())?;
    }
    if shown < hints.len() {
        show_line!("\nOne more: cargo learn hint {}", exercise.name)?;
    }
    progress.set_hints(&exercise.name, shown)?;
    Ok(true)
}

/// How many hints are to be shown when the student asks for one.
pub fn one_more_hint(exercise: &Exercise, hints: &[String], progress: &Progress) -> usize {
    (progress.hints(&exercise.name) + 1).min(hints.len())
}

/// `cargo learn list`.
pub fn list(course: &Course) -> Result<bool> {
    let progress = Progress::read(course)?;
    let next = progress.next(course);
    let mut text = String::new();
    let widest = course.names().map(str::len).max().unwrap_or(0);
    for chapter in &course.chapters {
        let _ = writeln!(text, "\n{}", chapter.title);
        for name in &chapter.exercises {
            let exercise = course.exercise(name)?;
            let mark = match (progress.is_solved(name), next == Some(name)) {
                (true, _) => "x",
                (_, true) => ">",
                _ => " ",
            };
            let _ = writeln!(text, "  [{mark}] {name:widest$}  {}", exercise.goals.title);
        }
    }
    let (solved, all) = (progress.solved(course), course.names().count());
    show_line!("{}\n\n{solved} of {all} solved.", text.trim_start().trim_end())?;
    Ok(true)
}

/// `cargo learn reset`.
pub fn reset(course: &Course, name: &str) -> Result<bool> {
    show_line!("{}", reset_file(course, &course.exercise(name)?)?)?;
    Ok(true)
}

/// Replaces the student's file with the starter, and says what became of it.
pub fn reset_file(course: &Course, exercise: &Exercise) -> Result<String> {
    let mut progress = Progress::read(course)?;
    let (file, starter) = (exercise.student_file(), exercise.starter_file());
    let text = fs::read_to_string(&starter).map_err(Error::reading(&starter))?;
    // As bytes: what is not UTF-8 is the student's work, too.
    let before = match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        read => Some(read.map_err(Error::reading(&file))?).filter(|before| before != text.as_bytes()),
    };
    // Kept first, so that an error loses nothing.
    let kept = before.map(|before| keep(&file, &before)).transpose()?;
    cuda_builder::write_whole(&file, &text)?;
    let solved = if progress.is_solved(&exercise.name) { ", and no longer counts as solved" } else { "" };
    progress.forget(&exercise.name)?;
    let shown = shown_path(&file);
    Ok(match kept {
        Some(kept) => format!("{shown} is the starter again{solved}; yours is kept as {}.", shown_path(&kept)),
        None => format!("{shown} is the starter{solved}."),
    })
}

/// Writes the student's work beside the file: as `kernel.rs.before`, or `kernel.rs.before2` and so
/// on, because a file that was kept earlier stays. Returns the path.
fn keep(file: &Path, work: &[u8]) -> Result<PathBuf> {
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { number.to_string() };
        let kept = file.with_extension(format!("{extension}.before{suffix}"));
        match File::create_new(&kept) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Error::writing(&kept)(error)),
            Ok(mut created) => {
                if let Err(error) = created.write_all(work) {
                    let _ = fs::remove_file(&kept);
                    return Err(Error::writing(&kept)(error));
                }
                return Ok(kept);
            }
        }
    }
}

/// `cargo learn solution`.
pub fn solution(course: &Course, name: &str) -> Result<bool> {
    show!("{}", solution_text(course, &course.exercise(name)?)?)?;
    Ok(true)
}

/// The text of the solution, once the student has solved the exercise.
pub fn solution_text(course: &Course, exercise: &Exercise) -> Result<String> {
    let progress = Progress::read(course)?;
    if !progress.is_solved(&exercise.name) {
        return Err(Error::Usage(format!(
            "{} is not solved yet: solve it first, or take a hint with `cargo learn hint {}`",
            exercise.name, exercise.name
        )));
    }
    if exercise.is_for_students() {
        return Err(Error::Usage("this copy of the course has no solutions: ask your teacher".to_owned()));
    }
    let file = exercise.solution_file();
    fs::read_to_string(&file).map_err(Error::reading(&file))
}
