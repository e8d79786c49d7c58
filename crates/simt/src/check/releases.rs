//! Who released what to whom: fences, and the atomic and volatile operations that follow them.
//!
//! A thread that executes a fence and then a strong write (atomic, volatile, relaxed, release) *releases* what it knew at
//! the fence; a thread whose strong read finds that write *acquires* it. A fence counts for all threads that meet the
//! thread at a barrier afterwards: `write; fence; barrier; thread 0: atomic` is as good as a fence of thread 0. Acquiring asks for no fence:
//! a missing one is not found.
//!
//! A fence is for the block, the cluster or all, and whoever is in a narrower one is in the wider ones. The same way goes what is known of
//! fences between proxies: up to when the accesses of each thread by the generic proxy come before those by the async one.
//!
//! What blocks that have ended released stays, and makes a graph: what a thread released, and what it had acquired before.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::clocks::{Clocks, Meeting};
use crate::program::{Audience, Fence};

/// What a synchronising operation is done to: an allocation (`None`: shared memory), and a cell of it.
pub(super) type Location = (Option<usize>, usize);

/// What a fence is for: an [`Audience`], or accesses of another proxy: [`Proxied`].
const PURPOSES: usize = 6;
/// Those of them that are audiences: [`Audience`] as a number.
const AUDIENCES: usize = 3;
const FOR_ALL: usize = Audience::All as usize;
/// What generic accesses can be put before: those of the async proxy to a state space, those of the tensor map proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proxied {
    Shared = 3,
    Global = 4,
    Map = 5,
}

/// For each purpose, something.
type ByPurpose<T> = [T; PURPOSES];

