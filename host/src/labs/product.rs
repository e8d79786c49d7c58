//! Matrix products on the CPU, in f64: the references for those of the devices.

use super::compare::Reference;
use super::inputs::HostMatrix;
use crate::parallel;

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
