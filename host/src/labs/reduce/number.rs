//! The types of values that are reduced: their kernels, and their arithmetic on the CPU. [`super`]
//! is generic over them. Pure.

use best_kernels::reduce as best;
use common::random::{Random, Sample};
use cuda_std::launch::{DisjointSlice, Kernel, Pointer, PointerMut, SafeKernel, Slice};
use kernels::{phases, reduce, reduce_all as all};

use super::table::Operation;
use crate::labs::compare::{Reference, Shape};
use crate::labs::lab::Outcome;
use crate::npy;
use crate::report::Tolerance;

/// A step's kernel, which takes the values, and an element for each block.
pub type StepKernel<T> = Kernel<(Slice<T>, DisjointSlice<T>)>;

/// A step's kernel in phases.
pub type PhasedKernel<T> = SafeKernel<(Slice<T>, DisjointSlice<T>)>;

/// The best kernel, which also takes slots for the blocks' results.
pub type BestKernel<T> = Kernel<(Pointer<T>, usize, PointerMut<T>, PointerMut<u64>)>;

/// The best kernel for one block.
pub type SmallKernel<T> = Kernel<(Pointer<T>, u32, PointerMut<T>)>;

/// A type of value: its kernels, in the order of [`Operation`], and what it is on the CPU.
pub trait Number: npy::Element + Sample + Into<f64> + Sync {
    /// Its name, as `--type` has it.
    const TYPE: &'static str;
    /// The same, as libraries have it.
    const NUMBER: device::peers::Number;
    /// The kernels of the six steps.
    const STEPS: [[&'static StepKernel<Self>; 4]; 6];
    /// The third and the sixth step in phases, for sums, if there are any.
    const PHASED: Option<[&'static PhasedKernel<Self>; 2]> = None;
    /// The best kernels.
    const BEST: [&'static BestKernel<Self>; 4];
    /// Those for one block.
    const SMALL: [&'static SmallKernel<Self>; 4];

    /// Random values whose product neither vanishes nor overflows, in any order.
    fn factors(random: &mut Random, size: usize) -> Vec<Self>;

    /// What the host makes of the values that the kernels leave.
    fn finish(operation: Operation, values: &[Self]) -> Self;

    /// Compares a result of kernels that round so many times on the way of a value.
    fn judge(operation: Operation, values: &[Self], found: Self, roundings: u64) -> Outcome;
}

impl Number for f32 {
    const TYPE: &'static str = "f32";
    const NUMBER: device::peers::Number = device::peers::Number::F32;
    #[rustfmt::skip]
    const STEPS: [[&'static StepKernel<Self>; 4]; 6] = [
        [&reduce::reduce1_sum_f32, &all::reduce1_product_f32, &all::reduce1_min_f32, &all::reduce1_max_f32],
        [&reduce::reduce2_sum_f32, &all::reduce2_product_f32, &all::reduce2_min_f32, &all::reduce2_max_f32],
        [&reduce::reduce3_sum_f32, &all::reduce3_product_f32, &all::reduce3_min_f32, &all::reduce3_max_f32],
        [&reduce::reduce4_sum_f32, &all::reduce4_product_f32, &all::reduce4_min_f32, &all::reduce4_max_f32],
        [&reduce::reduce5_sum_f32, &all::reduce5_product_f32, &all::reduce5_min_f32, &all::reduce5_max_f32],
        [&reduce::reduce6_sum_f32, &all::reduce6_product_f32, &all::reduce6_min_f32, &all::reduce6_max_f32],
    ];
    const PHASED: Option<[&'static PhasedKernel<Self>; 2]> =
        Some([&phases::reduce3_phased_sum_f32, &phases::reduce6_phased_sum_f32]);
    const BEST: [&'static BestKernel<Self>; 4] = [
        &best::reduce_best_sum_f32,
        &best::reduce_best_product_f32,
        &best::reduce_best_min_f32,
        &best::reduce_best_max_f32,
    ];
    const SMALL: [&'static SmallKernel<Self>; 4] = [
        &best::reduce_small_sum_f32,
        &best::reduce_small_product_f32,
        &best::reduce_small_min_f32,
        &best::reduce_small_max_f32,
    ];

    fn factors(random: &mut Random, size: usize) -> Vec<Self> {
        // Above 1 while the product of those before is below, and the other way round. Factors so
        // near to 1 that it does not matter would do that, too, but most of their products lie
        // between two floats, and are rounded down.
        let mut product = 1.0_f64;
        let factor = |_| {
            let above = 1.0 + random.next_f32().abs() / 16.0;
            let factor = if product > 1.0 { 1.0 / above } else { above };
            product *= f64::from(factor);
            factor
        };
        (0..size).map(factor).collect()
    }

    fn finish(operation: Operation, values: &[Self]) -> Self {
        let values = values.iter().copied();
        match operation {
            Operation::Sum => values.map(f64::from).sum::<f64>() as f32,
            Operation::Product => values.map(f64::from).product::<f64>() as f32,
            Operation::Min => values.fold(f32::INFINITY, f32::min),
            Operation::Max => values.fold(f32::NEG_INFINITY, f32::max),
        }
    }

    fn judge(operation: Operation, values: &[Self], found: Self, roundings: u64) -> Outcome {
        let numbers = values.iter().copied().map(f64::from);
        let (expected, tolerance) = match operation {
            Operation::Sum => (Reference::sum(numbers), Tolerance::Roundings(roundings)),
            // Every rounding on the way to a product changes it in proportion, wherever it is made.
            // They partly cancel: of n errors about the root of n is left (N. Higham and T. Mary, A
            // new approach to probabilistic rounding error analysis, 2019).
            Operation::Product => {
                let left = 8.0 * (values.len() as f64).sqrt();
                (Reference::from(numbers.product::<f64>()), Tolerance::Roundings(left.ceil() as u64))
            }
            Operation::Min | Operation::Max => {
                let expected = Self::finish(operation, values);
                return Outcome::exact(Shape::Scalar, vec![found], |_, _| expected);
            }
        };
        Outcome::near(Shape::Scalar, vec![found], tolerance, |_, _| expected)
    }
}

impl Number for i32 {
    const TYPE: &'static str = "i32";
    const NUMBER: device::peers::Number = device::peers::Number::I32;
    #[rustfmt::skip]
    const STEPS: [[&'static StepKernel<Self>; 4]; 6] = [
        [&all::reduce1_sum_i32, &all::reduce1_product_i32, &all::reduce1_min_i32, &all::reduce1_max_i32],
        [&all::reduce2_sum_i32, &all::reduce2_product_i32, &all::reduce2_min_i32, &all::reduce2_max_i32],
        [&all::reduce3_sum_i32, &all::reduce3_product_i32, &all::reduce3_min_i32, &all::reduce3_max_i32],
        [&all::reduce4_sum_i32, &all::reduce4_product_i32, &all::reduce4_min_i32, &all::reduce4_max_i32],
        [&all::reduce5_sum_i32, &all::reduce5_product_i32, &all::reduce5_min_i32, &all::reduce5_max_i32],
        [&all::reduce6_sum_i32, &all::reduce6_product_i32, &all::reduce6_min_i32, &all::reduce6_max_i32],
    ];
    const BEST: [&'static BestKernel<Self>; 4] = [
        &best::reduce_best_sum_i32,
        &best::reduce_best_product_i32,
        &best::reduce_best_min_i32,
        &best::reduce_best_max_i32,
    ];
    const SMALL: [&'static SmallKernel<Self>; 4] = [
        &best::reduce_small_sum_i32,
        &best::reduce_small_product_i32,
        &best::reduce_small_min_i32,
        &best::reduce_small_max_i32,
    ];

    fn factors(random: &mut Random, size: usize) -> Vec<Self> {
        // Odd: the product of many even numbers is 0 modulo 2^32.
        (0..size).map(|_| Self::sample(random) | 1).collect()
    }

    fn finish(operation: Operation, values: &[Self]) -> Self {
        let values = values.iter().copied();
        match operation {
            Operation::Sum => values.fold(0, i32::wrapping_add),
            Operation::Product => values.fold(1, i32::wrapping_mul),
            Operation::Min => values.fold(i32::MAX, i32::min),
            Operation::Max => values.fold(i32::MIN, i32::max),
        }
    }

    fn judge(operation: Operation, values: &[Self], found: Self, _roundings: u64) -> Outcome {
        let expected = Self::finish(operation, values);
        Outcome::exact(Shape::Scalar, vec![found], |_, _| expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roundings_of_a_product_cancel() {
        let values = f32::factors(&mut Random::new(1), 1 << 20);
        let mut products = values.clone();
        while products.len() > 1 {
            products = products.chunks(2).map(|pair| pair.iter().product()).collect();
        }
        let comparison = f32::judge(Operation::Product, &values, products[0], 0).comparison.unwrap();
        assert!(comparison.correct() && comparison.tolerance.clone().unwrap().worst_part < 0.5, "{comparison:?}");
        let magnitude = products[0].abs();
        assert!(magnitude > 1e-3 && magnitude < 1e3, "{magnitude}");
    }
}
