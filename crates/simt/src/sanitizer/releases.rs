//! Which threads released what, and which acquired it: fences, and the atomic and volatile
//! operations after them.
//!
//! A thread that executes a fence and then a strong write (atomic, volatile, relaxed, release)
//! *releases* what it knew at the fence. A thread whose strong read finds that write *acquires* it.
//! A fence counts for all threads that meet its thread at a barrier afterwards: `write; fence;
//! barrier; thread 0: atomic` works like a fence by thread 0. Acquiring needs no fence here, so a
//! missing acquire fence is not detected.
//!
//! A fence has the scope of the block, the cluster or the system; a wider one includes the narrower
//! ones. `barrier.cluster` releases what came before a thread's arrival; a `.relaxed` arrival
//! releases only what came before a fence. Proxy fences are passed on the same way: for each
//! thread, the time up to which its generic accesses are ordered before async ones.
//!
//! Threads that poll for a lock do all this at each try, mostly without effect, so each thread's
//! last acquisition and release are cached. A location holds only the last release of its own
//! cluster; releases by blocks that have ended are in [`History`].

use std::collections::HashMap;
use std::sync::Arc;

use super::clocks::{ByPurpose, Clocks, FOR_ALL, Meeting, PURPOSES, Proxied, SCOPES, Times};
use super::history::{History, List};
use crate::program::{Fence, SyncScope};

/// The location of a synchronising operation: an allocation (`None`: shared memory), and a cell of
/// it.
pub(super) type Location = (Option<usize>, usize);

/// What a strong read of a location finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A release of this cluster: its index, and a number that distinguishes it from earlier ones
    /// at that index.
    Present { at: u32, number: u64 },
    /// A node of the history.
    Earlier(u32),
}

/// A release by a thread of this cluster.
#[derive(Clone)]
struct Released {
    /// The block's number in the cluster.
    rank: u32,
    /// What threads learn: those of the block, of the cluster, and all.
    times: ByPurpose<Times>,
    /// What the thread had acquired before.
    before: List,
}

