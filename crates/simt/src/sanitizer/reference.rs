//! Tests [`Clocks`] and [`Releases`] against the simplest implementation: a full vector clock for
//! each thread, of all threads of all blocks. Random programs are run on both.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::clocks::{Clocks, Meeting};
use super::releases::{Location, Releases};
use crate::program::{Fence, SyncScope};

/// Three warps, the last of them partial. They form a block, or each is a block of a cluster.
const THREADS: u32 = 70;
const SCOPES: [SyncScope; 3] = [SyncScope::Block, SyncScope::Cluster, SyncScope::All];
const WARPS: u32 = 3;
/// The first of these locations is in shared memory.
const LOCATIONS: usize = 3;

/// Up to which time each thread of each block is known. A thread's own time advances when it
/// releases.
type Vector = Vec<u32>;

fn join(known: &mut Vector, learned: &Vector) {
    if known.len() < learned.len() {
        known.resize(learned.len(), 0);
    }
    known.iter_mut().zip(learned).for_each(|(known, learned)| *known = (*known).max(*learned));
}

/// What a strong read of a location finds.
#[derive(Clone)]
struct Released {
    /// The cluster, and the block's number in it.
    cluster: usize,
    rank: u32,
    /// The times of its cluster's threads that it released to its block, to its cluster, and to
    /// all. `None`: no such fence.
    by_scope: [Option<Vector>; 3],
    /// The times of earlier clusters' threads.
    acquired: Vector,
}

/// A step of a random program.
#[derive(Clone, Debug)]
enum Step {
    Access(u32),
    /// Lanes of each warp reach a barrier; those of the second masks do not wait.
    Meet([u32; 3], [u32; 3]),
    MeetAll,
    Fence {
        warp: u32,
        mask: u32,
        scope: SyncScope,
    },
    Write {
        thread: u32,
        location: usize,
        releases: Option<SyncScope>,
    },
    Read {
        thread: u32,
        location: usize,
    },
    /// An atomic operation.
    Update {
        thread: u32,
        location: usize,
        releases: Option<SyncScope>,
    },
    NextCluster,
}

fn exists(warp: u32) -> u32 {
    u32::MAX >> (32 - (THREADS - 32 * warp).min(32))
}

fn lanes(warp: u32, mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1).map(move |lane| 32 * warp + lane)
}

/// Both implementations, side by side.
struct Pair {
    clocks: Clocks,
    releases: Releases,
    /// Threads of a block.
    of_block: u32,
    cluster: usize,
    /// When each cluster began.
    starts: Vec<u32>,
    /// What each thread of the current cluster knows.
    known: Vec<Vector>,
    /// What each knew at its last fence, and learned of others' fences: for its block, its cluster,
    /// and all.
    fenced: [Vec<Option<Vector>>; 3],
    released: BTreeMap<usize, Released>,
    /// Accesses: the cluster, the thread, its own time, and the stamp's.
    accesses: Vec<(usize, u32, u32, u32)>,
}

impl Pair {
    fn new(of_block: u32) -> Self {
        let mut pair = Self {
            clocks: Clocks::new(THREADS),
            releases: Releases::default(),
            of_block,
            cluster: 0,
            starts: Vec::new(),
            known: Vec::new(),
            fenced: [Vec::new(), Vec::new(), Vec::new()],
            released: BTreeMap::new(),
            accesses: Vec::new(),
        };
        pair.begin();
        pair
    }

    fn begin(&mut self) {
        self.clocks.begin();
        self.releases.begin(THREADS, self.of_block);
        self.cluster = self.starts.len();
        self.starts.push(self.clocks.start);
        let base = self.cluster * THREADS as usize;
        self.known = (0..THREADS as usize)
            .map(|thread| {
                let mut known = vec![0; base + THREADS as usize];
                known[base + thread] = 1;
                known
            })
            .collect();
        self.fenced = [0; 3].map(|_| vec![None; THREADS as usize]);
        self.released.remove(&0);
    }

    fn index_of(&self, block: usize, thread: u32) -> usize {
        block * THREADS as usize + thread as usize
    }

    fn location(index: usize) -> Location {
        (index.checked_sub(1), index)
    }

    /// Advances a thread's time: its later accesses are not released.
    fn advance(&mut self, thread: u32) {
        let index = self.index_of(self.cluster, thread);
        self.known[thread as usize][index] += 1;
    }

