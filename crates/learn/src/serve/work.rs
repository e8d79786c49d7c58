//! The student's file, which is the same on the disk and in a page: read, and saved unless it was
//! changed on the disk meanwhile. A page says by a digest which text it began with.

use std::fs;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

use exercise::Exercise;

use crate::digest;
use crate::error::{Error, Result};
use crate::guard::LONGEST;
use crate::student;

/// The most that is read of a file, whose lines may end with two bytes each.
const MOST: usize = 2 * LONGEST;

/// The text of a student's file.
#[derive(Debug, PartialEq)]
pub struct Work {
    /// The text as a page has it: lines end with a line feed.
    pub text: String,
    /// The digest of the file.
    pub digest: String,
}

/// What came of saving.
#[derive(Debug)]
pub enum Saved {
    /// It is saved, or was there already.
    Yes(Work),
    /// The file has another text now than the page began with: this one.
    Conflict(Work),
}

impl Work {
    /// The file as it is; the starter if there is none yet.
    ///
    /// # Errors
    ///
    /// [`Error::File`], and [`Error::Usage`] if it is not UTF-8.
    pub fn read(exercise: &Exercise) -> Result<Self> {
        student::begin(exercise)?;
        Ok(Self::of(&on_disk(exercise)?))
    }

    /// The file as it is; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`Work::read`].
    pub fn there(exercise: &Exercise) -> Result<Option<Self>> {
        exercise.student_file().exists().then(|| Ok(Self::of(&on_disk(exercise)?))).transpose()
    }

    fn of(text: &str) -> Self {
        Self { text: with_line_feeds(text), digest: digest::of(&[text.as_bytes()]) }
    }

    /// Saves a page's text, which began as the text with the digest `base`.
    ///
    /// # Errors
    ///
    /// As [`Work::read`].
    pub fn save(exercise: &Exercise, text: &str, base: &str) -> Result<Saved> {
        // Two pages save one after the other.
        static SAVING: Mutex<()> = Mutex::new(());
        let _alone = SAVING.lock().unwrap_or_else(PoisonError::into_inner);
        let text = with_line_feeds(text);
        if text.len() > LONGEST {
            return Err(Error::Usage(format!("the text has {} bytes, and {LONGEST} are allowed", text.len())));
        }
        let file = exercise.student_file();
        if !file.exists() {
            // It was deleted: the page has the only copy.
            cuda_builder::write_whole(&file, &text)?;
        }
        let there = on_disk(exercise)?;
        // As the student's own editor ends lines.
        let text = if there.contains("\r\n") { text.replace('\n', "\r\n") } else { text };
        let known = Self::of(&there);
        if text == there {
            return Ok(Saved::Yes(known));
        }
        if known.digest != base {
            return Ok(Saved::Conflict(known));
        }
        cuda_builder::write_whole(&file, &text)?;
        Ok(Saved::Yes(Self::of(&text)))
    }
}

fn on_disk(exercise: &Exercise) -> Result<String> {
    let file = exercise.student_file();
    let problem = |what: &str| Error::Usage(format!("{}: {what}", file.display()));
    if !fs::metadata(&file).map_err(Error::reading(&file))?.is_file() {
        return Err(problem("this is no ordinary file; delete it, or put one in its place"));
    }
    let mut bytes = Vec::new();
    let opened = fs::File::open(&file).map_err(Error::reading(&file))?;
    opened.take(MOST as u64 + 1).read_to_end(&mut bytes).map_err(Error::reading(&file))?;
    if bytes.len() > MOST {
        return Err(problem(&format!("it has more than {MOST} bytes, and {LONGEST} are allowed")));
    }
    String::from_utf8(bytes)
        .map_err(|_| problem(&format!("this is not UTF-8; save it as UTF-8, or `cargo learn reset {}`", exercise.name)))
}

/// As a form sends it, lines may end with a carriage return, too.
pub fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}
