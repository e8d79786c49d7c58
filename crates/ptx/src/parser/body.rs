//! The body of a function: scopes, labels, declarations, instructions. It moves the cursor,
//! declares names in the environment and appends instructions to the function being read.

use super::shape::space;
use super::state::Parser;
use crate::environment::Entity;
use crate::errors::{DeclarationError, NameError, NameKind, Parsed, SyntaxError, fault};
use crate::syntax::cursor::Word;
use crate::syntax::lexer::TokenKind;
use crate::{ControlOp, Instruction, Linkage, Op, Space, Span, typing};

/// Braces nested deeper than this are rejected.
const DEPTH: usize = 256;

impl<'t> Parser<'t> {
    /// A body, including its braces. Errors in statements are reported here; the error that is
    /// returned is one after which the body cannot be continued, such as the end of the text.
    pub(super) fn body(&mut self) -> Parsed<()> {
        let outside = self.environment.depth();
        self.cursor.expect(TokenKind::OpenBrace, "`{`")?;
        self.environment.open_scope();
        while self.environment.depth() > outside {
            if self.is_full() {
                return Ok(());
            }
            let (start, index) = (self.cursor.start(), self.cursor.index());
            match self.cursor.kind() {
                TokenKind::CloseBrace => {
                    let end = self.cursor.advance().span;
                    self.environment.close_scope();
                    if self.environment.depth() == outside {
                        self.end_of_body(end);
                    }
                }
                TokenKind::End => return self.cursor.unexpected("`}`"),
                _ => {
                    if let Err(fault) = self.body_item() {
                        self.report(*fault, start);
                        self.cursor.recover(index);
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores the results that are registers at the end of a body, too.
    fn end_of_body(&mut self, span: Span) {
        let location = self.environment.function.location;
        self.store_register_results(&Instruction { guard: None, op: Op::Control(ControlOp::Return), span, location });
    }

    fn body_item(&mut self) -> Parsed<()> {
        let token = self.cursor.peek();
        match token.kind {
            TokenKind::OpenBrace => {
                if self.environment.depth() > DEPTH {
                    return fault(token.span, SyntaxError::TooDeep(DEPTH));
                }
                self.cursor.advance();
                self.environment.open_scope();
                Ok(())
            }
            TokenKind::Semicolon => {
                self.cursor.advance();
                Ok(())
            }
            TokenKind::Dot => self.body_directive(),
            TokenKind::Word if self.cursor.kind_after() == TokenKind::Colon => self.label(),
            TokenKind::Word | TokenKind::At => self.instruction(),
            _ => self.cursor.unexpected("an instruction, a declaration or a label"),
        }
    }

    fn body_directive(&mut self) -> Parsed<()> {
        let name = self.cursor.dot().unwrap_or_default();
        match name {
            "reg" => self.registers(),
            "loc" => self.loc(),
            "file" => self.file(),
            "pragma" => self.skip_statement(),
            "section" => self.section(),
            _ => {
                let linkage = self.linkage();
                match self.cursor.dot().and_then(space) {
                    Some(space @ (Space::Shared | Space::Local | Space::Parameter)) => self.variables(space, linkage),
                    Some(space @ (Space::Global | Space::Constant)) if linkage != Linkage::Extern => {
                        self.variables(space, linkage)
                    }
                    _ => self.unknown_directive(),
                }
            }
        }
    }

    /// `name:`, and the list that may come after it.
    fn label(&mut self) -> Parsed<()> {
        let label = self.cursor.word("a label")?;
        self.cursor.advance();
        self.check_version();
        let entity = match self.cursor.dot() {
            Some("branchtargets") => {
                let labels = self.words()?;
                let lists = &mut self.environment.function.branch_targets;
                lists.push((labels, 0));
                let index = lists.len() - 1;
                self.environment.function.branch_targets[index].1 = self.environment.scope_id();
                Entity::BranchTargets(index)
            }
            Some("calltargets") => {
                let mut functions = Vec::new();
                for word in self.words()? {
                    match self.environment.lookup(word.text, word.span)? {
                        Entity::Function(function) => functions.push(function),
                        other => {
                            let (expected, found) = (NameKind::Function, other.kind());
                            return fault(word.span, NameError::WrongKind { name: word.text.into(), expected, found });
                        }
                    }
                }
                self.environment.function.call_targets.push(functions);
                Entity::CallTargets(self.environment.function.call_targets.len() - 1)
            }
            Some("callprototype") => {
                self.cursor.advance();
                let signature = self.prototype()?;
                self.environment.function.prototypes.push(signature);
                Entity::CallPrototype(self.environment.function.prototypes.len() - 1)
            }
            _ => {
                if !self.environment.declare_label(label.text) {
                    return fault(label.span, DeclarationError::Duplicate(label.text.to_owned()));
                }
                return Ok(());
            }
        };
        if self.environment.declared_here(label.text).is_some() {
            return fault(label.span, DeclarationError::Duplicate(label.text.to_owned()));
        }
        self.environment.declare(label.text, entity);
        Ok(())
    }

    /// `.branchtargets a, b;`
    fn words(&mut self) -> Parsed<Vec<Word<'t>>> {
        self.cursor.advance();
        let mut words = vec![self.cursor.word("a name")?];
        while self.cursor.accept(TokenKind::Comma) {
            words.push(self.cursor.word("a name")?);
        }
        self.cursor.expect(TokenKind::Semicolon, "`,` or `;`")?;
        Ok(words)
    }

    fn instruction(&mut self) -> Parsed<()> {
        let statement = self.cursor.statement()?;
        self.environment.function.before.clear();
        self.environment.function.after.clear();
        let (guard, op) = typing::instruction(&statement, &mut self.environment)?;
        let location = self.environment.function.location;
        let instruction = Instruction { guard, op, span: statement.span, location };
        if instruction.op == Op::Control(ControlOp::Return) {
            self.store_register_results(&instruction);
        }
        let function = &mut self.environment.function;
        // Nearly all instructions have nothing to insert around them.
        if function.before.is_empty() && function.after.is_empty() {
            function.body.push(instruction);
            return Ok(());
        }
        let beside = |op| Instruction { op, ..instruction.clone() };
        let (before, after) = (std::mem::take(&mut function.before), std::mem::take(&mut function.after));
        function.body.extend(before.into_iter().map(beside));
        function.body.push(instruction.clone());
        function.body.extend(after.into_iter().map(beside));
        Ok(())
    }
}
