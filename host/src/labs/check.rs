//! Comparison of a lab's output with its reference.

use crate::report::{Check, Mismatch};

/// Compares a `rows` x `columns` matrix that lies row behind row with what `expected` says for each row and column: bit by bit,
/// so that -0 is not 0 and each NaN is itself only. For results that a device must give exactly.
///
/// All cores take part, tile by tile, so that a reference which walks the other way (a transpose) stays in the cache.
///
/// # Panics
///
/// When `found` has another number of elements: an error of the calling lab.
pub fn exact(rows: usize, columns: usize, found: &[f32], expected: impl Fn(usize, usize) -> f32 + Sync) -> Check {
    assert_eq!(found.len(), rows * columns);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let band = rows.div_ceil(threads).next_multiple_of(TILE);
    let expected = &expected;
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let workers: Vec<_> = found
            .chunks((band * columns).max(1))
            .enumerate()
            .map(|(index, found)| scope.spawn(move || compare(index * band, columns, found, expected)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    summarise(found.len() as u64, &parts)
}

/// The side of a tile in elements.
const TILE: usize = 64;

/// What one thread found.
#[derive(Default)]
struct Part {
    wrong: u64,
    max_error: f64,
    /// The wrong element with the smallest row and column: row, column, expected, found.
    first: Option<(usize, usize, f32, f32)>,
}

/// Compares a band of rows that begins with row `top`.
fn compare(top: usize, columns: usize, found: &[f32], expected: &(impl Fn(usize, usize) -> f32 + Sync)) -> Part {
    let mut part = Part::default();
    let rows = found.len() / columns;
    for tile_row in (0..rows).step_by(TILE) {
        for tile_column in (0..columns).step_by(TILE) {
            for row in tile_row..(tile_row + TILE).min(rows) {
                for column in tile_column..(tile_column + TILE).min(columns) {
                    let found = found[row * columns + column];
                    let expected = expected(top + row, column);
                    if found.to_bits() != expected.to_bits() {
                        part.note(top + row, column, expected, found);
                    }
                }
            }
        }
    }
    part
}

impl Part {
    fn note(&mut self, row: usize, column: usize, expected: f32, found: f32) {
        self.wrong += 1;
        let error = (f64::from(expected) - f64::from(found)).abs();
        self.max_error = worse(self.max_error, error);
        if self.first.is_none_or(|(first_row, first_column, ..)| (row, column) < (first_row, first_column)) {
            self.first = Some((row, column, expected, found));
        }
    }
}

/// The larger of two errors; one that is not a number is the largest.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn summarise(elements: u64, parts: &[Part]) -> Check {
    let first = parts.iter().filter_map(|part| part.first).min_by_key(|&(row, column, ..)| (row, column));
    Check {
        elements,
        wrong: parts.iter().map(|part| part.wrong).sum(),
        max_error: parts.iter().map(|part| part.max_error).fold(0.0, worse),
        first: first.map(|(row, column, expected, found)| Mismatch {
            index: vec![row as u64, column as u64],
            expected: expected.into(),
            found: found.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize) -> Vec<f32> {
        (0..rows * columns).map(|i| i as f32).collect()
    }

    #[test]
    fn equal_is_right_at_every_shape() {
        for (rows, columns) in [(1, 1), (1, 1000), (1000, 1), (63, 65), (200, 300)] {
            let check = exact(rows, columns, &matrix(rows, columns), |row, column| (row * columns + column) as f32);
            assert!(check.correct());
            assert_eq!(check.max_error, 0.0);
            assert_eq!(check.elements, (rows * columns) as u64);
        }
    }

    #[test]
    fn the_first_and_the_worst_error_are_found() {
        let mut found = matrix(300, 200);
        found[150 * 200 + 3] += 1.0;
        found[150 * 200 + 190] += 0.5;
        found[299 * 200 + 199] = -1e30;
        let check = exact(300, 200, &found, |row, column| (row * 200 + column) as f32);
        assert_eq!(check.wrong, 3);
        assert!((check.max_error - 1e30).abs() < 1e24);
        let first = check.first.unwrap();
        assert_eq!(first.index, [150, 3]);
        assert_eq!(first.found, first.expected + 1.0);
    }

    #[test]
    fn bits_count_not_values() {
        let nan = f32::from_bits(0x7fc0_1234);
        let reference = |_, column| [nan, -0.0][column];
        assert!(exact(1, 2, &[nan, -0.0], reference).correct());
        assert_eq!(exact(1, 2, &[f32::NAN, -0.0], reference).wrong, 1);
        let check = exact(1, 2, &[nan, 0.0], reference);
        assert_eq!((check.wrong, check.max_error), (1, 0.0));
        assert!(exact(1, 2, &[1.0, -0.0], reference).max_error.is_nan());
    }
}
