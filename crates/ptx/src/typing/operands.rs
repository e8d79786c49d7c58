//! Reading operands, each with the type that it must have.

use super::context::Context;
use super::needs::needs_nothing;
use super::special::{Named, once_was_narrow, special, special_type};
use super::{targets, versions};
use crate::environment::Entity;
use crate::errors::{NameError, NameKind, OperandError, Parsed, counted, fault};
use crate::parser::Constant;
use crate::parser::operands::{Name, Raw, RawOperand};
use crate::{
    Address, AddressBase, Destination, Handle, Kind, Operand, Predicate, Register, Space, Span, Special, Symbol, Type,
};
use std::ops::RangeInclusive;

/// How wide a register must be for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// As wide as the type.
    Exact,
    /// As wide or wider: loads, stores and conversions.
    AtLeast,
}

/// What the name in an operand stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resolved {
    Register(Handle<Register>),
    /// A vector register, and how many parts it has.
    Vector(u8),
    Special(Special),
    Symbol(Symbol),
}

impl<'s, 't> Context<'s, 't> {
    /// Rejects left-over modifiers and any number of operands but `count`.
    pub fn operands(&self, count: usize) -> Parsed<()> {
        self.operands_between(count..=count)
    }

    /// Rejects left-over modifiers and numbers of operands outside `counts`.
    pub fn operands_between(&self, counts: RangeInclusive<usize>) -> Parsed<()> {
        self.finish_modifiers()?;
        let found = self.count();
        if counts.contains(&found) {
            return Ok(());
        }
        let expected = if counts.start() == counts.end() {
            counted(*counts.start(), "operand")
        } else {
            format!("{} or {} operands", counts.start(), counts.end())
        };
        fault(self.statement.span, OperandError::Count { opcode: self.name(), expected, found })
    }

    /// Number of operands.
    pub fn count(&self) -> usize {
        self.statement.operands.len()
    }

    /// An operand as it is written; [`Context::operands`] has said that it is there.
    pub fn raw(&self, index: usize) -> &'s RawOperand<'t> {
        &self.statement.operands[index]
    }

