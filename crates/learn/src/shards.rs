//! Parts of a class that are marked by different machines, and the marks of all parts as one file:
//! `grade --shard 3/16` for an array of Slurm or a matrix of a CI, then `grade --merge`.
//!
//! A part has whole students, because what a student's files may take together is counted in one
//! process: students 3, 19, 35 and so on, in the order of their folders' names.
//!
//! *Invariant:* the merged marks are those of one run with the same seed, in the same order. What
//! does not fit together is an error, never a gap.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use wording::several;

use crate::digest;
use crate::error::{Error, Result};
use crate::marks::{Marks, Student};

const OTHER_EXERCISES: &str = "has other exercises for some students";

/// The most parts of a class.
const MOST: usize = 10_000;

/// A part of a class, as asked for: the first number is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: usize,
    of: usize,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=MOST).contains(&of) && (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("give NUMBER/COUNT, such as 3/16: from 1/COUNT to COUNT/COUNT, and at most {MOST}")),
        }
    }
}

/// A part of a class, with what tells the classes and courses of two parts apart.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Shard {
    number: usize,
    of: usize,
    /// The digest of the names of all folders, and of what decides the marks.
    class: String,
    /// How many folders there are.
    students: usize,
}

impl Part {
    /// The folders of this part, of all. `basis` is what decides the marks.
    pub fn take(self, folders: Vec<PathBuf>, basis: &[String]) -> (Shard, Vec<PathBuf>) {
        let names = folders.iter().map(|folder| folder.file_name().unwrap_or_default().as_encoded_bytes());
        let parts: Vec<&[u8]> = names.chain(basis.iter().map(String::as_bytes)).collect();
        let Self { number, of } = self;
        let shard = Shard { number, of, class: digest::of(&parts), students: folders.len() };
        (shard, folders.into_iter().skip(number - 1).step_by(of).collect())
    }
}

/// Puts the marks of the files together: those of all parts of a class, or those of one file that
/// has them all.
///
/// # Errors
///
/// [`Error::Usage`], with the file that does not fit.
pub fn merge(files: Vec<(PathBuf, Marks)>) -> Result<Marks> {
    let wrong = |file: &Path, problem: String| Err(Error::Usage(format!("{}: {problem}", file.display())));
    let mut parts: Vec<(PathBuf, Shard, Marks)> = Vec::new();
    let alone = files.len() == 1;
    for (file, marks) in files {
        match marks.shard.clone() {
            None if alone => {
                let exercises = names_of(marks.students.first());
                return match marks.students.iter().all(|student| names_of(Some(student)) == exercises) {
                    true => Ok(marks),
                    false => wrong(&file, OTHER_EXERCISES.to_owned()),
                };
            }
            None => return wrong(&file, "has no part of a class but a whole one: merge it alone".to_owned()),
            Some(Shard { number, of, .. }) if of > MOST || !(1..=of).contains(&number) => {
                return wrong(&file, format!("there is no part {number}/{of}"));
            }
            Some(shard) => parts.push((file, shard, marks)),
        }
    }
    parts.sort_by_key(|(_, shard, _)| shard.number);
    let Some((first, shard, marks)) = parts.first() else {
        return Err(Error::Usage("name the files to merge".to_owned()));
    };
    let (of, seed) = (shard.of, marks.seed);
    let exercises = names_of(parts.iter().flat_map(|(.., marks)| &marks.students).next());
    for (at, (file, one, marks)) in parts.iter().enumerate() {
        if at > 0 && parts[at - 1].1.number == one.number {
            return wrong(file, format!("has part {}/{of}, as {} has", one.number, parts[at - 1].0.display()));
        }
        if (one.of, &one.class, one.students, marks.seed) != (of, &shard.class, shard.students, seed) {
            let problem = "was made with another number of parts, other students, exercises, limits or another seed";
            return wrong(file, format!("does not belong to {}: it {problem}", first.display()));
        }
        let expected = one.students.saturating_sub(one.number - 1).div_ceil(of);
        if marks.students.len() != expected {
            return wrong(file, format!("has {} in place of {expected}", several(marks.students.len(), "student")));
        }
        if marks.students.iter().any(|student| names_of(Some(student)) != exercises) {
            return wrong(file, OTHER_EXERCISES.to_owned());
        }
    }
    let missing: Vec<String> = (1..=of)
        .filter(|number| parts.iter().all(|(_, shard, _)| shard.number != *number))
        .map(|number| format!("{number}/{of}"))
        .collect();
    if !missing.is_empty() {
        return Err(Error::Usage(format!("these parts are missing: {}", missing.join(", "))));
    }
    let mut parts: Vec<_> = parts.into_iter().map(|(.., marks)| marks.students.into_iter()).collect();
    let count = parts.iter().map(ExactSizeIterator::len).sum();
    let students = (0..count).filter_map(|at| parts[at % of].next()).collect();
    Ok(Marks { seed, shard: None, students })
}

