//! What has a handle.

use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::sync::Arc;

use simt::Program;
use simt::textures::{ArrayHandle, ArrayShape};

use crate::boundary::callbacks::{Behind, HostFunction, Passed};
use crate::log::Log;
use crate::orders::Sums;

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

/// A loaded module, or library: the API has both, here they are one.
pub struct Module {
    pub program: Arc<Program>,
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
    pub name: Arc<str>,
    /// The name, with the zero byte of C.
    pub c_name: Arc<CStr>,
    /// `MAX_DYNAMIC_SHARED_SIZE_BYTES`, as set.
    pub dynamic_limit: i32,
    /// `PREFERRED_SHARED_MEMORY_CARVEOUT`, as set.
    pub carveout: i32,
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

    /// A stream's number: the legacy default stream has two.
    pub fn number(stream: Handle) -> Handle {
        if stream == 1 { LEGACY } else { stream }
    }

    /// Whether it and the legacy default stream wait for each other.
    pub fn blocks(&self) -> bool {
        self.flags & 1 == 0
    }
}

/// An event.
#[derive(Clone, Default)]
pub struct Event {
    pub flags: u32,
    /// When what was before it has ended, in microseconds.
    pub at: Option<f64>,
    /// Functions of the host that are before it.
    pub behind: Vec<Behind>,
    /// Its place in a capture.
    pub captured: Option<Part>,
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

/// A link under way.
pub struct Link {
    /// The texts.
    pub inputs: Vec<String>,
    /// Where messages go.
    pub log: Log,
    /// What has been linked, which the caller has a pointer to.
    pub result: Vec<u8>,
}
