//! What a module is loaded from, when the caller gives only a pointer: an image says itself how
//! long it is. [`crate::image`] reads the bytes.

use super::pointers::In;
use super::status::{Done, Status};

/// What the linker's result begins with; a length of 8 bytes and the PTX follow. `coalesce-ptxas`
/// makes the same.
pub const CONTAINER: &[u8; 16] = b"\x7fCoalescePTX\x01\0\0\0";
/// What a fat binary begins with: this number, a version, the header's length and that of the rest.
pub const FAT_BINARY: u32 = 0xba55_ed50;
/// What the wrapper of a fat binary begins with.
const WRAPPER: u32 = 0x4662_43b1;
/// The version of a wrapper with a list of objects.
const LINKED: u32 = 2;

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
        // By the API's contract any other image is text that ends with a zero byte.
        _ => image.text().bytes(),
    }
}

/// The fat binaries of the objects that nvcc has linked (`-rdc=true`), whose wrapper has a list of
/// them, with null at its end; `None` for any other image.
pub fn objects_at(image: In<u8>) -> Done<Option<Vec<Vec<u8>>>> {
    let is_linked = image.cast::<u32>().get()? == WRAPPER && image.at(4).cast::<u32>().get()? == LINKED;
    if !is_linked {
        return Ok(None);
    }
    let mut place = image.at(16).cast::<In<In<u8>>>().get()?;
    let mut objects = Vec::new();
    while let Some(object) = place.optional().filter(|object| !object.is_null()) {
        if object.cast::<u32>().get()? != FAT_BINARY {
            return Err(Status::INVALID_IMAGE);
        }
        objects.push(bytes_at(object)?);
        place = place.at(1);
    }
    Ok(Some(objects))
}

fn length(header: u64, rest: u64) -> Done<usize> {
    let all = header.checked_add(rest).and_then(|all| usize::try_from(all).ok());
    all.filter(|&all| isize::try_from(all).is_ok()).ok_or(Status::INVALID_IMAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(image: &[u8]) -> Done<Vec<u8>> {
        bytes_at(In::at_start_of(image))
    }

    /// What is read ends where the image says, and no byte behind it is touched.
    #[test]
    fn an_image_says_how_long_it_is() {
        assert_eq!(read(b".version 8.0\n\0").unwrap(), b".version 8.0\n");
        assert_eq!(read(b"\x7fELF and more").unwrap(), b"\x7fELF");

        let container = [&CONTAINER[..], &3_u64.to_le_bytes(), b"ptx"].concat();
        assert_eq!(read(&container).unwrap(), container);

        let header = [&FAT_BINARY.to_le_bytes()[..], &1_u16.to_le_bytes(), &16_u16.to_le_bytes()].concat();
        let fat = [&header[..], &4_u64.to_le_bytes(), b"rest"].concat();
        assert_eq!(read(&fat).unwrap(), fat);
        let huge = [&header[..], &u64::MAX.to_le_bytes()].concat();
        assert_eq!(read(&huge), Err(Status::INVALID_IMAGE));
    }

    #[test]
    fn a_wrapper_of_what_was_linked_leads_to_each_object() {
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct Wrapper(u32, u32, In<u8>, In<In<u8>>);
        let header = [&FAT_BINARY.to_le_bytes()[..], &1_u16.to_le_bytes(), &16_u16.to_le_bytes()].concat();
        let fat = |text: &[u8]| [&header[..], &(text.len() as u64).to_le_bytes(), text].concat();
        let (first, second, text) = (fat(b"ab"), fat(b"c"), b".version 8.0\0");
        let objects = |list: &[In<u8>], version| {
            let wrapper = Wrapper(WRAPPER, version, In::at_start_of(&first), In::at_start_of(list));
            objects_at(In::at_start_of(std::slice::from_ref(&wrapper)).cast::<u8>())
        };
        let both = [In::at_start_of(&first), In::at_start_of(&second), In::NULL];
        assert_eq!(objects(&both, LINKED).unwrap(), Some(vec![first.clone(), second.clone()]));
        assert_eq!((objects(&both, 1).unwrap(), objects_at(In::at_start_of(text)).unwrap()), (None, None));
        assert_eq!(objects(&[In::at_start_of(text), In::NULL], LINKED), Err(Status::INVALID_IMAGE));
    }

    #[test]
    fn a_wrapper_leads_to_one_fat_binary() {
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct Wrapper(u32, u32, In<u8>);
        let header = [&FAT_BINARY.to_le_bytes()[..], &1_u16.to_le_bytes(), &16_u16.to_le_bytes()].concat();
        let fat = [&header[..], &2_u64.to_le_bytes(), b"ab"].concat();
        let wrapped = Wrapper(WRAPPER, 1, In::at_start_of(&fat));
        let place = |wrapper: &Wrapper| In::at_start_of(std::slice::from_ref(wrapper)).cast::<u8>();
        assert_eq!(bytes_at(place(&wrapped)).unwrap(), fat);
        assert_eq!(bytes_at(place(&Wrapper(WRAPPER, 1, In::NULL))), Err(Status::INVALID_IMAGE));
        assert_eq!(bytes_at(place(&Wrapper(WRAPPER, 1, place(&wrapped)))), Err(Status::INVALID_IMAGE));
    }
}
