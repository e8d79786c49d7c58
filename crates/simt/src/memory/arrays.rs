//! The host's calls on arrays, textures and surfaces: methods of [`Memory`] that create, fill and
//! free them. They change the memory's [`Objects`](crate::texture::Objects) and its allocations;
//! kernels only look handles up.

use super::global::Memory;
use crate::address::GLOBAL_BASE;
use crate::texture::{Array, SURFACES, Surface, TEXTURES, Texture, check_format, index_of};
use crate::texture::{ArrayHandle, ArrayShape, Filter, Sampling, Source, TextureError, TextureSource};

/// The alignment of the pitch of pitched memory (an H200's).
const PITCH_ALIGNMENT: u64 = 32;

/// The alignment of textures in linear and pitched memory (an H200's).
const ALIGNMENT: u64 = 512;

/// The most texels of a texture in linear memory.
const LINEAR_LIMIT: u32 = 1 << 28;

fn check_aligned(what: &'static str, value: u64, align: u64) -> Result<(), TextureError> {
    if value.is_multiple_of(align) { Ok(()) } else { Err(TextureError::Misaligned { what, value, align }) }
}

impl Memory {
    /// Allocates an array, filled with zeros.
    ///
    /// # Errors
    ///
    /// A shape that a GPU rejects, or no memory left.
    pub fn allocate_array(&mut self, shape: &ArrayShape) -> Result<ArrayHandle, TextureError> {
        shape.check()?;
        let address = self.allocate(shape.level_offset(shape.levels))?;
        self.objects.arrays.push(Some(Array { address, shape: *shape }));
        Ok(ArrayHandle(self.objects.arrays.len() as u32 - 1))
    }

    fn array(&self, array: ArrayHandle) -> Result<Array, TextureError> {
        self.objects.arrays.get(array.0 as usize).copied().flatten().ok_or(TextureError::Freed)
    }

    /// A level of an array, as if it were one of its own.
    fn level(&self, array: ArrayHandle, level: u32) -> Result<Array, TextureError> {
        let Array { address, shape: whole } = self.array(array)?;
        if level >= whole.levels {
            return Err(TextureError::NoLevel { level, levels: whole.levels });
        }
        let [width, height, depth] = whole.extent(level);
        // A dimension that the array does not have is 0.
        let kept = |all: u32, extent: u32| if all == 0 { 0 } else { extent };
        let (height, depth) = (kept(whole.height, height), kept(whole.depth, depth));
        let shape = ArrayShape { width, height, depth, levels: 1, ..whole };
        Ok(Array { address: address + whole.level_offset(level), shape })
    }

    /// The shape of an array.
    ///
    /// # Errors
    ///
    /// The array was freed.
    pub fn array_shape(&self, array: ArrayHandle) -> Result<ArrayShape, TextureError> {
        self.array(array).map(|array| array.shape)
    }

    /// Where each row of a level starts, and the bytes of a row. Checks that the level exists and
    /// has `given` bytes.
    fn rows(
        &self,
        array: ArrayHandle,
        level: u32,
        given: u64,
    ) -> Result<(impl Iterator<Item = u64> + use<>, usize), TextureError> {
        let Array { address, shape } = self.array(array)?;
        if level >= shape.levels {
            return Err(TextureError::NoLevel { level, levels: shape.levels });
        }
        let expected = shape.level_bytes(level);
        if expected != given {
            return Err(TextureError::Length { expected, given });
        }
        let (start, row_bytes, pitch) =
            (address + shape.level_offset(level), shape.row_bytes(level), shape.pitch(level));
        Ok(((0..expected / row_bytes).map(move |row| start + row * pitch), row_bytes as usize))
    }

    /// Copies texels to a level of an array, without gaps: x runs fastest, then y, then z or the
    /// layer.
    ///
    /// # Errors
    ///
    /// The level does not exist or has another size, or the array was freed.
    pub fn write_array(&mut self, array: ArrayHandle, level: u32, texels: &[u8]) -> Result<(), TextureError> {
        let (rows, row_bytes) = self.rows(array, level, texels.len() as u64)?;
        for (address, texels) in rows.zip(texels.chunks_exact(row_bytes)) {
            self.write(address, texels)?;
        }
        Ok(())
    }

    /// Copies the texels of a level of an array to the host, in the order of
    /// [`Memory::write_array`].
    ///
    /// # Errors
    ///
    /// See [`Memory::write_array`].
    pub fn read_array(&self, array: ArrayHandle, level: u32, texels: &mut [u8]) -> Result<(), TextureError> {
        let (rows, row_bytes) = self.rows(array, level, texels.len() as u64)?;
        for (address, texels) in rows.zip(texels.chunks_exact_mut(row_bytes)) {
            self.read(address, texels)?;
        }
        Ok(())
    }

