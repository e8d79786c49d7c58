//! Fragments: which elements of a matrix each lane holds, and in which of its registers.
//!
//! Fragments of `mma` are in the PTX manual ("Matrix Fragments for mma.m16n8k16" and so on): one
//! rule covers all but `m8n8k4` of f16. Fragments of `wmma` are undocumented, and no program may
//! depend on them. Here they are as an H200's `wmma.load` lays them out: blocks of `mma` fragments
//! side by side, `m8n32` as the transpose of `m32n8`.
//!
//! The cost of a tile in memory is counted as the simulator moves it: one access for each register
//! or element. For some tiles the hardware uses wider accesses, or `ldmatrix`.

use ptx::{MatrixLayout, MatrixRole, MatrixShape, MatrixType};

/// A fragment of a matrix in the registers of a warp.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub role: MatrixRole,
    pub ty: MatrixType,
    /// The row of each register.
    pub registers: Vec<u32>,
    shape: MatrixShape,
    /// `m8n32`: kept as the fragment of its transpose.
    transposed: bool,
    /// `mma.m8n8k4` of f16, with the matrix's layout: four products, one for each pair of quads.
    quads: Option<MatrixLayout>,
}

impl Fragment {
    /// The fragment of one of the matrices of a product.
    pub fn new(role: MatrixRole, ty: MatrixType, shape: MatrixShape, registers: Vec<u32>) -> Self {
        Self { role, ty, registers, shape, transposed: false, quads: None }
    }

    /// Converts it to `wmma`'s fragment.
    pub fn for_wmma(self) -> Self {
        let MatrixShape { m, n, k } = self.shape;
        if (m, n) != (8, 32) {
            return self;
        }
        let role = match self.role {
            MatrixRole::A => MatrixRole::B,
            MatrixRole::B => MatrixRole::A,
            MatrixRole::Accumulator => MatrixRole::Accumulator,
        };
        Self { role, transposed: true, shape: MatrixShape { m: n, n: m, k }, ..self }
    }

    /// Converts it to the fragment of `mma.m8n8k4` of f16, of a matrix with that layout.
    pub fn for_quads(self, layout: MatrixLayout) -> Self {
        Self { quads: Some(layout), ..self }
    }

    /// Elements in each register; a 64-bit register has one.
    pub fn elements_per_register(&self) -> usize {
        (32 / self.ty.bits()).max(1) as usize
    }

    /// The row and column in the matrix of a lane's element.
    pub fn position(&self, element: usize, lane: usize) -> (usize, usize) {
        if let Some(layout) = self.quads {
            return self.position_in_quads(layout, element, lane);
        }
        let (group, in_group) = (lane / 4, lane % 4);
        let each = self.elements_per_register();
        let (register, within) = (element / each, element % each);
        let (m, n, k) = (self.shape.m as usize, self.shape.n as usize, self.shape.k as usize);
        let (row, column) = match self.role {
            MatrixRole::A => {
                // Blocks of up to 16 rows, in which registers alternate between two halves of 8.
                let eights = m.min(16) / 8;
                let registers = eights * k / (4 * each);
                let (block, register) = (register / registers, register % registers);
                (16 * block + group + 8 * (register % eights), in_group * each + within + register / eights * 4 * each)
            }
            MatrixRole::B => {
                let registers = (k / (4 * each)).max(1);
                let (block, register) = (register / registers, register % registers);
                (in_group * each + within + register * 4 * each, 8 * block + group)
            }
            MatrixRole::Accumulator => {
                let (pair, within) = (element / 2, element % 2);
                let eights = m.min(16) / 8;
                let (block, row) = (pair / eights, group + 8 * (pair % eights));
                let (down, right) = if m == 32 { (16 * block, 0) } else { (0, 8 * block) };
                (row + down, 2 * in_group + within + right)
            }
        };
        // `wmma` repeats elements if it has more registers than elements.
        let (rows, columns) = match self.role {
            MatrixRole::A => (m, k),
            MatrixRole::B => (k, n),
            MatrixRole::Accumulator => (m, n),
        };
        let (row, column) = (row % rows, column % columns);
        if self.transposed { (column, row) } else { (row, column) }
    }

