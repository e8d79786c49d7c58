//! Textures and surfaces: arrays of texels, and how kernels read them (CUDA programming guide,
//! "Texture and Surface Memory" and "Texture Fetching"). `machine/texture/` and
//! `machine/surface.rs` execute the instructions.
//!
//! The host allocates an array ([`Memory::allocate_array`]) or takes memory that it already has,
//! creates a texture object ([`Memory::create_texture`]) or a surface object
//! ([`Memory::create_surface`]) for it, and passes the object's 8-byte handle to a kernel.
//!
//! ```
//! use simt::Memory;
//! use simt::textures::{ArrayShape, ChannelType, Filter, Sampling, TexelFormat, TextureSource};
//!
//! let mut memory = Memory::new(1 << 20);
//! let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
//! let array = memory.allocate_array(&ArrayShape { width: 64, height: 48, ..ArrayShape::of(format) })?;
//! let texels: Vec<u8> = (0..64 * 48).flat_map(|index| (index as f32).to_le_bytes()).collect();
//! memory.write_array(array, 0, &texels)?;
//! let sampling = Sampling { filter: Filter::Linear, ..Sampling::default() };
//! let handle: u64 = memory.create_texture(&TextureSource::Array(array), &sampling)?;
//! # assert_ne!(handle, 0);
//! # Ok::<(), simt::textures::TextureError>(())
//! ```
//!
//! `types` is what the host says of them, `objects` what it creates (by calls in
//! `memory/arrays.rs`); `texel` converts formats, and `touched` says in which sector an element is.
//! `machine/texture/image.rs` locates texels, and `sample.rs` there computes what a fetch returns.
//! `tests/textures.rs` compares results and counts with an H200's.
//!
//! [`Memory::allocate_array`]: crate::Memory::allocate_array
//! [`Memory::create_texture`]: crate::Memory::create_texture
//! [`Memory::create_surface`]: crate::Memory::create_surface
//!
//! The programming guide says only that weights have 8 bits of fraction. The rest was derived from
//! what an H200 returned for 93 textures, and the requests from its counters: four lanes at a time
//! for textures, eight for surfaces. Results are bit-exact except for sRGB, signed bytes, mixes of
//! two levels, and the level that a gradient selects; `tests/textures_h200.rs` has the tolerances.
//!
//! A handle is a number, not an address. A `.texref` is 8 bytes that hold a handle, so binding one
//! is a write. Where a GPU's result is undefined and the program is certainly wrong, the simulator
//! reports a fault: an object of another shape than the instruction's, integer indices into a
//! one-dimensional array, an invalid handle.

mod objects;
mod texel;
mod touched;
mod types;

pub(crate) use objects::{Array, Objects, SURFACES, Source, Surface, TEXTURES, Texture, check_format, index_of};
pub(crate) use texel::{Texel, border, data_type_code, decode, encode, gives_floats, rounded};
pub(crate) use touched::{ElementPlace, Touched, distinct_sectors, lookups, place_in_array};
pub use types::{
    AddressMode, ArrayHandle, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureError,
    TextureFault, TextureSource,
};
