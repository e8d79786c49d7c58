//! What a lab's page gives to the program, as JSON: the PTX of the lab's kernels, and the sources
//! that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use host::labs::Entry;
use ptx::Pieces;

/// The root of the clone.
pub const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The texts by name: `device::given` says which names there are.
pub fn of(entry: &Entry) -> Result<String, String> {
    let kernels: Vec<&str> = entry.kernels().collect();
    let mut texts = BTreeMap::new();
    let mut sources = BTreeSet::new();
    for (name, images) in [("kernels.ptx", kernels::PTX), ("best_kernels.ptx", best_kernels::PTX)] {
        let image = images.last().ok_or_else(|| format!("{name}: there is no PTX"))?;
        let text = Pieces::of(name, image.text).text(&kernels);
        sources.extend(named(&text));
        texts.insert(name.to_owned(), text);
    }
    for source in sources {
        let path = Path::new(WORKSPACE).join(&source);
        // The compiler names files of its own library, too, which are not here.
        if let Ok(text) = fs::read_to_string(path) {
            texts.insert(source, text);
        }
    }
    serde_json::to_string(&texts).map_err(|error| error.to_string())
}

/// The files in which lines of the PTX are: those that a `.loc` or an inlined call names.
fn named(ptx: &str) -> BTreeSet<String> {
    let mut files: BTreeMap<&str, &str> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for line in ptx.lines().map(str::trim_start) {
        if let Some((number, path)) =
            line.strip_prefix(".file").and_then(|rest| rest.trim().split_once(char::is_whitespace))
        {
            files.insert(number, path.trim().trim_matches('"'));
        }
        let places = [line.strip_prefix(".loc"), line.split_once("inlined_at").map(|(_, rest)| rest)];
        used.extend(places.into_iter().flatten().filter_map(|rest| rest.split_whitespace().next()));
    }
    used.iter().filter_map(|number| files.get(number)).map(|&path| path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_lines() {
        let ptx = "\t.file\t1 \"a.rs\"\n.file 2 \"b.rs\"\n.file 3 \"c.rs\"\n\t.loc\t1 7 5, function_name x, inlined_at 3 1 1\n";
        assert_eq!(named(ptx), ["a.rs".to_owned(), "c.rs".to_owned()].into());
    }

    #[test]
    fn a_lab_takes_its_own_kernels_and_sources() {
        let texts: BTreeMap<String, String> =
            serde_json::from_str(&of(Entry::named("transpose").unwrap()).unwrap()).unwrap();
        assert!(
            texts["kernels.ptx"].contains(".entry transpose_padded(")
                && !texts["kernels.ptx"].contains(".entry offset_")
        );
        assert!(texts["best_kernels.ptx"].contains(".version"));
        assert!(texts["kernels/src/transpose.rs"].contains("transpose_padded"), "{:?}", texts.keys());
    }
}
