//! Which files and folders of a crate import each other in a circle: none, but those that
//! `known.txt` lists, which may only become fewer. It names the folders of a circle's files, so a
//! new file in one of them does not change it. Without re-exports and methods, no circle has more
//! than two files.
//!
//! File A imports file B if A names an item that B defines, calls a method that B defines, or names
//! an item through a re-export or an import of B. The crate's root is left out of the last, because
//! it only says what the crate's users see: `crate::Op` leads to the file of `Op`. Macros'
//! arguments are read, too. A typed handle (`Handle<Function>`) imports nothing: it is an index,
//! and says nothing of what it leads to. Code under `#[cfg(test)]` does not count.
//!
//! A folder imports another if a file of it does, and so for a file beside a folder.
//!
//! A circle is a strongly connected component of such a graph: each of its files imports each
//! other, directly or through more of them.

mod graph;
mod methods;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Crate, How, Import};

#[test]
fn there_is_no_import_circle_but_the_known_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut found, mut details) = (String::new(), String::new());
    for root_file in crate_roots(root) {
        let source = Crate::read(&root_file);
        let imports: BTreeSet<Import> = source.imports().union(&methods::calls(&source)).cloned().collect();
        let name = |file: usize| source.files[file].strip_prefix(root).unwrap().display().to_string();
        for circle in graph::circles(source.files.len(), &imports) {
            found.push_str(&format!("files in {}\n", folders_of(circle.iter().map(|&file| name(file)))));
            details.push_str(&describe(&name, &circle, &imports));
        }
        for siblings in source.folders() {
            let sibling = |file: usize| siblings.iter().position(|files| files.contains(&file));
            let between = imports.iter().filter_map(|import| {
                let (from, to) = (sibling(import.from)?, sibling(import.to)?);
                (from != to).then(|| Import { from, to, ..import.clone() })
            });
            let between: BTreeSet<Import> = between.collect();
            let folder = |sibling: usize| name(*siblings[sibling].first().unwrap());
            for circle in graph::circles(siblings.len(), &between) {
                // Of files alone it is named above.
                if circle.iter().any(|&sibling| siblings[sibling].len() > 1) {
                    let names: Vec<String> = circle.iter().map(|&sibling| folder(sibling)).collect();
                    found.push_str(&format!("folders {}\n", names.join(" ")));
                    details.push_str(&describe(&folder, &circle, &between));
                }
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_circles/known.txt");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap();
    assert!(found == known, "{} lists\n{known}\nbut there are\n{found}\n{details}", file.display());
}

/// The folders of these files, each once, in order.
fn folders_of(files: impl Iterator<Item = String>) -> String {
    let folders: BTreeSet<String> = files.map(|file| file.rsplit_once('/').unwrap().0.to_owned()).collect();
    Vec::from_iter(folders).join(" ")
}

#[test]
fn no_circle_of_definitions_has_more_than_two_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = String::new();
    for root_file in crate_roots(root) {
        let source = Crate::read(&root_file);
        let mut imports = source.imports();
        imports.retain(|import| import.how == How::Definition);
        let name = |file: usize| source.files[file].strip_prefix(root).unwrap().display().to_string();
        for circle in graph::circles(source.files.len(), &imports).iter().filter(|circle| circle.len() > 2) {
            found.push_str(&describe(&name, circle, &imports));
        }
    }
    assert!(found.is_empty(), "import circles of more than two files:\n{found}");
}

#[test]
fn definitions_re_exports_and_methods_count() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    write("lib.rs", "mod a; mod b; mod c; mod inner; pub use a::A; pub use inner::D;");
    write(
        "a.rs",
        "use crate::b::B; pub struct A { b: Option<B> } impl A { fn run(&self) { self.b.map(|b| b.go()); } }",
    );
    write("b.rs", "use crate::inner::D; pub struct B(D);");
    write("c.rs", "use crate::b::B; use crate::Handle; impl B { pub fn go(&self) {} } struct N(Handle<A>);");
    write("inner/mod.rs", "mod d; pub use d::D; use crate::A;");
    write("inner/d.rs", "pub struct D;");
    let source = Crate::read(&folder.path().join("lib.rs"));
    let name = |file: usize| source.files[file].strip_prefix(folder.path()).unwrap().display().to_string();
    let imports = source.imports().into_iter().chain(methods::calls(&source));
    let found: BTreeSet<_> = imports.map(|import| (name(import.from), name(import.to), import.how)).collect();
    let expected = [
        ("a.rs", "b.rs", How::Definition),
        ("a.rs", "c.rs", How::Method),
        ("b.rs", "inner/d.rs", How::Definition),
        ("b.rs", "inner/mod.rs", How::Passage),
        ("c.rs", "b.rs", How::Definition),
        ("inner/mod.rs", "a.rs", How::Definition),
        ("inner/mod.rs", "inner/d.rs", How::Passage),
    ];
    assert_eq!(found, expected.map(|(from, to, how)| (from.into(), to.into(), how)).into());
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

fn describe(name: &dyn Fn(usize) -> String, circle: &[usize], imports: &BTreeSet<Import>) -> String {
    let mut items: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    for import in imports.iter().filter(|import| circle.contains(&import.from) && circle.contains(&import.to)) {
        let item = import.item.rsplit("::").next().unwrap_or_default();
        items.entry((import.from, import.to)).or_default().insert(item);
    }
    let mut text = format!("{}:\n", circle.len());
    for ((from, to), items) in items {
        let items: Vec<&str> = items.into_iter().collect();
        text.push_str(&format!("  {} imports {} of {}\n", name(from), items.join(", "), name(to)));
    }
    text
}
