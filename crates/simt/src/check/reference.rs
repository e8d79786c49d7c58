//! What [`Clocks`] and [`Releases`] must say, by the plainest means: a full vector clock for each thread, of all threads of all
//! blocks. Random programs are run on both.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::clocks::{Clocks, Meeting};
use super::releases::{Location, Releases};

/// Three warps, the last of them not full.
const THREADS: u32 = 70;
const WARPS: u32 = 3;
/// Of these locations the first is in shared memory.
const LOCATIONS: usize = 3;

/// Of each thread of each block, up to when it is known of. A thread's own time goes on when it releases.
type Vector = Vec<u32>;

fn join(known: &mut Vector, told: &Vector) {
    if known.len() < told.len() {
        known.resize(told.len(), 0);
    }
    known.iter_mut().zip(told).for_each(|(known, told)| *known = (*known).max(*told));
}

/// What a strong read of a location finds.
#[derive(Clone)]
struct Released {
    block: usize,
    /// Of the threads of its block: for these, and for all. None: no fence of that scope.
    by_scope: [Option<Vector>; 2],
    /// Of earlier blocks.
    acquired: Vector,
}

/// Something that threads do.
#[derive(Clone, Debug)]
enum Step {
    Access(u32),
    /// Lanes of each warp come to a barrier; those of the second masks do not wait there.
    Meet([u32; 3], [u32; 3]),
    MeetAll,
    Fence {
        warp: u32,
        mask: u32,
        for_block: bool,
    },
    Write {
        thread: u32,
        location: usize,
        releases: Option<bool>,
    },
    Read {
        thread: u32,
        location: usize,
    },
    /// An atomic operation.
    Update {
        thread: u32,
        location: usize,
        releases: Option<bool>,
    },
    NextBlock,
}

fn exists(warp: u32) -> u32 {
    u32::MAX >> (32 - (THREADS - 32 * warp).min(32))
}

fn lanes(warp: u32, mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1).map(move |lane| 32 * warp + lane)
}

/// Both, side by side.
struct Pair {
    clocks: Clocks,
    releases: Releases,
    block: usize,
    /// When each block began.
    starts: Vec<u32>,
    /// What each thread of the present block knows.
    known: Vec<Vector>,
    /// What each knew at its last fence, and was told of others' fences: for its block, and for all.
    fenced: [Vec<Option<Vector>>; 2],
    released: BTreeMap<usize, Released>,
    /// Accesses: the block, the thread, its own time, and the stamp's.
    accesses: Vec<(usize, u32, u32, u32)>,
}

impl Pair {
    fn new() -> Self {
        let mut pair = Self {
            clocks: Clocks::new(THREADS),
            releases: Releases::default(),
            block: 0,
            starts: Vec::new(),
            known: Vec::new(),
            fenced: [Vec::new(), Vec::new()],
            released: BTreeMap::new(),
            accesses: Vec::new(),
        };
        pair.begin();
        pair
    }

    fn begin(&mut self) {
        self.clocks.begin();
        self.releases.begin(THREADS, THREADS);
        self.block = self.starts.len();
        self.starts.push(self.clocks.start);
        let base = self.block * THREADS as usize;
        self.known = (0..THREADS as usize)
            .map(|thread| {
                let mut known = vec![0; base + THREADS as usize];
                known[base + thread] = 1;
                known
            })
            .collect();
        self.fenced = [vec![None; THREADS as usize], vec![None; THREADS as usize]];
        self.released.remove(&0);
    }

    fn place(&self, block: usize, thread: u32) -> usize {
        block * THREADS as usize + thread as usize
    }

    fn location(index: usize) -> Location {
        (index.checked_sub(1), index)
    }

    /// A thread's later accesses are not among those that it has told of.
    fn advance(&mut self, thread: u32) {
        let place = self.place(self.block, thread);
        self.known[thread as usize][place] += 1;
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
        let mut told = Vector::new();
        let mut fenced = [None, None];
        let all: Vec<(u32, bool)> = parties
            .iter()
            .flat_map(|party| lanes(party.warp, party.mask).map(|thread| (thread, party.waits)))
            .collect();
        for &(thread, _) in &all {
            join(&mut told, &self.known[thread as usize]);
            for (fenced, by_thread) in fenced.iter_mut().zip(&self.fenced) {
                if let Some(by_thread) = &by_thread[thread as usize] {
                    join(fenced.get_or_insert_with(Vector::new), by_thread);
                }
            }
        }
        for &(thread, waits) in &all {
            if waits {
                join(&mut self.known[thread as usize], &told);
                for (fenced, by_thread) in fenced.iter().zip(&mut self.fenced) {
                    by_thread[thread as usize].clone_from(fenced);
                }
            }
            self.advance(thread);
        }
    }

    /// The reference's part of a fence.
    fn fence(&mut self, thread: u32, for_block: bool) {
        let base = self.block * THREADS as usize;
        let mut known = self.known[thread as usize].clone();
        known[..base].fill(0);
        self.fenced[0][thread as usize] = Some(known.clone());
        if !for_block {
            self.fenced[1][thread as usize] = Some(known);
        }
        self.advance(thread);
    }

