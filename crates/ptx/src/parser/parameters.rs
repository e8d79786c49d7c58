//! A function's parameters and results, the directives between them and the body, and prototypes.

use super::shape::{Shape, size};
use super::state::Parser;
use crate::environment::{Entity, Signature};
use crate::errors::{DeclarationError, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::{Handle, Initializer, Instruction, Linkage, Pointee, Register, Space, Type, Variable};

/// A parameter as it is declared: a variable, and the register that it is loaded into if it is a
/// `.reg`.
pub(super) struct Parameter<'t> {
    pub variable: Variable,
    pub name: Word<'t>,
    pub register: Option<Shape>,
}

/// A parameter's variable, and its register, or the parts of it, if it is declared as one.
pub(super) type DeclaredParameter = (Handle<Variable>, Vec<Handle<Register>>);

/// The directives between a function's parameters and its body.
#[derive(Default)]
pub(super) struct Directives {
    pub no_return: bool,
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub max_registers: Option<u32>,
    pub min_blocks: Option<u32>,
    pub cluster: Option<[u32; 3]>,
    pub explicit_cluster: bool,
    pub max_cluster_blocks: Option<u32>,
    pub grid_in_clusters: bool,
}

const CLUSTER_DIRECTIVES: [&str; 4] = ["reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters"];

impl<'t> Parser<'t> {
    /// A list of parameters or results in parentheses. In a prototype their names have no meaning.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter<'t>>> {
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
    pub(super) fn declare_parameters(&mut self, parameters: Vec<Parameter<'t>>) -> Parsed<Vec<DeclaredParameter>> {
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
    pub(super) fn load_register_parameters(&mut self, parameters: &[DeclaredParameter]) {
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

    pub(super) fn directives(&mut self) -> Parsed<Directives> {
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
}
