//! A finding of the sanitizer: a fault of the program that did not stop it.

use ptx::Space;

use super::checks::Checks;
use crate::address::{AccessFaultKind, AllocationSpan, FreeFault};
use crate::program::RegisterUse;
use crate::site::AccessAction;
use crate::site::Site;

/// A fault that the sanitizer found. A bug is one finding, however often it occurs: occurrences of
/// the same kind, at the same instructions and in the same allocation, are counted together.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong, with the details of the first occurrence.
    pub kind: FindingKind,
    /// The kernel that was launched.
    pub kernel: String,
    /// The name of the PTX module.
    pub module: String,
    /// Where it was detected.
    pub first: Site,
    /// The other party: the earlier access of a race, the copy that an access did not wait for, or
    /// the other instruction at a barrier.
    pub second: Option<Site>,
    /// How often it occurred.
    pub count: u64,
}

/// Which threads race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RaceScope {
    /// Lanes of a warp: a warp barrier is missing.
    Warp,
    /// Warps of a block: a barrier is missing.
    Block,
    /// Blocks of a grid.
    Grid,
}

/// The role of a register in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProductPart {
    /// An accumulator.
    Sum,
    /// Part of the fragment of A.
    Factor,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FindingKind {
    /// An invalid access. It was skipped; a load returned zero.
    Access {
        /// What the access was to do.
        action: AccessAction,
        /// The state space that the address was resolved to.
        space: Space,
        /// The address, as the program has it.
        address: u64,
        /// Bytes that the thread accesses.
        width: u32,
        /// What is wrong.
        fault: AccessFaultKind,
    },
    /// A `free` of memory that does not come from `malloc`, or was freed before. It was skipped.
    Free {
        /// The address.
        address: u64,
        /// What is wrong with it.
        fault: FreeFault,
    },
    /// Memory that a kernel got from `malloc` and that was never freed: see
    /// [`Memory::leaks`](crate::Memory::leaks).
    Leak {
        /// The allocation.
        allocation: AllocationSpan,
    },
    /// A read of uninitialised memory.
    Unwritten {
        /// The state space.
        space: Space,
        /// The address of the first such byte.
        address: u64,
        /// Bytes that the thread reads.
        width: u32,
        /// The allocation, or the block's shared memory; `None` for local memory.
        allocation: Option<AllocationSpan>,
    },
    /// An uninitialised register is used where its value matters.
    UnwrittenRegister {
        /// The register that is used.
        register: String,
        /// The register that was never written: this one, or one that its value was computed from.
        origin: String,
        /// What it is used for.
        to: RegisterUse,
    },
    /// Two accesses, at least one of them a write, that nothing orders.
    Race {
        /// Which threads race.
        scope: RaceScope,
        /// The accesses.
        conflict: Conflict,
    },
    /// An access to the destination of a pending asynchronous copy (`cp.async`, `cp.async.bulk`),
    /// or a write to its source: the thread has not waited for the copy, whose access is the
    /// second.
    PendingCopy(Conflict),
    /// A write to what a pending product of a warpgroup (`wgmma`) reads: its warp has not waited
    /// for it.
    PendingProduct(Conflict),
    /// A read through a texture or surface of what this launch has written. Such reads may not see
    /// it, even if ordered after it.
    WrittenTexture(Conflict),
    /// A read as read-only data (`ld.global.nc`, `ldu`) of what this launch has written, or a write
    /// to what it has read that way.
    WrittenReadOnly(Conflict),
    /// An access by a bulk copy or `wgmma`, through the async proxy, to what a thread wrote through
    /// the generic proxy, without a `fence.proxy.async` in between.
    MissingProxyFence(Conflict),
    /// A copy whose tensor map a thread of this launch has changed: the copy may not see the
    /// change, because a fence of the tensor map proxy is missing in between.
    MissingTensorMapFence {
        /// The accesses.
        conflict: Conflict,
        /// The missing fence.
        missing: MapFence,
    },
    /// An access to an accumulator of a pending product of a warpgroup (`wgmma`), or a write to a
    /// register that it reads: its warp has not waited for it.
    PendingRegister {
        /// The register.
        register: String,
        /// What the instruction does to it.
        action: AccessAction,
        /// Its role in the product.
        part: ProductPart,
        /// Whether it is only unpacked, which `ptxas` lets wait. Reported under `strict` only.
        unpacked: bool,
    },
    /// A product of a warpgroup on a register that was written without a `wgmma.fence` in between.
    MissingProductFence {
        /// The register.
        register: String,
    },
    /// A barrier that proceeds without threads that have exited.
    BarrierLeft {
        /// The barrier.
        barrier: u32,
        /// The first of those threads: x, y, z.
        thread: [u32; 3],
        /// Whether the barrier is for whole warps, and other threads of the warp have arrived.
        in_warp: bool,
    },
    /// A barrier for all threads of the block that different instructions complete.
    DifferentBarriers {
        /// The barrier.
        barrier: u32,
    },
    /// A `.sync` instruction that all lanes of its mask must execute (`elect`), and whose mask
    /// names lanes that have exited.
    ExitedLanes {
        /// The lanes that the mask names.
        members: u32,
        /// Those that have exited.
        exited: u32,
    },
    /// A `.sync` instruction whose mask names lanes on another path, which in turn wait for those
    /// that execute it.
    AbsentLanes {
        /// The lanes that the mask names.
        members: u32,
        /// Those on another path.
        absent: u32,
    },
    /// A `.sync` instruction whose mask leaves out a lane that executes it.
    NotMember {
        /// The lanes that the mask names.
        members: u32,
        /// The lane.
        lane: u32,
    },
    /// A `.sync` instruction at which a lane names another one whose mask differs.
    DifferentMasks {
        /// Two such lanes.
        lanes: [u32; 2],
        /// The lanes that each names.
        members: [u32; 2],
    },
    /// A value shuffled from a lane that does not take part, which is undefined, is used where it
    /// matters.
    InactiveSource {
        /// The lane that uses it.
        lane: u32,
        /// The lane that it comes from.
        source: u32,
    },
    /// An integer division by zero, or its remainder.
    DivisionByZero,
    /// An operation that reads the carry flag, which nothing has set since the function began or
    /// called another.
    UnsetCarry,
    /// An operand beyond the values that the instruction is defined for.
    OperandBeyondLimit {
        /// Which operand.
        operand: &'static str,
        /// Its value.
        value: u32,
        /// The greatest valid value.
        limit: u32,
    },
    /// A branch marked as uniform (`.uni`) at which lanes diverge.
    DivergentUniform {
        /// Two lanes that differ.
        lanes: [u32; 2],
    },
    /// A load that requires one address in all lanes (`ldu`), with different ones.
    DifferentAddresses {
        /// Two lanes that differ.
        lanes: [u32; 2],
    },
    /// A barrier at which some threads reduce a predicate and others do not.
    MixedBarrier {
        /// The barrier.
        barrier: u32,
    },
    /// `tensormap.replace.tile` on a map for `.im2col`.
    TiledReplacement {
        /// The state space.
        space: Space,
        /// The map's address.
        address: u64,
    },
    /// An mbarrier that is initialised again.
    RepeatedInitialization {
        /// Its address in shared memory.
        address: u64,
    },
}

