//! Reads the body of a function: the types of its values, and the methods that it calls.

use std::collections::{BTreeSet, HashMap};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ImplItem, Member, Pat, Stmt};

use super::{Index, Scope, Types};
use crate::modules::{How, Import, Key};

/// Goes through code with the types of its names.
pub(super) struct Body<'a, 's> {
    scope: Scope<'s>,
    index: &'a Index,
    locals: Vec<HashMap<String, Types>>,
    calls: &'a mut BTreeSet<Import>,
}

impl<'a, 's> Body<'a, 's> {
    pub(super) fn new(scope: Scope<'s>, index: &'a Index, calls: &'a mut BTreeSet<Import>) -> Self {
        Self { scope, index, locals: vec![HashMap::new()], calls }
    }
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
        // Most methods of the standard library return their receiver or a part of it.
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
