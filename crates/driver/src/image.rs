//! The PTX in what modules are loaded from: text, containers of nvcc (fat binaries), and what this
//! library's linker makes. Machine code (SASS) is refused, with a line that says so.

use std::collections::BTreeSet;
use std::io::Read;

use crate::boundary::images::{CONTAINER, FAT_BINARY};
use crate::boundary::{Done, Status, say};

/// The kind of a file in a fat binary that is PTX.
const PTX: u16 = 1;
/// Flags of a file's compression.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// The bytes of a file's header, as far as they are used here.
const FILE_HEADER: usize = 64;
/// No text is longer: a compressed one that says so is broken.
const LONGEST_TEXT: usize = 1 << 30;

/// Wraps PTX.
pub fn wrap(ptx: &str) -> Vec<u8> {
    let mut all = CONTAINER.to_vec();
    all.extend((ptx.len() as u64).to_le_bytes());
    all.extend(ptx.as_bytes());
    all.push(0);
    all
}

fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<u64> {
    let mut all = [0; 8];
    all[..N].copy_from_slice(bytes.get(offset..offset + N)?);
    Some(u64::from_le_bytes(all))
}

fn size(bytes: &[u8], offset: usize) -> Option<usize> {
    number::<4>(bytes, offset)?.try_into().ok()
}

/// What a file has that a program names. Devices are refused: some never end.
pub fn of_file(path: &str) -> std::io::Result<Vec<u8>> {
    match std::fs::metadata(path)?.is_file() {
        true => std::fs::read(path),
        false => Err(std::io::Error::other("not a file")),
    }
}

/// The PTX in the bytes of an image.
pub fn ptx_of(bytes: &[u8]) -> Done<String> {
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    if number::<4>(bytes, 0) == Some(FAT_BINARY.into()) {
        let header = number::<2>(bytes, 6).ok_or(Status::INVALID_IMAGE)? as usize;
        return text(&of_fat_binary(bytes.get(header..).unwrap_or_default())?);
    }
    if bytes.starts_with(CONTAINER) {
        return text(bytes.get(CONTAINER.len() + 8..).ok_or(Status::INVALID_IMAGE)?);
    }
    if bytes.starts_with(b"\x7fELF") {
        say("a module has machine code (SASS) only, which the simulator cannot run: give PTX");
        return Err(Status::NO_BINARY_FOR_GPU);
    }
    text(bytes)
}

/// A file of a fat binary.
struct File<'a> {
    kind: u16,
    target: u64,
    flags: u64,
    /// The length of its text.
    length: usize,
    payload: &'a [u8],
}

/// The first file, and what follows it; nothing at the end or where the binary is broken.
fn file(bytes: &[u8]) -> Option<(File<'_>, &[u8])> {
    let header = size(bytes, 4).filter(|&header| header >= FILE_HEADER)?;
    let (padded, compressed) = (size(bytes, 8)?, size(bytes, 16)?);
    let flags = number::<8>(bytes, 40)?;
    let stored = if flags & (LZ4 | ZSTD) != 0 { compressed } else { padded };
    let file = File {
        kind: number::<2>(bytes, 0)? as u16,
        target: number::<4>(bytes, 28)?,
        flags,
        length: number::<8>(bytes, 56)?.try_into().ok()?,
        payload: bytes.get(header..header.checked_add(stored)?)?,
    };
    Some((file, bytes.get(header + padded.max(compressed)..).unwrap_or_default()))
}

/// The PTX for the newest target among the files of a fat binary.
fn of_fat_binary(mut rest: &[u8]) -> Done<Vec<u8>> {
    let mut best: Option<File<'_>> = None;
    let mut machine_code = 0;
    while let Some((file, later)) = file(rest) {
        rest = later;
        if file.kind != PTX {
            machine_code += 1;
        } else if best.as_ref().is_none_or(|known| known.target < file.target) {
            best = Some(file);
        }
    }
    match best {
        Some(file) => decompress(&file),
        None => {
            say(&format!(
                "a fat binary has machine code (SASS) for {machine_code} GPUs and no PTX, which is all that the \
                 simulator runs"
            ));
            Err(Status::NO_BINARY_FOR_GPU)
        }
    }
}

/// What the fat binaries in a program are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The targets of their PTX: 75 for `sm_75`.
    pub ptx: BTreeSet<u64>,
    /// Those of their machine code.
    pub machine_code: BTreeSet<u64>,
}

/// Looks for fat binaries in the bytes of a program or library.
pub fn contents(program: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let magic = FAT_BINARY.to_le_bytes();
    // They are aligned.
    for at in (0..program.len().saturating_sub(16)).step_by(4).filter(|&at| program[at..at + 4] == magic) {
        let binary = &program[at..];
        let header = number::<2>(binary, 6).unwrap_or(16) as usize;
        let length = number::<8>(binary, 8).and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let end = header.saturating_add(length).min(binary.len());
        let mut rest = binary.get(header..end).unwrap_or_default();
        while let Some((file, later)) = file(rest) {
            rest = later;
            let targets = if file.kind == PTX { &mut contents.ptx } else { &mut contents.machine_code };
            targets.insert(file.target);
        }
    }
    contents
}

