//! Methods of [`Context`] that take the modifiers of an instruction, in whatever order they are
//! written. They mark modifiers as taken and change nothing else.

use super::context::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::{FromName, Span, Type};

impl<'t> Context<'_, 't> {
    pub fn opcode(&self) -> &'t str {
        self.statement.opcode.text
    }

    /// Fails because no family knows the opcode.
    pub fn unknown_opcode<T>(&self) -> Parsed<T> {
        fault(self.statement.opcode.span, InstructionError::UnknownOpcode(self.opcode().to_owned()))
    }

    /// Whether the instruction has the modifier, taken or not.
    pub fn has_modifier(&self, name: &str) -> bool {
        self.statement.has_modifier(name)
    }

    /// The first modifier that has not been taken.
    pub fn modifier(&self) -> Option<&'t str> {
        self.left().next().map(|(_, name)| name)
    }

    /// The modifiers that have not been taken, with their indices.
    fn left(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let taken = self.taken;
        let is_left = move |index: usize| index >= 64 || taken >> index & 1 == 0;
        self.statement
            .modifiers
            .iter()
            .map(|modifier| modifier.text)
            .enumerate()
            .filter(move |&(index, _)| is_left(index))
    }

    /// Takes the modifier at an index. (The 65th is never taken, and so rejected.)
    fn take(&mut self, index: usize) {
        self.taken |= 1u64.checked_shl(index as u32).unwrap_or(0);
        self.last = index;
    }

    /// Takes the first modifier for which `known` returns a value.
    pub fn take_first<T>(&mut self, known: impl Fn(&'t str) -> Option<T>) -> Option<T> {
        let (index, value) = self.left().find_map(|(index, name)| Some((index, known(name)?)))?;
        // Modifiers after the 64th are never taken.
        if index >= 64 {
            return None;
        }
        self.take(index);
        Some(value)
    }

    /// The name of the modifier that was taken last.
    pub fn last_name(&self) -> &'t str {
        self.statement.modifiers.get(self.last).map_or("", |modifier| modifier.text)
    }

    /// Takes the modifier of this name, if there is one.
    pub fn accept(&mut self, name: &str) -> bool {
        self.take_first(|found| (found == name).then_some(())).is_some()
    }

    /// Takes the first modifier that is in the table.
    pub fn choose<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take_first(|name| table.iter().find(|(candidate, _)| *candidate == name).map(|&(_, value)| value))
    }

    /// Takes a required modifier from a table; `what` describes it in the error.
    pub fn require<T: Copy>(&mut self, table: &[(&str, T)], what: &'static str) -> Parsed<T> {
        if let Some(value) = self.choose(table) {
            return Ok(value);
        }
        // Blame a modifier that is not a type, if there is one.
        let no_type = self.left().find(|(_, name)| Type::from_name(name).is_none());
        let Some((index, modifier)) = no_type.or_else(|| self.left().next()) else { return self.missing(what) };
        let error = InstructionError::OtherModifier { opcode: self.opcode().into(), what, modifier: modifier.into() };
        fault(self.modifier_span(index), error)
    }

    /// Takes the first modifier that names one of `allowed`.
    pub fn choose_of<T: FromName>(&mut self, allowed: &[T]) -> Option<T> {
        self.take_first(|name| T::from_name(name).filter(|value| allowed.contains(value)))
    }

    /// Takes a required modifier that names one of `allowed`; `what` describes it in the error.
    pub fn require_of<T: FromName>(&mut self, allowed: &[T], what: &'static str) -> Parsed<T> {
        match self.choose_of(allowed) {
            Some(value) => Ok(value),
            None => self.require(&[], what),
        }
    }

    /// Fails because the modifier `what` is missing.
    pub fn missing<T>(&self, what: &'static str) -> Parsed<T> {
        fault(self.name_span(), InstructionError::MissingModifier { opcode: self.opcode().into(), what })
    }

    /// Takes a type.
    pub fn ty(&mut self) -> Parsed<Type> {
        match self.take_first(Type::from_name) {
            Some(ty) => Ok(ty),
            None if self.modifier().is_some() => self.unknown_modifier(),
            None => fault(self.name_span(), InstructionError::MissingType(self.name())),
        }
    }

    /// Takes a type, which must be one of `allowed`.
    pub fn ty_of(&mut self, allowed: &[Type]) -> Parsed<Type> {
        let ty = self.ty()?;
        if allowed.contains(&ty) { Ok(ty) } else { self.wrong_type(ty) }
    }

    /// Fails at the type taken last.
    pub fn wrong_type<T>(&self, ty: Type) -> Parsed<T> {
        let others: Vec<&str> = self.statement.modifiers.iter().map(|word| word.text).collect();
        let with = others.iter().filter(|text| **text != ty.name()).map(|text| format!(".{text}")).collect();
        let error = InstructionError::WrongType { opcode: self.opcode().into(), ty: ty.name().into(), with };
        fault(self.modifier_span(self.last), error)
    }

    /// Fails at the first modifier that has not been taken.
    pub fn unknown_modifier<T>(&self) -> Parsed<T> {
        let modifier = self.modifier().unwrap_or_default().to_owned();
        let error = InstructionError::UnknownModifier { opcode: self.opcode().into(), modifier };
        fault(self.next_span(), error)
    }

    /// Rejects modifiers that have not been taken.
    pub fn finish_modifiers(&self) -> Parsed<()> {
        if self.modifier().is_some() { self.unknown_modifier() } else { Ok(()) }
    }

    /// The span of the first modifier that has not been taken.
    fn next_span(&self) -> Span {
        let index = self.left().next().map_or(usize::MAX, |(index, _)| index);
        self.modifier_span(index)
    }

    /// Fails at the modifier that was taken last.
    pub fn misplaced_modifier<T>(&self) -> Parsed<T> {
        let error =
            InstructionError::UnknownModifier { opcode: self.opcode().into(), modifier: self.last_name().to_owned() };
        fault(self.modifier_span(self.last), error)
    }

    pub fn modifier_span(&self, index: usize) -> Span {
        self.statement.modifiers.get(index).map_or(self.statement.opcode.span, |Word { span, .. }| *span)
    }

    /// The opcode with all modifiers.
    pub fn name(&self) -> String {
        let mut name = self.opcode().to_owned();
        for modifier in &self.statement.modifiers {
            name.push('.');
            name.push_str(modifier.text);
        }
        name
    }

    pub fn name_span(&self) -> Span {
        let start = self.statement.opcode.span.start;
        let end = self.statement.modifiers.last().map_or(self.statement.opcode.span.end, |word| word.span.end);
        Span { start, end }
    }
}
