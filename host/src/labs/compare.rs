//! Compares a lab's result with its reference: exactly where the result is determined, and within
//! the error of f32 arithmetic where the order of a sum is free. Labs call it through
//! [`Outcome`](super::lab::Outcome). Pure: it reads results that have been copied to the host.
//!
//! The allowed error follows from the number of terms and is part of the report, so that "right" is
//! well defined. The comparisons use the crate `approx`.
//!
//! Where the order of a sum is free, each rounding on the way may cost 2^-24 of the magnitude of
//! the terms. The report shows how many roundings were allowed for, and how much of the tolerance
//! was used. Everything else is compared bit by bit.

use approx::{abs_diff_eq, ulps_eq};
use bytemuck::Pod;
use rayon::prelude::*;

use crate::report::{Comparison, Mismatch, Tolerance, Tolerated};

/// The shape of a result, whose elements are stored row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number.
    Scalar,
    /// The number of elements.
    Vector(usize),
    /// A matrix.
    Matrix {
        /// Rows.
        rows: usize,
        /// Elements of a row.
        columns: usize,
    },
    /// Planes of rows.
    Volume {
        /// Planes.
        planes: usize,
        /// Rows of a plane.
        rows: usize,
        /// Elements of a row.
        columns: usize,
    },
}

impl Shape {
    /// Elements in each dimension, the slowest first; none for a number.
    pub fn extents(self) -> Vec<usize> {
        match self {
            Self::Scalar => vec![],
            Self::Vector(length) => vec![length],
            Self::Matrix { rows, columns } => vec![rows, columns],
            Self::Volume { planes, rows, columns } => vec![planes, rows, columns],
        }
    }

    /// Rows, of all planes, and columns; a vector is one row.
    fn rows_and_columns(self) -> (usize, usize) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vector(length) => (1, length),
            Self::Matrix { rows, columns } => (rows, columns),
            Self::Volume { planes, rows, columns } => (planes * rows, columns),
        }
    }

    /// An element's indices, one for each dimension.
    fn index(self, row: usize, column: usize) -> Vec<u64> {
        match self {
            Self::Scalar => vec![],
            Self::Vector(_) => vec![column as u64],
            Self::Matrix { .. } => vec![row as u64, column as u64],
            Self::Volume { rows, .. } => vec![(row / rows) as u64, (row % rows) as u64, column as u64],
        }
    }
}

/// The expected value of an element, in higher precision than the device's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// The value.
    pub value: f64,
    /// What rounding errors are proportional to: for a sum, the sum of its terms' magnitudes.
    pub magnitude: f64,
}

impl Reference {
    /// The sum of these terms.
    pub fn sum(terms: impl IntoIterator<Item = f64>) -> Self {
        let zero = Self { value: 0.0, magnitude: 0.0 };
        terms
            .into_iter()
            .fold(zero, |sum, term| Self { value: sum.value + term, magnitude: sum.magnitude + term.abs() })
    }
}

/// What is known about an element before the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Its expected value.
    Known(Reference),
    /// Only the largest magnitude that it can have, rounding errors aside: for elements outside a
    /// sample.
    AtMost(f64),
    /// Nothing, because it is not part of the result.
    Anything,
}

impl From<f64> for Reference {
    fn from(value: f64) -> Self {
        Self { value, magnitude: value.abs() }
    }
}

/// The maximum relative error of one rounding to f32.
const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// The allowed distance of a result from `expected`.
fn allowed(tolerance: Tolerance, expected: Reference) -> f64 {
    match tolerance {
        Tolerance::Roundings(count) => count as f64 * UNIT_ROUNDOFF * expected.magnitude,
        Tolerance::Ulps(count) => f64::from(count) * ulp(expected.value as f32),
        Tolerance::Absolute(error) => error,
    }
}

fn is_right(tolerance: Tolerance, found: f32, expected: Reference) -> bool {
    match tolerance {
        Tolerance::Ulps(count) => ulps_eq!(found, expected.value as f32, epsilon = 0.0, max_ulps = count),
        _ => abs_diff_eq!(f64::from(found), expected.value, epsilon = allowed(tolerance, expected)),
    }
}

/// The distance from a float to the next larger one in magnitude.
fn ulp(value: f32) -> f64 {
    let next = f32::from_bits(value.abs().to_bits() + 1);
    f64::from(next) - f64::from(value.abs())
}

