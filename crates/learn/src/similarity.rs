//! `grade --export-for`: the submissions of a class as tools that find copied work read them,
//! without the starters' lines, which all students have. [`crate::grade`] calls it. It compiles and
//! runs nothing, and writes one folder, or nothing.
//!
//! | tool | folder |
//! | --- | --- |
//! | Moss, <https://theory.stanford.edu/~aiken/moss/> | a folder for each student in `submissions`; the starters in `base` |
//! | Dolos, <https://dolos.ugent.be/docs/adding-metadata.html> | a folder for each exercise: files, and `info.csv` about them |
//!
//! *Invariant:* the files' names are of this program, not of students ([`crate::outputs`]).

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use exercise::Exercise;
use wording::{WIDTH, several, shell_word, wrapped_code};

use crate::cells;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::marks::Student;
use crate::outputs;
use crate::own_lines::own_lines;
use crate::submission::{self, Submission};
use crate::terminal::{note, plain, show_line};

/// A tool that finds copied work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tool {
    /// Stanford's Moss
    Moss,
    /// Ghent's Dolos
    Dolos,
}

/// What a student handed in for an exercise, without the starter's lines.
struct Handed<'a> {
    exercise: &'a Exercise,
    student: usize,
    text: String,
}

/// Writes the folder.
pub fn export(course: &Course, exercises: &[Exercise], submissions: &Path, tool: Tool, out: &Path) -> Result<bool> {
    let exercises: Vec<&Exercise> = exercises.iter().filter(|exercise| !exercise.is_predicted()).collect();
    if exercises.is_empty() {
        return Err(Error::Usage(
            "--export-for: predictions have no program to compare: name other exercises".to_owned(),
        ));
    }
    outputs::check_folder(out)?;
    let (folders, _) = submission::students(submissions)?;
    let name = |folder: &PathBuf| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let students: Vec<Student> = folders.iter().map(|folder| Student { name: name(folder), marks: vec![] }).collect();
    let (handed, unchanged) = read(course, &exercises, &folders)?;
    if handed.is_empty() {
        let problem = "nobody handed in a file that differs from its starter";
        return Err(Error::Usage(format!("{}: {problem}", submissions.display())));
    }
    let names = outputs::folder_names(&students);
    let mut files = match tool {
        Tool::Moss => for_moss(&exercises, &handed, &names)?,
        Tool::Dolos => for_dolos(&exercises, &handed, &names, &students),
    };
    files.push((PathBuf::from(outputs::LIST), outputs::list(&names, &students)));
    outputs::write_folder(out, &files)?;
    let left_out = match unchanged {
        0 => String::new(),
        _ => format!("; {} like the starter left out", several(unchanged, "file")),
    };
    show_line!("{}: {} without the starters' lines{left_out}", out.display(), several(handed.len(), "file"))?;
    let next = format!("In {}: {}", shell_word(&out.display().to_string()), command(tool, &exercises));
    show_line!("{}", wrapped_code(&next, WIDTH, "", "    "))?;
    Ok(true)
}

/// The command that compares the files.
fn command(tool: Tool, exercises: &[&Exercise]) -> String {
    match (tool, exercises) {
        // It knows no Rust.
        (Tool::Moss, _) => "`moss -l c -d $(printf -- '-b %s ' base/*.rs) submissions/*/*.rs`".to_owned(),
        (Tool::Dolos, [one]) => format!("`dolos run -l rust {}/info.csv`", one.name),
        (Tool::Dolos, _) => "`dolos run -l rust EXERCISE/info.csv`".to_owned(),
    }
}

/// Reads the submissions. Also counts those that are no more than their starter.
fn read<'a>(course: &Course, exercises: &[&'a Exercise], folders: &[PathBuf]) -> Result<(Vec<Handed<'a>>, usize)> {
    let names: Vec<&str> = course.names().collect();
    let (mut handed, mut unchanged) = (Vec::new(), 0);
    for &exercise in exercises {
        let starter = starter(exercise)?;
        for (student, folder) in folders.iter().enumerate() {
            let of_whom = || format!("{}: {}", plain(&folder.display().to_string()), exercise.name);
            match submission::read(folder, exercise, &names) {
                Submission::File(text) => match own_lines(&String::from_utf8_lossy(&text), &starter) {
                    text if text.is_empty() => unchanged += 1,
                    text => handed.push(Handed { exercise, student, text }),
                },
                Submission::Missing(_) => {}
                Submission::Refused(why) => note!("note: {} is left out: {}", of_whom(), plain(&why)),
                Submission::Unreadable(why) => return Err(Error::Usage(format!("{}: {}", of_whom(), plain(&why)))),
            }
        }
    }
    Ok((handed, unchanged))
}

fn starter(exercise: &Exercise) -> Result<String> {
    let file = exercise.starter_file();
    fs::read_to_string(&file).map_err(Error::reading(&file))
}

type Files = Vec<(PathBuf, String)>;

/// A folder for each student, and the starters as base files, which Moss leaves out of account.
fn for_moss(exercises: &[&Exercise], handed: &[Handed<'_>], names: &[String]) -> Result<Files> {
    let mut files = Files::new();
    for exercise in exercises {
        files.push((Path::new("base").join(file_name(&exercise.name)), starter(exercise)?));
    }
    for Handed { exercise, student, text } in handed {
        let folder = Path::new("submissions").join(&names[*student]);
        files.push((folder.join(file_name(&exercise.name)), text.clone()));
    }
    Ok(files)
}

/// A folder for each exercise, because Dolos compares all files of one `info.csv`.
fn for_dolos(exercises: &[&Exercise], handed: &[Handed<'_>], names: &[String], students: &[Student]) -> Files {
    let mut files = Files::new();
    for exercise in exercises {
        let of_this = || handed.iter().filter(|one| one.exercise.name == exercise.name);
        if of_this().next().is_none() {
            continue;
        }
        let folder = Path::new(&exercise.name);
        let mut info = cells::row(["filename", "full_name"].map(str::to_owned));
        for Handed { student, text, .. } in of_this() {
            let name = file_name(&names[*student]);
            info += &cells::row([name.clone(), cells::text(&students[*student].name)]);
            files.push((folder.join(name), text.clone()));
        }
        files.push((folder.join("info.csv"), info));
    }
    files
}

fn file_name(stem: &str) -> String {
    format!("{stem}.rs")
}
