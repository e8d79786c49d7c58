//! Tests that marks arrive where teachers need them: a class of a solved, a wrong and a broken
//! submission in each format, and in parts.

use serde_json::Value;

use super::*;
use crate::grading::JUDGES;

const CLASS_FORMATS: [&str; 2] = ["canvas-csv", "junit"];
const STUDENT_FORMATS: [(&str, &str); 4] = [
    ("gradescope", "results.json"),
    ("prairielearn", "results.json"),
    ("autolab", "output.txt"),
    ("github-classroom", "result.json"),
];

/// A course whose two exercises have different points, and a class: who solved both, whose files
/// are wrong, and whose do not compile, with a name that spreadsheets take for a formula.
fn class() -> Course {
    let course = Course::new(&["copy", "other"]);
    // Small measured sizes are enough here.
    for name in ["copy", "other"] {
        course.change(&format!("{name}/goals.toml"), "from = 60_000, to = 66_000", "from = 6_000, to = 6_600");
        course.write(&format!("class/anna/{name}/kernel.rs"), &with(""));
        course.write(&format!("class/ben/{name}/kernel.rs"), &kernel(&RIGHT.replace("i < n", "i + 1 < n")));
        course.write(&format!("class/=cleo()/{name}/kernel.rs"), &kernel("    *output = 1;"));
    }
    let points = "[points]\neach = 2\nexercises = { other = 0.5 }\n";
    course.write("course.toml", &(points.to_owned() + &course.read("course.toml")));
    course
}

fn grade(course: &Course, arguments: &[&str]) -> Outcome {
    let mut command = course.command(&["grade"]);
    let placed =
        |word: &&str| word.strip_prefix(':').map_or_else(|| (*word).into(), |file| course.path(file).into_os_string());
    command.args(arguments.iter().map(placed)).env("LEARN_JOB", JUDGES);
    Outcome::of(&mut command)
}

/// The JSON of a file, without the time that the judges took.
fn untimed(course: &Course, file: &str) -> String {
    let text = course.read(file);
    text.lines().filter(|line| !line.trim_start().starts_with("\"seconds\": ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_class_arrives_in_every_format_and_in_parts() {
    if !has_compiler() {
        return;
    }
    let course = class();
    let one = ["--jobs", "1", "--seed", "7", ":class", "--json", ":marks.json", "--csv", ":marks.csv"];
    grade(&course, &[&one[..], &["--format", "canvas-csv", "--out", ":grades.csv"]].concat()).succeeds();
    assert_eq!(
        course.read("grades.csv"),
        "Student,ID,SIS User ID,SIS Login ID,Section,copy,other\nPoints Possible,,,,,2,0.5\n\
         \"'=cleo()\",,,\"'=cleo()\",,0,0\nanna,,,anna,,2,0.5\nben,,,ben,,0,0\n"
    );
    let csv = "student,solved,of,copy,other\n\"'=cleo()\",0,2,does not compile,does not compile\n\
               anna,2,2,solved,solved\nben,0,2,wrong,wrong\n";
    assert_eq!(course.read("marks.csv"), csv);
    every_format(&course);
    in_parts(&course, csv);
}

/// Writes the marks in every format, without judging again.
fn every_format(course: &Course) {
    for format in CLASS_FORMATS {
        let text = grade(course, &["--merge", ":marks.json", "--format", format]).succeeds();
        assert_eq!(text.lines().count() > 4, !text.contains("To repeat this"), "{text}");
    }
    for (format, file) in STUDENT_FORMATS {
        grade(course, &["--merge", ":marks.json", "--format", format, "--out", &format!(":{format}/")]).succeeds();
        let read = |student: &str| course.read(&format!("{format}/{student}/{file}"));
        assert_eq!(
            course.read(&format!("{format}/students.csv")),
            "folder,student\n_cleo__,\"'=cleo()\"\nanna,anna\nben,ben\n"
        );
        let last: Value = match format {
            "autolab" => serde_json::from_str(read("anna").lines().last().unwrap()).unwrap(),
            _ => serde_json::from_str(&read("anna")).unwrap(),
        };
        let score = match format {
            "gradescope" => &last["tests"][1]["score"],
            "prairielearn" => &last["tests"][1]["points"],
            "autolab" => &last["scores"]["other"],
            _ => &last["tests"][1]["score"],
        };
        assert_eq!(*score, 0.5, "{format}");
        assert!(read("ben").contains("never written") && read("_cleo__").contains("mismatched types"), "{format}");
        let out = format!(":{format}/");
        let again = grade(course, &["--merge", ":marks.json", "--format", format, "--out", &out]);
        again.refuses(&["is not empty; name a new or an empty folder"]);
    }
    let refused = |arguments: &[&str], words: &str| _ = grade(course, arguments).refuses(&[words]);
    refused(&["--merge", ":marks.json", "--format", "autolab"], "and there are 3: name a folder with --out DIR/");
    refused(&["--merge", ":marks.json", "--out", ":x"], "say what to write there with --format");
    refused(&["--merge", ":course.toml"], "course.toml: cannot be read: expected value");
    assert!(!course.path("x").exists());
}

/// Marks the class in two parts, and puts them together.
fn in_parts(course: &Course, csv: &str) {
    let part = |part: &str, file: &str, seed: &str| {
        grade(course, &["--jobs", "1", "--seed", seed, ":class", "--shard", part, "--json", file]).succeeds()
    };
    assert!(part("1/2", ":1.json", "7").contains("2 students"));
    assert!(part("2/2", ":2.json", "7").contains("anna"));
    // A part without students is judged by nobody.
    assert!(part("4/4", ":4.json", "7").starts_with("\n0 of 0 students"));
    grade(course, &["--merge", ":2.json", ":1.json", "--json", ":merged.json", "--csv", ":merged.csv"]).succeeds();
    assert_eq!(course.read("merged.csv"), csv);
    assert_eq!(untimed(course, "merged.json"), untimed(course, "marks.json"));
    let refused = |arguments: &[&str], words: &str| _ = grade(course, arguments).refuses(&[words]);
    refused(&["--merge", ":1.json"], "these parts are missing: 2/2");
    refused(&["--merge", ":1.json", ":4.json"], "4.json: does not belong to ");
    refused(&["--merge", ":1.json", ":marks.json"], "marks.json: has no part of a class but a whole one");
    refused(&[":class", "--shard", "1/2", "--json", ":1.json"], "give --seed NUMBER, the same for all parts");
    refused(&[":class", "--shard", "2/2", "--json", ":1.json", "--resume"], "has another part of the class");
    refused(&[":class", "--shard", "3/2", "--json", ":1.json", "--seed", "7"], "give NUMBER/COUNT");
}

#[test]
fn one_student_is_marked_on_the_standard_output() {
    if !has_compiler() {
        return;
    }
    let course = class();
    fs::remove_dir_all(course.path("class/ben")).unwrap();
    fs::remove_dir_all(course.path("class/=cleo()")).unwrap();
    let outcome = grade(&course, &["--jobs", "1", "--only", "copy", ":class", "--format", "github-classroom"]);
    let result: Value = serde_json::from_str(&outcome.succeeds()).unwrap();
    assert_eq!((&result["status"], &result["max_score"]), (&"pass".into(), &2.0.into()));
}

#[test]
fn points_that_are_none_are_refused_before_the_work() {
    let course = class();
    course.change("course.toml", "each = 2", "each = -2");
    grade(&course, &[":class"]).refuses(&["course.toml: points: each = -2 is not from 0 to 1000000"]);
}
