//! Free it on every way out
//!
//! `?` returns from the function as soon as a call fails. Memory of the device that a raw pointer
//! stands for is not freed by that: it is *leaked*, and stays allocated until the program ends. A
//! program that goes on, such as a server, runs out of memory some day. C and C++ have the same
//! problem with each early `return`.
//!
//! In Rust, and in C++ with destructors, the remedy is a type that owns the memory and frees it
//! when it is dropped, whichever way the function is left. `DeviceBuffer` of `cust` is such a type.
//!
//! # Task
//!
//! The program calls this function three times, and two of the calls fail (`main.rs`). Make it free
//! all that it has allocated, also when it fails.

use std::error::Error;

use cust::memory::{cuda_free, cuda_malloc};
use cust::prelude::*;

/// Runs the kernel of this name on the input. Returns the first `n` elements of the result, of
/// which the input has as many at least.
pub fn apply(
    module: &Module,
    name: &str,
    input: &[f32],
    n: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    // TODO: every `?` below leaves what was allocated before it.
    let x = unsafe { cuda_malloc::<f32>(input.len())? };
    unsafe { DeviceSlice::from_raw_parts(x, input.len()) }.copy_from(input)?;
    let y = unsafe { cuda_malloc::<f32>(n)? };
    let kernel = module.get_function(name)?;
    // SAFETY: both pointers are of `n` floats at least, until the stream has ended.
    unsafe { launch!(kernel<<<n.div_ceil(256) as u32, 256, 0, stream>>>(x, y, n as u32))? };
    stream.synchronize()?;
    let mut output = vec![0.0; n];
    unsafe { DeviceSlice::from_raw_parts(y, n) }.copy_to(&mut output[..])?;
    unsafe {
        cuda_free(x)?;
        cuda_free(y)?;
    }
    Ok(output)
}
