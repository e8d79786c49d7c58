//! The backend of a GPU: the host's requests in terms of the safe layer, with the host's errors.
//! Implements [`Backend`] for [`super::Gpu`], whose context it makes current for each request.

use std::rc::Rc;

use cuda_std::launch::Arguments;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{LockedBuffer, mem_get_info};
use cust::stream::StreamWaitEventFlags;
use cust::sys;
use simt::tensors::{TENSOR_MAP_BYTES, TensorMap};
use simt::textures::{ArrayShape, Sampling};
use simt::transfers::Outside;
use simt::{LoadCaching, Printed, Report};

use super::super::array::{Array, TextureSource};
use super::super::backend::{Backend, Transfer, Watch};
use super::super::image::Checked;
use super::super::{CacheConfig, LaunchConfig, Properties};
use super::Gpu;
use super::clock::ClockSource;
use super::kernel::{Kernel, Shape, preference};
use super::rows::DeviceRows;
use super::status::{self, DriverError, to_result};
use crate::clock::ClockReading;
use crate::error::{Error, Result};
use crate::peers::{BlasCall, LibraryCall, Loaded, PeerLibraries, SparseCall};

impl Gpu {
    /// Free memory in bytes.
    fn free_memory(&self) -> Result<u64> {
        self.make_current()?;
        let (free, _total) = self.explain("querying the free memory", mem_get_info())?;
        Ok(free as u64)
    }

    /// The result of an allocation of `needed` bytes.
    pub(super) fn allocated<T>(&self, needed: u64, allocation: status::Result<T>) -> Result<T> {
        if matches!(allocation, Err(DriverError::OUT_OF_MEMORY)) {
            return Err(Error::OutOfMemory {
                what: "an allocation".to_owned(),
                place: format!("device {}", self.properties.name),
                needed,
                available: self.free_memory()?,
                limit: String::new(),
            });
        }
        self.explain("allocating memory", allocation)
    }

    /// The kernel called `name`, with the settings that the launch asks for.
    fn configured(&self, name: &str, config: &LaunchConfig) -> Result<Rc<Kernel>> {
        let known = match self.functions.borrow().get(name) {
            Some((caching, function)) if *caching == config.load_caching => Some(Rc::clone(function)),
            _ => None,
        };
        let function = match known {
            Some(function) => function,
            None => self.look_up(name, config.load_caching)?,
        };
        self.explain("setting the cache configuration", function.set_cache_config(config.cache))?;
        self.explain("setting the shared-memory carveout", function.set_carveout(config.carveout))?;
        self.explain("requesting dynamic shared memory", function.request_shared(config.dynamic_shared))?;
        Ok(function)
    }

    /// The kernel called `name` from the module whose loads are cached so.
    fn look_up(&self, name: &str, caching: LoadCaching) -> Result<Rc<Kernel>> {
        let mut modules = self.modules.borrow_mut();
        let missing =
            || Error::Launch { kernel: name.to_owned(), problem: format!("is not in {}", self.loaded.shown()) };
        let unit = self.loaded.unit_of(name).ok_or_else(missing)?;
        let found = Kernel::of(modules.compiled(&self.loaded, unit, caching)?, name);
        let function = Rc::new(self.explain(&format!("looking up kernel {name}"), found)?.ok_or_else(missing)?);
        self.functions.borrow_mut().insert(name.to_owned(), (caching, Rc::clone(&function)));
        Ok(function)
    }

    /// Fails unless all blocks of a cooperative launch can be resident at once.
    fn require_resident(&self, kernel: &str, config: &LaunchConfig) -> Result<()> {
        let each = u64::from(self.resident_blocks(kernel, config)?.unwrap_or(0));
        let resident = each * u64::from(self.properties.multiprocessors.unwrap_or(0));
        let blocks = config.grid.iter().fold(1_u64, |all, &extent| all.saturating_mul(extent.into()));
        if blocks > resident {
            let name = &self.properties.name;
            let problem = format!(
                "a cooperative launch needs all its blocks resident at once; it has {blocks} blocks, and {name} holds {resident} \
                 of them"
            );
            return Err(Error::Launch { kernel: kernel.to_owned(), problem });
        }
        Ok(())
    }
}

impl Backend for Gpu {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn available(&self) -> Result<u64> {
        self.free_memory()
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.make_current()?;
        // The driver does not allocate 0 bytes.
        let allocation = self.memory.borrow_mut().allocate(bytes.max(1));
        self.allocated(bytes, allocation)
    }

