//! The parser: tokens to a module. [`parse`] reads a whole text, [`parse_parts`] the parts that
//! `pieces` chooses.
//!
//! It reads in one pass. Declarations are read here; an instruction is read in two steps.
//! [`statement`] splits it into opcode, modifiers and operands without knowing any opcode, and
//! [`crate::typing`] gives these a meaning. Labels may be used before they are declared, so
//! branches get their positions at the end of the function. An error in a statement is recorded,
//! and reading continues after that statement.

mod alias;
mod body;
mod constant;
pub(crate) mod cursor;
mod debug;
mod expression;
mod function;
mod indirect;
mod initializer;
pub(crate) mod operands;
pub(crate) mod statement;
mod variable;

pub(crate) use constant::Constant;

use crate::environment::Environment;
use crate::errors::{DeclarationError, Error, Errors, Fault, Parsed, Problem, SyntaxError, fault};
use crate::lexer::TokenKind;
use crate::typing::versions;
use crate::{Arena, Handle, LineTable, Location, Module, SourceFile, Span};
use cursor::{Cursor, Word};
use std::collections::HashMap;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Parses a PTX text. `name` is what messages call it, usually a path.
///
/// The text must be complete: `.version` and `.target` first, everything declared before its use.
/// On failure, all errors are returned, up to [`Errors::LIMIT`].
pub fn parse(name: &str, text: &str) -> Result<Module, Errors> {
    parse_parts(name, &text.into(), &Arc::new(LineTable::new(text)), slice::from_ref(&(0..text.len())))
}

/// Parses these parts of a text, in this order. The text has these lines.
pub(crate) fn parse_parts(
    name: &str,
    text: &Arc<str>,
    lines: &Arc<LineTable>,
    parts: &[Range<usize>],
) -> Result<Module, Errors> {
    if u32::try_from(text.len()).is_err() {
        let problem = Problem::Syntax(SyntaxError::TextTooLong);
        let error = Error { problem, span: Span::default(), line: 1, column: 1, statement: String::new() };
        return Err(Errors::new(name, "", vec![error], true));
    }
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
    let mut parser = Parser {
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
    };
    parser.module();
    if parser.errors.is_empty() {
        return Ok(parser.environment.module);
    }
    let complete = parser.errors.len() < Errors::LIMIT;
    Err(Errors::new(name, text, parser.errors, complete))
}

/// Which of the directives that every module starts with have been read.
#[derive(Default)]
struct Header {
    version: bool,
    target: bool,
}

pub(crate) struct Parser<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
    environment: Environment<'t>,
    errors: Vec<Error>,
    /// The files by number, and where each is first named.
    files: HashMap<u32, (Handle<SourceFile>, Span)>,
    /// The last location of each file, line and column, for `inlined_at`.
    places: HashMap<(Handle<SourceFile>, u32, u32), Handle<Location>>,
    locations: HashMap<Location, Handle<Location>>,
    /// Calls through registers: the function, the position, the signature, the call's text.
    indirect_calls: Vec<indirect::IndirectCall>,
    aliases: Vec<(Word<'t>, Word<'t>)>,
    header: Header,
}

impl<'t> Parser<'t> {
    /// The whole text.
    fn module(&mut self) {
        while self.cursor.kind() != TokenKind::End && !self.is_full() {
            let (start, index) = (self.cursor.start(), self.cursor.index());
            if let Err(fault) = self.module_item() {
                self.report(*fault, start);
                self.environment.end_function();
                self.recover_in_module(index);
            }
        }
        if self.is_full() {
            return;
        }
        let aliases = self.finish_aliases();
        self.finish_indirect_calls();
        for (from, to) in aliases {
            let body = self.environment.module.functions[from].body.clone();
            self.environment.module.functions[to].body = body;
        }
        self.finish_files();
        let top = Span::default();
        for (present, what) in [(self.header.version, ".version"), (self.header.target, ".target")] {
            if !present {
                self.report(Fault { problem: DeclarationError::MissingHeader(what).into(), span: top }, 0);
            }
        }
    }

