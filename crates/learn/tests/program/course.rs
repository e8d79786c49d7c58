//! Tests of the course itself: its page names every exercise, and the README shows what a student
//! sees.

use std::collections::BTreeSet;

use super::*;

fn toml(path: &Path) -> toml::Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the exercises, in order.
fn names() -> Vec<String> {
    let contents = toml(&root().join("exercises/course.toml"));
    let chapters = contents["chapter"].as_array().unwrap().iter();
    let names = chapters.flat_map(|chapter| chapter["exercises"].as_array().unwrap());
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_page_has_every_exercise() {
    let page = fs::read_to_string(root().join("docs/EXERCISES.md")).unwrap();
    for name in names() {
        let goals = toml(&root().join("exercises").join(&name).join("goals.toml"));
        let task = match goals["task"].as_str().unwrap() {
            "explain" => "predict",
            task => task,
        };
        let row = format!("| `{name}` | {} | {task} | {} |", goals["title"].as_str().unwrap(), goals["minutes"]);
        assert!(page.contains(&row), "docs/EXERCISES.md lacks: {row}");
    }
}

#[test]
fn every_folder_is_in_the_course() {
    let listed: BTreeSet<String> = names().into_iter().collect();
    let entries = fs::read_dir(root().join("exercises")).unwrap().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let there: BTreeSet<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(listed, there);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&format!("{} exercises", listed.len())), "the README counts {}", listed.len());
}

#[test]
fn the_readme_shows_what_a_student_reads() {
    if !has_compiler() {
        return;
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, sample) = readme.split_once("$ cargo learn run padding --seed 1\n").unwrap();
    let (sample, _) = sample.split_once("...\n").unwrap();
    let course = Course::new(&[]);
    for file in ["goals.toml", "starter.rs", "solution.rs", "reference.rs"] {
        let text = fs::read_to_string(root().join("exercises/padding").join(file)).unwrap();
        course.write(&format!("padding/{file}"), &text);
    }
    course.list(&["padding"]);
    let report = course.learn(&["run", "padding", "--seed", "1"]).reports(&[]);
    let here = format!("{}/", course.folder.path().display());
    let report = report.replace(&here, "exercises/");
    assert!(report.starts_with(sample), "the README shows\n{sample}\nand the program prints\n{report}");
}
