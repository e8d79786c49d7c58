//! An argument on a device: its memory, and the bytes that the kernel gets for it. `launch` makes
//! it of an [`Argument`](super::argument::Argument) and owns it until all launches are done.

use std::rc::Rc;

use cuda_std::launch::Arguments;
use device::{Array, Buffer, Device, OnDevice, Result, Surface, TensorMap, Texture, TextureSource, memory};
use simt::tensors::TENSOR_MAP_BYTES;

use super::argument::{Data, Fill, Prepared};
use super::texture::{Object, ObjectKind};
use super::value::Values;

/// The alignment of a tensor map's parameter.
const TENSOR_MAP_ALIGN: usize = 64;

/// An argument's memory on the device.
pub enum DeviceArgument {
    /// Nothing: it is a value, or was freed.
    Nothing,
    Buffer(Buffer<u8>),
    Array(Array),
    /// A tensor's elements, and its map if the map is in device memory.
    Tensor(Buffer<u8>, Option<Buffer<u8>>),
}

/// The parameter that a kernel gets for an argument.
#[derive(Clone)]
pub enum Parameter<'a> {
    /// Bytes, and their alignment among the kernel's parameters.
    Bytes(Vec<u8>, usize),
    /// An address: the start of what it points to, and bytes from there.
    Address { start: u64, offset: u64 },
    /// The handle of a texture.
    Texture(Rc<Texture<'a>>),
    /// The handle of a surface.
    Surface(Rc<Surface<'a>>),
}

impl Parameter<'_> {
    /// The same parameter for another argument; an address with another offset.
    pub fn again(&self, offset: u64) -> Self {
        match self {
            Parameter::Address { start, .. } => Parameter::Address { start: *start, offset },
            other => other.clone(),
        }
    }

    /// The address or handle; 0 for bytes, which are neither.
    pub fn word(&self) -> u64 {
        match self {
            Parameter::Bytes(..) => 0,
            Parameter::Address { start, offset } => start + offset,
            Parameter::Texture(texture) => texture.handle(),
            Parameter::Surface(surface) => surface.handle(),
        }
    }

    /// Adds it to a kernel's arguments.
    pub fn push(&self, arguments: &mut Arguments) {
        match self {
            Parameter::Bytes(bytes, alignment) => arguments.push_bytes(bytes, *alignment),
            _ => arguments.push_pointer(self.word()),
        }
    }
}

impl DeviceArgument {
    /// Allocates and fills the argument's memory. `name` is its name in the error if there is no
    /// room.
    pub fn new(device: &Device, argument: &Prepared, name: &str) -> Result<Self> {
        let Some(data) = argument.data() else { return Ok(DeviceArgument::Nothing) };
        device.check_room(name, data.bytes())?;
        if let Prepared::Object(Object { shape, kind: ObjectKind::Texture(_) | ObjectKind::Surface, .. }, _) = argument
        {
            let mut array = device.array(shape)?;
            match &data.fill {
                Fill::Values(values) => array.write(0, values.bytes())?,
                Fill::Zeros => array.write(0, data.ty.zeros(data.length).bytes())?,
                Fill::Nothing => {}
            }
            return Ok(DeviceArgument::Array(array));
        }
        // The length has been checked: memory of that size can exist.
        let mut buffer = device.buffer::<u8>(data.bytes() as usize)?;
        match &data.fill {
            _ if data.length == 0 => {}
            Fill::Values(values) => buffer.write(values.bytes())?,
            Fill::Zeros => buffer.fill_bytes(0)?,
            Fill::Nothing => {}
        }
        if let Prepared::Tensor(tensor, _) = argument {
            let map = if tensor.by_address { Some(device.buffer::<u8>(TENSOR_MAP_BYTES)?) } else { None };
            return Ok(DeviceArgument::Tensor(buffer, map));
        }
        Ok(DeviceArgument::Buffer(buffer))
    }

    /// The kernel's parameter for an argument that does not refer to another. It must live until
    /// the kernels are done.
    pub fn parameter<'a>(&'a mut self, device: &Device, argument: &Prepared) -> Result<Parameter<'a>> {
        Ok(match (argument, self) {
            (Prepared::Value(bytes), _) => Parameter::Bytes(bytes.clone(), 1),
            (Prepared::Buffer(data), placed) => placed.address(data.offset),
            (Prepared::Object(object, _), DeviceArgument::Buffer(buffer)) => {
                let (texels, format) = (object.shape.width, object.shape.format);
                let source = TextureSource::Linear { buffer, texels, format };
                Parameter::Texture(Rc::new(device.texture(source, &object.sampling())?))
            }
            (Prepared::Object(object, _), DeviceArgument::Array(array)) => match object.kind {
                ObjectKind::Surface => Parameter::Surface(Rc::new(device.surface(array)?)),
                _ => {
                    let source = TextureSource::Array(array);
                    Parameter::Texture(Rc::new(device.texture(source, &object.sampling())?))
                }
            },
            (Prepared::Tensor(tensor, _), DeviceArgument::Tensor(buffer, map)) => {
                let bytes = device.tensor_map(&TensorMap { address: buffer.address(), ..tensor.map.clone() })?;
                match map {
                    None => Parameter::Bytes(bytes.to_vec(), TENSOR_MAP_ALIGN),
                    Some(map) => {
                        map.write(&bytes)?;
                        Parameter::Address { start: map.address(), offset: 0 }
                    }
                }
            }
            // Unreachable: `new` made this memory for the argument, and arguments that refer to
            // others are resolved first.
            (Prepared::Object(..) | Prepared::Tensor(..) | Prepared::Again(..) | Prepared::Struct(_), _) => {
                Parameter::Bytes(Vec::new(), 1)
            }
        })
    }

    /// The address of a buffer, plus the argument's offset.
    pub fn address(&self, offset: u64) -> Parameter<'static> {
        match self {
            DeviceArgument::Buffer(buffer) | DeviceArgument::Tensor(buffer, _) => {
                Parameter::Address { start: buffer.address(), offset }
            }
            // No address.
            DeviceArgument::Nothing | DeviceArgument::Array(_) => Parameter::Address { start: 0, offset: 0 },
        }
    }

    /// Which elements nothing has written, when the kernels are done; nothing if all were, or if
    /// it is not known.
    pub fn unwritten(&self, data: &Data) -> Vec<bool> {
        match self {
            DeviceArgument::Buffer(buffer) | DeviceArgument::Tensor(buffer, _) => buffer.unwritten(data.ty.bytes()),
            DeviceArgument::Array(_) | DeviceArgument::Nothing => Vec::new(),
        }
    }

    /// The elements, when the kernels are done.
    pub fn read(&self, data: &Data, name: &str) -> Result<Option<Values>> {
        if matches!(self, DeviceArgument::Nothing) {
            return Ok(None);
        }
        memory::check_host(&format!("reading {name}"), data.bytes())?;
        let mut values = data.ty.zeros(data.length);
        match self {
            DeviceArgument::Buffer(buffer) | DeviceArgument::Tensor(buffer, _) if data.length > 0 => {
                buffer.read_into(values.bytes_mut())?;
            }
            DeviceArgument::Array(array) => array.read(0, values.bytes_mut())?,
            _ => {}
        }
        Ok(Some(values))
    }
}
