//! The whole text: the header, then one declaration after another, and what is resolved at its end.

use super::shape::space;
use super::state::Parser;
use crate::errors::{DeclarationError, Fault, Parsed, fault};
use crate::syntax::lexer::TokenKind;
use crate::syntax::versions;
use crate::{Space, Span};

impl<'t> Parser<'t> {
    /// The whole text.
    pub(super) fn module(&mut self) {
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

    fn address_size(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let span = self.cursor.peek().span;
        match self.cursor.integer()? {
            64 => Ok(()),
            other => fault(span, DeclarationError::AddressSize(other)),
        }
    }

    /// A declaration at module level: linkage, then a variable or a function.
    fn declaration(&mut self) -> Parsed<()> {
        let linkage = self.linkage();
        match self.cursor.dot() {
            Some("entry" | "func") => self.function(linkage),
            Some(name) => match space(name) {
                Some(Space::Parameter | Space::Local) => {
                    let what = if name == "local" { ".local variable" } else { ".param variable" };
                    fault(self.cursor.peek().span, DeclarationError::NotHere { what })
                }
                Some(space) => self.variables(space, linkage),
                None => self.unknown_directive(),
            },
            None => self.cursor.unexpected("a state space, `.entry` or `.func`"),
        }
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