impl FindingKind {
    /// The check that finds it: `memory`, `init`, `race`, `sync` or `undefined`.
    pub fn check(&self) -> &'static str {
        match self {
            Self::Access { .. } | Self::Free { .. } | Self::Leak { .. } => Checks::NAMES[0],
            Self::Unwritten { .. } | Self::UnwrittenRegister { .. } | Self::InactiveSource { .. } => Checks::NAMES[1],
            Self::Race { .. }
            | Self::PendingCopy(_)
            | Self::PendingProduct(_)
            | Self::WrittenTexture(_)
            | Self::WrittenReadOnly(_)
            | Self::MissingProxyFence(_)
            | Self::MissingTensorMapFence { .. }
            | Self::PendingRegister { .. }
            | Self::MissingProductFence { .. } => Checks::NAMES[2],
            Self::BarrierLeft { .. }
            | Self::DifferentBarriers { .. }
            | Self::ExitedLanes { .. }
            | Self::AbsentLanes { .. }
            | Self::NotMember { .. }
            | Self::DifferentMasks { .. } => Checks::NAMES[3],
            Self::DivisionByZero
            | Self::UnsetCarry
            | Self::OperandBeyondLimit { .. }
            | Self::DivergentUniform { .. }
            | Self::DifferentAddresses { .. }
            | Self::MixedBarrier { .. }
            | Self::TiledReplacement { .. }
            | Self::RepeatedInitialization { .. } => Checks::NAMES[4],
        }
    }

    /// Its name in machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Access { fault, .. } => fault.name(),
            Self::Free { fault, .. } => fault.name(),
            Self::Leak { .. } => "leak",
            Self::Unwritten { .. } => "unwritten",
            Self::UnwrittenRegister { .. } => "unwritten_register",
            Self::Race { scope: RaceScope::Warp, .. } => "race_in_warp",
            Self::Race { scope: RaceScope::Block, .. } => "race_in_block",
            Self::Race { scope: RaceScope::Grid, .. } => "race_between_blocks",
            Self::PendingCopy(_) => "pending_copy",
            Self::PendingProduct(_) => "pending_product",
            Self::WrittenTexture(_) => "written_texture",
            Self::WrittenReadOnly(_) => "written_read_only",
            Self::MissingProxyFence(_) => "missing_proxy_fence",
            Self::MissingTensorMapFence { .. } => "missing_tensor_map_fence",
            Self::PendingRegister { .. } => "pending_register",
            Self::MissingProductFence { .. } => "missing_product_fence",
            Self::BarrierLeft { .. } => "barrier_left",
            Self::DifferentBarriers { .. } => "different_barriers",
            Self::ExitedLanes { .. } => "exited_lanes",
            Self::AbsentLanes { .. } => "absent_lanes",
            Self::NotMember { .. } => "not_member",
            Self::DifferentMasks { .. } => "different_masks",
            Self::InactiveSource { .. } => "inactive_source",
            Self::DivisionByZero => "division_by_zero",
            Self::UnsetCarry => "unset_carry",
            Self::OperandBeyondLimit { .. } => "operand_beyond_limit",
            Self::DivergentUniform { .. } => "divergent_uniform",
            Self::DifferentAddresses { .. } => "different_addresses",
            Self::MixedBarrier { .. } => "mixed_barrier",
            Self::TiledReplacement { .. } => "tiled_replacement",
            Self::RepeatedInitialization { .. } => "repeated_initialization",
        }
    }

    /// The two accesses, if it is about two.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Race { conflict, .. }
            | Self::PendingCopy(conflict)
            | Self::PendingProduct(conflict)
            | Self::WrittenTexture(conflict)
            | Self::WrittenReadOnly(conflict)
            | Self::MissingProxyFence(conflict)
            | Self::MissingTensorMapFence { conflict, .. } => Some(conflict),
            _ => None,
        }
    }

    /// The address in question.
    pub fn address(&self) -> Option<u64> {
        match *self {
            Self::Access { address, .. } | Self::Free { address, .. } | Self::Unwritten { address, .. } => {
                Some(address)
            }
            _ => self.conflict().map(|conflict| conflict.address),
        }
    }

    /// Bytes that the thread accesses.
    pub fn width(&self) -> Option<u32> {
        match *self {
            Self::Access { width, .. } | Self::Unwritten { width, .. } => Some(width),
            _ => self.conflict().map(|conflict| conflict.width),
        }
    }

    /// The allocation in question; the nearest one if the access is in none.
    pub fn allocation(&self) -> Option<AllocationSpan> {
        match self {
            Self::Access { fault, .. } => fault.allocation(),
            Self::Free { fault, .. } => fault.allocation(),
            Self::Leak { allocation } => Some(*allocation),
            Self::Unwritten { allocation, .. } => *allocation,
            _ => self.conflict().map(|conflict| conflict.allocation),
        }
    }

    /// The state space in question.
    pub fn space(&self) -> Option<Space> {
        match *self {
            Self::Access { space, .. } | Self::Unwritten { space, .. } => Some(space),
            _ => self.conflict().map(|conflict| conflict.space),
        }
    }
}

/// Two accesses to the same memory, of which the second was first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The state space.
    pub space: Space,
    /// The address that both access.
    pub address: u64,
    /// Bytes that the thread or operation accesses at once.
    pub width: u32,
    /// What it does, and what the other did before, or is still to do.
    pub actions: [AccessAction; 2],
    /// The allocation, or the block's shared memory.
    pub allocation: AllocationSpan,
}

/// The fence that is missing between a write to a tensor map and a copy that the map describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapFence {
    /// `fence.proxy.tensormap::generic.release`, or `tensormap.cp_fenceproxy`.
    Release,
    /// `fence.proxy.tensormap::generic.acquire`.
    Acquire,
}
