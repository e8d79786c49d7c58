//! Matrices in shared memory as `wgmma` reads them (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Shared Memory Layout").
//!
//! Memory is read in pieces of 16 bytes. Eight lines of pieces form an atom: without a swizzle, a
//! line has one piece, otherwise 32, 64 or 128 bytes. Dimension k runs along a line (or,
//! transposed, m or n), the other one across lines. A swizzle permutes the pieces of each line, so
//! that a column of pieces is spread over different banks: a piece's number in its line is xored
//! with bits 7 to 9 of its address.

/// A matrix descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedMatrix {
    start: u64,
    /// Bytes from one atom to the next along the lines.
    along: u64,
    /// Bytes from one atom to the next across the lines.
    across: u64,
    /// The line of the swizzle pattern at address 0.
    base: u64,
    /// Pieces in a line of an atom: 1, 2, 4 or 8.
    pieces: u64,
}

impl SharedMatrix {
    /// Decodes the descriptor of a matrix in shared memory that begins at `memory`. Contiguous
    /// elements are neighbours along k, unless it is transposed.
    pub fn new(descriptor: u64, transposed: bool, memory: u64) -> Self {
        let field = |lowest: u32| (descriptor >> lowest & 0x3fff) << 4;
        let pieces = match descriptor >> 62 {
            0 => 1,
            1 => 8,
            2 => 4,
            _ => 2,
        };
        let (leading, stride) = (field(16), field(32));
        // The two are swapped in this one case.
        let (along, across) = if transposed && pieces == 1 { (stride, leading) } else { (leading, stride) };
        Self { start: memory + field(0), along, across, base: descriptor >> 49 & 7, pieces }
    }

    /// The address of a piece: which line, and which piece of the line.
    pub fn address(&self, line: u64, piece: u64) -> u64 {
        let atom = self.start + line / 8 * self.across + piece / self.pieces * self.along;
        let address = atom + 16 * (line % 8 * self.pieces + piece % self.pieces);
        let row = (address >> 7).wrapping_sub(self.base);
        address ^ (row & (self.pieces - 1)) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Start, leading and stride byte offset, base offset, swizzle mode.
    fn descriptor(start: u64, leading: u64, stride: u64, base: u64, mode: u64) -> u64 {
        start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | mode << 62
    }

    #[test]
    fn without_swizzle_atoms_are_eight_pieces() {
        let matrix = SharedMatrix::new(descriptor(0x400, 128, 256, 0, 0), false, 0);
        let places = [(0, 0), (1, 0), (7, 0), (0, 1), (8, 0), (9, 1)].map(|(line, piece)| matrix.address(line, piece));
        assert_eq!(places, [0x400, 0x410, 0x470, 0x480, 0x500, 0x590]);
    }

    #[test]
    fn without_swizzle_the_strides_of_a_transposed_matrix_change_places() {
        let matrix = SharedMatrix::new(descriptor(0, 128, 256, 0, 0), true, 0);
        assert_eq!([(8, 0), (0, 1)].map(|(line, piece)| matrix.address(line, piece)), [128, 256]);
        let matrix = SharedMatrix::new(descriptor(0, 2048, 1024, 0, 1), true, 0);
        assert_eq!([(8, 0), (0, 8)].map(|(line, piece)| matrix.address(line, piece)), [1024, 2048]);
    }

    #[test]
    fn swizzling_moves_pieces_within_their_line() {
        // PTX ISA, "128-Byte swizzle": line i has piece j where i ^ j is; with 64 bytes, i / 2 (two
        // lines in 128 bytes); with 32, i / 4.
        for (mode, pieces, lines) in [(1, 8, 1), (2, 4, 2), (3, 2, 4)] {
            let matrix = SharedMatrix::new(descriptor(0x800, 0, 0x1000, 0, mode), false, 0);
            for (line, piece) in (0..8).flat_map(|line| (0..pieces).map(move |piece| (line, piece))) {
                let expected = 0x800 + line * pieces * 16 + (piece ^ (line / lines % pieces)) * 16;
                assert_eq!(matrix.address(line, piece), expected, "mode {mode}, line {line}, piece {piece}");
            }
            let all: BTreeSet<_> = (0..16 * pieces).map(|at| matrix.address(at / pieces, at % pieces)).collect();
            assert_eq!(all.len() as u64, 16 * pieces);
        }
    }

    #[test]
    fn a_pattern_may_start_within_another() {
        let aligned = SharedMatrix::new(descriptor(0x800, 0, 1024, 0, 1), false, 0);
        // The next 16 values of k: the start moves, the pattern does not.
        let further = SharedMatrix::new(descriptor(0x820, 0, 1024, 0, 1), false, 0);
        assert_eq!(further.address(3, 1), aligned.address(3, 3));
        // A pattern that starts 3 lines after a boundary.
        let shifted = SharedMatrix::new(descriptor(0x980, 0, 1024, 3, 1), false, 0);
        assert_eq!(shifted.address(5, 2), aligned.address(5, 2) + 0x180);
        // In another block of the cluster.
        let elsewhere = SharedMatrix::new(descriptor(0x980, 0, 1024, 3, 1), false, 1 << 24);
        assert_eq!(elsewhere.address(5, 2), shifted.address(5, 2) + (1 << 24));
    }
}
