//! Who released what to whom: fences, and the atomic and volatile operations that follow them.
//!
//! A thread that executes a fence and then a strong write (atomic, volatile, relaxed, release) *releases* what it knew at
//! the fence; a thread whose strong read finds that write *acquires* it. A fence counts for all threads that meet the
//! thread at a barrier afterwards: `write; fence; barrier; thread 0: atomic` is as good as a fence of thread 0. Acquiring asks for no fence:
//! a missing one is not found.
//!
//! What blocks that have ended released stays, and makes a graph: what a thread released, and what it had acquired before.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::clocks::{Clocks, Meeting};

/// What a synchronising operation is done to: an allocation (`None`: shared memory), and a cell of it.
pub(super) type Location = (Option<usize>, usize);

/// Times up to which each thread of a block is known of.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Of each thread at least.
    floor: u32,
    /// Of those of which more is known.
    above: Vec<(u32, u32)>,
}

impl Row {
    fn of(times: &[u32]) -> Self {
        let floor = times.iter().copied().min().unwrap_or(0);
        let all = (0..).zip(times.iter().copied());
        Self { floor, above: all.filter(|&(_, time)| time > floor).collect() }
    }

    fn known(&self, thread: u32) -> u32 {
        let above = self.above.binary_search_by_key(&thread, |&(thread, _)| thread);
        above.map_or(self.floor, |at| self.above[at].1)
    }

    fn add_to(&self, times: &mut [u32]) {
        times.iter_mut().for_each(|time| *time = (*time).max(self.floor));
        for &(thread, above) in &self.above {
            times[thread as usize] = times[thread as usize].max(above);
        }
    }
}

/// Something released.
struct Node {
    /// When its cluster began, most often one block.
    start: u32,
    /// The block's number in the cluster.
    rank: u32,
    /// What threads of the block get to know, and what threads of all blocks do: a fence may be for the block alone.
    rows: [Option<Row>; 2],
    /// What had been acquired before.
    before: Arc<Vec<u32>>,
}

/// A list of nodes, made ready for questions: those of each block.
type Index = HashMap<u32, Vec<u32>>;

/// What is released and acquired.
#[derive(Default)]
pub(super) struct Releases {
    nodes: Vec<Node>,
    /// What a strong read of a location finds.
    published: HashMap<Location, Vec<u32>>,
    /// What each thread has acquired.
    acquired: Vec<Arc<Vec<u32>>>,
    /// What each thread knew at its last fence: for its block, and for all.
    fenced: [Vec<Option<Arc<[u32]>>>; 2],
    /// What all threads have fenced, by a barrier.
    met: [Option<Arc<[u32]>>; 2],
    /// Threads of a block.
    threads_of_block: u32,
    /// Whether there was any fence in this block, or any acquisition.
    fences: bool,
    acquisitions: bool,
    /// The last list that was asked about.
    asked: Option<(Arc<Vec<u32>>, Index)>,
}

impl Releases {
    /// A block starts.
    pub fn begin(&mut self, threads: u32, threads_of_block: u32) {
        self.threads_of_block = threads_of_block;
        let threads = threads as usize;
        if self.acquisitions || self.acquired.len() != threads {
            self.acquired = vec![Arc::default(); threads];
        }
        if self.fences || self.fenced[0].len() != threads {
            self.fenced = [vec![None; threads], vec![None; threads]];
            self.met = [None, None];
        }
        (self.fences, self.acquisitions) = (false, false);
        self.published.retain(|(allocation, _), _| allocation.is_some());
    }