    fn meet(&mut self, waiting: [u32; 3], passing: [u32; 3]) {
        let mut parties = Vec::new();
        for (masks, waits) in [(waiting, true), (passing, false)] {
            for (warp, mask) in (0..).zip(masks).filter(|&(_, mask)| mask != 0) {
                parties.push(Meeting { warp, mask, time: self.clocks.advance(warp), waits });
            }
        }
        if (0..WARPS).all(|warp| waiting[warp as usize] == exists(warp)) {
            self.clocks.meet_all();
            self.releases.meet_all();
        } else {
            self.clocks.meet(&parties);
            self.releases.meet(&parties);
        }
        let mut learned = Vector::new();
        let mut fenced = [None, None, None];
        let all: Vec<(u32, bool)> = parties
            .iter()
            .flat_map(|party| lanes(party.warp, party.mask).map(|thread| (thread, party.waits)))
            .collect();
        for &(thread, _) in &all {
            join(&mut learned, &self.known[thread as usize]);
            for (fenced, by_thread) in fenced.iter_mut().zip(&self.fenced) {
                if let Some(by_thread) = &by_thread[thread as usize] {
                    join(fenced.get_or_insert_with(Vector::new), by_thread);
                }
            }
        }
        for &(thread, waits) in &all {
            if waits {
                join(&mut self.known[thread as usize], &learned);
                for (fenced, by_thread) in fenced.iter().zip(&mut self.fenced) {
                    by_thread[thread as usize].clone_from(fenced);
                }
            }
            self.advance(thread);
        }
    }

    /// The reference's part of a fence.
    fn fence(&mut self, thread: u32, scope: SyncScope) {
        let base = self.cluster * THREADS as usize;
        let mut known = self.known[thread as usize].clone();
        known[..base].fill(0);
        for (narrower, fenced) in SCOPES.into_iter().zip(&mut self.fenced) {
            if narrower <= scope {
                fenced[thread as usize] = Some(known.clone());
            }
        }
        self.advance(thread);
    }

    fn write(&mut self, thread: u32, location: usize, reads_too: bool, releases: Option<SyncScope>) {
        self.releases.publish(&mut self.clocks, thread, Self::location(location), reads_too, releases);
        if let Some(scope) = releases {
            self.fence(thread, scope);
        }
        let old = self.released.remove(&location).filter(|_| reads_too);
        let by_scope = SCOPES.map(|scope| self.fenced[scope as usize][thread as usize].clone());
        if by_scope.iter().all(Option::is_none) {
            self.released.extend(old.map(|old| (location, old)));
            return;
        }
        let mut acquired = self.known[thread as usize].clone();
        acquired.truncate(self.cluster * THREADS as usize);
        let rank = thread / self.of_block;
        let mut new = Released { cluster: self.cluster, rank, by_scope, acquired };
        match old {
            Some(old) if old.cluster == self.cluster => {
                for (scope, new) in SCOPES.into_iter().zip(&mut new.by_scope) {
                    // Of a release by another block, this block's threads learn what was for the
                    // cluster.
                    let of_other = scope == SyncScope::Block && old.rank != rank;
                    let scope = if of_other { SyncScope::Cluster } else { scope };
                    if let Some(learned) = &old.by_scope[scope as usize] {
                        join(new.get_or_insert_with(Vector::new), learned);
                    }
                }
                join(&mut new.acquired, &old.acquired);
            }
            Some(Released { by_scope: [_, _, Some(for_all)], acquired, .. }) => {
                join(&mut new.acquired, &for_all);
                join(&mut new.acquired, &acquired);
            }
            _ => {}
        }
        self.released.insert(location, new);
    }

    fn read(&mut self, thread: u32, location: usize) {
        self.releases.acquire(&mut self.clocks, thread, Self::location(location));
        let Some(found) = self.released.get(&location) else { return };
        let scope = match (found.cluster == self.cluster, found.rank == thread / self.of_block) {
            (true, true) => SyncScope::Block,
            (true, false) => SyncScope::Cluster,
            (false, _) => SyncScope::All,
        };
        if let Some(learned) = &found.by_scope[scope as usize] {
            join(&mut self.known[thread as usize], learned);
            join(&mut self.known[thread as usize], &found.acquired);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Access(thread) => {
                let time = self.known[thread as usize][self.index_of(self.cluster, thread)];
                self.accesses.push((self.cluster, thread, time, self.clocks.interval(thread / 32)));
            }
            Step::Meet(waiting, passing) => self.meet(waiting, passing),
            Step::MeetAll => self.meet([0, 1, 2].map(exists), [0; 3]),
            Step::Fence { warp, mask, scope } => {
                self.releases.fence(&mut self.clocks, warp, mask, &Fence::of(scope));
                lanes(warp, mask).for_each(|thread| self.fence(thread, scope));
            }
            Step::Write { thread, location, releases } => self.write(thread, location, false, releases),
            Step::Read { thread, location } => self.read(thread, location),
            Step::Update { thread, location, releases } => {
                self.read(thread, location);
                self.write(thread, location, true, releases);
            }
            Step::NextCluster => self.begin(),
        }
    }

    /// The first access on which the two disagree: who accessed, who asks, and what the reference
    /// answers.
    fn differ(&mut self) -> Option<((usize, u32), u32, bool)> {
        for &(block, of, time, stamp) in &self.accesses {
            for by in 0..THREADS {
                let expected = self.known[by as usize][self.index_of(block, of)] >= time;
                let found = match block == self.cluster {
                    true => by == of || self.clocks.known(by, of) >= stamp,
                    false => self.releases.knows(by, self.starts[block], of as usize, stamp),
                };
                if found != expected {
                    return Some(((block, of), by, expected));
                }
            }
        }
        None
    }
}

