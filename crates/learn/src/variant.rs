//! The course as one class has it: other numbers and names, drawn from `--variant SEED`
//! ([`exercise::variant`]). [`crate::export`], [`crate::grade`] and [`crate::check`] work with it
//! as with any course. It is written to `target/learn/variants/SEED`, with its solutions.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use exercise::Exercise;
use exercise::variant::Files;
use wording::{WIDTH, several, wrapped};

use crate::compile::{Compiled, Compiler};
use crate::course::Course;
use crate::error::{Error, Result};
use crate::given;
use crate::terminal::show_line;
use crate::workspace_copy::write_text;

/// The option that all three commands have.
#[derive(Args, Clone, Copy, Debug)]
pub struct Variant {
    /// Numbers, names and sizes of the exercises as the class with this seed has them
    #[arg(long, value_name = "SEED")]
    pub variant: Option<u64>,
}

impl Variant {
    /// The course with this seed, or itself without one.
    ///
    /// # Errors
    ///
    /// Those of the exercises' files, and [`Error::File`].
    pub fn of(self, course: &Course) -> Result<Course> {
        let Some(seed) = self.variant else { return Ok(course.clone()) };
        course.must_have_solutions(&course.names().collect::<Vec<_>>())?;
        let name = course.folder.file_name().unwrap_or_default();
        let folder = course.root.join("target/learn/variants").join(seed.to_string()).join(name);
        let list = course.folder.join("course.toml");
        write_changed(&folder.join("course.toml"), &fs::read_to_string(&list).map_err(Error::reading(&list))?)?;
        let mut compiler = None;
        for name in course.names() {
            let to = folder.join(name);
            write(&course.exercise(name)?, seed, &to)?;
            let varied = Exercise::read(&to)?;
            if !varied.is_given() || given::ptx(&varied)?.is_some() {
                continue;
            }
            let compiler = match &compiler {
                Some(compiler) => compiler,
                None => compiler.insert(Compiler::new(&course.root, 0, false)?.announcing()),
            };
            let source = varied.given_file();
            match compiler.compile(&fs::read_to_string(&source).map_err(Error::reading(&source))?)? {
                Compiled::Ptx(ptx) => {
                    given::write(&varied, &fs::read_to_string(&ptx).map_err(Error::reading(&ptx))?)?;
                }
                Compiled::Rejected(messages) => {
                    return Err(Error::exercise(&source, format!("it does not compile\n{messages}")));
                }
            }
        }
        Ok(Course { folder, ..course.clone() })
    }
}

/// Says which exercises of a course vary.
pub fn report(course: &Course) -> Result<()> {
    let (mut names, mut none, mut numbers) = (Vec::new(), Vec::new(), 0);
    for name in course.names() {
        match course.exercise(name)?.variants()? {
            Some(variants) if variants.has_numbers() => numbers += 1,
            Some(_) => names.push(name),
            None => none.push(name),
        }
    }
    let line = |what: &str, those: &[&str]| match those {
        [] => Ok(()),
        _ => show_line!("{}", wrapped(&format!("{what}: {}.", those.join(", ")), WIDTH, "", "  ")),
    };
    show_line!("{} with numbers of this variant.", several(numbers, "exercise"))?;
    line("With other names only", &names)?;
    line("The same in each variant", &none)
}

/// Writes an exercise's files, and removes those that it no longer has.
fn write(exercise: &Exercise, seed: u64, to: &Path) -> Result<()> {
    let files = exercise.varied(seed)?;
    for (file, text) in &files {
        write_changed(&to.join(file), text)?;
    }
    let given = exercise.given_ptx_file();
    if given.is_file() && !to.join("given.ptx").exists() {
        write_changed(&to.join("given.ptx"), &fs::read_to_string(&given).map_err(Error::reading(&given))?)?;
    }
    for folder in [to.to_owned(), to.join("wrong")] {
        for file in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if file.is_file() && !is_of(&files, to, &file) {
                fs::remove_file(&file).map_err(Error::writing(&file))?;
            }
        }
    }
    Ok(())
}

fn is_of(files: &Files, folder: &Path, file: &Path) -> bool {
    file == folder.join("given.ptx") || files.iter().any(|(own, _): &(PathBuf, String)| folder.join(own) == file)
}

/// Writes a text, unless the file has it: another process may be reading it.
fn write_changed(file: &Path, text: &str) -> Result<()> {
    match fs::read_to_string(file) {
        Ok(there) if there == text => Ok(()),
        _ => write_text(file, text),
    }
}
