//! Where a variant writes to, and whether the result is right.

use device::{Matrix, Result};

use super::{Data, Transpose};
use crate::labs::compare::Shape;
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::Outcome;

impl Transpose {
    /// Whether the transpose, or the copy, is right.
    pub(super) fn outcome(&self, copies: bool, data: &mut Data) -> Result<Outcome> {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let found = target(copies, &mut data.output, &mut data.copied).read()?;
        Ok(match copies {
            true => {
                Outcome::exact(Shape::Matrix { rows, columns }, found, |row, column| elements[row * columns + column])
            }
            false => Outcome::exact(Shape::Matrix { rows: columns, columns: rows }, found, |row, column| {
                elements[column * columns + row]
            }),
        })
    }
}

/// Where a variant writes to.
pub(super) fn target<'d>(
    copies: bool,
    output: &'d mut Matrix<f32>,
    copied: &'d mut Option<Matrix<f32>>,
) -> &'d mut Matrix<f32> {
    match (copies, copied) {
        (true, Some(copied)) => copied,
        _ => output,
    }
}
