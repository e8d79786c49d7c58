//! What has a handle.

use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_uint};
use std::sync::Arc;

use simt::Program;
use simt::textures::{ArrayHandle, ArrayShape};

use crate::boundary::call::is_per_thread;
use crate::boundary::callbacks::{Behind, HostFunction, Passed};
use crate::jit_options::JitOptions;
use crate::orders::Sums;
use crate::sampling::{Resource, Texture};
use crate::shared_event::SharedEvent;

/// A handle: a number that the caller takes for a pointer.
pub type Handle = usize;

/// Which memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    /// Pinned memory of the host, at the same address on both sides.
    Host,
    /// Managed memory, at the same address on both sides.
    Managed,
    /// Memory of the host that was registered: `usize` is its address there.
    Registered(usize),
    /// Memory of the device that other processes can open.
    Exported,
    /// Another process's memory.
    Imported,
}

impl Kind {
    /// Whether it is mapped at the same address on the host.
    pub fn is_mapped(self) -> bool {
        matches!(self, Self::Host | Self::Managed | Self::Exported | Self::Imported)
    }

    /// Whether host and device share the bytes. Registered memory that does not begin at a word is
    /// copied for each launch.
    pub fn is_shared(self) -> bool {
        self.is_mapped() || matches!(self, Self::Registered(host) if host.is_multiple_of(4))
    }
}

/// A context.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub flags: u32,
    /// Its device.
    pub device: c_int,
}

/// A device's primary context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Primary {
    pub context: Option<Handle>,
    /// How often it was retained.
    pub count: u32,
    pub flags: u32,
}

/// An allocation, under its device address.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub bytes: u64,
    pub kind: Kind,
    /// Its device.
    pub device: c_int,
    /// A number that no other allocation has.
    pub id: u64,
    /// The pool that it is from; 0: none.
    pub pool: Handle,
}

impl Allocation {
    /// The host's address of its first byte, if the host can reach it.
    pub fn on_host(&self, address: u64) -> Option<u64> {
        match self.kind {
            Kind::Device => None,
            Kind::Registered(host) => Some(host as u64),
            _ => Some(address),
        }
    }
}

/// A pool of memory, from which streams allocate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    pub device: c_int,
    /// Bytes allocated, and the most that were.
    pub used: [u64; 2],
    /// Bytes kept, allocated or not, and the most that were.
    pub kept: [u64; 2],
    /// Bytes kept when all are freed.
    pub threshold: u64,
    /// Attributes that change nothing here: what may be used again when.
    pub reuse: [c_int; 3],
}

/// Memory without an address: `CUmemGenericAllocationHandle`.
pub struct Physical {
    pub device: c_int,
    pub memory: simt::Physical,
    /// The caller's. Without one, it ends with its last mapping.
    pub references: u32,
    pub mappings: u32,
}

/// Memory that is mapped, under its address.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub bytes: u64,
    pub memory: Handle,
    /// 0: none; 1: to be read; 3: to be written, too.
    pub access: u32,
}

/// A loaded module, or library: the API has both, here they are one.
pub struct Module {
    pub program: Arc<Program>,
    /// Its text, for records.
    pub ptx: Arc<str>,
    /// The device that was current when it was loaded.
    pub device: c_int,
    /// Bytes of its constants.
    pub constants: u64,
    /// The floats on which it has atomic operations.
    pub sums_open: Sums,
    /// Handles of the functions that were asked for, by name.
    pub functions: HashMap<String, Handle>,
}

/// A kernel: a `CUfunction` or `CUkernel`.
#[derive(Clone)]
pub struct Function {
    pub module: Handle,
    pub program: Arc<Program>,
    /// The module's text.
    pub ptx: Arc<str>,
    pub name: Arc<str>,
    /// The name, with the zero byte of C.
    pub c_name: Arc<CStr>,
    /// `MAX_DYNAMIC_SHARED_SIZE_BYTES`, as set.
    pub dynamic_limit: i32,
    /// `PREFERRED_SHARED_MEMORY_CARVEOUT`, as set.
    pub carveout: i32,
    /// The preference between shared memory and L1, as numbered by the API.
    pub cache: u32,
    /// The floats on which its module has atomic operations, which leave the order of sums open.
    pub sums_open: Sums,
}

