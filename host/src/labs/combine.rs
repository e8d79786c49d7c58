//! Launches whose last block combines the results of all blocks: how many blocks to launch, and the slots for their
//! results. The kernels' side is in `kernels/src/combine.rs`. The labs `dot`, `reduce` and `rows` call it; they own the
//! slots that it allocates.

use crate::device::{Buffer, Device, LaunchConfig};
use crate::error::Result;

/// Threads of a block.
const THREADS: u32 = kernels::reduce::BEST_THREADS;

/// The launch for numbers in words of four. More blocks take longer to combine, so small inputs have few:
///
/// | numbers | blocks |
/// | --- | --- |
/// | up to 2^17 | one for each 512 words |
/// | up to 2^18 | 64 |
/// | more | one for each 1024 words, up to two on a multiprocessor |
/// | more than 16 words for each thread of these | four on a multiprocessor, which fills it |
///
/// On an H200 each row is 1 to 3 % faster than its neighbour would be (2026-11-22).
pub(super) fn launch(numbers: usize, multiprocessors: u32) -> LaunchConfig {
    let words = numbers.div_ceil(4);
    let (two, threads) = (2 * multiprocessors as usize, THREADS as usize);
    let most = if words > 16 * two * threads { 2 * two } else { two };
    let blocks = words.div_ceil(threads).min(64).max(words.div_ceil(2 * threads)).clamp(1, most);
    LaunchConfig::new([blocks as u32, 1, 1], [THREADS, 1, 1])
}

/// The maximum number of values that a thread of this launch combines.
pub(super) fn numbers_of_a_thread(numbers: usize, launch: &LaunchConfig) -> u64 {
    let threads = u64::from(launch.grid[0]) * u64::from(launch.block[0]);
    // Those of its words, and one of the remainder.
    4 * (numbers as u64).div_ceil(4 * threads) + 1
}

/// Empty slots, which each launch leaves empty again.
pub(super) fn slots(device: &Device, count: usize) -> Result<Buffer<u64>> {
    let mut slots = device.buffer(count)?;
    slots.fill_bytes(0)?;
    Ok(slots)
}
