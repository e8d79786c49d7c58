//! Textures and surfaces of a device, and how it makes them and arrays. Dropping one frees it.
//!
//! ```
//! use device::{DeviceChoice, Options, TextureSource, open};
//! use device::{ArrayShape, ChannelType, Filter, Sampling, TexelFormat};
//!
//! # fn main() -> Result<(), device::Error> {
//! let device = open(DeviceChoice::Simulator, &Options::of(kernels::PTX))?;
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
use simt::textures::{ArrayShape, Sampling, TexelFormat};

use super::array::{Array, TextureSource};
use super::backend::Backend;
use super::on_device::Owned;
use super::{Buffer, Device, PitchedBuffer};
use crate::error::Result;

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

/// A surface that owns its array, or shares it with textures, which show what a launch has written
/// from the next launch on.
pub struct OwnedSurface {
    // Dropped in this order: the surface before what it writes.
    surface: Surface<'static>,
    _array: Rc<Array>,
}

impl OwnedSurface {
    /// The value of a kernel's parameter.
    pub fn argument(&self) -> cuda_std::surface::Surface {
        cuda_std::surface::Surface::from_handle(self.surface.handle)
    }
}

/// A surface object: [`Surface::handle`] goes into a kernel's parameter, which may then write the
/// array.
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
    /// [`crate::Error::Texture`] if the source cannot be sampled like this, or is shorter;
    /// [`crate::Error::OtherDevice`].
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
        self.owner().require("a texture", &[source.owner()])?;
        source.check()?;
        let backend = Rc::clone(&self.backend);
        Ok(Texture { handle: backend.create_texture(&source, sampling)?, backend, source: PhantomData })
    }

    /// Makes a surface of the first level of an array.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Driver`].
    pub fn surface<'a>(&self, array: &'a mut Array) -> Result<Surface<'a>> {
        self.create_surface(array)
    }

    /// Makes a surface of the first level of an array, and keeps the array.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Driver`].
    pub fn array_surface(&self, array: Rc<Array>) -> Result<OwnedSurface> {
        Ok(OwnedSurface { surface: self.create_surface(&array)?, _array: array })
    }

    /// A surface whose array the caller keeps alive.
    fn create_surface<'s>(&self, array: &Array) -> Result<Surface<'s>> {
        self.owner().require("a surface", &[array.owner()])?;
        let backend = Rc::clone(&self.backend);
        Ok(Surface { handle: backend.create_surface(array)?, backend, array: PhantomData })
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
