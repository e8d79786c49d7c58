//! A launch by the driver's functions, which are called by name, as any program does.

#[macro_use]
mod call;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::Library;

/// Launches one block of a kernel, whose arguments are zeroed buffers of so many bytes, and then
/// this number. Returns the first status that is not 0.
pub fn launch(ptx: &CStr, kernel: &CStr, [x, y]: [c_uint; 2], bytes: &[usize], number: c_uint) -> Result<(), c_uint> {
    // SAFETY: the signatures are the driver's; pointers are to what it says.
    unsafe {
        let library = Library::new("libcuda.so.1").expect("the driver is found by its name");
        let (mut context, mut module, mut function, mut number) = (0usize, 0usize, 0usize, number);
        let mut buffers = vec![0u64; bytes.len()];
        call!(library, "cuInit"(0 => c_uint));
        call!(library, "cuDevicePrimaryCtxRetain"(&mut context => &mut usize, 0 => c_int));
        call!(library, "cuCtxSetCurrent"(context => usize));
        call!(library, "cuModuleLoadData"(&mut module => &mut usize, ptx.as_ptr() => *const c_char));
        call!(library, "cuModuleGetFunction"(&mut function => &mut usize, module => usize, kernel.as_ptr() => *const c_char));
        for (buffer, bytes) in buffers.iter_mut().zip(bytes) {
            call!(library, "cuMemAlloc_v2"(&mut *buffer => &mut u64, *bytes => usize));
            call!(library, "cuMemsetD8_v2"(*buffer => u64, 0 => u8, *bytes => usize));
        }
        let mut arguments: Vec<*mut c_void> = buffers.iter_mut().map(|buffer| (&raw mut *buffer).cast()).collect();
        arguments.push((&raw mut number).cast());
        call!(library, "cuLaunchKernel"(
            function => usize,
            1 => c_uint, 1 => c_uint, 1 => c_uint,
            x => c_uint, y => c_uint, 1 => c_uint,
            0 => c_uint, 0 => usize,
            arguments.as_mut_ptr() => *mut *mut c_void, null_mut() => *mut *mut c_void
        ));
        call!(library, "cuCtxSynchronize"());
    }
    Ok(())
}
