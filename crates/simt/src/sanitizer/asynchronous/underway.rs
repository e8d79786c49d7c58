//! Bulk copies and products of warpgroups (`wgmma`) under way: what they have yet to read and to
//! write. The hooks begin and end them; `pending` asks which one an access conflicts with.
//!
//! The copy engine and the tensor cores may access memory at any time between the instruction and
//! the wait. A write in between, or a read of a copy's destination, has an undefined result, and no
//! barrier helps. A copy to shared memory is under way until a thread sees the phase of its
//! `mbarrier`, a copy to global memory until its thread waits for the group (or, for its source,
//! for the reads), and a product until its warp waits; then it is ordered for all four warps of the
//! warpgroup. If a block ends without a wait, its copies to global memory are under way until the
//! launch ends.
//!
//! A phase that completes because the `mbarrier` never expected the bytes does not count as a wait.
//! Bytes that the copy engine or `st.async` writes count as written when the copy begins, by the
//! thread that began it; the `mbarrier` that counts them orders them for all that wait for it. What
//! is copied to global memory counts as written once more, by its thread's wait: what the thread
//! released before that does not include the copy.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::address::{Lanes, Located};
use crate::instruction::AccessKind;
use crate::memory::Memory;
use crate::program::{MemoryOperation, Path};
use crate::sanitizer::race::Races;
use crate::sanitizer::touch::Reached;
use crate::site::AccessAction;
use crate::tensor_map::Piece;

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Whether it is in shared memory, at an address among those of all blocks that exist at once;
    /// otherwise in global memory.
    pub shared: bool,
    pub start: u64,
    pub bytes: u64,
}

/// An operation that runs beside the threads.
#[derive(Debug)]
pub(crate) struct Operation {
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    /// The block, and the thread in it.
    pub block: u64,
    pub thread: u32,
    /// What it has yet to read.
    pub reads: Vec<Run>,
    /// What it has yet to write.
    pub writes: Vec<Run>,
    /// Whether it is a reduction: it atomically combines what it writes with memory.
    pub combines: bool,
    pub is_product: bool,
    /// Whether its block has ended, and the bytes have been written.
    pub left: bool,
}

/// The pending operation that an access comes before.
pub(crate) struct Ahead<'a> {
    pub operation: &'a Operation,
    /// What the operation has yet to do there.
    pub does: AccessAction,
    /// The first byte that both access.
    pub address: u64,
}

/// The products of a warp that it has not waited for.
#[derive(Default)]
struct Products {
    /// Products that are not committed yet.
    open: Vec<u32>,
    groups: VecDeque<Vec<u32>>,
}

/// The operations of all clusters that exist at once.
#[derive(Default)]
pub(crate) struct Underway {
    begun: u32,
    /// By number, from 1.
    operations: BTreeMap<u32, (Operation, [Run; 2])>,
    /// What blocks that have ended left under way to global memory: by its start, each range with
    /// the operation that writes it. They do not overlap; of two that do, the later one is kept.
    left: BTreeMap<u64, Operation>,
    /// By block and warp.
    products: HashMap<(u64, u32), Products>,
}

impl Run {
    fn end(self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    fn overlaps(self, other: Run) -> bool {
        self.shared == other.shared && self.start < other.end() && other.start < self.end()
    }

    /// Merges pieces of shared memory, of 16 bytes each.
    fn of_pieces(mut pieces: Vec<u64>) -> Vec<Self> {
        pieces.sort_unstable();
        pieces.dedup();
        let mut runs: Vec<Self> = Vec::new();
        for start in pieces {
            match runs.last_mut() {
                Some(last) if last.end() == start => last.bytes += 16,
                _ => runs.push(Self { shared: true, start, bytes: 16 }),
            }
        }
        runs
    }
}

impl Operation {
    /// What the operation has yet to do to the accessed bytes that conflicts with the access.
    fn ahead_of(&self, action: AccessAction, accessed: Run) -> Option<Ahead<'_>> {
        let ahead = |does, run: Run| Ahead { operation: self, does, address: accessed.start.max(run.start) };
        let both_combine = self.combines && action == AccessAction::Atomic;
        if let Some(run) = self.writes.iter().find(|run| run.overlaps(accessed) && !both_combine) {
            return Some(ahead(if self.combines { AccessAction::Atomic } else { AccessAction::Write }, *run));
        }
        let read = self.reads.iter().find(|run| action != AccessAction::Read && run.overlaps(accessed))?;
        Some(ahead(AccessAction::Read, *read))
    }

