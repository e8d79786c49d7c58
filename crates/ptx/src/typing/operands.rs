//! Methods of [`Context`] that read operands, each with the type that it must have: registers to
//! write, values, predicates, constants, vectors. Registers of a range come into being when first
//! named; nothing else changes.

use super::context::Context;
use super::names::{Resolved, Width};
use super::special::{special_type, was_16_bit};
use crate::environment::Entity;
use crate::errors::{NameError, NameKind, OperandError, Parsed, counted, fault};
use crate::syntax::constant::Constant;
use crate::syntax::operands::{Name, Raw, RawOperand};
use crate::{Destination, Kind, Operand, Predicate, Span, Special, Type};
use std::ops::RangeInclusive;

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

    /// The number of operands.
    pub fn count(&self) -> usize {
        self.statement.operands.len()
    }

    /// An operand as it is written. Call [`Context::operands`] first, which checks that it exists.
    pub fn raw(&self, index: usize) -> &'s RawOperand<'t> {
        &self.statement.operands[index]
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

    /// Operand `index`: `d` or `d|p`, where `p` is a predicate.
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
                    let low = ty.bits() == 16 && was_16_bit(special) || special == Special::GridId && ty.bits() == 32;
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
                    self.check_register(name.text, name.span, register, ty, width)?;
                    Ok(Operand::NotRegister(register))
                }
                Resolved::Register(register)
                    if let Some(offset) = name.offset
                        && !name.negated
                        && matches!(ty.bits(), 16 | 32 | 64)
                        && matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) =>
                {
                    self.check_register(name.text, name.span, register, ty, width)?;
                    Ok(Operand::Sum(register, offset))
                }
                _ => self.register_named(name, ty, width, NameKind::Register).map(Operand::Register),
            },
            other => fault(
                operand.span,
                OperandError::Kind { expected: "a register or a constant", found: other.describe() },
            ),
        }
    }

    /// Whether the instruction can read special registers. As in `ptxas`, only `mov` and `cvt`
    /// between integers can.
    fn reads_special_registers(&self) -> bool {
        match self.opcode() {
            "mov" => true,
            "cvt" => !["pack", "f16", "bf16", "f32", "f64"].iter().any(|modifier| self.has_modifier(modifier)),
            _ => false,
        }
    }

    /// Operand `index`: a predicate register, possibly negated, or an integer constant, which is
    /// true unless it is zero.
    pub fn predicate(&mut self, index: usize) -> Parsed<Operand> {
        let operand = self.raw(index);
        match &operand.raw {
            Raw::Name(name) => self.predicate_named(name).map(|Predicate { register, negated }| match negated {
                true => Operand::NotRegister(register),
                false => Operand::Register(register),
            }),
            Raw::Constant(Constant::Integer(value)) => Ok(Operand::Integer(*value)),
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

    /// The `lanes` parts of operand `index`: the operand itself, a vector in braces (possibly of
    /// one register), or a vector register.
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

    /// Operand `index`, with a vector register replaced by the vector of its parts.
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
