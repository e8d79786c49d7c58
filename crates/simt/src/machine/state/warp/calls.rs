//! The call stack of a warp: frames, their registers and local memory, and `alloca`.

use super::Warp;
use super::frame::Frame;
use super::split::{ALONE, Split};
use crate::address::LOCAL_LIMIT;
use crate::lanes::{Base, WideRow, lanes};
use crate::machine::state::tracked::new_registers;
use crate::program::{FunctionCode, NEVER_JOINS};
use crate::trap::TrapKind;

/// The deepest call stack of a warp.
const CALL_DEPTH_LIMIT: u32 = 4096;

impl Warp<'_> {
    /// Calls a function with all lanes of a split; `split.pc` is where it returns to. Returns the
    /// split in the function.
    pub fn call(&mut self, split: Split, function: u32, code: &FunctionCode) -> Result<Split, TrapKind> {
        if let Some(frame) = self.ended_frame(&split, function) {
            self.ended -= 1;
            let again = &mut self.frames[frame as usize];
            (again.caller, again.live) = (Some(split), true);
            let tracked = self.tracked[again.tracked..].iter_mut();
            tracked.zip(new_registers(code)).for_each(|(register, new)| *register = new);
            return Ok(Split { pc: code.entry, mask: split.mask, join_at: NEVER_JOINS, join: ALONE, frame });
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
        Ok(Split { pc: code.entry, mask: split.mask, join_at: NEVER_JOINS, join: ALONE, frame })
    }

    /// An ended frame of this function below live ones, if any: they occur when several splits call
    /// in turns.
    fn ended_frame(&self, caller: &Split, function: u32) -> Option<u32> {
        if self.ended == 0 || self.stacks.contains_key(&caller.frame) {
            return None;
        }
        self.frames.iter().position(|frame| !frame.live && frame.function == function).map(|index| index as u32)
    }

    /// Returns from a function with all lanes of a split that is its frame's only one. Returns the
    /// split in the caller and the frame, whose rows stay as they are until the next call; `None`
    /// in a kernel.
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
    pub(super) fn free(&mut self, frame: u32) {
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

    /// The end of each lane's stack in the split's frame. Each lane has its own local memory, so
    /// diverged lanes that call different functions do not overlap.
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
}
