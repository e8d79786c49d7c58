//! What a launch on a model records for the replay: for some blocks of one multiprocessor, each
//! instruction of each warp in order, and what its access to memory needed.
//!
//! Which blocks these are depends only on the grid, so every run records the same. They are spread
//! over the whole grid, because the first blocks of many kernels are unlike the rest.

use std::collections::HashMap;

/// The most instructions recorded of a launch.
const MOST_EVENTS: usize = 4 << 20;
/// Rounds of resident blocks to record.
const ROUNDS: u64 = 12;

/// Where an access went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Target {
    /// The instruction accesses no memory.
    #[default]
    Nothing,
    /// Global or local memory.
    Memory,
    Shared,
    Constant,
    Texture,
}

/// An instruction that a warp executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub place: u32,
    pub target: Target,
    /// Lines that the access touches, or addresses in constant memory.
    pub lines: u8,
    pub sectors: u8,
    /// The most lines that are in the same bank of L1's tags.
    pub tags: u8,
    /// Sectors that L1 did not have.
    pub missed: u8,
    /// Passes of the load-store unit.
    pub wavefronts: u16,
    /// The most lanes that an atomic operation serves one after the other: of a word, in shared
    /// memory of a bank. Of arithmetic: cycles more for its operands. Of a texture fetch: sectors
    /// that the multiprocessor never fetched before.
    pub turns: u8,
}

/// What a warp executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarpTrace {
    pub events: Vec<Event>,
    /// Instructions that it executed, recorded or not.
    pub executed: u64,
}

/// What the warps of a block executed.
#[derive(Clone, Debug)]
pub(crate) struct BlockTrace {
    pub warps: Vec<WarpTrace>,
    /// Whether the block has ended.
    pub ended: bool,
}

impl BlockTrace {
    /// Instructions that its warps executed, recorded or not.
    pub fn executed(&self) -> u64 {
        self.warps.iter().map(|warp| warp.executed).sum()
    }
}

/// Records.
pub(crate) struct Tracer {
    pub blocks: Vec<BlockTrace>,
    /// The index in `blocks` of each block that has begun; `None`: it is not recorded.
    known: HashMap<u64, Option<usize>>,
    /// One block of this many is recorded.
    stride: u64,
    warps: usize,
    events: usize,
    /// The running warp, if it is recorded.
    current: Option<(usize, usize)>,
}

impl Tracer {
    /// For a multiprocessor that will run `blocks` blocks of `warps` warps, `resident` at a time.
    pub fn new(blocks: u64, resident: u32, warps: u32) -> Self {
        Self {
            blocks: Vec::new(),
            known: HashMap::new(),
            stride: (blocks / (ROUNDS * u64::from(resident.max(1)))).max(1),
            warps: warps as usize,
            events: 0,
            current: None,
        }
    }

    /// A warp runs. Returns whether it is recorded.
    pub fn enter(&mut self, block: u64, warp: u32) -> bool {
        let (begun, recorded) = (self.known.len() as u64, self.blocks.len());
        let index = *self.known.entry(block).or_insert_with(|| {
            (begun.is_multiple_of(self.stride) && (self.events < MOST_EVENTS || recorded == 0)).then(|| {
                self.blocks.push(BlockTrace { warps: vec![WarpTrace::default(); self.warps], ended: false });
                recorded
            })
        });
        self.current = index.map(|index| (index, warp as usize));
        self.current.is_some()
    }

    /// The running warp, as block and warp, if it is recorded.
    pub fn current(&self) -> Option<(usize, usize)> {
        self.current
    }

    /// A block has ended.
    pub fn ended(&mut self, block: u64) {
        if let Some(&Some(index)) = self.known.get(&block) {
            self.blocks[index].ended = true;
        }
        self.current = None;
    }

    /// Whether a block is recorded.
    pub fn records(&self, block: u64) -> bool {
        matches!(self.known.get(&block), Some(Some(_)))
    }

    /// A block has ended off the record: how many instructions each of its warps executed in all.
    pub fn ended_after(&mut self, block: u64, executed: impl Iterator<Item = u64>) {
        self.ended(block);
        if let Some(&Some(index)) = self.known.get(&block) {
            self.blocks[index].warps.iter_mut().zip(executed).for_each(|(warp, executed)| warp.executed = executed);
        }
    }

    fn warp(&mut self) -> Option<&mut WarpTrace> {
        let (block, warp) = self.current?;
        self.blocks.get_mut(block)?.warps.get_mut(warp)
    }

    /// The running warp executes an instruction.
    pub fn step(&mut self, place: u32) {
        let room = self.events < MOST_EVENTS;
        let Some(warp) = self.warp() else { return };
        warp.executed += 1;
        if room {
            warp.events.push(Event { place, ..Event::default() });
            self.events += 1;
        }
    }

    /// It did not happen: the warp waits, and will execute it later.
    pub fn undo(&mut self, place: u32) {
        let Some(warp) = self.warp() else { return };
        warp.executed -= 1;
        if warp.events.last().is_some_and(|event| event.place == place) {
            warp.events.pop();
            self.events -= 1;
        }
    }

    /// What the access of the last instruction needed. An instruction may have several.
    pub fn access(&mut self, place: u32, target: Target, needed: Event) {
        let Some(event) = self.warp().and_then(|warp| warp.events.last_mut()).filter(|event| event.place == place)
        else {
            return;
        };
        event.target = target;
        event.lines = event.lines.saturating_add(needed.lines);
        event.sectors = event.sectors.saturating_add(needed.sectors);
        event.tags = event.tags.saturating_add(needed.tags);
        event.missed = event.missed.saturating_add(needed.missed);
        event.wavefronts = event.wavefronts.saturating_add(needed.wavefronts);
        event.turns = event.turns.max(needed.turns);
    }
}
