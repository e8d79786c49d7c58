//! What has a handle.

use std::collections::HashMap;
use std::sync::Arc;

use simt::Program;
use simt::textures::{ArrayHandle, ArrayShape};

use crate::log::Log;

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
}

/// An allocation, under its device address.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub bytes: u64,
    pub kind: Kind,
    /// A number that no other allocation has.
    pub id: u64,
}

impl Allocation {
    /// The host's address of its first byte, if the host can reach it.
    pub fn on_host(&self, address: u64) -> Option<u64> {
        match self.kind {
            Kind::Device => None,
            Kind::Host | Kind::Managed => Some(address),
            Kind::Registered(host) => Some(host as u64),
        }
    }
}

/// A loaded module, or library: the API has both, here they are one.
pub struct Module {
    pub program: Arc<Program>,
    /// Bytes of its constants.
    pub constants: u64,
    /// Handles of the functions that were asked for, by name.
    pub functions: HashMap<String, Handle>,
}

/// A kernel: a `CUfunction` or `CUkernel`.
#[derive(Clone)]
pub struct Function {
    pub module: Handle,
    pub program: Arc<Program>,
    pub name: String,
    /// The name, with the zero byte of C.
    pub c_name: std::ffi::CString,
    /// `MAX_DYNAMIC_SHARED_SIZE_BYTES`, as set.
    pub dynamic_limit: i32,
    /// `PREFERRED_SHARED_MEMORY_CARVEOUT`, as set.
    pub carveout: i32,
}

/// A stream.
#[derive(Clone, Copy, Default)]
pub struct Stream {
    pub flags: u32,
    pub priority: i32,
}

/// An event.
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub flags: u32,
    /// The device's clock when it was recorded, in microseconds.
    pub at: Option<f64>,
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
