//! A warp: its registers, and the paths that its lanes are on.
//!
//! Lanes that execute together are a [`Split`]. A divergent branch turns one split into several, and creates a [`Join`]
//! where their paths reconverge. A split that reaches the join ends; when the last one has, the join continues as one
//! split. Splits run one at a time, in any order, so lanes may wait for each other.

use std::collections::HashMap;

use crate::lanes::{Base, Constants, Registers, Row, WideRow, lanes};
use crate::machine::hopper::held::HeldByProducts;
use crate::machine::state::{Incomplete, LocalMemory, UnwrittenLoads};
use crate::program::{FunctionCode, NEVER_MEET, RETURN};
use crate::trap::{Absence, TrapKind};

/// The deepest call stack of a warp.
const CALL_DEPTH_LIMIT: u32 = 4096;
/// The most local memory of a thread, as on the hardware.
pub(crate) const LOCAL_LIMIT: u64 = 512 << 10;

/// How many instructions lanes wait to reconverge with others that may never arrive.
const JOIN_PATIENCE: u64 = 1 << 14;
/// The same for a warp whose lanes have run out of patience before.
const LATER_JOIN_PATIENCE: u64 = 1 << 10;

/// No join: the split is the only one of its frame.
const ALONE: u32 = u32::MAX;

/// Lanes that execute together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub pc: u32,
    pub mask: u32,
    /// Where it ends and wakes `join`.
    pub meet: u32,
    join: u32,
    pub frame: u32,
}

/// A point of reconvergence.
#[derive(Clone, Copy, Debug)]
struct Join {
    /// The split that will continue, with the lanes that have arrived so far.
    next: Split,
    /// Splits that have not ended.
    pending: u32,
    /// The value of `executed` when lanes last arrived.
    since: u64,
}

/// A function being executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub function: u32,
    pub base: Base,
    /// Where its local memory starts.
    pub local: u64,
    /// Where its variables end and `alloca` starts.
    local_end: u64,
    /// Where free local memory started before this frame was created.
    local_before: u64,
    /// Where its tracked registers start.
    pub tracked: usize,
    /// The calling split, at the call; `None` for the kernel.
    caller: Option<Split>,
    live: bool,
}

/// What is known of a register that may be read before anything wrote it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedRegister {
    /// The lanes in which it holds what was written.
    pub written: u32,
    /// What nothing wrote: this register, one that it was computed from, or the memory that a load read.
    pub origin: Origin,
}

impl TrackedRegister {
    /// The register got the value of one in another frame, in some lanes. If an unwritten part of it was loaded, that load is
    /// blamed.
    pub fn take_load(&mut self, value: Option<Self>, mask: u32) {
        if let Some(Self { written, origin: origin @ Origin::Load(_) }) = value
            && mask & !written != 0
        {
            self.origin = origin;
        }
    }
}

/// What nothing wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A register of the frame.
    Register(u32),
    /// Memory that a load read: an index in [`UnwrittenLoads`].
    Load(u32),
}

