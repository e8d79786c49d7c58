//! Decodes arithmetic and comparisons: picks the handler of each instruction from [`crate::lanes`]. The entry for each
//! instruction of a body; what is neither arithmetic nor a move goes to `memory`. Emits steps.

use ptx::{BinaryOp, Combine, Comparison, Destination, Kind, Mode, Op, Operand, TernaryOp, Type, UnaryOp};

use super::function::{Decoded, FunctionDecoder, HELPER};
use crate::LoadErrorReason;
use crate::lanes::{self, ALWAYS, FIXED, Handler, NEGATED, Operands};
use crate::program::code::{Action, Constant};
use crate::program::inspection::Rule;

pub(super) fn found<T>(handler: Option<T>, what: impl Fn() -> String) -> Decoded<T> {
    handler.ok_or_else(|| LoadErrorReason::Unsupported { what: what() })
}

impl FunctionDecoder<'_, '_> {
    /// Decodes one instruction.
    pub(super) fn instruction(&mut self, op: &Op) -> Decoded<()> {
        match op {
            Op::Move { ty, dst, src } => self.copy(*ty, *dst, *src),
            Op::MoveVector { ty, dsts, srcs } => self.copy_vector(*ty, dsts, srcs),
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
            Op::IsType { ty, dst, src } => self.is_type(*ty, *dst, *src),
            Op::Unary { op, ty, mode, dst, a } => self.unary(*op, *ty, *mode, *dst, *a),
            Op::Binary { op, ty, mode, dst, a, b } => self.binary(*op, *ty, *mode, *dst, *a, *b),
            Op::Ternary { op, ty, mode, dst, a, b, c } => self.ternary(*op, *ty, *mode, *dst, [*a, *b, *c]),
            Op::LogicAndTest { table, combine, dst, dst_is_set, a, b, c } => {
                self.logic_and_test(*table, *combine, [*dst, *dst_is_set], [*a, *b, *c])
            }
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
                let c = self.predicate(*predicate)?;
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

    /// A video instruction: operand `e` names a constant row with its form.
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
        combine.map_or(Ok(ALWAYS), |combine| self.predicate(combine.predicate))
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

    /// `lop3` with a predicate: compares the result with zero, and combines this with another predicate.
    fn logic_and_test(
        &mut self,
        table: u8,
        combine: Combine,
        [dst, dst_is_set]: [Destination; 2],
        [a, b, c]: [Operand; 3],
    ) -> Decoded<()> {
        let (handler, e) =
            found(lanes::ternary(TernaryOp::Logic(table), Type::B32, Mode::default()), || "lop3".into())?;
        let (a, b, c) = (self.value(a, Type::B32)?, self.value(b, Type::B32)?, self.value(c, Type::B32)?);
        let with = self.predicate(combine.predicate)?;
        let d = self.destination(dst, Type::B32)?;
        self.lanes(handler, Operands { d, a, b, c, e });
        let is_not = found(lanes::compare(Comparison::NotEqual, Type::B32, false), || "lop3".into())?;
        let zero = self.word(Operand::Integer(0), Type::B32)?;
        let e = lanes::combination(Some(combine.op), self.temporary_predicate());
        let test = Operands { d: self.destination(dst_is_set, Type::Pred)?, a: d, b: zero, c: with, e };
        self.emit(HELPER, Action::Lanes(is_not, test));
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

/// The name of an operation for messages, from the name of its variant.
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