    /// Reports to the race detector that its thread, whose block is running, writes a range now.
    fn write_now(&self, run: Run, races: &mut Races, memory: &Memory) {
        if run.shared {
            return;
        }
        let (warp, lane) = (races.in_cluster(self.thread / 32), self.thread as usize % 32);
        let piece = Piece { address: run.start, offset: 0, bytes: run.bytes as u32 };
        for Piece { address, bytes: width, .. } in piece.parts() {
            let Some(Located { index, base, .. }) = memory.locate(address, true) else { continue };
            let operation = &match self.combines {
                true => MemoryOperation::atomic(self.place, width),
                false => MemoryOperation::new(self.place, AccessKind::Store, width),
            }
            .through(Path::Async);
            let lanes = &Lanes::one(lane, address.wrapping_sub(base), width);
            let time = races.clocks.interval(warp);
            // Conflicts of the copy have been reported.
            let reached = Reached { allocation: Some(index), operation, lanes, base: 0, warp, time };
            races.lanes(&reached, lanes.mask, &mut |_, _| {});
        }
    }

    /// The bounds of all its accesses, in global and in shared memory.
    fn bounds(&self) -> [Run; 2] {
        [false, true].map(|shared| {
            let runs = || self.reads.iter().chain(&self.writes).filter(|run| run.shared == shared);
            let start = runs().map(|run| run.start).min().unwrap_or(0);
            let end = runs().map(|run| run.end()).max().unwrap_or(0);
            Run { shared, start, bytes: end - start }
        })
    }
}

