//! `cargo learn watch`: judges the student's file each time it is saved, and continues with the
//! next exercise when it is solved. `cli` calls it; it stops when it is interrupted.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::arguments::RunArguments;
use crate::course::Course;
use crate::error::Result;
use crate::progress::Progress;
use crate::report::shown_path;
use crate::student;
use crate::terminal::{show, show_line};

/// How often to check the file.
const INTERVAL: Duration = Duration::from_millis(200);

/// Runs until it is interrupted, or all exercises are solved.
pub fn watch(course: &Course, arguments: &RunArguments) -> Result<bool> {
    let compiler = student::compiler(&course.root)?;
    loop {
        let mut progress = Progress::read(course)?;
        if progress.next(course).is_none() && arguments.name.is_none() {
            return student::status(course);
        }
        let exercise = student::chosen(course, &progress, arguments.name.as_deref())?;
        let file = exercise.student_file();
        loop {
            let text = fs::read(&file).ok();
            // Clear the screen and move the cursor to the upper left corner.
            show!("\u{1b}[2J\u{1b}[H")?;
            let verdict = student::attempt(course, &exercise, &compiler, arguments, &mut progress)?;
            if verdict.passed() && arguments.name.is_some() {
                return Ok(true);
            }
            if verdict.passed() {
                show_line!("\nPress Enter for the next exercise.")?;
                let mut line = String::new();
                // Without anybody who could press it, this was the last one.
                if std::io::stdin().read_line(&mut line).map_or(true, |read| read == 0) {
                    return Ok(true);
                }
                break;
            }
            show_line!("\nWaiting for you to save {} (Ctrl-C ends).", shown_path(&file))?;
            wait_for_change(&file, text.as_deref());
        }
    }
}

fn wait_for_change(file: &Path, before: Option<&[u8]>) {
    loop {
        std::thread::sleep(INTERVAL);
        let now = fs::read(file).ok();
        // Editors may write a file in steps: it is there, and not empty.
        if now.as_deref() != before && now.as_ref().is_some_and(|text| !text.is_empty()) {
            return;
        }
    }
}
