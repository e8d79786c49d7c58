//! An NVIDIA GPU as a device. [`super::Device`] calls it through
//! [`Backend`](super::backend::Backend).
//!
//! What `cust` has, `cust` does: contexts, streams, events, pinned memory; buffers and their copies
//! ([`memory`]); modules, kernels, their cache configuration, occupancy and launches ([`module`],
//! [`kernel`]). What it lacks goes through `cust::sys`, the driver's own functions, which
//! `cust_raw` loads at run time:
//!
//! | what | in | because `cust` |
//! | --- | --- | --- |
//! | loading PTX | [`module`] | passes the compiler no cache mode, and no room for its log |
//! | a variable's address | [`module`] | finds only variables of a size that is known when this is compiled |
//! | pitched memory, 2D copies | [`memory`], [`rows`] | has neither |
//! | carveout, dynamic shared memory beyond 48 KB | [`kernel`] | does not set a function's attributes |
//! | cooperative launches; clusters, programmatic dependent launch | [`kernel`] | has only `cuLaunchKernel` |
//! | arrays with mipmaps, of 16-bit floats | [`array`] | has neither |
//! | textures and surfaces | [`objects`] | makes them of an array that it takes away, and of no other memory |
//! | tensor maps | [`tensor`] | is older than they are |
//! | attributes of a device from number 92 on | [`query`] | ends there |
//! | managed memory that is prefetched, memory of a second GPU | [`outside`] | has neither |
//! | priorities in the level-2 cache | `backend`, [`window`] | has no such call |
//!
//! [`Gpu`] holds the safe types and implements the backend with them. cuBLAS, CUB and NVML are
//! loaded by name ([`shared_library`]); their functions are declared once, as raw function pointers
//! and as methods that check the status.
//!
//! All `unsafe` code of the host is in this folder, each use with its reason.
//!
//! # Why the simulator is a backend, too
//!
//! The driver that runs on the simulator (`crates/driver`) serves this backend as NVIDIA's does, and
//! tests run it so (`tests/program/gpu.rs`). It could take the place of the simulator's backend,
//! but does not:
//!
//! - It is a library for Linux. Labs also run in a browser, and on Windows and macOS.
//! - A process has one, with one memory and one set of checks. Each simulator has its own, and tests
//!   and the grader make many.
//! - The API returns a status. The simulator returns the counts, findings and orders of a launch as
//!   values, for which the driver would need functions beside the API.

mod array;
mod backend;
mod clock;
mod cublas;
mod cusparse;
mod kernel;
mod memory;
mod module;
mod objects;
mod outside;
mod peers;
mod query;
mod rows;
mod shared_library;
mod status;
mod tensor;
mod texture;
mod window;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cust::context::{Context, CurrentContext, ResourceLimit};
use cust::device::Device as CudaDevice;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::memory::LockedBuffer;
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use simt::LoadCaching;
use simt::models::AccessWindow;

use super::Properties;
use super::backend::Backend;
use super::image::{Images, Loaded};
use crate::error::{Error, Result};
use crate::options::Options;

use array::GpuArray;
use clock::ClockSource;
use kernel::Kernel;
use memory::Memory;
use module::Modules;
use objects::{Surface, Texture};
use outside::OutsideMemory;
use peers::Libraries;
use status::{DriverError, driver_error};

/// How many GPUs there are, at least one.
pub(super) fn count() -> Result<u32> {
    sys::load().map_err(|why| Error::NoGpu(why.to_string()))?;
    CudaDevice::num_devices().map_err(|error| driver_error("counting the GPUs", error))
}

/// Opens the GPU with this number and loads the newest kernels that it runs; also returns these.
pub(super) fn open(index: u32, images: &Images, options: &Options) -> Result<(Rc<dyn Backend>, Rc<Loaded>)> {
    let gpu = Gpu::open(index, images, options)?;
    let loaded = Rc::clone(&gpu.loaded);
    Ok((Rc::new(gpu), loaded))
}