/// All releases and acquisitions.
#[derive(Default)]
pub(super) struct Releases {
    history: History,
    /// When the current cluster began, and what its threads released.
    start: u32,
    present: Vec<Released>,
    /// The number of releases so far.
    number: u64,
    /// What a strong read of a location finds.
    published: HashMap<Location, Found>,
    /// The last lookup in the history: polling threads repeat it.
    looked_up: Option<(Location, Option<Found>)>,
    /// What each thread has acquired.
    acquired: Vec<List>,
    /// What each thread acquired last, if acquiring it again has no effect.
    heard: Vec<Option<Found>>,
    /// For each thread, a release of its block that includes all that the thread could release now.
    given: Vec<Option<Found>>,
    /// What each thread knew at its last fence of each purpose.
    fenced: ByPurpose<Vec<Times>>,
    /// What counts as fenced for all threads after a barrier.
    met: ByPurpose<Times>,
    /// For each warp, the lanes that may have acquired what not all its lanes have.
    apart: Vec<u32>,
    /// Threads of a block.
    threads_of_block: u32,
    /// Whether there was any fence in this block, or any acquisition.
    fences: bool,
    acquisitions: bool,
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
        self.given.clone_from(&self.heard);
        self.apart.clear();
        self.apart.resize(threads.div_ceil(32), 0);
        (self.fences, self.acquisitions) = (false, false);
        let (history, present, start) = (&mut self.history, &self.present, self.start);
        self.published.retain(|(allocation, _), found| {
            if let Found::Present { at, .. } = *found {
                let Released { times, before, .. } = &present[at as usize];
                if allocation.is_none() || times[FOR_ALL].is_none() {
                    return false;
                }
                *found = Found::Earlier(history.keep(start, times, before.clone()));
            }
            true
        });
        self.present.clear();
        self.looked_up = None;
    }

    /// What a strong read of a location finds.
    fn find(&mut self, location: Location) -> Option<Found> {
        match self.looked_up {
            Some((last, found)) if last == location => found,
            _ => {
                let found = self.published.get(&location).copied();
                self.looked_up = Some((location, found));
                found
            }
        }
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
            (self.heard[thread as usize], self.given[thread as usize]) = (None, None);
            for purpose in (0..PURPOSES).filter(|&purpose| serves(fence, purpose)) {
                self.fenced[purpose][thread as usize] = Some(row.clone());
            }
        }
    }

    /// A thread's strong write to a location. `releases`: the operation is itself a release to this
    /// scope.
    pub fn publish(
        &mut self,
        clocks: &mut Clocks,
        thread: u32,
        location: Location,
        reads_too: bool,
        releases: Option<SyncScope>,
    ) {
        if let Some(scope) = releases {
            self.fence(clocks, thread / 32, 1 << (thread % 32), &Fence::of(scope));
        }
        if !self.fences && (reads_too || self.published.is_empty()) {
            return;
        }
        let found = self.find(location);
        let has_fenced =
            (0..SCOPES).any(|purpose| self.met[purpose].is_some() || self.fenced[purpose][thread as usize].is_some());
        if !has_fenced {
            if !reads_too && found.is_some() {
                self.published.remove(&location);
                self.looked_up = None;
            }
            return;
        }
        // A read-modify-write passes on what was released to it.
        let handed_on = found.filter(|_| reads_too);
        if handed_on.is_some() && handed_on == self.given[thread as usize] {
            return;
        }
        let rank = thread / self.threads_of_block;
        let own: ByPurpose<Times> =
            std::array::from_fn(|purpose| join(&self.met[purpose], &self.fenced[purpose][thread as usize]));
        let acquired = &self.acquired[thread as usize];
        let new = match handed_on {
            Some(Found::Present { at, .. }) => {
                let old = &self.present[at as usize];
                let times = std::array::from_fn(|purpose| match &old.times[purpose] {
                    // Of what another block released, only what was for the cluster is passed on.
                    _ if purpose == SyncScope::Block as usize && old.rank != rank => {
                        join(&old.times[SyncScope::Cluster as usize], &own[purpose])
                    }
                    old => join(old, &own[purpose]),
                });
                Released { rank, times, before: with(&old.before, acquired) }
            }
            Some(Found::Earlier(node)) => Released { rank, times: own, before: with(acquired, &[node]) },
            None => Released { rank, times: own, before: acquired.clone() },
        };
        let found = match found {
            // Threads that poll for a lock mostly add nothing.
            Some(found @ Found::Present { at, .. }) if reads_too && self.present[at as usize].is_same(&new) => found,
            // Nothing else refers to the old release.
            Some(Found::Present { at, .. }) => {
                self.present[at as usize] = new;
                self.number += 1;
                Found::Present { at, number: self.number }
            }
            _ => {
                self.present.push(new);
                self.number += 1;
                Found::Present { at: self.present.len() as u32 - 1, number: self.number }
            }
        };
        self.given[thread as usize] = Some(found);
        if self.looked_up != Some((location, Some(found))) {
            self.looked_up = Some((location, Some(found)));
            self.start = clocks.start;
            self.published.insert(location, found);
        }
    }

    /// Strong reads of `to` find what those of `from` find now.
    pub fn copy(&mut self, from: Location, to: Location) {
        self.looked_up = None;
        let new = match self.published.get(&from) {
            Some(&Found::Present { at, .. }) => self.present[at as usize].clone(),
            Some(&Found::Earlier(_)) | None => return,
        };
        self.number += 1;
        let at = match self.published.get(&to) {
            // Nothing else refers to the old release.
            Some(&Found::Present { at, .. }) => at as usize,
            _ => {
                self.present.push(new.clone());
                self.present.len() - 1
            }
        };
        self.present[at] = new;
        self.published.insert(to, Found::Present { at: at as u32, number: self.number });
    }

    /// A thread's strong read of a location.
    pub fn acquire(&mut self, clocks: &mut Clocks, thread: u32, location: Location) {
        if self.published.is_empty() {
            return;
        }
        let Some(found) = self.find(location) else { return };
        if self.heard[thread as usize] == Some(found) {
            return;
        }
        (self.heard[thread as usize], self.given[thread as usize]) = (Some(found), None);
        self.apart[thread as usize / 32] |= 1 << (thread % 32);
        let acquired = &mut self.acquired[thread as usize];
        let list = match found {
            Found::Present { at, .. } => {
                let Released { rank, times, before } = &self.present[at as usize];
                let same_block = *rank == thread / self.threads_of_block;
                let scope = if same_block { SyncScope::Block } else { SyncScope::Cluster };
                let Some(row) = &times[scope as usize] else { return };
                clocks.learn(thread, row);
                for (fenced, times) in self.fenced.iter_mut().zip(times).skip(SCOPES) {
                    let fenced = &mut fenced[thread as usize];
                    *fenced = join(fenced, times);
                }
                with(acquired, before)
            }
            Found::Earlier(node) => {
                // What it includes need not be listed beside it.
                let before = self.history.before(node);
                let rest: Vec<u32> =
                    acquired.iter().copied().filter(|earlier| before.binary_search(earlier).is_err()).collect();
                with(&Arc::new(rest), &[node])
            }
        };
        if list != *acquired {
            self.acquisitions = true;
            *acquired = list;
        }
    }

    /// The lanes of a warp that may have acquired what not all its lanes have.
    #[inline(always)]
    pub fn apart(&self, warp: u32) -> u32 {
        self.apart.get(warp as usize).copied().unwrap_or(0)
    }

    /// Lanes of a warp take over what one of them, `from`, has acquired from other warps.
    pub fn take_over(&mut self, clocks: &mut Clocks, warp: u32, from: u32, to: u32) {
        let thread = |lane: u32| warp * 32 + lane;
        let mut row = clocks.row(thread(from));
        // Not what the lanes of the warp themselves did.
        for lane in 0..32 {
            if let Some(own) = row.get_mut(clocks.column(thread(lane))) {
                *own = 0;
            }
        }
        let acquired = self.acquired[thread(from) as usize].clone();
        for lane in (0..32).filter(|lane| to >> lane & 1 == 1) {
            let thread = thread(lane) as usize;
            clocks.learn(thread as u32, &row);
            self.acquired[thread] = with(&self.acquired[thread], &acquired);
            self.given[thread] = None;
        }
        let exists = u32::MAX >> (32 - (self.acquired.len() as u32 - warp * 32).min(32));
        let apart = &mut self.apart[warp as usize];
        *apart = if to | 1 << from == exists { *apart & !(1 << from) } else { *apart | to };
    }

    /// All threads have met at a barrier.
    pub fn meet_all(&mut self) {
        self.given.fill(None);
        self.apart.fill(0);
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

    /// Some threads have met: see [`Clocks::meet`].
    pub fn meet(&mut self, parties: &[Meeting]) {
        if !self.fences && !self.acquisitions {
            return;
        }
        let threads = |waiting: bool| {
            let parties = parties.iter().filter(move |party| party.waits || !waiting);
            parties.flat_map(Meeting::threads).map(|(thread, _)| thread as usize)
        };
        for party in parties.iter().filter(|party| party.waits) {
            let exists = u32::MAX >> (32 - (self.acquired.len() as u32 - party.warp * 32).min(32));
            if party.mask & exists == exists {
                self.apart[party.warp as usize] = 0;
            }
        }
        let all = self.union(threads(false));
        threads(true).for_each(|thread| {
            self.acquired[thread] = all.clone();
            self.given[thread] = None;
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

    /// What a strong operation of a thread, which is no release itself, makes known to a scope
    /// through earlier fences: one row of times for each fence.
    pub fn fenced_by(&self, thread: u32, scope: SyncScope) -> impl Iterator<Item = &[u32]> {
        let purpose = scope as usize;
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

    /// Whether a thread knows of a proxy fence after an access of its cluster (by a column, at a
    /// time), for this kind of accesses through another proxy.
    pub fn is_proxied(&self, thread: u32, of: usize, time: u32, memory: Proxied) -> bool {
        let (met, fenced) = (&self.met[memory as usize], &self.fenced[memory as usize][thread as usize]);
        [met, fenced].into_iter().flatten().any(|row| row[of] >= time)
    }

    /// Whether a thread knows of an access of an earlier block, which began at `start`, by a column
    /// at a time.
    pub fn knows(&mut self, thread: u32, start: u32, of: usize, time: u32) -> bool {
        self.history.covers(&self.acquired[thread as usize], start, of, time, FOR_ALL)
    }

    /// [`Releases::knows`], and of a proxy fence after that access.
    pub fn knows_as_proxied(&mut self, thread: u32, start: u32, of: usize, time: u32, memory: Proxied) -> bool {
        self.history.covers(&self.acquired[thread as usize], start, of, time, memory as usize)
    }
}

impl Released {
    /// Whether another release, made from this one by [`join`] and [`with`], is the same.
    fn is_same(&self, other: &Self) -> bool {
        let same = |(one, other): (&Times, &Times)| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.rank == other.rank
            && self.times.iter().zip(&other.times).all(same)
            && Arc::ptr_eq(&self.before, &other.before)
    }
}

/// The later of two times for each thread. Returns the first or the second itself if it includes
/// the other.
fn join(first: &Times, second: &Times) -> Times {
    let (Some(one), Some(other)) = (first, second) else { return first.clone().or_else(|| second.clone()) };
    if Arc::ptr_eq(one, other) {
        return Some(one.clone());
    }
    let (mut first_says_all, mut second_says_all) = (true, true);
    for (one, other) in one.iter().zip(&**other) {
        first_says_all &= one >= other;
        second_says_all &= one <= other;
    }
    Some(match (first_says_all, second_says_all) {
        (true, _) => one.clone(),
        (false, true) => other.clone(),
        (false, false) => one.iter().zip(&**other).map(|(one, other)| *one.max(other)).collect(),
    })
}

/// A list with more nodes; itself if it has them already.
fn with(list: &List, more: &[u32]) -> List {
    if more.iter().all(|node| list.binary_search(node).is_ok()) {
        return list.clone();
    }
    let mut all = [&***list, more].concat();
    all.sort_unstable();
    all.dedup();
    Arc::new(all)
}

/// Whether a fence serves a purpose.
fn serves(fence: &Fence, purpose: usize) -> bool {
    const SHARED: usize = Proxied::Shared as usize;
    const GLOBAL: usize = Proxied::Global as usize;
    const MAP: usize = Proxied::Map as usize;
    match purpose {
        SHARED => fence.shared_to_async,
        GLOBAL => fence.global_to_async,
        MAP => fence.releases_maps,
        scope => scope <= fence.scope as usize,
    }
}
