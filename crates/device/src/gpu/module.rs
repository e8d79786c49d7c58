//! The kernels' PTX, compiled by the driver in one way or several, and the errors of PTX that it
//! rejects. [`super::Gpu`] loads modules here, once for each way of compiling, and keeps them.
//!
//! A module is `cust`'s, which finds its kernels and unloads it. Loading it is not: `cust` passes
//! the compiler neither a cache mode nor room for its log.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::rc::Rc;

use cust::function::Function;
use cust::sys::{self, CUjit_cacheMode as CacheMode, CUjit_option as JitOption, CUmodule};
use simt::LoadCaching;
use simt::faults::LoadErrorReason;

use super::super::image::{Image, Loaded, Unit};
use super::status::{DriverError, Result as DriverResult, to_result};
use crate::error::{Error, Result};
use wording::one_line;

/// The modules so far: of each unit of the loaded PTX that was needed, one for each way to compile
/// it that was requested.
pub(super) struct Modules {
    cuda_version: String,
    /// What else to do about a driver that is too old.
    old_driver: &'static str,
    compiled: HashMap<(Unit, LoadCaching), Rc<Module>>,
}

impl Modules {
    /// No module yet. `cuda_version` is the driver's, for the error of a driver that is too old,
    /// and `old_driver` what else to do about that.
    pub fn new(cuda_version: &str, old_driver: &'static str) -> Self {
        Self { cuda_version: cuda_version.to_owned(), old_driver, compiled: HashMap::new() }
    }

    /// The module of a unit, in which loads without a cache operator of their own are cached so. It
    /// is compiled on first use.
    pub fn compiled(&mut self, loaded: &Loaded, unit: Unit, caching: LoadCaching) -> Result<&Rc<Module>> {
        match self.compiled.entry((unit, caching)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let (unit, _) = place.key();
                let image = &loaded.parts()[unit.part].image;
                let module = compile(image, &loaded.text(unit), caching, (&self.cuda_version, self.old_driver))?;
                Ok(place.insert(Rc::new(module)))
            }
        }
    }
}

/// Room for the compiler's messages.
const LOG_BYTES: usize = 8 << 10;

/// A loaded module. Unloaded when it and its kernels are dropped, while their context is current.
pub(super) struct Module {
    module: cust::module::Module,
    /// The same, for variables, whose size `cust` would have to know.
    raw: CUmodule,
}

impl Module {
    /// Compiles PTX for the current context's device and loads it. On failure, also returns the
    /// compiler's log.
    fn load(text: &CStr, caching: Option<CacheMode>) -> std::result::Result<Self, (DriverError, String)> {
        let mut raw = ptr::null_mut();
        let mut log = vec![0_u8; LOG_BYTES];
        // The driver takes the values of options that fit a pointer as if they were pointers.
        let mut options = vec![JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = vec![log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        if let Some(caching) = caching {
            options.push(JitOption::CU_JIT_CACHE_MODE);
            values.push(ptr::without_provenance_mut(caching as usize));
        }
        let (count, names) = (options.len() as u32, options.as_mut_ptr());
        // SAFETY: the text ends with a zero byte; there are as many values as options; the log is
        // as long as announced; everything outlives the call.
        let status =
            unsafe { sys::cuModuleLoadDataEx(&mut raw, text.as_ptr().cast(), count, names, values.as_mut_ptr()) };
        match to_result(status) {
            // SAFETY: the module has just been loaded, and nothing else unloads it.
            Ok(()) => Ok(Self { module: unsafe { adopted(raw) }, raw }),
            Err(error) => {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(LOG_BYTES);
                Err((error, String::from_utf8_lossy(&log[..end]).into_owned()))
            }
        }
    }

    /// The kernel of this name, if there is one.
    pub fn function(&self, name: &str) -> DriverResult<Option<Function<'_>>> {
        // `cust` panics at a zero byte, which no kernel's name has.
        if name.contains('\0') { Ok(None) } else { found(self.module.get_function(name).map_err(DriverError::from)) }
    }

    /// Address and size of the variable of this name, if there is one.
    pub fn variable(&self, name: &str) -> DriverResult<Option<(u64, usize)>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded as long as this value is; the name ends with a zero byte;
        // all outlive the call.
        let status = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.raw, name.as_ptr()) };
        found(to_result(status).map(|()| (address, bytes)))
    }
}

/// The module of a handle, for which `cust` has no constructor.
///
/// # Safety
///
/// The handle is of a loaded module, which nothing else unloads.
unsafe fn adopted(raw: CUmodule) -> cust::module::Module {
    // SAFETY: `Module` of cust 0.3.2, the version that the workspace asks for, is a struct of this
    // handle. It is as large, which the compiler checks here, so there is nothing else in it.
    unsafe { std::mem::transmute::<CUmodule, cust::module::Module>(raw) }
}

/// A name that the module lacks is not an error.
fn found<T>(result: DriverResult<T>) -> DriverResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(DriverError::NOT_FOUND) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Compiles and loads some text of an image for the current context's device. `driver` is its CUDA
/// version, and what else to do if that is too old.
fn compile(image: &Image, text: &str, caching: LoadCaching, driver: (&str, &'static str)) -> Result<Module> {
    let refused = |problem: String| Error::Ptx { name: image.name.clone(), problem };
    let text = CString::new(text.as_bytes()).map_err(|_| refused("contains a zero byte".to_owned()))?;
    let mode = match caching {
        LoadCaching::Default => None,
        LoadCaching::AllLevels => Some(CacheMode::CU_JIT_CACHE_OPTION_CA),
        LoadCaching::GlobalLevel => Some(CacheMode::CU_JIT_CACHE_OPTION_CG),
    };
    Module::load(&text, mode).map_err(|(error, log)| {
        let log = one_line(&log);
        if error == DriverError::UNSUPPORTED_PTX_VERSION || log.contains("Unsupported .version") {
            let (version, advice) = driver;
            return Error::DriverTooOld { ptx: image.version.clone(), driver: version.to_owned(), advice };
        }
        if let Some(name) = device_runtime(image) {
            return refused(LoadErrorReason::DeviceRuntime { name }.to_string());
        }
        match log.is_empty() {
            true => refused(format!("the driver rejects it: {error}")),
            false => refused(format!("the driver rejects it: {log}")),
        }
    })
}

/// The function with which a kernel launches kernels, if the PTX calls one: the driver does not
/// provide it.
fn device_runtime(image: &Image) -> Option<String> {
    let module = image.parse().ok()?;
    let mut functions = module.functions.iter().map(|(_, function)| function);
    functions.find(|function| simt::programs::is_of_device_runtime(function)).map(|function| function.name.clone())
}
