//! `cargo xtask compare`: our best kernels beside cuBLAS, CUB and the driver on a GPU, as `docs/PEERS.md` and
//! `measurements/peers.md`.
//!
//! ```text
//! plan       which kernels, sizes and targets
//! measure    runs `host LAB --peer` for each on a GPU                 ->  measurements/peers_h200.json
//! rows       what is compared, with what was measured
//! peers      every row, with the words of peers.toml                  ->  measurements/peers.md
//! page       what the rows show                                       ->  docs/PEERS.md
//! ```
//!
//! With `--measure` it compiles `docs/compare/cub.cu`, runs the program on this machine's GPU and
//! keeps what it printed; without, it rewrites the documents from what was kept.
//! `measurements/peers.toml` says what limits the rows that miss their target: it is the only part
//! that is written by hand.

mod measure;
mod measurements;
mod options;
mod page;
mod peers;
mod plan;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

pub use options::Options;

use measurements::{Results, Words};

use crate::documents::{self, Document};
use crate::program::{Error, file};
use crate::workspace;

/// The files that the documents are made of.
struct Files {
    data: PathBuf,
    words: PathBuf,
}

impl Files {
    fn of(root: &Path) -> Self {
        Self { data: root.join("measurements/peers_h200.json"), words: root.join("measurements/peers.toml") }
    }

    /// The documents as they should be.
    fn made(&self, results: &Results) -> Result<[Document; 2], Error> {
        let words: Words = match fs::read_to_string(&self.words) {
            Ok(text) => {
                toml::from_str(&text).map_err(|problem| file(&self.words, wording::one_line(&problem.to_string())))?
            }
            Err(_) if !self.words.exists() => Words::default(),
            Err(problem) => return Err(file(&self.words, problem)),
        };
        let peers = peers::of(results, &words).map_err(|problem| file(&self.words, problem))?;
        let page = page::of(results, &words);
        Ok([Document { name: plan::PEERS, text: peers }, Document { name: "docs/PEERS.md", text: page }])
    }
}

/// Measures, and writes the documents.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let files = Files::of(&root);
    let mut results: Results = match fs::read_to_string(&files.data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&files.data, problem))?,
        Err(problem) if !options.run.measure => {
            return Err(file(&files.data, format!("{problem}; measure with --measure")));
        }
        Err(_) => Results::default(),
    };
    if options.run.measure {
        measure::all(options, &root, &mut results, &files.data)?;
    }
    let documents = files.made(&results)?;
    if options.run.check { documents::check(&root, &documents, "compare") } else { documents::write(&root, &documents) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_are_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = Files::of(root);
        let results = serde_json::from_str(&fs::read_to_string(&files.data).unwrap()).unwrap();
        documents::check(root, &files.made(&results).unwrap(), "compare").unwrap();
    }
}
