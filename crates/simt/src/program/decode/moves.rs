//! Decodes instructions that move values between registers: moves, packing and unpacking,
//! conversions.

use ptx::{BinaryOp, Destination, Mode, Operand, Symbol, Type};

use super::function::found;
use super::function::{COUNTED, Decoded, FunctionDecoder, HELPER};
use super::operands::is_fixed;
use crate::error::LoadErrorReason;
use crate::lanes::{self, ALWAYS, Operands, Registers, lanes};
use crate::program::code::Action;

impl FunctionDecoder<'_, '_> {
    pub(super) fn copy(&mut self, ty: Type, dst: Destination, src: Operand) -> Decoded<()> {
        if ty == Type::Pred {
            let (a, d) = (self.predicate(src)?, self.destination(dst, ty)?);
            let handler = found(lanes::predicate_logic(BinaryOp::And), || "mov.pred".into())?;
            self.lanes(handler, Operands { d, a, b: ALWAYS, ..Operands::default() });
            return Ok(());
        }
        if ty.bits() == 128 {
            let from = self.pair(src)?;
            let Some(register) = dst else { return Ok(()) };
            let to = self.pair_destination(register)?;
            let handler = lanes::copy(Type::B64);
            self.lanes(handler, Operands { d: to[0], a: from[0], ..Operands::default() });
            self.emit(HELPER, Action::Lanes(handler, Operands { d: to[1], a: from[1], ..Operands::default() }));
            return Ok(());
        }
        let wide = ty.bits() == 64;
        match src {
            Operand::Special(which) if !is_fixed(which) => {
                let d = self.destination(dst, ty)?;
                self.emit(COUNTED, Action::Special { which, d, wide });
            }
            Operand::Address(Symbol::Variable(variable), offset) if self.is_local(variable) => {
                let d = self.destination(dst, ty)?;
                let offset = self.local_offset(variable).wrapping_add_signed(offset);
                self.emit(COUNTED, Action::LocalAddress { d, wide, offset });
            }
            _ => {
                let (a, d) = (self.value(src, ty)?, self.destination(dst, ty)?);
                self.lanes(lanes::copy(ty), Operands { d, a, ..Operands::default() });
            }
        }
        Ok(())
    }

    /// Copies part by part. All sources are read first: destinations may be among them.
    pub(super) fn copy_vector(&mut self, ty: Type, dsts: &[Destination], srcs: &[Operand]) -> Decoded<()> {
        let handler = lanes::copy(ty);
        let overlaps = dsts.iter().flatten().any(|&dst| srcs.contains(&Operand::Register(dst)));
        let mut rows = srcs.iter().map(|&src| self.value(src, ty)).collect::<Decoded<Vec<u32>>>()?;
        if overlaps {
            for row in &mut rows {
                let d = self.destination(None, ty)?;
                self.emit(HELPER, Action::Lanes(handler, Operands { d, a: *row, ..Operands::default() }));
                *row = d;
            }
        }
        for (index, (&dst, a)) in dsts.iter().zip(rows).enumerate() {
            let d = self.destination(dst, ty)?;
            let action = Action::Lanes(handler, Operands { d, a, ..Operands::default() });
            self.emit(if index == 0 { COUNTED } else { HELPER }, action);
        }
        Ok(())
    }

    pub(super) fn pack(&mut self, ty: Type, dst: Destination, parts: &[Operand]) -> Decoded<()> {
        let unsupported =
            || LoadErrorReason::Unsupported { what: format!("mov.{} of {} parts", ty.name(), parts.len()) };
        let part = part_type(ty, parts.len()).ok_or_else(unsupported)?;
        let rows = parts.iter().map(|&operand| self.value(operand, part)).collect::<Decoded<Vec<u32>>>()?;
        if let ([low, high], 128) = (rows.as_slice(), ty.bits()) {
            let Some(register) = dst else { return Ok(()) };
            let to = self.pair_destination(register)?;
            let handler = lanes::copy(Type::B64);
            // The low half may be the register's own high half.
            let saved = self.temporary_double();
            self.emit(HELPER, Action::Lanes(handler, Operands { d: saved, a: *high, ..Operands::default() }));
            self.lanes(handler, Operands { d: to[0], a: *low, ..Operands::default() });
            self.emit(HELPER, Action::Lanes(handler, Operands { d: to[1], a: saved, ..Operands::default() }));
            return Ok(());
        }
        let d = self.destination(dst, ty)?;
        match (ty.bits(), rows.as_slice()) {
            (64, &[a, b]) => {
                let handler = lanes!(|a: u32, b: u32| -> u64 { u64::from(b) << 32 | u64::from(a) });
                self.lanes(handler, Operands { d, a, b, ..Operands::default() });
            }
            (32, &[a, b]) => {
                let handler = lanes!(|a: u16, b: u16| -> u32 { u32::from(b) << 16 | u32::from(a) });
                self.lanes(handler, Operands { d, a, b, ..Operands::default() });
            }
            (16, &[a, b]) => {
                let handler = lanes!(|a: u8, b: u8| -> u32 { u32::from(b) << 8 | u32::from(a) });
                self.lanes(handler, Operands { d, a, b, ..Operands::default() });
            }
            (64, &[a, b, c, e]) => self.lanes(four_halves, Operands { d, a, b, c, e }),
            (32, &[a, b, c, e]) => self.lanes(four_bytes, Operands { d, a, b, c, e }),
            _ => return Err(unsupported()),
        }
        Ok(())
    }

