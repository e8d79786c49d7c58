//! Which basic blocks come before which on every path (dominators), and the loops.

use crate::program::blocks::BasicBlocks;

/// The basic blocks of a function, in relation to each other.
pub(super) struct Flow {
    /// The block of each position.
    pub block: Vec<usize>,
    /// The blocks that can be reached, each behind all that lead to it, but for branches back.
    pub order: Vec<usize>,
    /// The place of each block in `order`; `usize::MAX` for those that cannot be reached.
    pub number: Vec<usize>,
    /// The last block that is on every path to it.
    dominator: Vec<usize>,
    /// The blocks of each loop, in order of number.
    loops: Vec<Vec<usize>>,
}

const NONE: usize = usize::MAX;

impl Flow {
    /// `ways` are the successors of each position.
    pub fn new(blocks: &BasicBlocks, ways: &[Vec<u32>]) -> Self {
        let count = blocks.count();
        let mut block = Vec::with_capacity(ways.len());
        for index in 0..count {
            block.resize(blocks.positions(index).end, index);
        }
        let after = |index: usize| {
            let last = &ways[blocks.positions(index).end - 1];
            last.iter().filter_map(|&to| block.get(to as usize).copied()).collect::<Vec<usize>>()
        };
        let mut order = Vec::with_capacity(count);
        let mut seen = vec![false; count];
        let mut waiting = vec![(0, after(0))];
        seen[0] = true;
        while let Some((index, rest)) = waiting.last_mut() {
            match rest.pop() {
                Some(next) if !seen[next] => {
                    seen[next] = true;
                    let further = after(next);
                    waiting.push((next, further));
                }
                Some(_) => {}
                None => {
                    order.push(*index);
                    waiting.pop();
                }
            }
        }
        order.reverse();
        let mut number = vec![NONE; count];
        order.iter().enumerate().for_each(|(at, &index)| number[index] = at);
        let dominator = dominators(blocks, &order, &number);
        let mut flow = Self { block, order, number, dominator, loops: Vec::new() };
        flow.find_loops(blocks);
        flow
    }

    fn find_loops(&mut self, blocks: &BasicBlocks) {
        for &head in &self.order {
            let backs: Vec<usize> = self.backs(blocks, head).filter(|&from| self.dominates(head, from)).collect();
            if backs.is_empty() {
                continue;
            }
            let (mut inside, mut waiting) = (vec![head], backs);
            while let Some(next) = waiting.pop() {
                if !inside.contains(&next) && self.number[next] != NONE {
                    inside.push(next);
                    waiting.extend(&blocks.before[next]);
                }
            }
            inside.sort_unstable();
            self.loops.push(inside);
        }
    }

    /// The blocks that branch back to a block.
    fn backs(&self, blocks: &BasicBlocks, head: usize) -> impl Iterator<Item = usize> {
        let before = blocks.before[head].iter().copied();
        before.filter(move |&from| self.number[from] != NONE && self.number[from] >= self.number[head])
    }

    /// Whether a block is the first of a loop.
    pub fn is_head(&self, blocks: &BasicBlocks, block: usize) -> bool {
        self.backs(blocks, block).next().is_some()
    }

    /// Whether a block is on every path to another, or the same.
    pub fn dominates(&self, block: usize, mut other: usize) -> bool {
        if self.number[other] == NONE {
            return false;
        }
        while self.number[other] > self.number[block] {
            other = self.dominator[other];
        }
        other == block
    }

    /// Whether what is read at one position serves another: it was read on every path to it, and
    /// not in a loop that has ended since.
    pub fn serves(&self, position: usize, other: usize) -> bool {
        let (from, to) = (self.block[position], self.block[other]);
        if from == to {
            return position < other;
        }
        let left = |inside: &Vec<usize>| inside.binary_search(&from).is_ok() && inside.binary_search(&to).is_err();
        self.dominates(from, to) && !self.loops.iter().any(left)
    }
}

/// Immediate dominators, by the algorithm of Cooper, Harvey and Kennedy.
fn dominators(blocks: &BasicBlocks, order: &[usize], number: &[usize]) -> Vec<usize> {
    let mut dominator = vec![NONE; number.len()];
    dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order[1..] {
            let mut found = NONE;
            for &before in blocks.before[block].iter().filter(|&&before| dominator[before] != NONE) {
                let (mut one, mut other) = (before, if found == NONE { before } else { found });
                while one != other {
                    match number[one] > number[other] {
                        true => one = dominator[one],
                        false => other = dominator[other],
                    }
                }
                found = one;
            }
            if found != dominator[block] {
                dominator[block] = found;
                changed = true;
            }
        }
    }
    dominator
}
