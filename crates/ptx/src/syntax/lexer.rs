//! Text to tokens. Never fails: text that is not a token becomes a token of a special kind, which
//! the parser reports.
//!
//! The longest match wins, as in the grammar of the PTX manual. Each function below takes the text
//! from its own token on and returns the length of the token in bytes, so that adding a kind of
//! token means adding a function and a case in [`next`].

use std::ops::Range;

use crate::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, an opcode, a register: `add`, `%r1`, `$L__BB0_1`, `_`.
    Word,
    /// A directive, a modifier, a part of a vector: `.global`, `.L2::128B`, `.x`.
    Dot,
    /// A number in any notation; the parser finds its value.
    Integer,
    /// A number with a point or an exponent.
    Decimal,
    /// `"..."`.
    String,
    /// `"` without its end on the same line.
    UnterminatedString,
    /// `/*` without its end; the last token of the text.
    UnterminatedComment,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `@`
    At,
    /// `=`
    Equal,
    /// `!`
    Not,
    /// `|`
    Or,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `~`
    Tilde,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%` that starts no register.
    Percent,
    /// `?`
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

/// The tokens of these parts of a text of less than 4 GiB, [`TokenKind::End`] last. A part starts
/// and ends between tokens.
pub(crate) fn lex(text: &str, parts: &[Range<usize>]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(parts.iter().map(Range::len).sum::<usize>() / 4 + 1);
    for part in parts {
        let mut at = part.start;
        while let Some(token) = token(&text.as_bytes()[..part.end], at) {
            tokens.push(token);
            if token.kind == TokenKind::UnterminatedComment {
                break;
            }
            at = token.span.end as usize;
        }
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: TokenKind::End, span: Span { start: end, end } });
    tokens
}

/// The first token that starts at `at` or later, unless there are only blanks.
pub(crate) fn token(text: &[u8], at: usize) -> Option<Token> {
    let start = at + blank(&text[at..]);
    if start == text.len() {
        return None;
    }
    let (kind, length) = next(&text[start..]);
    Some(Token { kind, span: Span { start: start as u32, end: (start + length) as u32 } })
}

/// The first brace at `at` or later that is neither in a comment nor in a string, and its position;
/// `at` is in neither. This is many times as fast as reading the tokens in between: most lines have
/// no brace, and such a line matters only if a comment begins on it and continues on the next.
pub(crate) fn brace(text: &[u8], at: usize) -> Option<(TokenKind, usize)> {
    let mut at = at;
    loop {
        let candidate = at + plain(text.get(at..)?);
        // Neither a string nor a comment without `*` reaches over the end of its line.
        at = text[at..candidate].iter().rposition(|&byte| byte == b'\n').map_or(at, |end| at + end);
        while at <= candidate {
            at += match text.get(at)? {
                b'{' => return Some((TokenKind::OpenBrace, at)),
                b'}' => return Some((TokenKind::CloseBrace, at)),
                b'/' => blank(&text[at..]).max(1),
                b'"' => next(&text[at..]).1,
                _ => 1,
            };
        }
    }
}

/// How many bytes there are before the first brace or star. Eight are tested at once, and most have
/// none.
fn plain(text: &[u8]) -> usize {
    const LOOKED_FOR: [u8; 3] = [b'{', b'}', b'*'];
    let all = |byte| u64::from_ne_bytes([byte; 8]);
    // A byte that is zero borrows from its highest bit, which was not set.
    let with_zeros = |word: u64| word.wrapping_sub(all(1)) & !word & all(0x80);
    let has_any = |&eight: &[u8; 8]| {
        let word = u64::from_ne_bytes(eight);
        LOOKED_FOR.iter().fold(0, |any, &byte| any | with_zeros(word ^ all(byte))) != 0
    };
    let first = text.as_chunks().0.iter().take_while(|&eight| !has_any(eight)).count() * 8;
    first + text[first..].iter().take_while(|byte| !LOOKED_FOR.contains(byte)).count()
}

/// The token at the start of a text that is not empty and does not start with a blank.
fn next(text: &[u8]) -> (TokenKind, usize) {
    let single = |kind| (kind, 1);
    match text[0] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => (TokenKind::Word, run(text, is_word)),
        b'0'..=b'9' => number(text),
        b'.' => dot(text),
        b'%' => match run(&text[1..], is_word) {
            0 => single(TokenKind::Percent),
            length => (TokenKind::Word, 1 + length),
        },
        b'"' => {
            let length = 1 + run(&text[1..], |byte| byte != b'"' && byte != b'\n');
            match text.get(length) {
                Some(b'"') => (TokenKind::String, length + 1),
                _ => (TokenKind::UnterminatedString, length),
            }
        }
        b'/' if text.get(1) == Some(&b'*') => (TokenKind::UnterminatedComment, 2),
        b'/' => single(TokenKind::Slash),
        b',' => single(TokenKind::Comma),
        b';' => single(TokenKind::Semicolon),
        b':' => single(TokenKind::Colon),
        b'{' => single(TokenKind::OpenBrace),
        b'}' => single(TokenKind::CloseBrace),
        b'(' => single(TokenKind::OpenParenthesis),
        b')' => single(TokenKind::CloseParenthesis),
        b'[' => single(TokenKind::OpenBracket),
        b']' => single(TokenKind::CloseBracket),
        b'<' => single(TokenKind::Less),
        b'>' => single(TokenKind::Greater),
        b'@' => single(TokenKind::At),
        b'=' => single(TokenKind::Equal),
        b'!' => single(TokenKind::Not),
        b'|' => single(TokenKind::Or),
        b'&' => single(TokenKind::And),
        b'^' => single(TokenKind::Xor),
        b'~' => single(TokenKind::Tilde),
        b'+' => single(TokenKind::Plus),
        b'-' => single(TokenKind::Minus),
        b'*' => single(TokenKind::Star),
        b'?' => single(TokenKind::Question),
        // All bytes of one character, or a span would cut it.
        _ => (TokenKind::Unknown, 1 + run(&text[1..], |byte| byte & 0xc0 == 0x80)),
    }
}

/// White space and comments. A comment without an end is a token and no blank.
fn blank(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += match rest {
            [b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c', ..] => 1,
            [b'/', b'/', ..] => run(rest, |byte| byte != b'\n'),
            [b'/', b'*', inside @ ..] => match inside.windows(2).position(|two| two == b"*/") {
                Some(inside) => inside + 4,
                None => return length,
            },
            _ => return length,
        };
    }
}

/// A token that starts with a digit: `12`, `0xffU`, `0f3f800000`, `1.5e-3`, `1e9`.
fn number(text: &[u8]) -> (TokenKind, usize) {
    let digits = run(text, |byte| byte.is_ascii_digit());
    if text.get(digits) == Some(&b'.') {
        let length = digits + 1 + run(&text[digits + 1..], |byte| byte.is_ascii_digit());
        return (TokenKind::Decimal, length + exponent(&text[length..]));
    }
    let (decimal, integer) = (digits + exponent(&text[digits..]), run(text, is_alphanumeric));
    if decimal > digits && decimal >= integer { (TokenKind::Decimal, decimal) } else { (TokenKind::Integer, integer) }
}

/// A token that starts with a point: `.f32`, `.L2::128B`, `.5`.
fn dot(text: &[u8]) -> (TokenKind, usize) {
    let digits = run(&text[1..], |byte| byte.is_ascii_digit());
    let decimal = if digits == 0 { 0 } else { 1 + digits + exponent(&text[1 + digits..]) };
    let mut length = 1 + run(&text[1..], is_word);
    if length == 1 {
        return (TokenKind::Unknown, 1);
    }
    while let [b':', b':', part @ ..] = &text[length..] {
        match run(part, is_alphanumeric) {
            0 => break,
            part => length += 2 + part,
        }
    }
    if decimal >= length { (TokenKind::Decimal, decimal) } else { (TokenKind::Dot, length) }
}

/// `e9`, `E-3`; 0 if the text starts with none.
fn exponent(text: &[u8]) -> usize {
    let sign = match text {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    match run(&text[sign..], |byte| byte.is_ascii_digit()) {
        0 => 0,
        digits => sign + digits,
    }
}

/// How many bytes from the start on belong.
fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// What names go on with.
fn is_word(byte: u8) -> bool {
    is_alphanumeric(byte) || byte == b'$'
}

/// What integers go on with.
fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, TokenKind::*, brace, lex};

    /// The tokens of a text without its end, as (kind, text).
    fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
        let tokens = lex(text, std::slice::from_ref(&(0..text.len())));
        let (end, tokens) = tokens.split_last().unwrap();
        assert_eq!((end.kind, end.span.start as usize), (End, text.len()));
        tokens.iter().map(|token| (token.kind, &text[token.span.start as usize..token.span.end as usize])).collect()
    }

    #[test]
    fn the_longest_token_wins() {
        for (kind, text) in [
            (Word, "%r1"),
            (Word, "$L__BB0_1"),
            (Dot, ".L2::128B"),
            (Dot, ".2d"),
            (Integer, "0f3f800000"),
            (Integer, "1e5x"),
            (Decimal, "1e5"),
            (Decimal, "1e-5"),
            (Decimal, "1."),
            (Decimal, "1.5E+3"),
            (Decimal, ".5"),
            (Decimal, ".1e5"),
            (String, "\"a b\""),
            (UnterminatedString, "\"a b"),
            (Unknown, "é"),
            (Unknown, "."),
            (Percent, "%"),
        ] {
            assert_eq!(tokens(text), [(kind, text)]);
        }
    }

    #[test]
    fn tokens_end_where_they_cannot_go_on() {
        assert_eq!(tokens(".L2::+"), [(Dot, ".L2"), (Colon, ":"), (Colon, ":"), (Plus, "+")]);
        assert_eq!(tokens("1.5e+x"), [(Decimal, "1.5"), (Word, "e"), (Plus, "+"), (Word, "x")]);
        assert_eq!(tokens("0x1.5"), [(Integer, "0x1"), (Decimal, ".5")]);
        assert_eq!(tokens("%r1.x"), [(Word, "%r1"), (Dot, ".x")]);
        assert_eq!(tokens("\"a\n\""), [(UnterminatedString, "\"a"), (UnterminatedString, "\"")]);
    }

    #[test]
    fn comments_are_blanks_unless_they_have_no_end() {
        assert_eq!(tokens("a//b\nc/**/d/***/e/*/*/f"), ["a", "c", "d", "e", "f"].map(|name| (Word, name)));
        assert_eq!(tokens("a / /* b"), [(Word, "a"), (Slash, "/"), (UnterminatedComment, "/*")]);
        assert_eq!(tokens(" //"), []);
    }

    #[test]
    fn braces_in_comments_and_strings_are_none() {
        // Longer than what is looked at together.
        const LONG: &str = "a line of text that is 35 bytes long; // }, and }\n, and more of the same until the {";
        const COMMENTS: &str = "x; // {\n/* { \" */ y /* {\n} */ /* // */ z \"/*\" // \"\n\"*/ } {\" {";
        for text in
            ["a { b", "/*{*/ {", "// {\n{", "\"{\" {", "\"}\n{", "a/b {", "/**/{", "a * b {", "// *\n{", LONG, COMMENTS]
        {
            assert_eq!(brace(text.as_bytes(), 0), text.rfind('{').map(|at| (OpenBrace, at)), "{text}");
        }
        assert_eq!(brace(b"{ }", 1), Some((CloseBrace, 2)));
        assert_eq!(brace("é /".as_bytes(), 0), None);
    }
}
