//! Arrays of a device, and what textures can read. [`Device`](super::Device) makes arrays and
//! textures: see `texture.rs`.

use std::rc::Rc;

use bytemuck::Pod;
use simt::textures::{ArrayShape, TexelFormat, TextureError};

use super::backend::Backend;
use super::on_device::{OnDevice, Owned, Owner};
use crate::error::Result;

/// Texels of one, two or three dimensions on a device, in a memory layout that suits its textures.
pub struct Array {
    pub(super) backend: Rc<dyn Backend>,
    pub(super) handle: u64,
    pub(super) shape: ArrayShape,
}

/// What a texture reads. It is borrowed: nothing writes it while the texture exists.
#[derive(Clone, Copy)]
pub enum TextureSource<'a> {
    /// An array.
    Array(&'a Array),
    /// The first texels of a buffer, as one dimension, by whole indices.
    Linear {
        /// The buffer.
        buffer: &'a dyn OnDevice,
        /// The number of texels.
        texels: u32,
        /// Their format.
        format: TexelFormat,
    },
    /// The rows of a buffer.
    Pitched {
        /// The buffer.
        buffer: &'a dyn OnDevice,
        /// Texels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes from one row to the next.
        pitch: u64,
        /// The texels' format.
        format: TexelFormat,
    },
}

impl TextureSource<'_> {
    /// The device that has it.
    pub(super) fn owner(&self) -> Owner {
        match *self {
            Self::Array(array) => array.owner(),
            Self::Linear { buffer, .. } | Self::Pitched { buffer, .. } => buffer.owner(),
        }
    }

    /// Fails if the buffer has fewer bytes than the texels take.
    pub(super) fn check(&self) -> Result<()> {
        let bytes = |texels: u32, format: TexelFormat| u64::from(texels) * u64::from(format.bytes());
        let (buffer, expected) = match *self {
            Self::Array(_) => return Ok(()),
            Self::Linear { buffer, texels, format } => (buffer, bytes(texels, format)),
            Self::Pitched { buffer, width, height, pitch, format } => {
                let before_last = pitch.saturating_mul(height.saturating_sub(1).into());
                (buffer, before_last.saturating_add(bytes(width, format)))
            }
        };
        let given = buffer.bytes();
        if expected <= given { Ok(()) } else { Err(TextureError::Length { expected, given }.into()) }
    }
}

impl Owned for Array {
    fn owner(&self) -> Owner {
        Owner::of(&self.backend)
    }
}

impl Array {
    /// Its shape.
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    fn check(&self, level: u32, given: usize) -> Result<()> {
        let ArrayShape { levels, .. } = self.shape;
        if level >= levels {
            return Err(TextureError::NoLevel { level, levels }.into());
        }
        let (expected, given) = (self.shape.level_bytes(level), given as u64);
        if expected == given { Ok(()) } else { Err(TextureError::Length { expected, given }.into()) }
    }

    /// Copies the texels of a level to the device: x runs fastest, then y, then z or the layer.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Texture`] if there is no such level, or it has another size.
    pub fn write<T: Pod>(&mut self, level: u32, texels: &[T]) -> Result<()> {
        let bytes = bytemuck::cast_slice(texels);
        self.check(level, bytes.len())?;
        self.backend.write_array(self, level, bytes)
    }

    /// Copies the texels of a level from the device, after all launches.
    ///
    /// # Errors
    ///
    /// As [`Array::write`]; also reports the fault of an earlier launch.
    pub fn read<T: Pod>(&self, level: u32, texels: &mut [T]) -> Result<()> {
        let bytes = bytemuck::cast_slice_mut(texels);
        self.check(level, bytes.len())?;
        self.backend.read_array(self, level, bytes)
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        self.backend.free_array(self);
    }
}
