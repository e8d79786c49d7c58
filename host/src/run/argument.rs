//! Parses the kernel's arguments from the command line, and makes their data. `flags` parses with
//! it, `validate` checks the result, `launch` prepares the data. Reads files, opens no device.
//!
//! | argument | what the kernel gets |
//! | --- | --- |
//! | `u32:5`, `i64:-1`, `f32:0.5` | the number: u8 to u64, i8 to i64, f16 to f64, or C's names |
//! | `5`, `-1`, `0.5` | the number, in the type that the kernel's parameter has: see `fit` |
//! | `bytes:00ff10`, `bytes:{arg:0}{u32:5}` | a parameter that is a struct: see [`super::structure`] |
//! | `f32[1024]` | the address of a buffer of 1024 zeros |
//! | `f32[1024]=1.5` | the address of a buffer in which each element is 1.5 |
//! | `u8[4]=1,2,3,4` | the address of a buffer of these elements |
//! | `f32[1024]=rand:7` | the address of a buffer of random elements, with the seed 7 |
//! | `f32[1024]=ramp` | the address of a buffer of 0, 1, 2, ... |
//! | `u32[1024]=@i.npy` | the address of a buffer of the file's elements, which must have this type and number |
//! | `@i.npy` | the address of a buffer of the file's elements, with its type and length |
//! | `f32[1024]=uninit` | the address of a buffer that is not initialised |
//! | `f32[1024]+8=ramp` | the address 8 bytes into the buffer |
//! | `tex2d:f32[64x48],linear=ramp`, `surf2d:f32[64x48]`, ... | a texture or surface: see [`super::texture`] |
//! | `tensor:f32[64x32],box:32x8=ramp`, `tensor_at:...` | a tensor map: see [`super::tensor`] |
//! | `arg:1`, `arg:0.1+8` | the buffer, texture, surface or tensor of an earlier argument, by its [`ArgumentId`] |
//! | `freed:f32[1024]` | the address of a buffer that is freed before the launch; `freed:` goes before any buffer |
//! | `data:f32[1024]` | nothing: the buffer is no parameter, but `{arg:...}` of a struct can have its address |

pub(super) mod parse;

use std::ffi::OsStr;
use std::path::PathBuf;

use device::{Error, Result, memory};

use super::argument_id::ArgumentId;
use super::structure::Part;
use super::tensor::Tensor;
use super::texture::{Object, ObjectKind};
use super::value::{Type, Values};
use parse::split_os;

/// A parsed argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The text on the command line.
    pub text: String,
    /// Whether the kernel gets it: otherwise it is only data, to which other arguments refer.
    pub is_parameter: bool,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Bytes by value, and their type if they are a number.
    Value(Vec<u8>, Option<Type>),
    /// A number whose type follows from the kernel's parameter: see [`Argument::as_number`].
    Number(String),
    /// A buffer by address.
    Buffer {
        /// Type and length; `None` for the file's.
        shape: Option<(Type, usize)>,
        /// Bytes from the start of the buffer to the address that is passed.
        offset: u64,
        contents: Contents,
        /// Whether it is freed before the launch.
        freed: bool,
    },
    /// A texture or surface by its handle.
    Object(Object, Contents),
    /// A tensor map.
    Tensor(Tensor, Contents),
    /// An earlier argument's data, and bytes from its start.
    Again(ArgumentId, u64),
    /// A struct with addresses of earlier arguments' data.
    Struct(Vec<Part>),
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
enum Contents {
    Zeros,
    /// Not initialised.
    Unwritten,
    /// The same value in each element.
    Each(Values),
    List(Values),
    Random(u64),
    Ramp,
    File(PathBuf),
}

/// An argument and its data.
#[derive(Clone, Debug, PartialEq)]
pub enum Prepared {
    /// Bytes by value.
    Value(Vec<u8>),
    /// A buffer by address.
    Buffer(Data),
    /// A texture or surface by its handle, with its texels.
    Object(Object, Data),
    /// A tensor map, with the tensor's elements.
    Tensor(Tensor, Data),
    /// An earlier argument's data, and bytes from its start.
    Again(ArgumentId, u64),
    /// A struct with addresses of earlier arguments' data.
    Struct(Vec<Part>),
}

impl Prepared {
    /// The data that can be read after the kernel.
    pub fn data(&self) -> Option<&Data> {
        match self {
            Prepared::Value(_) | Prepared::Again(..) | Prepared::Struct(_) => None,
            Prepared::Buffer(data) | Prepared::Object(_, data) | Prepared::Tensor(_, data) => Some(data),
        }
    }
}

