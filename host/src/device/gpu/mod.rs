//! An NVIDIA GPU as a device: the thin layer over the CUDA driver.
//!
//! `cust` does what it can: contexts, streams, events. The rest goes through its `sys`, the driver's own functions, which
//! `cust_raw` loads at run time: modules with the compiler's log, pitched memory, 2D copies, function attributes, launches
//! of arguments that are bytes. Other libraries are loaded by name. All `unsafe` code of the host is in this folder, each with its reason.

mod backend;
mod clock;
mod cublas;
mod module;
mod peers;
mod query;
mod shared_library;
mod tensor;
mod texture;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use cust::context::{Context, CurrentContext, ResourceLimit};
use cust::device::Device as CudaDevice;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::memory::LockedBuffer;
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use simt::LoadCaching;

use super::image::{Image, Images};
use super::{CacheConfig, Properties};
use crate::error::{Error, Result};
use crate::limits::Limits;

use clock::ClockSource;
pub(crate) use cublas::CUBLAS_VARIABLE;
use module::Modules;
use peers::Libraries;

/// How many GPUs there are, at least one.
pub(super) fn count() -> Result<u32> {
    sys::load().map_err(|why| Error::NoGpu(why.to_string()))?;
    CudaDevice::num_devices().map_err(|error| error_of("counting the GPUs", status_of(error)))
}

/// A GPU with the kernels loaded.
pub(super) struct Gpu {
    // Dropped in this order: what lives in the context before the context.
    libraries: RefCell<Libraries>,
    functions: RefCell<HashMap<String, Function>>,
    modules: RefCell<Modules>,
    start: Event,
    end: Event,
    /// What `side_stream` is copying.
    in_flight: RefCell<Vec<LockedBuffer<u8>>>,
    /// For copies beside the launches.
    side_stream: Stream,
    stream: Stream,
    context: Context,
    /// The kernels' PTX, for other ways to compile it.
    image: Image,
    properties: Properties,
    /// The GPU's place on the PCI bus.
    pci_address: String,
    /// Where its clock is read, once somebody asks.
    clock: OnceCell<Option<ClockSource>>,
    /// The kernel that was launched last, if any: the likely culprit when the device reports a fault.
    last_kernel: RefCell<String>,
}

/// A kernel of the module and what it was last configured to, so that a launch in a timed loop costs one driver call.
#[derive(Clone, Copy)]
struct Function {
    raw: sys::CUfunction,
    load_caching: LoadCaching,
    cache: CacheConfig,
    carveout: Option<u8>,
    dynamic_shared: u32,
}

impl Gpu {
    /// Opens the GPU with this number and loads the newest kernels that it runs; also returns these.
    pub fn open<'i>(index: u32, images: &'i Images, limits: &Limits) -> Result<(Self, &'i Image)> {
        let count = count()?;
        if index >= count {
            return Err(Error::NoSuchGpu { index, count });
        }
        let doing = || format!("opening GPU {index}");
        let failed = |error: CudaError| error_of(&doing(), status_of(error));
        let device = CudaDevice::get_device(index).map_err(failed)?;
        let context = Context::new(device).map_err(failed)?;
        CurrentContext::set_current(&context).map_err(failed)?;
        let mut properties = query::properties(index, device)?;
        let image = images.newest_for(properties.compute_capability).map_err(|oldest| Error::DeviceTooOld {
            device: properties.name.clone(),
            capability: properties.compute_capability.to_string(),
            needed: oldest.capability.to_string(),
        })?;
        properties.ptx_target = image.target.clone();
        if let Some(bytes) = limits.heap_limit {
            // Before the module is loaded: then the driver makes the heap.
            CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, bytes as usize)
                .map_err(|error| error_of("setting the heap's size (--heap-limit)", status_of(error)))?;
        }
        let mut modules = Modules::new(properties.cuda_version.as_deref().unwrap_or("?"));
        // Now, so that PTX that the driver rejects is rejected here.
        modules.compiled(image, LoadCaching::Default)?;
        let gpu = Self {
            libraries: RefCell::default(),
            functions: RefCell::new(HashMap::new()),
            modules: RefCell::new(modules),
            image: image.clone(),
            start: Event::new(EventFlags::DEFAULT).map_err(failed)?,
            end: Event::new(EventFlags::DEFAULT).map_err(failed)?,
            in_flight: RefCell::default(),
            side_stream: Stream::new(StreamFlags::DEFAULT, None).map_err(failed)?,
            stream: Stream::new(StreamFlags::DEFAULT, None).map_err(failed)?,
            context,
            properties,
            pci_address: clock::pci_address(device, &doing())?,
            clock: OnceCell::new(),
            last_kernel: RefCell::default(),
        };
        Ok((gpu, image))
    }

    /// Makes this GPU's context the thread's current one: the driver works on that.
    fn make_current(&self) -> Result<()> {
        CurrentContext::set_current(&self.context).map_err(|error| error_of("choosing the GPU", status_of(error)))
    }

    /// Turns the status of a driver call into a result. A status that says that a kernel misbehaved names the kernel.
    fn check(&self, doing: &str, status: sys::CUresult) -> Result<()> {
        match status as u32 {
            0 => Ok(()),
            status => Err(self.failure(doing, status)),
        }
    }

    /// As [`Gpu::check`], for a call of `cust`.
    fn check_cust<T>(&self, doing: &str, result: std::result::Result<T, CudaError>) -> Result<T> {
        result.map_err(|error| self.failure(doing, status_of(error)))
    }

    fn failure(&self, doing: &str, status: u32) -> Error {
        match self.last_kernel.borrow().as_str() {
            kernel if is_fault(status) && !kernel.is_empty() => Error::Fault {
                kernel: kernel.to_owned(),
                fault: format!(
                    "kernel {}: {} on {}; --device sim names the line and the address",
                    crate::names::shown(kernel),
                    sys::describe(status),
                    self.properties.name
                ),
                trap: None,
            },
            _ => error_of(doing, status),
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The fields that are dropped next belong to this context. Were it gone, so would they be.
        let _ = self.make_current();
        // A copy that is still under way reads memory that is dropped.
        let _ = self.side_stream.synchronize();
    }
}

/// Whether a status means that a kernel did what it must not do. The driver reports it at whatever call comes later.
fn is_fault(status: u32) -> bool {
    // Illegal address, launch timeout, assert, and the hardware's exceptions (CUDA driver API, `CUresult`).
    matches!(status, 700 | 702 | 710 | 714..=719)
}

/// The driver's number for an error of `cust`.
fn status_of(error: CudaError) -> u32 {
    error as u32
}

/// The error of a driver call that has nothing to do with a kernel.
fn error_of(doing: &str, status: u32) -> Error {
    Error::Driver { doing: doing.to_owned(), status: sys::describe(status).to_string() }
}
