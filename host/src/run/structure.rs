//! Parses structs that are passed by value: `bytes:00ff`, with addresses and numbers in braces, as
//! in `bytes:{arg:1}{u32:1024}00000000`. [`super::argument`] calls it. Pure.
//!
//! The parts follow each other without padding, since only the kernel's source says where a
//! compiler puts it. An address is that of an argument's buffer, so the sanitizer knows the bounds
//! of what it points to, as for a parameter that is an address.

use super::argument_id::{ArgumentId, reference};
use super::value::Type;

/// A part of a struct.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The address of an earlier argument's buffer, and bytes from its start; or the handle of its
    /// texture or surface.
    Address(ArgumentId, u64),
}

impl Part {
    /// Its size.
    pub fn bytes(&self) -> usize {
        match self {
            Part::Bytes(bytes) => bytes.len(),
            Part::Address(..) => size_of::<u64>(),
        }
    }
}

/// Parses the text after `bytes:`; neighbouring bytes become one part.
///
/// # Errors
///
/// A message that says what is wrong, and what is accepted.
pub fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = match rest.strip_prefix('{') {
            Some(inside) => {
                let (inside, after) = inside
                    .split_once('}')
                    .ok_or_else(|| format!("the brace of '{rest}' is not closed; write {{arg:1}} or {{u32:5}}"))?;
                (braced(inside)?, after)
            }
            None => {
                let end = rest.find('{').unwrap_or(rest.len());
                (Part::Bytes(hexadecimal(&rest[..end])?), &rest[end..])
            }
        };
        match (parts.last_mut(), part) {
            (Some(Part::Bytes(before)), Part::Bytes(bytes)) => before.extend(bytes),
            (_, part) => parts.push(part),
        }
        rest = after;
    }
    if parts.is_empty() {
        return Err(no_bytes(text));
    }
    Ok(parts)
}

/// Parses what stands between braces.
fn braced(text: &str) -> Result<Part, String> {
    match text.split_once(':') {
        Some(("arg", id)) => reference(id).map(|(id, offset)| Part::Address(id, offset)),
        Some((name, number)) if Type::of_name(name).is_some() => {
            let values = Type::of_name(name).map(|ty| ty.parse(&[number])).transpose()?;
            Ok(Part::Bytes(values.map(|values| values.bytes().to_vec()).unwrap_or_default()))
        }
        _ => Err(format!(
            "'{{{text}}}' is no part of a struct; give the address of an argument's buffer ({{arg:1}} or \
             {{arg:1+8}}) or a number ({{u32:5}})"
        )),
    }
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(no_bytes(text));
    }
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| no_bytes(text));
    (0..text.len()).step_by(2).map(byte).collect()
}

fn no_bytes(text: &str) -> String {
    format!(
        "'{text}' is not a list of bytes; give two hexadecimal digits for each, as in bytes:00ff, and in \
         braces addresses and numbers, as in bytes:{{arg:1}}{{u32:5}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(launch: usize, argument: usize, offset: u64) -> Part {
        Part::Address(ArgumentId { launch, argument }, offset)
    }

    #[test]
    fn parts_are_bytes_numbers_and_addresses() {
        assert_eq!(parse("00fF10"), Ok(vec![Part::Bytes(vec![0, 255, 16])]));
        assert_eq!(parse("{u16:258}{i8:-1}07"), Ok(vec![Part::Bytes(vec![2, 1, 255, 7])]));
        let parts = parse("{arg:1}00000000{f32:1}{arg:2.0+8}");
        let between = Part::Bytes(vec![0, 0, 0, 0, 0, 0, 128, 63]);
        assert_eq!(parts, Ok(vec![address(0, 1, 0), between, address(2, 0, 8)]));
        assert_eq!(parts.unwrap().iter().map(Part::bytes).sum::<usize>(), 24);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, problem) in [
            ("", "'' is not a list of bytes"),
            ("0", "'0' is not a list of bytes"),
            ("0g", "'0g' is not a list of bytes"),
            ("\u{e9}{u8:1}", "'\u{e9}' is not a list of bytes"),
            ("00}", "'00}' is not a list of bytes"),
            ("00 11", "'00 11' is not a list of bytes"),
            ("{arg:1", "the brace of '{arg:1' is not closed; write {arg:1} or {u32:5}"),
            ("00{", "the brace of '{' is not closed"),
            ("{}", "'{}' is no part of a struct; give the address of an argument's buffer ({arg:1} or"),
            ("{1}", "'{1}' is no part of a struct"),
            ("{f32[4]}", "'{f32[4]}' is no part of a struct"),
            ("{bytes:00}", "'{bytes:00}' is no part of a struct"),
            ("{{arg:1}}", "'{{arg:1}' is no part of a struct"),
            ("{arg:}", "'' does not name an argument"),
            ("{arg:x}", "'x' does not name an argument"),
            ("{arg:1+}", "'1+' does not name an argument"),
            ("{arg:1-8}", "'1-8' does not name an argument"),
            ("{u8:256}", "'256' is not a number of type u8; give a whole number from 0 to 255"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(problem) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
