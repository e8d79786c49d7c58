//! Operands as they are written, before their meaning is known. Reading them moves the cursor
//! and resolves no name.

use super::constant::Constant;
use super::cursor::{Cursor, Word};
use super::lexer::TokenKind;
use crate::Span;
use crate::errors::{InstructionError, Parsed, fault};

/// An operand as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawOperand<'t> {
    pub raw: Raw<'t>,
    pub span: Span,
}

/// The forms of operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw<'t> {
    /// `name`, `name.x`, `!name`, `name+4`.
    Name(Name<'t>),
    /// `-name`, of video instructions.
    Minus(Name<'t>),
    /// `p|q`; `None` is `_`.
    Pair(Option<Name<'t>>, Option<Name<'t>>),
    /// `_`
    Sink,
    /// A constant.
    Constant(Constant),
    /// `[name+4]`, `[name]`, `[16]`.
    Memory(Option<Name<'t>>, i64),
    /// `name[4]`: the address of an element of an array.
    Indexed(Name<'t>, i64),
    /// `{a, b}`
    Vector(Vec<RawOperand<'t>>),
    /// `{a, b}|p`
    VectorAndPredicate(Vec<RawOperand<'t>>, Option<Name<'t>>),
    /// `[texture, {x, y}]`, `[texture, sampler, {x, y}]`
    Element(Name<'t>, Vec<RawOperand<'t>>),
}

/// A name with the signs around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Name<'t> {
    pub text: &'t str,
    /// `.x`, without the dot.
    pub part: Option<&'t str>,
    pub negated: bool,
    /// `+4`, `+-4`.
    pub offset: Option<i64>,
    pub span: Span,
}

impl Raw<'_> {
    /// A description for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Raw::Name(Name { negated: true, .. }) => "a negated predicate",
            Raw::Name(Name { offset: Some(_), .. }) => "an address",
            Raw::Name(_) => "a name",
            Raw::Minus(_) => "a negated operand",
            Raw::Pair(..) => "a pair `p|q`",
            Raw::Sink => "`_`",
            Raw::Constant(Constant::Integer(_)) => "an integer",
            Raw::Constant(_) => "a float",
            Raw::Memory(..) => "an address in brackets",
            Raw::Indexed(..) => "an element of an array",
            Raw::Vector(_) | Raw::VectorAndPredicate(..) => "a vector",
            Raw::Element(..) => "an element in brackets",
        }
    }
}

impl<'t> Cursor<'t> {
    /// An operand.
    pub fn operand(&mut self) -> Parsed<RawOperand<'t>> {
        let start = self.start();
        let raw = match self.kind() {
            TokenKind::OpenBrace => {
                self.advance();
                let parts = self.vector_parts()?;
                match self.accept(TokenKind::Or) {
                    true => Raw::VectorAndPredicate(parts, self.name_or_sink()?),
                    false => Raw::Vector(parts),
                }
            }
            TokenKind::OpenBracket => {
                self.advance();
                self.memory()?
            }
            _ => self.scalar()?,
        };
        Ok(RawOperand { raw, span: self.span_from(start) })
    }

    /// The parts of a vector, after its `{`.
    fn vector_parts(&mut self) -> Parsed<Vec<RawOperand<'t>>> {
        let mut parts = Vec::new();
        loop {
            let start = self.start();
            let raw = self.scalar()?;
            parts.push(RawOperand { raw, span: self.span_from(start) });
            if !self.accept(TokenKind::Comma) {
                self.expect(TokenKind::CloseBrace, "`,` or `}`")?;
                return Ok(parts);
            }
        }
    }

    /// An address, after its `[`.
    fn memory(&mut self) -> Parsed<Raw<'t>> {
        let raw = if self.at_constant() {
            Raw::Memory(None, self.integer()? as i64)
        } else {
            let name = self.name()?;
            if name.offset.is_none() && self.kind() == TokenKind::Comma {
                return self.element(name);
            }
            Raw::Memory(Some(Name { offset: None, ..name }), name.offset.unwrap_or(0))
        };
        self.expect(TokenKind::CloseBracket, "`]`")?;
        // `[a].unified` promises that the data is the same in all threads, which changes nothing
        // here.
        self.accept_dot("unified");
        Ok(raw)
    }

    /// The rest of a texture or surface operand, after the name in its brackets.
    fn element(&mut self, object: Name<'t>) -> Parsed<Raw<'t>> {
        let mut rest = Vec::new();
        while self.accept(TokenKind::Comma) {
            let start = self.start();
            let raw =
                if self.accept(TokenKind::OpenBrace) { Raw::Vector(self.vector_parts()?) } else { self.scalar()? };
            rest.push(RawOperand { raw, span: self.span_from(start) });
        }
        self.expect(TokenKind::CloseBracket, "`,` or `]`")?;
        Ok(Raw::Element(object, rest))
    }

    /// An operand that is neither a vector nor in brackets.
    fn scalar(&mut self) -> Parsed<Raw<'t>> {
        if self.kind() == TokenKind::Minus && self.kind_after() == TokenKind::Word {
            self.advance();
            return Ok(Raw::Minus(self.name()?));
        }
        if self.at_constant() {
            return Ok(Raw::Constant(self.constant()?));
        }
        if self.accept(TokenKind::Not) {
            let name = self.name()?;
            return Ok(Raw::Name(Name { negated: true, ..name }));
        }
        if self.kind() != TokenKind::Word {
            return self.unexpected("an operand");
        }
        let first = self.name_or_sink()?;
        if self.accept(TokenKind::Or) {
            let second = self.name_or_sink()?;
            return Ok(Raw::Pair(first, second));
        }
        match first {
            Some(array) if self.kind() == TokenKind::OpenBracket => self.element_of_array(array),
            first => Ok(first.map_or(Raw::Sink, Raw::Name)),
        }
    }

    /// The index after the name of an array.
    fn element_of_array(&mut self, array: Name<'t>) -> Parsed<Raw<'t>> {
        self.advance();
        if !self.at_constant() {
            self.word("an index")?;
            let text = format!("{}[REGISTER]", array.text);
            return fault(self.span_from(array.span.start), InstructionError::Unsupported(text));
        }
        let index = self.integer()? as i64;
        self.expect(TokenKind::CloseBracket, "`]`")?;
        Ok(Raw::Indexed(array, index))
    }

    fn name_or_sink(&mut self) -> Parsed<Option<Name<'t>>> {
        if self.kind() == TokenKind::Word && self.text() == "_" {
            self.advance();
            return Ok(None);
        }
        self.name().map(Some)
    }

    /// `name`, `name.x`, `name+4`.
    fn name(&mut self) -> Parsed<Name<'t>> {
        let Word { text, span } = self.word("a name")?;
        let mut part = None;
        if self.kind() == TokenKind::Dot && self.is_adjacent() {
            part = self.dot();
            self.advance();
        }
        let mut offset = None;
        if self.accept(TokenKind::Plus) {
            offset = Some(self.integer()? as i64);
        } else if self.kind() == TokenKind::Minus {
            // `ptxas` requires this, too.
            return self.unexpected("`+` before an offset, as in `+-4`");
        }
        Ok(Name { text, part, negated: false, offset, span: self.span_from(span.start) })
    }
}
