//! Declarations of variables and registers, in the module and in bodies.

use super::shape::size;
use super::state::Parser;
use crate::environment::Entity;
use crate::errors::{DeclarationError, Parsed, fault};
use crate::syntax::constant::natural;
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::{Handle, Initializer, Kind, Linkage, Space, Type, Variable};

/// The most registers of one declaration.
const REGISTERS: u64 = 1 << 24;

impl<'t> Parser<'t> {
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
                let count = natural(self.cursor.text_of(token.span)).or_else(|error| fault(span, error))?;
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
}
