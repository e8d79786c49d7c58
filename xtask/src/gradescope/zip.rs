//! Writes a ZIP archive: each file compressed by deflate, with its permissions, and all with one
//! date, so that the same files make the same archive. By APPNOTE 6.3.10:
//! <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>.

use miniz_oxide::deflate::compress_to_vec;

/// 1980-01-01, the first date of the format.
const DATE: u16 = 1 << 5 | 1;
/// Made by a Unix system, by version 2.0 of the format.
const MADE_BY: u16 = 3 << 8 | NEEDS;
const NEEDS: u16 = 20;
const DEFLATE: u16 = 8;
/// The name is UTF-8.
const FLAGS: u16 = 1 << 11;
const REGULAR_FILE: u32 = 0o100_000;
const LEVEL: u8 = 6;

/// An archive that is being made. It has less than 65,536 files and 4 GiB.
#[derive(Default)]
pub struct Zip {
    files: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

/// What does not fit into an archive.
#[derive(Debug, thiserror::Error)]
#[error("{name}: the archive would have 4 GiB or 65,536 files or more")]
pub struct TooMuch {
    name: String,
}

impl Zip {
    /// Adds a file. The name has `/` between folders.
    ///
    /// # Errors
    ///
    /// [`TooMuch`].
    pub fn add(&mut self, name: &str, contents: &[u8], executable: bool) -> Result<(), TooMuch> {
        let too_much = || TooMuch { name: name.to_owned() };
        let compressed = compress_to_vec(contents, LEVEL);
        let length = |bytes: usize| u32::try_from(bytes).map_err(|_| too_much());
        let offset = length(self.files.len())?;
        length(self.files.len() + compressed.len() + self.directory.len() + 2 * name.len() + 200)?;
        let name_length = u16::try_from(name.len()).map_err(|_| too_much())?;
        self.count = self.count.checked_add(1).ok_or_else(too_much)?;
        let mut entry = Vec::new();
        for short in [NEEDS, FLAGS, DEFLATE, 0, DATE] {
            entry.extend(short.to_le_bytes());
        }
        for long in [crc32(contents), length(compressed.len())?, length(contents.len())?] {
            entry.extend(long.to_le_bytes());
        }
        entry.extend(name_length.to_le_bytes());
        // No extra field.
        entry.extend(0u16.to_le_bytes());
        self.files.extend(b"PK\x03\x04");
        self.files.extend(&entry);
        self.files.extend(name.as_bytes());
        self.files.extend(compressed);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(MADE_BY.to_le_bytes());
        self.directory.extend(&entry);
        // No comment, the first disk, binary.
        self.directory.extend([0; 6]);
        let mode = REGULAR_FILE | if executable { 0o755 } else { 0o644 };
        self.directory.extend((mode << 16).to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        Ok(())
    }

    /// The archive.
    pub fn finish(mut self) -> Vec<u8> {
        let long = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        let (offset, length) = (long(self.files.len()), long(self.directory.len()));
        self.files.append(&mut self.directory);
        self.files.extend(b"PK\x05\x06");
        // This disk, and that of the directory.
        self.files.extend([0; 4]);
        self.files.extend(self.count.to_le_bytes());
        self.files.extend(self.count.to_le_bytes());
        self.files.extend(length);
        self.files.extend(offset);
        // No comment.
        self.files.extend([0; 2]);
        self.files
    }
}

/// The checksum CRC-32 of the format.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    let table: Vec<u32> = (0..256).map(|byte| (0..8).fold(byte, |crc, _| step(crc))).collect();
    !bytes.iter().fold(!0, |crc, &byte| table[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!((crc32(b""), crc32(b"123456789")), (0, 0xcbf4_3926));
    }

    #[test]
    fn records_are_where_the_end_says() {
        let mut zip = Zip::default();
        zip.add("a/b.txt", b"text text text text", false).unwrap();
        zip.add("run", b"", true).unwrap();
        let bytes = zip.finish();
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let long = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (length, directory) = (long(end + 12), long(end + 16));
        assert_eq!(directory + length, end);
        assert_eq!(bytes[end + 8..end + 12], [2, 0, 2, 0]);
        // The first record, its name, its file's place and permissions.
        assert_eq!(&bytes[directory..directory + 4], b"PK\x01\x02");
        assert_eq!(&bytes[directory + 46..directory + 53], b"a/b.txt");
        assert_eq!((long(directory + 42), long(directory + 38) >> 16), (0, 0o100_644));
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        let compressed = &bytes[30 + 7..30 + 7 + long(18)];
        let text = miniz_oxide::inflate::decompress_to_vec(compressed).unwrap();
        assert_eq!((text.as_slice(), long(14) as u32), (&b"text text text text"[..], crc32(b"text text text text")));
        let second = directory + 53;
        assert_eq!((&bytes[second..second + 4], long(second + 38) >> 16), (&b"PK\x01\x02"[..], 0o100_755));
    }
}
