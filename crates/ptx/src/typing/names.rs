//! Methods of [`Context`] that resolve the names in operands: registers, vector registers, special
//! registers, symbols. A register of a range comes into being when it is first named; nothing else
//! changes.

use super::context::Context;
use super::needs::check_special;
use super::special::{Named, special};
use crate::environment::Entity;
use crate::errors::{NameError, NameKind, OperandError, Parsed, fault};
use crate::syntax::operands::{Name, Raw, RawOperand};
use crate::{Handle, Kind, Register, Span, Special, Symbol, Type};

/// How wide a register must be for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// As wide as the type.
    Exact,
    /// As wide or wider, as in loads, stores and conversions.
    AtLeast,
}

/// What a name in an operand stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resolved {
    Register(Handle<Register>),
    /// A vector register, and how many parts it has.
    Vector(u8),
    Special(Special),
    Symbol(Symbol),
}

impl<'t> Context<'_, 't> {
    /// What a name stands for.
    pub fn resolve(&mut self, name: &Name<'t>) -> Parsed<Resolved> {
        let entity = match self.environment.find(name.text) {
            Ok(Some(entity)) => entity,
            Ok(None) => {
                return match special(name.text, name.part) {
                    Named::Special(special) => {
                        check_special(&self.environment.module, special, name.text, name.span)?;
                        Ok(Resolved::Special(special))
                    }
                    Named::NeedsPart => fault(name.span, NameError::NeedsPart(name.text.to_owned())),
                    Named::NoPart => self.no_part(name, name.part.unwrap_or_default()),
                    Named::Nothing => fault(name.span, NameError::Undeclared(name.text.to_owned())),
                };
            }
            Err(error) => return fault(name.span, error),
        };
        match (entity, name.part) {
            (Entity::Register(register), None) => Ok(Resolved::Register(register)),
            (Entity::Vector(_, length), None) => Ok(Resolved::Vector(length)),
            (Entity::Vector(parts, length), Some(part)) => {
                let index = match part {
                    "x" | "r" => 0,
                    "y" | "g" => 1,
                    "z" | "b" => 2,
                    "w" | "a" => 3,
                    _ => usize::MAX,
                };
                if index < usize::from(length) {
                    Ok(Resolved::Register(parts[index]))
                } else {
                    self.no_part(name, part)
                }
            }
            (Entity::Variable(variable), None) => Ok(Resolved::Symbol(Symbol::Variable(variable))),
            (Entity::Function(function), None) => Ok(Resolved::Symbol(Symbol::Function(function))),
            (_, Some(part)) => self.no_part(name, part),
            (other, None) => {
                let (expected, found) = (NameKind::Register, other.kind());
                fault(name.span, NameError::WrongKind { name: name.text.into(), expected, found })
            }
        }
    }

    fn no_part<T>(&self, name: &Name<'t>, part: &str) -> Parsed<T> {
        fault(name.span, NameError::NoPart { name: name.text.to_owned(), part: part.to_owned() })
    }

    /// A register of type `ty`, to read or write.
    pub fn register_named(
        &mut self,
        name: &Name<'t>,
        ty: Type,
        width: Width,
        expected: NameKind,
    ) -> Parsed<Handle<Register>> {
        let found = match self.resolve(name)? {
            Resolved::Register(register) => {
                if name.offset.is_some() || name.negated {
                    let found = if name.negated { "a negated predicate" } else { "a register with an offset" };
                    return fault(name.span, OperandError::Kind { expected: "a register", found });
                }
                self.check_register(name.text, name.span, register, ty, width)?;
                return Ok(register);
            }
            Resolved::Vector(..) => NameKind::VectorRegister,
            Resolved::Special(_) => NameKind::SpecialRegister,
            Resolved::Symbol(Symbol::Variable(_)) => NameKind::Variable,
            Resolved::Symbol(Symbol::Function(_)) => NameKind::Function,
        };
        fault(name.span, NameError::WrongKind { name: name.text.into(), expected, found })
    }

    /// Rejects a register that does not fit the type.
    pub fn check_register(
        &self,
        name: &str,
        span: Span,
        register: Handle<Register>,
        ty: Type,
        width: Width,
    ) -> Parsed<()> {
        let found = self.environment.function.registers[register].ty;
        let (name, expected) = (name.to_owned(), ty);
        let kinds_fit = match (found.kind(), ty.kind()) {
            (Kind::Predicate, Kind::Predicate) | (Kind::Bits, Kind::Bits) => true,
            (Kind::Predicate, _) | (_, Kind::Predicate) => false,
            (Kind::Bits, _) | (_, Kind::Bits) => true,
            (Kind::Float, Kind::Float) => found == ty,
            (Kind::Float, _) | (_, Kind::Float) => false,
            _ => true,
        };
        if !kinds_fit || width == Width::Exact && found.bits() != ty.bits() {
            return fault(span, OperandError::Type { name, found, expected });
        }
        if found.bits() < ty.bits() {
            return fault(span, OperandError::TooNarrow { name, found, expected });
        }
        Ok(())
    }

    /// The number of parts of a vector register or a special register with parts; `None` for other
    /// names.
    pub fn vector_length(&mut self, name: &Name<'t>) -> Parsed<Option<u8>> {
        match self.resolve(name) {
            Ok(Resolved::Vector(length)) => Ok(Some(length)),
            Ok(_) => Ok(None),
            Err(_) if matches!(special(name.text, name.part), Named::NeedsPart) => Ok(Some(4)),
            Err(error) => Err(error),
        }
    }

    /// The type of the register that an operand names, or `None` if it names none.
    pub fn register_type(&mut self, operand: &RawOperand<'t>) -> Parsed<Option<Type>> {
        match &operand.raw {
            Raw::Name(name) => match self.resolve(name)? {
                Resolved::Register(register) => Ok(Some(self.environment.function.registers[register].ty)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }
}
