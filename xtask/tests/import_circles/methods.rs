//! Which file calls a method that which other file defines.
//!
//! There is no type checker here. A value's type is what its declaration names: those of the
//! crate's types that stand in the type of a parameter, a field, a constant or a function's
//! result, whatever `Option`, `Vec` or reference is around them. A pattern, a loop and a closure
//! give their names the types of the value that they take apart. That is enough for nearly all
//! calls; one on a value whose type it cannot tell does not count.

use std::collections::{BTreeSet, HashMap};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, GenericParam, ImplItem, Item, Member, Pat, ReturnType, Stmt, TraitItem, Type};

use crate::modules::{Crate, How, Import, Key};

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
        let mut body = Body { scope, index: &index, locals: vec![HashMap::new()], calls: &mut calls };
        body.visit_item(item);
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

/// Goes through code with the types of its names.
struct Body<'a, 's> {
    scope: Scope<'s>,
    index: &'a Index,
    locals: Vec<HashMap<String, Types>>,
    calls: &'a mut BTreeSet<Import>,
}

impl Body<'_, '_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let outer = self.scope.clone();
        self.scope = outer.with(&signature.generics);
        self.locals.push(HashMap::new());
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(_) => self.bind("self", self.scope.this.clone().into_iter().collect()),
                FnArg::Typed(input) => self.bind_pattern(&input.pat, &self.scope.ty(&input.ty)),
            }
        }
        self.visit_block(block);
        self.locals.pop();
        self.scope = outer;
    }

    fn bind(&mut self, name: &str, types: Types) {
        self.locals.last_mut().expect("there is always one").insert(name.into(), types);
    }

    fn bind_pattern(&mut self, pattern: &Pat, types: &Types) {
        match pattern {
            Pat::Ident(inner) => {
                self.bind(&inner.ident.to_string(), types.clone());
                inner.subpat.iter().for_each(|(_, inner)| self.bind_pattern(inner, types));
            }
            Pat::Type(inner) => self.bind_pattern(&inner.pat, &self.scope.ty(&inner.ty)),
            Pat::Reference(inner) => self.bind_pattern(&inner.pat, types),
            Pat::Paren(inner) => self.bind_pattern(&inner.pat, types),
            Pat::Guard(inner) => self.bind_pattern(&inner.pat, types),
            Pat::Or(inner) => inner.cases.iter().for_each(|case| self.bind_pattern(case, types)),
            Pat::Tuple(inner) => inner.elems.iter().for_each(|part| self.bind_pattern(part, types)),
            Pat::Slice(inner) => inner.elems.iter().for_each(|part| self.bind_pattern(part, types)),
            Pat::TupleStruct(inner) => {
                for (index, part) in inner.elems.iter().enumerate() {
                    let found = self.pattern_field(&inner.path, &index.to_string());
                    self.bind_pattern(part, found.as_ref().unwrap_or(types));
                }
            }
            Pat::Struct(inner) => {
                for field in &inner.fields {
                    let found = self.pattern_field(&inner.path, &member(&field.member));
                    self.bind_pattern(&field.pat, found.as_ref().unwrap_or(types));
                }
            }
            _ => {}
        }
    }

    /// The types of a field, if the path of a pattern names a type of the crate or its variant.
    fn pattern_field(&self, path: &syn::Path, field: &str) -> Option<Types> {
        let owners = self.index.reach(&self.scope.names(path));
        let last = path.segments.last()?.ident.to_string();
        let fields = owners.iter().flat_map(|owner| {
            [field.to_owned(), format!("{last}::{field}")].map(|field| self.index.fields.get(&(owner.clone(), field)))
        });
        fields.flatten().cloned().reduce(|a, b| &a | &b)
    }

    fn call(&mut self, receiver: &Types, method: &str) -> Types {
        let mut returned = Types::new();
        let mut is_known = false;
        for owner in self.index.reach(receiver) {
            for (to, output) in self.index.methods.get(&(owner.clone(), method.into())).into_iter().flatten() {
                is_known = true;
                returned.extend(output.iter().cloned());
                let from = self.scope.source.file(self.scope.module);
                if *to != from {
                    let item = format!("{}.{method}()", owner.1);
                    self.calls.insert(Import { from, to: *to, how: How::Method, item });
                }
            }
        }
        // A method of the standard library mostly returns what it was called on, or a part of it.
        if is_known { returned } else { receiver.clone() }
    }

    /// The types of an expression, whose parts are visited on the way.
    fn value(&mut self, expression: &Expr) -> Types {
        match expression {
            Expr::Path(inner) => {
                let name = &inner.path.segments[0].ident.to_string();
                let local = self.locals.iter().rev().find_map(|names| names.get(name));
                match local {
                    Some(types) if inner.path.segments.len() == 1 => types.clone(),
                    _ => {
                        let names = self.scope.names(&inner.path);
                        let values = names.iter().map(|key| self.index.values.get(key));
                        values.flatten().flatten().cloned().chain(names.iter().cloned()).collect()
                    }
                }
            }
            Expr::Field(inner) => {
                let base = self.value(&inner.base);
                let name = member(&inner.member);
                let owners = self.index.reach(&base);
                let mut fields = owners.iter().map(|owner| self.index.fields.get(&(owner.clone(), name.clone())));
                // A field that no type of the crate has is one of a tuple.
                match fields.any(|field| field.is_some()) {
                    true => {
                        let of = |owner: &Key| self.index.fields.get(&(owner.clone(), name.clone()));
                        owners.iter().filter_map(of).flatten().cloned().collect()
                    }
                    false => base,
                }
            }
            Expr::MethodCall(inner) => {
                let receiver = self.value(&inner.receiver);
                for argument in &inner.args {
                    match argument {
                        Expr::Closure(closure) => self.closure(closure, &receiver),
                        other => _ = self.value(other),
                    }
                }
                self.call(&receiver, &inner.method.to_string())
            }
            Expr::Call(inner) => {
                inner.args.iter().for_each(|argument| _ = self.value(argument));
                let Expr::Path(path) = &*inner.func else { return self.value(&inner.func) };
                let names: Vec<_> = path.path.segments.iter().collect();
                let owners = self.scope.names(&path.path);
                match names.last() {
                    // `Some(x)` is what `x` is.
                    Some(last) if owners.is_empty() && ["Some", "Ok", "Box"].iter().any(|name| last.ident == name) => {
                        inner.args.first().map(|argument| self.value(argument)).unwrap_or_default()
                    }
                    // The file of an associated function's type is named in the path already.
                    Some(last) if names.len() > 1 => {
                        let functions = owners.iter().filter_map(|owner| {
                            self.index.methods.get(&(owner.clone(), last.ident.to_string())).cloned()
                        });
                        let functions: Vec<_> = functions.flatten().collect();
                        let from = self.scope.source.file(self.scope.module);
                        for (to, _) in functions.iter().filter(|(to, _)| *to != from) {
                            let item = format!("{}()", last.ident);
                            self.calls.insert(Import { from, to: *to, how: How::Method, item });
                        }
                        match functions.is_empty() {
                            true => self.value(&inner.func),
                            false => functions.into_iter().flat_map(|(_, output)| output).collect(),
                        }
                    }
                    _ => {
                        let values = owners.iter().filter_map(|owner| self.index.values.get(owner));
                        let found: Vec<Types> = values.cloned().collect();
                        found.into_iter().reduce(|a, b| &a | &b).unwrap_or(owners)
                    }
                }
            }
            Expr::Struct(inner) => {
                visit::visit_expr_struct(self, inner);
                self.scope.names(&inner.path)
            }
            Expr::Reference(inner) => self.value(&inner.expr),
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Try(inner) => self.value(&inner.expr),
            Expr::Unary(inner) => self.value(&inner.expr),
            Expr::Index(inner) => {
                self.value(&inner.index);
                self.value(&inner.expr)
            }
            Expr::Tuple(inner) => inner.elems.iter().flat_map(|part| self.value(part)).collect(),
            Expr::Array(inner) => inner.elems.iter().flat_map(|part| self.value(part)).collect(),
            Expr::Cast(inner) => {
                self.value(&inner.expr);
                self.scope.ty(&inner.ty)
            }
            Expr::Block(inner) => self.block(&inner.block),
            Expr::If(inner) => {
                self.locals.push(HashMap::new());
                self.value(&inner.cond);
                let mut types = self.block(&inner.then_branch);
                self.locals.pop();
                inner.else_branch.iter().for_each(|(_, other)| types.extend(self.value(other)));
                types
            }
            Expr::Let(inner) => {
                let types = self.value(&inner.expr);
                self.bind_pattern(&inner.pat, &types);
                Types::new()
            }
            Expr::While(inner) => {
                self.locals.push(HashMap::new());
                self.value(&inner.cond);
                self.block(&inner.body);
                self.locals.pop();
                Types::new()
            }
            Expr::ForLoop(inner) => {
                let types = self.value(&inner.expr);
                self.locals.push(HashMap::new());
                self.bind_pattern(&inner.pat, &types);
                self.block(&inner.body);
                self.locals.pop();
                Types::new()
            }
            Expr::Match(inner) => {
                let types = self.value(&inner.expr);
                let mut results = Types::new();
                for arm in &inner.arms {
                    self.locals.push(HashMap::new());
                    self.bind_pattern(&arm.pat, &types);
                    if let Pat::Guard(guard) = &arm.pat {
                        self.value(&guard.guard);
                    }
                    results.extend(self.value(&arm.body));
                    self.locals.pop();
                }
                results
            }
            Expr::Closure(inner) => {
                self.closure(inner, &Types::new());
                Types::new()
            }
            Expr::Macro(inner) => {
                visit::visit_macro(self, &inner.mac);
                Types::new()
            }
            other => {
                visit::visit_expr(self, other);
                Types::new()
            }
        }
    }

    /// A closure, whose parameters are what it is called with or a part of that.
    fn closure(&mut self, closure: &syn::ExprClosure, receiver: &Types) {
        self.locals.push(HashMap::new());
        closure.inputs.iter().for_each(|input| self.bind_pattern(input, receiver));
        self.value(&closure.body);
        self.locals.pop();
    }

    fn block(&mut self, block: &syn::Block) -> Types {
        self.locals.push(HashMap::new());
        let mut last = Types::new();
        for statement in &block.stmts {
            last = match statement {
                Stmt::Local(local) => {
                    let types = local.init.as_ref().map(|init| {
                        init.diverge.iter().for_each(|(_, other)| _ = self.value(other));
                        self.value(&init.expr)
                    });
                    self.bind_pattern(&local.pat, &types.unwrap_or_default());
                    Types::new()
                }
                Stmt::Expr(expression, None) => self.value(expression),
                Stmt::Expr(expression, Some(_)) => {
                    self.value(expression);
                    Types::new()
                }
                other => {
                    visit::visit_stmt(self, other);
                    Types::new()
                }
            };
        }
        self.locals.pop();
        last
    }
}

impl<'ast> Visit<'ast> for Body<'_, '_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = self.scope.clone();
        self.scope = outer.within(item);
        for inner in &item.items {
            if let ImplItem::Fn(function) = inner {
                self.function(&function.sig, &function.block);
            }
        }
        self.scope = outer;
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block(block);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        // These have no case of their own in `value`, which comes back here.
        match expression {
            Expr::Assign(_) | Expr::Binary(_) | Expr::Break(_) | Expr::Return(_) | Expr::Range(_) | Expr::Loop(_) => {
                visit::visit_expr(self, expression);
            }
            Expr::Lit(_) | Expr::Continue(_) | Expr::Verbatim(_) => {}
            other => _ = self.value(other),
        }
    }

    fn visit_macro(&mut self, inner: &'ast syn::Macro) {
        type Arguments = syn::punctuated::Punctuated<Expr, syn::Token![,]>;
        if let Ok(arguments) = inner.parse_body_with(Arguments::parse_terminated) {
            arguments.iter().for_each(|argument| _ = self.value(argument));
        }
    }
}

fn member(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
