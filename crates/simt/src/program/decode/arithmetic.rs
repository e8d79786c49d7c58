//! Decodes arithmetic, comparisons and selections: picks the handler of each from [`crate::lanes`].

use ptx::{
    BinaryOp, Combine, Comparison, Destination, FloatProperty, Kind, Mode, Operand, ScalarVideo, SimdVideo, TernaryOp,
    Type, UnaryOp,
};

use super::function::{Decoded, FunctionDecoder, HELPER, found};
use crate::lanes::{self, ALWAYS, FIXED, Handler, NEGATED, Operands};
use crate::program::code::{Action, Constant};
use crate::program::inspection::Rule;

impl FunctionDecoder<'_, '_> {
    pub(super) fn convert_pair(
        &mut self,
        (to, from): (Type, Type),
        mode: Mode,
        dst: Destination,
        [a, b]: [Operand; 2],
    ) -> Decoded<()> {
        let (handler, e) = found(lanes::convert_pair(to, from, mode), || {
            format!("conversion to .{} from two .{}", to.name(), from.name())
        })?;
        let (a, b, d) = (self.value(a, from)?, self.value(b, from)?, self.destination(dst, to)?);
        self.arithmetic(handler, Operands { d, a, b, e, ..Operands::default() })
    }

    pub(super) fn convert_pack(
        &mut self,
        (bits, signed): (u32, bool),
        dst: Destination,
        [a, b]: [Operand; 2],
        c: Option<Operand>,
    ) -> Decoded<()> {
        let (handler, e) = lanes::convert_pack(bits, signed);
        let (a, b) = (self.value(a, Type::S32)?, self.value(b, Type::S32)?);
        let c = self.value(c.unwrap_or(Operand::Integer(0)), Type::B32)?;
        let d = self.destination(dst, Type::B32)?;
        self.arithmetic(handler, Operands { d, a, b, c, e })
    }

    pub(super) fn scalar_video(&mut self, video: &ScalarVideo) -> Decoded<()> {
        let (handler, form) = lanes::scalar_video(video);
        let ty = |signed| if signed { Type::S32 } else { Type::U32 };
        let a = self.value(video.a.operand, ty(video.a.signed))?;
        let b = self.value(video.b.operand, ty(video.b.signed))?;
        self.video(handler, form, video.dst, [a, b], video.c.unwrap_or(Operand::Integer(0)))
    }

    pub(super) fn simd_video(&mut self, video: &SimdVideo) -> Decoded<()> {
        let (handler, form) = lanes::simd_video(video);
        let (a, b) = (self.value(video.a, Type::B32)?, self.value(video.b, Type::B32)?);
        self.video(handler, form, video.dst, [a, b], video.c)
    }

    pub(super) fn bit_field_insert(
        &mut self,
        ty: Type,
        dst: Destination,
        [a, b]: [Operand; 2],
        [position, length]: [Operand; 2],
    ) -> Decoded<()> {
        let handler = found(lanes::bit_field_insert(ty), || format!("bfi of type .{}", ty.name()))?;
        let (a, b, d) = (self.value(a, ty)?, self.value(b, ty)?, self.destination(dst, ty)?);
        let (c, e) = (self.word(position, Type::U32)?, self.word(length, Type::U32)?);
        self.arithmetic(handler, Operands { d, a, b, c, e })
    }

    pub(super) fn with_carry(
        &mut self,
        which: lanes::Carry,
        ty: Type,
        dst: Destination,
        [a, b]: [Operand; 2],
        c: Option<Operand>,
    ) -> Decoded<()> {
        let handler = found(lanes::carry(which, ty), || format!("carries of type .{}", ty.name()))?;
        let (a, b, d) = (self.value(a, ty)?, self.value(b, ty)?, self.destination(dst, ty)?);
        let c = match c {
            Some(c) => self.value(c, ty)?,
            None => a,
        };
        self.arithmetic(handler, Operands { d, a, b, c, e: self.carry })
    }

    pub(super) fn set_predicate(
        &mut self,
        (comparison, flush): (Comparison, bool),
        ty: Type,
        combine: Option<Combine>,
        dsts: [Destination; 2],
        [a, b]: [Operand; 2],
    ) -> Decoded<()> {
        let op = combine.map(|combine| combine.op);
        if let Type::F16x2 | Type::Bf16x2 = ty {
            let handler = lanes::set_pair(comparison, Type::Pred, ty, flush, op);
            let handler = found(handler, || format!("setp of type .{}", ty.name()))?;
            return self.set_two_predicates(handler, ty, combine, dsts, [a, b]);
        }
        let handler = found(lanes::compare(comparison, ty, flush), || {
            format!("setp of type .{} with this comparison", ty.name())
        })?;
        let (a, b) = (self.value(a, ty)?, self.value(b, ty)?);
        let c = self.combined(combine)?;
        let (d, second) = (self.destination(dsts[0], Type::Pred)?, self.destination(dsts[1], Type::Pred)?);
        self.arithmetic(handler, Operands { d, a, b, c, e: lanes::combination(op, second) })
    }

