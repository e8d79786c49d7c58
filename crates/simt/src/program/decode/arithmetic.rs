//! Moves, arithmetic, comparisons.

use std::ops::Range;

use ptx::{BinaryOp, Combine, Destination, Kind, Mode, Op, Operand, Space, Symbol, TernaryOp, Type, UnaryOp};

use super::super::code::{Action, Constant};
use super::super::inspection::Rule;
use super::super::variables::{constants, window};
use super::operands::is_fixed;
use super::{COUNTED, Decoded, FunctionDecoder, HELPER};
use crate::LoadErrorReason;
use crate::lanes::{self, ALWAYS, FIXED, Handler, NEGATED, Operands, Registers, lanes};
use crate::memory::{BLOCK_WINDOW_BYTES, WINDOW_BYTES, rank_of};

fn found<T>(handler: Option<T>, what: impl Fn() -> String) -> Decoded<T> {
    handler.ok_or_else(|| LoadErrorReason::Unsupported { what: what() })
}

impl FunctionDecoder<'_, '_> {
    /// Decodes one instruction.
    pub(super) fn instruction(&mut self, op: &Op) -> Decoded<()> {
        match op {
            Op::Move { ty, dst, src } => self.copy(*ty, *dst, *src),
            Op::Pack { ty, dst, parts } => self.pack(*ty, *dst, parts),
            Op::Unpack { ty, dsts, src } => self.unpack(*ty, dsts, *src),
            Op::Convert { to, from, mode, dst, src } => self.convert(*to, *from, *mode, *dst, *src),
            Op::ConvertPair { to, from, mode, dst, a, b } => {
                let (handler, e) = found(lanes::convert_pair(*to, *from, *mode), || {
                    format!("conversion to .{} from two .{}", to.name(), from.name())
                })?;
                let (a, b, d) = (self.value(*a, *from)?, self.value(*b, *from)?, self.destination(*dst, *to)?);
                self.lanes(handler, Operands { d, a, b, e, ..Operands::default() });
                Ok(())
            }
            Op::ConvertPack { bits, signed, dst, a, b, c } => {
                let (handler, e) = lanes::convert_pack(*bits, *signed);
                let (a, b) = (self.value(*a, Type::S32)?, self.value(*b, Type::S32)?);
                let c = self.value(c.unwrap_or(Operand::Integer(0)), Type::B32)?;
                let d = self.destination(*dst, Type::B32)?;
                self.lanes(handler, Operands { d, a, b, c, e });
                Ok(())
            }
            Op::ScalarVideo(video) => {
                let (handler, form) = lanes::scalar_video(video);
                let ty = |signed| if signed { Type::S32 } else { Type::U32 };
                let a = self.value(video.a.operand, ty(video.a.signed))?;
                let b = self.value(video.b.operand, ty(video.b.signed))?;
                self.video(handler, form, video.dst, [a, b], video.c.unwrap_or(Operand::Integer(0)))
            }
            Op::SimdVideo(video) => {
                let (handler, form) = lanes::simd_video(video);
                let (a, b) = (self.value(video.a, Type::B32)?, self.value(video.b, Type::B32)?);
                self.video(handler, form, video.dst, [a, b], video.c)
            }
            Op::MapToBlock { ty, dst, src, rank } => self.map_to_block(*ty, *dst, *src, *rank),
            Op::RankOfAddress { ty, dst, src } => self.rank_of_address(*ty, *dst, *src),
            Op::ConvertAddress { space, to_generic, ty, dst, src } => {
                self.convert_address(*space, *to_generic, *ty, *dst, *src)
            }
            Op::IsSpace { space, dst, src } => self.is_space(*space, *dst, *src),
            Op::Unary { op, ty, mode, dst, a } => self.unary(*op, *ty, *mode, *dst, *a),
            Op::Binary { op, ty, mode, dst, a, b } => self.binary(*op, *ty, *mode, *dst, *a, *b),
            Op::Ternary { op, ty, mode, dst, a, b, c } => self.ternary(*op, *ty, *mode, *dst, [*a, *b, *c]),
            Op::BitFieldInsert { ty, dst, a, b, position, length } => {
                let handler = found(lanes::bit_field_insert(*ty), || format!("bfi of type .{}", ty.name()))?;
                let (a, b, d) = (self.value(*a, *ty)?, self.value(*b, *ty)?, self.destination(*dst, *ty)?);
                let (c, e) = (self.word(*position, Type::U32)?, self.word(*length, Type::U32)?);
                self.lanes(handler, Operands { d, a, b, c, e });
                Ok(())
            }
            Op::Carry { op, ty, carry_in, carry_out, dst, a, b, c } => {
                let which = lanes::Carry { op: *op, carry_in: *carry_in, carry_out: *carry_out };
                let handler = found(lanes::carry(which, *ty), || format!("carries of type .{}", ty.name()))?;
                let (a, b, d) = (self.value(*a, *ty)?, self.value(*b, *ty)?, self.destination(*dst, *ty)?);
                let c = match c {
                    Some(c) => self.value(*c, *ty)?,
                    None => a,
                };
                self.lanes(handler, Operands { d, a, b, c, e: self.carry });
                Ok(())
            }
            Op::SetPredicate {
                comparison, ty: ty @ (Type::F16x2 | Type::Bf16x2), flush_subnormals, combine, ..
            } => {
                let op_of = combine.map(|combine| combine.op);
                let (handler, e) =
                    found(lanes::set_pair(*comparison, Type::Pred, *ty, *flush_subnormals, op_of), || {
                        format!("setp of type .{}", ty.name())
                    })?;
                self.set_two_predicates(op, handler, e, *ty, *combine)
            }
            Op::SetPredicate { comparison, ty, flush_subnormals, combine, dst, dst_not, a, b } => {
                let handler = found(lanes::compare(*comparison, *ty, *flush_subnormals), || {
                    format!("setp of type .{} with this comparison", ty.name())
                })?;
                let (a, b) = (self.value(*a, *ty)?, self.value(*b, *ty)?);
                let c = self.combined(*combine)?;
                let (d, second) = (self.destination(*dst, Type::Pred)?, self.destination(*dst_not, Type::Pred)?);
                let e = lanes::combination(combine.map(|combine| combine.op), second);
                self.lanes(handler, Operands { d, a, b, c, e });
                Ok(())
            }
            Op::Set { comparison, to, ty, flush_subnormals, combine, dst, a, b } => {
                let op = combine.map(|combine| combine.op);
                let packed = lanes::set_pair(*comparison, *to, *ty, *flush_subnormals, op);
                let handler = packed.or_else(|| lanes::set(*comparison, *to, *ty, *flush_subnormals, op));
                let (handler, e) = found(handler, || format!("set.{}.{} with this comparison", to.name(), ty.name()))?;
                let (a, b, d) = (self.value(*a, *ty)?, self.value(*b, *ty)?, self.destination(*dst, *to)?);
                let c = self.combined(*combine)?;
                self.lanes(handler, Operands { d, a, b, c, e });
                Ok(())
            }
            Op::Select { ty, dst, a, b, predicate } => {
                let (a, b, d) = (self.value(*a, *ty)?, self.value(*b, *ty)?, self.destination(*dst, *ty)?);
                let c = self.predicate_register(*predicate)?;
                self.lanes(lanes::select(*ty), Operands { d, a, b, c, ..Operands::default() });
                Ok(())
            }
            Op::SelectBySign { ty, selector, flush_subnormals, dst, a, b, c } => {
                let handler = found(lanes::select_by_sign(*ty, *selector, *flush_subnormals), || {
                    format!("slct.{}.{}", ty.name(), selector.name())
                })?;
                let (a, b, d) = (self.value(*a, *ty)?, self.value(*b, *ty)?, self.destination(*dst, *ty)?);
                let c = self.value(*c, *selector)?;
                self.lanes(handler, Operands { d, a, b, c, ..Operands::default() });
                Ok(())
            }
            Op::TestProperty { property, ty, dst, a } => {
                let handler = found(lanes::test_property(*property, *ty), || format!("testp of type .{}", ty.name()))?;
                let (a, d) = (self.value(*a, *ty)?, self.destination(*dst, Type::Pred)?);
                self.lanes(handler, Operands { d, a, ..Operands::default() });
                Ok(())
            }
            other => self.memory_or_control(other),
        }
    }

