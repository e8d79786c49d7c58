//! A loaded module, which owns its kernels and variables. `gpu/module.rs` loads it and asks it for kernels and variables.

use std::ffi::{CStr, CString};
use std::rc::Rc;

use cust::sys::{CUjit_cacheMode, CUmodule};

use super::super::result::{DriverError, Result, module};
use super::function::Function;

/// A loaded module. Unloaded when it and its functions are dropped, while their context is current.
pub struct Module {
    raw: CUmodule,
}

impl Module {
    /// Compiles PTX for the current context's device and loads it. On failure, also returns the compiler's log.
    pub fn load(text: &CStr, caching: Option<CUjit_cacheMode>) -> std::result::Result<Self, (DriverError, String)> {
        module::load(text, caching).map(|raw| Self { raw })
    }

    /// The kernel of this name, if there is one.
    pub fn function(self: &Rc<Self>, name: &str) -> Result<Option<Function>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        // SAFETY: the module is loaded as long as this value is.
        let found = found(unsafe { module::function(self.raw, &name) })?;
        // SAFETY: the function is this module's.
        Ok(found.map(|raw| unsafe { Function::new(Rc::clone(self), raw) }))
    }

    /// Address and size of the variable of this name, if there is one.
    pub fn variable(&self, name: &str) -> Result<Option<(u64, u64)>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        // SAFETY: the module is loaded as long as this value is.
        found(unsafe { module::global(self.raw, &name) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module was loaded once; its functions and variables keep it alive, so there are none.
        let _ = unsafe { module::unload(self.raw) };
    }
}

/// A name that the module lacks is not an error.
fn found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(DriverError::NOT_FOUND) => Ok(None),
        Err(error) => Err(error),
    }
}