    pub(super) fn set(
        &mut self,
        (comparison, flush): (Comparison, bool),
        (to, ty): (Type, Type),
        combine: Option<Combine>,
        dst: Destination,
        [a, b]: [Operand; 2],
    ) -> Decoded<()> {
        let op = combine.map(|combine| combine.op);
        let packed = lanes::set_pair(comparison, to, ty, flush, op);
        let handler = packed.or_else(|| lanes::set(comparison, to, ty, flush, op));
        let (handler, e) = found(handler, || format!("set.{}.{} with this comparison", to.name(), ty.name()))?;
        let (a, b, d) = (self.value(a, ty)?, self.value(b, ty)?, self.destination(dst, to)?);
        let c = self.combined(combine)?;
        self.arithmetic(handler, Operands { d, a, b, c, e })
    }

    pub(super) fn select(
        &mut self,
        ty: Type,
        dst: Destination,
        [a, b]: [Operand; 2],
        predicate: Operand,
    ) -> Decoded<()> {
        let (a, b, d) = (self.value(a, ty)?, self.value(b, ty)?, self.destination(dst, ty)?);
        let c = self.predicate(predicate)?;
        self.arithmetic(lanes::select(ty), Operands { d, a, b, c, ..Operands::default() })
    }

    pub(super) fn select_by_sign(
        &mut self,
        (ty, selector): (Type, Type),
        flush: bool,
        dst: Destination,
        [a, b]: [Operand; 2],
        c: Operand,
    ) -> Decoded<()> {
        let handler =
            found(lanes::select_by_sign(ty, selector, flush), || format!("slct.{}.{}", ty.name(), selector.name()))?;
        let (a, b, d) = (self.value(a, ty)?, self.value(b, ty)?, self.destination(dst, ty)?);
        let c = self.value(c, selector)?;
        self.arithmetic(handler, Operands { d, a, b, c, ..Operands::default() })
    }

    pub(super) fn test_property(
        &mut self,
        property: FloatProperty,
        ty: Type,
        dst: Destination,
        a: Operand,
    ) -> Decoded<()> {
        let handler = found(lanes::test_property(property, ty), || format!("testp of type .{}", ty.name()))?;
        let (a, d) = (self.value(a, ty)?, self.destination(dst, Type::Pred)?);
        self.arithmetic(handler, Operands { d, a, ..Operands::default() })
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
        (handler, e): (Handler, u32),
        ty: Type,
        combine: Option<Combine>,
        [dst, dst_not]: [Destination; 2],
        [a, b]: [Operand; 2],
    ) -> Decoded<()> {
        let (a, b, c) = (self.value(a, ty)?, self.value(b, ty)?, self.combined(combine)?);
        let d = self.temporary_predicate();
        let upper = self.temporary_predicate();
        self.lanes(handler, Operands { d, a, b, c, e });
        let copy = found(lanes::predicate_logic(BinaryOp::And), || "setp".into())?;
        for (from, to) in [(d, dst), (upper, dst_not)] {
            let d = self.destination(to, Type::Pred)?;
            self.emit(HELPER, Action::Lanes(copy, Operands { d, a: from, b: ALWAYS, ..Operands::default() }));
        }
        Ok(())
    }

    fn combined(&mut self, combine: Option<Combine>) -> Decoded<u32> {
        combine.map_or(Ok(ALWAYS), |combine| self.predicate(combine.predicate))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, ty: Type, mode: Mode, dst: Destination, a: Operand) -> Decoded<()> {
        if ty == Type::Pred && op == UnaryOp::Not {
            let (a, d) = (self.predicate(a)?, self.destination(dst, ty)?);
            let handler = found(lanes::predicate_logic(BinaryOp::And), || "not.pred".into())?;
            self.lanes(handler, Operands { d, a: a ^ NEGATED, b: ALWAYS, ..Operands::default() });
            return Ok(());
        }
        let handler = found(lanes::unary(op, ty, mode), || format!("{} of type .{}", op.name(), ty.name()))?;
        let counts =
            matches!(op, UnaryOp::PopulationCount | UnaryOp::CountLeadingZeros | UnaryOp::FindLeadingBit { .. });
        let a = self.value(a, ty)?;
        let d = self.destination(dst, if counts { Type::U32 } else { ty })?;
        self.lanes(handler, Operands { d, a, e: lanes::pack(mode), ..Operands::default() });
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        a: Operand,
        b: Operand,
    ) -> Decoded<()> {
        let what = || format!("{} of type .{} with these modifiers", op.name(), ty.name());
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

    /// `lop3` with a predicate: compares the result with zero, and combines this with another
    /// predicate.
    pub(super) fn logic_and_test(
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

    pub(super) fn ternary(
        &mut self,
        op: TernaryOp,
        ty: Type,
        mode: Mode,
        dst: Destination,
        [a, b, c]: [Operand; 3],
    ) -> Decoded<()> {
        let (handler, e) = found(lanes::ternary(op, ty, mode), || {
            format!("{} of type .{} with these modifiers", op.name(), ty.name())
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

fn twice(ty: Type) -> Type {
    match (ty.kind(), ty.bits()) {
        (Kind::Signed, 16) => Type::S32,
        (Kind::Signed, _) => Type::S64,
        (_, 16) => Type::U32,
        _ => Type::U64,
    }
}
