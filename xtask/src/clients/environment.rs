//! What a client needs, in `target/clients`: an environment of Python with its packages, and
//! sources. Made once; made anew when the list names other versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::error::Error;
use super::plan::{Client, Program};
use crate::program::{list, succeed, text};

/// The folders of a client.
pub struct Environment {
    /// Its environment of Python.
    folder: PathBuf,
    /// Where the environment's packages are.
    site: PathBuf,
    /// The source that was unpacked.
    source: PathBuf,
    /// `tests/clients`.
    clients: PathBuf,
    cache: PathBuf,
}

impl Environment {
    /// Makes it, unless it is there.
    pub fn of(client: &Client, root: &Path, cache: &Path) -> Result<Self, Error> {
        let folder = cache.join(&client.name);
        let source = folder.join("source");
        let mut made = Self {
            site: PathBuf::new(),
            clients: root.join("tests/clients"),
            cache: cache.to_owned(),
            source: source.clone(),
            folder,
        };
        if client.packages.is_empty() {
            return Ok(made);
        }
        let stamp = made.folder.join("packages");
        let wanted = client.packages.iter().chain(&client.source).cloned().collect::<Vec<_>>().join("\n");
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) {
            println!("installing {}", client.name);
            succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&made.folder))?;
            let pip = made.folder.join("bin/pip");
            succeed(Command::new(&pip).args(["install", "--quiet"]).args(&client.packages))?;
            if let Some(package) = &client.source {
                let mut download = Command::new(&pip);
                download.args(["download", "--quiet", "--no-deps", "--no-binary", ":all:", package, "-d"]);
                succeed(download.arg(&source))?;
                let archive = first(&source, |name| name.ends_with(".tar.gz"))?;
                succeed(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(&source))?;
            }
            fs::write(&stamp, wanted).map_err(|problem| Error::file(&stamp, problem))?;
        }
        made.site = first(&made.folder.join("lib"), |name| name.starts_with("python"))?.join("site-packages");
        if client.source.is_some() {
            made.source = first(&source, |name| !name.ends_with(".tar.gz"))?;
        }
        Ok(made)
    }

    /// A part of a command, with the folders that it names.
    pub fn filled(&self, part: &str) -> String {
        let python = self.folder.join("bin/python");
        let names = [("python", &python), ("site", &self.site), ("source", &self.source), ("clients", &self.clients)];
        let all = names.into_iter().chain([("cache", &self.cache)]);
        all.fold(part.to_owned(), |text, (name, path)| text.replace(&format!("{{{name}}}"), &path.to_string_lossy()))
    }

    /// Where `coalesce run` writes its report, which nobody reads.
    pub fn report(&self) -> PathBuf {
        self.cache.join("report.json")
    }

    /// Where a program runs.
    pub fn folder(&self, program: &Program) -> Result<PathBuf, Error> {
        let folder = match (&program.folder, &program.package) {
            (Some(folder), _) => PathBuf::from(self.filled(folder)),
            (None, Some(package)) => self.package(package, &program.manifest)?,
            (None, None) => self.cache.clone(),
        };
        for file in program.copies.iter().map(|file| PathBuf::from(self.filled(file))) {
            let copy = folder.join(file.file_name().unwrap_or_default());
            fs::copy(&file, copy).map_err(|problem| Error::file(&file, problem))?;
        }
        Ok(folder)
    }

    /// A copy of the source of a crate that the program of its name depends on, or the one of all
    /// others, `crates`. Its manifest gets these lines, too.
    fn package(&self, name: &str, lines: &str) -> Result<PathBuf, Error> {
        let copy = self.cache.join(format!("{name}-source"));
        if copy.join("Cargo.toml").is_file() {
            return Ok(copy);
        }
        let mut metadata = Command::new("cargo");
        let own = self.clients.join(name);
        let dependent = if own.is_dir() { own } else { self.clients.join("crates") };
        metadata.args(["metadata", "--locked", "--format-version", "1"]).current_dir(dependent);
        let found: Value = serde_json::from_str(&succeed(&mut metadata)?).unwrap_or_default();
        let package = list(&found["packages"]).iter().find(|package| package["name"] == name);
        let manifest = PathBuf::from(package.map_or(String::new(), |package| text(&package["manifest_path"])));
        let source = manifest.parent().unwrap_or(Path::new("")).to_owned();
        succeed(Command::new("cp").arg("-r").arg(source).arg(&copy))?;
        // A workspace by itself.
        let manifest = copy.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(|problem| Error::file(&manifest, problem))?;
        fs::write(&manifest, text + lines + "\n[workspace]\n").map_err(|problem| Error::file(&manifest, problem))?;
        Ok(copy)
    }

    /// The modules for which a program runs: one without a name, unless it has files.
    pub fn modules(&self, program: &Program) -> Result<Vec<String>, Error> {
        let Some(files) = &program.files else { return Ok(vec![String::new()]) };
        let folder = PathBuf::from(self.filled(files));
        let mut found = Vec::new();
        collect(&folder, &mut found)?;
        found.sort();
        let module = |path: PathBuf| {
            let path = path.strip_prefix(&folder).unwrap_or(&path).with_extension("");
            path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(".")
        };
        let wanted = |module: &String| {
            program.only.is_empty() || program.only.iter().any(|only| module.ends_with(&format!(".{only}")))
        };
        Ok(found.into_iter().map(module).filter(wanted).collect())
    }
}

/// The first entry of a folder whose name is wanted.
fn first(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder).map_err(|problem| Error::file(folder, problem))?.flatten();
    let found = entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        wanted(&name)
    });
    found.ok_or_else(|| Error::file(folder, "what was installed is not there"))
}

/// The test files in a folder and those in it.
fn collect(folder: &Path, to: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(|problem| Error::file(folder, problem))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            collect(&path, to)?;
        } else if name.starts_with("test_") && name.ends_with(".py") {
            to.push(path);
        }
    }
    Ok(())
}
