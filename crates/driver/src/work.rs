//! What streams do: each call that enqueues something makes a [`Work`], which is done, or becomes a
//! node of a graph.

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::thread::ThreadId;

use crate::boundary::callbacks::{HostFunction, Passed, StreamCallback};
use crate::objects::{Function, Handle};
use crate::record::Shape;
use crate::requests::{Bytes, Copy3D, Range};
use crate::stream_values::Awaited;

/// A launch.
#[derive(Clone)]
pub struct Kernel {
    pub handle: Handle,
    pub function: Function,
    pub shape: Shape,
    pub arguments: Vec<Vec<u8>>,
}

/// What a stream or a node of a graph does.
#[derive(Clone)]
pub enum Work {
    Nothing,
    Launch(Kernel),
    /// A copy of bytes between any places.
    Copy(Bytes),
    Copy3D(Copy3D),
    Fill {
        to: u64,
        range: Range,
        value: c_uint,
    },
    /// A write of a value.
    Write {
        to: u64,
        value: u64,
        bytes: usize,
    },
    /// A value that must be there.
    Await(Awaited),
    /// An allocation, whose address is known already.
    Allocate {
        address: u64,
        bytes: usize,
    },
    Free(u64),
    Call(HostFunction, Passed),
    Callback(StreamCallback, Passed),
    Record(Handle),
    WaitFor(Handle),
    /// A graph in a node of another, by its handle.
    Child(Handle),
    /// A graph that was instantiated.
    Graph(Plan),
}

impl Work {
    /// The number of such nodes in the API.
    pub fn kind(&self) -> c_uint {
        match self {
            Self::Launch(_) => 0,
            Self::Copy(_) | Self::Copy3D(_) => 1,
            Self::Fill { .. } => 2,
            Self::Call(..) | Self::Callback(..) => 3,
            Self::Child(_) | Self::Graph(_) => 4,
            Self::Nothing => 5,
            Self::WaitFor(_) => 6,
            Self::Record(_) => 7,
            Self::Allocate { .. } => 10,
            Self::Free(_) => 11,
            Self::Write { .. } | Self::Await(_) => 12,
        }
    }
}

/// A node of a graph.
#[derive(Clone)]
pub struct Node {
    pub work: Work,
    /// The nodes that it comes after.
    pub after: Vec<Handle>,
    /// The node that it is a copy of.
    pub original: Option<Handle>,
    /// Addresses of a kernel's arguments, for a caller that asked for them.
    pub shown: Vec<usize>,
}

/// A graph: its nodes by their handles, which rise in order of creation.
#[derive(Clone, Default)]
pub struct Graph {
    pub nodes: BTreeMap<Handle, Node>,
    /// The caller's objects that it refers to, and how often.
    pub objects: Vec<(Handle, u32)>,
}

/// A node of what is instantiated.
#[derive(Clone)]
pub struct Step {
    pub node: Handle,
    pub work: Work,
    pub after: Vec<Handle>,
    pub enabled: bool,
}

/// A graph's nodes in an order in which they can run.
#[derive(Clone, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
}

/// A graph that was instantiated.
pub struct Executable {
    pub plan: Plan,
    /// The caller's objects that it refers to.
    pub objects: Vec<(Handle, u32)>,
    pub flags: u64,
}

/// A capture under way.
pub struct Capture {
    pub graph: Handle,
    /// The stream that it began with.
    pub origin: Handle,
    /// 0: no thread, 1: this thread, 2: every thread may call what captures forbid.
    pub mode: c_uint,
    pub thread: ThreadId,
    /// Whether the graph was the caller's before.
    pub given: bool,
    /// Whether something happened that a capture forbids.
    pub invalid: bool,
}
