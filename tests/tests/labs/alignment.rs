//! The best reductions on arrays that are not aligned to 16 bytes, which no lab has.

use best_kernels::reduce;
use cuda_std::launch::{Kernel, Pointer, PointerMut};
use device::LaunchConfig;

use crate::labs::devices;

/// A best reduction: the array, its length, the result, the slots.
type BestKernel<T> = Kernel<(Pointer<T>, usize, PointerMut<T>, PointerMut<u64>)>;

/// Reduces `length` values from each of the first five elements of an array on, with `blocks`
/// blocks, twice: the slots must be empty again.
fn reduce_from_each_place<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    kernel: &'static BestKernel<T>,
    value: impl Fn(usize) -> T,
    fold: impl Fn(&[T]) -> T,
) {
    for device in devices() {
        for (length, blocks) in [(1, 1), (7, 2), (2047, 1), (20_003, 3), (70_001, 16)] {
            let values: Vec<T> = (0..length + 4).map(&value).collect();
            let mut input = device.buffer(values.len()).unwrap();
            input.write(&values).unwrap();
            let (mut output, mut slots) = (device.buffer(1).unwrap(), device.buffer::<u64>(blocks).unwrap());
            slots.fill_bytes(0).unwrap();
            let launch = LaunchConfig::new([blocks as u32, 1, 1], [reduce::THREADS, 1, 1]);
            for first in 0..5 {
                for _ in 0..2 {
                    output.poison().unwrap();
                    let arguments = (input.tail(first), length, &mut output, &mut slots);
                    // SAFETY: so many values follow, and there is a slot for each block, which is
                    // 0.
                    unsafe { device.launch_unchecked(kernel, &launch, arguments) }.unwrap();
                    let expected = fold(&values[first..][..length]);
                    assert_eq!(output.read().unwrap(), [expected], "{length} values from {first} on, {blocks} blocks");
                    assert_eq!(slots.read().unwrap(), vec![0; blocks]);
                }
            }
        }
    }
}

#[test]
fn reductions_are_right_wherever_an_array_starts() {
    let whole = |i: usize| (i * 37 % 101) as i32 - 50;
    reduce_from_each_place(&reduce::reduce_best_sum_i32, whole, |values| values.iter().sum());
    let float = |i: usize| (i * 7919 % 100_003) as f32;
    reduce_from_each_place(&reduce::reduce_best_max_f32, float, |values| values.iter().copied().fold(0.0, f32::max));
}
