//! What the code that nvcc writes registers before `main`: fat binaries with device code, and the
//! kernels and variables in them by addresses of the host. A fat binary is loaded when something of
//! it is first used on a device.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::call::runtime;
use crate::device::{current, ready};
use crate::driver;
use crate::error::{Done, Error, note};
use crate::types::Handle;

/// A fat binary.
struct FatBinary {
    /// The address of its wrapper.
    image: usize,
    /// Its modules, by device.
    modules: HashMap<c_int, Handle>,
    /// Variables that host and device share: where the host's pointer to each is, and its name.
    managed: Vec<(usize, CString)>,
}

/// A kernel or a variable: its fat binary's number, and its name there.
type Named = (usize, CString);

#[derive(Default)]
struct Registry {
    /// By number; `None` once unregistered.
    binaries: Vec<Option<FatBinary>>,
    /// By the address of the host's function, and of the host's variable.
    kernels: HashMap<usize, Named>,
    variables: HashMap<usize, Named>,
    /// Kernels that were asked for, by device.
    functions: HashMap<(c_int, usize), Handle>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// The module of a fat binary on a device.
    fn module(&mut self, binary: usize, device: c_int) -> Done<Handle> {
        let found = self.binaries.get_mut(binary).and_then(Option::as_mut).ok_or(Error::INVALID_FUNCTION)?;
        if let Some(&known) = found.modules.get(&device) {
            return Ok(known);
        }
        let mut module = 0;
        driver::cuModuleLoadFatBinary(&mut module, found.image as *const c_void)?;
        found.modules.insert(device, module);
        Ok(module)
    }

    /// Loads a fat binary, and gives the host the addresses of variables that it shares.
    fn share(&mut self, binary: usize, device: c_int) -> Done {
        let Some(found) = self.binaries.get(binary).and_then(Option::as_ref) else { return Ok(()) };
        if found.managed.is_empty() || found.modules.contains_key(&device) {
            return Ok(());
        }
        let managed = found.managed.clone();
        let module = self.module(binary, device)?;
        for (host, name) in managed {
            let (mut address, mut bytes) = (0, 0);
            // To this driver a module is a library, too.
            driver::cuLibraryGetManaged(&mut address, &mut bytes, module, name.as_ptr())?;
            crate::call::put(host as *mut u64, address)?;
        }
        Ok(())
    }
}

/// The kernel that a function of the host stands for.
pub fn function(host: *const c_void) -> Done<Handle> {
    ready()?;
    let (device, host) = (current(), host as usize);
    let mut registry = registry();
    if let Some(&known) = registry.functions.get(&(device, host)) {
        return Ok(known);
    }
    let (binary, name) = registry.kernels.get(&host).cloned().ok_or(Error::INVALID_FUNCTION)?;
    let module = registry.module(binary, device)?;
    let mut function = 0;
    driver::cuModuleGetFunction(&mut function, module, name.as_ptr()).map_err(|error| match error {
        // The module is there, the kernel is not: it is one that the driver could not read.
        Error(500) => Error::INVALID_FUNCTION,
        error => error,
    })?;
    registry.functions.insert((device, host), function);
    Ok(function)
}

/// Address and size of the variable that one of the host stands for.
pub fn variable(host: *const c_void) -> Done<(u64, usize)> {
    ready()?;
    let mut registry = registry();
    let (binary, name) = registry.variables.get(&(host as usize)).cloned().ok_or(Error::INVALID_SYMBOL)?;
    let module = registry.module(binary, current())?;
    let (mut address, mut bytes) = (0, 0);
    driver::cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr())?;
    Ok((address, bytes))
}

/// Forgets what was loaded on this thread's device, which is reset.
fn forget() {
    let (mut registry, device) = (registry(), current());
    for binary in registry.binaries.iter_mut().flatten() {
        binary.modules.remove(&device);
    }
    registry.functions.retain(|(of, _), _| *of != device);
}

fn text(name: *const c_char) -> CString {
    if name.is_null() {
        return CString::default();
    }
    // SAFETY: nvcc's code gives C strings.
    unsafe { CStr::from_ptr(name) }.to_owned()
}

/// The number of the fat binary that a handle means.
fn number(handle: usize) -> usize {
    handle.wrapping_sub(1)
}

/// Registers a fat binary. The handle is a number, which nvcc's code only passes on.
#[unsafe(no_mangle)] // SAFETY: a name that nvcc's code calls, of which a process loads one library; so are the others.
pub extern "C" fn __cudaRegisterFatBinary(image: *const c_void) -> usize {
    let mut registry = registry();
    let binary = FatBinary { image: image as usize, modules: HashMap::new(), managed: Vec::new() };
    registry.binaries.push(Some(binary));
    registry.binaries.len()
}

/// All of the fat binary is registered.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: usize) {}

/// The process ends, or the library with the fat binary is unloaded.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaUnregisterFatBinary(handle: usize) {
    let (mut registry, binary) = (registry(), number(handle));
    let Some(removed) = registry.binaries.get_mut(binary).and_then(Option::take) else { return };
    registry.kernels.retain(|_, (of, _)| *of != binary);
    registry.variables.retain(|_, (of, _)| *of != binary);
    registry.functions.clear();
    for module in removed.modules.into_values() {
        // When the process ends the driver may be gone.
        let _ = driver::cuModuleUnload(module);
    }
}

/// Registers a kernel. Callers give more: limits of its size, which are left as they are.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaRegisterFunction(
    handle: usize,
    host: *const c_void,
    _device: *const c_char,
    name: *const c_char,
) {
    registry().kernels.insert(host as usize, (number(handle), text(name)));
}

/// Registers a variable.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaRegisterVar(handle: usize, host: *const c_void, _device: *const c_char, name: *const c_char) {
    registry().variables.insert(host as usize, (number(handle), text(name)));
}

/// Registers a variable that host and device share: the host reads its address at `host`.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaRegisterManagedVar(
    handle: usize,
    host: *mut c_void,
    _device: *const c_char,
    name: *const c_char,
) {
    let (mut registry, name) = (registry(), text(name));
    if let Some(binary) = registry.binaries.get_mut(number(handle)).and_then(Option::as_mut) {
        binary.managed.push((host as usize, name.clone()));
    }
    registry.variables.insert(host as usize, (number(handle), name));
}

/// Loads a fat binary before the host uses a variable that it shares with the device.
#[unsafe(no_mangle)] // SAFETY: as above.
pub extern "C" fn __cudaInitModule(handle: usize) -> c_char {
    let shared = ready().and_then(|()| registry().share(number(handle), current()));
    c_char::from(shared.map_err(note).is_ok())
}

runtime! {
    fn cudaDeviceReset() {
        ready()?;
        forget();
        driver::cuDevicePrimaryCtxReset_v2(current())
    }

    fn cudaThreadExit() {
        ready()?;
        forget();
        driver::cuDevicePrimaryCtxReset_v2(current())
    }
}