    fn allocate_pitched(&self, row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)> {
        self.make_current()?;
        let allocation = self.memory.borrow_mut().allocate_pitched(row_bytes, rows, element_bytes);
        self.allocated(row_bytes.saturating_mul(rows), allocation)
    }

    fn free(&self, address: u64) {
        if self.make_current().is_ok() {
            self.memory.borrow_mut().free(address);
        }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.make_current()?;
        self.explain("copying to the device", self.memory.borrow().write(address, bytes))
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        self.explain("copying from the device", self.memory.borrow().read(bytes, address))
    }

    fn fill(&self, address: u64, length: u64, value: u8) -> Result<()> {
        self.make_current()?;
        self.explain("filling memory", self.memory.borrow().fill(address, length, value, &self.stream))
    }

    fn write_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &[u8]) -> Result<()> {
        self.make_current()?;
        let copy = self.memory.borrow().write_rows(DeviceRows { address, pitch }, bytes, row_bytes);
        self.explain("copying rows to the device", copy)
    }

    fn read_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        let copy = self.memory.borrow().read_rows(bytes, DeviceRows { address, pitch }, row_bytes);
        self.explain("copying rows from the device", copy)
    }

    fn copy(&self, from: u64, to: u64, length: u64) -> Result<()> {
        self.make_current()?;
        self.explain("copying on the device", self.memory.borrow().copy(from, to, length, &self.stream))
    }

    fn launch(&self, kernel: Checked<'_>, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Report>> {
        self.make_current()?;
        let Checked { name: kernel, may_begin_early } = kernel;
        let function = self.configured(kernel, config)?;
        self.keep_in_l2(config.window)?;
        if config.cooperative {
            self.require_resident(kernel, config)?;
        }
        kernel.clone_into(&mut self.last_kernel.borrow_mut());
        let &LaunchConfig { grid, block, cluster, cooperative, dynamic_shared, stream, .. } = config;
        let may_begin_early = may_begin_early && !cooperative;
        let shape = Shape { grid, block, cluster, cooperative, may_begin_early, dynamic_shared };
        // SAFETY: the context is current, and the streams are its. `Device` has made sure that there
        // is one argument of the right size for each parameter, and that a kernel that may begin
        // early waits first. What the kernel does with the buffers is between its `# Safety` and
        // the caller of `Device::launch`, and reaches device memory only.
        let started = self.on_stream(stream, |stream| unsafe { function.launch(&shape, arguments, stream) });
        self.explain(&format!("launching kernel {kernel}"), started)?;
        Ok(None)
    }

    fn load_peers(&self, wanted: PeerLibraries<'_>) -> Result<Loaded> {
        self.load_libraries(wanted)
    }

    fn copy_rows(&self, from: u64, to: u64, pitches: [u64; 2], row_bytes: u64, rows: u64) -> Result<()> {
        self.copy_of_rows(from, to, pitches, row_bytes, rows)
    }

    fn start_blas(&self, call: &BlasCall) -> Result<()> {
        self.call_cublas(call)
    }

    fn start_sparse(&self, call: &SparseCall, scratch: Option<u64>) -> Result<u64> {
        self.call_cusparse(call, scratch)
    }

    fn start_library(&self, call: &LibraryCall, scratch: Option<(u64, u64)>) -> Result<u64> {
        self.call_library(call, scratch)
    }

    fn prefer(&self, cache: CacheConfig) -> Result<()> {
        self.make_current()?;
        let set = CurrentContext::set_cache_config(preference(cache));
        self.explain("setting the context's cache configuration", set)
    }

    fn reset_l2_priorities(&self) -> Result<()> {
        self.make_current()?;
        // SAFETY: it takes nothing, and changes no data.
        match to_result(unsafe { sys::cuCtxResetPersistingL2Cache() }) {
            // GPUs before 8.0 keep nothing there.
            Err(DriverError::NOT_SUPPORTED) => Ok(()),
            done => self.explain("resetting priorities in the level-2 cache", done),
        }
    }

    fn symbol(&self, name: &str) -> Result<Option<(u64, u64)>> {
        self.make_current()?;
        let mut modules = self.modules.borrow_mut();
        let Some(unit) = self.loaded.unit_with(name) else { return Ok(None) };
        let module = modules.compiled(&self.loaded, unit, LoadCaching::Default)?;
        self.explain(&format!("looking up variable {name}"), self.memory.borrow_mut().variable(module, name))
    }

    fn write_on_stream(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.make_current()?;
        let doing = "copying to the device on a stream";
        let pinned = self.explain(doing, LockedBuffer::from_slice(bytes))?;
        // A kernel that still runs reads what is about to be written.
        let launched = self.explain(doing, Event::new(EventFlags::DISABLE_TIMING))?;
        self.explain(doing, launched.record(&self.stream))?;
        self.explain(doing, self.side_stream.wait_event(launched, StreamWaitEventFlags::DEFAULT))?;
        // SAFETY: the pinned memory is moved to `in_flight`, which is cleared when the stream has
        // been waited for. Moving the value does not move its bytes.
        let started = unsafe { self.memory.borrow().write_async(address, &pinned, &self.side_stream) };
        self.explain(doing, started)?;
        self.in_flight.borrow_mut().push(pinned);
        let copied = self.explain(doing, Event::new(EventFlags::DISABLE_TIMING))?;
        self.explain(doing, copied.record(&self.side_stream))?;
        self.explain(doing, self.stream.wait_event(copied, StreamWaitEventFlags::DEFAULT))
    }

    fn has_peer(&self) -> bool {
        self.peer().is_some() && self.make_current().is_ok()
    }

    fn allocate_outside(&self, kind: Outside, bytes: u64) -> Result<u64> {
        self.new_outside(kind, bytes)
    }

    fn free_outside(&self, number: u64) {
        self.drop_outside(number);
    }

    fn write_outside(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.fill_outside(number, bytes)
    }

    fn read_outside(&self, number: u64, bytes: &mut [u8]) -> Result<()> {
        self.take_outside(number, bytes)
    }

    fn outside_address(&self, number: u64) -> Result<u64> {
        self.address_outside(number)
    }

    fn start_transfer(&self, transfer: &Transfer) -> Result<()> {
        self.transfer(transfer)
    }

    fn prefetch(&self, number: u64, to_device: bool) -> Result<()> {
        self.move_managed(number, to_device)
    }

    fn fork(&self, streams: u32) -> Result<()> {
        self.fork_streams(streams)
    }

    fn join(&self, streams: u32) -> Result<()> {
        self.join_streams(streams)
    }

    fn resident_blocks(&self, kernel: &str, config: &LaunchConfig) -> Result<Option<u32>> {
        self.make_current()?;
        let function = self.configured(kernel, config)?;
        let blocks = function.resident_blocks(config.block, config.dynamic_shared);
        self.explain(&format!("querying the occupancy of kernel {kernel}"), blocks).map(Some)
    }

    fn allocate_array(&self, shape: &ArrayShape) -> Result<u64> {
        self.make_array(shape)
    }

    fn free_array(&self, array: &Array) {
        self.drop_array(array);
    }

    fn write_array(&self, array: &Array, level: u32, bytes: &[u8]) -> Result<()> {
        self.write_level(array, level, bytes)
    }

    fn read_array(&self, array: &Array, level: u32, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        self.read_level(array, level, bytes)
    }

    fn create_texture(&self, source: &TextureSource<'_>, sampling: &Sampling) -> Result<u64> {
        self.make_texture(source, sampling)
    }

    fn destroy_texture(&self, handle: u64) {
        self.drop_texture(handle);
    }

    fn create_surface(&self, array: &Array) -> Result<u64> {
        self.make_surface(array)
    }

    fn destroy_surface(&self, handle: u64) {
        self.drop_surface(handle);
    }

    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES]> {
        self.make_tensor_map(map)
    }

    fn take_printed(&self) -> Option<Printed> {
        None
    }

    fn watch(&self, _watch: Option<Watch>) {}

    fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        self.explain("waiting for the device", self.stream.synchronize())?;
        // The stream has waited for the copies of the other one.
        self.in_flight.borrow_mut().clear();
        Ok(())
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        self.make_current()?;
        let doing = "timing";
        self.explain(doing, self.start.record(&self.stream))?;
        work()?;
        self.explain(doing, self.end.record(&self.stream))?;
        self.explain(doing, self.end.synchronize())?;
        let time = self.explain(doing, self.end.elapsed_time_f32(&self.start))?;
        Ok(Some(f64::from(time)))
    }

    fn clock(&self) -> Option<ClockReading> {
        self.clock.get_or_init(|| ClockSource::of(&self.pci_address)).as_ref()?.read()
    }
}
