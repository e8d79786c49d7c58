//! The modules of a crate, the names in each, and which file names what of which other. It parses
//! sources with `syn` and compiles nothing.

mod items;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, ItemUse, UseTree, Visibility};

use items::{is_for_tests, item_attributes, item_name, path_attribute};

/// An item: the file that defines it, and its name there.
pub type Key = (usize, String);

/// One file names an item that another defines or re-exports, or calls its method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: usize,
    pub to: usize,
    pub how: How,
    pub item: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The item is defined there.
    Definition,
    /// The item is re-exported or imported there.
    Passage,
    /// The method is defined there.
    Method,
}

/// A crate's source.
#[derive(Default)]
pub struct Crate {
    pub files: Vec<PathBuf>,
    modules: Vec<Module>,
}

#[derive(Default)]
struct Module {
    parent: Option<usize>,
    file: usize,
    /// What is defined here, for the calls of methods.
    items: Vec<Item>,
    /// What a name stands for: a module and a function may share one.
    names: HashMap<String, Vec<Name>>,
    /// Modules whose names are all imported, and enums.
    globs: Vec<Vec<String>>,
    /// Those that say more than the crate's surface.
    taken: Vec<Vec<String>>,
    /// Paths that private `use`s name.
    used: Vec<Vec<String>>,
    /// Paths that it re-exports; not the root's.
    passed_on: Vec<Vec<String>>,
    /// Paths in the code.
    named: BTreeSet<Vec<String>>,
    /// Those that only say what a `Handle` is of.
    handled: HashSet<String>,
}

#[derive(Clone)]
enum Name {
    /// Defined here.
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// What a path leads to.
#[derive(Clone, PartialEq)]
enum Target {
    Item(Key),
    Module(usize),
}

/// The names that were looked up on the way, and where; and the files that led further.
#[derive(Default)]
struct Way {
    seen: HashSet<(usize, String)>,
    files: BTreeSet<usize>,
}

impl Crate {
    /// Reads a crate from its root file on.
    pub fn read(root: &Path) -> Self {
        let mut source = Self::default();
        source.read_file(root, root.parent().unwrap(), None);
        source
    }

