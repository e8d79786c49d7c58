//! A text divided into its kernels and the rest, to parse some kernels of a long text without the
//! others.
//!
//! Dividing looks at tokens, but not at what is between the braces of a body, so it is many times
//! as fast as parsing. It is right for every text that [`parse`](crate::parse) accepts; the errors
//! of others come from the pieces that are parsed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::parser::parse_parts;
use crate::syntax::lexer::{Token, TokenKind, brace, token};
use crate::{Errors, LineTable, Module};

/// A PTX text, divided into its kernels and what they share: variables, functions, files.
#[derive(Clone, Debug)]
pub struct Pieces {
    name: String,
    text: Arc<str>,
    lines: Arc<LineTable>,
    shared: Vec<Range<usize>>,
    /// Each kernel's pieces: a declaration may precede the kernel.
    kernels: HashMap<String, Vec<Range<usize>>>,
}

impl Pieces {
    /// Divides a text. `name` is what messages call it.
    pub fn of(name: &str, text: &str) -> Self {
        let text: Arc<str> = text.into();
        let mut pieces = Self {
            name: name.to_owned(),
            lines: Arc::new(LineTable::new(text.clone())),
            text,
            shared: Vec::new(),
            kernels: HashMap::new(),
        };
        // The parser refuses longer ones.
        if u32::try_from(pieces.text.len()).is_ok() {
            pieces.divide();
        }
        pieces
    }

    /// The module with these kernels only. Everything else is in it as in the whole module;
    /// functions precede kernels, so their handles are the same whichever kernels there are. A name
    /// that no kernel has adds nothing.
    ///
    /// # Errors
    ///
    /// As [`parse`](crate::parse), of what is parsed: not those in other kernels. A function that
    /// takes the address of a kernel that is left out is an error.
    pub fn parse(&self, kernels: &[&str]) -> Result<Module, Errors> {
        parse_parts(&self.name, &self.text, &self.lines, &self.parts(kernels))
    }

    /// What is shared, and these kernels.
    fn parts(&self, kernels: &[&str]) -> Vec<Range<usize>> {
        let wanted = kernels.iter().filter_map(|&kernel| self.kernels.get(kernel)).flatten();
        self.shared.iter().chain(wanted).cloned().collect()
    }

    /// The text of the module with these kernels only, as [`Pieces::parse`] has it.
    pub fn text(&self, kernels: &[&str]) -> String {
        self.parts(kernels).into_iter().map(|part| &self.text[part]).collect()
    }

    /// The kernels in whose text one of these words stands, in the order of their names.
    pub fn kernels_with(&self, words: &[&str]) -> Vec<String> {
        let has_one = |part: &Range<usize>| words.iter().any(|&word| self.text[part.clone()].contains(word));
        let found = self.kernels.iter().filter(|(_, parts)| parts.iter().any(has_one));
        let mut names: Vec<String> = found.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Whether there is a kernel of this name.
    pub fn has(&self, kernel: &str) -> bool {
        self.kernels.contains_key(kernel)
    }

    fn divide(&mut self) {
        let text = self.text.clone();
        let mut scan = Scan { text: text.as_bytes(), at: 0 };
        let mut shared_from = 0;
        // Where the declaration starts, if only linkage has been read of it.
        let mut start = None;
        while let Some(found) = scan.next() {
            match (found.kind, scan.of(found)) {
                (TokenKind::Dot, b".visible" | b".extern" | b".weak" | b".common") => {
                    start = start.or(Some(found.span.start as usize));
                    continue;
                }
                (TokenKind::Dot, b".entry") => {
                    let start = start.unwrap_or(found.span.start as usize);
                    let name = scan.kernel();
                    self.shared.push(shared_from..start);
                    shared_from = scan.at;
                    self.kernels.entry(name).or_default().push(start..scan.at);
                }
                (TokenKind::OpenBrace, _) => scan.close_brace(),
                _ => {}
            }
            start = None;
        }
        self.shared.push(shared_from..text.len());
    }
}

/// A position in a text.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    fn next(&mut self) -> Option<Token> {
        let found = token(self.text, self.at)?;
        self.at = found.span.end as usize;
        // Nothing follows a comment without an end.
        if found.kind == TokenKind::UnterminatedComment {
            self.at = self.text.len();
        }
        Some(found)
    }

    fn of(&self, token: Token) -> &'t [u8] {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// Goes on from `.entry` to the end of the kernel: of its body, or of its declaration. Returns
    /// its name.
    fn kernel(&mut self) -> String {
        let mut name = None;
        let mut in_pragma = false;
        let mut depth = 0u32;
        while let Some(found) = self.next() {
            match found.kind {
                // Attributes in parentheses may precede the name.
                TokenKind::OpenParenthesis => depth += 1,
                TokenKind::CloseParenthesis => depth = depth.saturating_sub(1),
                TokenKind::Word if name.is_none() && depth == 0 => {
                    name = Some(String::from_utf8_lossy(self.of(found)).into_owned());
                }
                TokenKind::Dot => in_pragma = self.of(found) == b".pragma",
                // `.pragma "...";` may be between the parameters and the body.
                TokenKind::Semicolon if in_pragma => in_pragma = false,
                TokenKind::Semicolon => break,
                TokenKind::OpenBrace => {
                    self.close_brace();
                    break;
                }
                _ => {}
            }
        }
        name.unwrap_or_default()
    }

    /// Goes on from an open brace to the end of what it encloses.
    fn close_brace(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            let Some((kind, at)) = brace(self.text, self.at) else {
                self.at = self.text.len();
                return;
            };
            depth = if kind == TokenKind::OpenBrace { depth + 1 } else { depth - 1 };
            self.at = at + 1;
        }
    }
}
