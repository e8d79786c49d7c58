//! A recorded request: an instruction's access, lane by lane.

use std::ops::Range;

use crate::instruction::AccessKind;
use crate::model::CacheHint;
use crate::texture::Touched;

/// Which requests a launch keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The blocks to watch, by their number in the launch.
    pub blocks: Range<u64>,
    /// The warps to watch, by their number in the block.
    pub warps: Range<u32>,
    /// How many requests to keep of each instruction, in each of these warps.
    pub requests: u32,
}

/// How often the lanes of a launch loaded each word of an allocation, and updated it by atomic
/// operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayCounts {
    /// Where it begins.
    pub address: u64,
    /// For each word of 4 bytes, the loads of lanes that asked for it or for a part of it.
    pub loads: Vec<u32>,
    /// For each of these words, the requests that load its sector of 32 bytes.
    pub moves: Vec<u32>,
    /// For each of these words, the atomic operations of lanes on it.
    pub atomics: Vec<u32>,
}

/// The memory that a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestedMemory {
    /// Global memory.
    Global,
    /// A thread's own memory.
    Local,
    /// Constant memory.
    Constant,
    /// The shared memory of the block.
    Shared,
    /// The shared memory of another block of the cluster.
    Distributed,
    /// A texture.
    Texture,
    /// A surface.
    Surface,
}

/// A warp's access to one memory. An instruction that reaches several memories makes one for each;
/// `cp.async` makes two, the read and the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The instruction: its index in [`Report::instructions`](crate::Report::instructions).
    pub instruction: u32,
    /// What it does.
    pub kind: AccessKind,
    /// The memory, resolved: an instruction may name none.
    pub memory: RequestedMemory,
    /// The block's number in the launch.
    pub block: u64,
    /// The block's position in the grid.
    pub position: [u32; 3],
    /// The warp's number in its block.
    pub warp: u32,
    /// The instructions that the warp has executed, this one included.
    pub step: u64,
    /// The lanes that take part.
    pub mask: u32,
    /// The bytes that a lane asks for. Of bulk copies, the first lane's.
    pub width: u32,
    /// Each lane's address in this memory; meaningless in other lanes. Of textures, the first
    /// texel's.
    pub addresses: [u64; 32],
    pub(crate) mechanism: Mechanism,
}

impl Request {
    /// A load, store or atomic operation that no launch has made: of `width` bytes for each lane of
    /// `mask`.
    pub fn new(kind: AccessKind, memory: RequestedMemory, width: u32, mask: u32, addresses: [u64; 32]) -> Self {
        let mechanism = Mechanism::Plain(CacheHint::None);
        let position = [0; 3];
        Self { instruction: 0, kind, memory, block: 0, position, warp: 0, step: 0, mask, width, addresses, mechanism }
    }
}

/// How a request is made, as far as its cost depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// A load, store or atomic operation.
    Plain(CacheHint),
    /// `cp.async`. The request's lanes and addresses are those of one side; here are the other's.
    Copy {
        mask: u32,
        addresses: Box<[u64; 32]>,
        /// Whether any lane reads less than it writes.
        fills: bool,
        at_l2_only: bool,
    },
    /// `ldmatrix`, `stmatrix`: the rows of this many matrices, eight lanes for each.
    Rows(u32),
    /// The copy engine.
    Bulk(Vec<Run>),
    /// The elements of a texture or surface.
    Elements(Vec<Touched>),
}

/// Consecutive bytes that the copy engine moves for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub lane: u8,
    pub address: u64,
    pub bytes: u32,
}
