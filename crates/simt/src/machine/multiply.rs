//! Products of matrices: `mma` and `wmma.mma`.
//!
//! Fragments are gathered into whole matrices, multiplied, and scattered again. How sums round: see [`crate::lanes::tensor`].

use ptx::{BitProduct, MatrixType};

use super::warp::Warp;
use crate::lanes::tensor::{Factor, Sum, from_single, fused_double, single};
use crate::lanes::{Registers, Row, WideRow};
use crate::program::{Fragment, Product, Sparse};

/// Executes a product with all lanes of a warp.
pub(super) fn multiply(warp: &mut Warp, product: &Product) {
    let registers = &mut warp.registers;
    match product.a.ty {
        MatrixType::F64 => doubles(registers, product),
        MatrixType::B1 => bits(registers, product),
        MatrixType::U4 | MatrixType::S4 | MatrixType::U8 | MatrixType::S8 => integers(registers, product),
        _ if product.quads => quads(registers, product),
        MatrixType::E4m3 | MatrixType::E5m2 => eight_bit_floats(registers, product),
        _ => floats(registers, product),
    }
}

/// Calls `each` with row, column and bits of each element of a fragment.
fn for_each(registers: &Registers<'_>, fragment: &Fragment, mut each: impl FnMut(usize, usize, u32)) {
    let per_register = fragment.elements_per_register();
    let bits = fragment.ty.bits();
    for (index, &register) in fragment.registers.iter().enumerate() {
        let values = registers.word(register);
        for (lane, &value) in values.iter().enumerate() {
            for within in 0..per_register {
                let (row, column) = fragment.place(index * per_register + within, lane);
                each(row, column, value >> (within as u32 * bits) & (u32::MAX >> (32 - bits)));
            }
        }
    }
}

/// Writes the elements of a fragment.
fn scatter(registers: &mut Registers<'_>, fragment: &Fragment, element: impl Fn(usize, usize) -> u32) {
    let per_register = fragment.elements_per_register();
    let bits = fragment.ty.bits();
    for (index, &register) in fragment.registers.iter().enumerate() {
        let mut values: Row = [0; 32];
        for (lane, value) in values.iter_mut().enumerate() {
            for within in 0..per_register {
                let (row, column) = fragment.place(index * per_register + within, lane);
                *value |= element(row, column) << (within as u32 * bits);
            }
        }
        registers.set_word(register, u32::MAX, &values);
    }
}

/// A matrix whose elements have been taken out of a fragment: `rows` rows one after the other.
fn gather<T: Copy + Default>(
    registers: &Registers<'_>,
    fragment: &Fragment,
    (rows, columns): (usize, usize),
    element: impl Fn(u32) -> T,
) -> Vec<T> {
    let mut matrix = vec![T::default(); rows * columns];
    for_each(registers, fragment, |row, column, bits| matrix[row * columns + column] = element(bits));
    matrix
}

/// The same with columns one after the other.
fn gather_columns<T: Copy + Default>(
    registers: &Registers<'_>,
    fragment: &Fragment,
    (rows, columns): (usize, usize),
    element: impl Fn(u32) -> T,
) -> Vec<T> {
    let mut matrix = vec![T::default(); rows * columns];
    for_each(registers, fragment, |row, column, bits| matrix[column * rows + row] = element(bits));
    matrix
}

/// A, with the zeros that a sparse one does not store.
fn gather_a<T: Copy + Default>(registers: &Registers<'_>, product: &Product, element: impl Fn(u32) -> T) -> Vec<T> {
    let &Product { m, k, .. } = product;
    let Some(Sparse { metadata, first_lane }) = product.sparse else {
        return gather(registers, &product.a, (m, k), element);
    };
    let metadata = registers.word(metadata);
    let chunk = product.a.ty.sparse_chunk() as usize;
    let lane = |row: usize, of_row: usize| (row % 8 * 4 + first_lane as usize + of_row) & 31;
    let mut matrix = vec![T::default(); m * k];
    for_each(registers, &product.a, |row, column, bits| {
        let (number, within) = (column / (chunk / 2), column % (chunk / 2));
        // Four bits tell of a chunk: two indices of two bits.
        let told = match product.a.ty.bits() {
            // A lane tells of eight chunks of one row: the first of row g, its neighbour of row g + 8 (as an H200 has it).
            4 | 8 => metadata[lane(row, 2 * (number / 8) + row / 8)] >> (4 * (number % 8)) & 15,
            // A lane tells of four chunks of row g and of row g + 8.
            _ => metadata[lane(row, number / 4)] >> (4 * (number % 4) + 16 * (row / 8)) & 15,
        };
        let position = match chunk {
            2 => (told >> 1 & 1) as usize,
            4 => (told >> (2 * within) & 3) as usize,
            _ => 2 * (told >> (2 * (within / 2)) & 3) as usize + within % 2,
        };
        matrix[row * k + number * chunk + position] = element(bits);
    });
    matrix
}

/// f16, bf16 and tf32.
fn floats(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let a = gather_a(registers, product, |bits| Factor::new(bits, product.a.ty));
    let b = gather_columns(registers, &product.b, (k, n), |bits| Factor::new(bits, product.b.ty));
    let c = gather(registers, &product.c, (m, n), |bits| bits);
    let sum = Sum { factors: product.a.ty, c: product.c.ty, d: product.d.ty };
    let mut d = vec![0; m * n];
    for (row, a) in a.chunks_exact(k).enumerate() {
        for (column, b) in b.chunks_exact(k).enumerate() {
            d[row * n + column] = sum.of(a.iter().copied(), b.iter().copied(), c[row * n + column]);
        }
    }
    scatter(registers, &product.d, |row, column| d[row * n + column]);
}

