//! Devices: an NVIDIA GPU or the simulator, behind one interface, and what programs that use them
//! share: errors, limits, random data, files written whole.
//!
//! [`open`] returns a [`Device`], which allocates [`Buffer`]s and [`PitchedBuffer`]s, launches
//! kernels by their typed handles, and times them on its own clock. Addresses are `u64` on both
//! kinds of device, so a kernel's arguments have one layout.
//!
//! | module | contents |
//! | --- | --- |
//! | `buffer`, `matrix`, `array`, `texture`, `tensor`, `symbol` | memory of a device, and what kernels read it through |
//! | `launch`, `arguments`, `image`, `built_in` | a launch's configuration and arguments; the PTX that has the kernels |
//! | `backend` | the trait of both devices: `gpu` over the driver, `simulator` over [`simt`] |
//! | [`peers`], [`ClockReading`] | NVIDIA's libraries on the same buffers; the clock while they run |
//! | [`error`], [`limits`], [`memory`] | errors of one line; limits of a run; how much memory the host has |
//! | [`flag_values`], [`names`], [`signals`] | values of flags, demangled names, Ctrl-C |
//! | [`random`], [`input_file`], [`output_file`] | data: random numbers, texts from files and pipes, files written whole |
//! | `given` | in WebAssembly, where there are no files: the texts that a page gives |
//!
//! ```
//! use device::{DeviceChoice, LaunchConfig, Options, open};
//!
//! # fn main() -> Result<(), device::Error> {
//! let device = open(DeviceChoice::Simulator, &Options::default())?;
//! let mut a = device.buffer::<f32>(100)?;
//! a.write(&[1.5; 100])?;
//! let mut c = device.buffer::<f32>(100)?;
//! c.poison()?;
//! // c[i] = a[i] + a[i]
//! let launch = LaunchConfig::linear(100, 64);
//! device.launch(&kernels::offset::offset_read, &launch, (&a, &a, &mut c, 0))?;
//! device.synchronize()?;
//! assert_eq!(c.read()?, [3.0; 100]);
//! # Ok(())
//! # }
//! ```
//!
//! *Invariant:* only the folder `gpu` calls the driver, and only after `cust_raw::load()` has
//! succeeded. Without the feature `gpu` there is no such folder, no driver, and the simulator
//! alone; then the crate compiles for WebAssembly, too.

// What a GPU takes of the modules that both devices share has no user then.
#![cfg_attr(not(feature = "gpu"), allow(dead_code))]

mod arguments;
mod array;
mod backend;
mod buffer;
mod built_in;
mod choice;
mod clock;
pub mod error;
pub mod flag_values;
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
pub mod output_file;
pub mod peers;
mod properties;
mod ptx_file;
pub mod random;
#[cfg(not(target_family = "wasm"))]
pub mod signals;
mod signature;
mod simulator;
mod symbol;
mod tensor;
mod texture;

use std::cell::Cell;
use std::rc::Rc;

use bytemuck::Pod;
use cuda_std::launch::{ArgumentList, Arguments, Kernel, LaunchShape, SafeKernel};

pub use array::{Array, TextureSource};
pub use backend::{Watch, only_on_a_gpu};
pub use buffer::{Buffer, POISON, PitchedBuffer, Tail, View, ViewMut};
pub use built_in::built_in_kernels;
pub use choice::DeviceChoice;
pub use choice::models as models_named;
pub use clock::{ClockReading, Throttle};
pub use error::{Error, Result};
pub use launch::{CacheConfig, GpuOccupancy, LaunchConfig, Predict};
pub use matrix::Matrix;
pub use on_device::OnDevice;
use on_device::Owner;
pub use open::{all, models, open};
pub use options::{Options, PTX_VARIABLE};
pub use properties::{ComputeCapability, Kind, Properties};
pub use ptx_file::PtxFile;
pub use simt::{
    AddressMode, ArrayShape, ChannelType, Counters, Filter, LoadCaching, Model, ReadMode, Report, Sampling, Swizzle,
    TensorElement, TensorMap, TexelFormat,
};
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
    /// Notes on the choice of the device, shown once.
    notes: Rc<Cell<Vec<String>>>,
    options: Options,
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

    /// The GPU whose times the simulator predicts: the model's, or an H200's without a model. `None`
    /// on a GPU.
    pub fn predicted_model(&self) -> Option<&'static Model> {
        match self.properties().is_gpu() {
            true => None,
            false => {
                self.properties().simulates.map_or(self.options.predicted, Model::named).or_else(simulator::predicted)
            }
        }
    }

    /// From now on, nobody reads what kernels compute on the simulator, only how long they take: memory
    /// is not filled with patterns. For all clones of this device.
    pub fn predict_only(&self) {
        self.backend.predict_only();
    }

    /// Whether [`Device::predict_only`] was called.
    pub fn predicts_only(&self) -> bool {
        self.backend.predicts_only()
    }

    /// Notes for the user: why the simulator was chosen, or that the kernels' PTX is stale. The
    /// first call returns them and later ones nothing, so each is shown once however many labs run.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.take()
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
                limit: self.limits().memory_flag().filter(|_| !self.properties().is_gpu()),
            });
        }
        Ok(())
    }

    /// Fails unless the device has room for one buffer of `needed` bytes, for `what`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], also for a size beyond the largest buffer.
    pub fn check_buffer(&self, what: &str, needed: u64) -> Result<()> {
        match self.backend.largest_allocation() {
            Some(largest) if needed > largest => Err(Error::OutOfMemory {
                what: what.to_owned(),
                place: format!("one buffer of the {}", self.properties().name),
                needed,
                available: largest,
                limit: None,
            }),
            _ => self.check_room(what, needed),
        }
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

    /// Checks the arguments and launches.
    fn start(&self, kernel: &str, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Report>> {
        let owners: Vec<_> = arguments.owners().iter().map(|&device| Owner(device)).collect();
        self.owner().require(&format!("kernel {}", names::shown(kernel)), &owners)?;
        let kernel = self.loaded.check(kernel, arguments)?;
        self.backend.launch(kernel, config, arguments)
    }

    /// Copies the first `bytes` bytes of one buffer to another on the device; on a GPU this only
    /// starts the copy. The labs compare their bandwidth with that of this copy.
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

    /// Loads the requested libraries that are installed, to time them beside kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] on the simulator, and [`Error::File`] for a library that cannot be used.
    pub fn peers(&self, wanted: PeerLibraries<'_>) -> Result<Peers> {
        Peers::load(&self.backend, wanted)
    }

    /// What kernels have allocated with `malloc` and not freed: findings, unless a later kernel
    /// frees it. Empty on a GPU.
    pub fn leaks(&self) -> Vec<simt::Finding> {
        self.backend.leaks()
    }

    /// What kernels have printed (`printf`) since the last call, up to
    /// [`simt::DEFAULT_OUTPUT_LIMIT`] bytes. `None` on a GPU, whose driver writes to the program's
    /// standard output when the host synchronises.
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
