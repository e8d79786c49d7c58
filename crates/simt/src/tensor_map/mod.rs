//! Tensor maps: the shape of a tensor in device memory, and the boxes of it that the copy engine
//! moves (PTX ISA, "Tensors"; CUDA driver API, "Tensor Map Object Management"). Values: nothing
//! here accesses memory.
//!
//! The host describes a tensor ([`TensorMap`]), encodes it as 128 bytes ([`TensorMap::encode`]),
//! and passes them to the kernel: by value, in device memory, or in a constant. Kernels use them
//! unchanged, or change fields with `tensormap.replace`. How a GPU encodes a map is undocumented,
//! so no program may depend on it; `encoding` is the simulator's own.
//!
//! ```
//! use simt::tensors::{Swizzle, TensorElement, TensorMap};
//!
//! let mut memory = simt::Memory::new(1 << 20);
//! let address = memory.allocate(64 * 32 * 2)?;
//! // 32 rows of 64 halves, in boxes of 8 rows and 64 halves.
//! let map = TensorMap { swizzle: Swizzle::Bytes128, ..TensorMap::tiled(TensorElement::F16, address, &[64, 32], &[64, 8]) };
//! let argument: [u8; 128] = map.encode()?;
//! assert_eq!(TensorMap::decode(&argument), Ok(map));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `map` is what a map says, `rules` validates maps, `walk` finds the bytes of a box and where they
//! are in shared memory, `text` parses maps, and `machine/asynchronous/bulk/tensor.rs` executes the
//! instructions.
//!
//! A copy traps if its bytes are not a map or the map is invalid.

mod encoding;
mod error;
mod map;
mod rules;
mod text;
mod walk;

pub(crate) use encoding::{is_of_columns, replace};
pub use error::{TensorFault, TensorMapError};
pub(crate) use map::TENSOR_MAP_ALIGN;
pub use map::{Fill, Interleave, L2Promotion, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, Traversal};
pub(crate) use walk::{Corner, Piece, RowBytes, RowLayout, TensorBox};
