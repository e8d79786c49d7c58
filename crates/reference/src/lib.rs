//! The expensive loops of the references on the CPU: matrix products in f64, dense and sparse,
//! transposes and stencils.
//! `host`'s labs call them.
//!
//! They are a separate crate so that `cargo run` compiles these few lines with optimisation, and
//! the large crate `host`, which mostly waits for devices, without: see the profiles in
//! `Cargo.toml`.

/// Rows of B that stay in the cache while a band of the product is computed.
const DEPTH: usize = 64;

/// Adds the product of A and B, from row `first_row` on, to `values`: as many rows of `columns`
/// elements as fit. `a` has rows of `depth` elements, and `b` has `depth` rows of `columns`.
///
/// # Panics
///
/// If a matrix is shorter than that.
pub fn add_product(a: &[f32], depth: usize, first_row: usize, b: &[f64], columns: usize, values: &mut [f64]) {
    if columns == 0 {
        return;
    }
    for first in (0..depth).step_by(DEPTH) {
        for (row, values) in (first_row..).zip(values.chunks_mut(columns)) {
            let of_a = &a[row * depth..][..depth];
            for k in first..(first + DEPTH).min(depth) {
                let factor = f64::from(of_a[k]);
                for (value, &element) in values.iter_mut().zip(&b[k * columns..][..columns]) {
                    *value += factor * element;
                }
            }
        }
    }
}

/// The dot product of two vectors, added up in eight parts for the processor's vector unit.
///
/// # Panics
///
/// If one is longer.
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let (a_parts, a_rest) = a.as_chunks::<8>();
    let (b_parts, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a_parts.iter().zip(b_parts) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(a) * f64::from(b);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
    sums.iter().sum::<f64>() + rest
}

/// A row of a sparse matrix, its columns and values, times a vector; and the sum of the terms'
/// magnitudes.
///
/// # Panics
///
/// If the vector has no element for a column.
pub fn sparse_dot(columns: &[u32], values: &[f32], x: &[f32]) -> (f64, f64) {
    columns.iter().zip(values).fold((0.0, 0.0), |(sum, magnitude), (&column, &value)| {
        let term = f64::from(value) * f64::from(x[column as usize]);
        (sum + term, magnitude + term.abs())
    })
}

/// Rows to read at a time, so that the output stays in the cache.
const TURNED: usize = 64;

/// Copies columns of a matrix, from `first_column` on, to the rows of `turned`: as many as fit. The
/// matrix has rows of `columns` elements.
///
/// # Panics
///
/// If there are fewer columns.
pub fn transpose(elements: &[f32], columns: usize, first_column: usize, turned: &mut [f32]) {
    let rows = elements.len().checked_div(columns).unwrap_or(0);
    for first in (0..rows).step_by(TURNED) {
        let last = (first + TURNED).min(rows);
        for (column, turned) in (first_column..).zip(turned.chunks_mut(rows)) {
            for (row, element) in (first..last).zip(&mut turned[first..last]) {
                *element = elements[row * columns + column];
            }
        }
    }
}

/// A neighbour of a value: planes, rows and columns away, and its weight.
pub type Neighbour = ([isize; 3], f64);

/// The weighted sum of neighbours of a value, and that of their magnitudes. What is outside of
/// `planes` x `rows` x `columns` values counts as 0.
///
/// # Panics
///
/// If there are fewer elements.
pub fn stencil(elements: &[f32], extents: [usize; 3], at: [usize; 3], neighbours: &[Neighbour]) -> (f64, f64) {
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for &(away, weight) in neighbours {
        let places = [0, 1, 2].map(|i| at[i].checked_add_signed(away[i]).filter(|&place| place < extents[i]));
        if let [Some(z), Some(y), Some(x)] = places {
            let term = weight * f64::from(elements[(z * extents[1] + y) * extents[2] + x]);
            sum += term;
            magnitude += term.abs();
        }
    }
    (sum, magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_row() {
        assert_eq!(sparse_dot(&[2, 0], &[3.0, -5.0], &[1.0, 10.0, 100.0]), (295.0, 305.0));
        assert_eq!(sparse_dot(&[], &[], &[1.0]), (0.0, 0.0));
    }

    #[test]
    fn neighbours_outside_count_as_nothing() {
        let elements: Vec<f32> = (1_u8..=12).map(f32::from).collect();
        let beside = [([0, 0, 0], 1.0), ([0, 0, -1], 2.0), ([0, 1, 0], -4.0), ([1, 0, 0], 0.5)];
        let of = |at| stencil(&elements, [2, 2, 3], at, &beside);
        assert_eq!(of([0, 0, 0]), (1.0 - 16.0 + 3.5, 20.5));
        assert_eq!(of([1, 1, 2]), (12.0 + 22.0, 34.0));
    }

    #[test]
    fn rows_of_a_product() {
        // [1 2 3; 4 5 6] times [1 0; 0 1; 1 1].
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let product = |a: &[f32], depth, rows: std::ops::Range<usize>, b: &[f64], columns| {
            let mut values = vec![0.0; rows.len() * columns];
            add_product(a, depth, rows.start, b, columns, &mut values);
            values
        };
        assert_eq!(product(&a, 3, 0..2, &b, 2), [4.0, 5.0, 10.0, 11.0]);
        assert_eq!(product(&a, 3, 1..2, &b, 2), [10.0, 11.0]);
        assert_eq!(product(&a, 3, 0..0, &b, 2), [0.0; 0]);
        assert_eq!(product(&[], 0, 0..2, &[], 2), [0.0; 4]);
        assert_eq!(product(&a, 3, 0..2, &[], 0), [0.0; 0]);
    }

    #[test]
    fn dot_products_of_any_length() {
        for length in [0, 1, 7, 8, 9, 100] {
            let a: Vec<f32> = (0..length).map(|i| i as f32).collect();
            let expected: f64 = (0..length).map(|i| (i * i) as f64).sum();
            assert_eq!(dot(&a, &a), expected);
        }
    }

    #[test]
    fn columns_become_rows() {
        let (rows, columns) = (130, 3);
        let elements: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
        let mut turned = vec![0.0; 2 * rows];
        transpose(&elements, columns, 1, &mut turned);
        for row in 0..rows {
            assert_eq!([turned[row], turned[rows + row]], [elements[row * columns + 1], elements[row * columns + 2]]);
        }
        transpose(&[], 0, 0, &mut []);
        transpose(&[], 3, 0, &mut []);
    }
}
