//! Types of which not all bits are a value, in safe kernels: the host could have another type of the
//! same name. `tests/compile_fail.rs` expects these messages.

//~ a safe kernel takes by value only what may have any bits
//~ any_bits.rs:38:
//~ any_bits.rs:43:

use bytemuck::NoUninit;
use cuda_std::kernel;

#[derive(Clone, Copy, NoUninit)]
#[repr(u32)]
pub enum Mode {
    Fast,
    Exact,
}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
pub struct Settings {
    pub seed: u32,
    pub mode: Mode,
}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
pub struct Numbers {
    pub seed: u32,
    pub mode: u32,
}

#[kernel]
pub fn taken(plain: Numbers, flag: bool, letter: char) {
    let _ = (plain, flag, letter);
}

#[kernel]
pub fn in_a_struct(settings: Settings) {
    let _ = settings;
}

#[kernel]
pub fn by_another_name(flag: core::primitive::bool) {
    let _ = flag;
}

/// # Safety
/// The launch passes valid settings.
#[kernel]
pub unsafe fn promised(settings: Settings) {
    let _ = settings;
}

fn main() {}