    /// Frees an array. A kernel that reads a texture of it afterwards stops with a fault.
    ///
    /// # Errors
    ///
    /// The array was freed before.
    pub fn free_array(&mut self, array: ArrayHandle) -> Result<(), TextureError> {
        let Array { address, .. } = self.array(array)?;
        self.objects.arrays[array.0 as usize] = None;
        Ok(self.free(address)?)
    }

    /// Creates a texture object. Its handle is passed to kernels as a parameter.
    ///
    /// # Errors
    ///
    /// The source cannot be sampled like this: see [`TextureError`].
    pub fn create_texture(&mut self, source: &TextureSource, sampling: &Sampling) -> Result<u64, TextureError> {
        let source = match *source {
            TextureSource::Array(array) => {
                let Array { address, shape } = self.array(array)?;
                sampling.check(shape.format)?;
                if shape.levels > 1 && !sampling.normalized_coordinates {
                    return Err(TextureError::LevelsNeedNormalized);
                }
                Source::Array { address, shape }
            }
            TextureSource::Level(array, level) => {
                let Array { address, shape } = self.level(array, level)?;
                sampling.check(shape.format)?;
                Source::Array { address, shape }
            }
            TextureSource::Linear { address, texels, format } => {
                check_format(format)?;
                Sampling { filter: Filter::Point, ..*sampling }.check(format)?;
                if sampling.filter == Filter::Linear || sampling.normalized_coordinates || texels > LINEAR_LIMIT {
                    return Err(TextureError::LinearMemory);
                }
                check_aligned("the address", address, ALIGNMENT.min(u64::from(format.bytes())))?;
                self.check_range(address, u64::from(texels) * u64::from(format.bytes()))?;
                Source::Linear { address, texels, format }
            }
            TextureSource::Pitched { address, width, height, pitch, format } => {
                let shape = ArrayShape { width, height: height.max(1), ..ArrayShape::of(format) };
                shape.check()?;
                sampling.check(format)?;
                let row = u64::from(width) * u64::from(format.bytes());
                check_aligned("the address", address, ALIGNMENT)?;
                check_aligned("the pitch", pitch, PITCH_ALIGNMENT)?;
                if row > pitch {
                    return Err(TextureError::Pitch { row, pitch });
                }
                self.check_range(address, pitch * u64::from(height.max(1) - 1) + row)?;
                Source::Pitched { address, width, height: height.max(1), pitch, format }
            }
        };
        self.objects.textures.push(Some(Texture { source, sampling: *sampling }));
        Ok(TEXTURES + self.objects.textures.len() as u64 - 1)
    }

    /// Destroys a texture object, but not what it reads.
    ///
    /// # Errors
    ///
    /// The object does not exist.
    pub fn destroy_texture(&mut self, handle: u64) -> Result<(), TextureError> {
        let slot = index_of(handle, TEXTURES).and_then(|index| self.objects.textures.get_mut(index));
        slot.and_then(Option::take).map(drop).ok_or(TextureError::NoObject(handle))
    }

    /// Creates a surface object for the first level of an array. Its handle is passed to kernels as
    /// a parameter.
    ///
    /// # Errors
    ///
    /// The array was freed.
    pub fn create_surface(&mut self, array: ArrayHandle) -> Result<u64, TextureError> {
        self.create_level_surface(array, 0)
    }

    /// The same for any level.
    ///
    /// # Errors
    ///
    /// The array was freed, or has no such level.
    pub fn create_level_surface(&mut self, array: ArrayHandle, level: u32) -> Result<u64, TextureError> {
        let Array { address, shape } = self.level(array, level)?;
        self.objects.surfaces.push(Some(Surface { address, shape }));
        Ok(SURFACES + self.objects.surfaces.len() as u64 - 1)
    }

    /// Destroys a surface object, but not its array.
    ///
    /// # Errors
    ///
    /// The object does not exist.
    pub fn destroy_surface(&mut self, handle: u64) -> Result<(), TextureError> {
        let slot = index_of(handle, SURFACES).and_then(|index| self.objects.surfaces.get_mut(index));
        slot.and_then(Option::take).map(drop).ok_or(TextureError::NoObject(handle))
    }

    /// Creates a sampler object, for a `.samplerref` variable.
    pub fn create_sampler(&mut self, sampling: &Sampling) -> u64 {
        self.objects.add_sampler(*sampling)
    }

    /// Whether all of a range is allocated.
    fn check_range(&self, address: u64, bytes: u64) -> Result<(), TextureError> {
        self.read(address + bytes.saturating_sub(1), &mut [0; 1])?;
        Ok(self.read(address, &mut [0; 1])?)
    }

    /// Resolves a handle: the value itself or, if it is an address, the handle stored at that
    /// address.
    pub(crate) fn object_handle(&self, value: u64) -> u64 {
        let mut bytes = [0; 8];
        if value >= GLOBAL_BASE && self.read(value, &mut bytes).is_ok() { u64::from_le_bytes(bytes) } else { value }
    }
}
