//! Modules: PTX that the driver has compiled for the GPU.

use std::ffi::{CString, c_void};
use std::ptr;

use cust::sys::{self, CUjit_option as JitOption};

use super::super::image::Image;
use super::error_of;
use crate::error::{Error, Result, one_line};

/// Room for the compiler's complaints.
const LOG_BYTES: usize = 8 << 10;

/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: the PTX is newer than the driver.
const UNSUPPORTED_PTX_VERSION: u32 = 222;

/// A loaded module. Unloaded when dropped, while its context is current.
pub(super) struct Module {
    raw: sys::CUmodule,
}

impl Module {
    /// Compiles and loads PTX for the current context's device. `cuda_version` is the driver's, for the error of a driver that
    /// is too old.
    pub fn load(image: &Image, cuda_version: &str) -> Result<Self> {
        let refused = |problem: String| Error::Ptx { name: image.name.clone(), problem };
        let text = CString::new(image.text.as_bytes()).map_err(|_| refused("contains a zero byte".to_owned()))?;
        let mut raw = ptr::null_mut();
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The driver takes the values of options that fit a pointer as if they were pointers.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        // SAFETY: the text ends with a zero byte; the options and their values are as many as announced; the log is as long as
        // announced; everything outlives the call, and a context is current.
        let status = unsafe {
            sys::cuModuleLoadDataEx(
                &mut raw,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        } as u32;
        if status == 0 {
            return Ok(Self { raw });
        }
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG_BYTES);
        let log = one_line(&String::from_utf8_lossy(&log[..end]));
        if status == UNSUPPORTED_PTX_VERSION || log.contains("Unsupported .version") {
            return Err(Error::DriverTooOld { ptx: image.version.clone(), driver: cuda_version.to_owned() });
        }
        let problem = match log.is_empty() {
            true => format!("the driver refuses it: {}", sys::describe(status)),
            false => format!("the driver refuses it: {log}"),
        };
        Err(refused(problem))
    }

    /// A kernel by its name.
    pub fn function(&self, name: &str) -> Result<sys::CUfunction> {
        let missing =
            || Error::Launch { kernel: name.to_owned(), problem: "is not in the PTX that was loaded".to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a zero byte, and both outlive the call.
        let status = unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, text.as_ptr()) } as u32;
        match status {
            0 => Ok(raw),
            // CUDA_ERROR_NOT_FOUND
            500 => Err(missing()),
            status => Err(error_of(&format!("looking up kernel {name}"), status)),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded once and is unloaded once; functions of it live in the same `Gpu`.
        unsafe { sys::cuModuleUnload(self.raw) };
    }
}
