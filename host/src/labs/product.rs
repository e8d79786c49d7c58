//! Shared by the labs `matmul` and `gram`: the references, computed on the CPU in f64.
//! Pure, and parallel on the host.
//!
//! A product that would take a CPU minutes is sampled: one element in each tile of 16 x 16, chosen
//! by the seed. A wrong tile, row or column is then noticed. The other elements are only checked
//! against the largest magnitude that the inputs allow, which the poison of an element that was
//! never written exceeds.

use common::random::Random;
use rayon::prelude::*;

use super::compare::{Expected, Reference};
use super::inputs::HostMatrix;

/// The number of multiplications above which only a sample is computed: a few seconds on 16 cores.
const MANY: u64 = 1 << 36;

/// The side of the tiles with one sampled element each.
const TILE: usize = 16;

/// The rows of a product that a thread computes at a time.
const BAND: usize = 16;

/// The elements of a product of two matrices, and the magnitudes of the terms that each element
/// sums.
pub(super) struct Products {
    columns: usize,
    values: Values,
    /// The lengths of A's rows and of B's columns: their product bounds the sum of the terms'
    /// magnitudes (Cauchy and Schwarz).
    lengths: [Vec<f64>; 2],
}

/// What was computed.
enum Values {
    /// Every element, row by row.
    All(Vec<f64>),
    /// One element of each tile, by rows of tiles: its position and value.
    Sample(Vec<Sampled>),
}

/// A sampled element.
struct Sampled {
    row: usize,
    column: usize,
    value: f64,
}

impl Products {
    /// The product of A and B, computed on all cores. `seed` chooses the sample of a large one.
    ///
    /// # Panics
    ///
    /// Unless A has as many columns as B has rows: a bug of the calling lab.
    pub fn of(a: &HostMatrix, b: &HostMatrix, seed: u64) -> Self {
        assert_eq!(a.columns, b.rows);
        match is_large(a, b.columns) {
            true => Self::sampled(a, &b.transposed(), seed),
            false => Self::whole(a, b),
        }
    }

    /// The product of A and its transpose.
    pub fn with_itself(a: &HostMatrix, seed: u64) -> Self {
        match is_large(a, a.rows) {
            true => Self::sampled(a, a, seed),
            false => Self::whole(a, &a.transposed()),
        }
    }

    fn whole(a: &HostMatrix, b: &HostMatrix) -> Self {
        let wide: Vec<f64> = b.elements.iter().copied().map(f64::from).collect();
        let mut values = vec![0.0; a.rows * b.columns];
        // A chunk of no elements is not possible.
        let bands = values.par_chunks_mut((BAND * b.columns).max(1)).enumerate();
        bands.for_each(|(band, values)| {
            reference::add_product(&a.elements, a.columns, band * BAND, &wide, b.columns, values);
        });
        let square = |&element: &f32| f64::from(element) * f64::from(element);
        let mut columns = vec![0.0; b.columns];
        for row in b.elements.chunks(b.columns) {
            columns.iter_mut().zip(row).for_each(|(column, element)| *column += square(element));
        }
        columns.iter_mut().for_each(|column: &mut f64| *column = column.sqrt());
        Self { columns: b.columns, values: Values::All(values), lengths: [row_lengths(a), columns] }
    }

    /// A sample of the product of A and the transpose of `b`.
    fn sampled(a: &HostMatrix, b: &HostMatrix, seed: u64) -> Self {
        let [down, across] = [a.rows, b.rows].map(|extent| extent.div_ceil(TILE));
        let mut random = Random::new(seed);
        let draws: Vec<u64> = (0..down * across).map(|_| random.next_u64()).collect();
        let element = |tile: usize| {
            let within = |first: usize, extent: usize, draw: u64| first + draw as usize % TILE.min(extent - first);
            let draw = draws[tile];
            let row = within(tile / across * TILE, a.rows, draw & 0xffff);
            let column = within(tile % across * TILE, b.rows, draw >> 16 & 0xffff);
            let value = reference::dot(a.row(row), b.row(column));
            Sampled { row, column, value }
        };
        let samples = (0..down * across).into_par_iter().map(element).collect();
        Self { columns: b.rows, values: Values::Sample(samples), lengths: [row_lengths(a), row_lengths(b)] }
    }

