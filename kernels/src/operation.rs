//! The operations of reductions, and the numbers that they combine.

use cuda_std::warp::WarpShuffleValue;

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

/// A number of 4 bytes, which lanes can shuffle.
pub(crate) trait Number: WarpShuffleValue {}

impl Number for f32 {}
impl Number for i32 {}