/// What a split waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// A barrier of the block, or that of the cluster.
    Barrier(u32),
    /// Other lanes of the warp.
    Lanes { members: u32 },
    /// A phase of a barrier in shared memory.
    Phase,
}

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
    /// Lanes that have arrived at the cluster's barrier, which is not complete yet.
    pub arrived: u32,
    /// The value of `executed` at the last of these arrivals.
    pub arrived_at: u64,
    /// Lanes that had arrived when it completed, and have not waited yet.
    pub passed: u32,
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
    /// Instructions executed: its clock.
    pub executed: u64,
    /// The value of `executed` at which to look for lanes that wait in vain.
    pub look_at: u64,
    /// Whether lanes have proceeded without reconverging.
    pub apart: bool,
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
            arrived: 0,
            arrived_at: 0,
            passed: 0,
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
            look_at: JOIN_PATIENCE,
            apart: false,
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
        (self.arrived, self.passed) = (0, 0);
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
        self.ready.push(Split { pc: kernel.entry, mask: self.exists, meet: NEVER_MEET, join: ALONE, frame: 0 });
        self.executed = 0;
        self.look_at = JOIN_PATIENCE;
        self.apart = false;
    }

    /// The tracked registers of a function that begins.
    fn track(&mut self, code: &FunctionCode) {
        self.tracked.extend(new_registers(code));
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
    pub fn enter(&mut self, split: &Split) {
        self.registers.base = self.frames[split.frame as usize].base;
    }

    /// Lets the lanes of a split diverge: program counters and masks; they reconverge at `meet`.
    pub fn diverge(&mut self, split: Split, ways: &[(u32, u32)], meet: u32) {
        let join = if meet == split.meet && split.join != ALONE {
            split.join
        } else {
            self.join(Join { next: Split { pc: meet, mask: 0, ..split }, pending: 1, since: self.executed })
        };
        self.joins[join as usize].pending += ways.len() as u32;
        for &(pc, mask) in ways {
            let way = Split { pc, mask, meet, join, frame: split.frame };
            if pc == meet { self.arrive(way) } else { self.ready.push(way) }
        }
        // The split itself was one of these.
        self.end(Split { join, ..split });
    }

    /// Separates some lanes from a split: they take the given ways and wait at `meet` for the rest, which is returned.
    pub fn part(&mut self, split: Split, mask: u32, ways: &[(u32, u32)], meet: u32) -> Split {
        let next = Split { pc: meet, mask: 0, ..split };
        let join = self.join(Join { next, pending: 1, since: self.executed });
        for &(pc, mask) in ways.iter().filter(|(_, mask)| *mask != 0) {
            self.joins[join as usize].pending += 1;
            let way = Split { pc, mask, meet, join, frame: split.frame };
            if pc == meet { self.arrive(way) } else { self.ready.push(way) }
        }
        Split { mask, meet, join, ..split }
    }

    fn join(&mut self, join: Join) -> u32 {
        match self.free_joins.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() as u32 - 1
            }
        }
    }

    /// A split has reached the join where it meets others.
    pub fn arrive(&mut self, split: Split) {
        if let Some(join) = self.joins.get_mut(split.join as usize) {
            join.next.mask |= split.mask;
            join.since = self.executed;
        }
        self.end(split);
    }

    /// Lanes of the kernel itself that wait at joins whose program counter satisfies `at`.
    pub fn waits_at_joins(&self, at: impl Fn(u32) -> bool) -> u32 {
        let joins = self.joins.iter().filter(|join| join.next.frame == 0 && at(join.next.pc));
        joins.fold(0, |mask, join| mask | join.next.mask)
    }

    /// Lets these lanes proceed as splits of their own. Returns whether there were any.
    pub fn go_on_apart(&mut self, at: impl Fn(u32) -> bool) -> bool {
        let mut any = false;
        for index in 0..self.joins.len() {
            let next = self.joins[index].next;
            if next.mask != 0 && next.frame == 0 && at(next.pc) {
                self.go_on_without_others(index as u32);
                any = true;
            }
        }
        any
    }

    /// Lets the lanes that wait at a join proceed without the others. If they wait to return from a function, they continue
    /// in the caller: returns the function's frame and the new split.
    pub fn go_on_without_others(&mut self, join: u32) -> Option<(Frame, Split)> {
        let Split { pc, mask, frame, .. } = self.joins[join as usize].next;
        let caller = self.frames[frame as usize].caller.filter(|_| pc == RETURN);
        let parted = self.part_from_others(caller.unwrap_or(self.joins[join as usize].next));
        self.joins[join as usize].next.mask = 0;
        let apart = Split { mask, ..parted };
        self.ready.push(apart);
        if caller.is_some() {
            self.frames[frame as usize].caller = Some(parted);
            return Some((self.frames[frame as usize], apart));
        }
        self.joins[join as usize].next = Split { mask: 0, ..parted };
        None
    }

    /// Prepares a split to become two that meet where it ends. Returns what both start from.
    fn part_from_others(&mut self, split: Split) -> Split {
        match self.joins.get_mut(split.join as usize) {
            Some(join) => {
                join.pending += 1;
                split
            }
            // The kernel may end twice, a function's frame may not.
            None if split.frame == 0 => split,
            None => {
                let next = Split { pc: RETURN, mask: 0, ..split };
                let join = self.join(Join { next, pending: 2, since: self.executed });
                Split { join, meet: RETURN, ..split }
            }
        }
    }

    /// How many instructions lanes wait to reconverge.
    pub fn patience(&self) -> u64 {
        if self.apart { LATER_JOIN_PATIENCE } else { JOIN_PATIENCE }
    }

    /// The joins at which lanes have waited for that long.
    pub fn impatient_joins(&self) -> Vec<u32> {
        let long_ago = self.executed.saturating_sub(self.patience());
        let waits = |join: &Join| join.next.mask != 0 && join.since <= long_ago;
        self.joins.iter().enumerate().filter(|(_, join)| waits(join)).map(|(index, _)| index as u32).collect()
    }

    /// The paths (first and last program counter) of a split to a join: one for each join and call that it has to leave on
    /// the way. `None` if it will not get there.
    pub fn ways_to(&self, split: &Split, join: u32) -> Option<Vec<(u32, u32)>> {
        let mut ways = Vec::new();
        let mut split = *split;
        loop {
            ways.push((split.pc, split.meet));
            split = match self.joins.get(split.join as usize) {
                _ if split.join == join => return Some(ways),
                Some(join) => join.next,
                None => self.frames[split.frame as usize].caller?,
            };
        }
    }

    /// Resumes a split that has waited. If lanes have proceeded separately, splits at the same place are merged.
    pub fn resume(&mut self, split: Split) {
        let same = |other: &&mut Split| (other.pc, other.frame, other.join) == (split.pc, split.frame, split.join);
        match self.ready.iter_mut().find(same).filter(|_| self.apart) {
            Some(other) => {
                other.mask |= split.mask;
                if let Some(join) = self.joins.get_mut(split.join as usize) {
                    join.pending -= 1;
                }
            }
            None => self.ready.push(split),
        }
    }

    /// Ends a split that has arrived at its join, or whose lanes have all exited. Continues the join if this was the last one.
    pub fn end(&mut self, mut split: Split) {
        loop {
            if split.join == ALONE {
                // All lanes of the frame have exited.
                let Some(caller) = self.frames[split.frame as usize].caller else { return };
                self.free(split.frame);
                split = caller;
            } else {
                let join = &mut self.joins[split.join as usize];
                join.pending -= 1;
                if join.pending > 0 {
                    return;
                }
                let next = join.next;
                join.next.mask = 0;
                self.free_joins.push(split.join);
                if next.mask != 0 {
                    self.ready.push(next);
                    return;
                }
                split = next;
            }
        }
    }

    /// Calls a function with all lanes of a split; `split.pc` is where it returns to. Returns the split in the function.
    pub fn call(&mut self, split: Split, function: u32, code: &FunctionCode) -> Result<Split, TrapKind> {
        if let Some(frame) = self.ended_frame(&split, function) {
            self.ended -= 1;
            let again = &mut self.frames[frame as usize];
            (again.caller, again.live) = (Some(split), true);
            let tracked = self.tracked[again.tracked..].iter_mut();
            tracked.zip(new_registers(code)).for_each(|(register, new)| *register = new);
            return Ok(Split { pc: code.entry, mask: split.mask, meet: NEVER_MEET, join: ALONE, frame });
        }
        if self.frames.len() as u32 >= CALL_DEPTH_LIMIT {
            return Err(TrapKind::CallDepth { limit: CALL_DEPTH_LIMIT });
        }
        let (base, local_before) = self.top;
        let local = match self.stacks.get(&split.frame) {
            Some(stack) => lanes(split.mask).map(|lane| stack[lane]).fold(local_before, u64::max).next_multiple_of(16),
            None => local_before,
        };
        let needed = local.saturating_add(code.local);
        if needed > LOCAL_LIMIT {
            return Err(TrapKind::LocalMemory { needed, limit: LOCAL_LIMIT });
        }
        self.top = (
            Base {
                words: base.words + code.words as usize,
                doubles: base.doubles + code.doubles as usize,
                predicates: base.predicates + code.predicates as usize,
            },
            needed.next_multiple_of(16),
        );
        self.registers.grow(self.top.0);
        self.local.grow(needed);
        let (local_end, caller, tracked) = (self.top.1, Some(split), self.tracked.len());
        self.track(code);
        self.frames.push(Frame { function, base, local, local_end, local_before, tracked, caller, live: true });
        let frame = self.frames.len() as u32 - 1;
        Ok(Split { pc: code.entry, mask: split.mask, meet: NEVER_MEET, join: ALONE, frame })
    }

    /// An ended frame of this function below live ones: there are such when several splits call in turns.
    fn ended_frame(&self, caller: &Split, function: u32) -> Option<u32> {
        if self.ended == 0 || self.stacks.contains_key(&caller.frame) {
            return None;
        }
        self.frames.iter().position(|frame| !frame.live && frame.function == function).map(|index| index as u32)
    }

    /// Returns from a function with all lanes of a split that is its frame's only one. Returns the split in the caller and
    /// the frame, whose rows stay as they are until the next call; `None` in a kernel.
    pub fn leave(&mut self, split: Split) -> Option<(Split, Frame)> {
        let frame = self.frames[split.frame as usize];
        let caller = frame.caller?;
        self.free(split.frame);
        Some((Split { mask: split.mask, ..caller }, frame))
    }

    /// The split that called the function which a split is in, at the step after the call.
    pub fn caller(&self, split: &Split) -> Option<Split> {
        self.frames[split.frame as usize].caller
    }

    /// Frees the rows of a frame, and of ended frames below it.
    fn free(&mut self, frame: u32) {
        self.frames[frame as usize].live = false;
        self.stacks.remove(&frame);
        self.ended += 1;
        while let Some(last) = self.frames.last().filter(|last| !last.live) {
            self.top = (last.base, last.local_before);
            self.tracked.truncate(last.tracked);
            self.frames.pop();
            self.ended -= 1;
        }
    }

    /// The end of each lane's stack in the split's frame. Each lane has its own local memory, so diverged lanes that call
    /// different functions do not overlap.
    pub fn stack(&self, split: &Split) -> WideRow {
        match self.stacks.get(&split.frame) {
            Some(stack) => **stack,
            None => [self.frame(split).local_end; 32],
        }
    }

    /// Allocates local memory for each lane until the function returns. Returns the addresses.
    pub fn allocate(&mut self, split: &Split, mask: u32, sizes: &WideRow, align: u32) -> Result<WideRow, TrapKind> {
        let mut ends = self.stack(split);
        let mut addresses = [0; 32];
        for lane in lanes(mask) {
            addresses[lane] = ends[lane].next_multiple_of(align.into());
            let needed = addresses[lane].saturating_add(sizes[lane]);
            if needed > LOCAL_LIMIT {
                return Err(TrapKind::LocalMemory { needed, limit: LOCAL_LIMIT });
            }
            ends[lane] = needed;
        }
        self.local.grow(ends.iter().copied().fold(0, u64::max));
        self.stacks.insert(split.frame, Box::new(ends));
        Ok(addresses)
    }

    /// Frees what each lane has allocated since its stack ended there. An unknown end is clamped.
    pub fn restore_stack(&mut self, split: &Split, mask: u32, ends: &WideRow) {
        let start = self.frame(split).local_end;
        if let Some(stack) = self.stacks.get_mut(&split.frame) {
            for lane in lanes(mask) {
                stack[lane] = ends[lane].clamp(start, stack[lane]);
            }
        }
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
            Some(Wait::Phase) => Absence::AtPhase,
            None => Absence::Diverged,
        }
    }

    /// What a lane waits for, if anything.
    pub fn waits_for(&self, lane: u32) -> Option<Wait> {
        self.waiting.iter().find(|(split, _)| split.mask >> lane & 1 == 1).map(|&(_, wait)| wait)
    }
}

/// Nothing has written the tracked registers of a function that begins; those that matter only for what is loaded are written before they are
/// read.
fn new_registers(code: &FunctionCode) -> impl Iterator<Item = TrackedRegister> {
    (0..).zip(&code.tracked_of_loaded).map(|(register, &of_loaded)| {
        let written = if of_loaded { u32::MAX } else { 0 };
        TrackedRegister { written, origin: Origin::Register(register) }
    })
}