    fn write(&mut self, thread: u32, location: usize, reads_too: bool, releases: Option<bool>) {
        self.releases.publish(&mut self.clocks, thread, Self::location(location), reads_too, releases);
        if let Some(for_block) = releases {
            self.fence(thread, for_block);
        }
        let old = self.released.remove(&location).filter(|_| reads_too);
        let by_scope = [0, 1].map(|scope: usize| self.fenced[scope][thread as usize].clone());
        if by_scope.iter().all(Option::is_none) {
            self.released.extend(old.map(|old| (location, old)));
            return;
        }
        let mut acquired = self.known[thread as usize].clone();
        acquired.truncate(self.block * THREADS as usize);
        let mut new = Released { block: self.block, by_scope, acquired };
        match old {
            Some(old) if old.block == self.block => {
                for (new, old) in new.by_scope.iter_mut().zip(&old.by_scope) {
                    if let Some(old) = old {
                        join(new.get_or_insert_with(Vector::new), old);
                    }
                }
                join(&mut new.acquired, &old.acquired);
            }
            Some(Released { by_scope: [_, Some(for_all)], acquired, .. }) => {
                join(&mut new.acquired, &for_all);
                join(&mut new.acquired, &acquired);
            }
            _ => {}
        }
        self.released.insert(location, new);
    }

    fn read(&mut self, thread: u32, location: usize) {
        self.releases.acquire(&mut self.clocks, thread, THREADS, Self::location(location));
        let Some(found) = self.released.get(&location) else { return };
        let told = &found.by_scope[usize::from(found.block != self.block)];
        if let Some(told) = told {
            join(&mut self.known[thread as usize], told);
            join(&mut self.known[thread as usize], &found.acquired);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Access(thread) => {
                let time = self.known[thread as usize][self.place(self.block, thread)];
                self.accesses.push((self.block, thread, time, self.clocks.interval(thread / 32)));
            }
            Step::Meet(waiting, passing) => self.meet(waiting, passing),
            Step::MeetAll => self.meet([0, 1, 2].map(exists), [0; 3]),
            Step::Fence { warp, mask, for_block } => {
                self.releases.fence(&mut self.clocks, warp, mask, for_block);
                lanes(warp, mask).for_each(|thread| self.fence(thread, for_block));
            }
            Step::Write { thread, location, releases } => self.write(thread, location, false, releases),
            Step::Read { thread, location } => self.read(thread, location),
            Step::Update { thread, location, releases } => {
                self.read(thread, location);
                self.write(thread, location, true, releases);
            }
            Step::NextBlock => self.begin(),
        }
    }

    /// The first access of which the two do not say the same: who accessed, who asks, and what the reference says.
    fn differ(&mut self) -> Option<((usize, u32), u32, bool)> {
        for &(block, of, time, stamp) in &self.accesses {
            for by in 0..THREADS {
                let expected = self.known[by as usize][self.place(block, of)] >= time;
                let found = match block == self.block {
                    true => by == of || self.clocks.known(by, of) >= stamp,
                    false => self.releases.knows(by, self.starts[block], of, stamp),
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

/// A thread of the few that the interesting things happen to, so that they happen to the same ones.
fn thread() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0, 1, 31, 32, 40, 64, 69])
}

fn barriers() -> impl Strategy<Value = Step> {
    prop_oneof![4 => thread().prop_map(Step::Access), 4 => meeting(), 1 => Just(Step::MeetAll), 1 => Just(Step::NextBlock)]
}

fn anything() -> impl Strategy<Value = Step> {
    let releases = || prop::sample::select(vec![None, None, Some(true), Some(false)]);
    let fence = (0..WARPS, any::<bool>()).prop_flat_map(|(warp, for_block)| {
        let one = (0u32..6).prop_map(|lane| 1 << lane);
        prop_oneof![mask(warp), one].prop_map(move |mask| Step::Fence { warp, mask, for_block })
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
        2 => Just(Step::NextBlock),
    ]
}

fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut pair = Pair::new();
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
        check(&steps)?;
    }

    #[test]
    fn fences_and_atomics_make_known_what_vector_clocks_say(steps in prop::collection::vec(anything(), 1..40)) {
        check(&steps)?;
    }
}

#[test]
fn a_release_goes_on_through_an_update_behind_a_narrower_fence() {
    let steps = [
        Step::Access(0),
        Step::Write { thread: 0, location: 1, releases: Some(false) },
        Step::Fence { warp: 0, mask: 0b10, for_block: true },
        Step::Update { thread: 1, location: 1, releases: None },
        Step::NextBlock,
        Step::Read { thread: 0, location: 1 },
    ];
    check(&steps).unwrap();
}

#[test]
fn what_is_released_to_a_block_goes_no_further() {
    // Block 1 hears of block 0 and tells its own threads alone; block 2 updates the location without having heard.
    let steps = [
        Step::Access(0),
        Step::Write { thread: 0, location: 1, releases: Some(false) },
        Step::NextBlock,
        Step::Read { thread: 0, location: 1 },
        Step::Write { thread: 0, location: 2, releases: Some(true) },
        Step::NextBlock,
        Step::Update { thread: 0, location: 2, releases: Some(false) },
        Step::NextBlock,
        Step::Read { thread: 0, location: 2 },
    ];
    check(&steps).unwrap();
}
