//! Text to tokens. Never fails: text that is not a token becomes a token of its own kind, which the parser reports.

use crate::Span;
use logos::Logos;

/// What a token is.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0b\x0c]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(crate) enum TokenKind {
    /// A name, an opcode, a register: `add`, `%r1`, `$L__BB0_1`, `_`.
    #[regex(r"[a-zA-Z_$][a-zA-Z0-9_$]*|%[a-zA-Z0-9_$]+")]
    Word,
    /// A directive, a modifier, a part of a vector: `.global`, `.L2::128B`, `.x`.
    #[regex(r"\.[a-zA-Z0-9_$]+(::[a-zA-Z0-9_]+)*")]
    Dot,
    /// A number in any notation; the parser finds its value.
    #[regex(r"[0-9][0-9a-zA-Z_]*", priority = 3)]
    Integer,
    /// A number with a point or a signed exponent.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+", priority = 5)]
    Decimal,
    /// `"..."`.
    #[regex(r#""[^"\n]*""#)]
    String,
    /// `"` without its end.
    #[regex(r#""[^"\n]*"#)]
    UnterminatedString,
    /// `/*` without its end; the last token of the text.
    #[token("/*")]
    UnterminatedComment,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("(")]
    OpenParenthesis,
    #[token(")")]
    CloseParenthesis,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("@")]
    At,
    #[token("=")]
    Equal,
    #[token("!")]
    Not,
    #[token("|")]
    Or,
    #[token("&")]
    And,
    #[token("^")]
    Xor,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%", priority = 1)]
    Percent,
    #[token("?")]
    Question,
    /// A character that PTX does not use.
    Unknown,
    /// The end of the text.
    End,
}

/// A token: its kind and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The tokens of a text of less than 4 GiB, [`TokenKind::End`] last.
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    for (kind, range) in TokenKind::lexer(text).spanned() {
        let kind = kind.unwrap_or(TokenKind::Unknown);
        tokens.push(Token { kind, span: Span { start: range.start as u32, end: range.end as u32 } });
        if kind == TokenKind::UnterminatedComment {
            break;
        }
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: TokenKind::End, span: Span { start: end, end } });
    tokens
}
