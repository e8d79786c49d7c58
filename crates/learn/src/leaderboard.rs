//! The best times of open exercises: `leaderboard.jsonl` in the folder of the course, a line of JSON
//! for each exercise and model. [`crate::student`] keeps a student's own, `grade --leaderboard`
//! writes one for a class, and `cargo learn leaderboard` shows them, also of several files.
//!
//! A line proves nothing: whoever has the file can change it. `grade` judges the texts again.
//!
//! *Invariant:* times of other versions of a model are not compared with those of this one.

use std::fs::{self, File};
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use exercise::Exercise;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use simt::Model;
use wording::units::{milliseconds, three_digits};

use crate::arguments::model;
use crate::calendar;
use crate::course::Course;
use crate::digest;
use crate::error::{Error, Result};
use crate::rating::{CopyTime, Rating, gpu, grade, sizes};
use crate::terminal::{REPLACED, plain, show};

/// The most bytes of a file.
const LONGEST: u64 = 16 << 20;

/// The most letters of a name.
const LONGEST_NAME: usize = 64;

/// Times in microseconds that kernels can have: up to a quarter of an hour.
const TIMES: RangeInclusive<f64> = 0.001..=1e9;

/// Options of `leaderboard`.
#[derive(Args, Debug)]
pub struct Options {
    /// Open exercises, or files of several students, which are shown as one [default: your file,
    /// all open exercises]
    #[arg(value_name = "EXERCISE | FILE")]
    what: Vec<String>,
    /// Show the times on this model only, such as ada
    #[arg(long, value_name = "MODEL", value_parser = model)]
    device: Option<&'static Model>,
}

/// What a text reaches in an open exercise.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Score {
    /// The model.
    pub model: String,
    /// The time in microseconds.
    pub us: f64,
    /// The digest of the text.
    pub digest: String,
    /// The version of the model.
    pub version: String,
}

impl Score {
    /// Of kernels that have a time.
    pub fn of(rating: &Rating) -> Option<Self> {
        let us = rating.time.as_ref().ok()?.us;
        let (model, digest) = (rating.model.name.to_owned(), rating.digest.clone());
        Some(Self { model, us, digest, version: version(rating.model) })
    }
}

/// A line of a leaderboard.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    task: String,
    model: String,
    us: f64,
    name: String,
    date: String,
    digest: String,
    version: String,
}

impl Entry {
    /// A student's score of today.
    pub fn new(task: &str, name: &str, score: &Score) -> Self {
        let Score { model, us, digest, version } = score.clone();
        let cut = |name: &str| name.chars().take(LONGEST_NAME).collect::<String>();
        let name = cut(name);
        // A folder can have a name that shows nothing.
        let name = cut(&if is_seen(&name) { shown(&name) } else { name.escape_unicode().to_string() });
        Self { task: task.to_owned(), model, us, name, date: today(), digest, version }
    }

    /// Which student, exercise, model and version it stands for.
    fn key(&self) -> [String; 4] {
        [&self.task, &self.model, &self.name, &self.version].map(String::clone)
    }

    /// What is wrong with it, in a course with these open exercises.
    fn problem(&self, open: &[&str]) -> Option<String> {
        let hexadecimal = |text: &str, length| text.len() == length && text.chars().all(|c| c.is_ascii_hexdigit());
        let name_fits = is_seen(&self.name) && self.name.chars().count() <= LONGEST_NAME;
        Some(match self {
            _ if !open.contains(&self.task.as_str()) => {
                format!("'{}' is no open exercise of this course", shown(&self.task))
            }
            _ if Model::named(&self.model).is_none_or(|model| model.dram_gbps().is_none()) => {
                format!("'{}' is no model with times", shown(&self.model))
            }
            _ if !TIMES.contains(&self.us) => {
                format!("the time 'us' must be from {} to {} microseconds", TIMES.start(), TIMES.end())
            }
            _ if !name_fits => format!("the name must have 1 to {LONGEST_NAME} letters"),
            _ if !calendar::is_date(&self.date) => format!("'{}' is no date such as 2026-11-29", shown(&self.date)),
            _ if !hexadecimal(&self.digest, 64) => "the digest must have 64 hexadecimal digits".to_owned(),
            _ if !hexadecimal(&self.version, VERSION) => {
                format!("the version must have {VERSION} hexadecimal digits")
            }
            _ => return None,
        })
    }
}

/// A text of others, in one line.
fn shown(text: &str) -> String {
    plain(text).replace('\n', " ")
}

/// Whether a name shows anything: there are letters that are blank.
fn is_seen(name: &str) -> bool {
    const BLANK: [char; 6] = ['\u{ad}', '\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}'];
    shown(name).chars().any(|c| !(c.is_whitespace() || c == REPLACED || BLANK.contains(&c)))
}

