//! Constant memory: 64 KB that all threads read and none writes, with its own cache.
//!
//! The constant cache serves one address at a time. Where all lanes of a warp read the same one,
//! the value costs no more than a register: coefficients, exponents, the parameters of a kernel.
//! Where the lanes read different addresses, the warp waits for each in turn, up to 32 times, and a
//! table in global memory, behind L1, is the better place.
//!
//! | kernels | all lanes read | addresses per request |
//! | --- | --- | --- |
//! | [`constant_polynomial`], [`constant_gamma`] | the same coefficient | 1 |
//! | [`constant_lookup`] | a different entry | as many as there are different ones |
//!
//! Each has a counterpart that reads the same numbers from global memory.
//!
//! What to look for: the addresses of each request to constant memory, and the loads from global
//! memory that the counterparts make instead. (An H200 counts them, too: `idc__requests.sum` grows
//! by one for each address, so what exceeds `smsp__inst_executed_op_ldc.sum` is the extra passes.
//! Kernels load their parameters that way as well.)
//!
//! Sources: KAUST CS 380, lecture 14; the lab sheet's part on constant memory.

use cuda_std::{DisjointSlice, GpuFloat, address_space, gpu_only, kernel};
#[gpu_only]
use cuda_std::{constant::ConstantCell, thread};

/// The degree of the polynomial.
pub const DEGREE: usize = 7;

/// Entries of a table of 8-bit values.
pub const ENTRIES: usize = 256;

/// The coefficients of a polynomial, that of the constant term first.
pub type Coefficients = [f32; DEGREE + 1];

/// The polynomial. The host sets it.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static CONSTANT_POLYNOMIAL: ConstantCell<Coefficients> = ConstantCell::new([0.0; DEGREE + 1]);

/// Gain and exponent of a gamma correction. The host sets them.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static CONSTANT_GAMMA: ConstantCell<[f32; 2]> = ConstantCell::new([1.0; 2]);

/// What each of 256 values is replaced by. The host sets it.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static CONSTANT_TABLE: ConstantCell<[f32; ENTRIES]> = ConstantCell::new([0.0; ENTRIES]);

/// The polynomial with these coefficients at `x`, by Horner's rule.
#[inline(always)]
pub fn polynomial(coefficients: &Coefficients, x: f32) -> f32 {
    let mut sum = coefficients[DEGREE];
    for power in (0..DEGREE).rev() {
        sum = GpuFloat::mul_add(sum, x, coefficients[power]);
    }
    sum
}

/// A polynomial whose coefficients are constants.
#[kernel(linear)]
pub fn constant_polynomial(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = polynomial(&CONSTANT_POLYNOMIAL, *x);
    }
}

/// The same with coefficients in global memory: a load for each.
#[kernel(linear)]
pub fn constant_polynomial_global(x: &[f32], mut y: DisjointSlice<f32>, coefficients: &[f32]) {
    let i = thread::linear_index();
    if let Some(coefficients) = coefficients.first_chunk()
        && let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i))
    {
        *y = polynomial(coefficients, *x);
    }
}

/// Gamma correction, `gain * x^exponent` of numbers that are not negative, whose two parameters are
/// constants.
#[kernel(linear)]
pub fn constant_gamma(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        let [gain, exponent] = CONSTANT_GAMMA.get();
        *y = gain * x.powf(exponent);
    }
}

/// The same with the parameters in global memory.
#[kernel(linear)]
pub fn constant_gamma_global(x: &[f32], mut y: DisjointSlice<f32>, parameters: &[f32]) {
    let i = thread::linear_index();
    if let Some([gain, exponent]) = parameters.first_chunk()
        && let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i))
    {
        *y = gain * x.powf(*exponent);
    }
}

/// Looks up each value in a table of constants: the lanes of a warp read different addresses.
#[kernel(linear)]
pub fn constant_lookup(values: &[u8], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(value), Some(y)) = (values.get(i.get()), y.get_mut(i)) {
        *y = CONSTANT_TABLE[usize::from(*value)];
    }
}

/// The same with the table in global memory, from where L1 serves all lanes at once.
#[kernel(linear)]
pub fn constant_lookup_global(values: &[u8], mut y: DisjointSlice<f32>, table: &[f32]) {
    let i = thread::linear_index();
    if let Some(table) = table.first_chunk::<ENTRIES>()
        && let (Some(value), Some(y)) = (values.get(i.get()), y.get_mut(i))
    {
        *y = table[usize::from(*value)];
    }
}
