//! Devices: an NVIDIA GPU or a simulator, behind one interface.
//!
//! [`open`] returns a [`Device`], which allocates [`Buffer`]s and [`PitchedBuffer`]s, launches
//! kernels by their typed handles, and times them on its own clock. The simulator runs the same PTX
//! as a GPU, counts what a GPU's hardware counts, and finds faults. Addresses are `u64` on both
//! kinds of device, so a kernel's arguments have one layout.
//!
//! ```
//! use cuda_std::launch::PtxImage;
//! use cuda_std::{DisjointSlice, kernel};
//! use device::{DeviceChoice, LaunchConfig, Options, Require, open};
//! use simt::Checks;
//!
//! /// Doubles each element. On the host, `double` is a typed handle.
//! #[kernel(linear)]
//! pub fn double(mut x: DisjointSlice<f32>) {
//!     if let Some(x) = x.get_mut(cuda_std::thread::linear_index()) {
//!         *x *= 2.0;
//!     }
//! }
//!
//! // The PTX that `cuda_builder` makes of it, usually by `include_str!` of a file.
//! static PTX: &[PtxImage] = &[PtxImage { arch: "sm_75", text: DOUBLE }];
//! # const DOUBLE: &str = "
//! # .version 6.3
//! # .target sm_75
//! # .address_size 64
//! # .visible .entry double( // coalesce: safe linear | x: DisjointSlice<f32> 4/4
//! #     .param .u64 double_param_0,
//! #     .param .u64 double_param_1
//! # )
//! # {
//! #     .reg .pred %p<2>;
//! #     .reg .b32 %r<6>;
//! #     .reg .b64 %rd<7>;
//! #     ld.param.u64 %rd1, [double_param_0];
//! #     ld.param.u64 %rd2, [double_param_1];
//! #     cvta.to.global.u64 %rd3, %rd1;
//! #     mov.u32 %r1, %ctaid.x;
//! #     mov.u32 %r2, %ntid.x;
//! #     mov.u32 %r3, %tid.x;
//! #     mad.lo.u32 %r4, %r1, %r2, %r3;
//! #     cvt.u64.u32 %rd4, %r4;
//! #     setp.ge.u64 %p1, %rd4, %rd2;
//! #     @%p1 bra $end;
//! #     shl.b64 %rd5, %rd4, 2;
//! #     add.s64 %rd6, %rd3, %rd5;
//! #     ld.global.b32 %r5, [%rd6];
//! #     add.rn.f32 %r5, %r5, %r5;
//! #     st.global.b32 [%rd6], %r5;
//! # $end:
//! #     ret;
//! # }
//! # ";
//!
//! fn main() -> Result<(), device::Error> {
//!     let device = open(DeviceChoice::Simulator, &Options::of(PTX))?;
//!     let mut x = device.buffer::<f32>(100)?;
//!     x.write(&[1.5; 100])?;
//!
//!     let launch = LaunchConfig { checks: Checks::ALL, ..LaunchConfig::linear(100, 64) };
//!     let report = device.launch(&double, &launch, (&mut x,))?;
//!     assert_eq!(x.read()?, [3.0; 100]);
//!
//!     // On a GPU there is no report.
//!     let report = report.expect("the simulator counts");
//!     assert!(report.findings().is_empty());
//!     // 100 floats lie in 13 sectors of 32 bytes.
//!     assert_eq!(report.counters().global.load.sectors, 13);
//!     // The same as a goal: an error has the value, and the line that contributes most.
//!     report.require("loads.sectors == 13")?;
//!     report.require("loads.sectors <= 1.05 * ceil(loads.bytes / 32)")?;
//!     let missed = report.require("loads.sectors_per_request <= 3").unwrap_err();
//!     assert_eq!(missed.to_string(), "loads.sectors_per_request <= 3: 3.25; PTX:25 has 3.25");
//!     Ok(())
//! }
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `buffer`, `matrix`, `array`, `texture`, `tensor`, `symbol` | memory of a device, and what kernels read it through |
//! | `outside` | memory of the host and of another GPU, and copies on streams |
//! | `launch`, `arguments`, `image` | a launch's configuration and arguments; the PTX that has the kernels |
//! | `backend` | the trait of both devices: `gpu` over the driver, `simulator` over [`simt`] |
//! | [`peers`], [`ClockReading`] | NVIDIA's libraries on the same buffers; the clock while they run |
//! | [`error`], [`limits`], [`memory`] | errors of one line; limits of a run; how much memory the host has |
//! | [`names`], [`input_file`] | demangled names; texts from files and pipes |
//! | `given` | in WebAssembly, where there are no files: the texts that a page gives |
//!
//! *Invariant:* only the folder `gpu` calls the driver, and only after `cust_raw::load()` has
//! succeeded. Without the feature `gpu` there is no such folder, no driver, and the simulator
//! alone; then the crate compiles for WebAssembly, too.

