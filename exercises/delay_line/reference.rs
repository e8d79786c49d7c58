//! The echoes, in one thread.

use cuda_std::prelude::*;

/// Adds to each sample half of the output `delay` rows before.
///
/// # Safety
/// `samples` and `output` hold `rows` x `columns` elements; one thread.
#[kernel]
pub unsafe fn reference(
    samples: *const f32,
    output: *mut f32,
    rows: u32,
    columns: u32,
    delay: u32,
) {
    let (rows, columns, delay) = (rows as usize, columns as usize, delay as usize);
    for i in 0..rows * columns {
        let before = if i >= delay * columns { *output.add(i - delay * columns) } else { 0.0 };
        *output.add(i) = *samples.add(i) + 0.5 * before;
    }
}
