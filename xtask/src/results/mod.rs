//! `cargo xtask results`: the labs' times on a GPU, as `docs/RESULTS.md` and `measurements/labs.md`.
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
mod options;
mod page;
mod plan;

use std::fs;

pub use options::Options;

use measurements::Results;

use crate::documents::{self, Document};
use crate::program::{Error, file};
use crate::workspace;

/// Measures, and writes the documents.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let data = root.join("measurements/h200.json");
    let mut results: Results = match fs::read_to_string(&data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&data, problem))?,
        Err(problem) if !options.run.measure => return Err(file(&data, problem)),
        Err(_) => Results::default(),
    };
    if options.run.measure {
        fs::create_dir_all(root.join("measurements")).map_err(|problem| file(&data, problem))?;
        measure::all(options, &root, &mut results, &data)?;
    }
    let documents = made(&results);
    if options.run.check { documents::check(&root, &documents, "results") } else { documents::write(&root, &documents) }
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

    #[test]
    fn the_documents_are_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let results = serde_json::from_str(&fs::read_to_string(root.join("measurements/h200.json")).unwrap()).unwrap();
        documents::check(root, &made(&results), "results").unwrap();
    }
}
