//! The workspace of a copy of the course for students: `learn`, and the crates of this repository
//! that it needs, without their tests. [`crate::export`] writes it. Reads the clone, writes one
//! folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toml::{Table, Value};

use crate::error::{Error, Result};

/// Files that are copied as they are.
const FILES: [&str; 4] = ["Cargo.lock", "rust-toolchain.toml", "LICENSE-APACHE", "LICENSE-MIT"];

/// What is copied of a crate, besides its manifest. `litmus` has its tests in `library`.
const PARTS: [&str; 4] = ["src", "library", "build.rs", "README.md"];

/// Parts of a manifest that name what is not copied.
const TESTS: [&str; 4] = ["dev-dependencies", "test", "bench", "example"];

/// Writes the workspace into `to`: the crates, their manifests, cargo's configuration.
///
/// # Errors
///
/// [`Error::File`], and [`Error::Exercise`] if a manifest cannot be read.
pub fn write(root: &Path, to: &Path) -> Result<()> {
    let mut workspace = manifest(&root.join("Cargo.toml"))?;
    let crates = needed(root, &workspace)?;
    for folder in &crates {
        let (from, to) = (root.join(folder), to.join(folder));
        for part in PARTS {
            copy(&from.join(part), &to.join(part))?;
        }
        let mut own = manifest(&from.join("Cargo.toml"))?;
        TESTS.iter().for_each(|part| _ = own.remove(*part));
        write_text(&to.join("Cargo.toml"), &own.to_string())?;
    }
    if let Some(Value::Table(table)) = workspace.get_mut("workspace") {
        table.insert("members".to_owned(), Value::Array(crates.iter().cloned().map(Value::String).collect()));
        table.remove("default-members");
        if let Some(Value::Table(all)) = table.get_mut("dependencies") {
            all.retain(|_, value| path_of(value).is_none_or(|path| crates.contains(path)));
        }
    }
    // What is set for crates that are not there would be warned about.
    let names: BTreeSet<String> = crates.iter().map(|folder| package(root, folder)).collect::<Result<_>>()?;
    let own = |name: &str| root.join("crates").join(name.trim_start_matches("coalesce-").replace('-', "_")).is_dir();
    if let Some(Value::Table(profiles)) = workspace.get_mut("profile") {
        profiles.remove("wasm");
        for profile in profiles.iter_mut().filter_map(|(_, profile)| profile.as_table_mut()) {
            if let Some(Value::Table(packages)) = profile.get_mut("package") {
                packages.retain(|name, _| names.contains(name) || !own(name));
            }
        }
    }
    write_text(&to.join("Cargo.toml"), &workspace.to_string())?;
    for file in FILES {
        copy(&root.join(file), &to.join(file))?;
    }
    write_text(&to.join(".cargo/config.toml"), "[alias]\nlearn = \"run --package learn --\"\n")
}

/// The folders of `learn`, and of all of the clone that it needs.
fn needed(root: &Path, workspace: &Table) -> Result<BTreeSet<String>> {
    let table = |of: &Table, name: &str| of.get(name).and_then(Value::as_table).cloned().unwrap_or_default();
    let known = table(&table(workspace, "workspace"), "dependencies");
    let patches = table(&table(workspace, "patch"), "crates-io");
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = patches.values().filter_map(path_of).map(str::to_owned).collect();
    open.push("crates/learn".to_owned());
    while let Some(folder) = open.pop() {
        if !found.insert(folder.clone()) {
            continue;
        }
        let own = manifest(&root.join(&folder).join("Cargo.toml"))?;
        let targets = table(&own, "target");
        let all = std::iter::once(&own).chain(targets.values().filter_map(Value::as_table));
        for part in all.flat_map(|part| ["dependencies", "build-dependencies"].map(|name| table(part, name))) {
            open.extend(part.keys().filter_map(|name| path_of(known.get(name)?)).map(str::to_owned));
        }
    }
    Ok(found)
}

/// The path of a dependency that is in the clone.
fn path_of(dependency: &Value) -> Option<&str> {
    dependency.get("path")?.as_str()
}

/// The name of the package in a folder.
fn package(root: &Path, folder: &str) -> Result<String> {
    let own = manifest(&root.join(folder).join("Cargo.toml"))?;
    Ok(own["package"]["name"].as_str().unwrap_or_default().to_owned())
}

fn manifest(file: &Path) -> Result<Table> {
    let text = fs::read_to_string(file).map_err(Error::reading(file))?;
    text.parse().map_err(|error: toml::de::Error| Error::exercise(file, error))
}

/// Whoever holds this is the only one that writes into the copy. A signal takes it, and ends the
/// program.
pub fn writing() -> MutexGuard<'static, ()> {
    static WRITES: Mutex<()> = Mutex::new(());
    WRITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a text, with the folders above it.
pub fn write_text(file: &Path, text: &str) -> Result<()> {
    let _writing = writing();
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(Error::writing(folder))?;
    }
    fs::write(file, text).map_err(Error::writing(file))
}

/// Copies a file, or a folder with all that is in it. What is not there is not copied.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from).map_err(Error::reading(from))? {
            let entry = entry.map_err(Error::reading(from))?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.is_file() {
        let folder = to.parent().unwrap_or(to);
        let _writing = writing();
        fs::create_dir_all(folder).map_err(Error::writing(folder))?;
        fs::copy(from, to).map_err(Error::writing(to))?;
    }
    Ok(())
}