    /// PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type". The four matrices
    /// are stacked (for B: side by side).
    fn position_in_quads(&self, layout: MatrixLayout, element: usize, lane: usize) -> (usize, usize) {
        let (in_quad, quad, upper) = (lane % 4, lane / 4 % 4, lane / 16);
        match (self.role, layout) {
            (MatrixRole::A, MatrixLayout::Row) => (8 * quad + in_quad + 4 * upper, element),
            (MatrixRole::A, MatrixLayout::Column) => (8 * quad + element % 4 + 4 * upper, in_quad),
            (MatrixRole::B, MatrixLayout::Row) => (in_quad, 8 * quad + element % 4 + 4 * upper),
            (MatrixRole::B, MatrixLayout::Column) => (element, 8 * quad + in_quad + 4 * upper),
            (MatrixRole::Accumulator, _) if self.ty == MatrixType::F16 => (8 * quad + in_quad + 4 * upper, element),
            (MatrixRole::Accumulator, _) => {
                (8 * quad + 4 * upper + (in_quad & 1) + (element & 2), (element & 4) + (in_quad & 2) + (element & 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Checks the number of registers, and that each element of the matrix has a place.
    fn covers(fragment: Fragment, rows: usize, columns: usize) {
        let elements = fragment.registers.len() * fragment.elements_per_register();
        let places: BTreeSet<_> = (0..elements)
            .flat_map(|element| (0..32).map(move |lane| (element, lane)))
            .map(|(e, l)| fragment.position(e, l))
            .collect();
        let all: BTreeSet<_> = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect();
        assert_eq!(places, all, "{fragment:?}");
    }

    #[test]
    fn fragments_hold_each_element() {
        use MatrixRole::{A, Accumulator, B};
        use MatrixType::*;
        let cases = [
            (F16, [16, 8, 16], [4, 2]),
            (F16, [16, 8, 8], [2, 1]),
            (Tf32, [16, 8, 8], [4, 2]),
            (Tf32, [16, 8, 4], [2, 1]),
            (F64, [8, 8, 4], [1, 1]),
            (F64, [16, 8, 16], [8, 4]),
            (S8, [8, 8, 16], [1, 1]),
            (U8, [16, 8, 32], [4, 2]),
            (S4, [16, 8, 64], [4, 2]),
            (B1, [16, 8, 256], [4, 2]),
            (F16, [16, 16, 16], [8, 8]),
            (F16, [32, 8, 16], [8, 8]),
            (F16, [8, 32, 16], [8, 8]),
            (Bf16, [16, 16, 16], [4, 4]),
            (Bf16, [8, 32, 16], [2, 8]),
            (S8, [32, 8, 16], [4, 1]),
            (Tf32, [16, 16, 8], [4, 4]),
        ];
        for (ty, [m, n, k], [a, b]) in cases {
            let shape = MatrixShape { m, n, k };
            let (m, n, k) = (m as usize, n as usize, k as usize);
            covers(Fragment::new(A, ty, shape, vec![0; a]).for_wmma(), m, k);
            covers(Fragment::new(B, ty, shape, vec![0; b]).for_wmma(), k, n);
            covers(Fragment::new(Accumulator, F32, shape, vec![0; m * n / 32]).for_wmma(), m, n);
        }
    }

    #[test]
    fn quads_hold_four_products() {
        use MatrixRole::{A, Accumulator, B};
        use MatrixType::{F16, F32};
        let shape = MatrixShape { m: 8, n: 8, k: 4 };
        for layout in [MatrixLayout::Row, MatrixLayout::Column] {
            covers(Fragment::new(A, F16, shape, vec![0; 2]).for_quads(layout), 32, 4);
            covers(Fragment::new(B, F16, shape, vec![0; 2]).for_quads(layout), 4, 32);
            covers(Fragment::new(Accumulator, F16, shape, vec![0; 4]).for_quads(layout), 32, 8);
            covers(Fragment::new(Accumulator, F32, shape, vec![0; 8]).for_quads(layout), 32, 8);
        }
    }
}
