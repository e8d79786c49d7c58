//! The blocks of a cluster: their shared memory, barriers, copies and output. Plain state: a worker
//! holds the blocks of one cluster, and instructions read and change the running one. Exactly one
//! block is the running one, also between turns.

use std::ops::{Deref, DerefMut};

use super::barrier::Barriers;
use super::on_model::BlockLocation;
use crate::machine::state::asynchronous::Departures;
use crate::machine::state::copies::Copies;
use crate::memory::SharedMemory;
use crate::output::BlockOutput;

/// The progress of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No thread has executed anything yet.
    #[default]
    Waits,
    Runs,
    /// All threads have exited.
    Ended,
}

/// A running block.
#[derive(Default)]
pub(crate) struct Block {
    /// Its number in the launch: the blocks of a cluster have consecutive numbers.
    pub number: u64,
    /// Its position in the grid.
    pub position: [u32; 3],
    /// Its number in its cluster.
    pub rank: u32,
    /// Where it is on the launch's model.
    pub location: BlockLocation,
    pub shared: SharedMemory,
    pub barriers: Barriers,
    /// The `cp.async` copies of each warp.
    pub copies: Vec<Copies>,
    /// For `machine/asynchronous` alone.
    pub departures: Departures,
    pub stage: Stage,
    /// What it has printed.
    pub output: BlockOutput,
}

/// The running block, which this dereferences to, among all of its cluster.
pub(crate) struct RunningBlock {
    /// All blocks of the cluster, by rank; never empty.
    cluster: Vec<Block>,
    /// The rank of the running one.
    running: usize,
}

impl RunningBlock {
    /// The first of `count` blocks of a cluster, of which there is at least one.
    pub fn new(count: u32, block: impl Fn(u32) -> Block) -> Self {
        Self { cluster: (0..count.max(1)).map(block).collect(), running: 0 }
    }

    /// Makes the block with this rank the running one.
    pub fn select(&mut self, rank: usize) {
        self.running = rank.min(self.cluster.len() - 1);
    }

    /// The block of the cluster with this rank.
    pub fn with_rank(&self, rank: u64) -> Option<&Block> {
        usize::try_from(rank).ok().and_then(|rank| self.cluster.get(rank))
    }

    /// All blocks of the cluster.
    pub fn all_mut(&mut self) -> &mut [Block] {
        &mut self.cluster
    }
}

impl Deref for RunningBlock {
    type Target = Block;

    #[inline(always)]
    fn deref(&self) -> &Block {
        &self.cluster[self.running]
    }
}

impl DerefMut for RunningBlock {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Block {
        &mut self.cluster[self.running]
    }
}
