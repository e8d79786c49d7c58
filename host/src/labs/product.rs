//! What the labs of matrix products share: the products on the CPU, in f64, as references; and which of the best kernels to launch.

use kernels::matmul::BestTile;

use super::compare::Reference;
use super::inputs::HostMatrix;
use crate::device::Device;
use crate::parallel;

/// The multiprocessors of a device that has none: those of an H200.
const MULTIPROCESSORS: u32 = 132;

/// How much longer a small tile takes for as many elements: on an H200, 52 us for 64 x 128 x 1024 against 88 us for 128 x 128 x 1024.
const SMALL_TILE_COST: f64 = 1.18;

/// The kernel whose tiles make the product of this `shape` soonest, with its number of blocks. `None` where no tile fits into the
/// product, or its shared memory into a block of the device.
///
/// The last block is done when the multiprocessor with the most blocks is.
pub(super) fn best_tile<K: Copy>(
    device: &Device,
    kernels: [(BestTile, K); 2],
    [rows, columns]: [u32; 2],
    blocks: impl Fn(BestTile) -> u64,
) -> Option<((BestTile, K), u32)> {
    let properties = device.properties();
    let multiprocessors = u64::from(properties.multiprocessors.unwrap_or(MULTIPROCESSORS));
    let largest = kernels.iter().map(|(tile, _)| tile.rows * tile.columns).max();
    let cost = |tile: BestTile| {
        let elements = tile.rows * tile.columns;
        let each = f64::from(elements) * if Some(elements) == largest { 1.0 } else { SMALL_TILE_COST };
        blocks(tile).div_ceil(multiprocessors) as f64 * each
    };
    let fits = |tile: BestTile| {
        rows >= tile.rows && columns >= tile.columns && u64::from(tile.shared) <= properties.shared_per_block_opt_in
    };
    let fitting = kernels.into_iter().filter(|&(tile, _)| fits(tile));
    let best = fitting.min_by(|a, b| cost(a.0).total_cmp(&cost(b.0)))?;
    Some((best, u32::try_from(blocks(best.0)).ok()?))
}

/// The elements of a product of two matrices, and how large the terms are that each is the sum of.
pub(super) struct Products {
    columns: usize,
    values: Vec<f64>,
    /// The lengths of A's rows and of B's columns: their product bounds the sum of the terms' magnitudes (Cauchy and Schwarz).
    lengths: [Vec<f64>; 2],
}

impl Products {
    /// The product of A and B, with all cores.
    ///
    /// # Panics
    ///
    /// When A has not as many columns as B has rows: an error of the calling lab.
    pub fn of(a: &HostMatrix, b: &HostMatrix) -> Self {
        assert_eq!(a.columns, b.rows);
        let wide: Vec<f64> = b.elements.iter().copied().map(f64::from).collect();
        let bands = parallel::ranges(a.rows, 1);
        let values = parallel::for_each(&bands, |rows| {
            reference::product(&a.elements, a.columns, rows.clone(), &wide, b.columns)
        })
        .concat();
        let square = |&element: &f32| f64::from(element) * f64::from(element);
        let rows = a.elements.chunks(a.columns).map(|row| row.iter().map(square).sum::<f64>().sqrt()).collect();
        let mut columns = vec![0.0; b.columns];
        for row in b.elements.chunks(b.columns) {
            columns.iter_mut().zip(row).for_each(|(column, element)| *column += square(element));
        }
        columns.iter_mut().for_each(|column: &mut f64| *column = column.sqrt());
        Self { columns: b.columns, values, lengths: [rows, columns] }
    }

    /// An element of the product.
    pub fn reference(&self, row: usize, column: usize) -> Reference {
        Reference {
            value: self.values[row * self.columns + column],
            magnitude: self.lengths[0][row] * self.lengths[1][column],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn products_are_sums_of_rows_times_columns() {
        let mut random = Random::new(1);
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (33, 2, 100), (2, 33, 65)] {
            let (a, b) = (HostMatrix::random(m, k, &mut random), HostMatrix::random(k, n, &mut random));
            let products = Products::of(&a, &b);
            for row in 0..m as usize {
                for column in 0..n as usize {
                    let terms = (0..k as usize).map(|i| {
                        f64::from(a.elements[row * k as usize + i]) * f64::from(b.elements[i * n as usize + column])
                    });
                    let expected = Reference::sum(terms);
                    let found = products.reference(row, column);
                    assert!((found.value - expected.value).abs() < 1e-12);
                    assert!(found.magnitude >= expected.magnitude * (1.0 - 1e-12));
                }
            }
        }
    }
}