/// Compares a result bit by bit with `expected` of each row and column (for a vector, row 0): -0
/// differs from 0, and NaNs with different bits differ.
///
/// # Panics
///
/// If `found` and the shape differ in the number of elements: a bug of the calling lab.
pub fn exact<T: Pod + Into<f64> + Sync>(
    shape: Shape,
    found: &[T],
    expected: impl Fn(usize, usize) -> T + Sync,
) -> Comparison {
    // Comparing a part of a row as bytes is many times as fast as element by element, in builds
    // without optimisation most of all.
    let same = |found: &[T], row: usize, first_column: usize| {
        let mut wanted = [T::zeroed(); TILE];
        let mut at = 0;
        while at < found.len() {
            wanted[at] = expected(row, first_column + at);
            at += 1;
        }
        bytemuck::cast_slice::<T, u8>(found) == bytemuck::cast_slice::<T, u8>(&wanted[..found.len()])
    };
    compare(shape, found, None, same, |found, row, column| {
        let expected = expected(row, column);
        let right = bytemuck::bytes_of(found) == bytemuck::bytes_of(&expected);
        let (found, expected): (f64, f64) = ((*found).into(), expected.into());
        // Equal values with different bits are wrong and have no distance.
        let error = if right { 0.0 } else { (expected - found).abs() };
        ElementComparison { counts: Counts::Wholly, right, error, part: 0.0, expected }
    })
}

/// Compares a result with a reference in higher precision. Infinities and NaNs are right where the
/// reference has the same.
///
/// # Panics
///
/// If `found` and the shape differ in the number of elements: a bug of the calling lab.
pub fn near(
    shape: Shape,
    found: &[f32],
    tolerance: Tolerance,
    expected: impl Fn(usize, usize) -> Reference + Sync,
) -> Comparison {
    near_where(shape, found, tolerance, |row, column| Expected::Known(expected(row, column)))
}

/// As [`near`], if not every element has a reference.
///
/// # Panics
///
/// As [`near`].
pub fn near_where(
    shape: Shape,
    found: &[f32],
    tolerance: Tolerance,
    expected: impl Fn(usize, usize) -> Expected + Sync,
) -> Comparison {
    compare(
        shape,
        found,
        Some(tolerance),
        |_, _, _| false,
        |&found, row, column| {
            let reference = match expected(row, column) {
                Expected::Known(reference) => reference,
                Expected::AtMost(most) => {
                    let most = most + allowed(tolerance, Reference { value: 0.0, magnitude: most });
                    // Infinite inputs give no bound.
                    let right = f64::from(found).abs() <= most || !most.is_finite();
                    let error = if right { 0.0 } else { f64::from(found).abs() - most };
                    return ElementComparison { counts: Counts::InPart, right, error, part: 0.0, expected: most };
                }
                Expected::Anything => {
                    return ElementComparison {
                        counts: Counts::Not,
                        right: true,
                        error: 0.0,
                        part: 0.0,
                        expected: 0.0,
                    };
                }
            };
            let counts = Counts::Wholly;
            let value = reference.value;
            let found64 = f64::from(found);
            if !value.is_finite() || (value as f32).is_infinite() {
                let right = found == value as f32 || (found.is_nan() && value.is_nan());
                return ElementComparison {
                    counts,
                    right,
                    error: if right { 0.0 } else { f64::NAN },
                    part: 0.0,
                    expected: value,
                };
            }
            let error = (value - found64).abs();
            let part = if error == 0.0 { 0.0 } else { error / allowed(tolerance, reference) };
            ElementComparison { counts, right: is_right(tolerance, found, reference), error, part, expected: value }
        },
    )
}

/// How an element was compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// With a reference.
    Wholly,
    /// With the largest possible magnitude.
    InPart,
    /// Not at all: it is not part of the result.
    Not,
}

/// The comparison of one element.
struct ElementComparison {
    counts: Counts,
    right: bool,
    error: f64,
    /// The error relative to the allowed error.
    part: f64,
    expected: f64,
}

/// The comparison of some elements.
#[derive(Default)]
struct Part {
    in_part: u64,
    not: u64,
    wrong: u64,
    max_error: f64,
    worst_part: f64,
    /// The wrong element with the smallest row and column: row, column, expected, found.
    first: Option<(usize, usize, f64, f64)>,
}

/// The side of a tile in elements. Comparing by tiles keeps a reference with another order (a
/// transpose) in the cache.
const TILE: usize = 64;

