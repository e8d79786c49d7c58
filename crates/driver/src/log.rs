//! Where messages of the just-in-time compiler and of the linker go.

use std::ffi::c_uint;

use crate::boundary::{In, Out, say};

/// The options of the just-in-time compiler: where its messages go.
#[derive(Clone, Copy)]
pub struct Log {
    buffer: Out<u8>,
    bytes: usize,
}

impl Log {
    /// No options.
    pub const NONE: Self = Self { buffer: Out::NULL, bytes: 0 };

    /// From the lists of options and values.
    pub fn of(count: c_uint, options: In<c_uint>, values: In<Out<u8>>) -> Self {
        let mut log = Self::NONE;
        for (option, value) in options.list(count as usize).into_iter().zip(values.list(count as usize)) {
            match option {
                5 => log.buffer = value,
                // A number in the place of a pointer.
                6 => log.bytes = (value.address() as u32) as usize,
                _ => {}
            }
        }
        log
    }

    /// Writes the error to the standard error and to the caller's buffer.
    pub fn say(self, message: &str) {
        say(message);
        if !self.buffer.is_null() && self.bytes > 0 {
            // There is room for at least the zero byte.
            let _ = self.buffer.put_text(message, self.bytes);
        }
    }
}