    /// Reads the file of a module, whose children are in `folder`. Returns the module.
    fn read_file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path.to_owned());
        self.add_module(parsed.items, self.files.len() - 1, folder, parent)
    }

    fn add_module(&mut self, items: Vec<Item>, file: usize, folder: &Path, parent: Option<usize>) -> usize {
        let module = self.modules.len();
        self.modules.push(Module { parent, file, ..Module::default() });
        for item in items {
            if !is_for_tests(item_attributes(&item)) {
                self.add_item(module, item, folder);
            }
        }
        module
    }

    fn add_item(&mut self, module: usize, item: Item, folder: &Path) {
        match item {
            Item::Mod(child) => {
                let name = child.ident.to_string();
                let inner = folder.join(&name);
                let file = self.modules[module].file;
                let child = match child.content {
                    Some((_, items)) => self.add_module(items, file, &inner, Some(module)),
                    None => {
                        let plain = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
                        // Such a path starts from the folder that the parent's file is in.
                        let of_parent = self.files[file].parent().unwrap();
                        let given = child.attrs.iter().find_map(path_attribute).map(|path| of_parent.join(path));
                        let path = given.or_else(|| plain.into_iter().find(|path| path.exists()));
                        let path = path.unwrap_or_else(|| panic!("no file for `mod {name}` in {}", folder.display()));
                        self.read_file(&path, &inner, Some(module))
                    }
                };
                self.name(module, name, Name::Module(child));
            }
            Item::Use(item) => self.add_use(module, &item),
            item => {
                if let Some(name) = item_name(&item) {
                    self.name(module, name, Name::Item);
                }
                self.modules[module].items.push(item.clone());
                let mut paths = Vec::new();
                let tokens = match item {
                    // The name of a variant is no path, though a type may have the same.
                    Item::Enum(item) => {
                        item.variants.into_iter().map(|variant| variant.fields.to_token_stream()).collect()
                    }
                    item => item.into_token_stream(),
                };
                self.collect_paths(module, tokens, &mut paths);
                self.modules[module].named.extend(paths);
            }
        }
    }

    fn name(&mut self, module: usize, name: String, what: Name) {
        self.modules[module].names.entry(name).or_default().push(what);
    }

    fn add_use(&mut self, module: usize, item: &ItemUse) {
        // The root only says what the crate's users see.
        let is_surface = module == 0 && !matches!(item.vis, Visibility::Inherited);
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        for (path, name) in leaves {
            match item.vis {
                Visibility::Inherited => self.modules[module].used.push(path.clone()),
                _ if module != 0 => self.modules[module].passed_on.push(path.clone()),
                _ => {}
            }
            match name {
                Some(name) => self.name(module, name, Name::Import(path)),
                None => {
                    if !is_surface {
                        self.modules[module].taken.push(path.clone());
                    }
                    self.modules[module].globs.push(path);
                }
            }
        }
    }

    /// All paths in some code: identifiers that `::` joins. What follows a dot is a field or a method.
    fn collect_paths(&mut self, module: usize, tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
        let mut tokens = tokens.into_iter().peekable();
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut after_dot) = (0, false);
        let mut of_handle = false;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(name) if name == "use" => {
                    let rest = tokens.by_ref().take_while(|token| token.to_string() != ";");
                    let tokens = TokenStream::from_iter(rest);
                    if let Ok(item) = syn::parse2::<ItemUse>(quote::quote!(use #tokens;)) {
                        self.add_use(module, &item);
                    }
                }
                TokenTree::Ident(name) if of_handle => {
                    self.modules[module].handled.insert(name.to_string());
                }
                TokenTree::Punct(mark) if mark.as_char() == '<' && path.last().is_some_and(|name| name == "Handle") => {
                    of_handle = true;
                }
                TokenTree::Punct(mark) if of_handle && mark.as_char() == '>' => of_handle = false,
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    }
                    if !after_dot && (colons != 2 || !path.is_empty()) {
                        path.push(name.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    after_dot = matches!(&other, TokenTree::Punct(mark) if mark.as_char() == '.')
                        && !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '.');
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.collect_paths(module, group.stream(), paths);
                    }
                }
            }
        }
        paths.extend((!path.is_empty()).then_some(path));
    }

    /// Which file names what of which other.
    pub fn imports(&self) -> BTreeSet<Import> {
        let mut imports = BTreeSet::new();
        for (index, module) in self.modules.iter().enumerate() {
            let is_named = |name: &String| module.named.iter().any(|path| path.first() == Some(name));
            // A `use` that serves handles alone.
            let serves_handles =
                |path: &[String]| path.last().is_some_and(|name| module.handled.contains(name) && !is_named(name));
            let used = module.used.iter().filter(|path| !serves_handles(path));
            let own = module.named.iter().chain(used).map(|path| (path, How::Definition));
            let passed_on = module.passed_on.iter().map(|path| (path, How::Passage));
            for (path, how) in own.chain(passed_on) {
                let mut way = Way::default();
                let targets = self.resolve(index, path, &mut way);
                let definers = targets.iter().filter_map(|target| match target {
                    Target::Item((file, _)) => Some(*file),
                    Target::Module(_) => None,
                });
                let definers: Vec<usize> = definers.collect();
                // The path of a module alone leads nowhere.
                let led = way.files.iter().copied().filter(|_| !definers.is_empty());
                let led = led.map(|file| (file, How::Passage));
                let all = definers.iter().map(|&file| (file, how)).chain(led);
                for (to, how) in all.filter(|&(to, _)| to != module.file) {
                    imports.insert(Import { from: module.file, to, how, item: path.join("::") });
                }
            }
            for path in &module.taken {
                for target in self.resolve(index, path, &mut Way::default()) {
                    if let Target::Module(other) = target
                        && self.modules[other].file != module.file
                    {
                        let to = self.modules[other].file;
                        let item = format!("{}::*", path.join("::"));
                        imports.insert(Import { from: module.file, to, how: How::Passage, item });
                    }
                }
            }
        }
        imports
    }

    /// All items, each with its module.
    pub fn items(&self) -> impl Iterator<Item = (usize, &Item)> {
        self.modules.iter().enumerate().flat_map(|(index, module)| module.items.iter().map(move |item| (index, item)))
    }

    /// The file of a module.
    pub fn file(&self, module: usize) -> usize {
        self.modules[module].file
    }

    /// The items that a path leads to from a module.
    pub fn definers(&self, module: usize, path: &[String]) -> BTreeSet<Key> {
        let targets = self.resolve(module, path, &mut Way::default()).into_iter();
        let items = targets.filter_map(|target| match target {
            Target::Item(key) => Some(key),
            Target::Module(_) => None,
        });
        items.collect()
    }

    /// The files of each module that has children: a list of siblings, each a child's files.
    pub fn folders(&self) -> Vec<Vec<BTreeSet<usize>>> {
        let mut folders = Vec::new();
        for parent in 0..self.modules.len() {
            let children = (0..self.modules.len()).filter(|&child| self.modules[child].parent == Some(parent));
            let siblings: Vec<_> = children.map(|child| self.files_within(child)).collect();
            // A module within a file has no folder.
            let parent = self.modules[parent].file;
            folders.push(siblings.into_iter().filter(|files| !files.contains(&parent)).collect());
        }
        folders
    }

    fn files_within(&self, module: usize) -> BTreeSet<usize> {
        let children = (0..self.modules.len()).filter(|&child| self.modules[child].parent == Some(module));
        children.flat_map(|child| self.files_within(child)).chain([self.modules[module].file]).collect()
    }

    /// What a path leads to from a module.
    fn resolve(&self, module: usize, path: &[String], way: &mut Way) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let start = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.modules[module].parent.map(Target::Module).into_iter().collect(),
            name => self.look_up(module, name, way),
        };
        rest.iter().fold(start, |targets, name| {
            // What is within an item (a variant, an associated function) is in the item's file.
            let inside = targets.iter().filter_map(|target| match *target {
                Target::Module(module) if name == "super" => self.modules[module].parent.map(Target::Module),
                _ => None,
            });
            let inside: Vec<Target> = inside.collect();
            if !inside.is_empty() {
                return inside;
            }
            let of_modules: Vec<Target> = targets
                .iter()
                .filter_map(|target| match *target {
                    Target::Module(module) => Some(self.look_up(module, name, way)),
                    Target::Item(_) => None,
                })
                .flatten()
                .collect();
            match of_modules.is_empty() {
                true => targets.into_iter().filter(|target| matches!(target, Target::Item(_))).collect(),
                false => of_modules,
            }
        })
    }

    fn look_up(&self, module: usize, name_here: &str, way: &mut Way) -> Vec<Target> {
        if !way.seen.insert((module, name_here.into())) {
            return Vec::new();
        }
        let here = &self.modules[module];
        let mut targets = Vec::new();
        for name in here.names.get(name_here).into_iter().flatten() {
            match name {
                Name::Item => targets.push(Target::Item((here.file, name_here.into()))),
                Name::Module(child) => targets.push(Target::Module(*child)),
                Name::Import(path) => targets.extend(self.led_on(module, path, way)),
            }
        }
        if targets.is_empty() {
            for path in &here.globs {
                for target in self.resolve(module, path, way) {
                    if let Target::Module(other) = target {
                        let found = self.look_up(other, name_here, way);
                        self.note(module, &found, way);
                        targets.extend(found);
                    }
                }
            }
        }
        targets
    }

    /// What an import leads to.
    fn led_on(&self, module: usize, path: &[String], way: &mut Way) -> Vec<Target> {
        let targets = self.resolve(module, path, way);
        self.note(module, &targets, way);
        targets
    }

    /// Notes that a module led to items, unless it is the root.
    fn note(&self, module: usize, targets: &[Target], way: &mut Way) {
        if module != 0 && targets.iter().any(|target| matches!(target, Target::Item(_))) {
            way.files.insert(self.modules[module].file);
        }
    }
}

/// The paths that a `use` names, with the name that each gets; none where it is `*`.
fn flatten(tree: &UseTree, before: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, Option<String>)>) {
    let joined = |before: &[String], name: &syn::Ident| {
        let mut path = before.to_vec();
        path.extend((name != "self" || before.is_empty()).then(|| name.to_string()));
        path
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Name(name) => {
            let path = joined(before, &name.ident);
            leaves.push((path.clone(), path.last().cloned()));
        }
        UseTree::Rename(rename) => leaves.push((joined(before, &rename.ident), Some(rename.rename.to_string()))),
        UseTree::Glob(_) => leaves.push((before.clone(), None)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, leaves)),
    }
}
