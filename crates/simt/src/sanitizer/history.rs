//! What blocks that have ended released: a graph of releases, each with what its thread had
//! acquired before. `releases` adds to it when clusters end, and asks it what a thread knows of
//! earlier blocks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::clocks::{ByPurpose, FOR_ALL, Times};
/// Nodes of the graph, sorted and unique.
pub(super) type List = Arc<Vec<u32>>;

/// All nodes that a list leads to, by block.
type Index = HashMap<u32, Vec<u32>>;

/// A release to all.
struct Node {
    /// When its cluster began, usually one block.
    start: u32,
    /// What it makes known, for all threads and for other proxies.
    rows: ByPurpose<Option<KnownTimes>>,
    /// What the thread had acquired before.
    before: List,
}

/// Up to which time each column of a block's clocks is known.
struct KnownTimes {
    /// The time for all columns.
    floor: u32,
    /// Columns of which more is known.
    above: Vec<(u32, u32)>,
}

impl KnownTimes {
    fn of(times: &[u32]) -> Self {
        let floor = times.iter().copied().min().unwrap_or(0);
        let all = (0..).zip(times.iter().copied());
        Self { floor, above: all.filter(|&(_, time)| time > floor).collect() }
    }

    fn known(&self, column: usize) -> u32 {
        let above = self.above.binary_search_by_key(&(column as u32), |&(column, _)| column);
        above.map_or(self.floor, |at| self.above[at].1)
    }
}

/// The graph.
#[derive(Default)]
pub(super) struct History {
    nodes: Vec<Node>,
    /// The last list of a query, with its index.
    asked: Option<(List, Index)>,
}

impl History {
    /// Adds a release by a thread of a cluster that began at `start`. Returns its node.
    pub fn keep(&mut self, start: u32, times: &ByPurpose<Times>, before: List) -> u32 {
        let rows =
            std::array::from_fn(|purpose| times[purpose].as_deref().filter(|_| purpose >= FOR_ALL).map(KnownTimes::of));
        self.nodes.push(Node { start, rows, before });
        self.nodes.len() as u32 - 1
    }

    /// What had been acquired before a node was released.
    pub fn before(&self, node: u32) -> &[u32] {
        &self.nodes[node as usize].before
    }

    /// Whether a list of nodes includes, for a purpose, what a column of a block that began at
    /// `start` did at a time.
    pub fn covers(&mut self, list: &List, start: u32, of: usize, time: u32, purpose: usize) -> bool {
        if list.is_empty() {
            return false;
        }
        if self.asked.as_ref().is_none_or(|(asked, _)| !Arc::ptr_eq(asked, list)) {
            self.asked = Some((list.clone(), self.index(list)));
        }
        let Some((_, index)) = &self.asked else { return false };
        let covered =
            |&node: &u32| self.nodes[node as usize].rows[purpose].as_ref().is_some_and(|row| row.known(of) >= time);
        index.get(&start).is_some_and(|nodes| nodes.iter().any(covered))
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
