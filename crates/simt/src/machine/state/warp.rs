//! A warp: its registers, its local memory, and the paths that its lanes are on.
//!
//! Lanes that execute together are a [`Split`]. A divergent branch turns one split into several,
//! and creates a join where their paths reconverge. A split that reaches the join ends; when the
//! last one has, the join continues as one split. Splits run one at a time, in any order, so lanes
//! may wait for each other.
//!
//! `split` and `frame` hold the parts, `reconverge` and `calls` change them. A worker creates its
//! warps; instructions and the schedule read and change them. A warp knows nothing of memory
//! outside it.

mod calls;
mod frame;
mod reconverge;
mod split;

use std::collections::HashMap;

pub(crate) use frame::Frame;
use split::{ALONE, JOIN_PATIENCE, Join, LOOP_PATIENCE};
pub(crate) use split::{Split, Wait};

use super::local::LocalMemory;
use super::tracked::TrackedRegister;
use super::unwritten::{Incomplete, UnwrittenLoads};
use crate::lanes::{Base, Constants, Registers, Row, WideRow};
use crate::machine::state::asynchronous::AtCluster;
use crate::machine::state::held::HeldByProducts;
use crate::machine::state::tracked::new_registers;
use crate::program::{FunctionCode, NEVER_JOINS};
use crate::trap::Absence;

/// A warp of a block.
pub(crate) struct Warp<'c> {
    pub registers: Registers<'c>,
    pub local: LocalMemory,
    /// The tracked registers of all frames.
    pub tracked: Vec<TrackedRegister>,
    /// Partly written values of local memory on their way to a store.
    pub incomplete: Vec<Incomplete>,
    /// Loads of local memory that nothing had written.
    pub unwritten: UnwrittenLoads,
    /// Registers that products of the warpgroup hold.
    pub held: HeldByProducts,
    pub index: u32,
    /// Lanes that are threads of the block.
    pub exists: u32,
    /// Those of them that have not exited.
    pub alive: u32,
    /// For `machine/asynchronous` alone.
    pub cluster: AtCluster,
    /// `%tid` of each lane: x, y, z.
    pub threads: [Row; 3],
    pub ready: Vec<Split>,
    pub waiting: Vec<(Split, Wait)>,
    joins: Vec<Join>,
    free_joins: Vec<u32>,
    frames: Vec<Frame>,
    /// How many frames have ended below others that have not.
    ended: u32,
    /// The end of each lane's stack, for frames that have used `alloca`.
    stacks: HashMap<u32, Box<WideRow>>,
    /// Where the next frame's registers and local memory start.
    top: (Base, u64),
    /// Instructions executed: the warp's clock.
    pub executed: u64,
    /// Those of them that load, store, fetch or update memory, for at least one lane.
    pub accesses: u64,
    /// The value of `executed` at which to look for lanes that have waited too long.
    pub look_at: u64,
    /// The value of `executed` from which to look for a loop that never ends.
    pub look_for_loop_at: u64,
    /// Whether lanes have proceeded without reconverging.
    pub separated: bool,
}

impl<'c> Warp<'c> {
    pub fn new(constants: &'c Constants, index: u32, block: [u32; 3]) -> Self {
        let count = block[0] * block[1] * block[2];
        let first = index * 32;
        let threads = std::array::from_fn(|axis| {
            std::array::from_fn(|lane| {
                let linear = first + lane as u32;
                match axis {
                    0 => linear % block[0],
                    1 => linear / block[0] % block[1],
                    _ => linear / block[0] / block[1],
                }
            })
        });
        let lanes = (count - first).min(32);
        Self {
            registers: Registers::new(constants),
            local: LocalMemory::default(),
            tracked: Vec::new(),
            incomplete: Vec::new(),
            unwritten: UnwrittenLoads::default(),
            held: HeldByProducts::default(),
            index,
            exists: u32::MAX >> (32 - lanes),
            alive: 0,
            cluster: AtCluster::default(),
            threads,
            ready: Vec::new(),
            waiting: Vec::new(),
            joins: Vec::new(),
            free_joins: Vec::new(),
            frames: Vec::new(),
            ended: 0,
            stacks: HashMap::new(),
            top: (Base::default(), 0),
            executed: 0,
            accesses: 0,
            look_at: JOIN_PATIENCE,
            look_for_loop_at: LOOP_PATIENCE,
            separated: false,
        }
    }

    /// Starts the kernel from the top.
    pub fn start(&mut self, kernel: &FunctionCode) {
        let top = Base {
            words: kernel.words as usize,
            doubles: kernel.doubles as usize,
            predicates: kernel.predicates as usize,
        };
        self.registers.reset(top, !kernel.needs_no_zeros);
        self.top = (top, kernel.local.next_multiple_of(16));
        self.local.reset(kernel.local);
        self.tracked.clear();
        self.track(kernel);
        self.incomplete.clear();
        self.unwritten.clear();
        self.held.reset(kernel.held.len());
        self.alive = self.exists;
        self.cluster = AtCluster::default();
        self.waiting.clear();
        self.joins.clear();
        self.free_joins.clear();
        self.frames.clear();
        self.ended = 0;
        self.stacks.clear();
        let local_end = kernel.local.next_multiple_of(16);
        let base = Base::default();
        let kernel_frame =
            Frame { function: 0, base, local: 0, local_end, local_before: 0, tracked: 0, caller: None, live: true };
        self.frames.push(kernel_frame);
        self.ready.clear();
        self.ready.push(Split { pc: kernel.entry, mask: self.exists, join_at: NEVER_JOINS, join: ALONE, frame: 0 });
        self.executed = 0;
        self.accesses = 0;
        self.look_at = JOIN_PATIENCE;
        self.look_for_loop_at = LOOP_PATIENCE;
        self.separated = false;
    }

    /// The tracked registers of a function that begins.
    fn track(&mut self, code: &FunctionCode) {
        self.tracked.extend(new_registers(code));
    }

    /// Whether it may go on: some split is ready, or waits for what this warp's next turn may find.
    pub fn may_go_on(&self) -> bool {
        !self.ready.is_empty() || self.waiting.iter().any(|(_, wait)| !matches!(wait, Wait::Barrier(_)))
    }

    /// The thread of a lane.
    pub fn thread(&self, lane: u32) -> [u32; 3] {
        let lane = (lane & 31) as usize;
        [self.threads[0][lane], self.threads[1][lane], self.threads[2][lane]]
    }

    pub fn frame(&self, split: &Split) -> &Frame {
        &self.frames[split.frame as usize]
    }

    /// Makes the split's registers the current ones.
    #[inline]
    pub fn enter(&mut self, split: &Split) {
        self.registers.base = self.frames[split.frame as usize].base;
    }

    /// What keeps a lane from arriving where others wait for it.
    pub fn absence(&self, lane: u32) -> Absence {
        if self.exists >> (lane & 31) & 1 == 0 {
            return Absence::NoThread;
        }
        if self.alive >> (lane & 31) & 1 == 0 {
            return Absence::Exited;
        }
        match self.waits_for(lane & 31) {
            Some(Wait::Barrier(number)) => Absence::AtBarrier(number),
            Some(Wait::Lanes { .. }) => Absence::InWarp,
            Some(Wait::Asynchronous) => Absence::AtPhase,
            Some(Wait::Forever) | None => Absence::Diverged,
        }
    }

    /// What a lane waits for, if anything.
    pub fn waits_for(&self, lane: u32) -> Option<Wait> {
        self.waiting.iter().find(|(split, _)| split.mask >> lane & 1 == 1).map(|&(_, wait)| wait)
    }
}
