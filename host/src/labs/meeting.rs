//! Launches whose last block combines what all blocks found: how many blocks, and where they leave it. The kernels' part is in
//! `kernels/src/combine.rs`.

use crate::device::{Buffer, Device, LaunchConfig};
use crate::error::Result;

/// Threads of a block.
const THREADS: u32 = kernels::reduce::BEST_THREADS;

/// The multiprocessors of a device, or a few where it does not say.
pub(super) fn multiprocessors(device: &Device) -> u32 {
    device.properties().multiprocessors.unwrap_or(16)
}

/// The launch for numbers in words of four. The last block waits longer for more blocks, so there are few at first:
///
/// | numbers | blocks |
/// | --- | --- |
/// | up to 2^17 | one for each 512 words |
/// | up to 2^18 | 64 |
/// | more | one for each 1024 words, up to two on a multiprocessor |
/// | more than 16 words for each thread of these | four on a multiprocessor, all that it holds |
///
/// On an H200 each row is 1 to 3 % faster than its neighbour would be (2026-11-22).
pub(super) fn launch(numbers: usize, multiprocessors: u32) -> LaunchConfig {
    let words = numbers.div_ceil(4);
    let (two, threads) = (2 * multiprocessors as usize, THREADS as usize);
    let most = if words > 16 * two * threads { 2 * two } else { two };
    let blocks = words.div_ceil(threads).min(64).max(words.div_ceil(2 * threads)).clamp(1, most);
    LaunchConfig::new([blocks as u32, 1, 1], [THREADS, 1, 1])
}

/// The numbers that a thread of this launch combines, at most.
pub(super) fn numbers_of_a_thread(numbers: usize, launch: &LaunchConfig) -> u64 {
    let threads = u64::from(launch.grid[0]) * u64::from(launch.block[0]);
    // Those of its words, and one behind them.
    4 * (numbers as u64).div_ceil(4 * threads) + 1
}

/// So many empty slots. Each launch leaves them empty.
pub(super) fn slots(device: &Device, count: usize) -> Result<Buffer<u64>> {
    let mut slots = device.buffer(count)?;
    slots.fill_bytes(0)?;
    Ok(slots)
}