    /// A video instruction: its form stands in a constant row, which operand `e` names.
    fn video(&mut self, handler: Handler, form: u64, dst: Destination, [a, b]: [u32; 2], c: Operand) -> Decoded<()> {
        let (c, e) = (self.value(c, Type::B32)?, self.wide(Operand::Integer(form), Type::B64)?);
        let d = self.destination(dst, Type::B32)?;
        self.lanes(handler, Operands { d, a, b, c, e });
        Ok(())
    }

    /// `setp` of two halves, whose handler writes two neighbouring predicates.
    fn set_two_predicates(
        &mut self,
        op: &Op,
        handler: Handler,
        e: u32,
        ty: Type,
        combine: Option<Combine>,
    ) -> Decoded<()> {
        let Op::SetPredicate { dst, dst_not, a, b, .. } = op else { return Ok(()) };
        let (a, b, c) = (self.value(*a, ty)?, self.value(*b, ty)?, self.combined(combine)?);
        let d = self.temporary_predicate();
        let upper = self.temporary_predicate();
        self.lanes(handler, Operands { d, a, b, c, e });
        let copy = found(lanes::predicate_logic(BinaryOp::And), || "setp".into())?;
        for (from, to) in [(d, dst), (upper, dst_not)] {
            let d = self.destination(*to, Type::Pred)?;
            self.emit(HELPER, Action::Lanes(copy, Operands { d, a: from, b: ALWAYS, ..Operands::default() }));
        }
        Ok(())
    }

