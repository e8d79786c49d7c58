//! Kernels and functions: their headers, and what is resolved when they end.

use super::variable::{Shape, size};
use super::{Parser, Word};
use crate::environment::{Entity, Pending, Signature};
use crate::errors::{DeclarationError, Parsed, fault};
use crate::lexer::TokenKind;
use crate::parser::indirect::IndirectCall;
use crate::{
    Callee, Function, Handle, Initializer, Instruction, Linkage, Op, Pointee, Register, Space, Type, Variable,
};
use std::collections::HashMap;

/// The most bytes of parameters that a function may have.
const PARAMETER_BYTES: u64 = 32_764;

/// A parameter as it is declared: a variable, and the register that it is loaded into if it is a
/// `.reg`.
struct Parameter<'t> {
    variable: Variable,
    name: Word<'t>,
    register: Option<Shape>,
}

/// A parameter's variable, and its register, or the parts of it, if it is declared as one.
type DeclaredParameter = (Handle<Variable>, Vec<Handle<Register>>);

/// The directives between a function's parameters and its body.
#[derive(Default)]
struct Directives {
    no_return: bool,
    max_threads: Option<[u32; 3]>,
    required_threads: Option<[u32; 3]>,
    max_registers: Option<u32>,
    min_blocks: Option<u32>,
    cluster: Option<[u32; 3]>,
    explicit_cluster: bool,
    max_cluster_blocks: Option<u32>,
    grid_in_clusters: bool,
}

