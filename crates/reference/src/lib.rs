//! The loops of the references on the CPU that take long: matrix products in f64.
//!
//! They are a crate of their own so that `cargo run` compiles these few lines with optimisation, and the large crate `host`, which
//! waits for devices most of the time, without: see `docs/SPEED.md`.

use std::ops::Range;

/// Rows of B that stay in the cache while a band of the product is computed.
const DEPTH: usize = 64;

/// These rows of the product of A and B, row by row. `a` has rows of `depth` elements, and `b` has `depth` rows of `columns`.
///
/// # Panics
///
/// When a matrix is shorter than that.
pub fn product(a: &[f32], depth: usize, rows: Range<usize>, b: &[f64], columns: usize) -> Vec<f64> {
    let mut values = vec![0.0; rows.len() * columns];
    if columns == 0 {
        return values;
    }
    for first in (0..depth).step_by(DEPTH) {
        for (row, values) in rows.clone().zip(values.chunks_mut(columns)) {
            let of_a = &a[row * depth..][..depth];
            for k in first..(first + DEPTH).min(depth) {
                let factor = f64::from(of_a[k]);
                for (value, &element) in values.iter_mut().zip(&b[k * columns..][..columns]) {
                    *value += factor * element;
                }
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_product() {
        // [1 2 3; 4 5 6] times [1 0; 0 1; 1 1].
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        assert_eq!(product(&a, 3, 0..2, &b, 2), [4.0, 5.0, 10.0, 11.0]);
        assert_eq!(product(&a, 3, 1..2, &b, 2), [10.0, 11.0]);
        assert_eq!(product(&a, 3, 0..0, &b, 2), [0.0; 0]);
        assert_eq!(product(&[], 0, 0..2, &[], 2), [0.0; 4]);
        assert_eq!(product(&a, 3, 0..2, &[], 0), [0.0; 0]);
    }
}
