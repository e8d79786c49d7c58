//! Reads and writes NumPy's `.npy` files, with which students bring their own matrices and vectors.
//! `labs::inputs` and `run::value` read with it, labs and `host run` save with it (through
//! [`common::output_file`]).
//!
//! `header` is the text at the start; the numbers after it are copied as one block of bytes. Both
//! byte orders and both array orders are accepted; arrays in memory and in written files are row by
//! row (C order). Labs and `host run` read and write their data here; nothing else is touched than
//! the file named.
//!
//! The crates for this format bring a parser generator and a C compiler to a build that needs
//! neither.

mod header;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bytemuck::Pod;
use device::{Error, Result};
use half::f16;

use self::header::{Header, Problem};

/// A type of number that a `.npy` file may hold.
pub trait Element: Pod {
    /// NumPy's name of the type.
    const NAME: &'static str;
    /// NumPy's code of the type without the byte order, such as `f4`.
    const CODE: &'static str;
}

macro_rules! elements {
    ($($type:ident $name:literal $code:literal),*) => {
        $(impl Element for $type {
            const NAME: &'static str = $name;
            const CODE: &'static str = $code;
        })*
    };
}

elements!(
    u8 "uint8" "u1",
    u16 "uint16" "u2",
    u32 "uint32" "u4",
    u64 "uint64" "u8",
    i8 "int8" "i1",
    i16 "int16" "i2",
    i32 "int32" "i4",
    i64 "int64" "i8",
    f16 "float16" "f2",
    f32 "float32" "f4",
    f64 "float64" "f8"
);

/// The contents of a `.npy` file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// Elements in each dimension, the slowest first: rows, columns for a matrix.
    pub shape: Vec<usize>,
    /// The elements row by row.
    pub data: Vec<T>,
}

/// The longest header that is read; NumPy itself rejects longer ones by default.
const MAX_HEADER: usize = 10_000;

/// Reads an array of `dimensions` dimensions from the file `path`.
///
/// # Errors
///
/// [`Error::File`] when the file cannot be read, is not a `.npy` file, is truncated or too long, or
/// holds another type of number, another number of dimensions, or no elements.
pub fn read<T: Element>(path: &Path, dimensions: usize) -> Result<Array<T>> {
    let wrong = |problem: String| Error::file(path, problem);
    let (mut file, header, there) = open(path)?;
    let big_endian = check_type::<T>(&header.code).map_err(wrong)?;
    let (shape, count) = check_shape(&header.shape, dimensions).map_err(wrong)?;
    let wanted = count as u64 * size_of::<T>() as u64;
    if there != wanted {
        return Err(wrong(format!(
            "is damaged: its header announces {wanted} bytes of data, but {there} bytes follow"
        )));
    }
    device::memory::check_host(&format!("reading {}", path.display()), wanted.saturating_mul(2))?;

    let mut data = vec![T::zeroed(); count];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
    file.read_exact(bytes).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if big_endian != cfg!(target_endian = "big") {
        for element in bytes.chunks_exact_mut(size_of::<T>()) {
            element.reverse();
        }
    }
    if header.by_columns {
        data = rows_first(&data, &shape);
    }
    Ok(Array { shape, data })
}

/// What the header of a `.npy` file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// NumPy's code of the type, byte order included, such as `<f4`; something else for elements
    /// that are not plain numbers.
    pub code: String,
    /// The number of dimensions.
    pub dimensions: usize,
}

/// Reads the header of the file `path`, for callers that accept more than one type of number.
///
/// # Errors
///
/// [`Error::File`] when the file cannot be read or is not a `.npy` file.
pub fn contents(path: &Path) -> Result<Contents> {
    let (_, header, _) = open(path)?;
    Ok(Contents { code: header.code, dimensions: header.shape.len() })
}

/// Opens a `.npy` file: returns the file, positioned at its data; its header; and how many bytes of
/// data follow.
fn open(path: &Path) -> Result<(File, Header, u64)> {
    let wrong = |problem: String| Error::file(path, problem);
    let cannot_open = |error: std::io::Error| match path.as_os_str() == "-" {
        true => wrong("cannot be opened: only PTX is read from the standard input; give a .npy file".to_owned()),
        false => wrong(format!("cannot be opened: {error}")),
    };
    let there = std::fs::metadata(path).map_err(cannot_open)?;
    if there.is_dir() {
        return Err(wrong("is a folder, not a .npy file".into()));
    }
    if !there.is_file() {
        // Opening a pipe would wait for its writer, and its length is unknown.
        return Err(wrong("is a device or a pipe, not a .npy file".into()));
    }
    let mut file = File::open(path).map_err(cannot_open)?;
    let (header, header_bytes) = read_header(&mut file).map_err(wrong)?;
    Ok((file, header, there.len().saturating_sub(header_bytes)))
}

/// What the first bytes of every `.npy` file are.
const SIGNATURE: &[u8] = b"\x93NUMPY";

