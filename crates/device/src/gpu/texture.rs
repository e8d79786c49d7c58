//! Arrays, textures and surfaces: the part of the backend that makes and finds them.
//! [`super::super::texture`] owns their handles.

use std::rc::Rc;

use simt::textures::{ArrayShape, Sampling};

use super::super::array::{Array, TextureSource};
use super::Gpu;
use super::array::GpuArray;
use super::objects::{Source, Surface, Texture};
use super::status::DriverError;
use crate::error::Result;

impl Gpu {
    pub(super) fn make_array(&self, shape: &ArrayShape) -> Result<u64> {
        self.make_current()?;
        let bytes = (0..shape.levels).map(|level| shape.level_bytes(level)).sum();
        let array = self.allocated(bytes, GpuArray::new(shape))?;
        let handle = array.handle();
        self.arrays.borrow_mut().insert(handle, Rc::new(array));
        Ok(handle)
    }

    pub(super) fn drop_array(&self, array: &Array) {
        if self.make_current().is_ok() {
            self.arrays.borrow_mut().remove(&array.handle);
        }
    }

    pub(super) fn write_level(&self, array: &Array, level: u32, texels: &[u8]) -> Result<()> {
        self.make_current()?;
        self.explain("copying an array", self.array_of(array).and_then(|array| array.write(level, texels)))
    }

    pub(super) fn read_level(&self, array: &Array, level: u32, texels: &mut [u8]) -> Result<()> {
        self.make_current()?;
        self.explain("copying an array", self.array_of(array).and_then(|array| array.read(level, texels)))
    }

    pub(super) fn make_texture(&self, source: &TextureSource<'_>, sampling: &Sampling) -> Result<u64> {
        self.make_current()?;
        let doing = "creating a texture";
        let source = match *source {
            TextureSource::Array(array) => {
                Source::Array(self.explain(doing, self.array_of(array))?, array.shape().format)
            }
            TextureSource::Linear { buffer, texels, format } => {
                Source::Linear { address: buffer.address(), texels, format }
            }
            TextureSource::Pitched { buffer, width, height, pitch, format } => {
                Source::Pitched { address: buffer.address(), width, height, pitch, format }
            }
        };
        // SAFETY: the host's `Texture` borrows or owns the buffer that it reads.
        let texture = self.explain(doing, unsafe { Texture::new(source, sampling) })?;
        let handle = texture.handle;
        self.textures.borrow_mut().insert(handle, texture);
        Ok(handle)
    }

    pub(super) fn drop_texture(&self, handle: u64) {
        if self.make_current().is_ok() {
            self.textures.borrow_mut().remove(&handle);
        }
    }

    pub(super) fn make_surface(&self, array: &Array) -> Result<u64> {
        self.make_current()?;
        let surface = self.explain("creating a surface", self.array_of(array).and_then(Surface::new))?;
        let handle = surface.handle;
        self.surfaces.borrow_mut().insert(handle, surface);
        Ok(handle)
    }

    pub(super) fn drop_surface(&self, handle: u64) {
        if self.make_current().is_ok() {
            self.surfaces.borrow_mut().remove(&handle);
        }
    }

    fn array_of(&self, array: &Array) -> std::result::Result<Rc<GpuArray>, DriverError> {
        self.arrays.borrow().get(&array.handle).cloned().ok_or(DriverError::INVALID_HANDLE)
    }
}
