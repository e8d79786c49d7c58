//! What a module is loaded from, when the caller gives only a pointer: an image says itself how
//! long it is. [`crate::image`] reads the bytes.

use std::ffi::CStr;

use super::pointers::In;
use super::status::{Done, Status};

/// What the linker's result begins with; a length of 8 bytes and the PTX follow. `coalesce-ptxas`
/// makes the same.
pub const CONTAINER: &[u8; 16] = b"\x7fCoalescePTX\x01\0\0\0";
/// What a fat binary begins with: this number, a version, the header's length and that of the rest.
pub const FAT_BINARY: u32 = 0xba55_ed50;
/// What the wrapper of a fat binary begins with.
const WRAPPER: u32 = 0x4662_43b1;

/// The bytes of an image: a fat binary, behind a wrapper or not; what this project's linker makes;
/// the beginning of machine code; or text.
pub fn bytes_at(image: In<u8>) -> Done<Vec<u8>> {
    let first = image.cast::<u32>().get()?;
    let number = |offset: usize| image.at(offset).cast::<u64>().get();
    match first {
        WRAPPER => {
            // A pointer to the fat binary follows the version.
            let binary = image.at(8).cast::<In<u8>>().get()?;
            if binary.is_null() || binary.cast::<u32>().get()? == WRAPPER {
                return Err(Status::INVALID_IMAGE);
            }
            bytes_at(binary)
        }
        FAT_BINARY => {
            let header = u64::from(image.at(6).cast::<u16>().get()?);
            image.bytes(length(header, number(8)?)?)
        }
        _ if first.to_le_bytes() == CONTAINER[..4] => {
            let header = CONTAINER.len() as u64 + 8;
            image.bytes(length(header, number(CONTAINER.len())?)?)
        }
        // Machine code is refused by its first bytes.
        _ if first.to_le_bytes() == *b"\x7fELF" => image.bytes(4),
        _ => {
            // SAFETY: by the API's contract any other image is text that ends with a zero byte.
            let text = unsafe { CStr::from_ptr(image.address() as *const std::ffi::c_char) };
            Ok(text.to_bytes().to_vec())
        }
    }
}

fn length(header: u64, rest: u64) -> Done<usize> {
    let all = header.checked_add(rest).and_then(|all| usize::try_from(all).ok());
    all.filter(|&all| isize::try_from(all).is_ok()).ok_or(Status::INVALID_IMAGE)
}
