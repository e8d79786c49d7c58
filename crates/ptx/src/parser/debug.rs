//! `.file`, `.loc` and `.section`: where the code came from. Called for each such directive; adds
//! source files and locations to the module, and sets the location of the instructions that follow.

use super::state::Parser;
use crate::errors::{Fault, NameError, Parsed, SyntaxError, fault};
use crate::syntax::lexer::TokenKind;
use crate::{Handle, Location, SourceFile, Span};

impl Parser<'_> {
    /// `.file 1 "path" {, timestamp, size}`
    pub(super) fn file(&mut self) -> Parsed<()> {
        let span = self.cursor.advance().span;
        let number = self.cursor.integer32()?;
        let token = self.cursor.expect(TokenKind::String, "a path in quotes")?;
        let path = self.cursor.text_of(token.span).trim_matches('"').to_owned();
        while self.cursor.accept(TokenKind::Comma) {
            self.cursor.integer()?;
        }
        let file = self.source_file(number, span);
        self.environment.module.files[file].path = path;
        Ok(())
    }

    /// `.loc file line column {, function_name label {+ n}, inlined_at file line column}`
    pub(super) fn loc(&mut self) -> Parsed<()> {
        let span = self.cursor.advance().span;
        let (file, line, column) = self.place(span)?;
        let mut inlined_at = None;
        while self.cursor.accept(TokenKind::Comma) {
            let word = self.cursor.word("`function_name` or `inlined_at`")?;
            match word.text {
                "function_name" => {
                    if self.cursor.kind() == TokenKind::Dot {
                        self.cursor.advance();
                    } else {
                        self.cursor.word("a label")?;
                    }
                    if self.cursor.accept(TokenKind::Plus) {
                        self.cursor.integer()?;
                    }
                }
                "inlined_at" => {
                    let place = self.place(span)?;
                    let (file, line, column) = place;
                    let outer = self.places.get(&place).copied();
                    inlined_at =
                        Some(outer.unwrap_or_else(|| self.location(Location { file, line, column, inlined_at: None })));
                }
                _ => {
                    let found = format!("`{}`", word.text);
                    let expected = "`function_name` or `inlined_at`";
                    return fault(word.span, SyntaxError::Unexpected { expected, found });
                }
            }
        }
        let location = self.location(Location { file, line, column, inlined_at });
        self.places.insert((file, line, column), location);
        self.environment.function.location = Some(location);
        Ok(())
    }

    /// File, line, column.
    fn place(&mut self, span: Span) -> Parsed<(Handle<SourceFile>, u32, u32)> {
        let number = self.cursor.integer32()?;
        let line = self.cursor.integer32()?;
        let column = self.cursor.integer32()?;
        Ok((self.source_file(number, span), line, column))
    }

    /// The file with that number. A `.loc` may name it before its `.file`.
    fn source_file(&mut self, number: u32, span: Span) -> Handle<SourceFile> {
        let files = &mut self.environment.module.files;
        self.files.entry(number).or_insert_with(|| (files.append(SourceFile { number, path: String::new() }), span)).0
    }

    fn location(&mut self, location: Location) -> Handle<Location> {
        let locations = &mut self.environment.module.locations;
        *self.locations.entry(location).or_insert_with(|| locations.append(location))
    }

    /// At the end of the module: reports each file that a `.loc` names and no `.file` declares.
    pub(super) fn finish_files(&mut self) {
        let mut missing: Vec<(u32, Span)> = Vec::new();
        for (&number, &(file, span)) in &self.files {
            if self.environment.module.files[file].path.is_empty() {
                missing.push((number, span));
            }
        }
        missing.sort_by_key(|&(number, span)| (span.start, number));
        for (number, span) in missing {
            self.report(Fault { problem: NameError::NoFile(number).into(), span }, span.start);
        }
    }

    /// `.section name { ... }`: debug data, which is skipped.
    pub(super) fn section(&mut self) -> Parsed<()> {
        self.cursor.advance();
        if self.cursor.kind() == TokenKind::Dot {
            self.cursor.advance();
        } else {
            self.cursor.word("the section's name")?;
        }
        self.cursor.skip_braces()
    }
}
