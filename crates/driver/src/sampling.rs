//! What textures and surfaces are made of, as the API has it.

use std::ffi::{c_float, c_uint};

/// `CUDA_RESOURCE_DESC`: its kind, and a union of 128 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Resource {
    pub kind: c_uint,
    pub padding: c_uint,
    /// An array's handle, or the address of linear memory.
    pub first: u64,
    pub format: c_uint,
    pub channels: c_uint,
    /// Bytes of linear memory, or texels of a row.
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

impl Resource {
    /// One of this kind: an array's handle, or an address.
    pub fn new(kind: c_uint, first: u64) -> Self {
        Self { kind, first, ..Self::default() }
    }
}

/// The kinds of resources.
pub const ARRAY: c_uint = 0;
pub const MIPMAPPED: c_uint = 1;
pub const LINEAR: c_uint = 2;
pub const PITCHED: c_uint = 3;

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texture {
    pub address_modes: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub anisotropy: c_uint,
    pub level_filter: c_uint,
    pub level_bias: c_float,
    pub least_level: c_float,
    pub greatest_level: c_float,
    pub border: [c_float; 4],
}