/// A GPU with the kernels loaded.
pub(super) struct Gpu {
    // Fields are dropped in this order: everything in the context before the context.
    libraries: RefCell<Libraries>,
    textures: RefCell<HashMap<u64, Texture>>,
    surfaces: RefCell<HashMap<u64, Surface>>,
    arrays: RefCell<HashMap<u64, Rc<GpuArray>>>,
    memory: RefCell<Memory>,
    /// The kernels that were launched, each from the module with this caching of loads.
    functions: RefCell<HashMap<String, (LoadCaching, Rc<Kernel>)>>,
    modules: RefCell<Modules>,
    start: Event,
    end: Event,
    /// The memory that `side_stream` is copying.
    in_flight: RefCell<Vec<LockedBuffer<u8>>>,
    /// For copies that overlap launches.
    side_stream: Stream,
    /// Memory outside the GPU's own, by number, and the streams that copy it, from 1 on.
    outside: RefCell<Vec<Option<OutsideMemory>>>,
    streams: RefCell<Vec<Stream>>,
    /// A second GPU that this one reaches, looked for on first use.
    peer: OnceCell<Option<Rc<Context>>>,
    stream: Stream,
    context: Context,
    /// The access policy window of `stream`.
    window: Cell<Option<AccessWindow>>,
    /// The kernels' PTX, which is compiled for the launches that need it.
    loaded: Rc<Loaded>,
    properties: Properties,
    /// The GPU's address on the PCI bus.
    pci_address: String,
    /// The source of clock readings, opened on first use.
    clock: OnceCell<Option<ClockSource>>,
    /// The kernel that was launched last, if any, which is blamed if the device reports a fault.
    last_kernel: RefCell<String>,
    /// The end of the error for a fault.
    fault_advice: &'static str,
}

impl Gpu {
    fn open(index: u32, images: &Images, options: &Options) -> Result<Self> {
        let count = count()?;
        if index >= count {
            return Err(Error::NoSuchGpu { index, count, advice: options.advice.no_such_gpu });
        }
        let doing = || format!("opening GPU {index}");
        let failed = |error: CudaError| driver_error(&doing(), error);
        let device = CudaDevice::get_device(index).map_err(failed)?;
        let context = Context::new(device).map_err(failed)?;
        CurrentContext::set_current(&context).map_err(failed)?;
        let mut properties = query::properties(index, device)?;
        let images = images.newest_for(properties.compute_capability).map_err(|oldest| Error::DeviceTooOld {
            device: properties.name.clone(),
            capability: properties.compute_capability.to_string(),
            needed: oldest.capability.to_string(),
            advice: options.advice.old_gpu,
        })?;
        let loaded = Rc::new(Loaded::new(images)?);
        properties.ptx_target = loaded.newest().target.clone();
        if let Some(bytes) = options.limits.heap_limit {
            // Before the module is loaded: then the driver makes the heap.
            let doing = format!("setting the heap's size{}", options.advice.heap_limit);
            CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, bytes as usize)
                .map_err(|error| driver_error(&doing, error))?;
        }
        let mut modules = Modules::new(properties.cuda_version.as_deref().unwrap_or("?"), options.advice.old_driver);
        // Now, so that PTX that the driver rejects is rejected here.
        for unit in loaded.units() {
            modules.compiled(&loaded, unit, LoadCaching::Default)?;
        }
        let gpu = Self {
            libraries: RefCell::default(),
            textures: RefCell::default(),
            surfaces: RefCell::default(),
            arrays: RefCell::default(),
            memory: RefCell::default(),
            functions: RefCell::default(),
            modules: RefCell::new(modules),
            loaded,
            start: Event::new(EventFlags::DEFAULT).map_err(failed)?,
            end: Event::new(EventFlags::DEFAULT).map_err(failed)?,
            in_flight: RefCell::default(),
            side_stream: Stream::new(StreamFlags::DEFAULT, None).map_err(failed)?,
            outside: RefCell::default(),
            streams: RefCell::default(),
            peer: OnceCell::new(),
            stream: Stream::new(StreamFlags::DEFAULT, None).map_err(failed)?,
            context,
            window: Cell::new(None),
            properties,
            pci_address: clock::pci_address(device, &doing())?,
            clock: OnceCell::new(),
            last_kernel: RefCell::default(),
            fault_advice: options.advice.gpu_fault,
        };
        Ok(gpu)
    }

    /// Makes this GPU's context the thread's current one, which the driver works on.
    fn make_current(&self) -> Result<()> {
        CurrentContext::set_current(&self.context).map_err(|error| driver_error("choosing the GPU", error))
    }

    /// The host's error for a driver call that failed while `doing` something. A status that means
    /// that a kernel misbehaved becomes that kernel's fault.
    fn explain<T>(&self, doing: &str, result: std::result::Result<T, impl Into<DriverError>>) -> Result<T> {
        result.map_err(|error| {
            let error = error.into();
            match self.last_kernel.borrow().as_str() {
                kernel if error.is_kernel_fault() && !kernel.is_empty() => Error::Fault {
                    kernel: kernel.to_owned(),
                    fault: format!(
                        "kernel {}: {error} on {}{}",
                        crate::names::shown(kernel),
                        self.properties.name,
                        self.fault_advice
                    ),
                    trap: None,
                },
                _ => driver_error(doing, error),
            }
        })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The fields that are dropped next belong to this context.
        let _ = self.make_current();
        // A copy still in flight reads the pinned memory that is about to be freed.
        let _ = self.side_stream.synchronize();
        for stream in self.streams.get_mut() {
            let _ = stream.synchronize();
        }
        self.outside.get_mut().clear();
        let _ = self.make_current();
    }
}
