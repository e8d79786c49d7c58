//! What the reductions combine, and how: operations, numbers, and words of several numbers.

use cuda_std::mem::GlobalValue;
use cuda_std::vector::{f32x4, i32x4};
use cuda_std::warp;

/// An associative and commutative operation: a grid combines numbers in any order. Sums and
/// products of `f32` are nearly so: another order rounds differently.
pub(crate) trait Operation<T> {
    /// The identity: combined with it, a number stays what it is.
    const IDENTITY: T;
    /// The operation.
    fn combine(a: T, b: T) -> T;
}

/// Expands to the operations: a type for each, and what it does to each number.
macro_rules! operations {
    ($($operation:ident { $($ty:ty: $identity:expr, $combine:expr;)* })*) => {$(
        pub(crate) struct $operation;
        $(impl Operation<$ty> for $operation {
            const IDENTITY: $ty = $identity;
            #[inline(always)]
            fn combine(a: $ty, b: $ty) -> $ty {
                $combine(a, b)
            }
        })*
    )*};
}

operations! {
    Sum { f32: 0.0, |a, b| a + b; i32: 0, i32::wrapping_add; }
    Product { f32: 1.0, |a, b| a * b; i32: 1, i32::wrapping_mul; }
    Minimum { f32: f32::INFINITY, f32::min; i32: i32::MAX, Ord::min; }
    Maximum { f32: f32::NEG_INFINITY, f32::max; i32: i32::MIN, Ord::max; }
}

/// A number of 4 bytes: lanes can shuffle it, and four of them load as one word.
pub(crate) trait Number: warp::WarpShuffleValue + Word<Self> {
    /// Four of them.
    type Quad: Word<Self>;
    /// Its bits.
    fn bits(self) -> u32;
    /// The number that has these bits.
    fn of_bits(bits: u32) -> Self;
}

impl Number for f32 {
    type Quad = f32x4;
    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> Self {
        f32::from_bits(bits)
    }
}

impl Number for i32 {
    type Quad = i32x4;
    #[inline(always)]
    fn bits(self) -> u32 {
        self.cast_unsigned()
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> Self {
        bits.cast_signed()
    }
}

/// One number or several, which one access loads.
pub(crate) trait Word<T>: GlobalValue {
    /// A word of this number alone.
    fn all(number: T) -> Self;
    /// Its numbers, combined.
    fn combined<O: Operation<T>>(self) -> T;
}

impl<T: GlobalValue> Word<T> for T {
    #[inline(always)]
    fn all(number: T) -> Self {
        number
    }
    #[inline(always)]
    fn combined<O: Operation<T>>(self) -> T {
        self
    }
}

/// Expands to vectors of four numbers as words.
macro_rules! quads {
    ($($quad:ident $ty:ty;)*) => {$(
        impl Word<$ty> for $quad {
            #[inline(always)]
            fn all(number: $ty) -> Self {
                Self::splat(number)
            }
            #[inline(always)]
            fn combined<O: Operation<$ty>>(self) -> $ty {
                let [x, y, z, w] = self.to_array();
                O::combine(O::combine(x, y), O::combine(z, w))
            }
        }
    )*};
}

quads! {
    f32x4 f32;
    i32x4 i32;
}