/// The data of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// The type of its elements.
    pub ty: Type,
    /// The number of its elements.
    pub length: usize,
    /// Elements in each dimension: the length, or the file's shape.
    pub shape: Vec<usize>,
    /// Bytes from its start to the passed address.
    pub offset: u64,
    /// Its initial contents.
    pub fill: Fill,
    /// Whether it is freed before the launch.
    pub freed: bool,
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Zeros.
    Zeros,
    /// These elements.
    Values(Values),
    /// Nothing.
    Nothing,
}

impl Data {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        // The length was checked when the argument was parsed.
        (self.length * self.ty.bytes()) as u64
    }
}

impl Argument {
    /// Bytes that the kernel's parameter must have.
    pub fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Value(bytes, _) => bytes.len(),
            // It becomes a value before this matters, unless the kernel has no such parameter.
            Kind::Number(_) => 0,
            // `Again`: the argument that it refers to may have another size.
            Kind::Buffer { .. } | Kind::Object(..) | Kind::Again(..) => size_of::<u64>(),
            Kind::Tensor(tensor, _) => tensor.parameter_bytes(),
            Kind::Struct(parts) => parts.iter().map(Part::bytes).sum(),
        }
    }

    /// Whether it is a value of zero bytes only.
    pub fn is_zero(&self) -> bool {
        matches!(&self.kind, Kind::Value(bytes, _) if bytes.iter().all(|&byte| byte == 0))
    }

    /// Whether it can be read when the kernel is done: whether it is a buffer, a surface or a
    /// tensor.
    pub fn is_buffer(&self) -> bool {
        let surface = matches!(self.kind, Kind::Object(Object { kind: ObjectKind::Surface, .. }, _));
        surface || matches!(self.kind, Kind::Buffer { .. } | Kind::Tensor(..))
    }

    /// The earlier argument that it refers to, and bytes from the start of that one's buffer.
    pub fn again(&self) -> Option<(ArgumentId, u64)> {
        match self.kind {
            Kind::Again(id, offset) => Some((id, offset)),
            _ => None,
        }
    }

    /// The earlier arguments to whose data it refers, and bytes from the start of each.
    pub fn references(&self) -> Vec<(ArgumentId, u64)> {
        match &self.kind {
            Kind::Again(id, offset) => vec![(*id, *offset)],
            Kind::Struct(parts) => {
                let address = |part: &Part| match part {
                    Part::Address(id, offset) => Some((*id, *offset)),
                    Part::Bytes(_) => None,
                };
                parts.iter().filter_map(address).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it is an address or a handle, which a struct can hold.
    pub fn is_address(&self) -> bool {
        match &self.kind {
            Kind::Buffer { .. } | Kind::Object(..) => true,
            Kind::Tensor(tensor, _) => tensor.by_address,
            Kind::Value(..) | Kind::Number(_) | Kind::Again(..) | Kind::Struct(_) => false,
        }
    }

    /// The number, if it has no type yet.
    pub fn number(&self) -> Option<&str> {
        match &self.kind {
            Kind::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The number as one of this type.
    ///
    /// # Errors
    ///
    /// A message that says which numbers the type has.
    pub fn as_number(&self, ty: Type) -> std::result::Result<Self, String> {
        let bytes = ty.parse(&[&self.text])?.bytes().to_vec();
        Ok(Self { kind: Kind::Value(bytes, Some(ty)), ..self.clone() })
    }

    /// Whether it is a file whose type and length the file itself decides.
    pub fn is_bare_file(&self) -> bool {
        matches!(self.kind, Kind::Buffer { shape: None, .. })
    }

    /// The type of the number, if it is one.
    pub fn value_type(&self) -> Option<Type> {
        match self.kind {
            Kind::Value(_, ty) => ty,
            _ => None,
        }
    }

    /// Whether it is a buffer of linear memory by its address.
    pub fn is_linear(&self) -> bool {
        matches!(self.kind, Kind::Buffer { .. })
    }

    /// Whether it can be the contents of a variable: a value, or a whole buffer's elements.
    pub fn is_contents(&self) -> bool {
        match &self.kind {
            Kind::Value(..) => true,
            Kind::Buffer { offset, freed, contents, .. } => {
                self.is_parameter && *offset == 0 && !freed && !matches!(contents, Contents::Unwritten)
            }
            Kind::Number(_) | Kind::Object(..) | Kind::Tensor(..) | Kind::Again(..) | Kind::Struct(_) => false,
        }
    }

    /// Whether it is a buffer that is freed before the launch.
    pub fn is_freed(&self) -> bool {
        matches!(self.kind, Kind::Buffer { freed: true, .. })
    }

    /// The buffer's size in bytes, if it is one and the argument gives its length rather than a
    /// file.
    pub fn buffer_bytes(&self) -> Option<u64> {
        match &self.kind {
            Kind::Buffer { shape: Some((ty, length)), .. } => Some((length * ty.bytes()) as u64),
            Kind::Object(object, _) => Some((object.length() * object.ty.bytes()) as u64),
            Kind::Tensor(tensor, _) => Some((tensor.length() * tensor.ty().bytes()) as u64),
            _ => None,
        }
    }

    /// Makes the data, or reads it from its file.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for a file of another type or length, [`Error::OutOfMemory`].
    pub fn prepare(&self) -> Result<Prepared> {
        let (shape, offset, contents, freed) = match &self.kind {
            Kind::Value(bytes, _) => return Ok(Prepared::Value(bytes.clone())),
            Kind::Number(_) => return Ok(Prepared::Value(Vec::new())),
            Kind::Again(id, offset) => return Ok(Prepared::Again(*id, *offset)),
            Kind::Struct(parts) => return Ok(Prepared::Struct(parts.clone())),
            Kind::Buffer { shape, offset, contents, freed } => (*shape, *offset, contents, *freed),
            Kind::Object(object, contents) => (Some((object.ty, object.length())), 0, contents, false),
            Kind::Tensor(tensor, contents) => (Some((tensor.ty(), tensor.length())), 0, contents, false),
        };
        let made = |make: &dyn Fn(Type, usize) -> Fill| {
            // All but files have a type and a length: `FromStr` checks it.
            let (ty, length) = shape.unwrap_or((Type::U8, 0));
            memory::check_host(&format!("argument {}", self.text), (length * ty.bytes()) as u64)?;
            Ok(Data { ty, length, shape: vec![length], offset, fill: make(ty, length), freed })
        };
        let data = match contents {
            Contents::Zeros => made(&|_, _| Fill::Zeros),
            Contents::Unwritten => made(&|_, _| Fill::Nothing),
            Contents::Each(value) => made(&|_, length| Fill::Values(value.repeat(length))),
            Contents::List(values) => made(&|_, _| Fill::Values(values.clone())),
            Contents::Random(seed) => made(&|ty, length| Fill::Values(ty.random(*seed, length))),
            Contents::Ramp => made(&|ty, length| Fill::Values(ty.ramp(length))),
            Contents::File(path) => {
                let (values, found) = Type::read(shape.map(|(ty, _)| ty), path)?;
                let length = found.iter().product();
                match shape {
                    Some((_, wanted)) if wanted != length => Err(Error::file(
                        path,
                        format!("holds {length} elements, but argument {} asks for {wanted}", self.text),
                    )),
                    _ => Ok(Data { ty: values.ty(), length, shape: found, offset, fill: Fill::Values(values), freed }),
                }
            }
        }?;
        Ok(match &self.kind {
            Kind::Object(object, _) => Prepared::Object(object.clone(), data),
            Kind::Tensor(tensor, _) => Prepared::Tensor(tensor.clone(), Data { shape: tensor.shape(), ..data }),
            _ => Prepared::Buffer(data),
        })
    }
}

impl Argument {
    /// Parses an argument, whose file may have any name that the system allows.
    ///
    /// # Errors
    ///
    /// The problem, as a message.
    pub fn from_os(text: &OsStr) -> std::result::Result<Self, String> {
        let mut argument: Self = text.to_string_lossy().parse()?;
        // The first @ is the one before the file: nothing else contains one.
        if let (Some(contents), Some((_, file))) = (argument.contents_mut(), split_os(text, b'@'))
            && let Contents::File(path) = contents
        {
            *path = PathBuf::from(file);
        }
        Ok(argument)
    }

    fn contents_mut(&mut self) -> Option<&mut Contents> {
        match &mut self.kind {
            Kind::Buffer { contents, .. } | Kind::Object(_, contents) | Kind::Tensor(_, contents) => Some(contents),
            Kind::Value(..) | Kind::Number(_) | Kind::Again(..) | Kind::Struct(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