// Without `gpu`, GPU-only helpers in shared modules are unused.
#![cfg_attr(not(feature = "gpu"), allow(dead_code))]

mod advice;
mod arguments;
mod array;
mod backend;
mod buffer;
mod choice;
mod clock;
pub mod error;
#[cfg(target_family = "wasm")]
pub mod given;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod gpu;
mod image;
pub mod input_file;
mod launch;
pub mod limits;
mod matrix;
pub mod memory;
pub mod names;
mod on_device;
mod open;
mod options;
mod outside;
pub mod peers;
mod properties;
mod ptx_file;
mod signature;
mod simulator;
mod symbol;
mod tensor;
mod texture;

use std::rc::Rc;

use bytemuck::Pod;
use cuda_std::launch::{ArgumentList, Arguments, Kernel, LaunchShape, SafeKernel};

pub use advice::Advice;
pub use array::{Array, TextureSource};
pub use backend::Watch;
pub use buffer::{Buffer, POISON, PitchedBuffer, Tail, View, ViewMut};
pub use choice::DeviceChoice;
pub use choice::models as models_named;
pub use clock::{ClockReading, Throttle};
pub use error::{Error, Result};
pub use goals::{Missed, Require};
pub use launch::{CacheConfig, GpuOccupancy, LaunchConfig, Predict};
pub use matrix::Matrix;
pub use on_device::OnDevice;
use on_device::Owner;
pub use open::{all, models, open};
pub use options::Options;
pub use outside::{Outside, OutsideBuffer};
pub use properties::{ComputeCapability, Kind, Properties};
pub use ptx_file::PtxFile;
pub use simt::models::AccessWindow;
pub use simt::tensors::{Swizzle, TensorElement, TensorMap};
pub use simt::textures::{AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat};
pub use simt::{Counters, LoadCaching, Model, Report};
pub use symbol::{Variable, VariableBytes};
pub use texture::{OwnedSurface, OwnedTexture, Surface, Texture};

pub(crate) use backend::Backend;

use limits::Limits;
use peers::{PeerLibraries, Peers};

/// A device with the kernels loaded. Clones refer to the same device.
///
/// A GPU works in order and asynchronously to the host: see [`Device::synchronize`].
#[derive(Clone)]
pub struct Device {
    backend: Rc<dyn Backend>,
    loaded: Rc<image::Loaded>,
    /// Why it is the simulator, if a GPU was tried first.
    fallback: Option<Rc<Error>>,
    options: Options,
    /// Which simulator this is, if it is one.
    choice: DeviceChoice,
    /// The multiprocessors to shape launches for, if not the device's own.
    shaped_for: Option<u32>,
}

/// The multiprocessors of an H200. Launches on the simulator without a model are shaped for these.
const MULTIPROCESSORS_OF_AN_H200: u32 = 132;

impl Device {
    /// The device's properties.
    pub fn properties(&self) -> &Properties {
        self.backend.properties()
    }

    /// How many multiprocessors a launch is shaped for: those that [`Device::shaped_for`] sets,
    /// else the device's own, else an H200's. Whatever depends on the number asks here, so that
    /// launches on a GPU and on the simulator can be made the same.
    pub fn multiprocessors(&self) -> u32 {
        self.shaped_for.or(self.properties().multiprocessors).unwrap_or(MULTIPROCESSORS_OF_AN_H200)
    }

    /// This device, with launches shaped for so many multiprocessors; for its own if `None`.
    pub fn shaped_for(&self, multiprocessors: Option<u32>) -> Self {
        Self { shaped_for: multiprocessors, ..self.clone() }
    }

