//! How many blocks share the numbers of a [`reduce`](crate::reduce) or [`dot`](crate::dot), and how
//! many roundings that makes.

use crate::{Launch, reduce::THREADS};

/// The launch for numbers in words of four. More blocks take longer to combine, so small inputs
/// have few:
///
/// | numbers | blocks |
/// | --- | --- |
/// | up to 2^17 | one for each 512 words |
/// | up to 2^18 | 64 |
/// | more | one for each 1024 words, up to two on a multiprocessor |
/// | more than 16 words for each thread of these | four on a multiprocessor, which fills it |
///
/// On an H200 each row is 1 to 3 % faster than its neighbour would be (2026-11-22).
pub fn launch(numbers: usize, multiprocessors: u32) -> Launch {
    let words = numbers.div_ceil(4);
    let (two, threads) = (2 * multiprocessors as usize, THREADS as usize);
    let most = if words > 16 * two * threads { 2 * two } else { two };
    let blocks = words.div_ceil(threads).min(64).max(words.div_ceil(2 * threads)).clamp(1, most);
    Launch::new([blocks as u32, 1, 1], [THREADS, 1, 1])
}

/// The maximum number of values that a thread of this launch combines.
pub fn numbers_of_a_thread(numbers: usize, grid: u32) -> u64 {
    let threads = u64::from(grid) * u64::from(THREADS);
    // Those of its words, and one of the remainder.
    4 * (numbers as u64).div_ceil(4 * threads) + 1
}