    fn combined(&mut self, combine: Option<Combine>) -> Decoded<u32> {
        combine.map_or(Ok(ALWAYS), |combine| self.predicate_register(combine.predicate))
    }

    fn copy(&mut self, ty: Type, dst: Destination, src: Operand) -> Decoded<()> {
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

    fn pack(&mut self, ty: Type, dst: Destination, parts: &[Operand]) -> Decoded<()> {
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

    fn unpack(&mut self, ty: Type, dsts: &[Destination], src: Operand) -> Decoded<()> {
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

    fn convert(&mut self, to: Type, from: Type, mode: Mode, dst: Destination, src: Operand) -> Decoded<()> {
        let bits = |decoder: &Self, operand: Operand| match operand {
            Operand::Register(register) => decoder.type_of(register).bits(),
            _ => from.bits(),
        };
        let from_wide = bits(self, src) == 64;
        let to_wide = dst.map_or(to.bits(), |register| self.type_of(register).bits()) == 64;
        let (handler, e) = found(lanes::convert(to, from, mode, to_wide, from_wide), || {
            format!("conversion to .{} from .{}", to.name(), from.name())
        })?;
        let a = if from_wide { self.wide(src, from)? } else { self.word(src, from)? };
        let d = self.destination(dst, if to_wide { Type::B64 } else { Type::B32 })?;
        self.lanes(handler, Operands { d, a, e, ..Operands::default() });
        Ok(())
    }

    fn convert_address(
        &mut self,
        space: Space,
        to_generic: bool,
        ty: Type,
        dst: Destination,
        src: Operand,
    ) -> Decoded<()> {
        let (a, d) = (self.value(src, ty)?, self.destination(dst, ty)?);
        // The parameters of a function that takes their address lie in local memory.
        let space = if space == Space::Parameter && !self.function.is_kernel { Space::Local } else { space };
        let base = window(space);
        if base == 0 || ty.bits() != 64 {
            // Generic, global and constant addresses are the same numbers; 32-bit addresses have no windows.
            self.lanes(lanes::copy(ty), Operands { d, a, ..Operands::default() });
            return Ok(());
        }
        let b = self.wide(Operand::Integer(base), Type::U64)?;
        let handler: Handler = if to_generic {
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) })
        } else {
            lanes!(|a: u64, b: u64| -> u64 { a.wrapping_sub(b) })
        };
        self.lanes(handler, Operands { d, a, b, ..Operands::default() });
        Ok(())
    }

    /// `mapa`: the same place in another block's memory. What no cluster has stays an address that is in no block.
    fn map_to_block(&mut self, ty: Type, dst: Destination, src: Operand, rank: Operand) -> Decoded<()> {
        let (a, b) = (self.value(src, ty)?, self.word(rank, Type::U32)?);
        let d = self.destination(dst, ty)?;
        let handler: Handler = match ty.bits() {
            32 => lanes!(cold |a: u32, rank: u32| -> u32 { map_address(a.into(), rank) as u32 }),
            _ => lanes!(cold |a: u64, rank: u32| -> u64 { map_address(a, rank) }),
        };
        self.lanes(handler, Operands { d, a, b, ..Operands::default() });
        Ok(())
    }

