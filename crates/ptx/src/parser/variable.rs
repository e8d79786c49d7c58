//! Declarations of variables and registers, in the module and in bodies. Moves the cursor, declares
//! names in the environment and adds variables to the module. `function.rs` reads parameters with
//! the same parts.

use super::Parser;
use super::cursor::Word;
use crate::environment::Entity;
use crate::errors::{DeclarationError, Parsed, SyntaxError, fault};
use crate::lexer::TokenKind;
use crate::{Handle, Initializer, Kind, Linkage, Space, Type, Variable};

/// The size of the largest variable: beyond the memory of any device, yet small enough that sums of
/// sizes do not overflow.
pub(super) const LARGEST: u64 = 1 << 47;

/// The most registers of one declaration.
const REGISTERS: u64 = 1 << 24;

/// The part of a declaration before the name: alignment, vector length and type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub ty: Type,
    pub vector: u32,
    pub align: Option<u32>,
}

/// A name with its array dimensions; `None` is `[]`.
pub(super) struct Declarator<'t> {
    pub name: Word<'t>,
    pub dimensions: Vec<Option<u64>>,
}

impl<'t> Parser<'t> {
    /// A declaration at module level: linkage, then a variable or a function.
    pub(super) fn declaration(&mut self) -> Parsed<()> {
        let linkage = self.linkage();
        match self.cursor.dot() {
            Some("entry" | "func") => self.function(linkage),
            Some(name) => match space(name) {
                Some(Space::Parameter | Space::Local) => {
                    let what = if name == "local" { ".local variable" } else { ".param variable" };
                    fault(self.cursor.peek().span, DeclarationError::NotHere { what })
                }
                Some(space) => self.variables(space, linkage),
                None => self.unknown_directive(),
            },
            None => self.cursor.unexpected("a state space, `.entry` or `.func`"),
        }
    }

    pub(super) fn linkage(&mut self) -> Linkage {
        let linkage = match self.cursor.dot() {
            Some("visible") => Linkage::Visible,
            Some("extern") => Linkage::Extern,
            Some("weak") => Linkage::Weak,
            Some("common") => Linkage::Common,
            _ => return Linkage::Internal,
        };
        self.cursor.advance();
        linkage
    }

    /// Fails because the directive here is unknown.
    pub(super) fn unknown_directive<T>(&self) -> Parsed<T> {
        let text = self.cursor.text().to_owned();
        let unsupported = matches!(text.as_str(), ".tex" | ".sreg");
        fault(
            self.cursor.peek().span,
            if unsupported { DeclarationError::Unsupported(text) } else { DeclarationError::UnknownDirective(text) },
        )
    }

    /// `.global .align 4 .f32 a[4] = {...}, b;`, from the state space on.
    pub(super) fn variables(&mut self, space: Space, linkage: Linkage) -> Parsed<()> {
        self.cursor.advance();
        self.attributes()?;
        let shape = self.shape()?;
        let misplaced = shape.ty.kind() == Kind::Opaque && (space != Space::Global || self.environment.depth() > 1);
        if shape.ty == Type::Pred || misplaced {
            let span = self.cursor.peek().span;
            return fault(span, DeclarationError::BadType { ty: shape.ty, space: space.name() });
        }
        loop {
            let declarator = self.declarator()?;
            let mut dimensions = declarator.dimensions.clone();
            let mut initializer = Initializer::default();
            if self.cursor.accept(TokenKind::Equal) {
                let never = matches!(shape.ty, Type::TextureReference | Type::SurfaceReference);
                if never || !matches!(space, Space::Global | Space::Constant) {
                    let name = declarator.name.text.to_owned();
                    return fault(declarator.name.span, DeclarationError::CannotInitialize(name));
                }
                initializer = match shape.ty {
                    Type::SamplerReference => self.sampler_state()?,
                    _ => self.initializer(&shape, &mut dimensions, declarator.name)?,
                };
            }
            let size = size(&shape, &dimensions, declarator.name)?;
            if size.is_none() && linkage != Linkage::Extern {
                return fault(declarator.name.span, DeclarationError::MissingSize(declarator.name.text.into()));
            }
            self.declare_variable(
                Variable {
                    name: declarator.name.text.to_owned(),
                    space,
                    ty: shape.ty,
                    vector: shape.vector,
                    align: shape.align.unwrap_or(shape.ty.bytes() * shape.vector),
                    points_to: None,
                    size,
                    initializer,
                    linkage,
                    span: declarator.name.span,
                },
                declarator.name,
            )?;
            if !self.cursor.accept(TokenKind::Comma) {
                break;
            }
        }
        self.cursor.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(())
    }

    /// Adds a variable, or merges it with its earlier `.extern`, `.weak` or `.common` declaration.
    fn declare_variable(&mut self, variable: Variable, name: Word<'t>) -> Parsed<Handle<Variable>> {
        let inside = self.environment.depth() > 1;
        match self.environment.declared_here(name.text) {
            None => {}
            Some(Entity::Variable(earlier)) if !inside => {
                let before = &self.environment.module.variables[earlier];
                let joins = |linkage| matches!(linkage, Linkage::Extern | Linkage::Weak | Linkage::Common);
                if !joins(before.linkage) && !joins(variable.linkage) {
                    return fault(name.span, DeclarationError::Duplicate(name.text.to_owned()));
                }
                let difference = if before.space != variable.space {
                    Some("another state space")
                } else if before.ty.bytes() != variable.ty.bytes() {
                    Some("another type")
                } else if before.size.is_some() && variable.size.is_some() && before.size != variable.size {
                    Some("another size")
                } else {
                    None
                };
                if let Some(difference) = difference {
                    let name_text = name.text.to_owned();
                    return fault(name.span, DeclarationError::Mismatch { name: name_text, difference });
                }
                if before.linkage == Linkage::Extern {
                    self.environment.module.variables[earlier] = variable;
                }
                return Ok(earlier);
            }
            Some(_) => return fault(name.span, DeclarationError::Duplicate(name.text.to_owned())),
        }
        let handle = self.environment.module.variables.append(variable);
        self.environment.declare(name.text, Entity::Variable(handle));
        if inside {
            self.environment.function.variables.push(handle);
        }
        Ok(handle)
    }

