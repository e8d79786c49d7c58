//! `cp.async` copies under way: what each thread has begun and not waited for. A block keeps one
//! list for each warp; `copy` and `phases` add to it and complete copies, which write shared
//! memory.
//!
//! A copy reads when it begins. It writes when its thread waits for it, or when a thread looks at
//! an mbarrier that waits for it: as late as PTX allows, so that a missing wait shows. (If a warp
//! has begun [`LIMIT`] copies without waiting, the oldest complete.)

use std::collections::VecDeque;

use crate::address::{Access, AccessFault};
use crate::lanes::{Row, WideRow, lanes, mask_where};
use crate::memory::SharedMemory;

/// The most copies and arrivals that a warp has under way.
const LIMIT: usize = 1 << 10;

/// A copy or an arrival under way, of the lanes in its mask.
enum Pending {
    Copy {
        mask: u32,
        addresses: Box<WideRow>,
        bytes: u32,
        words: Box<[Row; 4]>,
        /// The sanitizer's number for it.
        number: u32,
    },
    /// Ends a group of copies.
    Commit { mask: u32 },
    /// Arrives at an mbarrier once the copies before it are complete.
    Arrival { mask: u32, addresses: Box<WideRow> },
}

impl Pending {
    fn mask(&mut self) -> &mut u32 {
        match self {
            Pending::Copy { mask, .. } | Pending::Commit { mask } | Pending::Arrival { mask, .. } => mask,
        }
    }
}

/// What a warp has begun, oldest first.
#[derive(Default)]
pub(crate) struct Copies {
    pending: VecDeque<Pending>,
}

/// The copies that have completed.
#[derive(Default)]
pub(crate) struct Completed {
    /// The addresses of mbarriers at which arrivals are due.
    pub arrivals: Vec<u64>,
    /// The copies: the number of each, and the lanes.
    pub copies: Vec<(u32, u32)>,
}

impl Copies {
    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// Begins a copy that will write `words`, `bytes` bytes in each lane. The addresses have been
    /// checked. `number` is the sanitizer's number for it.
    pub fn begin(&mut self, access: &Access, words: &[Row; 4], number: u32) {
        let (mask, addresses, words) = (access.mask, Box::new(*access.addresses), Box::new(*words));
        self.pending.push_back(Pending::Copy { mask, addresses, bytes: access.width, words, number });
    }

    /// The copies of some lanes that are under way: the number of each, and the lanes.
    pub fn pending(&self, mask: u32) -> Vec<(u32, u32)> {
        let copies = self.pending.iter().filter_map(|entry| match *entry {
            Pending::Copy { mask: copied_by, number, .. } => Some((number, copied_by & mask)),
            _ => None,
        });
        copies.filter(|&(_, mask)| mask != 0).collect()
    }

    /// For each lane, how many of the oldest entries exceed the limit and must complete.
    pub fn surplus(&self) -> [usize; 32] {
        [self.pending.len().saturating_sub(LIMIT); 32]
    }

    /// `commit_group`.
    pub fn commit(&mut self, mask: u32) {
        if !self.pending.is_empty() {
            self.pending.push_back(Pending::Commit { mask });
        }
    }

    /// `mbarrier.arrive` after the copies so far.
    pub fn arrive_after(&mut self, mask: u32, addresses: &WideRow) {
        self.pending.push_back(Pending::Arrival { mask, addresses: Box::new(*addresses) });
    }

    /// For each lane, how many of the oldest entries `wait_group` waits for. `None`: `wait_all`.
    pub fn awaited(&self, mask: u32, groups_left: Option<u32>) -> [usize; 32] {
        let mut ends = [0; 32];
        let Some(groups_left) = groups_left else {
            lanes(mask).for_each(|lane| ends[lane] = self.pending.len());
            return ends;
        };
        let mut seen = [0; 32];
        for (index, entry) in self.pending.iter().enumerate().rev() {
            let Pending::Commit { mask: committed } = entry else { continue };
            for lane in lanes(mask & committed) {
                if seen[lane] == groups_left && ends[lane] == 0 {
                    ends[lane] = index + 1;
                }
                seen[lane] = seen[lane].saturating_add(1);
            }
        }
        ends
    }

    /// For each lane, how many of the oldest entries there are up to its last arrival at an
    /// mbarrier.
    pub fn before_arrivals_at(&self, address: u64) -> [usize; 32] {
        let mut ends = [0; 32];
        for (index, entry) in self.pending.iter().enumerate() {
            if let Pending::Arrival { mask, addresses } = entry {
                lanes(*mask).filter(|&lane| addresses[lane] == address).for_each(|lane| ends[lane] = index + 1);
            }
        }
        ends
    }

    /// Completes the given number of each lane's oldest entries.
    pub fn complete(&mut self, ends: &[usize; 32], memory: &SharedMemory) -> Result<Completed, AccessFault> {
        let mut completed = Completed::default();
        let last = ends.iter().copied().max().unwrap_or(0);
        for (index, entry) in self.pending.iter_mut().enumerate().take(last) {
            let due = mask_where(u32::MAX, |lane| ends[lane] > index);
            match entry {
                Pending::Copy { mask, addresses, bytes, words, number } if *mask & due != 0 => {
                    memory.store_each(&Access::new(*mask & due, addresses, *bytes), &words[..])?;
                    completed.copies.push((*number, *mask & due));
                }
                Pending::Arrival { mask, addresses } => {
                    completed.arrivals.extend(lanes(*mask & due).map(|lane| addresses[lane]));
                }
                _ => continue,
            }
            *entry.mask() &= !due;
        }
        // Groups are counted from the last; empty ones at the front are dropped.
        self.pending.retain_mut(|entry| matches!(entry, Pending::Commit { .. }) || *entry.mask() != 0);
        while let Some(Pending::Commit { .. }) = self.pending.front() {
            self.pending.pop_front();
        }
        Ok(completed)
    }
}
