//! Tests of `grade --export-for`: a class's files without their starters' lines, as Moss and Dolos
//! read them, whatever students call their folders.

use std::os::unix::fs::symlink;

use super::*;

const HOSTILE: &str = "$(touch x) ..;=1\n'q'";

/// A class in which two wrote the same, one nothing, and one handed in a link.
fn class() -> Course {
    let course = Course::new(&["copy", "other"]);
    let starter = course.read("copy/starter.rs");
    let mine = starter.replace("use cuda_std", "// Mine\nuse cuda_std");
    course.write("class/anna/copy/kernel.rs", &mine);
    course.write(&format!("class/{HOSTILE}/exercises/copy/kernel.rs"), &mine);
    course.write(&format!("class/{HOSTILE}/other/kernel.rs"), &format!("{starter}// Other\n"));
    course.write("class/ben/copy/kernel.rs", &starter);
    fs::create_dir_all(course.path("class/eve/copy")).unwrap();
    symlink("/etc/passwd", course.path("class/eve/copy/kernel.rs")).unwrap();
    course
}

fn export(course: &Course, tool: &str, out: &str) -> Outcome {
    let mut command = course.command(&["grade", "--export-for", tool, "--out"]);
    Outcome::of(command.arg(course.path(out)).arg(course.path("class")))
}

/// The files in a folder, and their texts.
fn files(course: &Course, folder: &str) -> Vec<(String, String)> {
    let (root, mut open, mut all) = (course.path(folder), vec![course.path(folder)], Vec::new());
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    all.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    all.sort();
    all
}

/// The list of the folders, whose last names are of the students.
const STUDENTS: &str =
    "folder,student\n__touch_x__..__1__q_,\"$(touch x) ..;=1\u{fffd}'q'\"\nanna,anna\nben,ben\neve,eve\n";

#[test]
fn moss_gets_a_folder_for_each_student_and_base_files() {
    let course = class();
    let outcome = export(&course, "moss", "moss");
    assert!(outcome.stderr.contains("eve: copy is left out: copy/kernel.rs is a link"), "{}", outcome.stderr);
    let shown = outcome.succeeds();
    assert!(shown.contains("3 files without the starters' lines; 1 file like the starter left out"), "{shown}");
    let starter = course.read("copy/starter.rs");
    let expected = [
        ("base/copy.rs", starter.as_str()),
        ("base/other.rs", &starter),
        ("students.csv", STUDENTS),
        ("submissions/__touch_x__..__1__q_/copy.rs", "// Mine\n"),
        ("submissions/__touch_x__..__1__q_/other.rs", "// Other\n"),
        ("submissions/anna/copy.rs", "// Mine\n"),
    ];
    assert_eq!(files(&course, "moss"), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn dolos_gets_a_table_of_the_files_of_each_exercise() {
    let course = class();
    export(&course, "dolos", "dolos").succeeds();
    let info = "filename,full_name\n__touch_x__..__1__q_.rs,\"$(touch x) ..;=1\u{fffd}'q'\"\n";
    let expected = [
        ("copy/__touch_x__..__1__q_.rs", "// Mine\n"),
        ("copy/anna.rs", "// Mine\n"),
        ("copy/info.csv", &format!("{info}anna.rs,anna\n")),
        ("other/__touch_x__..__1__q_.rs", "// Other\n"),
        ("other/info.csv", info),
        ("students.csv", STUDENTS),
    ];
    assert_eq!(files(&course, "dolos"), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn what_cannot_be_exported_leaves_nothing() {
    let course = class();
    course.write("full/file", "");
    export(&course, "moss", "full").refuses(&["full: is not empty; name a new or an empty folder"]);
    export(&course, "moss", "no/where").refuses(&["the folder above it is not there; make that first"]);
    course.learn(&["grade", "--export-for", "moss", "class"]).refuses(&["--out"]);
    for student in ["anna", HOSTILE] {
        fs::remove_dir_all(course.path(&format!("class/{student}"))).unwrap();
    }
    export(&course, "dolos", "out").refuses(&["class: nobody handed in a file that differs from its starter"]);
    let left: Vec<String> = files(&course, ".").into_iter().map(|(name, _)| name).collect();
    assert!(left.iter().all(|name| !name.contains("unfinished") && !name.starts_with("out")), "{left:?}");
}