fn names_of(student: Option<&Student>) -> Vec<&str> {
    student.iter().flat_map(|student| &student.marks).map(|mark| mark.exercise.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::samples;

    type Files = Vec<(PathBuf, Marks)>;

    fn class(students: usize) -> Marks {
        let student = |at| samples::student(&format!("student {at:02}"));
        Marks { seed: 3, shard: None, students: (0..students).map(student).collect() }
    }

    /// The files of a class's parts.
    fn parts(whole: &Marks, of: usize) -> Files {
        let folders: Vec<PathBuf> = whole.students.iter().map(|student| PathBuf::from(&student.name)).collect();
        let part = |number| {
            let part: Part = format!("{number}/{of}").parse().unwrap();
            let (shard, own) = part.take(folders.clone(), &["limits".to_owned()]);
            let is_own = |student: &&Student| own.iter().any(|folder| folder == Path::new(&student.name));
            let students = whole.students.iter().filter(is_own).cloned().collect();
            (PathBuf::from(format!("{number}.json")), Marks { seed: 3, shard: Some(shard), students })
        };
        (1..=of).map(part).collect()
    }

    #[test]
    fn merged_parts_are_the_file_of_one_run() {
        for (students, of) in [(7, 1), (7, 3), (6, 3), (2, 5), (40, 16)] {
            let whole = class(students);
            let mut files = parts(&whole, of);
            // As they are written and read.
            for (_, marks) in &mut files {
                *marks = serde_json::from_str(&marks.json()).unwrap();
            }
            files.reverse();
            assert_eq!(merge(files).unwrap().json(), whole.json(), "{students} students, {of} parts");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_an_error() {
        let refused = |change: &dyn Fn(&mut Files)| {
            let mut files = parts(&class(7), 3);
            change(&mut files);
            merge(files).unwrap_err().to_string()
        };
        let does_not_belong = "2.json: does not belong to 1.json: it was made with another number of parts, \
                               other students, exercises, limits or another seed";
        assert_eq!(refused(&|files| _ = files.remove(1)), "these parts are missing: 2/3");
        assert_eq!(
            refused(&|files| files[2].1 = parts(&class(7), 3)[1].1.clone_of()),
            "3.json: has part 2/3, as 2.json has"
        );
        assert_eq!(refused(&|files| files[1].1.seed = 4), does_not_belong);
        assert_eq!(refused(&|files| files[1].1 = parts(&class(8), 3)[1].1.clone_of()), does_not_belong);
        assert_eq!(refused(&|files| _ = files[0].1.students.pop()), "1.json: has 2 students in place of 3");
        assert_eq!(
            refused(&|files| files[1].1.shard = None),
            "2.json: has no part of a class but a whole one: merge it alone"
        );
        assert_eq!(
            refused(&|files| _ = files[1].1.students[1].marks.pop()),
            "2.json: has other exercises for some students"
        );
        assert_eq!(refused(&|files| files.clear()), "name the files to merge");
        assert_eq!(refused(&|files| files[0].1.shard.as_mut().unwrap().number = 0), "1.json: there is no part 0/3");
        let mut whole = class(2);
        whole.students[1].marks.pop();
        let error = merge(vec![("x.json".into(), whole)]).unwrap_err().to_string();
        assert_eq!(error, "x.json: has other exercises for some students");
        let whole = class(2);
        assert_eq!(merge(vec![(PathBuf::new(), whole.clone_of())]).unwrap().json(), whole.json());
    }

    impl Marks {
        fn clone_of(&self) -> Self {
            Self { seed: self.seed, shard: self.shard.clone(), students: self.students.clone() }
        }
    }

    #[test]
    fn a_part_has_a_number_and_a_count() {
        assert_eq!("3/16".parse(), Ok(Part { number: 3, of: 16 }));
        for text in ["", "3", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "1/99999", "a/b"] {
            assert!(text.parse::<Part>().unwrap_err().starts_with("give NUMBER/COUNT"), "{text}");
        }
    }
}
