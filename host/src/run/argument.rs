//! Parses the kernel's arguments from the command line, and makes their data. `flags` parses with it, `validate` checks the
//! result, `launch` prepares the data. Reads files, opens no device.
//!
//! | argument | what the kernel gets |
//! | --- | --- |
//! | `u32:5`, `i64:-1`, `f32:0.5` | the number: u8 to u64, i8 to i64, f32, f64 |
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

use std::ffi::OsStr;
use std::path::PathBuf;

use device::{Error, Result, memory};

use super::argument_id::{ArgumentId, reference};
use super::structure::{self, Part};
use super::tensor::{self, Tensor};
use super::texture::{self, Object, ObjectKind};
use super::value::{Type, Values};

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

    /// Whether it can be read when the kernel is done: whether it is a buffer, a surface or a tensor.
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
            Kind::Value(..) | Kind::Again(..) | Kind::Struct(_) => false,
        }
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
            Kind::Object(..) | Kind::Tensor(..) | Kind::Again(..) | Kind::Struct(_) => false,
        }
    }

    /// Whether it is a buffer that is freed before the launch.
    pub fn is_freed(&self) -> bool {
        matches!(self.kind, Kind::Buffer { freed: true, .. })
    }

    /// The buffer's size in bytes, if it is one and the argument gives its length rather than a file.
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
            Kind::Value(..) | Kind::Again(..) | Kind::Struct(_) => None,
        }
    }
}

/// The parts before and after the first `separator`, an ASCII character.
#[cfg(unix)]
pub(super) fn split_os(text: &OsStr, separator: u8) -> Option<(&OsStr, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|&byte| byte == separator)?;
    Some((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])))
}

/// As on Unix, for texts that are Unicode.
#[cfg(not(unix))]
pub(super) fn split_os(text: &OsStr, separator: u8) -> Option<(&OsStr, &OsStr)> {
    let (before, behind) = text.to_str()?.split_once(char::from(separator))?;
    Some((OsStr::new(before), OsStr::new(behind)))
}

impl std::str::FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let data = text.strip_prefix("data:");
        let kind = match text.strip_prefix("freed:") {
            None => kind_of(data.unwrap_or(text))?,
            Some(buffer) => match kind_of(buffer)? {
                Kind::Buffer { shape, offset, contents, .. } => Kind::Buffer { shape, offset, contents, freed: true },
                Kind::Value(..) | Kind::Object(..) | Kind::Tensor(..) | Kind::Again(..) | Kind::Struct(_) => {
                    return Err("only a buffer can be freed, as in freed:f32[1024]".to_owned());
                }
            },
        };
        if data.is_some() && matches!(kind, Kind::Value(..) | Kind::Again(..) | Kind::Struct(_)) {
            return Err("only a buffer, texture, surface or tensor can be data alone, as in data:f32[1024]".to_owned());
        }
        Ok(Self { text: text.to_owned(), is_parameter: data.is_none(), kind })
    }
}

fn kind_of(text: &str) -> std::result::Result<Kind, String> {
    if let Some(text) = text.strip_prefix("arg:") {
        return reference(text).map(|(id, offset)| Kind::Again(id, offset));
    }
    if let Some((name, rest)) = text.split_once(':')
        && texture::is_object(name)
    {
        let (object, contents) = rest.split_once('=').map_or((rest, None), |(object, text)| (object, Some(text)));
        let object = texture::parse(name, object)?;
        let contents = contents.map_or(Ok(Contents::Zeros), |text| contents_of(object.ty, object.length(), text))?;
        return Ok(Kind::Object(object, contents));
    }
    if let Some((name, rest)) = text.split_once(':')
        && tensor::is_tensor(name)
    {
        let (tensor, contents) = rest.split_once('=').map_or((rest, None), |(tensor, text)| (tensor, Some(text)));
        let tensor = tensor::parse(name, tensor)?;
        let contents = contents.map_or(Ok(Contents::Zeros), |text| contents_of(tensor.ty(), tensor.length(), text))?;
        return Ok(Kind::Tensor(tensor, contents));
    }
    match (text.strip_prefix('@'), text.find(['[', ':'])) {
        (Some(file), _) => {
            Ok(Kind::Buffer { shape: None, offset: 0, contents: Contents::File(file_name(file)?), freed: false })
        }
        (None, Some(at)) if text[at..].starts_with('[') => buffer(&text[..at], &text[at + 1..]),
        (None, Some(at)) => value(&text[..at], &text[at + 1..]),
        (None, None) => {
            Err("give a value (u32:5), bytes (bytes:00ff), a buffer (f32[1024]=ramp), a file (@v.npy) or a texture \
                 (tex2d:f32[64x48]=ramp)"
                .to_owned())
        }
    }
}

