//! No crate has an import circle of more than two files.
//!
//! File A imports file B if it names an item that B defines, in a `use` or in a path. A path is followed through
//! re-exports and imports to the file that has the definition, so a `mod.rs` that only declares modules and re-exports
//! their items imports nothing, and whoever uses what it re-exports imports the files behind it. Macros' arguments are
//! read, too. Methods are not: they belong to the type, and whoever has a value of it has named the type somewhere.
//! A typed handle (`Handle<Function>`) imports nothing: it is an index, and says nothing of what it leads to.
//! Code under `#[cfg(test)]` does not count.
//!
//! A circle is a strongly connected component of that graph: each of its files imports each other, directly or through
//! more of them. Two files may do so, such as a parent and a child that it hides.

mod graph;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::Crate;

/// The most files of a circle.
const MOST: usize = 2;

#[test]
fn no_import_circle_has_more_than_two_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = String::new();
    for root_file in crate_roots(root) {
        let source = Crate::read(&root_file);
        let imports = source.imports();
        let circles = graph::circles(source.files.len(), &imports);
        for circle in circles.iter().filter(|circle| circle.len() > MOST) {
            found.push_str(&describe(root, &source, circle, &imports));
        }
    }
    assert!(found.is_empty(), "import circles of more than {MOST} files:\n{found}");
}

/// The root files of all crates of the workspace whose manifest lists them.
fn crate_roots(root: &Path) -> Vec<PathBuf> {
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let sources = members.iter().map(|member| root.join(member.as_str().unwrap()).join("src"));
    let roots: Vec<PathBuf> =
        sources.flat_map(|src| [src.join("lib.rs"), src.join("main.rs")]).filter(|file| file.exists()).collect();
    assert!(roots.len() >= members.len(), "a member of the workspace has neither lib.rs nor main.rs");
    roots
}

fn describe(root: &Path, source: &Crate, circle: &[usize], imports: &BTreeSet<modules::Import>) -> String {
    let name = |file: usize| source.files[file].strip_prefix(root).unwrap().display();
    let mut items: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    for import in imports.iter().filter(|import| circle.contains(&import.from) && circle.contains(&import.to)) {
        let item = import.item.rsplit("::").next().unwrap_or_default();
        items.entry((import.from, import.to)).or_default().insert(item);
    }
    let mut text = format!("{} files:\n", circle.len());
    for ((from, to), items) in items {
        let items: Vec<&str> = items.into_iter().collect();
        text.push_str(&format!("  {} imports {} of {}\n", name(from), items.join(", "), name(to)));
    }
    text
}
