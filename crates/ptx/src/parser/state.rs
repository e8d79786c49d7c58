//! The parser's state, and what reading any declaration needs: recording an error, checking a
//! directive's version, skipping a statement. The other files add what they read as methods.

use crate::environment::{Environment, Signature};
use crate::errors::{DeclarationError, Error, Errors, Fault, Parsed};
use crate::syntax::cursor::{Cursor, Word};
use crate::syntax::lexer::TokenKind;
use crate::syntax::versions;
use crate::{Arena, Function, Handle, LineTable, Location, Module, SourceFile, Span};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Which of the directives that every module starts with have been read.
#[derive(Default)]
pub(super) struct Header {
    pub version: bool,
    pub target: bool,
}

/// A call through a register whose candidates are all functions with a matching signature.
pub(super) struct IndirectCall {
    pub function: Handle<Function>,
    pub at: usize,
    pub signature: Signature,
    pub span: Span,
}

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub cursor: Cursor<'t>,
    pub environment: Environment<'t>,
    pub errors: Vec<Error>,
    /// The files by number, and where each is first named.
    pub files: HashMap<u32, (Handle<SourceFile>, Span)>,
    /// The last location of each file, line and column, for `inlined_at`.
    pub places: HashMap<(Handle<SourceFile>, u32, u32), Handle<Location>>,
    pub locations: HashMap<Location, Handle<Location>>,
    /// Calls through registers: the function, the position, the signature, the call's text.
    pub indirect_calls: Vec<IndirectCall>,
    pub aliases: Vec<(Word<'t>, Word<'t>)>,
    pub header: Header,
}

impl<'t> Parser<'t> {
    /// At the start of these parts of the text.
    pub fn new(name: &str, text: &'t Arc<str>, lines: &Arc<LineTable>, parts: &[Range<usize>]) -> Self {
        let module = Module {
            name: name.to_owned(),
            text: text.clone(),
            version: (0, 0),
            target: 0,
            target_suffix: None,
            debug: false,
            variables: Arena::default(),
            functions: Arena::default(),
            files: Arena::default(),
            locations: Arena::default(),
            lines: lines.clone(),
        };
        Self {
            text,
            cursor: Cursor::new(text, parts),
            environment: Environment::new(module),
            errors: Vec::new(),
            files: HashMap::new(),
            places: HashMap::new(),
            locations: HashMap::new(),
            indirect_calls: Vec::new(),
            aliases: Vec::new(),
            header: Header::default(),
        }
    }

    /// Reports the directive here if the module's `.version` does not have it. It is read all the
    /// same.
    pub fn check_version(&mut self) {
        let Some(name) = self.cursor.dot() else { return };
        let missing = versions::missing_directive(name, self.environment.module.version);
        self.report_missing(missing, || format!(".{name}"), self.cursor.peek().span);
    }

    pub fn report_missing(&mut self, version: Option<versions::Version>, what: impl FnOnce() -> String, span: Span) {
        if let Some(version) = version {
            let problem = DeclarationError::NeedsVersion { what: what(), version }.into();
            let start = self.text[..span.start as usize].rfind('\n').map_or(0, |end| end + 1);
            self.report(Fault { problem, span }, start as u32);
        }
    }

    /// Takes everything up to the next `;`.
    pub fn skip_statement(&mut self) -> Parsed<()> {
        loop {
            match self.cursor.kind() {
                TokenKind::Semicolon => {
                    self.cursor.advance();
                    return Ok(());
                }
                TokenKind::OpenBrace
                | TokenKind::CloseBrace
                | TokenKind::UnterminatedString
                | TokenKind::UnterminatedComment
                | TokenKind::End => return self.cursor.unexpected("`;`"),
                _ => {
                    self.cursor.advance();
                }
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.errors.len() >= Errors::LIMIT
    }

    /// Records an error in the statement that starts at `start`.
    pub fn report(&mut self, fault: Fault, start: u32) {
        if self.is_full() {
            return;
        }
        let Fault { problem, span } = fault;
        let (line, column) = self.environment.module.line_column(span.start);
        let statement = statement_text(&self.text[start.min(span.start) as usize..]);
        self.errors.push(Error { problem, span, line, column, statement });
    }
}

/// The text of a statement for a message: up to its `;` or `{`, on one line, at most 100
/// characters.
fn statement_text(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    // These directives end with their line.
    let is_header = [".version", ".target", ".address_size"].iter().any(|name| text.starts_with(name));
    let mut text = if is_header { text.lines().next().unwrap_or_default() } else { text };
    while let Some(character) = text.chars().next() {
        if text.starts_with("//") {
            text = text.find('\n').map_or("", |end| &text[end..]);
            continue;
        }
        text = &text[character.len_utf8()..];
        if character == '{' && !line.contains('=') && !line.contains(',') && length > 0 && line.starts_with('.') {
            break;
        }
        if character.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
                length += 1;
            }
            continue;
        }
        if character == '}' && line.is_empty() {
            return "}".into();
        }
        line.extend(character.escape_debug().filter(|_| character != '"').chain((character == '"').then_some('"')));
        length += 1;
        if character == ';' {
            break;
        }
        if length > 100 {
            line.push_str("...");
            break;
        }
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::statement_text;

    #[test]
    fn the_text_of_a_statement_is_one_short_line() {
        assert_eq!(statement_text("add.s32 \t%r1,\n  %r2, // comment; here\n %r3;\n next"), "add.s32 %r1, %r2, %r3;");
        assert_eq!(statement_text(".entry k(\n)\n{ ret; }"), ".entry k( )");
        assert_eq!(statement_text(".target sm_75 // old\n.address_size 64"), ".target sm_75");
        assert_eq!(statement_text("mov.b64 {%r1, %r2}, %rd1; x"), "mov.b64 {%r1, %r2}, %rd1;");
        assert!(statement_text(&"x".repeat(1000)).len() < 110);
    }
}
