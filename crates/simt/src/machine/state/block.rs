//! A running block: its shared memory, barriers, copies and output. Plain state: the worker holds the running block, and
//! instructions read and change it.

use crate::machine::hopper::copies::Copies;
use crate::machine::hopper::underway::Departures;
use crate::machine::state::{Barriers, Residence};
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
    pub residence: Residence,
    pub shared: SharedMemory,
    pub barriers: Barriers,
    /// The `cp.async` copies of each warp.
    pub copies: Vec<Copies>,
    /// The bulk copies under way to global memory.
    pub departures: Departures,
    pub stage: Stage,
    /// What it has printed.
    pub output: BlockOutput,
}