    /// The GPU whose times the simulator predicts: the model's, or an H200's without a model.
    /// `None` on a GPU.
    pub fn predicted_model(&self) -> Option<&'static Model> {
        match self.properties().is_gpu() {
            true => None,
            false => {
                self.properties().simulates.map_or(self.options.predicted, Model::named).or_else(simulator::predicted)
            }
        }
    }

    /// Whether this is the simulator and nobody reads what kernels compute on it:
    /// [`Options::predict_only`].
    pub fn predicts_only(&self) -> bool {
        self.options.predict_only && !self.properties().is_gpu()
    }

    /// Why [`DeviceChoice::Auto`] opened the simulator: what is wrong with the first GPU. `None` if
    /// the simulator was asked for, and on a GPU.
    pub fn fallback(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// The options with which it was opened.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Bytes that can still be allocated on the device.
    pub fn available(&self) -> Result<u64> {
        self.backend.available()
    }

    /// Fails unless the device has `needed` more bytes for `what`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn check_room(&self, what: &str, needed: u64) -> Result<()> {
        let available = self.available()?;
        if available < needed {
            return Err(Error::OutOfMemory {
                what: what.to_owned(),
                place: format!("device {}", self.properties().name),
                needed,
                available,
                limit: match self.properties().is_gpu() {
                    true => String::new(),
                    false => self.options.advice.memory_note(self.limits().memory_limit),
                },
            });
        }
        Ok(())
    }

    /// The limits of a run on this device.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Allocates `length` elements whose contents are undefined.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] when the device has less.
    pub fn buffer<T: Pod>(&self, length: usize) -> Result<Buffer<T>> {
        Buffer::new(&self.backend, length)
    }

    /// Allocates `rows` x `columns` elements whose contents are undefined, with the device's
    /// preferred pitch.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] when the device has less, [`Error::Pitch`] for elements whose size
    /// does not divide the pitch.
    pub fn pitched_buffer<T: Pod>(&self, rows: usize, columns: usize) -> Result<PitchedBuffer<T>> {
        PitchedBuffer::new(&self.backend, rows, columns)
    }

    /// Allocates a `rows` x `columns` matrix whose contents are undefined, pitched or linear.
    ///
    /// # Errors
    ///
    /// As [`Device::pitched_buffer`].
    pub fn matrix<T: Pod>(&self, rows: usize, columns: usize, pitched: bool) -> Result<Matrix<T>> {
        Ok(match pitched {
            true => Matrix::Pitched(self.pitched_buffer(rows, columns)?),
            false => Matrix::Linear { buffer: self.buffer(rows.saturating_mul(columns))?, columns },
        })
    }

    /// This simulator, opened anew with [`Options::predict_only`]; this device, if it has that
    /// option already or is a GPU.
    ///
    /// # Errors
    ///
    /// Those of [`open`].
    pub fn predicting_only(&self) -> Result<Self> {
        if self.options.predict_only || self.properties().is_gpu() {
            return Ok(self.clone());
        }
        let options = Options { predict_only: true, ..self.options.clone() };
        let anew = open(self.choice, &options)?;
        Ok(Self { fallback: self.fallback.clone(), shaped_for: self.shaped_for, ..anew })
    }

    /// A simulator with the same kernels and shapes of launches as this device: this device, if it
    /// is the simulator. It predicts times of the model that is most like this GPU.
    pub fn simulator(&self) -> Result<Self> {
        match self.properties().kind {
            Kind::Simulator => Ok(self.clone()),
            Kind::Gpu => {
                let options = Options { predicted: self.properties().nearest_model(), ..self.options.clone() };
                let simulator = open(DeviceChoice::Simulator, &options)?;
                Ok(simulator.shaped_for(Some(self.multiprocessors())))
            }
        }
    }

    /// The simulator with this model of a GPU and the same kernels as this device.
    ///
    /// # Errors
    ///
    /// Those of [`open`].
    pub fn as_model(&self, model: &'static Model, caching: LoadCaching) -> Result<Self> {
        Ok(open(DeviceChoice::Model(model, caching), &self.options)?.shaped_for(self.shaped_for))
    }

    /// Launches a kernel that is a safe function. The simulator runs it to its end and reports its
    /// counts and findings; a GPU only starts it.
    ///
    /// The arguments are a tuple with one host value for each of the kernel's parameters; wrong
    /// types do not compile, nor a buffer that is an input and an output, or an output twice.
    ///
    /// # Errors
    ///
    /// [`Error::Launch`] when the configuration is not one that the kernel declares, or beyond the
    /// device's limits, or when the PTX takes a parameter for another type than the host, or does
    /// not say for which (see [`PtxFile::trusted`]); [`Error::OtherDevice`]; [`Error::Fault`] when
    /// the kernel misbehaves.
    pub fn launch<P, A: ArgumentList<P>>(
        &self,
        kernel: &SafeKernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<Option<Report>> {
        config.check_positions(kernel.name(), kernel.shape())?;
        self.loaded.check_has_signature(kernel.name())?;
        // SAFETY: the kernel is safe in every launch of the shape that it declares, which is
        // checked, if its threads' positions differ, which was checked here. The PTX has a
        // signature, which is compared: it is the kernel of this handle.
        unsafe { self.launch_unchecked(kernel, config, arguments) }
    }

    /// As [`Device::launch`], for a kernel that requires more than its types say.
    ///
    /// # Safety
    ///
    /// The launch keeps what the kernel's `# Safety` asks for. If the PTX has no signature of the
    /// kernel, its parameters are what the handle says. Where this is not so, the simulator reports
    /// [`Error::Fault`]; on a GPU any memory of the device may be read or written.
    ///
    /// # Errors
    ///
    /// As [`Device::launch`].
    pub unsafe fn launch_unchecked<P, A: ArgumentList<P>>(
        &self,
        kernel: &Kernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<Option<Report>> {
        config.check(kernel.name(), kernel.shape(), self.properties())?;
        let mut bytes = Arguments::new();
        arguments.push_all(&mut bytes);
        self.loaded.check_signature(kernel.name(), kernel.signature())?;
        self.start(kernel.name(), config, &bytes)
    }

    /// As [`Device::launch_unchecked`], for a kernel without a typed handle, from a PTX file that
    /// was not compiled from `kernels`. The arguments' number and sizes are checked against the
    /// PTX.
    ///
    /// # Safety
    ///
    /// As for [`Device::launch_unchecked`]; addresses are where the kernel expects them.
    ///
    /// # Errors
    ///
    /// As [`Device::launch`], and [`Error::Launch`] for arguments that do not fit.
    pub unsafe fn launch_untyped(
        &self,
        kernel: &str,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<Option<Report>> {
        config.check(kernel, LaunchShape::default(), self.properties())?;
        self.start(kernel, config, arguments)
    }

    /// Sets the preference between L1 cache and shared memory for launches without their own
    /// (`cuCtxSetCacheConfig`).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn prefer(&self, cache: CacheConfig) -> Result<()> {
        self.backend.prefer(cache)
    }

    /// Makes lines ordinary that kernels asked the level-2 cache to keep (`evict_last`); else they
    /// survive a flush (`cuCtxResetPersistingL2Cache`). Does nothing where there are no such lines:
    /// on the simulator, and on GPUs before compute capability 8.0.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn reset_l2_priorities(&self) -> Result<()> {
        self.backend.reset_l2_priorities()
    }

    /// How much of such a launch is resident at once on a multiprocessor of the GPU. `None` on the
    /// simulator, whose models report it with their counters.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn occupancy<P>(&self, kernel: &Kernel<P>, config: &LaunchConfig) -> Result<Option<GpuOccupancy>> {
        let Some(blocks) = self.backend.resident_blocks(kernel.name(), config)? else { return Ok(None) };
        let threads = config.block.iter().product::<u32>().next_multiple_of(32);
        let most = self.properties().max_threads_per_multiprocessor.unwrap_or(0).max(1);
        Ok(Some(GpuOccupancy { blocks, percent: f64::from(blocks * threads) * 100.0 / f64::from(most) }))
    }

    /// The identity of the device.
    fn owner(&self) -> Owner {
        Owner::of(&self.backend)
    }

    /// Runs a kernel on the simulator in all orders of blocks and warps that may differ, within
    /// bounds: [`simt::Program::explore`]. `differs` is called after each, with its fault, if it
    /// has one, while memory is as it left it. Memory is then as before.
    ///
    /// # Errors
    ///
    /// As [`Device::launch_untyped`]; on a GPU, and for launches that cannot be explored.
    pub fn explore_untyped(
        &self,
        kernel: &str,
        config: &LaunchConfig,
        arguments: &Arguments,
        bounds: &simt::orders::Bounds,
        differs: &mut dyn FnMut(Option<&str>) -> bool,
    ) -> Result<simt::orders::Explored> {
        config.check(kernel, LaunchShape::default(), self.properties())?;
        let kernel = self.checked(kernel, arguments)?;
        self.backend.explore(kernel, config, arguments, bounds, differs)
    }

    /// Copies all of the simulator's memory that kernels can write, if the host has room; `None` on a
    /// GPU.
    pub fn snapshot(&self) -> Option<simt::orders::Snapshot> {
        self.backend.snapshot()
    }

    /// The allocation and the address of the first word that differs between this simulator and an
    /// earlier copy of it, or of one with the same allocations. `same` gets an aligned pair of words
    /// that differ, as they were and as they are, and says whether they still count as equal.
    pub fn first_difference(
        &self,
        before: &simt::orders::Snapshot,
        same: &dyn Fn([u32; 2], [u32; 2]) -> bool,
    ) -> Option<(simt::faults::AllocationSpan, u64)> {
        self.backend.first_difference(before, same)
    }

    /// Checks the arguments and launches.
    fn start(&self, kernel: &str, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Report>> {
        let kernel = self.checked(kernel, arguments)?;
        self.backend.launch(kernel, config, arguments)
    }

    fn checked<'k>(&self, kernel: &'k str, arguments: &Arguments) -> Result<image::Checked<'k>> {
        let owners: Vec<_> = arguments.owners().iter().map(|&device| Owner(device)).collect();
        self.owner().require(&format!("kernel {}", names::shown(kernel)), &owners)?;
        self.loaded.check(kernel, arguments)
    }

    /// Copies the first `bytes` bytes of one buffer to another on the device; on a GPU this only
    /// starts the copy.
    ///
    /// # Panics
    ///
    /// When a buffer is shorter: an error of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`].
    pub fn copy(&self, from: &impl OnDevice, to: &mut impl OnDevice, bytes: u64) -> Result<()> {
        assert!(bytes <= from.bytes() && bytes <= to.bytes());
        self.owner().require("a copy", &[from.owner(), to.owner()])?;
        self.backend.copy(from.address(), to.address(), bytes)
    }

    /// Whether there is a second GPU whose memory this one reaches; on the simulator, whether the GPU
    /// whose times are predicted has such a link.
    pub fn has_peer(&self) -> bool {
        self.backend.has_peer()
    }

    /// Allocates `length` elements outside the device's own memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::Request`] without a second GPU.
    pub fn outside<T: Pod>(&self, kind: Outside, length: usize) -> Result<OutsideBuffer<T>> {
        OutsideBuffer::new(&self.backend, kind, length)
    }

    /// Lets the streams 1 to `streams` begin, after what was started before.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn fork(&self, streams: u32) -> Result<()> {
        self.backend.fork(streams)
    }

    /// Work that is started later waits for the streams 1 to `streams`.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn join(&self, streams: u32) -> Result<()> {
        self.backend.join(streams)
    }

    /// Loads the requested libraries that are installed, to time them beside kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] on the simulator, and [`Error::File`] for a library that cannot be used.
    pub fn peers(&self, wanted: PeerLibraries<'_>) -> Result<Peers> {
        Peers::load(&self.backend, wanted)
    }

    /// What kernels have allocated with `malloc` and not freed: findings, unless a later kernel
    /// frees it. Empty on a GPU.
    pub fn leaks(&self) -> Vec<simt::Finding> {
        self.backend.leaks()
    }

    /// What kernels have printed (`printf`) since the last call, up to
    /// [`simt::limits::DEFAULT_OUTPUT_LIMIT`] bytes. `None` on a GPU, whose driver writes to the
    /// program's standard output when the host synchronises.
    pub fn take_printed(&self) -> Option<simt::Printed> {
        self.backend.take_printed()
    }

    /// Calls `watch` during long launches from now on.
    pub fn watch(&self, watch: Option<Watch>) {
        self.backend.watch(watch);
    }

    /// Waits for everything that was started.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`] when a kernel misbehaved. A GPU cannot be used any more after that.
    pub fn synchronize(&self) -> Result<()> {
        self.backend.synchronize()
    }

    /// Runs `work` and returns the time on the device's clock, in milliseconds, from before the
    /// first thing that it starts until after the last. `None` on the simulator, where `work` does
    /// not run.
    pub fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        self.backend.time(work)
    }

    /// The clock of the multiprocessors now; it does not wait for running work. `None` on the
    /// simulator and without NVIDIA's management library.
    pub fn clock(&self) -> Option<ClockReading> {
        self.backend.clock()
    }
}

#[cfg(test)]
mod tests;
