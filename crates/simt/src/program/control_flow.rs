//! Finds where the paths that diverge at a branch reconverge: its immediate post-dominator.
//!
//! A path that ends in `exit` or `trap` never reconverges with the others, so it is ignored. Only
//! if every path ends do the ends count as a point of reconvergence.

use ptx::{ControlOp, Instruction, Op};

use super::facts::{Next, facts};

/// The successors of each position of a body; the position after the last stands for the function's
/// end.
pub(crate) fn successors(body: &[Instruction]) -> Vec<Vec<u32>> {
    let end = body.len() as u32;
    let mut all: Vec<Vec<u32>> = Vec::with_capacity(body.len());
    for (position, instruction) in body.iter().enumerate() {
        let next = position as u32 + 1;
        let mut to = match facts(&instruction.op).next {
            Next::Following | Next::Call => vec![next],
            Next::Jump(target) => vec![target],
            Next::JumpIndexed(targets) => targets.to_vec(),
            Next::Return => vec![end],
            Next::Exit | Next::Trap => vec![],
        };
        if instruction.guard.is_some() && !to.contains(&next) {
            to.push(next);
        }
        all.push(to);
    }
    all
}

/// For each position of a body, the position where all paths from it first reconverge; `None`:
/// never. The length of the body stands for the function's end.
pub(super) fn reconvergence_points(body: &[Instruction], successors: &[Vec<u32>]) -> Vec<Option<u32>> {
    let no_ends = post_dominators(successors, &[]);
    let ends = |counts: fn(&Op) -> bool| -> Vec<u32> {
        (0..body.len() as u32).filter(|&position| counts(&body[position as usize].op)).collect()
    };
    let exits = ends(|op| matches!(op, Op::Control(ControlOp::Exit)));
    let all_ends = ends(|op| matches!(op, Op::Control(ControlOp::Exit | ControlOp::Trap)));
    let mut points = no_ends;
    for ends in [exits, all_ends] {
        if points.contains(&None) && !ends.is_empty() {
            let fallback = post_dominators(successors, &ends);
            for (point, other) in points.iter_mut().zip(fallback) {
                *point = point.or(other);
            }
        }
    }
    points
}

/// Immediate post-dominators, by the algorithm of Cooper, Harvey and Kennedy on the reversed graph.
/// `ends` are additional positions that lead to the function's end.
fn post_dominators(successors: &[Vec<u32>], ends: &[u32]) -> Vec<Option<u32>> {
    let end = successors.len();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); end + 1];
    let mut more: Vec<Vec<u32>> = successors.to_vec();
    for &position in ends {
        more[position as usize].push(end as u32);
    }
    for (position, to) in more.iter().enumerate() {
        for &target in to {
            predecessors[target as usize].push(position as u32);
        }
    }
    // Postorder of the reversed graph, from the end.
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; end + 1];
    let mut order = Vec::with_capacity(end + 1);
    let mut seen = vec![false; end + 1];
    let mut stack = vec![(end as u32, 0)];
    seen[end] = true;
    while let Some((node, child)) = stack.pop() {
        match predecessors[node as usize].get(child) {
            Some(&next) => {
                stack.push((node, child + 1));
                if !std::mem::replace(&mut seen[next as usize], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                number[node as usize] = order.len() as u32;
                order.push(node);
            }
        }
    }
    let mut dominator: Vec<Option<u32>> = vec![None; end + 1];
    dominator[end] = Some(end as u32);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().skip(1) {
            let mut found: Option<u32> = None;
            for &target in &more[node as usize] {
                if dominator[target as usize].is_none() {
                    continue;
                }
                found = Some(match found {
                    None => target,
                    Some(other) => common_dominator(target, other, &number, &dominator),
                });
            }
            if found.is_some() && dominator[node as usize] != found {
                dominator[node as usize] = found;
                changed = true;
            }
        }
    }
    dominator.truncate(end);
    dominator
}

fn common_dominator(mut a: u32, mut b: u32, number: &[u32], dominator: &[Option<u32>]) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            let Some(up) = dominator[a as usize] else { return b };
            a = up;
        }
        while number[b as usize] < number[a as usize] {
            let Some(up) = dominator[b as usize] else { return a };
            b = up;
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_reconverges_at_its_bottom() {
        // 0 -> 1 | 3; 1 -> 2 -> 4; 3 -> 4; 4 -> end
        let points = post_dominators(&[vec![1, 3], vec![2], vec![4], vec![4], vec![5]], &[]);
        assert_eq!(points, [Some(4), Some(2), Some(4), Some(4), Some(5)]);
    }

    #[test]
    fn a_loop_reconverges_behind_it() {
        // 0 -> 1; 1 -> 2 | 3; 2 -> 1; 3 -> end
        let points = post_dominators(&[vec![1], vec![2, 3], vec![1], vec![4]], &[]);
        assert_eq!(points, [Some(1), Some(3), Some(1), Some(4)]);
    }

    #[test]
    fn a_path_that_ends_elsewhere_does_not_count() {
        // 0 -> 1 | 2; 1 ends; 2 -> end
        let graph = [vec![1, 2], vec![], vec![3]];
        assert_eq!(post_dominators(&graph, &[]), [Some(2), None, Some(3)]);
        assert_eq!(post_dominators(&graph, &[1]), [Some(3), Some(3), Some(3)]);
    }

    #[test]
    fn an_endless_loop_never_reconverges() {
        assert_eq!(post_dominators(&[vec![1], vec![0]], &[]), [None, None]);
    }
}
