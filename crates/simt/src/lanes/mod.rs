//! Arithmetic on the 32 lanes of a warp at once.
//!
//! A register of a warp is a *row*: 32 words, or 32 double words for 64-bit types; narrower values are zero-extended.
//! Predicate registers are bit masks. A [`Handler`] is the code of one instruction: the operation, its types and modifiers
//! folded into one function, chosen when the program is decoded, that computes all 32 lanes and keeps those that are
//! active. The loops over lanes have fixed length and no branches, so that the compiler vectorises them; each is compiled
//! for the instruction sets that [`pulp`] knows, and the best one that the host has is taken.
//!
//! What the operations mean is PTX ISA, "Instruction Set". Where PTX leaves a result open, it is:
//!
//! - integer division by zero: all bits set, and the dividend as remainder;
//! - f32 NaN: 0x7fffffff, as the hardware; f64 NaN: the first NaN operand, made quiet, or 0xfff8000000000000;
//! - `.approx` and `.full` operations, and functions such as `sin`: computed in f64 and rounded to f32, which is within the
//!   hardware's documented error.

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod soft;

pub(crate) use compare::{combination, compare, select_by_sign, set, test_property};
pub(crate) use convert::{convert, convert_pair, float_immediate};
pub(crate) use float::{add_double, add_single};
pub(crate) use half::add_halves;

use ptx::{BinaryOp, CarryOp, Mode, Precision, Rounding, TernaryOp, Type, UnaryOp};
use pulp::{Arch, Scalar, Simd, WithSimd};

/// All 32 lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// A register of 32 bits or fewer, for the 32 lanes of a warp.
pub(crate) type Row = [u32; 32];
/// A 64-bit register.
pub(crate) type WideRow = [u64; 32];

/// Bit of an operand: it names a row of the [`Constants`], not of the current frame.
pub(crate) const FIXED: u32 = 1 << 31;
/// Bit of a predicate operand: negated.
pub(crate) const NEGATED: u32 = 1 << 30;
/// The predicate operand that is false in every lane.
pub(crate) const NEVER: u32 = FIXED;
/// The predicate operand that is true in every lane.
pub(crate) const ALWAYS: u32 = FIXED | NEGATED;

/// What an instruction works on: row numbers, mostly. `d` is written, `a`, `b` and `c` are read, `e` is what else the
/// handler wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) struct Operands {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub e: u32,
}

/// The code of one instruction: registers, operands, active lanes.
pub(crate) type Handler = fn(&mut Registers<'_>, &Operands, u32);

/// Rows that are the same for all warps of a launch: immediates, parameters, the shape of the grid.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub words: Vec<Row>,
    pub doubles: Vec<WideRow>,
}

/// Where a frame's registers start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Base {
    pub words: usize,
    pub doubles: usize,
    pub predicates: usize,
}

/// The registers of a warp.
pub(crate) struct Registers<'c> {
    arch: Arch,
    constants: &'c Constants,
    words: Vec<Row>,
    doubles: Vec<WideRow>,
    predicates: Vec<u32>,
    /// The current frame.
    pub base: Base,
}

impl<'c> Registers<'c> {
    /// No registers yet.
    pub fn new(constants: &'c Constants) -> Self {
        let (words, doubles, predicates) = Default::default();
        Self { arch: Arch::new(), constants, words, doubles, predicates, base: Base::default() }
    }

    /// The instruction set to compute with.
    #[inline(always)]
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Makes sure that there are registers up to `top`.
    pub fn grow(&mut self, top: Base) {
        if self.words.len() < top.words {
            self.words.resize(top.words, [0; 32]);
        }
        if self.doubles.len() < top.doubles {
            self.doubles.resize(top.doubles, [0; 32]);
        }
        if self.predicates.len() < top.predicates {
            self.predicates.resize(top.predicates, 0);
        }
    }

    /// Sets all registers to zero, and leaves as many as the first frame has.
    pub fn reset(&mut self, top: Base) {
        self.words.truncate(top.words);
        self.doubles.truncate(top.doubles);
        self.predicates.truncate(top.predicates);
        self.words.fill([0; 32]);
        self.doubles.fill([0; 32]);
        self.predicates.fill(0);
        self.base = Base::default();
        self.grow(top);
    }