/// Digits of a model's version.
const VERSION: usize = 16;

/// What the predictions of a model depend on: the program's version, and the model's numbers.
fn version(model: &Model) -> String {
    let numbers = format!("{model:?} {:?}", model.timing());
    let digest = digest::of(&[env!("CARGO_PKG_VERSION").as_bytes(), numbers.as_bytes()]);
    digest.chars().take(VERSION).collect()
}

/// Today's date, in UTC.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let [year, month, day] = calendar::date((seconds / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The file of a student's own times.
fn own_file(course: &Course) -> PathBuf {
    course.folder.join("leaderboard.jsonl")
}

/// Reads a file; of lines that are alike, the fastest.
fn read(course: &Course, file: &Path) -> Result<Vec<Entry>> {
    let wrong = |line: Option<usize>, problem: &str| {
        Error::Usage(match line {
            Some(line) => format!("{}:{line}: {problem}; correct the line, or delete it", file.display()),
            None => format!("{}: this is no leaderboard: {problem}; delete it, or name another file", file.display()),
        })
    };
    // A pipe could make it wait without end.
    if !fs::metadata(file).map_err(Error::reading(file))?.is_file() {
        return Err(wrong(None, "it is no file"));
    }
    let opened = File::open(file).map_err(Error::reading(file))?;
    let mut bytes = Vec::new();
    opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(Error::reading(file))?;
    if bytes.len() as u64 > LONGEST {
        return Err(wrong(None, "it is too long"));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong(None, "it is not UTF-8"))?;
    let open: Vec<&str> =
        course.names().filter(|name| course.exercise(name).is_ok_and(|exercise| exercise.is_open())).collect();
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let entry: Entry = serde_json::from_str(line).map_err(|error| {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            wrong(Some(number), &format!("this is no line of a leaderboard: {}", shown(why)))
        })?;
        if let Some(problem) = entry.problem(&open) {
            return Err(wrong(Some(number), &problem));
        }
        entries.push(entry);
    }
    Ok(best(entries))
}

/// Of entries that are alike, the fastest, which is the earliest if several are.
fn best(entries: Vec<Entry>) -> Vec<Entry> {
    let mut all: IndexMap<[String; 4], Entry> = IndexMap::new();
    for entry in entries {
        match all.get_mut(&entry.key()) {
            Some(known) if (entry.us, &entry.date) < (known.us, &known.date) => *known = entry,
            Some(_) => {}
            None => {
                all.insert(entry.key(), entry);
            }
        }
    }
    all.into_values().collect()
}

/// Entries as lines.
pub fn lines(entries: Vec<Entry>) -> String {
    let line = |entry| serde_json::to_string(&entry).expect("strings and numbers can be written") + "\n";
    best(entries).iter().map(line).collect()
}

/// Keeps a student's own time, if it is the best.
///
/// # Errors
///
/// What is wrong with the file, or cannot be written.
pub fn keep(course: &Course, exercise: &Exercise, rating: &Rating) -> Result<()> {
    let Some(score) = Score::of(rating) else { return Ok(()) };
    let file = own_file(course);
    // Another run may keep one at the same time.
    let path = file.with_extension("lock");
    let lock = File::create(&path).map_err(Error::writing(&path))?;
    lock.lock().map_err(Error::writing(&path))?;
    let mut entries = if file.exists() { read(course, &file)? } else { Vec::new() };
    let name = ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "me".to_owned());
    entries.push(Entry::new(&exercise.name, &name, &score));
    cuda_builder::write_whole(&file, &lines(entries))?;
    Ok(())
}

/// `cargo learn leaderboard`.
pub fn leaderboard(course: &Course, options: &Options) -> Result<bool> {
    let (tasks, files): (Vec<&String>, Vec<&String>) =
        options.what.iter().partition(|what| course.names().any(|name| name == *what));
    for task in &tasks {
        if !course.exercise(task)?.is_open() {
            return Err(Error::Usage(format!("{task} has no leaderboard: it is not an open exercise")));
        }
    }
    let own = own_file(course);
    let mut entries = Vec::new();
    match files.as_slice() {
        [] if own.exists() => entries = read(course, &own)?,
        [] => {}
        // A name that is neither is more likely an exercise's.
        [name] if !Path::new(name).exists() => {
            return Err(course.exercise(name).err().unwrap_or_else(|| {
                Error::Usage(format!("{name}: there is neither an exercise nor a file of this name"))
            }));
        }
        files => {
            for file in files {
                entries.extend(read(course, Path::new(file))?);
            }
        }
    }
    let is_asked = |entry: &Entry| {
        (tasks.is_empty() || tasks.iter().any(|task| **task == entry.task))
            && options.device.is_none_or(|model| model.name == entry.model)
    };
    let entries: Vec<Entry> = best(entries).into_iter().filter(is_asked).collect();
    show!("{}", table(course, &entries)?)?;
    Ok(true)
}