    /// What is known about an element of the product.
    pub fn of_element(&self, row: usize, column: usize) -> Expected {
        let magnitude = self.lengths[0][row] * self.lengths[1][column];
        match &self.values {
            Values::All(values) => Expected::Known(Reference { value: values[row * self.columns + column], magnitude }),
            Values::Sample(samples) => {
                let sampled = &samples[row / TILE * self.columns.div_ceil(TILE) + column / TILE];
                match (sampled.row, sampled.column) == (row, column) {
                    true => Expected::Known(Reference { value: sampled.value, magnitude }),
                    false => Expected::AtMost(magnitude),
                }
            }
        }
    }
}

/// Whether a product takes so long that it is sampled.
fn is_large(a: &HostMatrix, columns: usize) -> bool {
    [a.rows, a.columns, columns].iter().fold(1_u64, |all, &extent| all.saturating_mul(extent as u64)) > MANY
}

/// The Euclidean length of each row.
fn row_lengths(matrix: &HostMatrix) -> Vec<f64> {
    (0..matrix.rows).map(|row| reference::dot(matrix.row(row), matrix.row(row)).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrices(m: u64, n: u64, k: u64) -> (HostMatrix, HostMatrix) {
        let mut random = Random::new(1);
        (HostMatrix::random(m, k, &mut random), HostMatrix::random(k, n, &mut random))
    }

    fn known(products: &Products, row: usize, column: usize) -> Option<Reference> {
        match products.of_element(row, column) {
            Expected::Known(reference) => Some(reference),
            _ => None,
        }
    }

    #[test]
    fn products_are_sums_of_rows_times_columns() {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (33, 2, 100), (2, 33, 65)] {
            let (a, b) = matrices(m, n, k);
            let products = Products::of(&a, &b, 1);
            for row in 0..m as usize {
                for column in 0..n as usize {
                    let terms = (0..k as usize).map(|i| {
                        f64::from(a.elements[row * k as usize + i]) * f64::from(b.elements[i * n as usize + column])
                    });
                    let expected = Reference::sum(terms);
                    let found = known(&products, row, column).unwrap();
                    assert!((found.value - expected.value).abs() < 1e-12);
                    assert!(found.magnitude >= expected.magnitude * (1.0 - 1e-12));
                }
            }
        }
    }

    #[test]
    fn a_sample_has_one_right_element_in_each_tile() {
        for (m, n) in [(16, 16), (33, 50), (5, 100), (1, 1)] {
            let (a, b) = matrices(m, n, 70);
            let (all, sample) = (Products::whole(&a, &b), Products::sampled(&a, &b.transposed(), 7));
            let again = Products::sampled(&a, &b.transposed(), 7);
            let mut tiles = Vec::new();
            for row in 0..m as usize {
                for column in 0..n as usize {
                    assert_eq!(sample.of_element(row, column), again.of_element(row, column));
                    let whole = known(&all, row, column).unwrap();
                    match sample.of_element(row, column) {
                        Expected::Known(found) => {
                            assert!((found.value - whole.value).abs() < 1e-12);
                            tiles.push((row / TILE, column / TILE));
                        }
                        Expected::AtMost(most) => assert!(whole.value.abs() <= most),
                        Expected::Anything => panic!("every element is part of the product"),
                    }
                }
            }
            let count = tiles.len();
            tiles.sort_unstable();
            tiles.dedup();
            assert_eq!((tiles.len(), count), ((m.div_ceil(16) * n.div_ceil(16)) as usize, count));
        }
    }

    #[test]
    fn only_large_products_are_sampled() {
        let shape = |rows, columns| HostMatrix { rows, columns, elements: Vec::new() };
        assert!(!is_large(&shape(4096, 4096), 4096) && is_large(&shape(4096, 4096), 4097));
        assert!(is_large(&shape(usize::MAX, 2), 2));
    }
}