/// The PTX in a program or library: in its fat binaries, of each that for the newest target; then
/// as plain text, with what else is text behind it.
pub fn texts(program: &[u8]) -> Vec<String> {
    let magic = FAT_BINARY.to_le_bytes();
    let at = (0..program.len().saturating_sub(16)).step_by(4).filter(|&at| program[at..at + 4] == magic);
    let mut all: Vec<String> = at.filter_map(|at| ptx_of(&program[at..]).ok()).collect();
    let begins = |at: usize| program[at..].starts_with(b".version ");
    let mut from = 0;
    while let Some(at) = (from..program.len()).find(|&at| begins(at)) {
        let is_text = |at: &usize| program[*at].is_ascii_graphic() || program[*at].is_ascii_whitespace();
        from = (at + 1..program.len()).find(|at| !is_text(at) || begins(*at)).unwrap_or(program.len());
        all.push(String::from_utf8_lossy(&program[at..from]).into_owned());
    }
    all
}

fn decompress(file: &File<'_>) -> Done<Vec<u8>> {
    let failed = |what: &str| {
        say(&format!("PTX in a fat binary cannot be decompressed ({what})"));
        Status::INVALID_IMAGE
    };
    if file.flags & (LZ4 | ZSTD) != 0 && file.length > LONGEST_TEXT {
        return Err(failed("it is too long"));
    }
    if file.flags & LZ4 != 0 {
        return lz4_flex::block::decompress(file.payload, file.length).map_err(|error| failed(&error.to_string()));
    }
    if file.flags & ZSTD != 0 {
        let decoder = ruzstd::decoding::StreamingDecoder::new(file.payload);
        let decoder = decoder.map_err(|error| failed(&error.to_string()))?;
        let mut text = Vec::new();
        decoder.take(LONGEST_TEXT as u64).read_to_end(&mut text).map_err(|error| failed(&error.to_string()))?;
        return Ok(text);
    }
    Ok(file.payload.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fat binary with files of these kinds, targets, flags and payloads.
    fn fat_binary(files: &[(u16, u32, u64, &[u8], usize)]) -> Vec<u8> {
        let mut body = Vec::new();
        for &(kind, target, flags, payload, length) in files {
            let mut header = vec![0; FILE_HEADER];
            header[..2].copy_from_slice(&kind.to_le_bytes());
            header[4..8].copy_from_slice(&(FILE_HEADER as u32).to_le_bytes());
            header[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
            header[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
            header[28..32].copy_from_slice(&target.to_le_bytes());
            header[40..48].copy_from_slice(&flags.to_le_bytes());
            header[56..64].copy_from_slice(&(length as u64).to_le_bytes());
            body.extend(header);
            body.extend(payload);
        }
        let mut all = FAT_BINARY.to_le_bytes().to_vec();
        all.extend([1, 0, 16, 0]);
        all.extend((body.len() as u64).to_le_bytes());
        all.extend(body);
        all
    }

    #[test]
    fn the_newest_ptx_of_a_fat_binary_is_taken() {
        let packed = lz4_flex::block::compress(b"// newest");
        let binary =
            fat_binary(&[(2, 120, 0, b"\x7fELF", 4), (PTX, 75, 0, b"// old\0", 7), (PTX, 90, LZ4, &packed, 9)]);
        assert_eq!(ptx_of(&binary).unwrap(), "// newest");
        let program = [b"\x7fELFcode".as_slice(), &binary, b"\0.version 7.8 {}text.version 8\n\0"].concat();
        assert_eq!(texts(&program), ["// newest", ".version 7.8 {}text", ".version 8\n"]);
        let plain = fat_binary(&[(PTX, 80, 0, b"// only\0\0\0", 8), (2, 90, 0, b"....", 4)]);
        assert_eq!(ptx_of(&plain).unwrap(), "// only");
    }

    #[test]
    fn what_has_no_ptx_or_is_broken_is_refused() {
        let sass = fat_binary(&[(2, 90, 0, b"....", 4)]);
        assert_eq!(ptx_of(&sass), Err(Status::NO_BINARY_FOR_GPU));
        assert_eq!(ptx_of(b"\x7fELF\x02\x01"), Err(Status::NO_BINARY_FOR_GPU));
        let broken = fat_binary(&[(PTX, 90, LZ4, b"\xff\xff\xff", 900)]);
        assert_eq!(ptx_of(&broken), Err(Status::INVALID_IMAGE));
        let broken = fat_binary(&[(PTX, 90, ZSTD, b"no frame", 900)]);
        assert_eq!(ptx_of(&broken), Err(Status::INVALID_IMAGE));
        let endless = fat_binary(&[(PTX, 90, LZ4, b"\xff", usize::MAX)]);
        assert_eq!(ptx_of(&endless), Err(Status::INVALID_IMAGE));
        // Cut anywhere, it is an error or a text, never a panic.
        let whole = fat_binary(&[(PTX, 80, 0, b"// only", 7)]);
        for length in 0..whole.len() {
            let _ = ptx_of(&whole[..length]);
        }
    }

    #[test]
    fn the_fat_binaries_of_a_program_are_found() {
        let mut program = b"\x7fELF....".to_vec();
        program.extend(fat_binary(&[(PTX, 75, 0, b"// \0", 4), (2, 90, 0, b"....", 4)]));
        program.extend(fat_binary(&[(2, 80, 0, b"....", 4)]));
        let found = contents(&program);
        assert_eq!((found.ptx, found.machine_code), ([75].into(), [80, 90].into()));
        assert_eq!(contents(b"nothing of the kind"), Contents::default());
    }

    #[test]
    fn what_the_linker_makes_is_read_again() {
        assert_eq!(ptx_of(&wrap("// text")).unwrap(), "// text");
        assert_eq!(ptx_of(&wrap("// text")[..20]), Err(Status::INVALID_IMAGE));
    }
}
