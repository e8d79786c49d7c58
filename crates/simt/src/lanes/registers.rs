//! The registers of a warp, and loops over their lanes. A warp owns a [`Registers`]; handlers and
//! the machine's instructions read and write its rows. Constant rows are shared by all warps of a
//! launch.

use pulp::{Arch, Scalar, Simd, WithSimd};

use super::rows::{FIXED, FULL, NEGATED, Operands, Row, WideRow};

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
#[derive(Clone)]
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

    /// Whether all values are the same as in a copy.
    pub fn has_values_of(&self, copy: &Self) -> bool {
        self.predicates == copy.predicates && self.words == copy.words && self.doubles == copy.doubles
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

    /// Keeps the registers of the first frame only, and sets them to zero if `zero`.
    pub fn reset(&mut self, top: Base, zero: bool) {
        self.words.truncate(top.words);
        self.doubles.truncate(top.doubles);
        self.predicates.truncate(top.predicates);
        if zero {
            self.words.fill([0; 32]);
            self.doubles.fill([0; 32]);
            self.predicates.fill(0);
        }
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
        let predicate = &mut self.predicates[self.base.predicates + row as usize];
        *predicate = *predicate & !mask | values & mask;
    }

    /// A row, to be written by code that knows which lanes are active.
    #[inline(always)]
    pub fn word_mut(&mut self, row: u32) -> &mut Row {
        &mut self.words[self.base.words + row as usize]
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

/// Carries the types that a loop over lanes is compiled for.
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

/// How a lane's value is stored in a row.
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

/// Stores `$Type` in rows of words (or wide rows): two closures convert from and to its bits.
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
        impl $crate::lanes::registers::Value for $Type {
            const HOT: bool = $hot;
            type Raw = $Raw;
            #[inline(always)]
            fn row<'r>(registers: &'r $crate::lanes::registers::Registers<'_>, operand: u32) -> &'r [$Raw; 32] {
                registers.$row(operand)
            }
            #[inline(always)]
            fn set(registers: &mut $crate::lanes::registers::Registers<'_>, row: u32, mask: u32, values: &[$Raw; 32]) {
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
