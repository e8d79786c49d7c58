//! What the threads of a warp or a block do together: shuffles, votes, barriers. Plain data.

use super::names::names;
use super::operand::{Destination, Operand};

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
