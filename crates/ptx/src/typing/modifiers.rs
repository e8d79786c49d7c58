//! Taking the modifiers of an instruction, one after the other.

use super::Context;
use crate::errors::{InstructionError, Parsed, fault};
use crate::parser::cursor::Word;
use crate::{Span, Type};

impl<'t> Context<'_, 't> {
    pub fn opcode(&self) -> &'t str {
        self.statement.opcode.text
    }

    /// Whether the modifier is there, wherever.
    pub fn has_modifier(&self, name: &str) -> bool {
        self.statement.modifiers.iter().any(|modifier| modifier.text == name)
    }

    /// The next modifier.
    pub fn modifier(&self) -> Option<&'t str> {
        self.statement.modifiers.get(self.next).map(|modifier| modifier.text)
    }

    /// Takes the next modifier if it is that one.
    pub fn accept(&mut self, name: &str) -> bool {
        let found = self.modifier() == Some(name);
        self.next += usize::from(found);
        found
    }

    /// Takes the next modifier if the table has it.
    pub fn choose<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let name = self.modifier()?;
        let &(_, value) = table.iter().find(|(candidate, _)| *candidate == name)?;
        self.next += 1;
        Some(value)
    }

    /// Takes the next modifier, which the table must have; `what` says what it is.
    pub fn require<T: Copy>(&mut self, table: &[(&str, T)], what: &'static str) -> Parsed<T> {
        match self.choose(table) {
            Some(value) => Ok(value),
            None if self.modifier().is_some() => {
                let modifier = self.modifier().unwrap_or_default().to_owned();
                let error = InstructionError::OtherModifier { opcode: self.opcode().into(), what, modifier };
                fault(self.modifier_span(self.next), error)
            }
            None => self.missing(what),
        }
    }

    /// Fails because `what` is not there.
    pub fn missing<T>(&self, what: &'static str) -> Parsed<T> {
        fault(self.name_span(), InstructionError::MissingModifier { opcode: self.opcode().into(), what })
    }

    /// Takes a type.
    pub fn ty(&mut self) -> Parsed<Type> {
        let Some(name) = self.modifier() else {
            return fault(self.name_span(), InstructionError::MissingType(self.name()));
        };
        match Type::from_name(name) {
            Some(ty) => {
                self.next += 1;
                Ok(ty)
            }
            None => self.unknown_modifier(),
        }
    }

    /// Takes a type, which must be one of these.
    pub fn ty_of(&mut self, allowed: &[Type]) -> Parsed<Type> {
        let ty = self.ty()?;
        if allowed.contains(&ty) { Ok(ty) } else { self.wrong_type(ty) }
    }

    /// Fails at the type taken last.
    pub fn wrong_type<T>(&self, ty: Type) -> Parsed<T> {
        let others: Vec<&str> = self.statement.modifiers.iter().map(|word| word.text).collect();
        let with = others.iter().filter(|text| **text != ty.name()).map(|text| format!(".{text}")).collect();
        let error = InstructionError::WrongType { opcode: self.opcode().into(), ty: ty.name().into(), with };
        fault(self.modifier_span(self.next.saturating_sub(1)), error)
    }

    /// Fails at the next modifier.
    pub fn unknown_modifier<T>(&self) -> Parsed<T> {
        let modifier = self.modifier().unwrap_or_default().to_owned();
        let error = InstructionError::UnknownModifier { opcode: self.opcode().into(), modifier };
        fault(self.modifier_span(self.next), error)
    }

    /// Refuses modifiers that are left.
    pub fn finish_modifiers(&self) -> Parsed<()> {
        if self.modifier().is_some() { self.unknown_modifier() } else { Ok(()) }
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