impl Underway {
    /// A cluster starts, after the others have ended.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.products.clear();
    }

    /// Whether any operation is under way, in shared or in global memory.
    #[inline(always)]
    pub fn any(&self, shared: bool) -> bool {
        !self.operations.is_empty() || !shared && !self.left.is_empty()
    }

    /// Adds an operation. Returns its number.
    pub fn begin(&mut self, operation: Operation) -> u32 {
        self.begun = self.begun.wrapping_add(1).max(1);
        let bounds = operation.bounds();
        self.operations.insert(self.begun, (operation, bounds));
        self.begun
    }

    /// The operation has read its source.
    pub fn has_read(&mut self, number: u32) {
        if let Some((operation, _)) = self.operations.get_mut(&number) {
            operation.reads.clear();
        }
    }

    /// The operation is complete.
    pub fn end(&mut self, number: u32) {
        self.operations.remove(&number);
    }

    /// The operation's thread has waited for it: it counts as a write by this thread now.
    pub fn end_awaited(&mut self, number: u32, races: &mut Races, memory: &Memory) {
        if let Some((operation, _)) = self.operations.remove(&number) {
            operation.writes.iter().for_each(|&run| operation.write_now(run, races, memory));
        }
    }

    /// The operation's block ends without having waited for it.
    pub fn leave(&mut self, number: u32) {
        let Some((operation, _)) = self.operations.remove(&number) else { return };
        for &run in operation.writes.iter().filter(|run| !run.shared && run.bytes > 0) {
            while let Some(start) = self.left_at(run).map(|other| other.writes[0].start) {
                self.left.remove(&start);
            }
            let left = Operation { reads: Vec::new(), writes: vec![run], left: true, ..operation };
            self.left.insert(run.start, left);
        }
    }

    /// An operation that was left under way to a range of global memory.
    fn left_at(&self, run: Run) -> Option<&Operation> {
        let (_, operation) = self.left.range(..run.end()).next_back()?;
        operation.writes.iter().any(|written| written.overlaps(run)).then_some(operation)
    }

    /// A warp begins its part of a product, which reads these pieces of shared memory.
    pub fn begin_product(&mut self, place: u32, block: u64, warp: u32, pieces: Vec<u64>) {
        let reads = Run::of_pieces(pieces);
        let number = self.begin(Operation {
            place,
            block,
            thread: warp * 32,
            reads,
            writes: Vec::new(),
            combines: false,
            is_product: true,
            left: false,
        });
        self.products.entry((block, warp)).or_default().open.push(number);
    }

    /// A warp commits its products so far as a group.
    pub fn commit_products(&mut self, block: u64, warp: u32) {
        let products = self.products.entry((block, warp)).or_default();
        let group = std::mem::take(&mut products.open);
        products.groups.push_back(group);
    }

    /// A warp has waited until `groups_left` groups are left.
    pub fn await_products(&mut self, block: u64, warp: u32, groups_left: usize) {
        let Some(products) = self.products.get_mut(&(block, warp)) else { return };
        while products.groups.len() > groups_left {
            for number in products.groups.pop_front().into_iter().flatten() {
                self.operations.remove(&number);
            }
        }
    }

    /// The first pending operation that conflicts with an access.
    pub fn ahead_of(&self, action: AccessAction, accessed: Run) -> Option<Ahead<'_>> {
        let mut near =
            self.operations.values().filter(|(_, bounds)| bounds[usize::from(accessed.shared)].overlaps(accessed));
        let left = || if accessed.shared { None } else { self.left_at(accessed) };
        near.find_map(|(operation, _)| operation.ahead_of(action, accessed))
            .or_else(|| left()?.ahead_of(action, accessed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(shared: bool, start: u64, bytes: u64) -> Run {
        Run { shared, start, bytes }
    }

    fn copy(reads: Run, writes: Run, combines: bool) -> Operation {
        let (reads, writes) = (vec![reads], vec![writes]);
        Operation { place: 1, block: 0, thread: 0, reads, writes, combines, is_product: false, left: false }
    }

    /// What is ahead of an access: the pending action, and where.
    fn ahead(underway: &Underway, action: AccessAction, accessed: Run) -> Option<(AccessAction, u64)> {
        underway.ahead_of(action, accessed).map(|ahead| (ahead.does, ahead.address))
    }

    #[test]
    fn a_copy_is_ahead_of_what_it_has_not_read_and_written() {
        use AccessAction::{Atomic, Read, Write};
        let mut underway = Underway::default();
        let number = underway.begin(copy(run(true, 64, 32), run(false, 4096, 32), false));
        assert_eq!(ahead(&underway, Read, run(true, 64, 4)), None);
        assert_eq!(ahead(&underway, Write, run(true, 60, 8)), Some((Read, 64)));
        assert_eq!(ahead(&underway, Write, run(true, 96, 4)), None);
        assert_eq!(ahead(&underway, Write, run(false, 64, 4)), None);
        assert_eq!(ahead(&underway, Read, run(false, 4124, 4)), Some((Write, 4124)));
        underway.has_read(number);
        assert_eq!(ahead(&underway, Write, run(true, 64, 4)), None);
        assert_eq!(ahead(&underway, Atomic, run(false, 4096, 4)), Some((Write, 4096)));
        underway.end(number);
        assert!(!underway.any(false));
    }

    #[test]
    fn reductions_go_with_each_other() {
        use AccessAction::{Atomic, Read};
        let mut underway = Underway::default();
        underway.begin(copy(run(true, 0, 16), run(false, 4096, 16), true));
        assert_eq!(ahead(&underway, Atomic, run(false, 4096, 4)), None);
        assert_eq!(ahead(&underway, Read, run(false, 4096, 4)), Some((Atomic, 4096)));
    }

    #[test]
    fn what_a_block_leaves_is_ahead_of_the_next_ones() {
        use AccessAction::{Read, Write};
        let mut underway = Underway::default();
        for start in [4096, 4112, 4200, 4120] {
            let number = underway.begin(copy(run(true, 0, 16), run(false, start, 16), false));
            underway.leave(number);
        }
        underway.clear();
        assert!(underway.any(false) && !underway.any(true));
        assert_eq!(ahead(&underway, Read, run(false, 4104, 4)), Some((Write, 4104)));
        assert_eq!(ahead(&underway, Write, run(false, 4132, 16)), Some((Write, 4132)));
        // The range at 4112 overlaps with the later one at 4120.
        assert_eq!(ahead(&underway, Read, run(false, 4112, 8)), None);
        assert_eq!(ahead(&underway, Read, run(false, 4136, 64)), None);
        assert_eq!(ahead(&underway, Read, run(false, 4196, 8)), Some((Write, 4200)));
        assert_eq!(ahead(&underway, Write, run(true, 0, 16)), None);
    }

    #[test]
    fn products_are_waited_for_by_the_group() {
        use AccessAction::{Read, Write};
        let mut underway = Underway::default();
        for first in [0, 256] {
            underway.begin_product(1, 0, 2, vec![first + 16, first, first + 16, first + 64]);
            underway.commit_products(0, 2);
        }
        assert_eq!(ahead(&underway, Write, run(true, 28, 8)), Some((Read, 28)));
        assert_eq!(ahead(&underway, Write, run(true, 32, 32)), None);
        underway.await_products(0, 3, 0);
        underway.await_products(0, 2, 1);
        assert_eq!(ahead(&underway, Write, run(true, 0, 4)), None);
        assert_eq!(ahead(&underway, Write, run(true, 320, 4)), Some((Read, 320)));
        underway.await_products(0, 2, 0);
        assert!(!underway.any(false));
    }
}
