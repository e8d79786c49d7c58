//! An argument's memory on a device.

use cuda_std::launch::Arguments;
use simt::TENSOR_MAP_BYTES;

use super::argument::{Data, Fill, Prepared};
use super::texture::{Object, ObjectKind};
use super::value::Values;
use crate::device::{Array, Buffer, Device, OnDevice, Surface, TensorMap, Texture, TextureSource};
use crate::error::Result;
use crate::memory;

/// What the parameter of a tensor map is aligned to.
const TENSOR_MAP_ALIGN: usize = 64;

/// What an argument has on the device.
pub enum Placed {
    /// Nothing: it is a value, or was freed.
    Nothing,
    Buffer(Buffer<u8>),
    Array(Array),
    /// A tensor's elements, and its map, if that is on the device.
    Tensor(Buffer<u8>, Option<Buffer<u8>>),
}

/// What must live as long as a launch.
pub enum Handle<'a> {
    Texture(Texture<'a>),
    Surface(Surface<'a>),
}

impl Handle<'_> {
    /// What the kernel gets.
    fn value(&self) -> u64 {
        match self {
            Handle::Texture(texture) => texture.handle(),
            Handle::Surface(surface) => surface.handle(),
        }
    }
}

impl Placed {
    /// Allocates what the argument needs and fills it. `name` is for the error when there is no room.
    pub fn new(device: &Device, argument: &Prepared, name: &str) -> Result<Self> {
        let Some(data) = argument.data() else { return Ok(Placed::Nothing) };
        device.check_buffer(name, data.bytes())?;
        if let Prepared::Object(Object { shape, kind: ObjectKind::Texture(_) | ObjectKind::Surface, .. }, _) = argument
        {
            let mut array = device.array(shape)?;
            match &data.fill {
                Fill::Values(values) => array.write(0, values.bytes())?,
                Fill::Zeros => array.write(0, data.ty.zeros(data.length).bytes())?,
                Fill::Nothing => {}
            }
            return Ok(Placed::Array(array));
        }
        // The length has been checked: it is that of memory that can exist.
        let mut buffer = device.buffer::<u8>(data.bytes() as usize)?;
        match &data.fill {
            _ if data.length == 0 => {}
            Fill::Values(values) => buffer.write(values.bytes())?,
            Fill::Zeros => buffer.fill_bytes(0)?,
            Fill::Nothing => {}
        }
        if let Prepared::Tensor(tensor, _) = argument {
            let map = if tensor.by_address { Some(device.buffer::<u8>(TENSOR_MAP_BYTES)?) } else { None };
            return Ok(Placed::Tensor(buffer, map));
        }
        Ok(Placed::Buffer(buffer))
    }

    /// Adds what the kernel gets of the argument. What this returns must live until the kernel is done.
    pub fn push<'a>(
        &'a mut self,
        device: &Device,
        argument: &Prepared,
        arguments: &mut Arguments,
    ) -> Result<Option<Handle<'a>>> {
        let handle = match (argument, self) {
            (Prepared::Value(bytes), _) => {
                arguments.push_bytes(bytes, 1);
                return Ok(None);
            }
            (Prepared::Buffer(data), Placed::Buffer(buffer)) => {
                arguments.push_pointer(buffer.address() + data.offset);
                return Ok(None);
            }
            (Prepared::Object(object, _), Placed::Buffer(buffer)) => {
                let (texels, format) = (object.shape.width, object.shape.format);
                let source = TextureSource::Linear { buffer, texels, format };
                Handle::Texture(device.texture(source, &object.sampling())?)
            }
            (Prepared::Object(object, _), Placed::Array(array)) => match object.kind {
                ObjectKind::Surface => Handle::Surface(device.surface(array)?),
                _ => Handle::Texture(device.texture(TextureSource::Array(array), &object.sampling())?),
            },
            (Prepared::Tensor(tensor, _), Placed::Tensor(buffer, map)) => {
                let bytes = device.tensor_map(&TensorMap { address: buffer.address(), ..tensor.map.clone() })?;
                match map {
                    None => arguments.push_bytes(&bytes, TENSOR_MAP_ALIGN),
                    Some(map) => {
                        map.write(&bytes)?;
                        arguments.push_pointer(map.address());
                    }
                }
                return Ok(None);
            }
            // `new` has made what each argument needs.
            (Prepared::Buffer(_) | Prepared::Object(..) | Prepared::Tensor(..), _) => return Ok(None),
        };
        arguments.push_pointer(handle.value());
        Ok(Some(handle))
    }

    /// The elements, when the kernel is done.
    pub fn read(&self, data: &Data, name: &str) -> Result<Option<Values>> {
        if matches!(self, Placed::Nothing) {
            return Ok(None);
        }
        memory::check_host(&format!("reading {name}"), data.bytes())?;
        let mut values = data.ty.zeros(data.length);
        match self {
            Placed::Buffer(buffer) | Placed::Tensor(buffer, _) if data.length > 0 => {
                buffer.read_into(values.bytes_mut())?;
            }
            Placed::Array(array) => array.read(0, values.bytes_mut())?,
            _ => {}
        }
        Ok(Some(values))
    }
}
