//! Which file calls a method that which other file defines.
//!
//! There is no type checker here. A value's type is what its declaration names: those of the
//! crate's types that stand in the type of a parameter, a field, a constant or a function's
//! result, whatever `Option`, `Vec` or reference is around them. A pattern, a loop and a closure
//! give their names the types of the value that they take apart. That is enough for nearly all
//! calls; one on a value whose type it cannot tell does not count.

mod body;

use std::collections::{BTreeSet, HashMap};

use syn::visit::Visit;
use syn::{GenericParam, ImplItem, Item, ReturnType, TraitItem, Type};

use crate::modules::{Crate, Import, Key};
use body::Body;

type Types = BTreeSet<Key>;

/// What the crate's types have.
#[derive(Default)]
struct Index {
    /// Where each method of a type is defined, and what it returns.
    methods: HashMap<(Key, String), Vec<(usize, Types)>>,
    fields: HashMap<(Key, String), Types>,
    /// What functions return and constants are, and what aliases and `Deref` lead to.
    values: HashMap<Key, Types>,
    targets: HashMap<Key, Types>,
}

/// The calls of methods in a crate, between its files.
pub fn calls(source: &Crate) -> BTreeSet<Import> {
    let mut index = Index::default();
    for (module, item) in source.items() {
        index.add(&Scope { source, module, this: None, generics: HashMap::new() }, item);
    }
    let mut calls = BTreeSet::new();
    for (module, item) in source.items() {
        let scope = Scope { source, module, this: None, generics: HashMap::new() };
        Body::new(scope, &index, &mut calls).visit_item(item);
    }
    calls
}

/// Where names are looked up.
#[derive(Clone)]
struct Scope<'a> {
    source: &'a Crate,
    module: usize,
    /// What `Self` is.
    this: Option<Key>,
    /// The bounds of type parameters.
    generics: HashMap<String, Types>,
}

impl Scope<'_> {
    /// The scope within an item that has these type parameters.
    fn with(&self, generics: &syn::Generics) -> Self {
        let mut inner = self.clone();
        for parameter in &generics.params {
            if let GenericParam::Type(parameter) = parameter {
                let mut bounds = Types::new();
                for bound in &parameter.bounds {
                    if let syn::TypeParamBound::Trait(bound) = bound {
                        bounds.extend(self.path(&bound.path));
                    }
                }
                inner.generics.insert(parameter.ident.to_string(), bounds);
            }
        }
        inner
    }

    fn within(&self, implementation: &syn::ItemImpl) -> Self {
        let mut inner = self.with(&implementation.generics);
        inner.this = match &*implementation.self_ty {
            Type::Path(path) => self.names(&path.path).into_iter().next(),
            _ => None,
        };
        inner
    }

    /// What a path leads to, without its arguments.
    fn names(&self, path: &syn::Path) -> Types {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names[0] == "Self" {
            return self.this.clone().into_iter().collect();
        }
        match self.generics.get(&names[0]) {
            Some(bounds) if names.len() == 1 => bounds.clone(),
            _ => self.source.definers(self.module, &names),
        }
    }

    /// The crate's types that a path names, those in its arguments included.
    fn path(&self, path: &syn::Path) -> Types {
        let mut found = Types::new();
        let is_handle = path.segments.last().is_some_and(|segment| segment.ident == "Handle");
        found.extend(self.names(path));
        for segment in path.segments.iter().filter(|_| !is_handle) {
            let mut inner = Named { scope: self, found: &mut found };
            inner.visit_path_arguments(&segment.arguments);
        }
        found
    }

    /// The crate's types that a type names.
    fn ty(&self, ty: &Type) -> Types {
        let mut found = Types::new();
        Named { scope: self, found: &mut found }.visit_type(ty);
        found
    }

    fn output(&self, output: &ReturnType) -> Types {
        match output {
            ReturnType::Default => Types::new(),
            ReturnType::Type(_, ty) => self.ty(ty),
        }
    }
}

/// Collects the crate's types in a type.
struct Named<'a, 's> {
    scope: &'a Scope<'s>,
    found: &'a mut Types,
}

impl<'ast> Visit<'ast> for Named<'_, '_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.found.extend(self.scope.path(path));
    }
}

impl Index {
    fn add(&mut self, scope: &Scope<'_>, item: &Item) {
        let key = |name: &syn::Ident| (scope.source.file(scope.module), name.to_string());
        match item {
            Item::Struct(item) => {
                self.add_fields(&scope.with(&item.generics), &key(&item.ident), "", &item.fields);
            }
            Item::Enum(item) => {
                let scope = scope.with(&item.generics);
                for variant in &item.variants {
                    self.add_fields(&scope, &key(&item.ident), &format!("{}::", variant.ident), &variant.fields);
                }
            }
            Item::Fn(item) => {
                let output = scope.with(&item.sig.generics).output(&item.sig.output);
                self.values.entry(key(&item.sig.ident)).or_default().extend(output);
            }
            Item::Const(item) => self.values.entry(key(&item.ident)).or_default().extend(scope.ty(&item.ty)),
            Item::Static(item) => self.values.entry(key(&item.ident)).or_default().extend(scope.ty(&item.ty)),
            Item::Type(item) => {
                self.targets.entry(key(&item.ident)).or_default().extend(scope.with(&item.generics).ty(&item.ty));
            }
            Item::Trait(item) => {
                let mut scope = scope.with(&item.generics);
                scope.this = Some(key(&item.ident));
                for function in &item.items {
                    if let TraitItem::Fn(function) = function {
                        self.add_method(&scope, &function.sig);
                    }
                }
            }
            Item::Impl(item) => {
                let scope = scope.within(item);
                for inner in &item.items {
                    match inner {
                        ImplItem::Fn(function) => self.add_method(&scope, &function.sig),
                        ImplItem::Type(ty) if ty.ident == "Target" => {
                            let this = scope.this.clone().into_iter();
                            this.for_each(|this| self.targets.entry(this).or_default().extend(scope.ty(&ty.ty)));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn add_fields(&mut self, scope: &Scope<'_>, owner: &Key, prefix: &str, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
            self.fields.insert((owner.clone(), format!("{prefix}{name}")), scope.ty(&field.ty));
        }
    }

    fn add_method(&mut self, scope: &Scope<'_>, signature: &syn::Signature) {
        let Some(this) = scope.this.clone() else { return };
        let output = scope.with(&signature.generics).output(&signature.output);
        let file = scope.source.file(scope.module);
        self.methods.entry((this, signature.ident.to_string())).or_default().push((file, output));
    }

    /// The types themselves, and those that they stand for.
    fn reach(&self, types: &Types) -> Types {
        let mut reached = types.clone();
        let mut next: Vec<Key> = types.iter().cloned().collect();
        while let Some(key) = next.pop() {
            let targets = self.targets.get(&key).into_iter().flatten();
            next.extend(targets.filter(|&target| reached.insert(target.clone())).cloned());
        }
        reached
    }
}
