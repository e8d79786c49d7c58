//! Kernels and functions: their declarations, and what is resolved when they or the module end.

use super::parameters::DeclaredParameter;
use super::state::{IndirectCall, Parser};
use crate::environment::{Entity, Pending, Signature};
use crate::errors::{DeclarationError, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::{Callee, ControlOp, Function, Handle, Linkage, Op, Variable};
use std::collections::HashMap;

/// The most bytes of parameters that a function may have.
const PARAMETER_BYTES: u64 = 32_764;

impl<'t> Parser<'t> {
    /// `.entry name (...)` or `.func (...) name (...)`, with its body if it has one.
    pub(super) fn function(&mut self, linkage: Linkage) -> Parsed<()> {
        let is_kernel = self.cursor.dot() == Some("entry");
        self.cursor.advance();
        self.attributes()?;
        let results = if self.cursor.kind() == TokenKind::OpenParenthesis { self.parameters()? } else { Vec::new() };
        let name = self.cursor.word("the function's name")?;
        if is_kernel && !results.is_empty() {
            return fault(name.span, DeclarationError::KernelWithResult(name.text.to_owned()));
        }
        if results.len() > 1 && results.iter().any(|result| result.register.is_none()) {
            return fault(name.span, DeclarationError::SeveralResults(name.text.to_owned()));
        }
        let parameters = if self.cursor.kind() == TokenKind::OpenParenthesis { self.parameters()? } else { Vec::new() };
        let directives = self.directives()?;
        let declared = self.function_handle(name, is_kernel, linkage)?;

        self.environment.start_function();
        let results = self.declare_parameters(results)?;
        let parameters = self.declare_parameters(parameters)?;
        let handles = |list: &[DeclaredParameter]| list.iter().map(|(variable, _)| *variable).collect::<Vec<_>>();
        let mut function = Function {
            name: name.text.to_owned(),
            is_kernel,
            linkage,
            no_return: directives.no_return,
            parameters: handles(&parameters),
            results: handles(&results),
            max_threads: directives.max_threads,
            required_threads: directives.required_threads,
            max_registers: directives.max_registers,
            min_blocks_per_multiprocessor: directives.min_blocks,
            required_cluster: directives.cluster,
            explicit_cluster: directives.explicit_cluster,
            max_cluster_blocks: directives.max_cluster_blocks,
            grid_in_clusters: directives.grid_in_clusters,
            registers: Default::default(),
            variables: Vec::new(),
            body: None,
            span: name.span,
        };
        if self.environment.module.parameter_bytes(&function) > PARAMETER_BYTES {
            return fault(name.span, DeclarationError::TooManyParameters(name.text.into(), PARAMETER_BYTES));
        }
        let has_body = self.cursor.kind() == TokenKind::OpenBrace;
        let handle = self.merge_function(declared, &function, name, has_body)?;
        if !has_body {
            self.environment.end_function();
            self.cursor.expect(TokenKind::Semicolon, "`{` or `;`")?;
            return Ok(());
        }
        self.load_register_parameters(&parameters);
        self.environment.function.register_results =
            results.iter().map(|(variable, parts)| (parts.clone(), *variable)).collect();
        let complete = self.body();
        self.finish_labels(&mut function);
        let builder = self.environment.end_function();
        for (at, signature) in builder.indirect_calls {
            let span = builder.body[at].span;
            self.indirect_calls.push(IndirectCall { function: handle, at, signature, span });
        }
        function.linkage = self.environment.module.functions[handle].linkage;
        function.registers = builder.registers;
        function.variables = builder.variables;
        function.body = Some(builder.body);
        self.environment.module.functions[handle] = function;
        complete
    }

    /// The function of that name, if it was declared before.
    fn function_handle(
        &mut self,
        name: Word<'t>,
        is_kernel: bool,
        linkage: Linkage,
    ) -> Parsed<Option<(Handle<Function>, Linkage)>> {
        match self.environment.declared_here(name.text) {
            None => Ok(None),
            Some(Entity::Function(handle)) => {
                if self.environment.module.functions[handle].is_kernel != is_kernel {
                    let difference = "a kernel and a function";
                    return fault(name.span, DeclarationError::Mismatch { name: name.text.into(), difference });
                }
                Ok(Some((handle, linkage)))
            }
            Some(_) => fault(name.span, DeclarationError::Duplicate(name.text.to_owned())),
        }
    }

    /// Adds the function to the module, or merges it with its earlier declaration.
    fn merge_function(
        &mut self,
        declared: Option<(Handle<Function>, Linkage)>,
        function: &Function,
        name: Word<'t>,
        has_body: bool,
    ) -> Parsed<Handle<Function>> {
        let module = &mut self.environment.module;
        let Some((handle, linkage)) = declared else {
            let handle = module.functions.append(function.clone());
            self.environment.declare_in_module(name.text, Entity::Function(handle));
            return Ok(handle);
        };
        let sizes =
            |list: &[Handle<Variable>]| list.iter().map(|&item| module.variables[item].size).collect::<Vec<_>>();
        let before = &module.functions[handle];
        let difference = if sizes(&before.parameters) != sizes(&function.parameters) {
            Some("other parameters")
        } else if sizes(&before.results) != sizes(&function.results) {
            Some("other results")
        } else {
            None
        };
        if let Some(difference) = difference {
            return fault(name.span, DeclarationError::Mismatch { name: name.text.into(), difference });
        }
        if has_body && before.body.is_some() {
            return fault(name.span, DeclarationError::Duplicate(name.text.to_owned()));
        }
        if linkage != Linkage::Internal && linkage != Linkage::Extern {
            module.functions[handle].linkage = linkage;
        } else if has_body && module.functions[handle].linkage == Linkage::Extern {
            module.functions[handle].linkage = Linkage::Visible;
        }
        Ok(handle)
    }

    /// At the end of a function: gives branches the positions of their labels.
    fn finish_labels(&mut self, function: &mut Function) {
        debug_assert!(function.body.is_none());
        for pending in std::mem::take(&mut self.environment.function.pending) {
            let (at, resolved) = match pending {
                Pending::Branch { at, label, scope } => (at, self.environment.label(label, scope).map(|at| vec![at])),
                Pending::Indexed { at, targets } => {
                    let (labels, scope) = &self.environment.function.branch_targets[targets];
                    let (length, scope) = (labels.len() as u64, *scope);
                    let span = self.environment.function.body[at].span;
                    if let Err(fault) = self.environment.spend(length, span) {
                        self.report(*fault, span.start);
                        return;
                    }
                    let labels = self.environment.function.branch_targets[targets].0.clone();
                    (at, labels.into_iter().map(|label| self.environment.label(label, scope)).collect())
                }
            };
            let instruction = &mut self.environment.function.body[at];
            match (resolved, &mut instruction.op) {
                (Ok(positions), Op::Control(ControlOp::Branch { target, .. })) => *target = positions[0],
                (Ok(positions), Op::Control(ControlOp::BranchIndexed { targets, .. })) => *targets = positions,
                (Err(fault), _) => {
                    let start = instruction.span.start;
                    self.report(*fault, start);
                }
                (Ok(_), _) => {}
            }
        }
    }

    /// At the end of the module: gives calls through registers the functions that match them. There
    /// may be none, for a null pointer or in a module that is one part of a program.
    pub(super) fn finish_indirect_calls(&mut self) {
        let calls = std::mem::take(&mut self.indirect_calls);
        if calls.is_empty() {
            return;
        }
        let mut fitting: HashMap<Signature, Vec<Handle<Function>>> = HashMap::new();
        for (handle, function) in self.environment.module.functions.iter() {
            if !function.is_kernel && function.body.is_some() {
                fitting.entry(self.environment.module.signature(function)).or_default().push(handle);
            }
        }
        for IndirectCall { function, at, signature, span } in calls {
            let Some(found) = fitting.get(&signature) else { continue };
            if let Err(fault) = self.environment.spend(found.len() as u64, span) {
                self.report(*fault, span.start);
                return;
            }
            let body = self.environment.module.functions[function].body.as_mut();
            if let Some(Op::Control(ControlOp::Call { callee: Callee::Indirect { candidates, .. }, .. })) =
                body.and_then(|body| body.get_mut(at)).map(|instruction| &mut instruction.op)
            {
                candidates.clone_from(found);
            }
        }
    }
}