const CLUSTER_DIRECTIVES: [&str; 4] = ["reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters"];

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

    /// A list of parameters or results in parentheses. In a prototype their names have no meaning.
    fn parameters(&mut self) -> Parsed<Vec<Parameter<'t>>> {
        self.cursor.expect(TokenKind::OpenParenthesis, "`(`")?;
        let mut parameters = Vec::new();
        if self.cursor.accept(TokenKind::CloseParenthesis) {
            return Ok(parameters);
        }
        loop {
            parameters.push(self.parameter()?);
            if !self.cursor.accept(TokenKind::Comma) {
                self.cursor.expect(TokenKind::CloseParenthesis, "`,` or `)`")?;
                return Ok(parameters);
            }
        }
    }

    /// `.param .u64 .ptr .global .align 16 name`, `.param .align 8 .b8 name[16]`, `.reg .b32 name`.
    fn parameter(&mut self) -> Parsed<Parameter<'t>> {
        let is_register = self.cursor.dot() == Some("reg");
        if !is_register && self.cursor.dot() != Some("param") {
            return self.cursor.unexpected("`.param` or `.reg`");
        }
        self.cursor.advance();
        let mut shape = self.shape()?;
        let mut points_to = None;
        if self.cursor.accept_dot("ptr") {
            // The last three come from OpenCL, whose images and samplers are passed by address.
            if let Some(
                "global" | "shared" | "local" | "const" | "generic" | "param" | "texref" | "surfref" | "samplerref",
            ) = self.cursor.dot()
            {
                self.cursor.advance();
            }
            let align = if self.cursor.accept_dot("align") { self.alignment()? } else { 4 };
            points_to = Some(Pointee { align });
        }
        let declarator = self.declarator()?;
        let name = declarator.name;
        let size = size(&shape, &declarator.dimensions, name)?;
        if shape.ty == Type::Pred && !is_register {
            return fault(name.span, DeclarationError::BadType { ty: shape.ty, space: "param" });
        }
        if is_register && !declarator.dimensions.is_empty() {
            return fault(name.span, DeclarationError::NotHere { what: "array of registers" });
        }
        // A predicate is passed as a word.
        let ty = if shape.ty == Type::Pred { Type::B32 } else { shape.ty };
        let size = if shape.ty == Type::Pred { Some(u64::from(ty.bytes() * shape.vector)) } else { size };
        let align = shape.align.take().unwrap_or(ty.bytes() * shape.vector);
        let variable = Variable {
            name: name.text.to_owned(),
            space: Space::Parameter,
            ty,
            vector: shape.vector,
            align,
            points_to,
            size,
            initializer: Initializer::default(),
            linkage: Linkage::Internal,
            span: name.span,
        };
        Ok(Parameter { variable, name, register: is_register.then_some(shape) })
    }

    /// Puts parameters in scope: each is a variable, and also a register if it is declared as one.
    fn declare_parameters(&mut self, parameters: Vec<Parameter<'t>>) -> Parsed<Vec<DeclaredParameter>> {
        let mut declared = Vec::new();
        for Parameter { variable, name, register } in parameters {
            if self.environment.declared_here(name.text).is_some() && name.text != "_" {
                return fault(name.span, DeclarationError::Duplicate(name.text.to_owned()));
            }
            let handle = self.environment.module.variables.append(variable);
            let mut stands_for = Vec::new();
            match register {
                Some(shape) if name.text != "_" => {
                    stands_for = self.register(name, &shape)?.registers();
                }
                _ => self.environment.declare(name.text, Entity::Variable(handle)),
            }
            declared.push((handle, stands_for));
        }
        Ok(declared)
    }

    /// Starts the body with a load of each parameter that is a register.
    fn load_register_parameters(&mut self, parameters: &[DeclaredParameter]) {
        for (variable, registers) in parameters {
            let span = self.environment.module.variables[*variable].span;
            let loads = self.environment.loads_of(*variable, registers);
            let instruction = |op| Instruction { guard: None, op, span, location: None };
            self.environment.function.body.extend(loads.into_iter().map(instruction));
        }
    }

    /// Appends the stores that precede a return: those of results that are registers.
    pub(super) fn store_register_results(&mut self, like: &Instruction) {
        for (registers, variable) in self.environment.function.register_results.clone() {
            let stores = self.environment.stores_to(variable, &registers);
            self.environment.function.body.extend(stores.into_iter().map(|op| Instruction { op, ..like.clone() }));
        }
    }

    fn directives(&mut self) -> Parsed<Directives> {
        let mut directives = Directives::default();
        let mut grid_in_clusters = None;
        while let Some(name) = self.cursor.dot() {
            if CLUSTER_DIRECTIVES.contains(&name) && self.environment.module.target < 90 {
                let directive = name.to_owned();
                return fault(self.cursor.peek().span, DeclarationError::NeedsTarget { directive, target: 90 });
            }
            self.check_version();
            match name {
                "maxntid" => directives.max_threads = Some(self.dimensions()?),
                "reqntid" => directives.required_threads = Some(self.dimensions()?),
                "minnctapersm" => {
                    self.cursor.advance();
                    directives.min_blocks = Some(self.cursor.integer32()?);
                }
                "maxclusterrank" => {
                    self.cursor.advance();
                    directives.max_cluster_blocks = Some(self.cursor.integer32()?);
                }
                "maxnreg" => {
                    self.cursor.advance();
                    directives.max_registers = Some(self.cursor.integer32()?);
                }
                "maxnctapersm" | "abi_preserve" | "abi_preserve_control" => {
                    self.cursor.advance();
                    self.cursor.integer32()?;
                }
                "noreturn" => {
                    self.cursor.advance();
                    directives.no_return = true;
                }
                "pragma" => self.skip_statement()?,
                "loc" => self.loc()?,
                "reqnctapercluster" => directives.cluster = Some(self.dimensions()?),
                "explicitcluster" => {
                    self.cursor.advance();
                    directives.explicit_cluster = true;
                }
                "blocksareclusters" => {
                    grid_in_clusters = Some(self.cursor.peek().span);
                    self.cursor.advance();
                }
                _ => return self.unknown_directive(),
            }
        }
        if let Some(span) = grid_in_clusters {
            if directives.required_threads.is_none() || directives.cluster.is_none() {
                let needed = "`.reqntid` and `.reqnctapercluster`";
                return fault(span, DeclarationError::NeedsDirective { directive: "blocksareclusters".into(), needed });
            }
            directives.grid_in_clusters = true;
        }
        Ok(directives)
    }

    /// `.maxntid 32, 8`: dimensions that are not given are 1.
    fn dimensions(&mut self) -> Parsed<[u32; 3]> {
        let directive = self.cursor.text()[1..].to_owned();
        self.cursor.advance();
        let mut sizes = [1; 3];
        for (index, size) in sizes.iter_mut().enumerate() {
            if index > 0 && !self.cursor.accept(TokenKind::Comma) {
                break;
            }
            let span = self.cursor.peek().span;
            *size = self.cursor.integer32()?;
            if *size == 0 {
                let expected = "up to three numbers above 0";
                return fault(span, DeclarationError::BadDirective { directive, expected });
            }
        }
        Ok(sizes)
    }

    /// `.callprototype (results) _ (parameters) {.noreturn};`, from the results on.
    pub(super) fn prototype(&mut self) -> Parsed<Signature> {
        let sizes = |list: Vec<Parameter<'_>>| list.iter().map(|parameter| parameter.variable.size).collect();
        let results = if self.cursor.kind() == TokenKind::OpenParenthesis { self.parameters()? } else { Vec::new() };
        self.cursor.word("`_`")?;
        let parameters = if self.cursor.kind() == TokenKind::OpenParenthesis { self.parameters()? } else { Vec::new() };
        self.directives()?;
        self.cursor.expect(TokenKind::Semicolon, "`;`")?;
        Ok(Signature { results: sizes(results), parameters: sizes(parameters) })
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
                (Ok(positions), Op::Branch { target, .. }) => *target = positions[0],
                (Ok(positions), Op::BranchIndexed { targets, .. }) => *targets = positions,
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
            if let Some(Op::Call { callee: Callee::Indirect { candidates, .. }, .. }) =
                body.and_then(|body| body.get_mut(at)).map(|instruction| &mut instruction.op)
            {
                candidates.clone_from(found);
            }
        }
    }
}
