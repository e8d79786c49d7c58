//! The parts of which declarations of variables, registers and parameters are made: linkage, state
//! space, type, name and array dimensions.

use super::state::Parser;
use crate::environment::Entity;
use crate::errors::{DeclarationError, Parsed, SyntaxError, fault};
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::{Linkage, Space, Type};

/// The size of the largest variable: beyond the memory of any device, yet small enough that sums of
/// sizes do not overflow.
pub(super) const LARGEST: u64 = 1 << 47;

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
