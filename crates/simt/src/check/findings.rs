//! Findings on their way: grouped, so that one bug is one of them.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use super::finding::FindingKind;
use crate::AccessAction;

/// Groups that are kept. What is found beyond them is only counted.
const LIMIT: usize = 100;

/// An instruction that a thread executed, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Index of the PTX instruction in `Code::places`.
    pub place: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    /// What it did to memory.
    pub action: Option<AccessAction>,
}

/// One group.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub kind: FindingKind,
    pub first: Party,
    pub second: Option<Party>,
    pub count: u64,
}

/// What makes two the same bug.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Discriminant<FindingKind>,
    name: &'static str,
    places: [Option<u32>; 2],
    allocation: Option<u64>,
}

/// All groups of a launch, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Found>,
    index: HashMap<Key, usize>,
    beyond: u64,
}

impl Findings {
    /// Adds one occurrence.
    #[cold]
    pub fn add(&mut self, kind: FindingKind, first: Party, second: Option<Party>) {
        let key = Key {
            kind: discriminant(&kind),
            name: kind.name(),
            places: [Some(first.place), second.map(|second| second.place)],
            allocation: kind.allocation().map(|allocation| allocation.address),
        };
        if let Some(&at) = self.index.get(&key) {
            self.list[at].count += 1;
        } else if self.list.len() < LIMIT {
            self.index.insert(key, self.list.len());
            self.list.push(Found { kind, first, second, count: 1 });
        } else {
            self.beyond += 1;
        }
    }

    /// The groups, and how many occurrences belong to none of them.
    pub fn into_parts(self) -> (Vec<Found>, u64) {
        (self.list, self.beyond)
    }
}
