//! `cargo xtask compare`: our best kernels beside cuBLAS, CUB and the driver on a GPU, as `docs/PEERS.md`.
//!
//! ```text
//! plan       which kernels, sizes and targets
//! measure    runs `host LAB --peer` for each on a GPU                 ->  docs/results/peers_h200.json
//! document   makes the tables, with the words of peers.toml           ->  docs/PEERS.md
//! ```
//!
//! With `--measure` it compiles `docs/compare/cub.cu`, runs the program on this machine's GPU and keeps what it printed; without,
//! it rewrites the document from what was kept. `docs/results/peers.toml` says what limits the rows that miss their target: it is
//! the only part that is written by hand.

mod document;
mod measure;
mod measurements;
mod options;
mod plan;

use std::fs;
use std::path::{Path, PathBuf};

pub use options::Options;

use measurements::{Results, Words};

use crate::program::{Error, file};
use crate::workspace;

/// The files.
struct Files {
    data: PathBuf,
    words: PathBuf,
    document: PathBuf,
}

impl Files {
    fn of(root: &Path) -> Self {
        Self {
            data: root.join("docs/results/peers_h200.json"),
            words: root.join("docs/results/peers.toml"),
            document: root.join("docs/PEERS.md"),
        }
    }

    /// The document as it should be.
    fn written(&self, results: &Results) -> Result<String, Error> {
        let words: Words = match fs::read_to_string(&self.words) {
            Ok(text) => {
                toml::from_str(&text).map_err(|problem| file(&self.words, wording::one_line(&problem.to_string())))?
            }
            Err(_) if !self.words.exists() => Words::default(),
            Err(problem) => return Err(file(&self.words, problem)),
        };
        document::of(results, &words).map_err(|problem| file(&self.words, problem))
    }
}

/// Measures, and writes the document.
pub fn run(options: &Options) -> Result<(), Error> {
    let files = Files::of(&workspace::root()?);
    let mut results: Results = match fs::read_to_string(&files.data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&files.data, problem))?,
        Err(problem) if !options.run.measure => {
            return Err(file(&files.data, format!("{problem}; measure with --measure")));
        }
        Err(_) => Results::default(),
    };
    if options.run.measure {
        measure::all(options, &workspace::root()?, &mut results, &files.data)?;
    }
    let text = files.written(&results)?;
    if options.run.check {
        let current = fs::read_to_string(&files.document).map_err(|problem| file(&files.document, problem))?;
        return if current == text {
            Ok(())
        } else {
            Err(Error::Stale { document: "docs/PEERS.md", data: "docs/results", chore: "compare" })
        };
    }
    fs::write(&files.document, text).map_err(|problem| file(&files.document, problem))?;
    println!("{}", files.document.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_the_numbers_make() {
        let files = Files::of(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
        let Ok(text) = fs::read_to_string(&files.data) else {
            assert!(!files.document.exists(), "docs/PEERS.md has no measurements");
            return;
        };
        let written = fs::read_to_string(&files.document).unwrap();
        let made = files.written(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(made, written, "docs/PEERS.md is stale: run `cargo xtask compare`");
    }
}
