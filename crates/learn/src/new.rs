//! `cargo learn new`: writes the skeleton of an exercise, which `cargo learn check` accepts and an
//! author then changes. `cli` calls it; it writes one folder, or nothing.

use std::fs;
use std::path::Path;

use crate::course::Course;
use crate::error::{Error, Result};
use crate::report::shown_path;
use crate::terminal::show_line;

const FILES: &[(&str, &str)] = &[
    ("goals.toml", include_str!("skeleton/goals.toml")),
    ("starter.rs", include_str!("skeleton/starter.rs")),
    ("solution.rs", include_str!("skeleton/solution.rs")),
    ("reference.rs", include_str!("skeleton/reference.rs")),
    ("hints.md", include_str!("skeleton/hints.md")),
    ("wrong/forgets_the_end.diff", include_str!("skeleton/wrong/forgets_the_end.diff")),
    ("wrong/one_too_many.diff", include_str!("skeleton/wrong/one_too_many.diff")),
];

/// Writes the skeleton.
pub fn new(course: &Course, name: &str) -> Result<bool> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(good) {
        return Err(Error::Usage(format!("'{name}': names have lower-case letters, digits and _")));
    }
    let folder = course.folder.join(name);
    if folder.exists() {
        return Err(Error::Usage(format!("{} already exists; choose another name", shown_path(&folder))));
    }
    if let Err(error) = write(&folder) {
        // It did not exist before.
        let _ = fs::remove_dir_all(&folder);
        return Err(error);
    }
    show_line!(
        "Created {}. Change its files, list \"{name}\" in {}, and check it: cargo learn check {name}",
        shown_path(&folder),
        shown_path(&course.folder.join("course.toml"))
    )?;
    Ok(true)
}

fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("wrong")).map_err(Error::writing(folder))?;
    for (file, text) in FILES {
        cuda_builder::write_whole(&folder.join(file), text)?;
    }
    Ok(())
}
