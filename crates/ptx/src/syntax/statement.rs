//! An instruction as it is written: guard, opcode, modifiers, operands. Reading it moves the cursor
//! and resolves no name.

use super::cursor::{Cursor, Word};
use super::lexer::TokenKind;
use super::operands::{Name, Raw, RawOperand};
use super::unsupported::refuse;
use crate::Span;
use crate::errors::{Parsed, SyntaxError, fault};

/// An instruction as it is written.
#[derive(Debug)]
pub(crate) struct Statement<'t> {
    pub guard: Option<Name<'t>>,
    pub opcode: Word<'t>,
    /// Without their dots.
    pub modifiers: Vec<Word<'t>>,
    pub operands: Vec<RawOperand<'t>>,
    /// The operands of a `call`, which has no others.
    pub call: Option<RawCall<'t>>,
    pub span: Span,
}

/// `call (results), callee, (arguments), table;`
#[derive(Debug)]
pub(crate) struct RawCall<'t> {
    pub results: Vec<RawOperand<'t>>,
    pub callee: Word<'t>,
    pub arguments: Vec<RawOperand<'t>>,
    /// The name of a `.calltargets` or a `.callprototype`.
    pub table: Option<Word<'t>>,
}

impl Statement<'_> {
    /// Whether the instruction has the modifier.
    pub fn has_modifier(&self, name: &str) -> bool {
        self.modifiers.iter().any(|modifier| modifier.text == name)
    }

    /// Whether the instruction has one of these opcodes (empty: any), all of these modifiers, and
    /// none of those with a `!`.
    pub fn is_one_of(&self, opcodes: &[&str], modifiers: &[&str]) -> bool {
        let fits = |modifier: &&str| match modifier.strip_prefix('!') {
            Some(other) => !self.has_modifier(other),
            None => self.has_modifier(modifier),
        };
        (opcodes.is_empty() || opcodes.contains(&self.opcode.text)) && modifiers.iter().all(fits)
    }
}

impl<'t> Cursor<'t> {
    /// An instruction, including its `;`.
    pub fn statement(&mut self) -> Parsed<Statement<'t>> {
        let start = self.start();
        let guard = if self.accept(TokenKind::At) {
            let negated = self.accept(TokenKind::Not);
            let Word { text, span } = self.word("a predicate register")?;
            let part = self.dot().filter(|_| self.kind() == TokenKind::Dot && self.is_adjacent());
            if part.is_some() {
                self.advance();
            }
            Some(Name { text, part, negated, offset: None, span })
        } else {
            None
        };
        let opcode = self.word("an instruction")?;
        let mut modifiers = Vec::with_capacity(4);
        while self.kind() == TokenKind::Dot {
            let Span { start, end } = self.advance().span;
            let span = Span { start, end };
            modifiers.push(Word { text: &self.text_of(span)[1..], span });
        }
        if let Some(error) = refuse(opcode.text, &modifiers) {
            return fault(self.span_from(opcode.span.start), error);
        }
        let mut operands = Vec::with_capacity(4);
        let mut call = None;
        if opcode.text == "call" {
            call = Some(self.call()?);
        } else if !matches!(self.kind(), TokenKind::Semicolon | TokenKind::CloseBrace | TokenKind::End) {
            operands.push(self.operand()?);
            while self.accept(TokenKind::Comma) {
                operands.push(self.operand()?);
            }
        }
        self.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(Statement { guard, opcode, modifiers, operands, call, span: self.span_from(start) })
    }

    /// What follows `call`.
    fn call(&mut self) -> Parsed<RawCall<'t>> {
        let mut results = Vec::new();
        if self.kind() == TokenKind::OpenParenthesis {
            results = self.list()?;
            self.expect(TokenKind::Comma, "`,`")?;
        }
        let callee = self.word("a function")?;
        let mut arguments = Vec::new();
        let mut table = None;
        if self.accept(TokenKind::Comma) {
            if self.kind() == TokenKind::OpenParenthesis {
                arguments = self.list()?;
                if self.accept(TokenKind::Comma) {
                    table = Some(self.word("a call prototype")?);
                }
            } else {
                table = Some(self.word("arguments in parentheses, or a call prototype")?);
            }
        }
        Ok(RawCall { results, callee, arguments, table })
    }

    /// `(a, b)`
    fn list(&mut self) -> Parsed<Vec<RawOperand<'t>>> {
        self.expect(TokenKind::OpenParenthesis, "`(`")?;
        let mut items = Vec::new();
        if self.accept(TokenKind::CloseParenthesis) {
            return Ok(items);
        }
        loop {
            let item = self.operand()?;
            if matches!(
                item.raw,
                Raw::Memory(..) | Raw::Element(..) | Raw::Vector(_) | Raw::VectorAndPredicate(..) | Raw::Pair(..)
            ) {
                let found = item.raw.describe().to_owned();
                let expected = "a name or a constant";
                return fault(item.span, SyntaxError::Unexpected { expected, found });
            }
            items.push(item);
            if !self.accept(TokenKind::Comma) {
                self.expect(TokenKind::CloseParenthesis, "`,` or `)`")?;
                return Ok(items);
            }
        }
    }
}
