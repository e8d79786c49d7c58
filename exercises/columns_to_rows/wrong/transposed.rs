// fails: output[
// Exchanges x and y in the address only: it grows by 1 from lane to lane, but is another element's.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn scale_rows(input: *const f32, factors: *const f32, output: *mut f32, n: usize) {
    let place = thread::index_2d();
    let (row, column) = (place.x as usize, place.y as usize);
    if row < n && column < n {
        let i = column * n + row;
        *output.add(i) = *factors.add(row) * *input.add(i);
    }
}