fn type_of(name: &str) -> std::result::Result<Type, String> {
    let names = || Type::ALL.map(Type::name).join(", ");
    Type::of_name(name).ok_or_else(|| format!("unknown type '{name}'; give one of {}", names()))
}

fn file_name(text: &str) -> std::result::Result<PathBuf, String> {
    match text {
        "" => Err("give the name of a .npy file after the @".to_owned()),
        name => Ok(PathBuf::from(name)),
    }
}

/// Parses a value from the parts before and after the colon.
fn value(name: &str, text: &str) -> std::result::Result<Kind, String> {
    if name != "bytes" {
        let ty = type_of(name)?;
        return Ok(Kind::Value(ty.parse(&[text])?.bytes().to_vec(), Some(ty)));
    }
    let parts = structure::parse(text)?;
    Ok(match parts.as_slice() {
        [Part::Bytes(bytes)] => Kind::Value(bytes.clone(), None),
        _ => Kind::Struct(parts),
    })
}

/// Parses a buffer from the parts before and after the opening bracket.
fn buffer(ty: &str, text: &str) -> std::result::Result<Kind, String> {
    let ty = type_of(ty)?;
    let (length_text, rest) =
        text.split_once(']').ok_or_else(|| format!("the bracket is not closed; write {}[LENGTH]", ty.name()))?;
    let length = length_text
        .parse::<usize>()
        .ok()
        .filter(|length| length.checked_mul(ty.bytes()).is_some_and(|bytes| bytes <= isize::MAX as usize))
        .ok_or_else(|| {
            let most = isize::MAX as usize / ty.bytes();
            format!(
                "'{length_text}' is not a length for a buffer of {}; give a whole number from 0 to {most}",
                ty.name()
            )
        })?;
    let (place, contents) = match rest.split_once('=') {
        Some((place, contents)) => (place, Some(contents)),
        None => (rest, None),
    };
    let bytes = (length * ty.bytes()) as u64;
    let offset = match (place, place.strip_prefix('+')) {
        ("", _) => 0,
        (_, Some(offset)) => offset.parse().ok().filter(|&offset| offset <= bytes).ok_or_else(|| {
            format!("'+{offset}' is not an offset into the buffer; give a number of bytes from 0 to {bytes}")
        })?,
        _ => return Err(format!("unexpected '{place}' after the bracket; write +BYTES, =CONTENTS, both or nothing")),
    };
    let contents = contents.map_or(Ok(Contents::Zeros), |text| contents_of(ty, length, text))?;
    Ok(Kind::Buffer { shape: Some((ty, length)), offset, contents, freed: false })
}

/// Parses the part after a buffer's equals sign.
fn contents_of(ty: Type, length: usize, text: &str) -> std::result::Result<Contents, String> {
    if let Some(file) = text.strip_prefix('@') {
        return Ok(Contents::File(file_name(file)?));
    }
    if let Some(seed) = text.strip_prefix("rand:") {
        let wrong = |_| format!("'{seed}' is not a seed; give a whole number from 0 to {}", u64::MAX);
        return seed.parse().map(Contents::Random).map_err(wrong);
    }
    match text {
        "ramp" => return Ok(Contents::Ramp),
        "uninit" => return Ok(Contents::Unwritten),
        "rand" => return Err("give the seed of the random numbers, as in rand:7".to_owned()),
        "" => {
            return Err("nothing follows the =; give a value, a list, ramp, rand:SEED, uninit or @FILE.npy".to_owned());
        }
        _ => {}
    }
    let texts: Vec<&str> = text.split(',').collect();
    let values = ty.parse(&texts)?;
    match texts.len() {
        1 => Ok(Contents::Each(values)),
        count if count == length => Ok(Contents::List(values)),
        count => Err(format!("{count} values do not fill {length} elements; give one for all, or {length}")),
    }
}

#[cfg(test)]
mod tests;