    /// `.reg .b32 %r<11>, %x;`, from `.reg` on.
    pub(super) fn registers(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let shape = self.shape()?;
        if shape.ty.kind() == Kind::Opaque {
            return fault(self.cursor.peek().span, DeclarationError::BadType { ty: shape.ty, space: "reg" });
        }
        loop {
            let name = self.cursor.word("a register's name")?;
            if self.cursor.accept(TokenKind::Less) {
                let span = self.cursor.peek().span;
                let token = self.cursor.expect(TokenKind::Integer, "a number of registers")?;
                let count =
                    super::constant::natural(self.cursor.text_of(token.span)).or_else(|error| fault(span, error))?;
                if count > REGISTERS {
                    return fault(span, DeclarationError::TooManyRegisters(count));
                }
                self.cursor.expect(TokenKind::Greater, "`>`")?;
                if !self.environment.declare_range(name.text, count as u32, shape.ty, shape.vector as u8) {
                    return fault(name.span, DeclarationError::Duplicate(format!("{}<{count}>", name.text)));
                }
            } else {
                self.register(name, &shape)?;
            }
            if !self.cursor.accept(TokenKind::Comma) {
                break;
            }
        }
        self.cursor.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(())
    }

    /// Adds one register of that name.
    pub(super) fn register(&mut self, name: Word<'t>, shape: &Shape) -> Parsed<Entity> {
        if self.environment.declared_here(name.text).is_some() {
            return fault(name.span, DeclarationError::Duplicate(name.text.to_owned()));
        }
        if name.text == "_" {
            let (expected, found) = ("a register's name", "`_`".to_owned());
            return fault(name.span, SyntaxError::Unexpected { expected, found });
        }
        let entity = self.environment.new_register(name.text, shape.ty, shape.vector as u8);
        self.environment.declare(name.text, entity);
        Ok(entity)
    }

    /// `.attribute(...)`, which is skipped.
    pub(super) fn attributes(&mut self) -> Parsed<()> {
        while self.cursor.accept_dot("attribute") {
            self.cursor.expect(TokenKind::OpenParenthesis, "`(`")?;
            let mut depth = 1usize;
            while depth > 0 {
                match self.cursor.kind() {
                    TokenKind::OpenParenthesis => depth += 1,
                    TokenKind::CloseParenthesis => depth -= 1,
                    TokenKind::End | TokenKind::Semicolon => return self.cursor.unexpected("`)`"),
                    _ => {}
                }
                self.cursor.advance();
            }
        }
        Ok(())
    }

    /// `.align 8 .v2 .f32`, the parts in any order.
    pub(super) fn shape(&mut self) -> Parsed<Shape> {
        let mut align = None;
        let mut vector = 1;
        let mut ty = None;
        loop {
            match self.cursor.dot() {
                Some("align") if align.is_none() => {
                    self.cursor.advance();
                    align = Some(self.alignment()?);
                }
                Some("v2") => {
                    self.cursor.advance();
                    vector = 2;
                }
                Some("v4") => {
                    self.cursor.advance();
                    vector = 4;
                }
                Some(_) if ty.is_none() => {
                    self.check_version();
                    match self.cursor.accept_type() {
                        Some(found) => ty = Some(found),
                        None => return self.cursor.unexpected("a type such as `.b32`"),
                    }
                }
                _ => break,
            }
        }
        match ty {
            Some(ty) => Ok(Shape { ty, vector, align }),
            None => self.cursor.unexpected("a type such as `.b32`"),
        }
    }

    /// The number after `.align`.
    pub(super) fn alignment(&mut self) -> Parsed<u32> {
        let span = self.cursor.peek().span;
        let value = self.cursor.integer()?;
        if value.is_power_of_two() && value <= 4096 {
            Ok(value as u32)
        } else {
            fault(span, DeclarationError::BadAlignment(value))
        }
    }

    /// `name[4][2]`
    pub(super) fn declarator(&mut self) -> Parsed<Declarator<'t>> {
        let name = self.cursor.word("a name")?;
        let mut dimensions = Vec::new();
        while self.cursor.accept(TokenKind::OpenBracket) {
            let size = if self.cursor.kind() == TokenKind::CloseBracket && dimensions.is_empty() {
                None
            } else {
                Some(self.cursor.integer()?)
            };
            self.cursor.expect(TokenKind::CloseBracket, "`]`")?;
            dimensions.push(size);
        }
        Ok(Declarator { name, dimensions })
    }
}

/// The size in bytes of the declared variable; `None` if its first dimension is `[]`.
pub(super) fn size(shape: &Shape, dimensions: &[Option<u64>], name: Word<'_>) -> Parsed<Option<u64>> {
    let mut size = u64::from(shape.ty.bytes()) * u64::from(shape.vector);
    for dimension in dimensions {
        let Some(length) = dimension else { return Ok(None) };
        size = match size.checked_mul(*length) {
            Some(size) if size <= LARGEST => size,
            _ => return fault(name.span, DeclarationError::TooLarge(name.text.to_owned())),
        };
    }
    Ok(Some(size))
}

/// The state space of a declaration.
pub(super) fn space(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Constant,
        "param" => Space::Parameter,
        _ => return None,
    })
}
