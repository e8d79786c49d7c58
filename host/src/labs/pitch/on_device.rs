//! The data of the lab on one device.

use device::{Device, Matrix, Result};

use crate::labs::inputs::HostMatrix;

/// The data on a device, linear and pitched.
pub(super) struct OnDevice {
    pub(super) matrices: [Matrix<f32>; 2],
    pub(super) transposes: [Matrix<f32>; 2],
    /// The target of the copies to the device.
    pub(super) targets: [Matrix<f32>; 2],
    /// The outputs, linear: of the matrix, and of its transpose.
    pub(super) outputs: [Matrix<f32>; 2],
    /// The result of the copies from the device.
    pub(super) received: Vec<f32>,
}

impl OnDevice {
    pub(super) fn new(device: &Device, matrix: &HostMatrix, transpose: &[f32]) -> Result<Self> {
        let HostMatrix { rows, columns, ref elements } = *matrix;
        let mut data = Self {
            matrices: [device.matrix(rows, columns, false)?, device.matrix(rows, columns, true)?],
            transposes: [device.matrix(columns, rows, false)?, device.matrix(columns, rows, true)?],
            targets: [device.matrix(rows, columns, false)?, device.matrix(rows, columns, true)?],
            outputs: [device.matrix(rows, columns, false)?, device.matrix(columns, rows, false)?],
            received: Vec::new(),
        };
        for index in 0..2 {
            // Poison the padding of a pitched matrix: reading it is a bug.
            data.matrices[index].poison()?;
            data.matrices[index].write(elements)?;
            data.transposes[index].poison()?;
            data.transposes[index].write(transpose)?;
        }
        Ok(data)
    }
}
