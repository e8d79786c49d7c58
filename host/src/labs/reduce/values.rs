//! The values that are reduced, and how many.

use crate::flag_values::each_once;
use common::random::Random;
use device::{Device, Result};

use super::number::Number;
use super::table::{Operation, Options};
use crate::labs::inputs::{DefaultSize, MemoryNeeds};
use crate::npy;

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 17 };

/// The input and two buffers for partial results, on the device; the input on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "the reduction of a vector", on_device: 3, on_host: 2 };

/// The smallest size of a plot.
const LEAST_PLOTTED: u64 = 1 << 9;

/// The values of one type: those to add up and compare, and those to multiply.
pub(super) struct Values<T> {
    pub(super) values: Vec<T>,
    pub(super) factors: Vec<T>,
}

/// The sizes of the flag, those of a plot, or the default one.
pub(super) fn sizes(device: &Device, options: &Options, plot: bool) -> Vec<u64> {
    match options.size.as_slice() {
        [] if plot && options.input.is_none() => {
            let grow = |size: &u64| Some(size * 4).filter(|&size| size <= SIZE.on(device));
            std::iter::successors(Some(LEAST_PLOTTED), grow).collect()
        }
        [] => vec![SIZE.on(device)],
        sizes => each_once(sizes.to_vec()),
    }
}

/// The values of one type, from the file or at random: as many as the largest of these sizes.
pub(super) fn values<T: Number>(
    device: &Device,
    options: &Options,
    sizes: &[u64],
    random: &mut Random,
) -> Result<Values<T>> {
    if let Some(path) = &options.input {
        let values = npy::read::<T>(path, 1)?.data;
        NEEDS.check::<T>(device, &[values.len() as u64])?;
        return Ok(Values { factors: values.clone(), values });
    }
    let size = sizes.iter().copied().max().unwrap_or(1);
    NEEDS.check::<T>(device, &[size])?;
    let size = size as usize;
    let multiplies = options.operation.contains(&Operation::Product);
    let factors = T::factors(random, if multiplies { size } else { 0 });
    Ok(Values { values: random.samples(size), factors })
}

impl<T> Values<T> {
    pub(super) fn of(&self, operation: Operation) -> &[T] {
        if operation == Operation::Product { &self.factors } else { &self.values }
    }
}
