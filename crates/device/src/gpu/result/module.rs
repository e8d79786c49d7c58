//! Modules: loading PTX, and finding kernels and variables in it. `safe/module.rs` calls it and owns what it makes.

use std::ffi::{CStr, c_void};
use std::ptr;

use cust::sys::{self, CUfunction, CUjit_cacheMode, CUjit_option as JitOption, CUmodule};

use super::{DriverError, Result, to_result};

/// Room for the compiler's messages.
const LOG_BYTES: usize = 8 << 10;

/// Compiles PTX for the current context's device and loads it. On failure, also returns the compiler's log. (`cust` has no
/// access to the log.)
pub fn load(text: &CStr, caching: Option<CUjit_cacheMode>) -> std::result::Result<CUmodule, (DriverError, String)> {
    let mut module = ptr::null_mut();
    let mut log = vec![0_u8; LOG_BYTES];
    // The driver takes the values of options that fit a pointer as if they were pointers.
    let mut options = vec![JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = vec![log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
    if let Some(caching) = caching {
        options.push(JitOption::CU_JIT_CACHE_MODE);
        values.push(ptr::without_provenance_mut(caching as usize));
    }
    // SAFETY: the text ends with a zero byte; there are as many values as options; the log is as long as announced; everything
    // outlives the call.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    to_result(status).map(|()| module).map_err(|error| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG_BYTES);
        (error, String::from_utf8_lossy(&log[..end]).into_owned())
    })
}

/// Unloads a module.
///
/// # Safety
///
/// The module is loaded in the current context, and neither it nor its functions and variables are used any more.
pub unsafe fn unload(module: CUmodule) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuModuleUnload(module) })
}

/// A kernel by its name.
///
/// # Safety
///
/// The module is loaded.
pub unsafe fn function(module: CUmodule, name: &CStr) -> Result<CUfunction> {
    let mut function = ptr::null_mut();
    // SAFETY: the caller's promise; the name ends with a zero byte, and both outlive the call.
    to_result(unsafe { sys::cuModuleGetFunction(&mut function, module, name.as_ptr()) })?;
    Ok(function)
}

/// Address and size of a variable by its name.
///
/// # Safety
///
/// The module is loaded.
pub unsafe fn global(module: CUmodule, name: &CStr) -> Result<(u64, u64)> {
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the caller's promise; the name ends with a zero byte, and all three outlive the call.
    to_result(unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()) })?;
    Ok((address, bytes as u64))
}
