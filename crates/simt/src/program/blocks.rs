//! Basic blocks: stretches of a body that are entered at their first position and left at their
//! last.

use std::ops::Range;

/// The basic blocks of a body, in order.
pub(crate) struct BasicBlocks {
    /// The first position of each, then the end of the body.
    starts: Vec<usize>,
    /// The predecessors of each.
    pub before: Vec<Vec<usize>>,
}

impl BasicBlocks {
    /// The basic blocks of a body of `length` instructions; `successors` are the successors of
    /// each.
    pub fn new(length: usize, successors: &[Vec<u32>]) -> Self {
        let mut is_start = vec![false; length + 1];
        (is_start[0], is_start[length]) = (true, true);
        for (position, to) in successors.iter().enumerate() {
            if !matches!(to[..], [next] if next as usize == position + 1) {
                is_start[position + 1] = true;
                to.iter().for_each(|&target| is_start[(target as usize).min(length)] = true);
            }
        }
        let starts: Vec<usize> = (0..=length).filter(|&position| is_start[position]).collect();
        let mut before = vec![Vec::new(); starts.len() - 1];
        for block in 0..before.len() {
            for &target in &successors[starts[block + 1] - 1] {
                let to = starts.partition_point(|&start| start < target as usize);
                if let Some(before) = before.get_mut(to) {
                    before.push(block);
                }
            }
        }
        Self { starts, before }
    }

    /// The block that begins at a position.
    pub fn at(&self, position: usize) -> Option<usize> {
        self.starts.binary_search(&position).ok().filter(|&block| block < self.count())
    }

    /// The number of blocks.
    pub fn count(&self) -> usize {
        self.before.len()
    }

    /// The positions of a block.
    pub fn positions(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_ways_part_or_meet() {
        // 0 -> 1 -> 2 | 4; 2 -> 3 -> 1; 4 -> end
        let blocks = BasicBlocks::new(5, &[vec![1], vec![4, 2], vec![3], vec![1], vec![5]]);
        let positions: Vec<_> = (0..blocks.count()).map(|block| blocks.positions(block)).collect();
        assert_eq!(positions, [0..1, 1..2, 2..4, 4..5]);
        assert_eq!(blocks.before, [vec![], vec![0, 2], vec![1], vec![1]]);
        assert_eq!(BasicBlocks::new(0, &[]).count(), 0);
    }
}
