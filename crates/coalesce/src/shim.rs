//! A library without code that needs another: an ELF file, written byte by byte. Programs of nvcc
//! ask for a library of a name (`libcudart.so.13`) that defines a version of the same name, and the
//! system's loader warns of each that does not. Linkers write such libraries; none need be
//! installed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Bytes of the headers of the file and of its parts.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// Bytes of a symbol.
const SYMBOL: usize = 24;

/// The number of this processor in ELF: x86-64, or 64-bit ARM.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The file of a library of this name, which defines the version of that name and needs the library
/// `needed`, a path.
pub fn library(name: &str, needed: &OsStr) -> Vec<u8> {
    // The strings: the empty one, the name, and what is needed.
    let (name_at, needed_at) = (1u64, 1 + name.len() as u64 + 1);
    let strings = [b"\0", name.as_bytes(), b"\0", needed.as_bytes(), b"\0"].concat();
    // One symbol, the empty one, in a table of one bucket.
    let symbols = [0; SYMBOL];
    let hash: Vec<u8> = [1u32, 1, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let versions = [0; 8];
    let definitions = [definition(1, 1, name, 28), definition(0, 2, name, 0)].concat();

    let mut file = vec![0; HEADER + 3 * PROGRAM_HEADER];
    let mut append = |bytes: &[u8]| {
        file.resize(file.len().next_multiple_of(8), 0);
        let at = file.len() as u64;
        file.extend_from_slice(bytes);
        at
    };
    let [hash, symbols, versions, definitions, strings_at] =
        [&hash[..], &symbols, &versions, &definitions, &strings].map(&mut append);
    // Needed, name, hash, strings, symbols, their sizes, versions of symbols, definitions, their
    // number, the end.
    let dynamic: [(u64, u64); 11] = [
        (1, needed_at),
        (14, name_at),
        (4, hash),
        (5, strings_at),
        (6, symbols),
        (10, strings.len() as u64),
        (11, SYMBOL as u64),
        (0x6fff_fff0, versions),
        (0x6fff_fffc, definitions),
        (0x6fff_fffd, 2),
        (0, 0),
    ];
    let bytes: Vec<u8> =
        dynamic.iter().flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()].concat()).collect();
    let dynamic = append(&bytes);
    let length = file.len() as u64;

    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    // A shared library; its program headers follow; no sections.
    for half in [3, MACHINE] {
        header.extend(half.to_le_bytes());
    }
    header.extend(1u32.to_le_bytes());
    for word in [0, HEADER as u64, 0] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0u32.to_le_bytes());
    for half in [HEADER as u16, PROGRAM_HEADER as u16, 3, 64, 0, 0] {
        header.extend(half.to_le_bytes());
    }
    // All of the file, readable and writable: the loader writes addresses into the dynamic section.
    // The stack is not executable.
    let stack = 0x6474_e551;
    let parts = [(1u32, 0, length, 0x1_0000), (2, dynamic, bytes.len() as u64, 8), (stack, 0, 0, 16)];
    for (kind, at, bytes, alignment) in parts {
        header.extend(kind.to_le_bytes());
        header.extend(6u32.to_le_bytes());
        for word in [at, at, at, bytes, bytes, alignment] {
            header.extend(u64::to_le_bytes(word));
        }
    }
    file[..header.len()].copy_from_slice(&header);
    file
}

/// The definition of a version of this name, and its one auxiliary entry; the next is so many bytes
/// behind it. The first of a file names the file.
fn definition(flags: u16, index: u16, name: &str, next: u32) -> Vec<u8> {
    let hash = name.bytes().fold(0u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    });
    let mut bytes = Vec::new();
    for half in [1, flags, index, 1] {
        bytes.extend(u16::to_le_bytes(half));
    }
    for word in [hash, 20, next, 1, 0] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loader itself is the judge, in `tests/program.rs`; here are the fields that it reads
    /// last.
    #[test]
    fn the_file_names_itself_and_what_it_needs() {
        let file = library("libcudart.so.13", OsStr::new("/some/where.so"));
        assert_eq!((&file[..4], u16::from_le_bytes([file[56], file[57]])), (&b"\x7fELF"[..], 3));
        for name in ["\0libcudart.so.13\0", "\0/some/where.so\0"] {
            assert!(file.windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
        }
        // The hash of ELF, of a name whose hash is known from a linker.
        assert_eq!(definition(0, 2, "GLIBC_2.2.5", 0)[8..12], 0x0969_1a75u32.to_le_bytes());
    }
}
