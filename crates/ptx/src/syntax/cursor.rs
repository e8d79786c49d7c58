//! A position in the tokens, and the small steps that every part of the parser takes: peek, accept,
//! expect, recover. Owns the tokens; knows nothing of the module.

use std::ops::Range;

use super::lexer::{Token, TokenKind, lex};
use crate::errors::{Parsed, SyntaxError, fault};
use crate::{FromName as _, Span, Type};

/// A piece of text and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    pub text: &'t str,
    pub span: Span,
}

/// The tokens of a text and a position in them.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// At the first token of these parts of the text.
    pub fn new(text: &'t str, parts: &[Range<usize>]) -> Self {
        Self { text, tokens: lex(text, parts), at: 0 }
    }

    /// The token here.
    pub fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The kind of the token here.
    pub fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token after the one here.
    pub fn kind_after(&self) -> TokenKind {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    /// The text of the token here.
    pub fn text(&self) -> &'t str {
        self.text_of(self.peek().span)
    }

    pub fn text_of(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Where the token here starts.
    pub fn start(&self) -> u32 {
        self.peek().span.start
    }

    /// From `start` to the end of the last token that was taken.
    pub fn span_from(&self, start: u32) -> Span {
        let end = if self.at == 0 { 0 } else { self.tokens[self.at - 1].span.end };
        Span { start, end: end.max(start) }
    }

    /// Whether the token here follows the last one without a space.
    pub fn is_adjacent(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1].span.end == self.start()
    }

    /// Takes the token here. At the end of the text, stays there.
    pub fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the token here if it is of that kind.
    pub fn accept(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Takes a token of that kind, or fails with what was `expected`.
    pub fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Parsed<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { self.unexpected(expected) }
    }

    /// Takes the directive or modifier `.name` if it is here.
    pub fn accept_dot(&mut self, name: &str) -> bool {
        let found = self.kind() == TokenKind::Dot && &self.text()[1..] == name;
        if found {
            self.advance();
        }
        found
    }

    /// The directive or modifier here, without its dot; not taken.
    pub fn dot(&self) -> Option<&'t str> {
        (self.kind() == TokenKind::Dot).then(|| &self.text()[1..])
    }

    /// Takes the type here, if there is one.
    pub fn accept_type(&mut self) -> Option<Type> {
        let ty = Type::from_name(self.dot()?).filter(|ty| !ty.is_instruction_type())?;
        self.advance();
        Some(ty)
    }

    /// Takes a word.
    pub fn word(&mut self, expected: &'static str) -> Parsed<Word<'t>> {
        let token = self.expect(TokenKind::Word, expected)?;
        Ok(Word { text: self.text_of(token.span), span: token.span })
    }

    /// Fails at the token here.
    pub fn unexpected<T>(&self, expected: &'static str) -> Parsed<T> {
        let token = self.peek();
        match token.kind {
            TokenKind::UnterminatedComment => fault(token.span, SyntaxError::UnterminatedComment),
            TokenKind::UnterminatedString => fault(token.span, SyntaxError::UnterminatedString),
            TokenKind::End => {
                fault(token.span, SyntaxError::Unexpected { expected, found: "the end of the text".into() })
            }
            _ => {
                let text: String = self.text().chars().take(40).flat_map(char::escape_debug).collect();
                fault(token.span, SyntaxError::Unexpected { expected, found: format!("`{text}`") })
            }
        }
    }

    /// The index of the token here, for [`Cursor::recover`].
    pub fn index(&self) -> usize {
        self.at
    }

    /// After an error in the statement whose first token is at `index`: skips to the token after
    /// its `;`, to a brace that does not belong to it, or to the end of the text.
    pub fn recover(&mut self, index: usize) {
        self.at = index;
        loop {
            match self.kind() {
                TokenKind::Semicolon => {
                    self.advance();
                    return;
                }
                TokenKind::OpenBrace if self.at_vector() => while self.advance().kind != TokenKind::CloseBrace {},
                TokenKind::OpenBrace | TokenKind::CloseBrace if self.at > index => return,
                TokenKind::End => return,
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Whether the brace here closes before the next statement ends: a vector, not a scope.
    fn at_vector(&self) -> bool {
        let inside = self.tokens[self.at + 1..].iter().map(|token| token.kind);
        let mut ends = inside.filter(|kind| {
            matches!(kind, TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End)
        });
        ends.next() == Some(TokenKind::CloseBrace)
    }

    /// Takes everything up to and including the brace that closes the one here.
    pub fn skip_braces(&mut self) -> Parsed<()> {
        self.expect(TokenKind::OpenBrace, "`{`")?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.kind() {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::UnterminatedString | TokenKind::UnterminatedComment | TokenKind::End => {
                    return self.unexpected("`}`");
                }
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }
}