    /// The row that an operand names.
    #[inline(always)]
    pub fn word(&self, operand: u32) -> &Row {
        if operand & FIXED != 0 {
            &self.constants.words[(operand & !FIXED) as usize]
        } else {
            &self.words[self.base.words + operand as usize]
        }
    }

    /// The 64-bit row that an operand names.
    #[inline(always)]
    pub fn wide(&self, operand: u32) -> &WideRow {
        if operand & FIXED != 0 {
            &self.constants.doubles[(operand & !FIXED) as usize]
        } else {
            &self.doubles[self.base.doubles + operand as usize]
        }
    }

    /// The lanes in which a predicate operand is true.
    #[inline(always)]
    pub fn predicate(&self, operand: u32) -> u32 {
        let value = if operand & FIXED != 0 {
            0
        } else {
            self.predicates[self.base.predicates + (operand & !NEGATED) as usize]
        };
        if operand & NEGATED != 0 { !value } else { value }
    }

    /// Writes the active lanes of a row.
    #[inline(always)]
    pub fn set_word(&mut self, row: u32, mask: u32, values: &Row) {
        blend(&mut self.words[self.base.words + row as usize], mask, values);
    }

    /// Writes the active lanes of a 64-bit row.
    #[inline(always)]
    pub fn set_wide(&mut self, row: u32, mask: u32, values: &WideRow) {
        blend(&mut self.doubles[self.base.doubles + row as usize], mask, values);
    }

    /// Writes the active lanes of a predicate.
    #[inline(always)]
    pub fn set_predicate(&mut self, row: u32, mask: u32, values: u32) {
        let place = &mut self.predicates[self.base.predicates + row as usize];
        *place = *place & !mask | values & mask;
    }

    /// Copies a row from one frame to another, in some lanes.
    pub fn copy_word(&mut self, from: usize, to: usize, mask: u32) {
        let values = self.words[from];
        blend(&mut self.words[to], mask, &values);
    }

