//! What a lecturer projects fits a screen: the sources of these kernels and of the best ones.

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a file, of a kernel's body, and the most columns of a line.
const LINES: usize = 250;
const BODY: usize = 40;
const COLUMNS: usize = 100;

/// The Rust files in a folder and those in it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The kernels of a file: the line of the name, and the lines of the body. rustfmt puts the last
/// brace where the attribute begins.
fn kernels(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !line.trim_start().starts_with("#[kernel") {
            continue;
        }
        let name = lines[at + 1].trim();
        let begin = at + lines[at..].iter().position(|line| line.ends_with('{')).unwrap();
        let end = format!("{}}}", " ".repeat(indent));
        let body = lines[begin..].iter().position(|line| *line == end).unwrap() - 1;
        found.push((name, body));
    }
    found
}

#[test]
fn files_kernels_and_lines_fit_a_screen() {
    let mut files = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(&folder.join("src"), &mut files);
    sources(&folder.join("best/src"), &mut files);
    let mut problems = Vec::new();
    let mut seen = 0;
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let place = file.strip_prefix(folder).unwrap().display();
        let lines = text.lines().count();
        if lines > LINES {
            problems.push(format!("{place} has {lines} lines"));
        }
        for (number, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS {
                problems.push(format!("{place}:{} has {columns} columns", number + 1));
            }
        }
        for (name, body) in kernels(&text) {
            seen += 1;
            if body > BODY {
                problems.push(format!("{place}: `{name}` has a body of {body} lines"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(seen > 100, "only {seen} kernels were found");
}
