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
    /// Global memory, by the copy engine.
    Bulk,
}

/// An instruction that a warp executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub place: u32,
    /// The phases of mbarriers that it joins or waits for: one more than the index in
    /// [`BlockTrace::links`] of the last of them; 0: none.
    pub phases: u32,
    pub target: Target,
    /// The most lines that are in the same bank of L1's tags.
    pub tags: u8,
    /// Lines that the access touches, or addresses in constant memory.
    pub lines: u16,
    pub sectors: u16,
    /// Sectors that L1 did not have.
    pub missed: u16,
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

impl WarpTrace {
    /// Whether all instructions that it executed are recorded.
    fn is_whole(&self) -> bool {
        self.events.len() as u64 == self.executed
    }

    /// The last instruction that it executed, if that was at this place, and is recorded.
    fn last(&mut self, place: u32) -> Option<&mut Event> {
        let is_whole = self.is_whole();
        self.events.last_mut().filter(|event| is_whole && event.place == place)
    }
}

/// A phase of an mbarrier that an event joins or waits for, and the event's other ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The number of the phase, among those of all mbarriers of the block.
    phase: u32,
    /// As [`Event::phases`].
    others: u32,
}

/// What an instruction does at an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meets {
    /// It initializes it.
    Begins,
    /// It arrives, or what it copies will: the phase is not complete before.
    Joins,
    /// It waits for the current phase; for the one before, if that is `complete`.
    Waits { complete: bool },
    /// Its wait or test ended before the phase was complete, and the warp continues.
    GivesUp,
}

/// What the warps of a block executed.
#[derive(Clone, Debug)]
pub(crate) struct BlockTrace {
    pub warps: Vec<WarpTrace>,
    /// The phases of the mbarriers that its events join or wait for.
    pub links: Vec<Link>,
    /// How many phases there are.
    pub phases: u32,
    /// The phase of each mbarrier, by address, and the one before.
    current: HashMap<u64, (u32, Option<u32>)>,
    /// Whether the block has ended.
    pub ended: bool,
}

impl BlockTrace {
    /// The last instruction of a warp, at this place, joins the current phase of an mbarrier, or waits
    /// for it; for the one before, if that `was_complete`.
    fn link(&mut self, warp: u32, place: u32, barrier: u64, was_complete: bool) {
        let (current, before) = match self.current.get(&barrier) {
            Some(&phases) => phases,
            None => (self.begin_phase(barrier, None), None),
        };
        let phase = if was_complete { before } else { Some(current) };
        let event = self.warps[warp as usize].last(place).copied();
        if let (Some(phase), Some(event)) = (phase, event)
            && !self.phases_of(&event).any(|other| other == phase as usize)
        {
            self.links.push(Link { phase, others: event.phases });
            let links = self.links.len() as u32;
            self.warps[warp as usize].last(place).into_iter().for_each(|event| event.phases = links);
        }
    }

    /// The phases that an event joins or waits for.
    pub fn phases_of(&self, event: &Event) -> impl Iterator<Item = usize> {
        let mut next = event.phases;
        std::iter::from_fn(move || {
            let link = self.links[next.checked_sub(1)? as usize];
            next = link.others;
            Some(link.phase as usize)
        })
    }

    /// The next phase of an mbarrier begins, after this one.
    fn begin_phase(&mut self, barrier: u64, before: Option<u32>) -> u32 {
        self.current.insert(barrier, (self.phases, before));
        self.phases += 1;
        self.phases - 1
    }

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
                self.blocks.push(BlockTrace {
                    warps: vec![WarpTrace::default(); self.warps],
                    links: Vec::new(),
                    phases: 0,
                    current: HashMap::new(),
                    ended: false,
                });
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

    /// Whether this warp of a block is the running one, and is recorded.
    pub fn runs(&self, block: u64, warp: u32) -> bool {
        let index = self.known.get(&block).copied().flatten();
        index.is_some_and(|index| self.current == Some((index, warp as usize)))
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
        let is_whole = warp.is_whole();
        warp.executed += 1;
        if room && is_whole {
            warp.events.push(Event { place, ..Event::default() });
            self.events += 1;
        }
    }

    /// It did not happen: the warp waits, and will execute it later.
    pub fn undo(&mut self, place: u32) {
        let Some(warp) = self.warp() else { return };
        let is_recorded = warp.last(place).is_some();
        warp.executed -= 1;
        if is_recorded {
            warp.events.pop();
            self.events -= 1;
        }
    }

    /// The last instruction, of this warp of a block, does something at one of the block's mbarriers.
    pub fn meets(&mut self, (number, warp): (u64, u32), place: u32, barrier: u64, how: Meets) {
        let runs = self.runs(number, warp);
        let Some(block) = self.with_phases(number) else { return };
        match how {
            Meets::Begins => _ = block.begin_phase(barrier, None),
            Meets::GivesUp => block.warps[warp as usize].last(place).into_iter().for_each(|event| event.phases = 0),
            Meets::Joins | Meets::Waits { .. } if !runs => {}
            Meets::Joins => block.link(warp, place, barrier, false),
            Meets::Waits { complete } => block.link(warp, place, barrier, complete),
        }
    }

    /// The current phase of an mbarrier of a block is complete.
    pub fn completes_phase(&mut self, block: u64, barrier: u64) {
        if let Some(block) = self.with_phases(block) {
            let complete = block.current.get(&barrier).map(|&(current, _)| current);
            block.begin_phase(barrier, complete);
        }
    }

    /// A block whose phases are recorded, as long as its instructions are.
    fn with_phases(&mut self, block: u64) -> Option<&mut BlockTrace> {
        let index = self.known.get(&block).copied().flatten()?;
        (self.events < MOST_EVENTS).then(|| &mut self.blocks[index])
    }

    /// What the access of the last instruction needed. An instruction may have several.
    pub fn access(&mut self, place: u32, target: Target, needed: Event) {
        let Some(event) = self.warp().and_then(|warp| warp.last(place)) else { return };
        event.target = target;
        event.lines = event.lines.saturating_add(needed.lines);
        event.sectors = event.sectors.saturating_add(needed.sectors);
        event.tags = event.tags.saturating_add(needed.tags);
        event.missed = event.missed.saturating_add(needed.missed);
        event.wavefronts = event.wavefronts.saturating_add(needed.wavefronts);
        event.turns = event.turns.max(needed.turns);
    }
}
