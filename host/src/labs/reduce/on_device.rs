//! The values of one type on a device, and the launches that reduce them. [`super`] plans them;
//! each launch writes only here.

use best_kernels::reduce as best;
use device::{Buffer, Device, Error, LaunchConfig, Result, View};
use kernels::phases::REDUCE_BLOCK;

use super::Values;
use super::number::Number;
use super::table::{Operation, Step};
use crate::labs::best::slots;
use crate::labs::lab::Outcome;
use crate::labs::launcher::Launcher;

/// The values of one type on a device.
pub struct OnDevice<T> {
    pub(super) values: Buffer<T>,
    pub(super) factors: Buffer<T>,
    /// Partial results: each pass reads one and writes the other.
    pub(super) partials: [Buffer<T>; 2],
    /// How many partial results the last launch left, and where.
    pub(super) left: (usize, usize),
    /// Where the blocks of the best kernel leave their results; empty between launches.
    slots: Buffer<u64>,
}

impl<T: Number> OnDevice<T> {
    /// These values, and buffers for a reduction in so many blocks, and for the best kernel in so
    /// many.
    pub(super) fn new(device: &Device, values: &Values<T>, [blocks, best]: [usize; 2]) -> Result<Self> {
        let filled = |values: &[T]| {
            let mut buffer = device.buffer(values.len())?;
            buffer.write(values)?;
            Ok::<_, Error>(buffer)
        };
        let slots = slots(device, best)?;
        let partials = [device.buffer(blocks)?, device.buffer(blocks)?];
        let (values, factors) = (filled(&values.values)?, filled(&values.factors)?);
        Ok(Self { values, factors, partials, left: (0, 0), slots })
    }

    /// Whether what the last launch left is right, if a sum is rounded so often on the way of a
    /// value.
    pub(super) fn outcome(
        &self,
        operation: Operation,
        values: &Values<T>,
        size: usize,
        roundings: u64,
    ) -> Result<Outcome> {
        let (place, count) = self.left;
        let partials = self.partials[place].read()?;
        let found = T::finish(operation, &partials[..count]);
        Ok(T::judge(operation, &values.of(operation)[..size], found, roundings))
    }

    /// Launches the best kernel, which leaves one value.
    pub(super) fn reduce_best(
        &mut self,
        launcher: &mut Launcher<'_>,
        operation: Operation,
        size: usize,
        launch: &LaunchConfig,
    ) -> Result<()> {
        let values = if operation == Operation::Product { &self.factors } else { &self.values };
        let [result, _] = &mut self.partials;
        self.left = (0, 1);
        if best::is_small(size) {
            let kernel = T::SMALL[operation as usize];
            // SAFETY: there are `size` values, and room for the result.
            return unsafe { launcher.launch_unchecked(kernel, launch, (values, size as u32, result)) };
        }
        let arguments = (values, size, result, &mut self.slots);
        // SAFETY: the same, and the slots are those of the grid, all 0.
        unsafe { launcher.launch_unchecked(T::BEST[operation as usize], launch, arguments) }
    }

    /// Launches a step until fewer values are left than a block has threads.
    pub(super) fn reduce(
        &mut self,
        launcher: &mut Launcher<'_>,
        number: u8,
        operation: Operation,
        size: usize,
        block: u32,
    ) -> Result<()> {
        let kernel = T::STEPS[usize::from(number) - 1][operation as usize];
        self.pass_by_pass(number, operation, size, block, |config, from, to| {
            // SAFETY: a block has a power of two of threads, from 64 to 1024, as `--block` allows.
            unsafe { launcher.launch_unchecked(kernel, config, (from, to)) }
        })
    }

    /// Likewise the step in phases, of a sum.
    pub(super) fn reduce_phased(&mut self, launcher: &mut Launcher<'_>, number: u8, size: usize) -> Result<()> {
        let Some([third, sixth]) = T::PHASED else { return Ok(()) };
        let kernel = if number < 4 { third } else { sixth };
        self.pass_by_pass(number, Operation::Sum, size, REDUCE_BLOCK, |config, from, to| {
            launcher.launch(kernel, config, (from, to))
        })
    }

    /// Calls `launch` with the values and an output, then with what that has left and another
    /// output, and so on.
    fn pass_by_pass(
        &mut self,
        number: u8,
        operation: Operation,
        size: usize,
        block: u32,
        mut launch: impl FnMut(&LaunchConfig, View<'_, T>, &mut Buffer<T>) -> Result<()>,
    ) -> Result<()> {
        let values = if operation == Operation::Product { &self.factors } else { &self.values };
        let [first, second] = &mut self.partials;
        // From the fourth step on, a block takes two blocks' values.
        let per_thread = Step::values_of_a_thread(number);
        let shape = |count: usize| LaunchConfig::linear(count.div_ceil(per_thread), block);
        let mut config = shape(size);
        launch(&config, values.first(size), first)?;
        let mut left = (0, config.grid[0] as usize);
        while left.1 >= block as usize {
            config = shape(left.1);
            match left.0 {
                0 => launch(&config, first.first(left.1), second)?,
                _ => launch(&config, second.first(left.1), first)?,
            }
            left = (1 - left.0, config.grid[0] as usize);
        }
        self.left = left;
        Ok(())
    }
}