/// The problem of a shape whose product, or whose number of bytes, does not fit 63 bits.
const TOO_LARGE: &str = "has a shape that no memory can hold";

/// Reads the header up to the first byte of data. Also returns its length in bytes.
fn read_header(file: &mut File) -> std::result::Result<(Header, u64), String> {
    const NOT_NPY: &str = "is not a .npy file (it has no .npy signature); numpy.save(\"M.npy\", M) writes one";
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(|_| NOT_NPY.to_owned())?;
    let [.., major, minor] = start;
    if !start.starts_with(SIGNATURE) {
        return Err(NOT_NPY.to_owned());
    }
    let damaged = |problem: &str| format!("is damaged: {problem}");
    let cut_off = |_| damaged("it ends within its header");
    // Version 1 counts the header's bytes in two bytes, the later ones in four.
    let mut size = [0; 4];
    let size_bytes = match major {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(format!("is a .npy file of version {major}.{minor}; versions 1 to 3 are accepted")),
    };
    file.read_exact(&mut size[..size_bytes]).map_err(cut_off)?;
    let text_bytes = u32::from_le_bytes(size) as usize;
    if text_bytes > MAX_HEADER {
        return Err(damaged("its header is too long"));
    }
    let mut text = vec![0; text_bytes];
    file.read_exact(&mut text).map_err(cut_off)?;
    let header = Header::parse(&text).map_err(|problem| match problem {
        Problem::Malformed => damaged("its header is not as NumPy writes it"),
        Problem::TooLarge => TOO_LARGE.to_owned(),
    })?;
    Ok((header, (start.len() + size_bytes + text_bytes) as u64))
}

/// Checks that the file's type is `T`; returns whether its bytes are in big-endian order.
fn check_type<T: Element>(code: &str) -> std::result::Result<bool, String> {
    match code.strip_suffix(T::CODE) {
        Some(">") => Ok(true),
        // A single byte has no order.
        Some("<" | "|") => Ok(false),
        _ => Err(format!(
            "holds elements of type '{code}', but {name} is needed; M.astype(numpy.{name}) converts them",
            name = T::NAME
        )),
    }
}

/// Checks that the shape has the required dimensions and at least one element. Returns its sizes
/// and the number of elements.
fn check_shape(shape: &[u64], dimensions: usize) -> std::result::Result<(Vec<usize>, usize), String> {
    if shape.len() != dimensions {
        let needed = match dimensions {
            1 => "a vector (1 dimension)",
            2 => "a matrix (2 dimensions)",
            _ => "a volume (3 dimensions)",
        };
        return Err(format!("has the shape {shape:?}, but {needed} is needed"));
    }
    let too_large = || TOO_LARGE.to_owned();
    let mut sizes = Vec::with_capacity(shape.len());
    let mut count: usize = 1;
    for &size in shape {
        let size = usize::try_from(size).map_err(|_| too_large())?;
        count = count.checked_mul(size).ok_or_else(too_large)?;
        sizes.push(size);
    }
    if count == 0 {
        return Err("holds an array without elements; at least one is needed".to_owned());
    }
    if count > (isize::MAX as usize) / 16 {
        return Err(too_large());
    }
    Ok((sizes, count))
}

/// Turns an array whose first index changes fastest into one whose last does.
fn rows_first<T: Copy>(data: &[T], shape: &[usize]) -> Vec<T> {
    let [first, rest @ ..] = shape else { return data.to_vec() };
    let part = |index: usize| {
        let part: Vec<T> = data[index..].iter().copied().step_by(*first).collect();
        rows_first(&part, rest)
    };
    (0..*first).flat_map(part).collect()
}

