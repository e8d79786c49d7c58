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

/// The launch for numbers in words of four: a thread for each word, up to two blocks on a multiprocessor, since what the last block
/// waits for takes longer with more. Where each thread would have more than 16 words it no longer matters, and four blocks, all that
/// a multiprocessor holds, keep memory busier: 1 % on an H200, from 2^24 numbers on.
pub(super) fn launch(numbers: usize, multiprocessors: u32) -> LaunchConfig {
    let words = numbers.div_ceil(4);
    let two = 2 * multiprocessors as usize;
    let most = if words > 16 * two * THREADS as usize { 2 * two } else { two };
    let blocks = words.div_ceil(THREADS as usize).clamp(1, most);
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
