//! `cargo xtask results`: writes the labs' times on a GPU to `docs/RESULTS.md`.
//!
//! ```text
//! plan       which commands, and the lab sheet's own numbers
//! measure    runs them on a GPU, ours and nvcc's kernels in turn      ->  docs/results/h200.json
//! document   makes the tables                                         ->  docs/RESULTS.md
//! ```
//!
//! With `--measure` it runs the program on this machine's GPU and saves the reports; without, it rewrites the document from the
//! saved reports. So a sentence can be changed without a GPU, and no number is written by hand.

mod document;
mod measure;
mod measurements;
mod options;
mod plan;

use std::fs;

pub use options::Options;

use measurements::Results;

use crate::program::{Error, file};
use crate::workspace;

/// Measures, and writes the document.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let (data, document) = (root.join("docs/results/h200.json"), root.join("docs/RESULTS.md"));
    let mut results: Results = match fs::read_to_string(&data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&data, problem))?,
        Err(problem) if !options.run.measure => return Err(file(&data, problem)),
        Err(_) => Results::default(),
    };
    if options.run.measure {
        fs::create_dir_all(root.join("docs/results")).map_err(|problem| file(&data, problem))?;
        measure::all(options, &root, &mut results, &data)?;
    }
    let text = document::of(&results);
    if options.run.check {
        let current = fs::read_to_string(&document).map_err(|problem| file(&document, problem))?;
        return if current == text {
            Ok(())
        } else {
            Err(Error::Stale { document: "docs/RESULTS.md", data: "docs/results/h200.json", chore: "results" })
        };
    }
    fs::write(&document, text).map_err(|problem| file(&document, problem))?;
    println!("{}", document.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_document_is_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let results = serde_json::from_str(&fs::read_to_string(root.join("docs/results/h200.json")).unwrap()).unwrap();
        let written = fs::read_to_string(root.join("docs/RESULTS.md")).unwrap();
        assert_eq!(document::of(&results), written, "docs/RESULTS.md is stale: run `cargo xtask results`");
    }
}
