//! `cargo xtask results`: the labs' times on a GPU, as `docs/RESULTS.md` and
//! `measurements/labs.md`.
//!
//! ```text
//! plan       which commands, and the lab sheet's own numbers
//! measure    runs them on a GPU, ours and nvcc's kernels in turn      ->  measurements/h200.json
//! labs       every time                                               ->  measurements/labs.md
//! page       what the times show                                      ->  docs/RESULTS.md
//! ```
//!
//! With `--measure` it runs the program on this machine's GPU and saves the reports; without, it
//! rewrites the documents from the saved reports. So a sentence can be changed without a GPU, and
//! no number is written by hand.

mod labs;
mod measure;
mod measurements;
mod nvcc;
mod page;
mod plan;

use std::path::PathBuf;

use measurements::Results;

use crate::documents::{self, Document};
use crate::program::{Error, MeasureOptions};
use crate::workspace;

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    run: MeasureOptions,
    /// The CUDA toolkit's compiler, for the comparison with its kernels.
    #[arg(long, value_name = "FILE", default_value = "/usr/local/cuda/bin/nvcc")]
    nvcc: PathBuf,
    /// How many times our kernels and nvcc's are timed in turn.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    rounds: usize,
}

/// Measures, and writes the documents.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let data = root.join("measurements/h200.json");
    let mut results: Results = options.run.last(&data)?;
    if options.run.measure {
        measure::all(options, &root, &mut results, &data)?;
    }
    documents::finish(&root, &made(&results), options.run.check, "results")
}

fn made(results: &Results) -> [Document; 2] {
    [
        Document { name: plan::TIMES, text: labs::of(results) },
        Document { name: "docs/RESULTS.md", text: page::of(results) },
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::records;

    #[test]
    fn the_documents_are_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let results = records::read(&root.join("measurements/h200.json")).unwrap();
        documents::finish(root, &made(&results), true, "results").unwrap();
    }
}
