//! A kernel of a loaded module, with its settings. The backend gets it from a [`Module`] for each
//! launch.

use std::cell::Cell;
use std::rc::Rc;

use cuda_std::launch::Arguments;
use cust::stream::Stream;
use cust::sys::{CUfunc_cache, CUfunction, CUfunction_attribute as Attribute};

use super::super::result::Result;
use super::super::result::function::{self, Shape};
use super::module::Module;
use crate::CacheConfig;

/// The carveout that leaves the choice to the driver (`CU_SHAREDMEM_CARVEOUT_DEFAULT`).
const CARVEOUT_DEFAULT: i32 = -1;

/// A kernel. It remembers its settings, so that a launch in a timed loop costs one driver call.
pub struct Function {
    /// Keeps the function valid.
    _module: Rc<Module>,
    raw: CUfunction,
    cache: Cell<CacheConfig>,
    carveout: Cell<Option<u8>>,
    dynamic_shared: Cell<u32>,
}

impl Function {
    /// A function with the driver's default settings.
    ///
    /// # Safety
    ///
    /// The function is the module's.
    pub unsafe fn new(module: Rc<Module>, raw: CUfunction) -> Self {
        let (cache, carveout) = (Cell::new(CacheConfig::None), Cell::default());
        Self { _module: module, raw, cache, carveout, dynamic_shared: Cell::default() }
    }

    /// Sets the preference between L1 and shared memory.
    pub fn set_cache_config(&self, cache: CacheConfig) -> Result<()> {
        if self.cache.get() != cache {
            // SAFETY: the module is loaded.
            unsafe { function::set_cache_config(self.raw, raw_preference(cache)) }?;
            self.cache.set(cache);
        }
        Ok(())
    }

    /// Sets the share of the on-chip memory to be shared memory, in percent; `None` leaves it to the driver.
    pub fn set_carveout(&self, carveout: Option<u8>) -> Result<()> {
        if self.carveout.get() != carveout {
            let value = carveout.map_or(CARVEOUT_DEFAULT, i32::from);
            // SAFETY: the module is loaded.
            unsafe {
                function::set_attribute(self.raw, Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value)
            }?;
            self.carveout.set(carveout);
        }
        Ok(())
    }

    /// Opts in to this much dynamic shared memory. The limit without opting in depends on the static shared memory, so this opts in to any
    /// amount.
    pub fn request_shared(&self, bytes: u32) -> Result<()> {
        if self.dynamic_shared.get() < bytes {
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the module is loaded.
            unsafe { function::set_attribute(self.raw, attribute, bytes as i32) }?;
            self.dynamic_shared.set(bytes);
        }
        Ok(())
    }

    /// How many blocks with this many threads and bytes of dynamic shared memory are resident at once on a multiprocessor.
    pub fn resident_blocks(&self, threads: u32, dynamic_shared: u32) -> Result<u32> {
        // SAFETY: the module is loaded.
        let blocks = unsafe { function::resident_blocks(self.raw, threads, dynamic_shared) }?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Starts the kernel.
    ///
    /// # Safety
    ///
    /// The context of the module is current, and the stream is its. There is an argument of the right size for each of the
    /// kernel's parameters, and what the kernel does with them is allowed.
    pub unsafe fn launch(&self, shape: &Shape, arguments: &Arguments, stream: &Stream) -> Result<()> {
        let mut parameters: Vec<_> = arguments.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        // SAFETY: the module is loaded; the rest is the caller's promise.
        unsafe { function::launch(self.raw, shape, &mut parameters, stream) }
    }
}

fn raw_preference(cache: CacheConfig) -> CUfunc_cache {
    match cache {
        CacheConfig::None => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
        CacheConfig::Shared => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
        CacheConfig::L1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
        CacheConfig::Equal => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
    }
}
