//! A fake of NVRTC, which "compiles" anything to one empty kernel, `made`, with the options of the
//! last program in a comment. It has no machine code. `tests/program.rs` compiles it to
//! `libnvrtc.so.12`.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

static OPTIONS: Mutex<String> = Mutex::new(String::new());

fn ptx() -> String {
    let options = OPTIONS.lock().unwrap();
    format!("// {options}\n.version 7.8\n.target sm_75\n.address_size 64\n.visible .entry made() {{\n    ret;\n}}\n\0")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCreateProgram(
    to: *mut usize,
    _source: *const c_char,
    _name: *const c_char,
    _headers: c_int,
    _texts: *const c_void,
    _names: *const c_void,
) -> u32 {
    // SAFETY: the caller passes a pointer for the handle.
    unsafe { *to = 7 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCompileProgram(_program: usize, count: c_int, options: *const *const c_char) -> u32 {
    // SAFETY: the caller passes as many texts.
    let texts = (0..count as usize).map(|index| unsafe { CStr::from_ptr(*options.add(index)) }.to_str().unwrap());
    *OPTIONS.lock().unwrap() = texts.collect::<Vec<_>>().join(" ");
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetPTXSize(_program: usize, to: *mut usize) -> u32 {
    // SAFETY: the caller passes a pointer for the size.
    unsafe { *to = ptx().len() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetPTX(_program: usize, to: *mut u8) -> u32 {
    let text = ptx();
    // SAFETY: the caller has room for it.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len()) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBINSize(_program: usize, to: *mut usize) -> u32 {
    // SAFETY: the caller passes a pointer for the size.
    unsafe { *to = 0 };
    0
}
