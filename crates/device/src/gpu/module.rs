//! The kernels' PTX, compiled by the driver in one way or several, and the errors of PTX that it rejects. [`super::Gpu`]
//! loads modules here, once for each way of compiling, and keeps them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CString;
use std::rc::Rc;

use cust::sys::CUjit_cacheMode as CacheMode;
use simt::{LoadCaching, LoadErrorReason};

use super::super::image::{Image, Loaded, Unit};
use super::result::DriverError;
use super::safe::module::Module;
use crate::error::{Error, Result};
use wording::one_line;

/// The modules so far: of each unit of the loaded PTX that was needed, one for each way to compile it that was requested.
pub(super) struct Modules {
    cuda_version: String,
    compiled: HashMap<(Unit, LoadCaching), Rc<Module>>,
}

impl Modules {
    /// No module yet. `cuda_version` is the driver's, for the error of a driver that is too old.
    pub fn new(cuda_version: &str) -> Self {
        Self { cuda_version: cuda_version.to_owned(), compiled: HashMap::new() }
    }

    /// The module of a unit, in which loads without a cache operator of their own are cached so. It is compiled on first use.
    pub fn compiled(&mut self, loaded: &Loaded, unit: Unit, caching: LoadCaching) -> Result<&Rc<Module>> {
        match self.compiled.entry((unit, caching)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let (unit, _) = place.key();
                let image = &loaded.parts()[unit.part].image;
                let module = compile(image, &loaded.text(unit), caching, &self.cuda_version)?;
                Ok(place.insert(Rc::new(module)))
            }
        }
    }
}

/// Compiles and loads some text of an image for the current context's device.
fn compile(image: &Image, text: &str, caching: LoadCaching, cuda_version: &str) -> Result<Module> {
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
            return Error::DriverTooOld { ptx: image.version.clone(), driver: cuda_version.to_owned() };
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

/// The function with which a kernel launches kernels, if the PTX calls one: the driver does not provide it.
fn device_runtime(image: &Image) -> Option<String> {
    let module = image.parse().ok()?;
    let mut functions = module.functions.iter().map(|(_, function)| function);
    functions.find(|function| simt::is_of_device_runtime(function)).map(|function| function.name.clone())
}
