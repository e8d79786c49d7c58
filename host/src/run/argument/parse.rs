//! Parses an argument's text.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::{Argument, Contents, Kind};
use crate::run::argument_id::reference;
use crate::run::structure::{self, Part};
use crate::run::tensor;
use crate::run::texture;
use crate::run::value::Type;

/// The parts before and after the first `separator`, an ASCII character.
#[cfg(unix)]
pub(in crate::run) fn split_os(text: &OsStr, separator: u8) -> Option<(&OsStr, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|&byte| byte == separator)?;
    Some((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])))
}

/// As on Unix, for texts that are Unicode.
#[cfg(not(unix))]
pub(in crate::run) fn split_os(text: &OsStr, separator: u8) -> Option<(&OsStr, &OsStr)> {
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
                Kind::Value(..)
                | Kind::Number(_)
                | Kind::Object(..)
                | Kind::Tensor(..)
                | Kind::Again(..)
                | Kind::Struct(_) => {
                    return Err("only a buffer can be freed, as in freed:f32[1024]".to_owned());
                }
            },
        };
        if data.is_some() && matches!(kind, Kind::Value(..) | Kind::Number(_) | Kind::Again(..) | Kind::Struct(_)) {
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
        (None, None) if is_number(text) => Ok(Kind::Number(text.to_owned())),
        (None, None) => Err(
            "give a number (5 or u32:5), bytes (bytes:00ff), a buffer (f32[1024]=ramp), a file (@v.npy) or a texture \
                 (tex2d:f32[64x48]=ramp)"
                .to_owned(),
        ),
    }
}

/// Whether a text is a number of any type.
fn is_number(text: &str) -> bool {
    text.contains(|character: char| character.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

fn type_of(name: &str) -> std::result::Result<Type, String> {
    let names = || Type::ALL.map(Type::name).join(", ");
    Type::of_name(name).ok_or_else(|| format!("unknown type '{name}'; give one of {}, or C's name", names()))
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