    /// `d = f(a)` in each active lane.
    #[inline(always)]
    pub fn map1<const HOT: bool, A: Value, R: Value>(&mut self, operands: &Operands, mask: u32, f: impl Fn(A) -> R) {
        struct Map<'r, 'c, A, R, F>(&'r mut Registers<'c>, &'r Operands, u32, F, Of<(A, R)>);
        impl<A: Value, R: Value, F: Fn(A) -> R> WithSimd for Map<'_, '_, A, R, F> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                let Map(registers, operands, mask, f, _) = self;
                let a = A::row(registers, operands.a);
                let mut result = [R::Raw::default(); 32];
                for lane in 0..32 {
                    result[lane] = f(A::from_raw(a[lane])).into_raw();
                }
                R::set(registers, operands.d, mask, &result);
            }
        }
        let map = Map(self, operands, mask, f, Of::default());
        if HOT && A::HOT && R::HOT { map.0.arch.dispatch(map) } else { map.with_simd(Scalar) }
    }

    /// `d = f(a, b)` in each active lane.
    #[inline(always)]
    pub fn map2<const HOT: bool, A: Value, B: Value, R: Value>(
        &mut self,
        operands: &Operands,
        mask: u32,
        f: impl Fn(A, B) -> R,
    ) {
        struct Map<'r, 'c, A, B, R, F>(&'r mut Registers<'c>, &'r Operands, u32, F, Of<(A, B, R)>);
        impl<A: Value, B: Value, R: Value, F: Fn(A, B) -> R> WithSimd for Map<'_, '_, A, B, R, F> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                let Map(registers, operands, mask, f, _) = self;
                let a = A::row(registers, operands.a);
                let b = B::row(registers, operands.b);
                let mut result = [R::Raw::default(); 32];
                for lane in 0..32 {
                    result[lane] = f(A::from_raw(a[lane]), B::from_raw(b[lane])).into_raw();
                }
                R::set(registers, operands.d, mask, &result);
            }
        }
        let map = Map(self, operands, mask, f, Of::default());
        if HOT && A::HOT && R::HOT { map.0.arch.dispatch(map) } else { map.with_simd(Scalar) }
    }

    /// `d = f(a, b, c)` in each active lane.
    #[inline(always)]
    pub fn map3<const HOT: bool, A: Value, B: Value, C: Value, R: Value>(
        &mut self,
        operands: &Operands,
        mask: u32,
        f: impl Fn(A, B, C) -> R,
    ) {
        struct Map<'r, 'c, A, B, C, R, F>(&'r mut Registers<'c>, &'r Operands, u32, F, Of<(A, B, C, R)>);
        impl<A: Value, B: Value, C: Value, R: Value, F: Fn(A, B, C) -> R> WithSimd for Map<'_, '_, A, B, C, R, F> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                let Map(registers, operands, mask, f, _) = self;
                let a = A::row(registers, operands.a);
                let b = B::row(registers, operands.b);
                let c = C::row(registers, operands.c);
                let mut result = [R::Raw::default(); 32];
                for lane in 0..32 {
                    let (a, b, c) = (A::from_raw(a[lane]), B::from_raw(b[lane]), C::from_raw(c[lane]));
                    result[lane] = f(a, b, c).into_raw();
                }
                R::set(registers, operands.d, mask, &result);
            }
        }
        let map = Map(self, operands, mask, f, Of::default());
        if HOT && A::HOT && R::HOT { map.0.arch.dispatch(map) } else { map.with_simd(Scalar) }
    }

    /// The lanes in which `f(a, b)` holds.
    #[inline(always)]
    pub fn test2<const HOT: bool, A: Value>(&self, a: u32, b: u32, f: impl Fn(A, A) -> bool) -> u32 {
        struct Test<'r, 'c, A, F>(&'r Registers<'c>, u32, u32, F, Of<A>);
        impl<A: Value, F: Fn(A, A) -> bool> WithSimd for Test<'_, '_, A, F> {
            type Output = u32;
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> u32 {
                let Test(registers, a, b, f, _) = self;
                let a = A::row(registers, a);
                let b = A::row(registers, b);
                let mut result = 0;
                for lane in 0..32 {
                    result |= u32::from(f(A::from_raw(a[lane]), A::from_raw(b[lane]))) << lane;
                }
                result
            }
        }
        let test = Test(self, a, b, f, Of::default());
        if HOT && A::HOT { test.0.arch.dispatch(test) } else { test.with_simd(Scalar) }
    }
}

/// Stands for the types that a loop over lanes is made for.
type Of<T> = std::marker::PhantomData<fn() -> T>;

/// Writes the active lanes.
#[inline(always)]
pub(crate) fn blend<T: Copy>(row: &mut [T; 32], mask: u32, values: &[T; 32]) {
    if mask == FULL {
        *row = *values;
    } else {
        for lane in 0..32 {
            row[lane] = if mask >> lane & 1 == 1 { values[lane] } else { row[lane] };
        }
    }
}

