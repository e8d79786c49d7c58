//! Branches that `ptxas` replaces by predicates: those around a few instructions that have no other
//! entry or exit. Several basic blocks then become one straight run, in which loads move up.
//!
//! The guards of the labs' kernels are an example: in the machine code for sm_90 of `matmul_naive`,
//! `rows_column_means_shared` and `transpose_padded` (ptxas 12.9), all loads of an unrolled loop
//! stand before the first use of one, each with the guard as its predicate.

use ptx::Instruction;

use crate::program::{BasicBlocks, facts};

/// The most instructions that are predicated.
const MOST: usize = 16;

/// The last position of each basic block that does not end a straight run.
pub(super) fn ends(body: &[Instruction], blocks: &BasicBlocks, successors: &[Vec<u32>]) -> Vec<usize> {
    let starts: Vec<usize> = (0..blocks.count()).map(|block| blocks.positions(block).start).collect();
    let after = |block: usize| -> Vec<usize> {
        let last = blocks.positions(block).end - 1;
        successors[last].iter().filter_map(|&next| starts.binary_search(&(next as usize)).ok()).collect()
    };
    // An arm: a short block that only `from` leads to, and that leads to one block.
    let arm = |block: usize, from: usize| -> Option<usize> {
        let range = blocks.positions(block);
        let fits = range.len() <= MOST && body[range].iter().all(|instruction| facts(&instruction.op).predicated);
        match (blocks.before[block].as_slice(), after(block).as_slice()) {
            ([only], [next]) if fits && *only == from && *next != block => Some(*next),
            _ => None,
        }
    };
    let mut ends = Vec::new();
    for block in 0..blocks.count() {
        let [one, other] = after(block)[..] else { continue };
        let last = |block: usize| blocks.positions(block).end - 1;
        let arms = match (arm(one, block), arm(other, block)) {
            (Some(next), _) if next == other => vec![one],
            (_, Some(next)) if next == one => vec![other],
            (Some(first), Some(second)) if first == second => vec![one, other],
            _ => continue,
        };
        ends.push(last(block));
        ends.extend(arms.into_iter().map(last));
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::successors;

    /// The ends of runs that go on, in a kernel with these lines.
    fn found(lines: &str) -> Vec<usize> {
        let text = format!(
            ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\n{lines}\nret;\n}}\n"
        );
        let module = ptx::parse("k.ptx", &text).unwrap();
        let (_, function) = module.functions.iter().next().unwrap();
        let body = function.body.as_deref().unwrap();
        let successors = successors(body);
        ends(body, &BasicBlocks::new(body.len(), &successors), &successors)
    }

    #[test]
    fn a_guard_goes_and_so_do_both_arms_of_a_choice() {
        let guard = "ld.param.u64 %d1, [p];\n@%p1 bra $over;\nld.global.u32 %r1, [%d1];\n$over:\nadd.u32 %r1, %r1, 1;";
        assert_eq!(found(guard), [1, 2]);
        let choice =
            "@%p1 bra $other;\nmov.u32 %r1, 1;\nbra.uni $over;\n$other:\nmov.u32 %r1, 2;\n$over:\nadd.u32 %r1, %r1, 1;";
        assert_eq!(found(choice).len(), 3);
    }

    #[test]
    fn loops_barriers_and_long_arms_keep_their_branches() {
        assert_eq!(found("$again:\nadd.u32 %r1, %r1, 1;\n@%p1 bra $again;"), []);
        assert_eq!(found("@%p1 bra $over;\nbar.sync 0;\n$over:\nadd.u32 %r1, %r1, 1;"), []);
        let long = "add.u32 %r1, %r1, 1;\n".repeat(MOST + 1);
        assert_eq!(found(&format!("@%p1 bra $over;\n{long}$over:\nadd.u32 %r1, %r1, 1;")), []);
    }
}
