//! Pointers in the arguments of a call. Only a C caller can make values of these types, and the
//! API's contract is what makes them usable: a pointer that is not null points to what the
//! function's declaration says, for as long as the call runs, or what it starts.

use std::ffi::{CStr, c_char};

use super::status::{Done, Status};

/// Where a function writes a result.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// What a function reads: a value, or the first of a list.
#[repr(transparent)]
pub struct In<T>(*const T);

/// A C string.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Out<T> {
    /// A pointer to nothing.
    pub const NULL: Self = Self(std::ptr::null_mut());

    /// Whether there is nothing.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails if it is null, before any work is done for it.
    pub fn check(self) -> Done {
        if self.0.is_null() { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    /// Writes a result that the caller must take.
    pub fn put(self, value: T) -> Done {
        self.check()?;
        self.give(value);
        Ok(())
    }

    /// Writes a result that the caller need not take.
    pub fn give(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: by the API's contract there is room for a `T`.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// Writes the results from here on, of which the caller has room for as many.
    pub fn put_all(self, values: impl IntoIterator<Item = T>) -> Done {
        self.check()?;
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: by the API's contract there is room for all.
            unsafe { self.0.add(index).write_unaligned(value) }
        }
        Ok(())
    }

    /// The same place, for an attribute whose type depends on its number.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

impl<T: Copy> Out<T> {
    /// What the caller has put there.
    pub fn held(self) -> Done<T> {
        In(self.0.cast_const()).get()
    }
}

impl Out<u8> {
    /// Writes as much of a text as fits into `room` bytes, with a zero byte at the end.
    pub fn put_text(self, text: &str, room: usize) -> Done {
        let last = room.checked_sub(1).ok_or(Status::INVALID_VALUE)?;
        let bytes = &text.as_bytes()[..text.len().min(last)];
        self.put_all(bytes.iter().copied().chain([0]))
    }
}

impl<T: Copy> In<T> {
    /// A pointer to nothing.
    pub const NULL: Self = Self(std::ptr::null());

    /// The value, which must be there.
    pub fn get(self) -> Done<T> {
        self.optional().ok_or(Status::INVALID_VALUE)
    }

    /// The value, unless the pointer is null.
    pub fn optional(self) -> Option<T> {
        // SAFETY: by the API's contract a pointer that is not null points to a `T`.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// The values from here on; none if the pointer is null.
    pub fn list(self, count: usize) -> Vec<T> {
        (0..count).map_while(|index| self.at(index).optional()).collect()
    }

    /// The pointer to a later value.
    pub fn at(self, index: usize) -> Self {
        Self(self.0.wrapping_add(if self.0.is_null() { 0 } else { index }))
    }

    /// Whether there is nothing.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The same place as something else.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

#[cfg(test)]
impl<T> In<T> {
    /// A list of a test's.
    pub fn at_start_of(list: &[T]) -> Self {
        Self(list.as_ptr())
    }
}

impl In<u8> {
    /// The bytes from here on.
    pub fn bytes(self, length: usize) -> Done<Vec<u8>> {
        if length == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() || isize::try_from(length).is_err() {
            return Err(Status::INVALID_VALUE);
        }
        let mut bytes = Vec::new();
        // A length that nobody can have is the caller's fault, not the end of the process.
        bytes.try_reserve_exact(length).map_err(|_| Status::OUT_OF_MEMORY)?;
        // SAFETY: by the API's contract there are so many.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(self.0, length) });
        Ok(bytes)
    }

    /// The same place as a C string.
    pub fn text(self) -> Text {
        Text(self.0.cast())
    }
}

impl Text {
    /// The text, which must be there and be UTF-8.
    pub fn get(self) -> Done<String> {
        String::from_utf8(self.bytes()?).map_err(|_| Status::INVALID_VALUE)
    }

    /// Its bytes, without the zero byte at the end.
    pub fn bytes(self) -> Done<Vec<u8>> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: by the API's contract a zero byte ends it.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }
}

// SAFETY: only calls that the driver's lock orders look at what it points to.
unsafe impl<T> Send for Out<T> {}

/// A pointer that is given to the caller: to what lives as long as the process, or until the caller
/// destroys the handle that it belongs to.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Lasting(*const ());

impl Lasting {
    /// A pointer to nothing.
    pub const NULL: Self = Self(std::ptr::null());

    /// The start of a C string.
    pub fn text(text: &CStr) -> Self {
        Self(text.as_ptr().cast())
    }

    /// The start of a list.
    pub fn list<T>(list: &[T]) -> Self {
        Self(list.as_ptr().cast())
    }

    /// A function.
    pub fn function(address: usize) -> Self {
        Self(address as *const ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_to_a_null_pointer_or_read_from_one() {
        assert_eq!(Out::<u32>::NULL.put(1), Err(Status::INVALID_VALUE));
        assert_eq!(Out::<u32>::NULL.put_all([1, 2]), Err(Status::INVALID_VALUE));
        Out::<u32>::NULL.give(1);
        assert_eq!(In::<u32>::NULL.get(), Err(Status::INVALID_VALUE));
        assert_eq!(In::<u32>::NULL.at(3).optional(), None);
        assert!(In::<u32>::NULL.list(4).is_empty());
        assert_eq!(In::<u8>::NULL.bytes(0), Ok(Vec::new()));
        assert_eq!(In::<u8>::NULL.bytes(1), Err(Status::INVALID_VALUE));
        assert_eq!(Text(std::ptr::null()).get(), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn places_of_the_caller_need_no_alignment() {
        let mut bytes = [0_u8; 13];
        let out = Out(bytes[1..].as_mut_ptr()).cast::<u32>();
        out.put_all([1, 0x0203_0405, u32::MAX]).unwrap();
        assert_eq!(out.held(), Ok(1));
        assert_eq!(bytes, [0, 1, 0, 0, 0, 5, 4, 3, 2, 255, 255, 255, 255]);
        let read = In(bytes[1..].as_ptr()).cast::<u32>();
        assert_eq!(read.list(3), [1, 0x0203_0405, u32::MAX]);
        assert_eq!(read.at(1).get(), Ok(0x0203_0405));
    }

    #[test]
    fn a_text_is_cut_to_the_callers_room() {
        let mut room = [7_u8; 6];
        let out = Out(room.as_mut_ptr());
        assert_eq!(out.put_text("name", 0), Err(Status::INVALID_VALUE));
        out.put_text("a long name", 5).unwrap();
        assert_eq!(&room, b"a lo\0\x07");
        assert_eq!(Text(room.as_ptr().cast()).get().unwrap(), "a lo");
        let latin = c"\xe9";
        assert_eq!(Text(latin.as_ptr()).get(), Err(Status::INVALID_VALUE), "it is not UTF-8");
    }
}
