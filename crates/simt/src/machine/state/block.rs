//! A running block.

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
    /// Its number in the launch: the blocks of a cluster are neighbours.
    pub number: u64,
    /// Where it is in the grid.
    pub position: [u32; 3],
    /// Its number in its cluster.
    pub rank: u32,
    /// Where it is on the launch's model.
    pub residence: Residence,
    pub shared: SharedMemory,
    pub barriers: Barriers,
    /// What each warp copies.
    pub copies: Vec<Copies>,
    /// What the copy engine is to bring to global memory.
    pub departures: Departures,
    pub stage: Stage,
    /// What it prints.
    pub output: BlockOutput,
}
