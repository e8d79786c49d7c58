//! The backend of a GPU.

use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use cuda_std::launch::Arguments;
use cust::event::{Event, EventFlags};
use cust::memory::LockedBuffer;
use cust::stream::StreamWaitEventFlags;
use cust::sys::{self, CUDA_MEMCPY2D, CUfunc_cache, CUfunction_attribute as FunctionAttribute, CUmemorytype};
use simt::{ArrayShape, Counters, LoadCaching, Printed, Report, Sampling, TENSOR_MAP_BYTES, TensorMap};

use super::super::backend::Backend;
use super::super::peers::{BlasCall, LibraryCall, Loaded, Wanted};
use super::super::texture::{Array, TextureSource};
use super::super::{CacheConfig, LaunchConfig, Properties};
use super::clock::ClockSource;
use super::{Function, Gpu};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::timing::ClockReading;

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: u32 = 2;

/// The carveout that leaves the choice to the driver (`CU_SHAREDMEM_CARVEOUT_DEFAULT`).
const CARVEOUT_DEFAULT: i32 = -1;

impl Gpu {
    /// Free and total memory in bytes.
    fn free_memory(&self) -> Result<u64> {
        self.make_current()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outputs outlive the call.
        let status = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) };
        self.check("querying the free memory", status)?;
        Ok(free as u64)
    }

    /// The result of an allocation of `needed` bytes.
    pub(super) fn allocated(&self, needed: u64, status: sys::CUresult) -> Result<()> {
        if status as u32 == OUT_OF_MEMORY {
            return Err(Error::OutOfMemory {
                what: "an allocation".to_owned(),
                place: format!("device {}", self.properties.name),
                needed,
                available: self.free_memory()?,
            });
        }
        self.check("allocating memory", status)
    }

    /// The kernel called `name`, set to what the launch asks for.
    fn configured(&self, name: &str, config: &LaunchConfig) -> Result<sys::CUfunction> {
        let mut functions = self.functions.borrow_mut();
        let known = functions.get(name).filter(|function| function.load_caching == config.load_caching);
        let mut function = match known {
            Some(function) => *function,
            None => Function {
                raw: self.modules.borrow_mut().compiled(&self.image, config.load_caching)?.function(name)?,
                load_caching: config.load_caching,
                cache: CacheConfig::None,
                carveout: None,
                dynamic_shared: 0,
            },
        };
        if function.cache != config.cache {
            // SAFETY: the function belongs to this GPU's module, which is loaded.
            let status = unsafe { sys::cuFuncSetCacheConfig(function.raw, preference_of(config.cache)) };
            self.check("setting the cache configuration", status)?;
            function.cache = config.cache;
        }
        if function.carveout != config.carveout {
            self.set_attribute(
                function.raw,
                FunctionAttribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                config.carveout.map_or(CARVEOUT_DEFAULT, i32::from),
                "setting the shared-memory carveout",
            )?;
            function.carveout = config.carveout;
        }
        // What a kernel may have without asking is less by its static shared memory, so it asks for whatever it needs.
        if function.dynamic_shared < config.dynamic_shared {
            self.set_attribute(
                function.raw,
                FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                config.dynamic_shared as i32,
                "requesting dynamic shared memory",
            )?;
            function.dynamic_shared = config.dynamic_shared;
        }
        match functions.get_mut(name) {
            Some(known) => *known = function,
            None => drop(functions.insert(name.to_owned(), function)),
        }
        Ok(function.raw)
    }

    /// Whether all blocks of a launch can be resident at once.
    fn check_resident(&self, kernel: &str, config: &LaunchConfig) -> Result<()> {
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

    fn set_attribute(
        &self,
        function: sys::CUfunction,
        attribute: FunctionAttribute,
        value: i32,
        doing: &str,
    ) -> Result<()> {
        // SAFETY: the function belongs to this GPU's module, which is loaded; the driver checks the value.
        let status = unsafe { sys::cuFuncSetAttribute(function, attribute, value) };
        self.check(doing, status)
    }

    /// A 2D copy.
    fn copy_2d(&self, copy: &CUDA_MEMCPY2D, doing: &str) -> Result<()> {
        self.make_current()?;
        // SAFETY: the callers describe memory on the host that they borrow for the call, at least as long as rows times its
        // pitch, and an allocation of this GPU.
        let status = unsafe { sys::cuMemcpy2D_v2(copy) };
        self.check(doing, status)
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
        let mut address = 0;
        // SAFETY: the output outlives the call.
        let status = unsafe { sys::cuMemAlloc_v2(&mut address, bytes as usize) };
        self.allocated(bytes, status)?;
        Ok(address)
    }

    fn allocate_pitched(&self, row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)> {
        self.make_current()?;
        let (mut address, mut pitch) = (0, 0);
        // SAFETY: both outputs outlive the call.
        let status = unsafe {
            sys::cuMemAllocPitch_v2(&mut address, &mut pitch, row_bytes as usize, rows as usize, element_bytes)
        };
        self.allocated(row_bytes.saturating_mul(rows), status)?;
        Ok((address, pitch as u64))
    }

    fn free(&self, address: u64) {
        if self.make_current().is_ok() {
            // SAFETY: the address comes from an allocation of this GPU, which its only owner frees now.
            unsafe { sys::cuMemFree_v2(address) };
        }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.make_current()?;
        // SAFETY: the bytes are borrowed for the call, and the buffer that calls is as long as they are.
        let status = unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) };
        self.check("copying to the device", status)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        // SAFETY: the bytes are borrowed for the call, and the buffer that calls is as long as they are.
        let status = unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len()) };
        self.check("copying from the device", status)
    }

    fn fill(&self, address: u64, length: u64, value: u8) -> Result<()> {
        self.make_current()?;
        // SAFETY: the buffer that calls has this address and length; later work in the stream waits for the fill.
        let status = unsafe { sys::cuMemsetD8Async(address, value, length as usize, self.stream.as_inner()) };
        self.check("filling memory", status)
    }

    fn write_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &[u8]) -> Result<()> {
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: bytes.as_ptr().cast(),
            srcPitch: row_bytes as usize,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: address,
            dstPitch: pitch as usize,
            ..rows_of(row_bytes, bytes.len())
        };
        self.copy_2d(&copy, "copying rows to the device")
    }

    fn read_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: address,
            srcPitch: pitch as usize,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: bytes.as_mut_ptr().cast(),
            dstPitch: row_bytes as usize,
            ..rows_of(row_bytes, bytes.len())
        };
        self.copy_2d(&copy, "copying rows from the device")
    }

    fn copy(&self, from: u64, to: u64, length: u64) -> Result<()> {
        self.make_current()?;
        // SAFETY: both addresses are those of buffers that are at least this long; later work in the stream waits.
        let status = unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, length as usize, self.stream.as_inner()) };
        self.check("copying on the device", status)
    }

    fn launch(&self, kernel: &str, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Counters>> {
        self.make_current()?;
        let function = self.configured(kernel, config)?;
        let mut parameters: Vec<*mut c_void> = arguments.iter().map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        let doing = format!("launching kernel {kernel}");
        if config.cooperative {
            self.check_resident(kernel, config)?;
        }
        kernel.clone_into(&mut self.last_kernel.borrow_mut());
        if let Some(cluster) = config.cluster {
            let launch = sys::ClusterLaunch {
                function,
                grid: config.grid,
                block: config.block,
                cluster,
                cooperative: config.cooperative,
                dynamic_shared: config.dynamic_shared,
                stream: self.stream.as_inner(),
                parameters: parameters.as_mut_ptr(),
            };
            // SAFETY: as of the launch without clusters, below.
            let status = unsafe { sys::launch_in_clusters(&launch) };
            let status = status.map_err(|why| Error::Driver { doing: doing.clone(), status: why.to_string() })?;
            return if status == 0 { Ok(None) } else { Err(self.failure(&doing, status)) };
        }
        let [grid_x, grid_y, grid_z] = config.grid;
        let [block_x, block_y, block_z] = config.block;
        if config.cooperative {
            // SAFETY: as of the launch below.
            let status = unsafe {
                sys::cuLaunchCooperativeKernel(
                    function,
                    grid_x,
                    grid_y,
                    grid_z,
                    block_x,
                    block_y,
                    block_z,
                    config.dynamic_shared,
                    self.stream.as_inner(),
                    parameters.as_mut_ptr(),
                )
            };
            self.check(&doing, status)?;
            return Ok(None);
        }
        // SAFETY: the function belongs to this GPU's module. `Device` has made sure that there is one argument of the right
        // size for each parameter; the driver only reads them, and has copied them when it returns. What the kernel
        // does with the buffers is between its `# Safety` and the caller of `Device::launch`, and reaches device memory only.
        let status = unsafe {
            sys::cuLaunchKernel(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                config.dynamic_shared,
                self.stream.as_inner(),
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        self.check(&doing, status)?;
        Ok(None)
    }

    fn load_peers(&self, wanted: Wanted<'_>) -> Result<Loaded> {
        self.load_libraries(wanted)
    }

    fn copy_rows(&self, from: u64, to: u64, pitches: [u64; 2], row_bytes: u64, rows: u64) -> Result<()> {
        self.copy_of_rows(from, to, pitches, row_bytes, rows)
    }

    fn start_blas(&self, call: &BlasCall) -> Result<()> {
        self.call_cublas(call)
    }

    fn start_library(&self, call: &LibraryCall, room: Option<(u64, u64)>) -> Result<u64> {
        self.call_library(call, room)
    }

    fn prefer(&self, cache: CacheConfig) -> Result<()> {
        self.make_current()?;
        // SAFETY: the context is current.
        let status = unsafe { sys::cuCtxSetCacheConfig(preference_of(cache)) };
        self.check("setting the context's cache configuration", status)
    }

    fn symbol(&self, name: &str) -> Result<Option<(u64, u64)>> {
        self.make_current()?;
        self.modules.borrow_mut().compiled(&self.image, LoadCaching::Default)?.symbol(name)
    }

    fn write_on_stream(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.make_current()?;
        let doing = "copying to the device on a stream";
        let pinned = self.check_cust(doing, LockedBuffer::from_slice(bytes))?;
        let stream = self.side_stream.as_inner();
        // SAFETY: the bytes are in pinned memory that is kept until the stream has been waited for, and the static that calls is
        // as long as they are.
        let status = unsafe { sys::cuMemcpyHtoDAsync_v2(address, pinned.as_ptr().cast(), bytes.len(), stream) };
        self.check(doing, status)?;
        self.in_flight.borrow_mut().push(pinned);
        let copied = self.check_cust(doing, Event::new(EventFlags::DISABLE_TIMING))?;
        self.check_cust(doing, copied.record(&self.side_stream))?;
        self.check_cust(doing, self.stream.wait_event(copied, StreamWaitEventFlags::DEFAULT))
    }

    fn resident_blocks(&self, kernel: &str, config: &LaunchConfig) -> Result<Option<u32>> {
        self.make_current()?;
        let function = self.configured(kernel, config)?;
        let threads = config.block.iter().product::<u32>();
        let mut blocks = 0;
        // SAFETY: the function belongs to a module of this GPU, which is loaded; the output outlives the call.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                function,
                threads as i32,
                config.dynamic_shared as usize,
            )
        };
        self.check(&format!("querying the occupancy of kernel {kernel}"), status)?;
        Ok(u32::try_from(blocks).ok())
    }

    fn last_report(&self) -> Option<Rc<Report>> {
        None
    }

    fn allocate_array(&self, shape: &ArrayShape) -> Result<u64> {
        self.make_array(shape)
    }

    fn free_array(&self, array: &Array) {
        self.destroy_array(array);
    }

    fn write_array(&self, array: &Array, level: u32, bytes: &[u8]) -> Result<()> {
        self.copy_level(array, level, Some(bytes), &mut [])
    }

    fn read_array(&self, array: &Array, level: u32, bytes: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        self.copy_level(array, level, None, bytes)
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

    fn watch(&self, _progress: Progress) {}

    fn synchronize(&self) -> Result<()> {
        self.make_current()?;
        self.check_cust("waiting for the device", self.stream.synchronize())?;
        // The stream has waited for the copies of the other one.
        self.in_flight.borrow_mut().clear();
        Ok(())
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        self.make_current()?;
        let doing = "timing";
        self.check_cust(doing, self.start.record(&self.stream))?;
        work()?;
        self.check_cust(doing, self.end.record(&self.stream))?;
        self.check_cust(doing, self.end.synchronize())?;
        let time = self.check_cust(doing, self.end.elapsed_time_f32(&self.start))?;
        Ok(Some(f64::from(time)))
    }

    fn clock(&self) -> Option<ClockReading> {
        self.clock.get_or_init(|| ClockSource::of(&self.pci_address)).as_ref()?.read()
    }
}

/// A preference as the driver has it.
fn preference_of(cache: CacheConfig) -> CUfunc_cache {
    match cache {
        CacheConfig::None => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
        CacheConfig::Shared => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
        CacheConfig::L1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
        CacheConfig::Equal => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
    }
}

/// A 2D copy of rows of `row_bytes` bytes, `bytes` in all, from and to nowhere yet. Every field is written out: the struct has
/// which must not be zeroed blindly, because 0 is not a valid kind of memory.
pub(super) fn rows_of(row_bytes: u64, bytes: usize) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: row_bytes as usize,
        Height: bytes / (row_bytes as usize).max(1),
    }
}