/// The entries by exercise and model, the fastest first.
fn table(course: &Course, entries: &[Entry]) -> Result<String> {
    if entries.is_empty() {
        return Ok("No times yet: solve an open exercise with `cargo learn run`.\n".to_owned());
    }
    let mut groups: IndexMap<(usize, usize), Vec<&Entry>> = IndexMap::new();
    for entry in entries {
        let task = course.names().position(|name| name == entry.task).unwrap_or(usize::MAX);
        let model = Model::all().iter().position(|model| model.name == entry.model).unwrap_or(usize::MAX);
        groups.entry((task, model)).or_default().push(entry);
    }
    groups.sort_unstable_keys();
    let mut parts = Vec::new();
    for group in groups.into_values() {
        parts.push(of_group(&course.exercise(&group[0].task)?, group)?);
    }
    Ok(parts.join("\n"))
}

/// The entries of an exercise on a model.
fn of_group(exercise: &Exercise, mut entries: Vec<&Entry>) -> Result<String> {
    let model = Model::named(&entries[0].model).expect("it was checked when it was read");
    let open = exercise.goals.open.as_ref().expect("it was checked when it was read");
    let copy = CopyTime::of(open, &sizes(exercise), model);
    let copy = copy.map_err(|problem| Error::exercise(&exercise.folder.join("goals.toml"), problem))?;
    let copy_us = copy.map_or(f64::NAN, CopyTime::us);
    let now = version(model);
    entries.sort_by(|one, other| {
        let key = |it: &Entry| (it.version != now, it.us, it.date.clone(), it.name.clone());
        key(one).partial_cmp(&key(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let width = entries.iter().map(|entry| shown(&entry.name).chars().count()).max().unwrap_or(0);
    let mut text =
        format!("{} on {} ({}); a copy: {}\n", exercise.name, model.name, gpu(model), milliseconds(copy_us / 1e3));
    for (place, entry) in (1..).zip(&entries) {
        let (place, note) = match entry.version == now {
            true => (place.to_string(), ""),
            false => ("-".to_owned(), "  (another version of the model)"),
        };
        let ratio = entry.us / copy_us;
        text += &format!(
            "{place:>4}  {:width$}  {:>8}  {:>5}  {:10} {}{note}\n",
            shown(&entry.name),
            milliseconds(entry.us / 1e3),
            three_digits(ratio),
            grade(&open.grades, ratio).unwrap_or("-"),
            entry.date
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, us: f64, date: &str) -> Entry {
        let model = Model::named("hopper").unwrap();
        let score = Score { model: model.name.to_owned(), us, digest: "0".repeat(64), version: version(model) };
        Entry { date: date.to_owned(), ..Entry::new("fastest_transpose", name, &score) }
    }

    #[test]
    fn the_fastest_of_a_student_stays_and_of_equal_ones_the_earliest() {
        let all = vec![
            entry("anna", 9.0, "2026-11-01"),
            entry("ben", 8.5, "2026-11-02"),
            entry("anna", 8.0, "2026-11-04"),
            entry("anna", 8.0, "2026-11-03"),
            Entry { version: "f".repeat(16), ..entry("anna", 1.0, "2026-11-01") },
        ];
        let kept: Vec<_> = best(all).into_iter().map(|it| (it.name, it.us, it.date)).collect();
        let of = |name: &str, us, date: &str| (name.to_owned(), us, date.to_owned());
        let expected = [of("anna", 8.0, "2026-11-03"), of("ben", 8.5, "2026-11-02"), of("anna", 1.0, "2026-11-01")];
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_name_shows_something() {
        let blanks = "\u{3164}".repeat(LONGEST_NAME);
        for name in [blanks.as_str(), &format!("{blanks}a"), "\u{3164}"] {
            let entry = entry(name, 8.0, "2026-11-01");
            assert!(is_seen(&entry.name) && entry.name.starts_with("\\u{3164}"), "{name:?}: {:?}", entry.name);
            assert!(entry.name.chars().count() <= LONGEST_NAME);
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let entry = entry("Zo\u{eb} \"x\"", 7.25, "2026-11-29");
        let text = lines(vec![entry.clone()]);
        assert_eq!((text.lines().count(), serde_json::from_str::<Entry>(&text).unwrap()), (1, entry));
    }

    #[test]
    fn a_version_is_of_one_model() {
        let versions: Vec<_> = ["hopper", "ada"].map(|name| version(Model::named(name).unwrap())).to_vec();
        assert!(versions[0] != versions[1] && versions.iter().all(|it| it.len() == VERSION));
    }
}
