//! Modules: PTX that the driver has compiled for the GPU, in one way or several.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CString, c_void};
use std::ptr;

use cust::sys::{self, CUjit_cacheMode as CacheMode, CUjit_option as JitOption};
use simt::{LoadCaching, LoadErrorReason};

use super::super::image::Image;
use super::error_of;
use crate::error::{Error, Result, one_line};

/// Room for the compiler's complaints.
const LOG_BYTES: usize = 8 << 10;

/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: the PTX is newer than the driver.
const UNSUPPORTED_PTX_VERSION: u32 = 222;

/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: u32 = 500;

/// The modules of one PTX, compiled in the requested ways. Unloaded when dropped, while their context is current.
pub(super) struct Modules {
    cuda_version: String,
    loaded: HashMap<LoadCaching, Module>,
}

impl Modules {
    /// None yet. `cuda_version` is the driver's, for the error of a driver that is too old.
    pub fn new(cuda_version: &str) -> Self {
        Self { cuda_version: cuda_version.to_owned(), loaded: HashMap::new() }
    }

    /// The module whose loads that do not say are cached so. It is compiled when it is first needed.
    pub fn compiled(&mut self, image: &Image, caching: LoadCaching) -> Result<&Module> {
        match self.loaded.entry(caching) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Module::load(image, caching, &self.cuda_version)?)),
        }
    }
}

/// A loaded module. Unloaded when dropped, while its context is current.
pub(super) struct Module {
    raw: sys::CUmodule,
}

impl Module {
    /// Compiles and loads PTX for the current context's device. `cuda_version` is the driver's, for the error of a driver that
    /// is too old.
    fn load(image: &Image, caching: LoadCaching, cuda_version: &str) -> Result<Self> {
        let refused = |problem: String| Error::Ptx { name: image.name.clone(), problem };
        let text = CString::new(image.text.as_bytes()).map_err(|_| refused("contains a zero byte".to_owned()))?;
        let mut raw = ptr::null_mut();
        let mut log = vec![0_u8; LOG_BYTES];
        // The driver takes the values of options that fit a pointer as if they were pointers.
        let mut options = vec![JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = vec![log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        let mode = match caching {
            LoadCaching::Default => None,
            LoadCaching::AllLevels => Some(CacheMode::CU_JIT_CACHE_OPTION_CA),
            LoadCaching::GlobalLevel => Some(CacheMode::CU_JIT_CACHE_OPTION_CG),
        };
        if let Some(mode) = mode {
            options.push(JitOption::CU_JIT_CACHE_MODE);
            values.push(ptr::without_provenance_mut(mode as usize));
        }
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
        if let Some(name) = device_runtime(image) {
            return Err(refused(LoadErrorReason::DeviceRuntime { name }.to_string()));
        }
        let problem = match log.is_empty() {
            true => format!("the driver rejects it: {}", sys::describe(status)),
            false => format!("the driver rejects it: {log}"),
        };
        Err(refused(problem))
    }

    /// A kernel by its name.
    pub fn function(&self, name: &str) -> Result<sys::CUfunction> {
        let missing = || Error::Launch { kernel: name.to_owned(), problem: "is not in the loaded PTX".to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a zero byte, and both outlive the call.
        let status = unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, text.as_ptr()) } as u32;
        match status {
            0 => Ok(raw),
            NOT_FOUND => Err(missing()),
            status => Err(error_of(&format!("looking up kernel {name}"), status)),
        }
    }
}

impl Module {
    /// Address and size of a static by its name, if there is one.
    pub fn symbol(&self, name: &str) -> Result<Option<(u64, u64)>> {
        let Ok(text) = CString::new(name) else { return Ok(None) };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends with a zero byte, and all outlive the call.
        let status = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.raw, text.as_ptr()) } as u32;
        match status {
            0 => Ok(Some((address, bytes as u64))),
            NOT_FOUND => Ok(None),
            status => Err(error_of(&format!("looking up variable {name}"), status)),
        }
    }
}

/// A function by which kernels launch kernels, if the PTX calls one: the driver does not provide it.
fn device_runtime(image: &Image) -> Option<String> {
    let module = image.parse().ok()?;
    let mut functions = module.functions.iter().map(|(_, function)| function);
    functions.find(|function| simt::is_of_device_runtime(function)).map(|function| function.name.clone())
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded once and is unloaded once; functions of it live in the same `Gpu`.
        unsafe { sys::cuModuleUnload(self.raw) };
    }
}