/// Compares every element, on all cores. `same` may say that elements of a row, from a column on,
/// all equal their reference, at most [`TILE`] of them: they need no `compare` then.
fn compare<T: Pod + Into<f64> + Sync>(
    shape: Shape,
    found: &[T],
    tolerance: Option<Tolerance>,
    same: impl Fn(&[T], usize, usize) -> bool + Sync,
    compare: impl Fn(&T, usize, usize) -> ElementComparison + Sync,
) -> Comparison {
    let (rows, columns) = shape.rows_and_columns();
    assert_eq!(found.len(), rows * columns);
    let [down, across] = [rows, columns].map(|extent| extent.div_ceil(TILE));
    let compare_tile = |mut part: Part, tile: usize| {
        let [first_row, first_column] = [tile / across, tile % across].map(|at| at * TILE);
        for row in first_row..(first_row + TILE).min(rows) {
            let across = first_column..(first_column + TILE).min(columns);
            if same(&found[row * columns + across.start..row * columns + across.end], row, first_column) {
                continue;
            }
            for column in across {
                let found = &found[row * columns + column];
                part.note(row, column, (*found).into(), &compare(found, row, column));
            }
        }
        part
    };
    let tiles = (0..down * across).into_par_iter();
    let all = tiles.fold(Part::default, compare_tile).reduce(Part::default, Part::and);
    let elements = found.len() as u64 - all.not;
    Comparison {
        too_exact: false,
        elements,
        sample: (all.in_part > 0).then(|| elements - all.in_part),
        wrong: all.wrong,
        max_error: all.max_error,
        first: all.first.map(|(row, column, expected, found)| Mismatch {
            index: shape.index(row, column),
            expected,
            found,
        }),
        tolerance: tolerance.map(|tolerance| Tolerated { tolerance, worst_part: all.worst_part }),
    }
}

impl Part {
    #[inline(always)]
    fn note(&mut self, row: usize, column: usize, found: f64, element: &ElementComparison) {
        match element.counts {
            Counts::Wholly => {}
            Counts::InPart => self.in_part += 1,
            Counts::Not => self.not += 1,
        }
        // Elements without an error, which are nearly all, cost only one comparison.
        if element.right && element.error == 0.0 {
            return;
        }
        self.max_error = worse(self.max_error, element.error);
        self.worst_part = worse(self.worst_part, element.part);
        if element.right {
            return;
        }
        self.wrong += 1;
        if self.first.is_none_or(|(first_row, first_column, ..)| (row, column) < (first_row, first_column)) {
            self.first = Some((row, column, element.expected, found));
        }
    }

    /// Both parts, in either order.
    fn and(self, other: Self) -> Self {
        let both = self.first.into_iter().chain(other.first);
        Self {
            in_part: self.in_part + other.in_part,
            not: self.not + other.not,
            wrong: self.wrong + other.wrong,
            max_error: worse(self.max_error, other.max_error),
            worst_part: worse(self.worst_part, other.worst_part),
            first: both.min_by_key(|&(row, column, ..)| (row, column)),
        }
    }
}