/// How a value of one lane lies in a row.
pub(crate) trait Value: Copy {
    /// Whether loops over such values are compiled for each instruction set: the common types are.
    const HOT: bool;
    /// `u32` or `u64`.
    type Raw: Copy + Default;
    fn row<'r>(registers: &'r Registers<'_>, operand: u32) -> &'r [Self::Raw; 32];
    fn set(registers: &mut Registers<'_>, row: u32, mask: u32, values: &[Self::Raw; 32]);
    fn from_raw(raw: Self::Raw) -> Self;
    fn into_raw(self) -> Self::Raw;
}

/// `$Type` in rows of words (or wide rows), from and into its bits as the two closures say.
macro_rules! value {
    (word $Type:ty, $from:expr, $into:expr) => {
        value!(impl $Type, u32, word, set_word, $from, $into, true);
    };
    (cold word $Type:ty, $from:expr, $into:expr) => {
        value!(impl $Type, u32, word, set_word, $from, $into, false);
    };
    (wide $Type:ty, $from:expr, $into:expr) => {
        value!(impl $Type, u64, wide, set_wide, $from, $into, true);
    };
    (impl $Type:ty, $Raw:ty, $row:ident, $set:ident, $from:expr, $into:expr, $hot:expr) => {
        impl $crate::lanes::Value for $Type {
            const HOT: bool = $hot;
            type Raw = $Raw;
            #[inline(always)]
            fn row<'r>(registers: &'r $crate::lanes::Registers<'_>, operand: u32) -> &'r [$Raw; 32] {
                registers.$row(operand)
            }
            #[inline(always)]
            fn set(registers: &mut $crate::lanes::Registers<'_>, row: u32, mask: u32, values: &[$Raw; 32]) {
                registers.$set(row, mask, values);
            }
            #[inline(always)]
            fn from_raw(raw: $Raw) -> Self {
                let from: fn($Raw) -> Self = $from;
                from(raw)
            }
            #[inline(always)]
            fn into_raw(self) -> $Raw {
                let into: fn(Self) -> $Raw = $into;
                into(self)
            }
        }
    };
}
pub(crate) use value;

value!(cold word u8, |raw| raw as u8, |value| value.into());
value!(cold word i8, |raw| raw as i8, |value| (value as u8).into());
value!(cold word u16, |raw| raw as u16, |value| value.into());
value!(cold word i16, |raw| raw as i16, |value| (value as u16).into());
value!(word u32, |raw| raw, |value| value);
value!(word i32, |raw| raw as i32, |value| value as u32);
value!(word f32, f32::from_bits, f32::to_bits);
value!(wide u64, |raw| raw, |value| value);
value!(wide i64, |raw| raw as i64, |value| value as u64);
value!(wide f64, f64::from_bits, f64::to_bits);

/// A [`Handler`] that computes one expression of one, two or three values in each lane. With `mode` before it, the
/// expression may use the modifiers that stand in operand `e`; with `mode` or `cold`, it is compiled for one instruction
/// set only, as what is slow or rare is.
macro_rules! lanes {
    (@$hot:literal $mode:ident |$a:ident: $A:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map1::<$hot, $A, $R>(operands, mask, |$a| $body);
        }
        run as $crate::lanes::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map2::<$hot, $A, $B, $R>(operands, mask, |$a, $b| $body);
        }
        run as $crate::lanes::Handler
    }};
    (@$hot:literal $mode:ident |$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $R:ty $body:block) => {{
        fn run(registers: &mut $crate::lanes::Registers<'_>, operands: &$crate::lanes::Operands, mask: u32) {
            let $mode = $crate::lanes::unpack(operands.e);
            registers.map3::<$hot, $A, $B, $C, $R>(operands, mask, |$a, $b, $c| $body);
        }
        run as $crate::lanes::Handler
    }};
    ($mode:ident => |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@false $mode |$($name: $Type),+| -> $R $body)
    };
    (cold |$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@false _mode |$($name: $Type),+| -> $R $body)
    };
    (|$($name:ident: $Type:ty),+| -> $R:ty $body:block) => {
        $crate::lanes::lanes!(@true _mode |$($name: $Type),+| -> $R $body)
    };
}
pub(crate) use lanes;

/// The modifiers of arithmetic as operand `e`.
pub(crate) fn pack(mode: Mode) -> u32 {
    let rounding = match mode.rounding {
        Rounding::Default => 0,
        Rounding::Nearest => 1,
        Rounding::Zero => 2,
        Rounding::Down => 3,
        Rounding::Up => 4,
        Rounding::NearestAway => 5,
        Rounding::IntegerNearest => 6,
        Rounding::IntegerZero => 7,
        Rounding::IntegerDown => 8,
        Rounding::IntegerUp => 9,
    };
    let precision = match mode.precision {
        Precision::Exact => 0,
        Precision::Approximate => 1,
        Precision::Full => 2,
    };
    let flags = [mode.flush_subnormals, mode.saturate, mode.propagate_nan, mode.xor_sign_abs, mode.relu];
    let flags = flags.iter().enumerate().fold(0, |bits, (bit, &flag)| bits | u32::from(flag) << bit);
    rounding | precision << 4 | flags << 6
}

