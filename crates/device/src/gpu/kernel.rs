//! A kernel of a loaded module: `cust`'s function with its settings. The backend gets it from a
//! [`Module`] and launches it.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use cuda_std::launch::Arguments;
use cust::context::CacheConfig as Preference;
use cust::function::{BlockSize, Function, GridSize};
use cust::stream::Stream;
use cust::sys::{self, AttributedLaunch, CUfunction_attribute as Attribute};

use super::module::Module;
use super::status::{DriverError, Result, number_to_result, to_result};
use crate::CacheConfig;

/// The carveout that leaves the choice to the driver (`CU_SHAREDMEM_CARVEOUT_DEFAULT`).
const CARVEOUT_DEFAULT: i32 = -1;

/// A kernel. It remembers its settings, so that a launch in a timed loop costs one driver call.
pub struct Kernel {
    function: RefCell<Function<'static>>,
    /// Keeps the function valid.
    _module: Rc<Module>,
    cache: Cell<CacheConfig>,
    carveout: Cell<Option<u8>>,
    dynamic_shared: Cell<u32>,
}

/// The shape of a launch.
pub struct Shape {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster, for a launch in clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Whether it may begin before the kernel before it in the stream has ended ("programmatic
    /// dependent launch").
    pub may_begin_early: bool,
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared: u32,
}

impl Kernel {
    /// The kernel of this name, with the driver's default settings; `None` if the module lacks it.
    pub fn of(module: &Rc<Module>, name: &str) -> Result<Option<Self>> {
        let Some(function) = module.function(name)? else { return Ok(None) };
        // SAFETY: the two types differ in the lifetime alone. The function is valid as long as its
        // module is loaded, which this value keeps and does not lend.
        let function = unsafe { std::mem::transmute::<Function<'_>, Function<'static>>(function) };
        Ok(Some(Self {
            function: RefCell::new(function),
            _module: Rc::clone(module),
            cache: Cell::new(CacheConfig::None),
            carveout: Cell::default(),
            dynamic_shared: Cell::default(),
        }))
    }

    /// Sets the preference between L1 and shared memory.
    pub fn set_cache_config(&self, cache: CacheConfig) -> Result<()> {
        if self.cache.get() != cache {
            self.function.borrow_mut().set_cache_config(preference(cache))?;
            self.cache.set(cache);
        }
        Ok(())
    }

    /// Sets the share of the on-chip memory to be shared memory, in percent; `None` leaves it to
    /// the driver.
    pub fn set_carveout(&self, carveout: Option<u8>) -> Result<()> {
        if self.carveout.get() != carveout {
            let value = carveout.map_or(CARVEOUT_DEFAULT, i32::from);
            self.set(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value)?;
            self.carveout.set(carveout);
        }
        Ok(())
    }

    /// Opts in to this much dynamic shared memory. The limit without opting in depends on the
    /// static shared memory, so this opts in to any amount.
    pub fn request_shared(&self, bytes: u32) -> Result<()> {
        if self.dynamic_shared.get() < bytes {
            self.set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)?;
            self.dynamic_shared.set(bytes);
        }
        Ok(())
    }

    fn set(&self, attribute: Attribute, value: i32) -> Result<()> {
        // SAFETY: the module is loaded; the driver checks the value.
        to_result(unsafe { sys::cuFuncSetAttribute(self.function.borrow().to_raw(), attribute, value) })
    }

    /// How many blocks of this shape and with so many bytes of dynamic shared memory are resident
    /// at once on a multiprocessor.
    pub fn resident_blocks(&self, block: [u32; 3], dynamic_shared: u32) -> Result<u32> {
        let function = self.function.borrow();
        Ok(function.max_active_blocks_per_multiprocessor(
            BlockSize::from(<(u32, u32, u32)>::from(block)),
            dynamic_shared as usize,
        )?)
    }

    /// Starts the kernel, by the one of three driver functions that the shape needs.
    ///
    /// # Safety
    ///
    /// The context of the module is current, and the stream is its. There is an argument of the
    /// right size for each of the kernel's parameters, and what the kernel does with them is
    /// allowed; if it may begin early, it waits for the kernel before it first.
    pub unsafe fn launch(&self, shape: &Shape, arguments: &Arguments, stream: &Stream) -> Result<()> {
        let &Shape { grid, block, cluster, cooperative, may_begin_early, dynamic_shared } = shape;
        let function = &*self.function.borrow();
        let mut parameters: Vec<*mut c_void> = arguments.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        if cluster.is_some() || may_begin_early {
            let launch = AttributedLaunch {
                function: function.to_raw(),
                grid,
                block,
                cluster,
                cooperative,
                may_begin_early,
                dynamic_shared,
                stream: stream.as_inner(),
                parameters: parameters.as_mut_ptr(),
            };
            // SAFETY: the module is loaded; the rest is the caller's promise.
            let status = unsafe { sys::launch_with_attributes(&launch) };
            return number_to_result(status.map_err(DriverError::Missing)?);
        }
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        if cooperative {
            let (function, stream, parameters) = (function.to_raw(), stream.as_inner(), parameters.as_mut_ptr());
            // SAFETY: as above; the driver only reads the arguments, and has copied them when it
            // returns.
            return to_result(unsafe {
                sys::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, parameters)
            });
        }
        let (grid, block) = (GridSize::xyz(gx, gy, gz), BlockSize::xyz(bx, by, bz));
        // SAFETY: as above. `cust`'s macro `launch!` ends in this call, but wants the arguments'
        // types.
        Ok(unsafe { stream.launch(function, grid, block, dynamic_shared, &parameters) }?)
    }
}

/// `cust`'s name of a preference.
pub fn preference(cache: CacheConfig) -> Preference {
    match cache {
        CacheConfig::None => Preference::PreferNone,
        CacheConfig::Shared => Preference::PreferShared,
        CacheConfig::L1 => Preference::PreferL1,
        CacheConfig::Equal => Preference::PreferEqual,
    }
}