    /// Some lanes execute a fence.
    pub fn fence(&mut self, clocks: &mut Clocks, warp: u32, mask: u32, for_block: bool) {
        self.fences = true;
        let time = clocks.advance(warp);
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let thread = warp * 32 + lane;
            let mut row = clocks.row(thread);
            row[thread as usize] = row[thread as usize].max(time);
            let row: Arc<[u32]> = row.into();
            self.fenced[0][thread as usize] = Some(row.clone());
            if !for_block {
                self.fenced[1][thread as usize] = Some(row);
            }
        }
    }

    /// A thread writes to a location by a strong operation. `releases`: it is a fence, too, for all or for its block.
    pub fn publish(
        &mut self,
        clocks: &mut Clocks,
        thread: u32,
        location: Location,
        reads_too: bool,
        releases: Option<bool>,
    ) {
        if let Some(for_block) = releases {
            self.fence(clocks, thread / 32, 1 << (thread % 32), for_block);
        }
        let old = match reads_too {
            true => self.published.get(&location).cloned().unwrap_or_default(),
            false => Vec::new(),
        };
        if !self.fences {
            if !reads_too && !self.published.is_empty() {
                self.published.remove(&location);
            }
            return;
        }
        let mut before = (*self.acquired[thread as usize]).clone();
        let mut rows = [None, None];
        for (scope, row) in rows.iter_mut().enumerate() {
            let parts = [self.met[scope].clone(), self.fenced[scope][thread as usize].clone()];
            for part in parts.into_iter().flatten() {
                let all = row.get_or_insert_with(|| vec![0; part.len()]);
                all.iter_mut().zip(part.iter()).for_each(|(all, part)| *all = (*all).max(*part));
            }
        }
        if rows.iter().all(Option::is_none) {
            if !reads_too {
                self.published.remove(&location);
            }
            return;
        }
        // An operation that reads and writes hands on what was released to it.
        for &node in &old {
            let Node { start, rows: told, before: earlier, .. } = &self.nodes[node as usize];
            if *start == clocks.start {
                for (row, told) in rows.iter_mut().zip(told) {
                    if let Some(told) = told {
                        told.add_to(row.get_or_insert_with(|| vec![0; self.acquired.len()]));
                    }
                }
                before.extend(earlier.iter());
            } else if told[1].is_some() {
                before.push(node);
            }
        }
        before.sort_unstable();
        before.dedup();
        let rows = rows.map(|row| row.map(|row| Row::of(&row)));
        let rank = thread / self.threads_of_block;
        self.nodes.push(Node { start: clocks.start, rank, rows, before: Arc::new(before) });
        self.published.insert(location, vec![self.nodes.len() as u32 - 1]);
    }

    /// A thread reads a location by a strong operation.
    pub fn acquire(&mut self, clocks: &mut Clocks, thread: u32, threads: u32, location: Location) {
        if self.published.is_empty() {
            return;
        }
        let Some(found) = self.published.get(&location) else { return };
        for &node in found {
            let Node { start, rank, rows, before } = &self.nodes[node as usize];
            let mut list = (*self.acquired[thread as usize]).clone();
            if *start == clocks.start {
                let of_all = *rank != thread / self.threads_of_block;
                if let Some(row) = &rows[usize::from(of_all)] {
                    let mut times = vec![0; threads as usize];
                    row.add_to(&mut times);
                    clocks.learn(thread, &times);
                }
                list.extend(before.iter());
            } else if rows[1].is_some() {
                // What it hands on need not be kept beside it.
                list.retain(|earlier| before.binary_search(earlier).is_err());
                list.push(node);
            }
            list.sort_unstable();
            list.dedup();
            if list != *self.acquired[thread as usize] {
                self.acquisitions = true;
                self.acquired[thread as usize] = Arc::new(list);
            }
        }
    }

    /// All threads have met at a barrier.
    pub fn meet_all(&mut self) {
        if self.fences {
            for (met, fenced) in self.met.iter_mut().zip(&mut self.fenced) {
                let mut all = met.as_deref().map(<[u32]>::to_vec);
                for row in fenced.iter_mut().filter_map(Option::take) {
                    let all = all.get_or_insert_with(|| vec![0; row.len()]);
                    all.iter_mut().zip(row.iter()).for_each(|(all, row)| *all = (*all).max(*row));
                }
                *met = all.map(Into::into);
            }
        }
        if self.acquisitions {
            let threads = 0..self.acquired.len();
            let all = self.union(threads.clone());
            threads.for_each(|thread| self.acquired[thread] = all.clone());
        }
    }

    /// Some have met: see [`Clocks::meet`].
    pub fn meet(&mut self, parties: &[Meeting]) {
        if !self.fences && !self.acquisitions {
            return;
        }
        let threads = |waiting: bool| {
            let parties = parties.iter().filter(move |party| party.waits || !waiting);
            parties.flat_map(Meeting::threads).map(|(thread, _)| thread as usize)
        };
        let all = self.union(threads(false));
        threads(true).for_each(|thread| self.acquired[thread] = all.clone());
        for fenced in &mut self.fenced {
            let mut all: Option<Vec<u32>> = None;
            for row in threads(false).filter_map(|thread| fenced[thread].as_ref()) {
                let all = all.get_or_insert_with(|| vec![0; row.len()]);
                all.iter_mut().zip(row.iter()).for_each(|(all, row)| *all = (*all).max(*row));
            }
            if let Some(all) = all {
                let all: Arc<[u32]> = all.into();
                threads(true).for_each(|thread| fenced[thread] = Some(all.clone()));
            }
        }
    }

    fn union(&self, threads: impl Iterator<Item = usize>) -> Arc<Vec<u32>> {
        let mut all: Vec<u32> = Vec::new();
        let mut last: Option<&Arc<Vec<u32>>> = None;
        for thread in threads {
            let list = &self.acquired[thread];
            if last.is_none_or(|last| !Arc::ptr_eq(last, list)) {
                all.extend(list.iter());
                last = Some(list);
            }
        }
        all.sort_unstable();
        all.dedup();
        Arc::new(all)
    }

    /// Whether a thread knows what a thread of an earlier block, which began at `start`, did at a time.
    pub fn knows(&mut self, thread: u32, start: u32, of: u32, time: u32) -> bool {
        let list = self.acquired[thread as usize].clone();
        if list.is_empty() {
            return false;
        }
        if self.asked.as_ref().is_none_or(|(asked, _)| !Arc::ptr_eq(asked, &list)) {
            self.asked = Some((list.clone(), self.index(&list)));
        }
        let Some((_, index)) = &self.asked else { return false };
        let told = |&node: &u32| self.nodes[node as usize].rows[1].as_ref().is_some_and(|row| row.known(of) >= time);
        index.get(&start).is_some_and(|nodes| nodes.iter().any(told))
    }

    /// All nodes that lead to those of a list, by block.
    fn index(&self, list: &[u32]) -> Index {
        let mut index = Index::new();
        let mut seen: HashSet<u32> = list.iter().copied().collect();
        let mut rest = list.to_vec();
        while let Some(node) = rest.pop() {
            let Node { start, before, .. } = &self.nodes[node as usize];
            index.entry(*start).or_default().push(node);
            rest.extend(before.iter().copied().filter(|&node| seen.insert(node)));
        }
        index
    }
}
