//! The trait that the GPU and the simulator implement. [`super::Device`] and the buffers call it;
//! programs never see it.

use cuda_std::launch::Arguments;
use simt::faults::AllocationSpan;
use simt::orders::{Bounds, Explored, Snapshot};
use simt::tensors::{TENSOR_MAP_BYTES, TensorMap};
use simt::textures::{ArrayShape, Sampling};
use simt::transfers::Outside;
use simt::{Finding, Printed, Report};

use super::array::{Array, TextureSource};
use super::image::Checked;
use super::{CacheConfig, LaunchConfig, Properties};
use crate::clock::ClockReading;
use crate::error::{Error, Result};
use crate::peers::{BlasCall, LibraryCall, Loaded, PeerLibraries, SparseCall};

/// Called during a launch, on any thread, with how much of it is done and of how much.
pub type Watch = Box<dyn Fn(u64, u64) + Send + Sync>;

/// Whether two aligned pairs of words, as they were and as they are, count as the same.
pub type SameWords<'a> = &'a dyn Fn([u32; 2], [u32; 2]) -> bool;

/// A copy between memory outside the device's own and the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The number of the memory outside.
    pub outside: u64,
    /// Its first byte there.
    pub first: u64,
    /// The address on the device.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Whether it goes to the device.
    pub to_device: bool,
    /// The stream: 0 is the one of all other work.
    pub stream: u32,
}

/// A device: a GPU or the simulator. Addresses are device addresses; each comes from an allocation
/// of the same backend.
pub trait Backend {
    /// The device's properties.
    fn properties(&self) -> &Properties;

    /// Bytes that can still be allocated.
    fn available(&self) -> Result<u64>;

    /// Allocates this many bytes, perhaps none, whose contents are undefined. Starts on a multiple
    /// of at least 256 bytes.
    fn allocate(&self, bytes: u64) -> Result<u64>;

    /// Allocates `rows` rows of `row_bytes` bytes each; returns the address and the pitch in bytes.
    fn allocate_pitched(&self, row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)>;

    /// Frees an allocation. Called by destructors, which could do nothing about an error.
    fn free(&self, address: u64);

    /// Copies from the host to the device.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<()>;

    /// Copies from the device to the host, after all launches.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()>;

    /// Which of `count` elements of `element` bytes, one after the other from `address` on, have a
    /// byte that nothing has written; nothing if none has, or if it is not known: only the
    /// simulator knows it, and only if all launches had the check of uninitialised memory.
    fn unwritten(&self, _address: u64, _element: u64, _count: usize) -> Vec<bool> {
        Vec::new()
    }

    /// Sets `length` bytes to `value`.
    fn fill(&self, address: u64, length: u64, value: u8) -> Result<()>;

