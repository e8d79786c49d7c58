//! Threads that end while others of their warp go on to an operation of all lanes, such as a
//! shuffle.
//!
//! The shuffles of phases are in safe functions, which call closures between them. All lanes of the
//! warp are there, unless one has ended: a closure may call `exit()`. Such a thread has gone, at
//! its last branch from which the operation could be reached, the other way. So a kernel is right
//! if no branch that threads of a block may take differently is such a branch.

use super::analysis::Divergence;
use super::function::Function;
use super::instruction::Instruction;

/// A branch at which some threads may leave for their end.
pub(super) struct Leaving {
    /// The instruction on which the way depends: this branch, or one around it.
    pub branch: usize,
    /// The instruction that ends them.
    pub end: usize,
}

/// The branches that `divergence` takes for divergent, or that are in a divergent block, at which
/// one way leads to the thread's end and another to an operation of a whole warp.
pub(super) fn leavings<'a>(
    kernel: &Function<'a>,
    divergence: &Divergence,
    is_of_whole_warp: impl Fn(&Instruction<'a>) -> bool,
) -> Vec<Leaving> {
    let find = |block: usize, what: &dyn Fn(&Instruction<'a>) -> bool| {
        let mut instructions = kernel.blocks[block].instructions.clone();
        instructions.find(|&index| what(&kernel.instructions[index]))
    };
    let ends = reaching(kernel, |block| find(block, &Instruction::ends_thread));
    let warps = reaching(kernel, |block| find(block, &is_of_whole_warp));
    let leaving = |(block, from): (usize, &super::function::Block)| {
        let last = from.instructions.end.checked_sub(1)?;
        let branch = divergence.origin(last).map(|_| last).or_else(|| divergence.branch_of(block))?;
        let goes_on = from.successors.iter().any(|&way| warps[way].is_some());
        let end = from.successors.iter().filter(|&&way| warps[way].is_none()).find_map(|&way| ends[way])?;
        goes_on.then_some(Leaving { branch, end })
    };
    kernel.blocks.iter().enumerate().filter_map(leaving).collect()
}

/// For each block, an instruction of those that `find` finds in blocks, if one is reached from
/// there.
fn reaching(kernel: &Function<'_>, find: impl Fn(usize) -> Option<usize>) -> Vec<Option<usize>> {
    let mut found: Vec<_> = (0..kernel.blocks.len()).map(find).collect();
    loop {
        let mut changed = false;
        for (block, from) in kernel.blocks.iter().enumerate().rev() {
            let next = from.successors.iter().find_map(|&way| found[way]);
            if found[block].is_none() && next.is_some() {
                found[block] = next;
                changed = true;
            }
        }
        if !changed {
            return found;
        }
    }
}