    /// What a name stands for.
    pub fn resolve(&mut self, name: &Name<'t>) -> Parsed<Resolved> {
        let entity = match self.environment.find(name.text) {
            Ok(Some(entity)) => entity,
            Ok(None) => {
                return match special(name.text, name.part) {
                    Named::Special(special) => {
                        let module = &self.environment.module;
                        let needed = (
                            targets::missing_register(special, module.target),
                            versions::missing_register(special, module.version),
                        );
                        needs_nothing(needed, name.span, || name.text.to_owned())?;
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
    fn register_named(
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
                self.check(name.text, name.span, register, ty, width)?;
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
    fn check(&self, name: &str, span: Span, register: Handle<Register>, ty: Type, width: Width) -> Parsed<()> {
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

    /// Operand `index`: a register to write, or `_`.
    pub fn dst(&mut self, index: usize, ty: Type) -> Parsed<Destination> {
        let operand = self.raw(index);
        self.destination(operand, ty, Width::Exact)
    }

    pub fn destination(&mut self, operand: &RawOperand<'t>, ty: Type, width: Width) -> Parsed<Destination> {
        match &operand.raw {
            Raw::Sink => Ok(None),
            Raw::Name(name) => self.register_named(name, ty, width, NameKind::Register).map(Some),
            other => {
                fault(operand.span, OperandError::Kind { expected: "a register to write", found: other.describe() })
            }
        }
    }

    /// Operand `index`: `d` or `d|p`, where p is a predicate.
    pub fn dst_and_predicate(&mut self, index: usize, ty: Type) -> Parsed<(Destination, Destination)> {
        let operand = self.raw(index);
        let Raw::Pair(first, second) = &operand.raw else { return Ok((self.dst(index, ty)?, None)) };
        let mut part = |name: &Option<Name<'t>>, ty| match name {
            Some(name) => self.register_named(name, ty, Width::Exact, NameKind::Register).map(Some),
            None => Ok(None),
        };
        Ok((part(first, ty)?, part(second, Type::Pred)?))
    }

    /// Operand `index`: a value of type `ty`.
    pub fn src(&mut self, index: usize, ty: Type) -> Parsed<Operand> {
        let operand = self.raw(index);
        self.source(operand, ty, Width::Exact)
    }

    /// Operand `index`: a `u32` or `b32` value.
    pub fn src32(&mut self, index: usize) -> Parsed<Operand> {
        self.src(index, Type::B32)
    }

    pub fn source(&mut self, operand: &RawOperand<'t>, ty: Type, width: Width) -> Parsed<Operand> {
        match &operand.raw {
            Raw::Constant(constant) => constant_as(*constant, ty, operand.span),
            Raw::Name(name) => match self.resolve(name)? {
                Resolved::Special(special)
                    if self.reads_special_registers() && name.offset.is_none() && !name.negated =>
                {
                    let found = special_type(special);
                    let low =
                        ty.bits() == 16 && once_was_narrow(special) || special == Special::GridId && ty.bits() == 32;
                    let number = matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
                    if (found.bits() == ty.bits() || low) && (number || found == ty) {
                        return Ok(Operand::Special(special));
                    }
                    fault(name.span, OperandError::Type { name: name.text.to_owned(), found, expected: ty })
                }
                Resolved::Special(_) if !self.reads_special_registers() => {
                    fault(name.span, NameError::SpecialRegister(name.text.to_owned()))
                }
                Resolved::Register(register) if name.negated && ty == Type::Pred && name.offset.is_none() => {
                    self.check(name.text, name.span, register, ty, width)?;
                    Ok(Operand::NotRegister(register))
                }
                _ => self.register_named(name, ty, width, NameKind::Register).map(Operand::Register),
            },
            other => fault(
                operand.span,
                OperandError::Kind { expected: "a register or a constant", found: other.describe() },
            ),
        }
    }

    /// Whether special registers may be operands: of `mov`, and of `cvt` between integers, as `ptxas` has it.
    fn reads_special_registers(&self) -> bool {
        match self.opcode() {
            "mov" => true,
            "cvt" => !["pack", "f16", "bf16", "f32", "f64"].iter().any(|modifier| self.has_modifier(modifier)),
            _ => false,
        }
    }

    /// Operand `index`: a predicate register, negated or not.
    pub fn predicate(&mut self, index: usize) -> Parsed<Predicate> {
        let operand = self.raw(index);
        match &operand.raw {
            Raw::Name(name) => self.predicate_named(name),
            other => {
                let expected = "a predicate register";
                fault(operand.span, OperandError::Kind { expected, found: other.describe() })
            }
        }
    }

    pub fn predicate_named(&mut self, name: &Name<'t>) -> Parsed<Predicate> {
        let positive = Name { negated: false, ..*name };
        let register = self.register_named(&positive, Type::Pred, Width::Exact, NameKind::Predicate)?;
        Ok(Predicate { register, negated: name.negated })
    }

    /// Operand `index`: a constant from 0 to `high`.
    pub fn immediate(&mut self, index: usize, high: u64) -> Parsed<u64> {
        let operand = self.raw(index);
        match operand.raw {
            Raw::Constant(Constant::Integer(value)) if value <= high => Ok(value),
            Raw::Constant(Constant::Integer(_)) => fault(operand.span, OperandError::OutOfRange { low: 0, high }),
            ref other => {
                fault(operand.span, OperandError::Kind { expected: "an integer constant", found: other.describe() })
            }
        }
    }

    /// Operand `index`: an address in `space`, in brackets.
    pub fn address(&mut self, index: usize, space: Space) -> Parsed<Address> {
        let operand = self.raw(index);
        let (name, offset) = match &operand.raw {
            Raw::Memory(None, offset) if space == Space::Local => {
                return Ok(Address { base: AddressBase::Absolute, offset: *offset });
            }
            Raw::Memory(None, _) => return fault(operand.span, OperandError::AbsoluteAddress),
            Raw::Memory(Some(name), offset) => (name, *offset),
            Raw::Indexed(name, index) if matches!(self.opcode(), "ld" | "ldu" | "st") => {
                (name, self.element_offset(name, *index)?)
            }
            other => {
                let expected = "an address in brackets";
                return fault(operand.span, OperandError::Kind { expected, found: other.describe() });
            }
        };
        Ok(Address { base: self.address_base(name, space)?, offset })
    }

    /// The state space of operand `index`, an address: where the instruction names none, that of a `.shared` or `.local` variable which stands
    /// there by its name.
    pub fn space_of_name(&mut self, index: usize, space: Space) -> Parsed<Space> {
        let (Raw::Memory(Some(name), _) | Raw::Indexed(name, _)) = &self.raw(index).raw else { return Ok(space) };
        if space != Space::Generic {
            return Ok(space);
        }
        Ok(match self.resolve(name)? {
            Resolved::Symbol(Symbol::Variable(variable)) => match self.environment.module.variables[variable].space {
                named @ (Space::Shared | Space::Local) => named,
                _ => space,
            },
            _ => space,
        })
    }

    /// What an address in `space` starts from.
    pub fn address_base(&mut self, name: &Name<'t>, space: Space) -> Parsed<AddressBase> {
        Ok(match self.resolve(name)? {
            Resolved::Register(register) => {
                let found = self.environment.function.registers[register].ty;
                let fits = matches!(found.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
                if !fits || !matches!(found.bits(), 32 | 64) {
                    return fault(name.span, OperandError::NotAnAddress { name: name.text.to_owned(), found });
                }
                AddressBase::Register(register)
            }
            Resolved::Symbol(Symbol::Variable(variable)) => {
                let found = self.environment.module.variables[variable].space;
                let same = found == space
                    || space == Space::Generic && matches!(found, Space::Global | Space::Constant)
                    || space == Space::Global && found == Space::Constant
                    || space == Space::ClusterShared && found == Space::Shared;
                if !same {
                    let expected = match space {
                        Space::Generic => "a generic address".to_owned(),
                        space => format!("`.{}`", space.name()),
                    };
                    let name_text = name.text.to_owned();
                    return fault(name.span, OperandError::Space { name: name_text, found: found.name(), expected });
                }
                AddressBase::Variable(variable)
            }
            _ => {
                let expected = "a register or a variable in brackets";
                return fault(name.span, OperandError::Kind { expected, found: "another name" });
            }
        })
    }

    /// Where an element of an array is, in bytes from its start.
    pub fn element_offset(&mut self, name: &Name<'t>, index: i64) -> Parsed<i64> {
        match self.resolve(name)? {
            Resolved::Symbol(Symbol::Variable(variable)) => {
                let bytes = self.environment.module.variables[variable].ty.bytes();
                Ok(index.wrapping_mul(bytes.into()))
            }
            _ => fault(name.span, OperandError::Kind { expected: "an array before `[`", found: "another name" }),
        }
    }

    /// The `lanes` parts of operand `index`: the operand itself, or a vector, which may be one of a single register, or a
    /// vector register.
    pub fn parts(&mut self, index: usize, lanes: usize) -> Parsed<Vec<RawOperand<'t>>> {
        let operand = self.raw(index);
        let vector = match &operand.raw {
            Raw::Vector(parts) => parts.clone(),
            Raw::Name(name) if lanes > 1 => match self.vector_length(name)? {
                Some(length) => {
                    let part =
                        |&part| RawOperand { raw: Raw::Name(Name { part: Some(part), ..*name }), span: operand.span };
                    ["x", "y", "z", "w"][..usize::from(length)].iter().map(part).collect()
                }
                None => vec![operand.clone()],
            },
            _ => vec![operand.clone()],
        };
        if vector.len() != lanes {
            return fault(operand.span, OperandError::VectorLength { expected: lanes, found: vector.len() });
        }
        Ok(vector)
    }

    /// Operand `index`; if it is the name of a vector register, as a vector of its parts.
    pub fn spelled_out(&mut self, index: usize) -> Parsed<RawOperand<'t>> {
        let operand = self.raw(index);
        if let Raw::Name(name @ Name { part: None, negated: false, offset: None, .. }) = &operand.raw
            && let Ok(Some(Entity::Vector(_, length))) = self.environment.find(name.text)
        {
            let raw = Raw::Vector(self.parts(index, length.into())?);
            return Ok(RawOperand { raw, span: operand.span });
        }
        Ok(operand.clone())
    }

    /// How many parts a name stands for, if it is that of a vector register or of a special register with parts.
    fn vector_length(&mut self, name: &Name<'t>) -> Parsed<Option<u8>> {
        match self.resolve(name) {
            Ok(Resolved::Vector(length)) => Ok(Some(length)),
            Ok(_) => Ok(None),
            Err(_) if matches!(special(name.text, name.part), Named::NeedsPart) => Ok(Some(4)),
            Err(error) => Err(error),
        }
    }

    /// The type of the register that an operand names, if it names one.
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

/// A constant as an operand of type `ty`.
pub(crate) fn constant_as(constant: Constant, ty: Type, span: Span) -> Parsed<Operand> {
    let fits = match (constant, ty) {
        (Constant::Integer(value), _) if ty.kind() != Kind::Float => Some(Operand::Integer(value)),
        (Constant::Single(bits), Type::F32 | Type::B32) => Some(Operand::Single(bits)),
        (Constant::Single(bits), Type::F64) => Some(Operand::Double(f64::from(f32::from_bits(bits)).to_bits())),
        (Constant::Double(value), Type::F64 | Type::B64) => Some(Operand::Double(value.to_bits())),
        (Constant::Double(value), Type::F32) => Some(Operand::Single((value as f32).to_bits())),
        _ => None,
    };
    match fits {
        Some(operand) => Ok(operand),
        None => {
            let found = if matches!(constant, Constant::Integer(_)) { "an integer" } else { "a float" };
            fault(span, OperandError::Constant { found, expected: ty })
        }
    }
}