/// The reverse of [`pack`].
pub(crate) fn unpack(e: u32) -> Mode {
    const ROUNDINGS: [Rounding; 10] = [
        Rounding::Default,
        Rounding::Nearest,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
        Rounding::NearestAway,
        Rounding::IntegerNearest,
        Rounding::IntegerZero,
        Rounding::IntegerDown,
        Rounding::IntegerUp,
    ];
    const PRECISIONS: [Precision; 3] = [Precision::Exact, Precision::Approximate, Precision::Full];
    let flag = |bit: u32| e >> bit & 1 == 1;
    Mode {
        rounding: ROUNDINGS.get((e & 15) as usize).copied().unwrap_or_default(),
        precision: PRECISIONS.get((e >> 4 & 3) as usize).copied().unwrap_or_default(),
        flush_subnormals: flag(6),
        saturate: flag(7),
        propagate_nan: flag(8),
        xor_sign_abs: flag(9),
        relu: flag(10),
    }
}

/// The handler of an operation on one value, if there is one for that type. Operand `e` is [`pack`]`(mode)`.
pub(crate) fn unary(op: UnaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    match ty {
        Type::F32 | Type::F64 => float::unary(op, ty, mode),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half::unary(op, ty),
        _ => integer::unary(op, ty).or_else(|| bits::unary(op, ty)),
    }
}

/// The handler of an operation on two values. Operand `e` is [`pack`]`(mode)`.
pub(crate) fn binary(op: BinaryOp, ty: Type, mode: Mode) -> Option<Handler> {
    match ty {
        Type::F32 | Type::F64 => float::binary(op, ty, mode),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half::binary(op, ty),
        _ => integer::binary(op, ty, mode).or_else(|| bits::binary(op, ty)),
    }
}

/// The handler of an operation on three values, and what it wants as operand `e`.
pub(crate) fn ternary(op: TernaryOp, ty: Type, mode: Mode) -> Option<(Handler, u32)> {
    match ty {
        Type::F32 | Type::F64 => float::ternary(op, ty, mode).map(|handler| (handler, pack(mode))),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            half::ternary(op, ty).map(|handler| (handler, pack(mode)))
        }
        _ => integer::ternary(op, ty, mode).map(|handler| (handler, 0)).or_else(|| bits::ternary(op, ty)),
    }
}

pub(crate) use bits::bit_field_insert;
pub(crate) use integer::carry;

/// The handler that copies a value of that type: `d = a`.
pub(crate) fn copy(ty: Type) -> Handler {
    match ty.bits() {
        64 => lanes!(|a: u64| -> u64 { a }),
        16 => lanes!(|a: u16| -> u16 { a }),
        8 => lanes!(|a: u8| -> u8 { a }),
        _ => lanes!(|a: u32| -> u32 { a }),
    }
}

/// The handler of a choice between values of that type: `d = c ? a : b`, where `c` names a predicate.
pub(crate) fn select(ty: Type) -> Handler {
    fn word(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let mut values = *registers.word(operands.b);
        blend(&mut values, chosen, registers.word(operands.a));
        registers.set_word(operands.d, mask, &values);
    }
    fn wide(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let mut values = *registers.wide(operands.b);
        blend(&mut values, chosen, registers.wide(operands.a));
        registers.set_wide(operands.d, mask, &values);
    }
    fn predicate(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
        let chosen = registers.predicate(operands.c);
        let values = registers.predicate(operands.a) & chosen | registers.predicate(operands.b) & !chosen;
        registers.set_predicate(operands.d, mask, values);
    }
    match ty.bits() {
        64 => wide,
        1 => predicate,
        _ => word,
    }
}

/// The handler of logic on predicates: `d = op(a, b)`; `not` has no `b`.
pub(crate) fn predicate_logic(op: BinaryOp) -> Option<Handler> {
    macro_rules! logic {
        (|$a:ident, $b:ident| $value:expr) => {{
            fn run(registers: &mut Registers<'_>, operands: &Operands, mask: u32) {
                let ($a, $b) = (registers.predicate(operands.a), registers.predicate(operands.b));
                registers.set_predicate(operands.d, mask, $value);
            }
            run as Handler
        }};
    }
    Some(match op {
        BinaryOp::And => logic!(|a, b| a & b),
        BinaryOp::Or => logic!(|a, b| a | b),
        BinaryOp::Xor => logic!(|a, b| a ^ b),
        _ => return None,
    })
}

/// Which carry operation, for [`carry`]: the operation, and whether it takes the carry in and gives it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub op: CarryOp,
    pub carry_in: bool,
    pub carry_out: bool,
}
