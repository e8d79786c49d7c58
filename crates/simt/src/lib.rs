//! The SIMT machine: runs PTX, counts what the hardware counts, finds faults.
//!
//! A GPU runs the threads of a block 32 at a time: a *warp* executes one instruction for all its
//! *lanes* together. So does this machine. It takes a [`ptx::Module`], and knows nothing of files,
//! labs or terminals.
//!
//! ```
//! let text = "
//! .version 7.8
//! .target sm_75
//! .address_size 64
//! .visible .entry fill(.param .u64 out) {
//!     .reg .b32 %r<2>;
//!     .reg .b64 %rd<4>;
//!     ld.param.u64 %rd1, [out];
//!     mov.u32 %r1, %tid.x;
//!     mul.wide.u32 %rd2, %r1, 4;
//!     add.s64 %rd3, %rd1, %rd2;
//!     st.global.u32 [%rd3], %r1;
//!     ret;
//! }";
//! let module = ptx::parse("fill.ptx", text).unwrap();
//! let mut memory = simt::Memory::new(1 << 20);
//! let program = simt::Program::load(&module, &mut memory)?;
//! let out = memory.allocate(64 * 4)?;
//! let launch = simt::Launch {
//!     kernel: "fill",
//!     block: [64, 1, 1],
//!     arguments: &[&out.to_le_bytes()],
//!     ..simt::Launch::default()
//! };
//! let report = program.launch(&memory, &launch)?;
//! assert_eq!(report.counters().global.store.sectors, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! - [`Program::load`] decodes each kernel and the functions it may call: operands become rows of a
//!   register file, types and modifiers become one function that computes 32 lanes, and each branch
//!   knows where its paths meet again (the immediate post-dominator).
//! - [`Program::launch`] runs the blocks of the grid, in parallel where their order cannot matter.
//!   Within a block, warps take turns; within a warp, each divergent path is a *split*: a program
//!   counter and a mask of lanes. Splits merge where their paths meet.
//! - [`Memory`] holds the allocations. Each access of a warp is checked, then counted: the sectors
//!   of global memory that it touches, the wavefronts that it needs in shared memory. [`Report`]
//!   has these numbers per instruction, per line of PTX and per line of the source program.
//! - Faults are [`Trap`]s: accesses out of bounds, misaligned or to freed memory, barriers that not
//!   all threads reach.
//! - [`Launch::watch`] keeps the first requests of each memory instruction, lane by lane:
//!   [`Request::service`](requests::Request::service) says what moves and which pass serves each
//!   lane, on any model.
//! - [`Launch::order`] runs blocks and warps in an order that is drawn from a seed
//!   ([`DrawnOrder`](orders::DrawnOrder)), to find kernels that are right in the usual order only.
//! - A launch's [`Checks`] look for faults that do not stop it: the report's [`Finding`]s.
//!
//! Modules: `program` decodes, `run` launches, `machine` executes, with `lanes` for arithmetic,
//! `memory`, `texture` and `output`. `address` is what a warp accesses; `coalesce` and `model`
//! count it, `request` lists what they count. `timing` predicts how long a launch takes,
//! `sanitizer` looks for faults. `tensor_core` rounds, and `tensor_map` describes boxes of tensors.
//! The other files are what callers see: launches, counters, reports, errors, traps.
//!
//! # What results depend on
//!
//! Only the program, its arguments and its memory: not the number of host threads, nor the time.
//! The blocks of a kernel run in order, on one thread, if it has operations whose result depends on
//! the order of blocks. These are: atomic operations on device memory that are on floats, return
//! the old value, or are of more than one kind; exchanges, compare-and-swap, increment and
//! decrement; reductions of tensor boxes, whose type only their map knows; volatile, relaxed and
//! acquire loads; `malloc` and `free`. Integer additions, minima and the like give the same result
//! in any order. A kernel with a data race between blocks has no such guarantee. If a block polls
//! for long while device memory does not change, later blocks run beside it: see
//! `machine/schedule/one_thread.rs`. In a [`Launch::cooperative`] launch, all blocks run side by
//! side. Clocks count the warp's instructions. A drawn order is one thread's, so it depends on its
//! seed alone.
#![forbid(unsafe_code)]

