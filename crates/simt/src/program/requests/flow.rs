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
    /// Which blocks are on every path to others: these are above them in a tree.
    dominators: Tree,
    /// The innermost loop of each block; `NONE` for those in no loop.
    innermost: Vec<usize>,
    /// Which loops are in others: these are above them in a forest.
    loops: Tree,
}

const NONE: usize = usize::MAX;

impl Flow {
    /// `successors` are the successors of each position.
    pub fn new(blocks: &BasicBlocks, successors: &[Vec<u32>]) -> Self {
        let count = blocks.count();
        let mut block = Vec::with_capacity(successors.len());
        for index in 0..count {
            block.resize(blocks.positions(index).end, index);
        }
        let after = |index: usize| {
            let last = &successors[blocks.positions(index).end - 1];
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
        let dominators = Tree::new(&dominator, order.iter().copied());
        let innermost = vec![NONE; count];
        let mut flow = Self { block, order, number, dominators, innermost, loops: Tree::default() };
        flow.find_loops(blocks);
        flow
    }

    /// Two loops have no block in common, or one is in the other. Those within are found first.
    fn find_loops(&mut self, blocks: &BasicBlocks) {
        let mut heads: Vec<usize> = Vec::new();
        let mut outer: Vec<usize> = Vec::new();
        // A loop around each that was found, itself or further out.
        let mut around: Vec<usize> = Vec::new();
        for &head in self.order.iter().rev() {
            let backs = self.backs(blocks, head).filter(|&from| self.dominates(head, from));
            let mut waiting: Vec<usize> = backs.collect();
            if waiting.is_empty() {
                continue;
            }
            let new = heads.len();
            heads.push(head);
            outer.push(NONE);
            around.push(new);
            self.innermost[head] = new;
            while let Some(next) = waiting.pop() {
                let entered = match self.innermost[next] {
                    _ if self.number[next] == NONE => continue,
                    NONE => {
                        self.innermost[next] = new;
                        next
                    }
                    inner => {
                        let found = outermost(&mut around, inner);
                        if found == new {
                            continue;
                        }
                        (outer[found], around[found]) = (new, new);
                        heads[found]
                    }
                };
                waiting.extend(&blocks.before[entered]);
            }
        }
        self.loops = Tree::new(&outer, (0..heads.len()).rev());
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
    pub fn dominates(&self, block: usize, other: usize) -> bool {
        self.number[other] != NONE && self.number[block] != NONE && self.dominators.is_above(block, other)
    }

    /// Whether what is read at one position serves another: it was read on every path to it, and
    /// not in a loop that has ended since.
    pub fn serves(&self, position: usize, other: usize) -> bool {
        let (from, to) = (self.block[position], self.block[other]);
        if from == to {
            return position < other;
        }
        let (inner, other) = (self.innermost[from], self.innermost[to]);
        let is_left = inner != NONE && (other == NONE || !self.loops.is_above(inner, other));
        self.dominates(from, to) && !is_left
    }
}

/// The outermost of the loops that are known to be around one.
fn outermost(around: &mut [usize], inner: usize) -> usize {
    let mut found = inner;
    while around[found] != found {
        // What is between is passed over the next time.
        around[found] = around[around[found]];
        found = around[found];
    }
    found
}

/// A forest, in which it takes two comparisons to see whether one node is above another.
#[derive(Default)]
struct Tree {
    /// The number of each node: those below it have the numbers that follow.
    number: Vec<usize>,
    /// How many nodes are below it, with itself.
    size: Vec<usize>,
}

impl Tree {
    /// `above` is the node above each: `NONE` or itself at the top. `downwards` are the nodes, each
    /// behind the one above it.
    fn new(above: &[usize], downwards: impl DoubleEndedIterator<Item = usize> + Clone) -> Self {
        let parent = |node: usize| Some(above[node]).filter(|&parent| parent != NONE && parent != node);
        let mut size = vec![1; above.len()];
        for node in downwards.clone().rev() {
            if let Some(parent) = parent(node) {
                size[parent] += size[node];
            }
        }
        let mut number = vec![0; above.len()];
        // The number of the next node below each, and of the next one at the top.
        let mut next = vec![0; above.len()];
        let mut top = 0;
        for node in downwards {
            let free = parent(node).map_or(&mut top, |parent| &mut next[parent]);
            number[node] = *free;
            *free += size[node];
            next[node] = number[node] + 1;
        }
        Self { number, size }
    }

    /// Whether a node is above another, or the same.
    fn is_above(&self, node: usize, other: usize) -> bool {
        (self.number[node]..self.number[node] + self.size[node]).contains(&self.number[other])
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Which blocks can be reached from one without passing another.
    fn reached(successors: &[Vec<u32>], from: usize, without: usize) -> Vec<bool> {
        let mut seen = vec![false; successors.len()];
        let mut waiting = vec![from];
        while let Some(next) = waiting.pop() {
            if next != without && !std::mem::replace(&mut seen[next], true) {
                waiting.extend(successors[next].iter().map(|&to| to as usize));
            }
        }
        seen
    }

    /// The loop of a head, by its definition: what leads to a branch back without passing the head.
    fn natural_loop(
        successors: &[Vec<u32>],
        head: usize,
        dominates: &dyn Fn(usize, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let all = 0..successors.len();
        let backs = |from: &usize| dominates(head, *from) && successors[*from].contains(&(head as u32));
        let backs: Vec<usize> = all.clone().filter(backs).collect();
        let leads = |block: &usize| {
            let reached = reached(successors, *block, head);
            *block == head || dominates(head, *block) && backs.iter().any(|&back| reached[back])
        };
        (!backs.is_empty()).then(|| all.filter(leads).collect())
    }

    #[test]
    fn dominators_and_loops_are_those_of_their_definitions() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut in_loops = 0;
        for _ in 0..400 {
            // Each position branches, so that it is a block by itself.
            let length = 2 + random(12);
            let mut successors: Vec<Vec<u32>> = vec![Vec::new(); length];
            for (position, to) in successors.iter_mut().enumerate() {
                let near = (position + 3).min(length - 1) as u32;
                *to = vec![random(length) as u32, near][..1 + random(2)].to_vec();
                to.dedup();
            }
            let blocks = BasicBlocks::new(length, &successors);
            let block = |position: usize| (0..blocks.count()).find(|&it| blocks.positions(it).contains(&position));
            let of_blocks: Vec<Vec<u32>> = (0..blocks.count())
                .map(|it| &successors[blocks.positions(it).end - 1])
                .map(|to| to.iter().filter_map(|&to| block(to as usize)).map(|it| it as u32).collect())
                .collect();
            let flow = Flow::new(&blocks, &successors);
            let reachable = reached(&of_blocks, 0, NONE);
            let dominates = |a: usize, b: usize| reachable[b] && (a == b || !reached(&of_blocks, 0, a)[b]);
            let loops: Vec<Vec<usize>> = (0..blocks.count())
                .filter(|&head| reachable[head])
                .filter_map(|head| natural_loop(&of_blocks, head, &dominates))
                .collect();
            in_loops += loops.len();
            for a in 0..blocks.count() {
                for b in 0..blocks.count() {
                    assert_eq!(flow.dominates(a, b), dominates(a, b), "{of_blocks:?}: {a} before {b}");
                    let (from, to) = (blocks.positions(a).start, blocks.positions(b).start);
                    let left = loops.iter().any(|all| all.contains(&a) && !all.contains(&b));
                    let serves = a != b && dominates(a, b) && !left;
                    assert_eq!(flow.serves(from, to), serves, "{of_blocks:?}: {a} serves {b}");
                }
            }
        }
        assert!(in_loops > 100, "{in_loops} loops");
    }
}