/// Writes the array to the file `path`, whole or not at all.
///
/// # Errors
///
/// [`Error::File`] when it cannot be written.
///
/// # Panics
///
/// If `data` and `shape` differ in the number of elements, or the shape has thousands of
/// dimensions: bugs of the caller.
pub fn write<T: Element>(path: &Path, shape: &[usize], data: &[T]) -> Result<()> {
    assert_eq!(shape.iter().product::<usize>(), data.len());
    let order = match () {
        () if size_of::<T>() == 1 => "|",
        () if cfg!(target_endian = "big") => ">",
        () => "<",
    };
    let shape = shape.iter().map(|&size| size as u64).collect();
    let mut text = Header { code: format!("{order}{}", T::CODE), by_columns: false, shape }.text();
    // Blanks and a line end, so that the data starts on 64 bytes.
    let before_text = SIGNATURE.len() + 4;
    let padded = (before_text + text.len() + 1).next_multiple_of(64) - before_text;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let text_bytes = u16::try_from(text.len()).expect("a shape of few dimensions");
    common::output_file::write_whole(path, |out| {
        out.write_all(SIGNATURE)?;
        out.write_all(&[1, 0])?;
        out.write_all(&text_bytes.to_le_bytes())?;
        out.write_all(text.as_bytes())?;
        out.write_all(bytemuck::cast_slice(data))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: u8, text: &str) -> Vec<u8> {
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((text.len() as u16).to_le_bytes()),
            _ => file.extend((text.len() as u32).to_le_bytes()),
        }
        file.extend(text.as_bytes());
        file
    }

    fn array(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let fortran = if fortran { "True" } else { "False" };
        let mut file = header(1, &format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"));
        file.extend(data);
        file
    }

    fn read_bytes(bytes: &[u8], dimensions: usize) -> std::result::Result<Array<f32>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("M.npy");
        std::fs::write(&path, bytes).unwrap();
        read(&path, dimensions).map_err(|error| {
            let text = error.to_string();
            let start = format!("{}: ", path.display());
            text.strip_prefix(&start).unwrap_or(&text).to_owned()
        })
    }

    #[test]
    fn what_is_written_is_read_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("M.npy");
        let data = [0.0, -0.0, 1.5, f32::NAN, f32::INFINITY, f32::from_bits(1)];
        write(&path, &[2, 3], &data).unwrap();
        let back = read::<f32>(&path, 2).unwrap();
        assert_eq!(back.shape, [2, 3]);
        let bits = |data: &[f32]| data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.data), bits(&data));
    }

    #[test]
    fn a_file_is_as_numpy_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        write(&path, &[3], &[1u8, 2, 3]).unwrap();
        // numpy.save("v.npy", numpy.array([1, 2, 3], numpy.uint8)), NumPy 2.4
        let text = format!("{:<117}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
        let expected = [b"\x93NUMPY\x01\x00\x76\x00", text.as_bytes(), &[1, 2, 3]].concat();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }

    #[test]
    fn both_byte_orders_and_both_array_orders_are_read() {
        let numbers = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let little: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let big: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
        let read = |descr, fortran, data: &[u8]| read_bytes(&array(descr, fortran, "(2, 3)", data), 2).unwrap().data;
        assert_eq!(read("<f4", false, &little), numbers);
        assert_eq!(read(">f4", false, &big), numbers);
        assert_eq!(read("<f4", true, &little), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn files_that_do_not_fit_are_refused_with_the_reason() {
        let data = [0; 24];
        let cases: [(Vec<u8>, &str); 10] = [
            (b"1 2 3".to_vec(), "is not a .npy file"),
            (b"hello, I am a text file".to_vec(), "is not a .npy file"),
            (array("<f8", false, "(3, 1)", &data), "holds elements of type '<f8', but float32 is needed"),
            (array("<i4", false, "(2, 3)", &data), "holds elements of type '<i4'"),
            (array("<f4", false, "(6,)", &data), "has the shape [6], but a matrix"),
            (array("<f4", false, "(1, 2, 3)", &data), "has the shape [1, 2, 3], but a matrix"),
            (array("<f4", false, "(0, 3)", &[]), "holds an array without elements"),
            (
                array("<f4", false, "(2, 4)", &data),
                "is damaged: its header announces 32 bytes of data, but 24 bytes follow",
            ),
            (
                array("<f4", false, "(2, 2)", &data),
                "is damaged: its header announces 16 bytes of data, but 24 bytes follow",
            ),
            (array("<f4", false, "(2, 3)", &data)[..40].to_vec(), "is damaged: it ends within its header"),
        ];
        for (bytes, problem) in cases {
            let error = read_bytes(&bytes, 2).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn hostile_headers_are_refused() {
        let deep = "(".repeat(5000);
        let cases = [
            array("<f4", false, "(99999999999, 1)", &[]),
            header(1, &deep),
            header(2, "{'descr': '<f4'"),
            header(1, "\u{e9}"),
            [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes()].concat(),
            header(9, "{}"),
        ];
        for bytes in cases {
            let error = read_bytes(&bytes, 2).unwrap_err();
            assert!(error.starts_with("is "), "{error}");
        }
        for shape in ["(4294967296, 4294967296)", "(1000000000000000000000000000000, 4)"] {
            let error = read_bytes(&array("<f4", false, shape, &[]), 2).unwrap_err();
            assert_eq!(error, "has a shape that no memory can hold");
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused_but_nothing_else() {
        let data: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let whole = array("<f4", false, "(2, 3)", &data);
        let mut random = common::random::Random::new(3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("M.npy");
        let mut refused = 0;
        for _ in 0..400 {
            let mut file = whole.clone();
            for _ in 0..=random.next_u64() % 3 {
                let place = random.next_u64() as usize % file.len();
                let printable = b"0123456789()[]{}':,<>fi4\n "[random.next_u64() as usize % 26];
                file[place] = if random.next_u64().is_multiple_of(2) { printable } else { random.next_u64() as u8 };
            }
            file.truncate(file.len() - random.next_u64() as usize % 2);
            std::fs::write(&path, &file).unwrap();
            match read::<f32>(&path, 2) {
                Ok(array) => assert_eq!(array.shape.iter().product::<usize>(), array.data.len()),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read::<f32>(Path::new("no-such.npy"), 2).unwrap_err();
        assert!(error.to_string().starts_with("no-such.npy: cannot be opened"));
    }
}
