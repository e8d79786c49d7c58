//! Launches a kernel by the driver's functions, which are called by name, as any program does.

#[macro_use]
#[path = "../launch/call.rs"]
mod call;

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::Library;

use super::planted::{Argument, Kernel};

/// The name of the variable that names the kernel's file.
pub const PTX: &str = "COALESCE_REGRESSIONS_PTX";

/// The numbers that a buffer holds: scattered ones, below its bound.
fn numbers(argument: &Argument) -> Vec<u32> {
    let below = argument.below.unwrap_or(1000);
    (0..argument.length as u32).map(|at| at.wrapping_mul(2_654_435_761) % below).collect()
}

/// Launches it. Returns the first status that is not 0.
pub fn launch(kernel: &Kernel) -> Result<(), c_uint> {
    let [text, name] = [&kernel.text, &kernel.name].map(|text| CString::new(text.as_str()).expect("text"));
    // SAFETY: the signatures are the driver's; pointers are to what it says.
    unsafe {
        let library = Library::new("libcuda.so.1").expect("the driver is found by its name");
        let (mut context, mut module, mut function) = (0usize, 0usize, 0usize);
        call!(library, "cuInit"(0 => c_uint));
        call!(library, "cuDevicePrimaryCtxRetain"(&mut context => &mut usize, 0 => c_int));
        call!(library, "cuCtxSetCurrent"(context => usize));
        call!(library, "cuModuleLoadData"(&mut module => &mut usize, text.as_ptr() => *const c_char));
        call!(library, "cuModuleGetFunction"(&mut function => &mut usize, module => usize, name.as_ptr() => *const c_char));
        let mut buffers = vec![0u64; kernel.arguments.len()];
        for (buffer, argument) in buffers.iter_mut().zip(&kernel.arguments) {
            let numbers = numbers(argument);
            call!(library, "cuMemAlloc_v2"(&mut *buffer => &mut u64, 4 * numbers.len() => usize));
            call!(library, "cuMemcpyHtoD_v2"(*buffer => u64, numbers.as_ptr().cast() => *const c_void, 4 * numbers.len() => usize));
        }
        let mut arguments: Vec<*mut c_void> = buffers.iter_mut().map(|buffer| (&raw mut *buffer).cast()).collect();
        let ([x, y], [width, height]) = (kernel.grid, kernel.block);
        call!(library, "cuLaunchKernel"(
            function => usize,
            x => c_uint, y => c_uint, 1 => c_uint,
            width => c_uint, height => c_uint, 1 => c_uint,
            0 => c_uint, 0 => usize,
            arguments.as_mut_ptr() => *mut *mut c_void, null_mut() => *mut *mut c_void
        ));
        call!(library, "cuCtxSynchronize"());
    }
    Ok(())
}