/// e4m3 and e5m2, by way of f16. All sums are of the result's type.
fn eight_bit_floats(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let a = gather_a(registers, product, |bits| Factor::new(bits, product.a.ty));
    let b = gather_columns(registers, &product.b, (k, n), |bits| Factor::new(bits, product.b.ty));
    let c = gather(registers, &product.c, (m, n), |bits| single(bits, product.c.ty));
    let ty = product.d.ty;
    let sum = Sum { factors: MatrixType::F16, c: ty, d: ty };
    let mut d = vec![0; m * n];
    for (row, a) in a.chunks_exact(k).enumerate() {
        for (column, b) in b.chunks_exact(k).enumerate() {
            let pairs = |factors: &[Factor], first: usize| -> Vec<Factor> {
                factors.chunks_exact(4).flat_map(|four| [four[first], four[first + 1]]).collect()
            };
            let half = |first, before| sum.of(pairs(a, first).into_iter(), pairs(b, first).into_iter(), before);
            let products = single(half(2, half(0, 0)), ty);
            d[row * n + column] = from_single(c[row * n + column] + products, ty);
        }
    }
    scatter(registers, &product.d, |row, column| d[row * n + column]);
}

/// `m8n8k4` of f16.
fn quads(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let value = |bits| single(bits, MatrixType::F16);
    let a = gather(registers, &product.a, (m, k), value);
    let b = gather_columns(registers, &product.b, (k, m / 8 * n), value);
    let c = gather(registers, &product.c, (m, n), |bits| single(bits, product.c.ty));
    let mut d = vec![0; m * n];
    for (row, a) in a.chunks_exact(k).enumerate() {
        for column in 0..n {
            let b = &b[(row / 8 * n + column) * k..][..k];
            let products = a.iter().zip(b).skip(1).fold(a[0] * b[0], |sum, (a, b)| a.mul_add(*b, sum));
            d[row * n + column] = from_single(c[row * n + column] + products, product.d.ty);
        }
    }
    scatter(registers, &product.d, |row, column| d[row * n + column]);
}

/// The value of an integer element.
fn integer(bits: u32, ty: MatrixType) -> i32 {
    match ty {
        MatrixType::S8 => i32::from(bits as i8),
        MatrixType::S4 => (bits << 28) as i32 >> 28,
        _ => bits as i32,
    }
}

fn integers(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let a = gather_a(registers, product, |bits| integer(bits, product.a.ty));
    let b = gather_columns(registers, &product.b, (k, n), |bits| integer(bits, product.b.ty));
    let c = gather(registers, &product.c, (m, n), |bits| bits as i32);
    let mut d = vec![0; m * n];
    for (row, a) in a.chunks_exact(k).enumerate() {
        for (column, b) in b.chunks_exact(k).enumerate() {
            let products: i32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let c = c[row * n + column];
            d[row * n + column] = if product.saturate { c.saturating_add(products) } else { c.wrapping_add(products) };
        }
    }
    scatter(registers, &product.d, |row, column| d[row * n + column] as u32);
}

fn bits(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let a = gather(registers, &product.a, (m, k), |bit| bit);
    let b = gather_columns(registers, &product.b, (k, n), |bit| bit);
    let c = gather(registers, &product.c, (m, n), |bits| bits);
    let multiply = |a: u32, b: u32| match product.bit_product {
        Some(BitProduct::Xor) => a ^ b,
        _ => a & b,
    };
    let mut d = vec![0; m * n];
    for (row, a) in a.chunks_exact(k).enumerate() {
        for (column, b) in b.chunks_exact(k).enumerate() {
            let count: u32 = a.iter().zip(b).map(|(&a, &b)| multiply(a, b)).sum();
            d[row * n + column] = c[row * n + column].wrapping_add(count);
        }
    }
    scatter(registers, &product.d, |row, column| d[row * n + column]);
}

/// The elements of a fragment of f64; each has a register of its own.
fn gather_doubles(registers: &Registers<'_>, fragment: &Fragment, (rows, columns): (usize, usize)) -> Vec<f64> {
    let mut matrix = vec![0.0; rows * columns];
    for (index, &register) in fragment.registers.iter().enumerate() {
        for (lane, &value) in registers.wide(register).iter().enumerate() {
            let (row, column) = fragment.place(index, lane);
            matrix[row * columns + column] = f64::from_bits(value);
        }
    }
    matrix
}

fn doubles(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, rounding, .. } = product;
    let a = gather_doubles(registers, &product.a, (m, k));
    let b = gather_doubles(registers, &product.b, (k, n));
    let mut d = gather_doubles(registers, &product.c, (m, n));
    for row in 0..m {
        for column in 0..n {
            let sum = &mut d[row * n + column];
            for index in 0..k {
                *sum = fused_double(a[row * k + index], b[index * n + column], *sum, rounding);
            }
        }
    }
    for (index, &register) in product.d.registers.iter().enumerate() {
        let values: WideRow = std::array::from_fn(|lane| {
            let (row, column) = product.d.place(index, lane);
            let value = d[row * n + column];
            // The hardware's only NaN.
            if value.is_nan() { 0xfff8_0000_0000_0000 } else { value.to_bits() }
        });
        registers.set_wide(register, u32::MAX, &values);
    }
}
