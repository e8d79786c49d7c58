//! What is computed of a row: how its elements are combined, and what becomes of the result.

use core::ops::Mul;

use crate::combine::{Maximum, Minimum, Operation, Sum};

/// What a kernel computes of a row.
pub(super) trait Statistic {
    /// How elements are combined.
    type Combine: Operation<f32>;
    /// What elements count as.
    fn of<W: Mul<Output = W> + Copy>(elements: W) -> W {
        elements
    }
    /// The row's result, of its `count` elements combined.
    fn finish(combined: f32, _count: u32) -> f32 {
        combined
    }
}

pub(super) struct Mean;
pub(super) struct Squares;

impl Statistic for Sum {
    type Combine = Sum;
}

impl Statistic for Mean {
    type Combine = Sum;
    #[inline(always)]
    fn finish(combined: f32, count: u32) -> f32 {
        combined / count as f32
    }
}

impl Statistic for Maximum {
    type Combine = Maximum;
}

impl Statistic for Minimum {
    type Combine = Minimum;
}

impl Statistic for Squares {
    type Combine = Sum;
    #[inline(always)]
    fn of<W: Mul<Output = W> + Copy>(elements: W) -> W {
        elements * elements
    }
}

/// What changes nothing.
pub(super) const fn nothing<S: Statistic>() -> f32 {
    S::Combine::IDENTITY
}

/// Combines two elements, or what elements were combined to.
#[inline(always)]
pub(super) fn combine<S: Statistic>(a: f32, b: f32) -> f32 {
    S::Combine::combine(a, b)
}
