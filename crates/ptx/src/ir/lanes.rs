//! What the threads of a warp or a block do together: shuffles, votes, barriers. Plain data.

use super::memory::AtomicOp;
use super::names::names;
use super::operand::{Destination, Operand};
use super::types::Type;

/// Operations across the lanes of a warp.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum WarpOp {
    /// `shfl`: `dst` and `src` are `b32`, `in_range` is a predicate, and the rest are `u32`.
    Shuffle {
        mode: ShuffleMode,
        dst: Destination,
        in_range: Destination,
        src: Operand,
        lane: Operand,
        clamp: Operand,
        /// `None`: the lanes that execute it (before sm_70).
        members: Option<Operand>,
    },
    /// `vote`: `dst` is a predicate, or `b32` for a ballot; `predicate` may be negated.
    Vote {
        mode: VoteMode,
        dst: Destination,
        predicate: Operand,
        /// `None`: the lanes that execute it (before sm_70).
        members: Option<Operand>,
    },
    /// `match.any`, `match.all`: `src` has type `ty`, `b32` or `b64`; `dst` is a mask, `b32`, and
    /// `all_equal`, only of `match.all`, a predicate.
    Match { all: bool, ty: Type, dst: Destination, all_equal: Destination, src: Operand, members: Operand },
    /// `redux.sync`: `dst` and `src` have type `ty`: `s32` or `u32` for `add`, `min` and `max`,
    /// `b32` for logic.
    Reduce { op: AtomicOp, ty: Type, dst: Destination, src: Operand, members: Operand },
    /// `activemask`: `dst` is `b32`.
    ActiveMask { dst: Destination },
    /// `elect.sync`: `dst` gets the lane number of one member, and `leader` is true in that lane.
    Elect { dst: Destination, leader: Destination, members: Operand },
}

/// Barriers. `aligned`: all threads of the warp must execute the barrier together.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum BarrierOp {
    /// `bar` and `barrier` of a block: `barrier` and `threads` are `b32`. A reduction's predicate
    /// may be negated; its `dst` is a predicate, or `u32` for a count.
    Block { action: BarrierAction, aligned: bool, barrier: Operand, threads: Option<Operand> },
    /// `bar.warp.sync`: `members` is a mask, `b32`.
    Warp { members: Operand },
    /// `barrier.cluster.arrive` and, if it `waits`, `barrier.cluster.wait`.
    Cluster {
        waits: bool,
        /// `barrier.cluster.arrive.relaxed`: without release semantics.
        relaxed: bool,
        aligned: bool,
    },
}

names! {
    /// How `shfl` picks the source lane.
    #[allow(missing_docs)]
    pub enum ShuffleMode {
        Up = "up",
        Down = "down",
        Butterfly = "bfly",
        Index = "idx",
    }
}

names! {
    /// What `vote` returns.
    #[allow(missing_docs)]
    pub enum VoteMode {
        All = "all",
        Any = "any",
        Uniform = "uni",
        Ballot = "ballot",
    }
}

/// What a block-wide barrier does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarrierAction {
    /// Waits for all threads.
    Synchronize,
    /// Arrives and does not wait.
    Arrive,
    /// Waits for all threads, and reduces a predicate over them.
    Reduce {
        /// The reduction.
        op: BarrierReduction,
        /// Where the result goes: a predicate for and/or, a u32 for a count.
        destination: Destination,
        /// Each thread's contribution.
        predicate: Operand,
    },
}

names! {
    /// Reductions of `bar.red`.
    #[allow(missing_docs)]
    pub enum BarrierReduction {
        PopulationCount = "popc",
        And = "and",
        Or = "or",
    }
}