/// Times up to which each thread of a block is known of (each column of the clocks).
#[derive(Clone, Debug, Default, PartialEq)]
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

    fn known(&self, column: usize) -> u32 {
        let above = self.above.binary_search_by_key(&(column as u32), |&(column, _)| column);
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
#[derive(PartialEq)]
struct Node {
    /// When its cluster began, most often one block.
    start: u32,
    /// The block's number in the cluster.
    rank: u32,
    /// What threads get to know, of the block, the cluster, and all.
    rows: ByPurpose<Option<Row>>,
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
    published: HashMap<Location, u32>,
    /// The last location that was looked up there, and what it held: threads that poll come back to it.
    looked_up: Option<(Location, Option<u32>)>,
    /// What each thread has acquired.
    acquired: Vec<Arc<Vec<u32>>>,
    /// The node that each thread acquired last, if to acquire it again tells the thread nothing.
    heard: Vec<Option<u32>>,
    /// A node of each thread's block that has all that the thread could release now.
    told: Vec<Option<u32>>,
    /// What each thread knew at its last fence of each purpose.
    fenced: ByPurpose<Vec<Option<Arc<[u32]>>>>,
    /// What all threads have fenced, by a barrier.
    met: ByPurpose<Option<Arc<[u32]>>>,
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
            self.fenced = std::array::from_fn(|_| vec![None; threads]);
            self.met = ByPurpose::default();
        }
        self.heard.clear();
        self.heard.resize(threads, None);
        self.told.clone_from(&self.heard);
        (self.fences, self.acquisitions) = (false, false);
        self.published.retain(|(allocation, _), _| allocation.is_some());
        self.looked_up = None;
    }

    /// What a strong read of a location finds.
    fn found(&mut self, location: Location) -> Option<u32> {
        match self.looked_up {
            Some((last, found)) if last == location => found,
            _ => {
                let found = self.published.get(&location).copied();
                self.looked_up = Some((location, found));
                found
            }
        }
    }

    /// What strong reads of a location find from now on.
    fn put(&mut self, location: Location, node: Option<u32>) {
        self.looked_up = Some((location, node));
        match node {
            Some(node) => self.published.insert(location, node),
            None => self.published.remove(&location),
        };
    }

    /// Some lanes execute a fence.
    pub fn fence(&mut self, clocks: &mut Clocks, warp: u32, mask: u32, fence: &Fence) {
        self.fences = true;
        let time = clocks.advance(warp);
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            let thread = warp * 32 + lane;
            let mut row = clocks.row(thread);
            let own = &mut row[clocks.column(thread)];
            *own = (*own).max(time);
            let row: Arc<[u32]> = row.into();
            (self.heard[thread as usize], self.told[thread as usize]) = (None, None);
            for purpose in (0..PURPOSES).filter(|&purpose| serves(fence, purpose)) {
                self.fenced[purpose][thread as usize] = Some(row.clone());
            }
        }
    }

    /// A thread writes to a location by a strong operation. `releases`: it is a fence, too, for these.
    pub fn publish(
        &mut self,
        clocks: &mut Clocks,
        thread: u32,
        location: Location,
        reads_too: bool,
        releases: Option<Audience>,
    ) {
        if let Some(audience) = releases {
            self.fence(clocks, thread / 32, 1 << (thread % 32), &Fence::of(audience));
        }
        if !self.fences && (reads_too || self.published.is_empty()) {
            return;
        }
        let found = self.found(location);
        let has_fenced = (0..AUDIENCES)
            .any(|purpose| self.met[purpose].is_some() || self.fenced[purpose][thread as usize].is_some());
        if !has_fenced {
            if !reads_too && found.is_some() {
                self.put(location, None);
            }
            return;
        }
        // An operation that reads and writes hands on what was released to it.
        let old = found.filter(|_| reads_too);
        if old.is_some() && old == self.told[thread as usize] {
            return;
        }
        let mut before = (*self.acquired[thread as usize]).clone();
        let mut rows: ByPurpose<Option<Vec<u32>>> = ByPurpose::default();
        for (purpose, row) in rows.iter_mut().enumerate() {
            let parts = [self.met[purpose].clone(), self.fenced[purpose][thread as usize].clone()];
            for part in parts.into_iter().flatten() {
                let all = row.get_or_insert_with(|| vec![0; part.len()]);
                all.iter_mut().zip(part.iter()).for_each(|(all, part)| *all = (*all).max(*part));
            }
        }
        let rank = thread / self.threads_of_block;
        if let Some(node) = old {
            let Node { start, rank: releaser, rows: told, before: earlier } = &self.nodes[node as usize];
            if *start == clocks.start {
                for (purpose, (row, told)) in rows.iter_mut().zip(told).enumerate() {
                    let is_heard = purpose != Audience::Block as usize || *releaser == rank;
                    if let Some(told) = told.as_ref().filter(|_| is_heard) {
                        told.add_to(row.get_or_insert_with(|| vec![0; clocks.columns]));
                    }
                }
                before.extend(earlier.iter());
            } else if told[FOR_ALL].is_some() {
                before.push(node);
            }
        }
        before.sort_unstable();
        before.dedup();
        let rows = rows.map(|row| row.map(|row| Row::of(&row)));
        let new = Node { start: clocks.start, rank, rows, before: Arc::new(before) };
        // Threads that poll for a lock add nothing to it most times.
        if let Some(same) = old.filter(|&old| self.nodes[old as usize] == new) {
            self.told[thread as usize] = Some(same);
            return;
        }
        self.nodes.push(new);
        let node = Some(self.nodes.len() as u32 - 1);
        self.told[thread as usize] = node;
        self.put(location, node);
    }

    /// A thread reads a location by a strong operation.
    pub fn acquire(&mut self, clocks: &mut Clocks, thread: u32, location: Location) {
        if self.published.is_empty() {
            return;
        }
        let Some(node) = self.found(location) else { return };
        if self.heard[thread as usize] == Some(node) {
            return;
        }
        (self.heard[thread as usize], self.told[thread as usize]) = (Some(node), None);
        let Node { start, rank, rows, before } = &self.nodes[node as usize];
        let mut list = (*self.acquired[thread as usize]).clone();
        if *start == clocks.start {
            let same_block = *rank == thread / self.threads_of_block;
            let audience = if same_block { Audience::Block } else { Audience::Cluster };
            if let Some(row) = &rows[audience as usize] {
                let mut times = vec![0; clocks.columns];
                row.add_to(&mut times);
                clocks.learn(thread, &times);
                for (fenced, row) in self.fenced.iter_mut().zip(rows).skip(AUDIENCES) {
                    let (fenced, Some(row)) = (&mut fenced[thread as usize], row) else { continue };
                    let mut times = fenced.as_deref().map_or_else(|| vec![0; clocks.columns], <[u32]>::to_vec);
                    row.add_to(&mut times);
                    *fenced = Some(times.into());
                }
                list.extend(before.iter());
            }
        } else if rows[FOR_ALL].is_some() {
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

    /// All threads have met at a barrier.
    pub fn meet_all(&mut self) {
        self.told.fill(None);
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
        threads(true).for_each(|thread| {
            self.acquired[thread] = all.clone();
            self.told[thread] = None;
        });
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

    /// What threads of the cluster (of the same block) get to know by an operation that releases nothing itself, of the fences that such
    /// threads have executed before it: for each, times of each column.
    pub fn fenced_by(&self, thread: u32, audience: Audience) -> impl Iterator<Item = &[u32]> {
        let purpose = audience as usize;
        [&self.met[purpose], &self.fenced[purpose][thread as usize]].into_iter().flatten().map(|row| &**row)
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

    /// Whether a thread knows that fences put what threads of its cluster (of a column) did at a time before such accesses of another
    /// proxy.
    pub fn is_proxied(&self, thread: u32, of: usize, time: u32, memory: Proxied) -> bool {
        let (met, fenced) = (&self.met[memory as usize], &self.fenced[memory as usize][thread as usize]);
        [met, fenced].into_iter().flatten().any(|row| row[of] >= time)
    }

    /// Whether a thread knows what threads (of a column) of an earlier block, which began at `start`, did at a time.
    pub fn knows(&mut self, thread: u32, start: u32, of: usize, time: u32) -> bool {
        self.knows_for(thread, start, of, time, FOR_ALL)
    }

    /// Whether a thread knows that fences put that before such accesses of another proxy.
    pub fn knows_as_proxied(&mut self, thread: u32, start: u32, of: usize, time: u32, memory: Proxied) -> bool {
        self.knows_for(thread, start, of, time, memory as usize)
    }

    fn knows_for(&mut self, thread: u32, start: u32, of: usize, time: u32, purpose: usize) -> bool {
        let list = self.acquired[thread as usize].clone();
        if list.is_empty() {
            return false;
        }
        if self.asked.as_ref().is_none_or(|(asked, _)| !Arc::ptr_eq(asked, &list)) {
            self.asked = Some((list.clone(), self.index(&list)));
        }
        let Some((_, index)) = &self.asked else { return false };
        let told =
            |&node: &u32| self.nodes[node as usize].rows[purpose].as_ref().is_some_and(|row| row.known(of) >= time);
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

/// Whether a fence is one for a purpose.
fn serves(fence: &Fence, purpose: usize) -> bool {
    const SHARED: usize = Proxied::Shared as usize;
    const GLOBAL: usize = Proxied::Global as usize;
    const MAP: usize = Proxied::Map as usize;
    match purpose {
        SHARED => fence.shared_to_async,
        GLOBAL => fence.global_to_async,
        MAP => fence.releases_maps,
        audience => audience <= fence.audience as usize,
    }
}