/// The default stream that all streams wait for, unless they say otherwise.
pub const LEGACY: Handle = 0;
/// The default stream that is like any other.
pub const PER_THREAD: Handle = 2;

/// A stream's part in a capture.
#[derive(Clone)]
pub struct Part {
    pub capture: u64,
    /// The nodes that its next one comes after.
    pub after: Vec<Handle>,
}

/// A stream.
#[derive(Clone, Default)]
pub struct Stream {
    /// Its context; 0: that which is current.
    pub context: Handle,
    pub flags: u32,
    pub priority: i32,
    /// When its work so far has ended, in microseconds.
    pub clock: f64,
    /// Functions of the host that its next work waits for, besides its own.
    pub behind: Vec<Behind>,
    /// Its part in a capture.
    pub capture: Option<Part>,
    /// A list of nodes that a caller has a pointer to.
    pub shown: Vec<Handle>,
}

impl Stream {
    /// The default streams, which always exist.
    pub fn defaults() -> HashMap<Handle, Self> {
        // The legacy one is no stream that waits for itself.
        HashMap::from([(LEGACY, Self { flags: 1, ..Self::default() }), (PER_THREAD, Self::default())])
    }

    /// The number of the stream that a caller names: the legacy default stream has a handle that is
    /// always its own, 1, and one that is the thread's own default stream in some calls, 0.
    pub fn number(stream: Handle) -> Handle {
        match stream {
            0 if is_per_thread() => PER_THREAD,
            1 => LEGACY,
            _ => stream,
        }
    }

    /// Whether it and the legacy default stream wait for each other.
    pub fn blocks(&self) -> bool {
        self.flags & 1 == 0
    }
}

/// An event.
#[derive(Clone, Default)]
pub struct Event {
    pub context: Handle,
    pub flags: u32,
    /// When what was before it has ended, in microseconds.
    pub at: Option<f64>,
    /// Functions of the host that are before it.
    pub behind: Vec<Behind>,
    /// Its place in a capture.
    pub captured: Option<Part>,
    /// What other processes share of it.
    pub shared: Option<Arc<SharedEvent>>,
}

/// An object of the caller's that graphs refer to.
pub struct UserObject {
    pub references: u32,
    pub data: Passed,
    /// What is called when nobody refers to it any more.
    pub destroy: HostFunction,
}

/// An array.
#[derive(Clone, Copy)]
pub struct Array {
    pub handle: ArrayHandle,
    pub shape: ArrayShape,
    /// The level, of one with levels.
    pub level: u32,
    pub format: u32,
    pub flags: u32,
}

impl Array {
    /// Texels of its level in each dimension; layers count as the third.
    pub fn extents(&self) -> [usize; 3] {
        let ArrayShape { width, height, depth, layers, .. } = self.shape;
        let shrunk = |texels: u32| if texels == 0 { 0 } else { (texels >> self.level.min(31)).max(1) as usize };
        [shrunk(width), shrunk(height), if layers > 0 { layers as usize } else { shrunk(depth) }]
    }
}

/// A texture or surface reference: a variable of a module that the host says the contents of.
pub struct Reference {
    /// The module that it is a variable of, and its name there; `None` for one that was created.
    pub variable: Option<(Handle, String)>,
    pub is_surface: bool,
    /// What it refers to, once the host has said it.
    pub resource: Option<Resource>,
    /// How it is sampled.
    pub texture: Texture,
    /// The format of linear memory, and its channels.
    pub format: (c_uint, c_uint),
    /// Whether the host has said something since it was bound.
    pub changed: bool,
    /// The object that it is bound to.
    pub made: Option<u64>,
}

impl Reference {
    pub fn new(variable: Option<(Handle, String)>, is_surface: bool) -> Self {
        let texture = Texture {
            // Clamped coordinates.
            address_modes: [1; 3],
            filter: 0,
            flags: 0,
            anisotropy: 0,
            level_filter: 0,
            level_bias: 0.0,
            least_level: 0.0,
            greatest_level: 0.0,
            border: [0.0; 4],
        };
        // One float.
        let format = (0x20, 1);
        Self { variable, is_surface, resource: None, texture, format, changed: false, made: None }
    }
}

/// A link under way.
pub struct Link {
    /// The texts.
    pub inputs: Vec<String>,
    pub options: JitOptions,
    /// What has been linked, which the caller has a pointer to.
    pub result: Vec<u8>,
}
