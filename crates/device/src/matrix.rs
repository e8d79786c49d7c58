//! A matrix on a device, linear or pitched. Kernels that take a pitch work with both. Labs of
//! matrices own it; it holds a buffer of [`super::buffer`] and adds no state but the shape.

use bytemuck::Pod;

use super::on_device::{Owned, Owner};
use super::{Buffer, OnDevice, PitchedBuffer};
use crate::error::Result;

/// A matrix in a device's memory, row by row.
pub enum Matrix<T> {
    /// Each row directly after the one before.
    Linear {
        /// The elements.
        buffer: Buffer<T>,
        /// Elements in a row.
        columns: usize,
    },
    /// Each row starts at the device's preferred alignment.
    Pitched(PitchedBuffer<T>),
}

impl<T: Pod> Matrix<T> {
    /// From the start of one row to the start of the next, in elements.
    pub fn pitch(&self) -> usize {
        match self {
            Self::Linear { columns, .. } => *columns,
            Self::Pitched(buffer) => buffer.pitch(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Linear { buffer, columns } => buffer.len().checked_div(*columns).unwrap_or(0),
            Self::Pitched(buffer) => buffer.rows(),
        }
    }

    /// The number of elements in a row, without the padding.
    pub fn columns(&self) -> usize {
        match self {
            Self::Linear { columns, .. } => *columns,
            Self::Pitched(buffer) => buffer.columns(),
        }
    }

    /// Copies the elements, row by row, to the device.
    ///
    /// # Panics
    ///
    /// If `data` has a different number of elements: a bug of the caller.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        match self {
            Self::Linear { buffer, .. } => buffer.write(data),
            Self::Pitched(buffer) => buffer.write(data),
        }
    }

    /// Copies the elements from the device, row by row, after all launches.
    pub fn read(&self) -> Result<Vec<T>> {
        match self {
            Self::Linear { buffer, .. } => buffer.read(),
            Self::Pitched(buffer) => buffer.read(),
        }
    }

    /// Sets every byte to [`POISON`](super::POISON), the padding too.
    pub fn poison(&mut self) -> Result<()> {
        match self {
            Self::Linear { buffer, .. } => buffer.poison(),
            Self::Pitched(buffer) => buffer.poison(),
        }
    }
}

impl<T: Pod> Owned for Matrix<T> {
    fn owner(&self) -> Owner {
        match self {
            Self::Linear { buffer, .. } => buffer.owner(),
            Self::Pitched(buffer) => buffer.owner(),
        }
    }
}

impl<T: Pod> OnDevice for Matrix<T> {
    fn address(&self) -> u64 {
        match self {
            Self::Linear { buffer, .. } => buffer.address(),
            Self::Pitched(buffer) => buffer.address(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Linear { buffer, .. } => buffer.bytes(),
            Self::Pitched(buffer) => buffer.bytes(),
        }
    }
}