    /// `getctarank`.
    fn rank_of_address(&mut self, ty: Type, dst: Destination, src: Operand) -> Decoded<()> {
        let (a, d) = (self.value(src, ty)?, self.destination(dst, Type::U32)?);
        let handler: Handler = match ty.bits() {
            32 => lanes!(cold |a: u32| -> u32 { rank_of(u64::from(a) & (WINDOW_BYTES - 1)) as u32 }),
            _ => lanes!(cold |a: u64| -> u32 { rank_of(a & (WINDOW_BYTES - 1)) as u32 }),
        };
        self.lanes(handler, Operands { d, a, ..Operands::default() });
        Ok(())
    }

    fn is_space(&mut self, space: Space, dst: Destination, src: Operand) -> Decoded<()> {
        let d = self.destination(dst, Type::Pred)?;
        let wide = !matches!(src, Operand::Register(register) if self.type_of(register).bits() < 64);
        if !wide {
            return Err(LoadErrorReason::Unsupported { what: "isspacep of a 32-bit address".into() });
        }
        let a = self.wide(src, Type::U64)?;
        if space == Space::Shared {
            // Its own part of what the cluster shares.
            let b = self.builder.doubles.row(Constant::Shared(window(space))) | FIXED;
            self.lanes(in_block, Operands { d, a, b, ..Operands::default() });
            return Ok(());
        }
        let handler: Handler = match space {
            Space::ClusterShared => |registers, operands, mask| in_window(registers, operands, mask, Space::Shared),
            Space::Local => |registers, operands, mask| in_window(registers, operands, mask, Space::Local),
            Space::Parameter => |registers, operands, mask| in_window(registers, operands, mask, Space::Parameter),
            Space::Global => |registers, operands, mask| {
                let constant = among_constants(registers, operands);
                let global = registers.test2::<false, u64>(operands.a, operands.a, is_global);
                registers.set_predicate(operands.d, mask, global & !constant);
            },
            Space::Constant => |registers, operands, mask| {
                let constant = among_constants(registers, operands);
                registers.set_predicate(operands.d, mask, constant);
            },
            Space::Generic | Space::Shared => {
                return Err(LoadErrorReason::Unsupported { what: format!("isspacep.{}", space.name()) });
            }
        };
        let [b, c] = match space {
            Space::Global | Space::Constant => {
                let Range { start, end } = constants(self.builder.module, self.builder.addresses);
                [self.wide(Operand::Integer(start), Type::U64)?, self.wide(Operand::Integer(end), Type::U64)?]
            }
            _ => [a, a],
        };
        self.lanes(handler, Operands { d, a, b, c, ..Operands::default() });
        Ok(())
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand) -> Decoded<()> {
        if ty == Type::Pred && op == UnaryOp::Not {
            let (a, d) = (self.predicate(a)?, self.destination(dst, ty)?);
            let handler = found(lanes::predicate_logic(BinaryOp::And), || "not.pred".into())?;
            self.lanes(handler, Operands { d, a: a ^ NEGATED, b: ALWAYS, ..Operands::default() });
            return Ok(());
        }
        let handler = found(lanes::unary(op, ty, mode), || format!("{} of type .{}", words(&op), ty.name()))?;
        let counts =
            matches!(op, UnaryOp::PopulationCount | UnaryOp::CountLeadingZeros | UnaryOp::FindLeadingBit { .. });
        let a = self.value(a, ty)?;
        let d = self.destination(dst, if counts { Type::U32 } else { ty })?;
        self.lanes(handler, Operands { d, a, e: lanes::pack(mode), ..Operands::default() });
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand, b: Operand) -> Decoded<()> {
        let what = || format!("{} of type .{} with these modifiers", words(&op), ty.name());
        if ty == Type::Pred {
            let handler = found(lanes::predicate_logic(op), what)?;
            let (a, b, d) = (self.predicate(a)?, self.predicate(b)?, self.destination(dst, ty)?);
            self.lanes(handler, Operands { d, a, b, ..Operands::default() });
            return Ok(());
        }
        let handler = found(lanes::binary(op, ty, mode), what)?;
        let amount = matches!(
            op,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::SignZeroExtend { .. } | BinaryOp::BitMask { .. }
        );
        let to = if op == BinaryOp::MultiplyWide { twice(ty) } else { ty };
        let (a, b) = (self.value(a, ty)?, self.value(b, if amount { Type::U32 } else { ty })?);
        let d = self.destination(dst, to)?;
        self.lanes(handler, Operands { d, a, b, e: lanes::pack(mode), ..Operands::default() });
        if matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
            && ty.kind() != Kind::Float
            && !self.is_never_zero(b, ty)
        {
            self.inspect(Rule::Divisor { row: b, bits: ty.bits() });
        }
        Ok(())
    }