    /// Copies rows of `row_bytes` bytes, adjacent on the host, to rows that are `pitch` bytes
    /// apart.
    fn write_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &[u8]) -> Result<()>;

    /// Copies rows that are `pitch` bytes apart to rows of `row_bytes` bytes, adjacent on the host.
    fn read_2d(&self, address: u64, pitch: u64, row_bytes: u64, bytes: &mut [u8]) -> Result<()>;

    /// Starts a copy within the device's memory. Work that is started later waits for it.
    fn copy(&self, from: u64, to: u64, length: u64) -> Result<()>;

    /// Starts a kernel. The launch has been checked. The simulator completes it and returns its
    /// report; a GPU completes it by the next [`Backend::synchronize`], which then reports a fault.
    fn launch(&self, kernel: Checked<'_>, config: &LaunchConfig, arguments: &Arguments) -> Result<Option<Report>>;

    /// Runs a kernel in all orders of blocks and warps that may differ, within bounds, until
    /// `differs` says that one gives another result. It is called with the fault of an order, if it
    /// has one.
    fn explore(
        &self,
        _: Checked<'_>,
        _: &LaunchConfig,
        _: &Arguments,
        _: &Bounds,
        _: &mut dyn FnMut(Option<&str>) -> bool,
    ) -> Result<Explored> {
        Err(Error::request("exploring orders", "only the simulator can"))
    }

    /// Copies all memory that kernels can write. A GPU has no such copy.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// [`simt::Memory::first_difference`].
    fn first_difference(&self, _: &Snapshot, _: SameWords<'_>) -> Option<(AllocationSpan, u64)> {
        None
    }

    /// Sets the preference of launches without their own.
    fn prefer(&self, cache: CacheConfig) -> Result<()>;

    /// Makes lines ordinary that kernels asked level 2 to keep. The simulator's caches have no
    /// priorities.
    fn reset_l2_priorities(&self) -> Result<()> {
        Ok(())
    }

    /// The address and size of the kernels' static of this name, if the PTX has it.
    fn symbol(&self, name: &str) -> Result<Option<(u64, u64)>>;

    /// Starts a copy from the host on a second stream. It waits for what was started before, and
    /// launches that are started later wait for it.
    fn write_on_stream(&self, address: u64, bytes: &[u8]) -> Result<()>;

    /// Whether there is a second GPU whose memory this one reaches.
    fn has_peer(&self) -> bool;

    /// Allocates memory outside the device's own; returns its number.
    fn allocate_outside(&self, kind: Outside, bytes: u64) -> Result<u64>;

    /// Frees it, after all copies. Like [`Backend::free`], it cannot fail.
    fn free_outside(&self, number: u64);

    /// Writes it from its begin on, after all copies.
    fn write_outside(&self, number: u64, bytes: &[u8]) -> Result<()>;

    /// Reads it from its begin on, after all copies.
    fn read_outside(&self, number: u64, bytes: &mut [u8]) -> Result<()>;

    /// The address at which kernels reach it.
    fn outside_address(&self, number: u64) -> Result<u64>;

    /// Starts a copy, whose ranges have been checked.
    fn start_transfer(&self, transfer: &Transfer) -> Result<()>;

    /// Starts moving managed memory to the device, or to the host.
    fn prefetch(&self, number: u64, to_device: bool) -> Result<()>;

    /// Lets the streams 1 to `streams` begin, after what was started before.
    fn fork(&self, streams: u32) -> Result<()>;

    /// Work that is started later waits for these streams.
    fn join(&self, streams: u32) -> Result<()>;

    /// How many blocks of such a launch are resident at once on a multiprocessor. `None` on the
    /// simulator.
    fn resident_blocks(&self, kernel: &str, config: &LaunchConfig) -> Result<Option<u32>>;

    /// What kernels have allocated and not freed. A GPU does not report it.
    fn leaks(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Loads the libraries to compare with. Only a GPU runs them.
    fn load_peers(&self, _wanted: PeerLibraries<'_>) -> Result<Loaded> {
        Err(only_on_a_gpu())
    }

    /// Starts the driver's copy of rows of `row_bytes` bytes within the device's memory. `pitches`
    /// are the source's and the target's.
    fn copy_rows(&self, _from: u64, _to: u64, _pitches: [u64; 2], _row_bytes: u64, _rows: u64) -> Result<()> {
        Err(only_on_a_gpu())
    }

    /// Starts a call of cuBLAS, which is loaded. The addresses and pitches have been checked.
    fn start_blas(&self, _call: &BlasCall) -> Result<()> {
        Err(only_on_a_gpu())
    }

    /// Starts a call of cuSPARSE, which is loaded, with temporary memory at this address. Without,
    /// nothing is started; the result is how many bytes it needs.
    fn start_sparse(&self, _call: &SparseCall, _scratch: Option<u64>) -> Result<u64> {
        Err(only_on_a_gpu())
    }

    /// Starts a call of the library of [`PeerLibraries::library`], which is loaded, with temporary
    /// memory of this address and size. Without temporary memory, a reduction is not started; the
    /// result is how many bytes it needs.
    fn start_library(&self, _call: &LibraryCall, _scratch: Option<(u64, u64)>) -> Result<u64> {
        Err(only_on_a_gpu())
    }

    /// Allocates an array, whose shape has been checked.
    fn allocate_array(&self, shape: &ArrayShape) -> Result<u64>;

    /// Frees an array. Like [`Backend::free`], it cannot fail.
    fn free_array(&self, array: &Array);

    /// Copies a level, whose size the bytes have, from the host to the device.
    fn write_array(&self, array: &Array, level: u32, bytes: &[u8]) -> Result<()>;

    /// Copies a level, whose size the bytes have, from the device to the host, after all launches.
    fn read_array(&self, array: &Array, level: u32, bytes: &mut [u8]) -> Result<()>;

    /// Makes a texture object.
    fn create_texture(&self, source: &TextureSource<'_>, sampling: &Sampling) -> Result<u64>;

    /// Destroys a texture object.
    fn destroy_texture(&self, handle: u64);

    /// Makes a surface object.
    fn create_surface(&self, array: &Array) -> Result<u64>;

    /// Destroys a surface object.
    fn destroy_surface(&self, handle: u64);

    /// The bytes that a kernel takes for a tensor. The map has been checked.
    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES]>;

    /// What the kernels have printed since the last call. `None` on a GPU, whose driver writes it
    /// to the standard output at the next [`Backend::synchronize`].
    fn take_printed(&self) -> Option<Printed>;

    /// What to call during long launches from now on. Only the simulator's are long.
    fn watch(&self, watch: Option<Watch>);

    /// Waits for everything that was started.
    fn synchronize(&self) -> Result<()>;

    /// The time in milliseconds on the device's own clock from before the first thing that `work`
    /// starts until after the last. `None` on the simulator, which has no clock and does not call
    /// `work`.
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>>;

    /// The clock of the multiprocessors now, without waiting for anything. `None` if it cannot be
    /// read.
    fn clock(&self) -> Option<ClockReading> {
        None
    }
}

/// The error for a library on the simulator.
fn only_on_a_gpu() -> Error {
    Error::request("libraries", "they run on a GPU only")
}
