//! Tests that what cannot be read is not judged: no student is marked for the permissions of a
//! folder.

use std::os::unix::fs::PermissionsExt as _;

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use serde_json::Value;

use super::*;
use crate::grading::JUDGES;

/// Runs a command as somebody whom permissions stop, even if these tests run as root.
fn with_permissions(command: &mut Command) -> Outcome {
    std::thread::scope(|scope| {
        let apart = scope.spawn(|| {
            for capability in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
                // Nobody but root has them, and may drop them.
                let _ = remove_capability_from_bounding_set(capability);
            }
            Outcome::of(command)
        });
        apart.join().unwrap()
    })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_cannot_be_read_is_not_judged() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    // The place that cannot be read, and how the report calls it.
    let closed = [
        ("student", "", "copy/kernel.rs cannot be read: Permission denied"),
        ("exercise", "copy", "copy/kernel.rs cannot be read: Permission denied"),
        ("file", "copy/kernel.rs", "copy/kernel.rs cannot be read: Permission denied"),
        ("exercises", "exercises", "exercises/copy/kernel.rs cannot be read: Permission denied"),
        ("elsewhere", "work/mine", "work/mine cannot be read: Permission denied"),
    ];
    for (student, place, _) in closed {
        let folder = if place.starts_with("copy") || place.is_empty() { "copy" } else { place };
        course.write(&format!("class/{student}/{folder}/kernel.rs"), &with(""));
        set_mode(&course.path(&format!("class/{student}/{place}")), 0);
    }
    course.write("class/anna/copy/kernel.rs", &with(""));
    course.write("class/ben/notes.txt", "");
    let mut command = course.command(&["grade", "--jobs", "1", "--seed", "7", "--json"]);
    command.arg(course.path("marks.json")).arg(course.path("class")).env("LEARN_JOB", JUDGES);
    let outcome = with_permissions(&mut command);
    for (student, place, _) in closed {
        set_mode(&course.path(&format!("class/{student}/{place}")), 0o755);
    }
    outcome.refuses(&["error: 5 files not judged: the reports (--json) say why"]);
    let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
    for student in marks["students"].as_array().unwrap() {
        let (name, mark) = (student["name"].as_str().unwrap(), &student["marks"][0]);
        let (status, words) = match name {
            "anna" => ("solved", "right at"),
            "ben" => ("missing", "no file was handed in"),
            _ => ("failed", closed.iter().find(|(student, ..)| *student == name).unwrap().2),
        };
        assert!(mark["status"] == status && mark["report"].as_str().unwrap().contains(words), "{name}: {mark}");
    }
}