mod address;
mod coalesce;
mod counters;
mod error;
mod instruction;
mod lanes;
mod launch;
mod machine;
mod memory;
mod metric;
mod model;
mod order;
mod output;
mod own_code;
mod program;
mod report;
mod request;
mod run;
mod sanitizer;
mod site;
mod switches;
mod tensor_core;
mod tensor_map;
mod texture;
mod timing;
mod touch;
pub mod transfers;
mod trap;

pub use counters::Counters;
pub use error::{LoadError, MemoryError};
pub use instruction::CountsDiffer;
pub use launch::{InvalidLaunch, Launch, LaunchError};
pub use memory::{Memory, Physical};
pub use model::{LoadCaching, Model};
pub use output::{Output, Printed};
pub use program::Program;
pub use report::Report;
pub use sanitizer::{Checks, Finding};
pub use trap::{Trap, TrapKind};

/// What a launch counts, and how it is named.
pub mod counts {
    pub use crate::counters::{
        ByKind, ConstantCounters, DistributedCounters, InstructionCounters, MemoryCounters, SharedCounters,
    };
    pub use crate::instruction::{AccessKind, InstructionClass, InstructionInfo, SourceLine};
    pub use crate::metric::{Metric, MetricValue};
    pub use crate::model::{CacheCounters, ModelCounters, SectorCounters, TransactionCounters};
    pub use crate::report::{Evenness, InstructionReport, Shares};
}

/// What traps, findings and errors consist of, and where faults are.
pub mod faults {
    pub use crate::address::{AccessFaultKind, AllocationSpan, FreeFault};
    pub use crate::error::LoadErrorReason;
    pub use crate::memory::{HeapAllocation, MbarrierFault};
    pub use crate::sanitizer::{Conflict, FindingKind, MapFence, ProductPart, RaceScope};
    pub use crate::site::{AccessAction, Site, SourcePosition, own_frame};
    pub use crate::tensor_map::TensorFault;
    pub use crate::texture::TextureFault;
    pub use crate::trap::Absence;
}

/// The limits of a launch that names none.
pub mod limits {
    pub use crate::launch::{DEFAULT_FAULT_LIMIT, DEFAULT_SHARED_LIMIT, DEFAULT_STEP_LIMIT};
    pub use crate::memory::DEFAULT_HEAP_LIMIT;
    pub use crate::output::DEFAULT_OUTPUT_LIMIT;
}

/// What a [`Model`] of a GPU consists of.
pub mod models {
    pub use crate::model::{
        AccessWindow, BankRule, Banks, BlockNeeds, HostLink, L1, L1Size, L2, Limiter, Limits, Links, Occupancy,
        PeerLink, RegisterAllocation, Shared, StoreHit, Timing, TransactionRule,
    };
}

/// Other orders of blocks and warps than the usual one.
pub mod orders {
    pub use crate::memory::Snapshot;
    pub use crate::order::{Drawn, DrawnOrder, Start, Strategy};
    pub use crate::run::explore::{Bounds, Explored};
    pub use crate::switches::{MOST_SWITCHES, SplitId, Switch, Switches};
    pub use crate::touch::{Followed, Touch};
}

/// How long a launch would take on a GPU, and why.
pub mod prediction {
    pub use crate::timing::{Bound, Predicted, Prediction, Queue, Why};
}

/// What is known of a loaded program.
pub mod programs {
    pub use crate::program::{KernelInfo, RegisterUse, Symbol, is_of_device_runtime};
}

/// The requests of memory instructions, lane by lane: [`Launch::watch`].
pub mod requests {
    pub use crate::request::{ArrayCounts, Ask, Piece, Request, RequestedMemory, Service, Unit, Watch};
}

/// Where the windows of the address space begin.
pub mod spaces {
    pub use crate::address::{GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
}

/// Boxes of tensors, which bulk copies move.
pub mod tensors {
    pub use crate::tensor_map::{
        Fill, Interleave, L2Promotion, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, TensorMapError, Traversal,
    };
}

/// Textures, surfaces and the arrays that they read.
pub mod textures {
    pub use crate::texture::{
        AddressMode, ArrayHandle, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureError,
        TextureSource,
    };
}
