//! Products of matrices by a warp: `mma` and `wmma.mma`. Fragments are gathered into whole
//! matrices, multiplied, and scattered again.

use ptx::MatrixType;

use crate::lanes::{Registers, Row, WideRow};
use crate::machine::matrix::products::{Arithmetic, with_zeros};
use crate::machine::state::Warp;
use crate::program::{Fragment, Product};
use crate::tensor_core::{from_single, fused_double, single};

/// Executes a product with all lanes of a warp.
pub(crate) fn multiply(warp: &mut Warp, product: &Product) {
    let registers = &mut warp.registers;
    let &Product { m, n, k, .. } = product;
    match product.a.ty {
        MatrixType::F64 => return doubles(registers, product),
        _ if product.quads => return quads(registers, product),
        _ => {}
    }
    let a = match product.sparse {
        None => gather(registers, &product.a, (m, k)),
        Some(sparse) => {
            let stored = gather(registers, &product.a, (m, k / 2));
            with_zeros(&stored, k, product.a.ty, registers.word(sparse.metadata), sparse)
        }
    };
    let b = gather_columns(registers, &product.b, (k, n));
    let mut d = gather(registers, &product.c, (m, n));
    let arithmetic = Arithmetic {
        a: product.a.ty,
        b: product.b.ty,
        c: product.c.ty,
        d: product.d.ty,
        k,
        saturate: product.saturate,
        bit_product: product.bit_product,
        has_narrow: false,
    };
    arithmetic.multiply(&a, &b, &mut d);
    scatter(registers, &product.d, &d, n);
}

/// Calls `each` with row, column and bits of each element of a fragment.
fn for_each(registers: &Registers<'_>, fragment: &Fragment, mut each: impl FnMut(usize, usize, u32)) {
    let per_register = fragment.elements_per_register();
    let bits = fragment.ty.bits();
    for (index, &register) in fragment.registers.iter().enumerate() {
        let values = registers.word(register);
        for (lane, &value) in values.iter().enumerate() {
            for within in 0..per_register {
                let (row, column) = fragment.position(index * per_register + within, lane);
                each(row, column, value >> (within as u32 * bits) & (u32::MAX >> (32 - bits)));
            }
        }
    }
}

/// Writes the elements of a fragment, from a matrix in row-major order with `columns` columns.
pub(crate) fn scatter(registers: &mut Registers<'_>, fragment: &Fragment, matrix: &[u32], columns: usize) {
    let per_register = fragment.elements_per_register();
    let bits = fragment.ty.bits();
    for (index, &register) in fragment.registers.iter().enumerate() {
        let mut values: Row = [0; 32];
        for (lane, value) in values.iter_mut().enumerate() {
            for within in 0..per_register {
                let (row, column) = fragment.position(index * per_register + within, lane);
                *value |= matrix[row * columns + column] << (within as u32 * bits);
            }
        }
        registers.set_word(register, u32::MAX, &values);
    }
}

/// The matrix that a fragment holds, as bits in row-major order.
pub(crate) fn gather(registers: &Registers<'_>, fragment: &Fragment, (rows, columns): (usize, usize)) -> Vec<u32> {
    let mut matrix = vec![0; rows * columns];
    for_each(registers, fragment, |row, column, bits| matrix[row * columns + column] = bits);
    matrix
}

/// The matrix that a fragment holds, as bits in column-major order.
fn gather_columns(registers: &Registers<'_>, fragment: &Fragment, (rows, columns): (usize, usize)) -> Vec<u32> {
    let mut matrix = vec![0; rows * columns];
    for_each(registers, fragment, |row, column, bits| matrix[column * rows + row] = bits);
    matrix
}

/// `m8n8k4` of f16.
fn quads(registers: &mut Registers<'_>, product: &Product) {
    let &Product { m, n, k, .. } = product;
    let values = |bits: Vec<u32>, ty| -> Vec<f32> { bits.iter().map(|&bits| single(bits, ty)).collect() };
    let a = values(gather(registers, &product.a, (m, k)), MatrixType::F16);
    let b = values(gather_columns(registers, &product.b, (k, m / 8 * n)), MatrixType::F16);
    let mut d = gather(registers, &product.c, (m, n));
    for (row, a) in a.chunks_exact(k).enumerate() {
        for column in 0..n {
            let b = &b[(row / 8 * n + column) * k..][..k];
            let products = a.iter().zip(b).skip(1).fold(a[0] * b[0], |sum, (a, b)| a.mul_add(*b, sum));
            let d = &mut d[row * n + column];
            *d = from_single(single(*d, product.c.ty) + products, product.d.ty);
        }
    }
    scatter(registers, &product.d, &d, n);
}

/// The elements of a fragment of f64, each of which has its own register.
fn gather_doubles(registers: &Registers<'_>, fragment: &Fragment, (rows, columns): (usize, usize)) -> Vec<f64> {
    let mut matrix = vec![0.0; rows * columns];
    for (index, &register) in fragment.registers.iter().enumerate() {
        for (lane, &value) in registers.wide(register).iter().enumerate() {
            let (row, column) = fragment.position(index, lane);
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
            let (row, column) = product.d.position(index, lane);
            let value = d[row * n + column];
            // The hardware's only NaN.
            if value.is_nan() { 0xfff8_0000_0000_0000 } else { value.to_bits() }
        });
        registers.set_wide(register, u32::MAX, &values);
    }
}