    /// Whether a row is a constant other than zero.
    fn is_never_zero(&self, row: u32, ty: Type) -> bool {
        let pool = if ty.bits() == 64 { &self.builder.doubles } else { &self.builder.words };
        let constant = pool.list.get((row & !FIXED) as usize).filter(|_| row & FIXED != 0);
        matches!(constant, Some(Constant::Bits(bits)) if bits << (64 - ty.bits()) != 0)
    }

    fn ternary(
        &mut self,
        op: TernaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        [a, b, c]: [Operand; 3],
    ) -> Decoded<()> {
        let (handler, e) = found(lanes::ternary(op, ty, mode), || {
            format!("{} of type .{} with these modifiers", words(&op), ty.name())
        })?;
        let wide = if op == TernaryOp::MultiplyAddWide { twice(ty) } else { ty };
        let a = self.value(a, ty)?;
        let (b, c) = match op {
            TernaryOp::BitFieldExtract => (self.word(b, Type::U32)?, self.word(c, Type::U32)?),
            _ => (self.value(b, ty)?, self.value(c, wide)?),
        };
        let d = self.destination(dst, wide)?;
        self.lanes(handler, Operands { d, a, b, c, e });
        if op == TernaryOp::FindNthSet {
            self.inspect(Rule::AtMost { row: b, limit: 31, operand: "the base of `fns`" });
        }
        Ok(())
    }
}

/// The name of an operation in words, from the name of its variant.
fn words(op: &impl std::fmt::Debug) -> String {
    let name = format!("{op:?}");
    let mut text = String::new();
    for character in name.chars().take_while(|character| character.is_alphanumeric()) {
        if character.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(character.to_lowercase());
    }
    text
}

fn twice(ty: Type) -> Type {
    match (ty.kind(), ty.bits()) {
        (Kind::Signed, 16) => Type::S32,
        (Kind::Signed, _) => Type::S64,
        (_, 16) => Type::U32,
        _ => Type::U64,
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

/// The lanes whose address `a` is from `b` to less than `c`, where the module's constants lie.
fn among_constants(registers: &Registers<'_>, operands: &Operands) -> u32 {
    registers.test2::<false, u64>(operands.a, operands.b, |address, start| address >= start)
        & registers.test2::<false, u64>(operands.a, operands.c, |address, end| address < end)
}

fn is_global(address: u64, _: u64) -> bool {
    crate::machine::space_of(address) == Space::Global
}

/// The place in the block `rank` of the cluster that an address is in its own block.
#[inline(always)]
fn map_address(address: u64, rank: u32) -> u64 {
    const RANKS: u64 = WINDOW_BYTES - BLOCK_WINDOW_BYTES;
    let start = (u64::from(rank) * BLOCK_WINDOW_BYTES).min(RANKS);
    address & !RANKS | start
}

/// Whether an address is in the shared memory of a block, whose first address is the other operand.
fn in_block(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
    let within = |address: u64, start: u64| address.wrapping_sub(start) < BLOCK_WINDOW_BYTES;
    let result = registers.test2::<false, u64>(operands.a, operands.b, within);
    registers.set_predicate(operands.d, mask, result);
}

fn in_window(registers: &mut Registers<'_>, operands: &Operands, mask: u32, space: Space) {
    let result =
        registers.test2::<false, u64>(operands.a, operands.a, |address, _| crate::machine::space_of(address) == space);
    registers.set_predicate(operands.d, mask, result);
}
