//! The libraries that programs time beside their kernels on a GPU: cuBLAS, cuSPARSE, and the shared
//! library compiled from `docs/compare/cub.cu`. The backend passes a [`LibraryCall`] here; calls
//! write only the buffers that it names.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;

use super::Gpu;
use super::cublas::Cublas;
use super::cusparse::Cusparse;
use super::rows::DeviceRows;
use super::shared_library::{LibraryStatus, SharedLibrary, functions};
use super::status::DriverError;
use crate::error::{Error, Result};
use crate::peers::{BlasCall, LibraryCall, Loaded, PeerLibraries, SparseCall};

/// The libraries that are loaded.
#[derive(Default)]
pub(super) struct Libraries {
    cublas: Option<Cublas>,
    cusparse: Option<Cusparse>,
    compared: Option<Compared>,
}

type Memory = *mut c_void;

functions! {
    /// The functions of `docs/compare/cub.cu`. Their statuses are CUDA's.
    struct Compared {
        number interface = "coalesce_peer_interface"();
        number cub_version = "coalesce_peer_cub_version"();
        number nvcc_version = "coalesce_peer_nvcc_version"();
        status reduce = "coalesce_peer_reduce"(
            operation: c_int, number: c_int, input: Memory, output: Memory, length: u64,
            storage: Memory, storage_bytes: *mut u64, stream: Memory,
        );
        status row_sums = "coalesce_peer_row_sums"(
            input: Memory, output: Memory, rows: u64, columns: u64, pitch: u64,
            storage: Memory, storage_bytes: *mut u64, stream: Memory,
        );
        status prefix_sums = "coalesce_peer_prefix_sums"(
            input: Memory, output: Memory, length: u64, storage: Memory, storage_bytes: *mut u64, stream: Memory,
        );
        status compact = "coalesce_peer_compact"(
            input: Memory, output: Memory, count: Memory, length: u64,
            storage: Memory, storage_bytes: *mut u64, stream: Memory,
        );
        status copy = "coalesce_peer_copy"(input: Memory, output: Memory, length: u64, stream: Memory);
    }
}

/// The interface of `docs/compare/cub.cu` that this program calls.
const INTERFACE: u32 = 2;

impl Compared {
    fn load(path: &Path) -> Result<Self> {
        // The loader searches for a name without a folder among the system's libraries.
        let place = path.canonicalize().map_err(|problem| Error::file(path, problem.to_string()))?;
        let library = SharedLibrary::open(place).map_err(|why| Error::file(path, format!("does not load: {why}")))?;
        let stale = |why: String| Error::file(path, format!("{why}; compile docs/compare/cub.cu again"));
        // SAFETY: the user names the library, and so promises that it was compiled from
        // `docs/compare/cub.cu`.
        let functions = unsafe { Self::of(&library) }.map_err(|name| stale(format!("lacks the function {name}")))?;
        match functions.interface() {
            INTERFACE => Ok(functions),
            other => {
                Err(stale(format!("has version {other} of the functions, and this program calls version {INTERFACE}")))
            }
        }
    }

    /// CUB and the compiler, with their versions.
    fn names(&self) -> [String; 2] {
        let (cub, nvcc) = (self.cub_version(), self.nvcc_version());
        [
            format!("CUB {}.{}.{}", cub / 100_000, cub / 100 % 1000, cub % 100),
            format!("nvcc {}.{}", nvcc / 1000, nvcc % 1000 / 10),
        ]
    }
}

impl Gpu {
    /// Loads the requested libraries, unless they are loaded already.
    pub(super) fn load_libraries(&self, wanted: PeerLibraries<'_>) -> Result<Loaded> {
        self.make_current()?;
        let mut libraries = self.libraries.borrow_mut();
        if wanted.cublas && libraries.cublas.is_none() {
            libraries.cublas = Cublas::load(self.stream.as_inner(), wanted.cublas_at)?;
        }
        if wanted.cusparse && libraries.cusparse.is_none() {
            libraries.cusparse = Cusparse::load(self.stream.as_inner(), wanted.cusparse_at)?;
        }
        if let Some(path) = wanted.library {
            libraries.compared = Some(Compared::load(path)?);
        }
        let [cub, nvcc] =
            libraries.compared.as_ref().map(Compared::names).map_or([None, None], |names| names.map(Some));
        let cublas = libraries.cublas.as_ref().map(|cublas| cublas.name.clone());
        let cusparse = libraries.cusparse.as_ref().map(|cusparse| cusparse.name.clone());
        Ok(Loaded { cublas, cusparse, cub, nvcc })
    }