/// Whole warps, none, or some lanes.
fn mask(warp: u32) -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(u32::MAX), any::<u32>()].prop_map(move |mask| mask & exists(warp))
}

fn meeting() -> impl Strategy<Value = Step> {
    let masks = || (mask(0), mask(1), mask(2));
    (masks(), masks()).prop_map(|(waiting, passing)| {
        let (waiting, passing) = ([waiting.0, waiting.1, waiting.2], [passing.0, passing.1, passing.2]);
        Step::Meet(waiting, [0, 1, 2].map(|warp| passing[warp] & !waiting[warp]))
    })
}

/// One of a few threads, so that steps often concern the same ones.
fn thread() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0, 1, 31, 32, 40, 64, 69])
}

fn barriers() -> impl Strategy<Value = Step> {
    prop_oneof![4 => thread().prop_map(Step::Access), 4 => meeting(), 1 => Just(Step::MeetAll), 1 => Just(Step::NextCluster)]
}

fn anything() -> impl Strategy<Value = Step> {
    let releases = || {
        let by_itself = SCOPES.map(Some);
        prop::sample::select([by_itself.as_slice(), &[None; 3]].concat())
    };
    let fence = (0..WARPS, prop::sample::select(&SCOPES)).prop_flat_map(|(warp, scope)| {
        let one = (0u32..6).prop_map(|lane| 1 << lane);
        prop_oneof![mask(warp), one].prop_map(move |mask| Step::Fence { warp, mask, scope })
    });
    prop_oneof![
        4 => thread().prop_map(Step::Access),
        3 => fence,
        3 => (thread(), 0..LOCATIONS, releases())
            .prop_map(|(thread, location, releases)| Step::Write { thread, location, releases }),
        4 => (thread(), 0..LOCATIONS).prop_map(|(thread, location)| Step::Read { thread, location }),
        4 => (thread(), 0..LOCATIONS, releases())
            .prop_map(|(thread, location, releases)| Step::Update { thread, location, releases }),
        1 => meeting(),
        1 => Just(Step::MeetAll),
        2 => Just(Step::NextCluster),
    ]
}

fn check(of_block: u32, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(of_block);
    for (index, step) in steps.iter().enumerate() {
        pair.step(step);
        let differ = pair.differ();
        prop_assert_eq!(differ, None, "(who accessed, who asks, whether it is known) after step {}", index);
    }
    Ok(())
}

proptest! {
    #[test]
    fn barriers_make_known_what_vector_clocks_say(steps in prop::collection::vec(barriers(), 1..30)) {
        check(THREADS, &steps)?;
    }

    #[test]
    fn fences_and_atomics_make_known_what_vector_clocks_say(steps in prop::collection::vec(anything(), 1..40)) {
        check(THREADS, &steps)?;
    }

    #[test]
    fn so_they_do_in_clusters(steps in prop::collection::vec(anything(), 1..40)) {
        check(32, &steps)?;
    }
}

#[test]
fn a_release_goes_on_through_an_update_behind_a_narrower_fence() {
    let steps = [
        Step::Access(0),
        Step::Write { thread: 0, location: 1, releases: Some(SyncScope::All) },
        Step::Fence { warp: 0, mask: 0b10, scope: SyncScope::Block },
        Step::Update { thread: 1, location: 1, releases: None },
        Step::NextCluster,
        Step::Read { thread: 0, location: 1 },
    ];
    check(THREADS, &steps).unwrap();
}

#[test]
fn what_is_released_to_a_block_goes_no_further() {
    // Cluster 1 (of one block) acquires from cluster 0 and releases to its own threads alone;
    // cluster 2 updates the location without having acquired.
    let steps = [
        Step::Access(0),
        Step::Write { thread: 0, location: 1, releases: Some(SyncScope::All) },
        Step::NextCluster,
        Step::Read { thread: 0, location: 1 },
        Step::Write { thread: 0, location: 2, releases: Some(SyncScope::Block) },
        Step::NextCluster,
        Step::Update { thread: 0, location: 2, releases: Some(SyncScope::All) },
        Step::NextCluster,
        Step::Read { thread: 0, location: 2 },
    ];
    check(THREADS, &steps).unwrap();
}

#[test]
fn a_release_to_the_cluster_goes_on_through_another_blocks_update() {
    // Threads 0 and 31 are of one block, thread 69 of another. After the barrier, the block's fence
    // of thread 0 counts for all.
    let steps = [
        Step::Update { thread: 0, location: 0, releases: Some(SyncScope::Block) },
        Step::MeetAll,
        Step::Access(69),
        Step::Write { thread: 69, location: 2, releases: Some(SyncScope::Cluster) },
        Step::Update { thread: 31, location: 2, releases: None },
        Step::Update { thread: 0, location: 2, releases: Some(SyncScope::Block) },
    ];
    check(32, &steps).unwrap();
}
