//! Launches with attributes, such as clusters, which exist since CUDA 11.8. The bindings are older,
//! so their types are declared here.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;

use cudarc::driver::sys::{CUfunction, CUstream};

use super::{LoadError, function};

/// A launch with attributes.
pub struct AttributedLaunch {
    /// The kernel.
    pub function: CUfunction,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster, for a launch in clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Whether it may begin before the kernel before it in the stream has ended.
    pub may_begin_early: bool,
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared: u32,
    /// The stream to launch in.
    pub stream: CUstream,
    /// A pointer to each argument.
    pub parameters: *mut *mut c_void,
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    dynamic_shared: c_uint,
    stream: CUstream,
    attributes: *mut Attribute,
    attribute_count: c_uint,
}

/// `CUlaunchAttribute`: a value has the size of the longest one, and the alignment of a pointer.
#[repr(C, align(8))]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    value: [u32; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
const COOPERATIVE: c_uint = 2;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
const CLUSTER_DIMENSION: c_uint = 4;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`
const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_uint = 14;
/// The cluster size that every GPU with clusters supports.
const PORTABLE: u32 = 8;

/// Launches a kernel with those attributes that the launch asks for. Returns the driver's status.
///
/// # Errors
///
/// [`LoadError::Incomplete`]: the driver has no attributes of launches.
///
/// # Safety
///
/// As of `cuLaunchKernel`: the function belongs to a loaded module of the current context, the
/// stream to that context, and there is a pointer to an argument of the right size for each of the
/// kernel's parameters. A kernel that may begin early waits for the one before it
/// (`griddepcontrol.wait`) before it accesses what that one accesses.
pub unsafe fn launch_with_attributes(launch: &AttributedLaunch) -> Result<u32, LoadError> {
    let set: unsafe extern "C" fn(CUfunction, c_uint, c_int) -> u32 = function("cuFuncSetAttribute")?;
    let start: unsafe extern "C" fn(*const Config, CUfunction, *mut *mut c_void, *mut *mut c_void) -> u32 =
        function("cuLaunchKernelEx")?;
    let &AttributedLaunch { function, grid, block, dynamic_shared, stream, parameters, .. } = launch;
    let mut attributes = Vec::with_capacity(3);
    let mut ask_for = |id, words: &[u32]| {
        let mut value = [0; 16];
        value[..words.len()].copy_from_slice(words);
        attributes.push(Attribute { id, padding: [0; 4], value });
    };
    if let Some(cluster) = launch.cluster {
        if cluster.iter().fold(1, |blocks: u32, &extent| blocks.saturating_mul(extent)) > PORTABLE {
            // SAFETY: the signature is the driver's, and the caller promises that the function is
            // loaded.
            let status = unsafe { set(function, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) };
            if status != 0 {
                return Ok(status);
            }
        }
        ask_for(CLUSTER_DIMENSION, &cluster);
    }
    if launch.cooperative {
        ask_for(COOPERATIVE, &[1]);
    }
    if launch.may_begin_early {
        ask_for(PROGRAMMATIC_STREAM_SERIALIZATION, &[1]);
    }
    let (attributes, attribute_count) = (attributes.as_mut_ptr(), attributes.len() as c_uint);
    let config = Config { grid, block, dynamic_shared, stream, attributes, attribute_count };
    // SAFETY: the signature and the layouts are the driver's (cuda.h); the configuration and its
    // attributes outlive the call; the rest is the caller's promise.
    Ok(unsafe { start(&config, function, parameters, ptr::null_mut()) })
}