    pub(super) fn call_cublas(&self, call: &BlasCall) -> Result<()> {
        self.begin()?;
        match &self.libraries.borrow().cublas {
            // SAFETY: `Peers` has checked that the buffers of the call, which are this GPU's, are
            // as long as it reads and writes.
            Some(cublas) => unsafe { cublas.start(call) },
            None => Err(not_loaded("cuBLAS")),
        }
    }

    pub(super) fn call_cusparse(&self, call: &SparseCall, scratch: Option<u64>) -> Result<u64> {
        self.begin()?;
        match &self.libraries.borrow().cusparse {
            // SAFETY: as above, and `Peers` has allocated the temporary memory for such a call.
            Some(cusparse) => unsafe { cusparse.start(call, scratch) },
            None => Err(not_loaded("cuSPARSE")),
        }
    }

    pub(super) fn call_library(&self, call: &LibraryCall, scratch: Option<(u64, u64)>) -> Result<u64> {
        self.begin()?;
        let libraries = self.libraries.borrow();
        let Some(library) = &libraries.compared else { return Err(not_loaded("the library of reductions")) };
        let stream = self.stream.as_inner().cast();
        let (scratch, mut bytes) = scratch.map_or((ptr::null_mut(), 0), |(address, bytes)| (pointer(address), bytes));
        // SAFETY: `Peers` has checked that the buffers of the call, which are this GPU's, are as
        // long as it reads and writes; the temporary memory has the given size, and the size
        // outlives the call. Without temporary memory nothing is launched.
        let (doing, status) = unsafe {
            match *call {
                LibraryCall::Reduce { operation, number, input, output, length } => {
                    let (operation, number) = (operation as c_int, number as c_int);
                    let (input, output) = (pointer(input), pointer(output));
                    let status = library.reduce(operation, number, input, output, length, scratch, &mut bytes, stream);
                    ("cub::DeviceReduce", status)
                }
                LibraryCall::RowSums { input, output, rows, columns, pitch } => {
                    let (input, output) = (pointer(input), pointer(output));
                    let status = library.row_sums(input, output, rows, columns, pitch, scratch, &mut bytes, stream);
                    ("cub::DeviceSegmentedReduce", status)
                }
                LibraryCall::PrefixSums { input, output, length } => {
                    let (input, output) = (pointer(input), pointer(output));
                    let status = library.prefix_sums(input, output, length, scratch, &mut bytes, stream);
                    ("cub::DeviceScan", status)
                }
                LibraryCall::Compact { input, output, count, length } => {
                    let (input, output, count) = (pointer(input), pointer(output), pointer(count));
                    let status = library.compact(input, output, count, length, scratch, &mut bytes, stream);
                    ("cub::DeviceSelect", status)
                }
                LibraryCall::Copy { input, output, length } => {
                    ("nvcc's copy", library.copy(pointer(input), pointer(output), length, stream))
                }
            }
        };
        self.explain(doing, status.map_err(|LibraryStatus(status)| DriverError::Status(status)))?;
        Ok(bytes)
    }

    pub(super) fn copy_of_rows(&self, from: u64, to: u64, pitches: [u64; 2], row_bytes: u64, rows: u64) -> Result<()> {
        self.begin()?;
        let [from, to] = [(from, pitches[0]), (to, pitches[1])].map(|(address, pitch)| DeviceRows { address, pitch });
        let copy = self.memory.borrow().copy_rows(from, to, row_bytes, rows, &self.stream);
        self.explain("copying rows on the device", copy)
    }

    /// Forgets the last kernel: a fault of what is started now is not that kernel's.
    fn begin(&self) -> Result<()> {
        self.last_kernel.borrow_mut().clear();
        self.make_current()
    }
}

fn pointer(address: u64) -> Memory {
    ptr::without_provenance_mut(address as usize)
}

fn not_loaded(library: &str) -> Error {
    Error::request("libraries", format!("{library} is not loaded"))
}
