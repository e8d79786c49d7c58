//! What the stencils are to compute, in f64. Pure, but for reading a file.

use std::path::Path;

use device::{Error, Result};
use kernels::{stencil, stencil_volume};
use reference::Neighbour;

use crate::labs::compare::Reference;
use crate::labs::inputs::HostMatrix;
use crate::npy;

/// Planes of rows, one after the other.
pub(super) struct Volume {
    pub planes: usize,
    /// The rows of each plane.
    pub height: usize,
    /// All of them.
    pub rows: HostMatrix,
}

impl Volume {
    /// The volume in a NumPy file, if kernels can index it.
    pub fn read(path: &Path) -> Result<Self> {
        let array = npy::read::<f32>(path, 3)?;
        let [planes, height, columns] = [0, 1, 2].map(|dimension| array.shape[dimension]);
        let rows = planes.saturating_mul(height);
        if rows.max(columns) > u32::MAX as usize {
            return Err(Error::file(path, "has more than 4294967295 rows or columns, the limit of the kernels"));
        }
        Ok(Self { planes, height, rows: HostMatrix { rows, columns, elements: array.data } })
    }
}

/// The neighbours of a value, of as many points, with their weights.
pub(super) fn neighbours(points: u32) -> Vec<Neighbour> {
    let star = |[here, beside]: [f32; 2], dimensions: &[usize]| {
        let mut all = vec![([0; 3], f64::from(here))];
        for &dimension in dimensions {
            for away in [-1, 1] {
                let mut place = [0; 3];
                place[dimension] = away;
                all.push((place, f64::from(beside)));
            }
        }
        all
    };
    match points {
        5 => star(stencil::STAR, &[1, 2]),
        7 => star(stencil_volume::STAR, &[0, 1, 2]),
        _ => {
            let weights = stencil::SMOOTH.map(f64::from);
            let of = |(dy, dx): (usize, usize)| ([0, dy as isize - 2, dx as isize - 2], weights[dy] * weights[dx]);
            (0..25).map(|i| of((i / 5, i % 5))).collect()
        }
    }
}

/// A result in planes of `height` rows.
pub(super) fn sum(
    values: &HostMatrix,
    height: usize,
    [row, column]: [usize; 2],
    neighbours: &[Neighbour],
) -> Reference {
    let extents = [values.rows / height, height, values.columns];
    let at = [row / height, row % height, column];
    let (value, magnitude) = reference::stencil(&values.elements, extents, at, neighbours);
    Reference { value, magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights add up to 1, and what is outside counts as 0.
    #[test]
    fn ones_stay_ones_where_all_neighbours_are_there() {
        let ones = |rows, columns| HostMatrix { rows, columns, elements: vec![1.0; rows * columns] };
        let of = |rows, columns, height, points, places: [[usize; 2]; 3]| {
            places.map(|place| sum(&ones(rows, columns), height, place, &neighbours(points)).value)
        };
        assert_eq!(of(5, 6, 5, 5, [[2, 2], [0, 0], [4, 3]]), [1.0, 0.75, 0.875]);
        let half = 0.375 + 0.25 + 0.0625;
        assert_eq!(of(5, 6, 5, 25, [[2, 2], [0, 0], [4, 3]]), [1.0, half * half, half]);
        assert_eq!(of(9, 3, 3, 7, [[4, 1], [0, 0], [3, 1]]), [1.0, 0.625, 0.875]);
    }
}
