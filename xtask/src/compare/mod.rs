//! `cargo xtask compare`: our best kernels beside cuBLAS, CUB and the driver on a GPU, as
//! `docs/PEERS.md` and `measurements/peers.md`.
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
mod page;
mod peers;
mod plan;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use measurements::{Results, Words};

use crate::documents::{self, Document};
use crate::program::{Error, MeasureOptions, file};
use crate::workspace;

/// Options of `compare`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    run: MeasureOptions,
    /// The CUDA toolkit's compiler [default: the one in PATH, else /usr/local/cuda/bin/nvcc].
    #[arg(long, value_name = "FILE")]
    nvcc: Option<PathBuf>,
    /// A library made of docs/compare/cub.cu before, in place of compiling it.
    #[arg(long, value_name = "FILE", conflicts_with = "nvcc")]
    library: Option<PathBuf>,
    /// Seconds for each row, at most.
    #[arg(long, value_name = "SECONDS", default_value = "0.15")]
    time_limit: String,
    /// Run each lab in this many processes, one after another; the middle time of each row counts.
    #[arg(long, value_name = "COUNT", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=99))]
    processes: u32,
}

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
    let mut results: Results = options.run.last(&files.data)?;
    if options.run.measure {
        measure::all(options, &root, &mut results, &files.data)?;
    }
    documents::finish(&root, &files.made(&results)?, options.run.check, "compare")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;

    #[test]
    fn the_documents_are_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = Files::of(root);
        let results = records::read(&files.data).unwrap();
        documents::finish(root, &files.made(&results).unwrap(), true, "compare").unwrap();
    }
}
