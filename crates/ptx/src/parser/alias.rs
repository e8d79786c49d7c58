//! `.alias f, g;`: another name for a function. The parser collects aliases as it reads, and
//! resolves them when the module ends, by copying functions within it.

use super::state::Parser;
use crate::environment::Entity;
use crate::errors::{DeclarationError, Fault, Parsed};
use crate::syntax::lexer::TokenKind;
use crate::{Function, Handle};

impl Parser<'_> {
    pub(super) fn alias(&mut self) -> Parsed<()> {
        self.cursor.advance();
        let alias = self.cursor.word("a function")?;
        self.cursor.expect(TokenKind::Comma, "`,`")?;
        let of = self.cursor.word("a function")?;
        self.cursor.expect(TokenKind::Semicolon, "`;`")?;
        self.aliases.push((alias, of));
        Ok(())
    }

    /// At the end of the module: turns each alias into a copy of its function. Returns the pairs,
    /// because their bodies may still change.
    pub(super) fn finish_aliases(&mut self) -> Vec<(Handle<Function>, Handle<Function>)> {
        let mut pairs = Vec::new();
        for (alias, of) in std::mem::take(&mut self.aliases) {
            let mut function = |name| match self.environment.find(name) {
                Ok(Some(Entity::Function(function))) => Some(function),
                _ => None,
            };
            let (from, to) = (function(of.text), function(alias.text));
            let length =
                from.and_then(|from| self.environment.module.functions[from].body.as_ref()).map_or(0, Vec::len);
            if let Err(fault) = self.environment.spend(64 * length as u64, alias.span) {
                self.report(*fault, alias.span.start);
                continue;
            }
            let functions = &mut self.environment.module.functions;
            let reason = match (from, to) {
                (None, _) => "there is no such function",
                (_, None) => "the alias needs a declaration of its own",
                (Some(from), Some(_)) if functions[from].body.is_none() => "the function has no body",
                (_, Some(to)) if functions[to].body.is_some() => "the alias has a body",
                (Some(from), Some(_)) if functions[from].is_kernel => "kernels have no aliases",
                (Some(from), Some(to)) => {
                    let mut copy = functions[from].clone();
                    copy.name.clone_from(&functions[to].name);
                    copy.linkage = functions[to].linkage;
                    copy.span = functions[to].span;
                    functions[to] = copy;
                    pairs.push((from, to));
                    continue;
                }
            };
            let error = DeclarationError::BadAlias { alias: alias.text.into(), of: of.text.into(), reason };
            self.report(Fault { problem: error.into(), span: alias.span }, alias.span.start);
        }
        pairs
    }
}
