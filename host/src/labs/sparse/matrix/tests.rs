//! Random matrices, and slices of them.

use super::*;

#[test]
fn random_rows_have_different_ascending_columns() {
    for (kind, rows, each, spread) in [
        (Kind::Uniform, 1, 16, 2),
        (Kind::Uniform, 100, 16, 2),
        (Kind::PowerLaw, 3, 200, 1),
        (Kind::PowerLaw, 2048, 16, 2),
        (Kind::PowerLaw, 1000, 5, 1000),
    ] {
        let matrix = Csr::random(kind, &Shape { rows, each, spread }, &mut Random::new(1));
        for row in 0..rows {
            let (columns, _) = matrix.row(row);
            assert!(columns.is_sorted_by(|a, b| a < b), "{rows} {row}: {columns:?}");
            assert!(columns.iter().all(|&column| (column as usize) < rows));
        }
    }
}

#[test]
fn slices_of_any_height_have_all_entries_and_their_padding() {
    let shape = Shape { rows: 77, each: 6, spread: 3 };
    let matrix = Csr::random(Kind::PowerLaw, &shape, &mut Random::new(1));
    for height in [1, 8, 32, 77, 128] {
        let sliced = matrix.sliced(height);
        assert_eq!(sliced.columns.len() as u64, matrix.places(height));
        assert_eq!(sliced.starts.len(), 77_usize.div_ceil(height) + 1);
        let entries = sliced.columns.iter().filter(|column| **column != NO_COLUMN).count();
        assert_eq!(entries, matrix.len());
        for row in 0..77 {
            let begin = sliced.starts[row / height] as usize + row % height;
            let (columns, values) = matrix.row(row);
            for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
                let at = begin + k * height;
                assert_eq!((sliced.columns[at], sliced.values[at]), (column, value), "{height} {row} {k}");
            }
        }
    }
    assert_eq!(matrix.places(1), matrix.len() as u64);
}
