//! A patch in registers: four rows in, four columns out

use cuda_std::prelude::*;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`. Both
/// numbers are multiples of 4, and both matrices start on 16 bytes. Blocks are 8 x 32, with one
/// thread for each patch of 4 x 4 elements.
#[kernel(launch_bounds((8, 32)))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let patch = thread::index_2d();
    let (row, col) = (4 * patch.y as usize, 4 * patch.x as usize);
    let (rows, cols) = (rows as usize, cols as usize);
    // Rows and columns are multiples of 4: a patch is inside or outside, never in part.
    if row < rows && col < cols {
        // 8 threads load 128 bytes of a row: 4 sectors in each of 4 rows.
        let [a, b, c, d] =
            [0, 1, 2, 3].map(|i| (*input.add((row + i) * cols + col).cast::<f32x4>()).to_array());
        for j in 0..4 {
            // 4 threads store 64 bytes of a row: 2 sectors in each of 8 rows.
            *output.add((col + j) * rows + row).cast::<f32x4>() =
                f32x4::new(a[j], b[j], c[j], d[j]);
        }
    }
}
