//! Options of the just-in-time compiler and of the linker.

use std::borrow::Cow;
use std::ffi::c_uint;

use crate::boundary::{In, Out, say};
use crate::join::with_most_registers;

/// The options that matter here.
#[derive(Clone, Copy)]
pub struct JitOptions {
    /// The most registers of a thread.
    registers: Option<u32>,
    /// Where messages go.
    buffer: Out<u8>,
    bytes: usize,
}

impl JitOptions {
    /// No options.
    pub const NONE: Self = Self { registers: None, buffer: Out::NULL, bytes: 0 };

    /// From the lists of options and values.
    pub fn of(count: c_uint, options: In<c_uint>, values: In<Out<u8>>) -> Self {
        let mut all = Self::NONE;
        for (option, value) in options.list(count as usize).into_iter().zip(values.list(count as usize)) {
            match option {
                // Numbers in the place of pointers.
                0 => all.registers = Some(value.address() as u32),
                5 => all.buffer = value,
                6 => all.bytes = (value.address() as u32) as usize,
                _ => {}
            }
        }
        all
    }

    /// The PTX text with these options applied.
    pub fn applied(self, ptx: &str) -> Cow<'_, str> {
        match self.registers {
            Some(most) if most > 0 => with_most_registers(ptx, most).into(),
            _ => ptx.into(),
        }
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
