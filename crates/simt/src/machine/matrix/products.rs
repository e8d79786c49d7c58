//! Products of whole matrices, element by element: what `mma`, `wmma.mma` and `wgmma.mma_async`
//! have in common.
//!
//! Elements are bits, each in its own word. [`crate::tensor_core`] says how sums round.

use ptx::{BitProduct, MatrixType};

use crate::lanes::Row;
use crate::program::Sparse;
use crate::tensor_core::{Factor, Sum, from_single, single};

/// The types and sizes of `A * B + C`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    pub a: MatrixType,
    pub b: MatrixType,
    pub c: MatrixType,
    pub d: MatrixType,
    /// Elements in each sum.
    pub k: usize,
    pub saturate: bool,
    pub bit_product: Option<BitProduct>,
    /// Whether the hardware multiplies fp8 directly: `wgmma` does, `mma` does not.
    pub has_narrow: bool,
}

impl Arithmetic {
    /// Replaces C by `A * B + C`. A and C are row-major, B is column-major.
    pub fn multiply(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        match self.a {
            MatrixType::B1 => self.bits(a, b, c),
            MatrixType::U4 | MatrixType::S4 | MatrixType::U8 | MatrixType::S8 => self.integers(a, b, c),
            MatrixType::E4m3 | MatrixType::E5m2 if self.has_narrow => self.narrow_floats(a, b, c),
            MatrixType::E4m3 | MatrixType::E5m2 => self.by_way_of_halves(a, b, c),
            _ => self.floats(a, b, c),
        }
    }

    /// Calls `sum` for each row of A, column of B and element of C.
    fn each<T>(&self, a: &[T], b: &[T], c: &mut [u32], sum: impl Fn(&[T], &[T], u32) -> u32) {
        let columns = b.len() / self.k;
        for (a, c) in a.chunks_exact(self.k).zip(c.chunks_exact_mut(columns)) {
            for (b, c) in b.chunks_exact(self.k).zip(c) {
                *c = sum(a, b, *c);
            }
        }
    }

    fn floats(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        let sum = Sum { factors: self.a, c: self.c, d: self.d };
        let factors = |bits: &[u32]| -> Vec<Factor> { bits.iter().map(|&bits| Factor::new(bits, self.a)).collect() };
        self.each(&factors(a), &factors(b), c, |a, b, c| sum.of(a.iter().copied(), b.iter().copied(), c));
    }

    /// e4m3 and e5m2, multiplied directly.
    fn narrow_floats(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        let sum = Sum { factors: MatrixType::E4m3, c: self.c, d: self.d };
        let factors = |bits: &[u32], ty| -> Vec<Factor> { bits.iter().map(|&bits| Factor::narrow(bits, ty)).collect() };
        self.each(&factors(a, self.a), &factors(b, self.b), c, |a, b, c| {
            sum.of(a.iter().copied(), b.iter().copied(), c)
        });
    }

    /// e4m3 and e5m2, converted to f16 first. All sums have the result's type.
    fn by_way_of_halves(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        let sum = Sum { factors: MatrixType::F16, c: self.d, d: self.d };
        let factors = |bits: &[u32], ty| -> Vec<Factor> { bits.iter().map(|&bits| Factor::new(bits, ty)).collect() };
        self.each(&factors(a, self.a), &factors(b, self.b), c, |a, b, c| {
            let pairs = |factors: &[Factor], first: usize| -> Vec<Factor> {
                factors.chunks_exact(4).flat_map(|four| [four[first], four[first + 1]]).collect()
            };
            let half = |first, before| sum.of(pairs(a, first).into_iter(), pairs(b, first).into_iter(), before);
            let products = single(half(2, half(0, 0)), self.d);
            from_single(single(c, self.c) + products, self.d)
        });
    }

    fn integers(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        let integers = |bits: &[u32], ty| -> Vec<i32> { bits.iter().map(|&bits| integer(bits, ty)).collect() };
        self.each(&integers(a, self.a), &integers(b, self.b), c, |a, b, c| {
            let products: i32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let sum =
                if self.saturate { (c as i32).saturating_add(products) } else { (c as i32).wrapping_add(products) };
            sum as u32
        });
    }

    fn bits(&self, a: &[u32], b: &[u32], c: &mut [u32]) {
        let multiply = |a: u32, b: u32| match self.bit_product {
            Some(BitProduct::Xor) => a ^ b,
            _ => a & b,
        };
        self.each(a, b, c, |a, b, c| c.wrapping_add(a.iter().zip(b).map(|(&a, &b)| multiply(a, b)).sum()));
    }
}

/// The value of an integer element.
fn integer(bits: u32, ty: MatrixType) -> i32 {
    match ty {
        MatrixType::S8 => i32::from(bits as i8),
        MatrixType::S4 => (bits << 28) as i32 >> 28,
        _ => bits as i32,
    }
}

/// Expands the 16 rows of a sparse A: half of its `k` columns are stored, the rest are zeros.
pub(crate) fn with_zeros(stored: &[u32], k: usize, ty: MatrixType, metadata: &Row, sparse: Sparse) -> Vec<u32> {
    let chunk = ty.sparse_chunk() as usize;
    let lane = |row: usize, of_row: usize| (row % 8 * 4 + sparse.first_lane as usize + of_row) & 31;
    let mut matrix = vec![0; 2 * stored.len()];
    for (row, stored) in stored.chunks_exact(k / 2).enumerate() {
        for (column, &bits) in stored.iter().enumerate() {
            let (number, within) = (column / (chunk / 2), column % (chunk / 2));
            // Four bits describe a chunk: two indices of two bits.
            let metadata_bits = match ty.bits() {
                // A lane describes eight chunks of one row: the even lane of row g, the odd one of
                // row g + 8, as on an H200.
                4 | 8 => metadata[lane(row, 2 * (number / 8) + row / 8)] >> (4 * (number % 8)) & 15,
                // A lane describes four chunks of row g and of row g + 8.
                _ => metadata[lane(row, number / 4)] >> (4 * (number % 4) + 16 * (row / 8)) & 15,
            };
            let position = match chunk {
                2 => (metadata_bits >> 1 & 1) as usize,
                4 => (metadata_bits >> (2 * within) & 3) as usize,
                _ => 2 * (metadata_bits >> (2 * (within / 2)) & 3) as usize + within % 2,
            };
            matrix[row * k + number * chunk + position] = bits;
        }
    }
    matrix
}
