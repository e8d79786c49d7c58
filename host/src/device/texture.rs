//! Arrays, textures and surfaces of a device, which own what they are made of: dropping one frees it.
//!
//! ```
//! use host::device::{DeviceChoice, Options, TextureSource, open};
//! use host::device::{ArrayShape, ChannelType, Filter, Sampling, TexelFormat};
//!
//! # fn main() -> Result<(), host::Error> {
//! let device = open(DeviceChoice::Simulator, &Options::default())?;
//! let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
//! let mut image = device.array(&ArrayShape { width: 64, height: 48, ..ArrayShape::of(format) })?;
//! image.write(0, &[0.5f32; 64 * 48])?;
//! let texture = device.texture(TextureSource::Array(&image), &Sampling { filter: Filter::Linear, ..Sampling::default() })?;
//! // Eight bytes that a kernel takes as a `u64`.
//! assert_ne!(texture.handle(), 0);
//! # Ok(())
//! # }
//! ```

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;
use simt::{ArrayShape, Sampling, TexelFormat, TextureError};

use super::backend::Backend;
use super::{Buffer, Device, OnDevice, PitchedBuffer};
use crate::error::Result;

/// Texels of one, two or three dimensions on a device, in a memory layout that suits its textures.
pub struct Array {
    backend: Rc<dyn Backend>,
    pub(super) handle: u64,
    shape: ArrayShape,
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

impl<'a> TextureSource<'a> {
    /// A whole buffer, one element per texel.
    pub fn linear<T: Pod>(buffer: &'a Buffer<T>, format: TexelFormat) -> Self {
        let texels = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        Self::Linear { buffer, texels, format }
    }

    /// All rows of a buffer, one element per texel.
    pub fn pitched<T: Pod>(buffer: &'a PitchedBuffer<T>, format: TexelFormat) -> Self {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (width, height) = (count(buffer.columns()), count(buffer.rows()));
        let pitch = (buffer.pitch() * size_of::<T>()) as u64;
        Self::Pitched { buffer, width, height, pitch, format }
    }
}

/// A texture object: [`Texture::handle`] goes into a kernel's parameter.
pub struct Texture<'a> {
    backend: Rc<dyn Backend>,
    handle: u64,
    source: PhantomData<&'a ()>,
}

/// A texture that owns what it reads.
pub struct OwnedTexture {
    // Dropped in this order: the texture before what it reads.
    texture: Texture<'static>,
    _source: Rc<dyn std::any::Any>,
}

impl OwnedTexture {
    /// The value of a kernel's parameter.
    pub fn argument(&self) -> cuda_std::texture::Texture {
        cuda_std::texture::Texture::from_handle(self.texture.handle)
    }
}

/// A surface object: [`Surface::handle`] goes into a kernel's parameter, which may then write the array.
pub struct Surface<'a> {
    backend: Rc<dyn Backend>,
    handle: u64,
    array: PhantomData<&'a mut Array>,
}

impl Device {
    /// Allocates an array, whose contents are undefined.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Texture`] for an invalid shape, [`crate::Error::OutOfMemory`].
    pub fn array(&self, shape: &ArrayShape) -> Result<Array> {
        shape.check()?;
        let backend = Rc::clone(&self.backend);
        Ok(Array { handle: backend.allocate_array(shape)?, backend, shape: *shape })
    }

    /// Makes a texture.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Texture`] if the source cannot be sampled like this.
    pub fn texture<'a>(&self, source: TextureSource<'a>, sampling: &Sampling) -> Result<Texture<'a>> {
        self.create_texture(source, sampling)
    }

    /// Makes a texture of an array, and keeps the array.
    ///
    /// # Errors
    ///
    /// As [`Device::texture`].
    pub fn array_texture(&self, array: Rc<Array>, sampling: &Sampling) -> Result<OwnedTexture> {
        let texture = self.create_texture(TextureSource::Array(&array), sampling)?;
        Ok(OwnedTexture { texture, _source: array })
    }

    /// Makes a texture of a whole buffer, one element per texel, and keeps the buffer.
    ///
    /// # Errors
    ///
    /// As [`Device::texture`].
    pub fn buffer_texture<T: Pod>(&self, buffer: Rc<Buffer<T>>, format: TexelFormat) -> Result<OwnedTexture> {
        let texture = self.create_texture(TextureSource::linear(&buffer, format), &Sampling::default())?;
        Ok(OwnedTexture { texture, _source: buffer })
    }

    /// A texture whose source the caller keeps alive.
    fn create_texture<'t>(&self, source: TextureSource<'_>, sampling: &Sampling) -> Result<Texture<'t>> {
        let format = match source {
            TextureSource::Array(array) => array.shape.format,
            TextureSource::Linear { format, .. } | TextureSource::Pitched { format, .. } => format,
        };
        sampling.check(format)?;
        let backend = Rc::clone(&self.backend);
        Ok(Texture { handle: backend.create_texture(&source, sampling)?, backend, source: PhantomData })
    }

    /// Makes a surface of the first level of an array.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Driver`].
    pub fn surface<'a>(&self, array: &'a mut Array) -> Result<Surface<'a>> {
        let backend = Rc::clone(&self.backend);
        Ok(Surface { handle: backend.create_surface(array)?, backend, array: PhantomData })
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

impl Texture<'_> {
    /// The value of a kernel's parameter.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        self.backend.destroy_texture(self.handle);
    }
}

impl Surface<'_> {
    /// The value of a kernel's parameter.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for Surface<'_> {
    fn drop(&mut self) {
        self.backend.destroy_surface(self.handle);
    }
}