/// The larger of two errors; NaN counts as the largest.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize) -> (Shape, Vec<f32>) {
        (Shape::Matrix { rows, columns }, (0..rows * columns).map(|i| i as f32).collect())
    }

    #[test]
    fn equal_is_right_at_every_shape() {
        for (rows, columns) in [(1, 1), (1, 1000), (1000, 1), (63, 65), (200, 300), (1, 100_000)] {
            let (shape, found) = matrix(rows, columns);
            let check = exact(shape, &found, |row, column| (row * columns + column) as f32);
            assert!(check.correct());
            assert_eq!(check.max_error, 0.0);
            assert_eq!(check.elements, (rows * columns) as u64);
        }
        assert!(exact(Shape::Scalar, &[5_i32], |_, _| 5).correct());
        assert!(exact(Shape::Vector(0), &[] as &[f32], |_, _| 0.0).correct());
    }

    #[test]
    fn the_first_and_the_worst_error_are_found() {
        let (shape, mut found) = matrix(300, 200);
        found[150 * 200 + 3] += 1.0;
        found[150 * 200 + 190] += 0.5;
        found[299 * 200 + 199] = -1e30;
        let check = exact(shape, &found, |row, column| (row * 200 + column) as f32);
        assert_eq!(check.wrong, 3);
        assert!((check.max_error - 1e30).abs() < 1e24);
        let first = check.first.unwrap();
        assert_eq!(first.index, [150, 3]);
        assert_eq!(first.found, first.expected + 1.0);
    }

    #[test]
    fn an_index_has_as_many_numbers_as_there_are_dimensions() {
        let first = |shape, found: &[i32]| exact(shape, found, |_, _| 7).first.unwrap().index;
        assert_eq!(first(Shape::Scalar, &[8]), [] as [u64; 0]);
        assert_eq!(first(Shape::Vector(3), &[7, 7, 8]), [2]);
        assert_eq!(first(Shape::Matrix { rows: 3, columns: 1 }, &[7, 7, 8]), [2, 0]);
    }

    #[test]
    fn bits_count_not_values() {
        let nan = f32::from_bits(0x7fc0_1234);
        let reference = |_, column| [nan, -0.0][column];
        let two = Shape::Vector(2);
        assert!(exact(two, &[nan, -0.0], reference).correct());
        assert_eq!(exact(two, &[f32::NAN, -0.0], reference).wrong, 1);
        let check = exact(two, &[nan, 0.0], reference);
        assert_eq!((check.wrong, check.max_error), (1, 0.0));
        assert!(exact(two, &[1.0, -0.0], reference).max_error.is_nan());
    }

    #[test]
    fn sums_may_be_off_by_a_rounding_a_term_and_no_more() {
        // 1000 terms of 1: each rounding is off by at most 2^-24 of 1000.
        let allowed = 1000.0 * 1000.0 * UNIT_ROUNDOFF;
        let of = |error: f64| {
            let reference = Reference { value: 10.0, magnitude: 1000.0 };
            near(Shape::Scalar, &[(10.0 + error) as f32], Tolerance::Roundings(1000), move |_, _| reference)
        };
        assert!(of(0.0).correct() && of(allowed * 0.99).correct());
        assert!(!of(allowed * 1.01).correct());
        let part = of(allowed * 0.5).tolerance.unwrap().worst_part;
        assert!((part - 0.5).abs() < 1e-4, "{part}");
        assert!(!of(f64::NAN).correct() && of(f64::NAN).max_error.is_nan());
        assert_eq!(Reference::sum([1.0, -3.0]), Reference { value: -2.0, magnitude: 4.0 });
    }

    #[test]
    fn neighbours_of_the_nearest_float_are_counted() {
        let of = |found: f32, ulps| near(Shape::Scalar, &[found], Tolerance::Ulps(ulps), |_, _| 0.1.into());
        let beside = |steps: u32| f32::from_bits(0.1_f32.to_bits() + steps);
        assert!(of(beside(0), 0).correct() && of(beside(2), 2).correct());
        assert!(!of(beside(3), 2).correct());
        let absolute = |found: f32| near(Shape::Scalar, &[found], Tolerance::Absolute(0.5), |_, _| 1.0.into());
        assert!(absolute(1.5).correct() && !absolute(1.75).correct());
    }

    #[test]
    fn a_sample_is_counted_and_the_rest_is_bounded() {
        let tolerance = Tolerance::Roundings(1);
        let of = |found: &[f32]| {
            near_where(Shape::Vector(4), found, tolerance, |_, column| match column {
                0 => Expected::Known(1.0.into()),
                1 | 2 => Expected::AtMost(10.0),
                _ => Expected::Anything,
            })
        };
        let check = of(&[1.0, -10.0, 10.0, f32::NAN]);
        assert!(check.correct());
        assert_eq!((check.elements, check.sample), (3, Some(1)));
        for (column, wrong) in
            [[2.0, 0.0, 0.0, 0.0], [1.0, 10.1, 0.0, 0.0], [1.0, 0.0, f32::NAN, 0.0]].iter().enumerate()
        {
            let check = of(wrong);
            assert_eq!((check.wrong, check.first.unwrap().index), (1, vec![column as u64]));
        }
        let half = near_where(Shape::Vector(2), &[1.0, 7.0], tolerance, |_, column| match column {
            0 => Expected::Known(1.0.into()),
            _ => Expected::Anything,
        });
        assert_eq!((half.correct(), half.elements, half.sample), (true, 1, None));
    }

    #[test]
    fn infinities_and_nans_are_right_where_the_reference_has_them() {
        let of = |found: f32, expected: f64| {
            near(Shape::Scalar, &[found], Tolerance::Ulps(1), move |_, _| expected.into()).correct()
        };
        assert!(of(f32::INFINITY, 1e60) && of(f32::NAN, f64::NAN) && of(f32::NEG_INFINITY, f64::NEG_INFINITY));
        assert!(!of(1.0, f64::NAN) && !of(f32::INFINITY, 1.0) && !of(f32::MAX, 1e60));
    }
}