    fn module_item(&mut self) -> Parsed<()> {
        let token = self.cursor.peek();
        match token.kind {
            TokenKind::Semicolon => {
                self.cursor.advance();
                return Ok(());
            }
            TokenKind::Dot => {}
            _ => return self.cursor.unexpected("a directive such as `.visible` or `.entry`"),
        }
        let name = &self.cursor.text()[1..];
        self.check_version();
        match name {
            "version" => self.version(),
            "target" => self.target(),
            "address_size" => self.address_size(),
            "file" => self.file(),
            "loc" => self.loc(),
            "section" => self.section(),
            "pragma" => self.skip_statement(),
            "alias" => self.alias(),
            _ => self.declaration(),
        }
    }

    fn version(&mut self) -> Parsed<()> {
        self.cursor.advance();
        self.header.version = true;
        let token = self.cursor.expect(TokenKind::Decimal, "a version such as `7.8`")?;
        let text = self.cursor.text_of(token.span);
        let version = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        match version {
            Some(version) if versions::is_known(version) => self.environment.module.version = version,
            _ => {
                let (text, newest) = (text.to_owned(), versions::NEWEST);
                return fault(token.span, DeclarationError::UnknownVersion { text, newest });
            }
        }
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        self.cursor.advance();
        self.header.target = true;
        loop {
            let word = self.cursor.word("a target such as `sm_75`")?;
            if let Some(number) = word.text.strip_prefix("sm_") {
                let general = number.strip_suffix(['a', 'f']).unwrap_or(number);
                match general.parse() {
                    Ok(found @ 10..1000) => {
                        let module = &mut self.environment.module;
                        module.target = found;
                        let suffix = &number[general.len()..];
                        module.target_suffix = suffix.chars().next();
                        let missing = versions::missing_target(found, suffix, module.version);
                        self.report_missing(missing, || format!(".target {}", word.text), word.span);
                    }
                    _ => return fault(word.span, DeclarationError::UnknownTarget(word.text.to_owned())),
                }
            } else if word.text == "debug" {
                self.environment.module.debug = true;
            } else if !matches!(word.text, "texmode_unified" | "texmode_independent" | "map_f64_to_f32") {
                return fault(word.span, DeclarationError::UnknownTarget(word.text.to_owned()));
            }
            if !self.cursor.accept(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    /// Reports the directive here if the module's `.version` does not have it. It is read all the
    /// same.
    fn check_version(&mut self) {
        let Some(name) = self.cursor.dot() else { return };
        let missing = versions::missing_directive(name, self.environment.module.version);
        self.report_missing(missing, || format!(".{name}"), self.cursor.peek().span);
    }

    fn report_missing(&mut self, version: Option<versions::Version>, what: impl FnOnce() -> String, span: Span) {
        if let Some(version) = version {
            let problem = DeclarationError::NeedsVersion { what: what(), version }.into();
            let start = self.text[..span.start as usize].rfind('\n').map_or(0, |end| end + 1);
            self.report(Fault { problem, span }, start as u32);
        }
    }

    fn address_size(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let span = self.cursor.peek().span;
        match self.cursor.integer()? {
            64 => Ok(()),
            other => fault(span, DeclarationError::AddressSize(other)),
        }
    }

    /// Takes everything up to the next `;`.
    fn skip_statement(&mut self) -> Parsed<()> {
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

    fn is_full(&self) -> bool {
        self.errors.len() >= Errors::LIMIT
    }

    /// Records an error in the statement that starts at `start`.
    fn report(&mut self, fault: Fault, start: u32) {
        if self.is_full() {
            return;
        }
        let Fault { problem, span } = fault;
        let (line, column) = self.environment.module.line_column(span.start);
        let statement = statement_text(&self.text[start.min(span.start) as usize..]);
        self.errors.push(Error { problem, span, line, column, statement });
    }

    /// After an error in a declaration: skips the rest of it, up to its `;` or the end of its body.
    fn recover_in_module(&mut self, index: usize) {
        self.cursor.recover(index);
        match self.cursor.kind() {
            TokenKind::OpenBrace => {
                // One error is enough for a body that does not end.
                let _ = self.cursor.skip_braces();
            }
            TokenKind::CloseBrace => {
                self.cursor.advance();
            }
            _ => {}
        }
        while self.cursor.accept(TokenKind::CloseBrace) || self.cursor.accept(TokenKind::Semicolon) {}
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
