//! The control flow of a function: where threads that part at a branch meet again.

use super::function::Function;

/// No block: threads meet again at the function's end only.
const END: usize = usize::MAX;

/// The graph of a function's blocks, with each block's immediate post-dominator.
pub(super) struct Flow {
    successors: Vec<Vec<usize>>,
    /// For each block, the first block on all paths from it to an end; [`END`] if there is none.
    meeting: Vec<usize>,
}

/// What follows a branch at which threads part.
pub(super) struct Parting {
    /// The blocks that some threads may execute while others do not, or not as often.
    pub region: Vec<usize>,
    /// The block at which the threads meet again, if not at the end.
    pub meeting: Option<usize>,
}

impl Flow {
    pub fn of(function: &Function<'_>) -> Self {
        let successors: Vec<Vec<usize>> = function.blocks.iter().map(|block| block.successors.clone()).collect();
        let exits: Vec<bool> = function.blocks.iter().map(|block| block.is_exit).collect();
        let meeting = post_dominators(&successors, &exits);
        Flow { successors, meeting }
    }

    /// The blocks between the branch at the end of `block` and the block where its ways meet again.
    ///
    /// If the branch is in a loop that threads leave there, the loop's blocks are among them.
    pub fn part(&self, block: usize) -> Parting {
        let meeting = self.meeting[block];
        let mut seen = vec![false; self.successors.len()];
        let mut open = vec![block];
        let mut region = Vec::new();
        while let Some(next) = open.pop() {
            for &successor in &self.successors[next] {
                if successor != meeting && !seen[successor] {
                    seen[successor] = true;
                    region.push(successor);
                    open.push(successor);
                }
            }
        }
        Parting { region, meeting: (meeting != END).then_some(meeting) }
    }
}

/// The immediate post-dominator of each block, from Cooper, Harvey and Kennedy, "A Simple, Fast
/// Dominance Algorithm".
///
/// Blocks from which no thread ends (a trap, an endless loop) constrain nobody: their threads never
/// meet others again, and the others do not wait for them in vain but for ever.
fn post_dominators(successors: &[Vec<usize>], exits: &[bool]) -> Vec<usize> {
    let count = successors.len();
    let mut predecessors = vec![Vec::new(); count];
    for (block, targets) in successors.iter().enumerate() {
        targets.iter().for_each(|&target| predecessors[target].push(block));
    }
    // Number the blocks in post-order of the reversed graph, from its root, the end, which gets the
    // highest number.
    let mut order = Vec::with_capacity(count);
    let mut number = vec![None; count];
    let mut seen = vec![false; count];
    for exit in (0..count).filter(|&block| exits[block]) {
        let mut path = vec![(exit, 0)];
        if std::mem::replace(&mut seen[exit], true) {
            continue;
        }
        while let Some((block, next)) = path.last_mut() {
            if let Some(&predecessor) = predecessors[*block].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[predecessor], true) {
                    path.push((predecessor, 0));
                }
            } else {
                number[*block] = Some(order.len());
                order.push(*block);
                path.pop();
            }
        }
    }
    let root = order.len();
    // The parent of each block, as numbers. `None`: not yet known.
    let mut parent: Vec<Option<usize>> = vec![None; root + 1];
    parent[root] = Some(root);
    loop {
        let mut changed = false;
        for place in (0..root).rev() {
            let block = order[place];
            let ways = successors[block].iter().filter_map(|&successor| number[successor]);
            let ways = ways.chain(exits[block].then_some(root)).filter(|&way| parent[way].is_some());
            let common = ways.reduce(|a, b| common(&parent, a, b));
            if parent[place] != common {
                parent[place] = common;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let block_of = |place: Option<usize>| place.filter(|&place| place != root).map_or(END, |place| order[place]);
    (0..count).map(|block| number[block].map_or(END, |place| block_of(parent[place]))).collect()
}

/// The nearest common ancestor in the tree of parents.
fn common(parent: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if a < b { &mut a } else { &mut b };
        // A parent's number is higher, and the root's is the highest.
        *lower = parent[*lower].unwrap_or(parent.len() - 1);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(successors: &[&[usize]], exits: &[usize]) -> Flow {
        let successors: Vec<Vec<usize>> = successors.iter().map(|targets| targets.to_vec()).collect();
        let exits: Vec<bool> = (0..successors.len()).map(|block| exits.contains(&block)).collect();
        let meeting = post_dominators(&successors, &exits);
        Flow { successors, meeting }
    }

    fn parts(flow: &Flow, block: usize) -> (Vec<usize>, Option<usize>) {
        let Parting { mut region, meeting } = flow.part(block);
        region.sort_unstable();
        (region, meeting)
    }

    #[test]
    fn two_arms_meet_behind_them() {
        let diamond = flow(&[&[1, 2], &[3], &[3], &[]], &[3]);
        assert_eq!(parts(&diamond, 0), (vec![1, 2], Some(3)));
    }

    #[test]
    fn a_loop_that_threads_leave_parts_in_all_of_its_blocks() {
        // 0 -> 1 (head) -> 2 (body) -> 1, 1 -> 3
        let single = flow(&[&[1], &[2, 3], &[1], &[]], &[3]);
        assert_eq!(parts(&single, 1), (vec![1, 2], Some(3)));
    }

    #[test]
    fn after_an_early_return_threads_never_meet() {
        let early = flow(&[&[1, 2], &[], &[3], &[]], &[1, 3]);
        assert_eq!(parts(&early, 0), (vec![1, 2, 3], None));
    }

    #[test]
    fn a_trap_and_an_endless_loop_are_waited_for_in_vain() {
        // 1 traps, 2 loops for ever, 3 is the end.
        let dead = flow(&[&[1, 4], &[], &[2], &[], &[2, 3]], &[3]);
        assert_eq!(parts(&dead, 0), (vec![1], Some(4)));
        assert_eq!(parts(&dead, 4), (vec![2], Some(3)));
    }

    #[test]
    fn without_an_end_all_that_follows_is_apart() {
        let endless = flow(&[&[1, 2], &[0], &[0]], &[]);
        assert_eq!(parts(&endless, 0), (vec![0, 1, 2], None));
    }
}
