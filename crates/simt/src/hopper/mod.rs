//! Values that only Hopper's instructions need: no lab of the memory course meets them. Pure: nothing here knows the
//! machine's state.
//!
//! - `tensor_map`: what a tensor in device memory is, and which boxes of it bulk copies move. Hosts encode these maps
//!   ([`TensorMap`](tensor_map::TensorMap)); `machine/hopper/tensor.rs` uses them.
//! - `tensor_core`: how the sums of matrix products round, for `machine/hopper/multiply.rs` and `products.rs`.

pub(crate) mod tensor_core;
pub(crate) mod tensor_map;
