//! CodeMirror for the pages' editor, as one file. npm and esbuild make it when it is first needed,
//! in `target/learn/editor/DIGEST`, from the lock file beside `editor/editor.js`, which has the
//! digest of each package. Without npm, or until it is there, a plain text area serves.
//!
//! *Invariant:* no script of a package runs while it is installed, and pages load the file from this
//! server alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::digest;
use crate::error::{Error, Result};
use crate::library;
use crate::process::Runner;
use crate::terminal::note;

/// What it is made of: its name, and its text.
const SOURCES: [(&str, &str); 4] = [
    ("package.json", include_str!("editor/package.json")),
    ("package-lock.json", include_str!("editor/package-lock.json")),
    (".npmrc", include_str!("editor/.npmrc")),
    ("editor.js", include_str!("editor/editor.js")),
];

/// The file that is made.
const BUNDLE: &str = "bundle.js";

/// The bundle of a clone.
#[derive(Clone, Debug)]
pub struct Bundle {
    folder: PathBuf,
}

impl Bundle {
    /// That of the clone at `root`.
    pub fn new(root: &Path) -> Self {
        let parts: Vec<&[u8]> = SOURCES.iter().map(|(_, text)| text.as_bytes()).collect();
        Self { folder: root.join("target/learn/editor").join(&digest::of(&parts)[..16]) }
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.folder.join(BUNDLE).is_file()
    }

    /// Its text, if it is there.
    pub fn text(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(BUNDLE)).ok()
    }

    /// Makes it on a thread of its own, unless it is there.
    pub fn begin(&self) {
        if self.is_there() {
            return;
        }
        let bundle = self.clone();
        std::thread::spawn(move || match bundle.make() {
            Ok(()) => note!("The editor is there: load the page again."),
            Err(error) => note!("note: {error}; pages have a plain text area"),
        });
    }

    fn make(&self) -> Result<()> {
        let [npm, node] = ["npm", "node"].map(in_path);
        let (Some(npm), Some(node)) = (npm, node) else {
            return Err(Error::Usage("the editor needs Node.js and npm".to_owned()));
        };
        let _lock = library::lock(&self.folder, Runner::default())?;
        if self.is_there() {
            return Ok(());
        }
        note!("npm makes the editor, once; until then pages have a plain text area.");
        for (name, text) in SOURCES {
            let file = self.folder.join(name);
            fs::write(&file, text).map_err(Error::writing(&file))?;
        }
        self.run(Command::new(npm).arg("ci"))?;
        let made = self.folder.join("made.js");
        let esbuild = ["node_modules/esbuild/bin/esbuild", "editor.js", "--bundle", "--format=esm", "--minify"];
        self.run(Command::new(node).args(esbuild).args([
            "--target=es2022",
            "--outfile=made.js",
            "--log-level=warning",
        ]))?;
        // Last, so that it is whole.
        fs::rename(&made, self.folder.join(BUNDLE)).map_err(Error::writing(&made))?;
        let _ = fs::remove_dir_all(self.folder.join("node_modules"));
        Ok(())
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let program = command.get_program().to_owned();
        let output = Runner::default().cargo(command.current_dir(&self.folder)).map_err(Error::reading(&program))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = wording::one_line(said.trim());
        Err(Error::Usage(format!("the editor cannot be made: {} ({}): {said}", program.display(), output.status)))
    }
}

/// A program in the PATH.
fn in_path(name: &str) -> Option<PathBuf> {
    let names = if cfg!(windows) { vec![format!("{name}.cmd"), format!("{name}.exe")] } else { vec![name.to_owned()] };
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_has_a_digest_and_no_host() {
        let lock: serde_json::Value = serde_json::from_str(SOURCES[1].1).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        assert!(packages.len() > 10);
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            assert!(package["integrity"].as_str().is_some_and(|digest| digest.starts_with("sha512-")), "{name}");
            assert!(package.get("resolved").is_none(), "{name}");
        }
        assert!(SOURCES[2].1.contains("ignore-scripts=true"));
    }

    #[test]
    fn it_is_named_after_its_sources() {
        let bundle = Bundle::new(Path::new("/clone"));
        assert!(bundle.folder.starts_with("/clone/target/learn/editor") && !bundle.is_there());
    }
}
