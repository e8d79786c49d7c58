// fails: wrong loads.sectors is
// Loads of a word that all lanes share, which bring the average down.

use cuda_std::prelude::*;

/// `output[row][column] = factors[row] * input[row][column]`.
///
/// # Safety
/// `input` and `output` hold `n * n` elements, `factors` holds `n`. Blocks have 32 x 8 threads, and
/// the launch at least `n` threads in x and in y.
#[kernel]
pub unsafe fn scale_rows(input: *const f32, factors: *const f32, output: *mut f32, n: usize) {
    let place = thread::index_2d();
    // All lanes load one word: a sector for each request.
    let mut sum = 0.0;
    for _ in 0..60 {
        sum += input.read_volatile();
    }
    let (row, column) = (place.x as usize, place.y as usize);
    if row < n && column < n {
        let i = row * n + column;
        let nothing = if sum == 12345.0 { 1.0 } else { 0.0 };
        *output.add(i) = *factors.add(row) * *input.add(i) + nothing;
    }
}