    pub(super) fn unpack(&mut self, ty: Type, dsts: &[Destination], src: Operand) -> Decoded<()> {
        let unsupported =
            || LoadErrorReason::Unsupported { what: format!("mov.{} to {} parts", ty.name(), dsts.len()) };
        let part = part_type(ty, dsts.len()).ok_or_else(unsupported)?;
        if ty.bits() == 128 {
            let from = self.pair(src)?;
            let saved = self.temporary_double();
            let handler = lanes::copy(Type::B64);
            self.emit(HELPER, Action::Lanes(handler, Operands { d: saved, a: from[1], ..Operands::default() }));
            let (low, high) = (self.destination(dsts[0], part)?, self.destination(dsts[1], part)?);
            self.lanes(handler, Operands { d: low, a: from[0], ..Operands::default() });
            self.emit(HELPER, Action::Lanes(handler, Operands { d: high, a: saved, ..Operands::default() }));
            return Ok(());
        }
        let handler = match (ty.bits(), part.bits()) {
            (64, 32) => lanes!(|a: u64, shift: u32| -> u32 { (a >> (shift & 63)) as u32 }),
            (64, 16) => lanes!(|a: u64, shift: u32| -> u16 { (a >> (shift & 63)) as u16 }),
            (32, 16) => lanes!(|a: u32, shift: u32| -> u16 { (a >> (shift & 31)) as u16 }),
            (32, 8) | (16, 8) => lanes!(|a: u32, shift: u32| -> u8 { (a >> (shift & 31)) as u8 }),
            _ => return Err(unsupported()),
        };
        // The source may be among the destinations.
        let mut a = self.value(src, ty)?;
        if ty.bits() < 64 {
            let saved = self.temporary_words(1);
            self.emit(HELPER, Action::Lanes(lanes::copy(Type::B32), Operands { d: saved, a, ..Operands::default() }));
            a = saved;
        }
        for (index, &dst) in dsts.iter().enumerate() {
            let b = self.word(Operand::Integer(u64::from(part.bits()) * index as u64), Type::U32)?;
            let d = self.destination(dst, part)?;
            let action = Action::Lanes(handler, Operands { d, a, b, ..Operands::default() });
            self.emit(if index == 0 { COUNTED } else { HELPER }, action);
        }
        Ok(())
    }

    pub(super) fn convert(&mut self, to: Type, from: Type, mode: Mode, dst: Destination, src: Operand) -> Decoded<()> {
        let from_wide = src.register().map_or(from.bits(), |register| self.type_of(register).bits()) == 64;
        let to_wide = dst.map_or(to.bits(), |register| self.type_of(register).bits()) == 64;
        let (handler, e) = found(lanes::convert(to, from, mode, to_wide, from_wide), || {
            format!("conversion to .{} from .{}", to.name(), from.name())
        })?;
        let a = if from_wide { self.wide(src, from)? } else { self.word(src, from)? };
        let d = self.destination(dst, if to_wide { Type::B64 } else { Type::B32 })?;
        self.lanes(handler, Operands { d, a, e, ..Operands::default() });
        Ok(())
    }
}

/// The type of each of `count` parts of a value.
fn part_type(ty: Type, count: usize) -> Option<Type> {
    match ty.bits() as usize / count.max(1) {
        8 => Some(Type::B8),
        16 => Some(Type::B16),
        32 => Some(Type::B32),
        64 => Some(Type::B64),
        _ => None,
    }
}

fn four_halves(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let parts = [operands.a, operands.b, operands.c, operands.e].map(|operand| *registers.word(operand));
    let values = std::array::from_fn(|lane| {
        parts.iter().rev().fold(0u64, |value, part| value << 16 | u64::from(part[lane] & 0xffff))
    });
    registers.set_wide(operands.d, mask, &values);
}

fn four_bytes(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let parts = [operands.a, operands.b, operands.c, operands.e].map(|operand| *registers.word(operand));
    let values = std::array::from_fn(|lane| parts.iter().rev().fold(0, |value, part| value << 8 | part[lane] & 0xff));
    registers.set_word(operands.d, mask, &values);
}
