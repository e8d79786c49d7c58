//! Constant memory: what all threads read and none writes, 64 KB of it, behind a cache of its own.
//!
//! The constant cache answers one address at a time. Where all lanes of a warp read the same one, that is all there is to do, and the
//! value costs no more than a register: coefficients, exponents, the parameters of a kernel. Where the lanes read different
//! addresses, the warp waits for each in turn, up to 32 times, and a table in global memory, behind L1, is the better place.
//!
//! | kernels | all lanes read | addresses per request |
//! | --- | --- | --- |
//! | [`constant_polynomial`], [`constant_gamma`] | the same coefficient | 1 |
//! | [`constant_lookup`] | an entry of their own | as many as there are different ones |
//!
//! Each has a twin that reads the same numbers from global memory.
//!
//! What to look for: the addresses of each request to constant memory, and the loads from global memory that the twins make in their
//! place. (An H200 counts them, too: `idc__requests.sum` grows by one for each address, so what it has beyond
//! `smsp__inst_executed_op_ldc.sum` are the extra turns. Kernels load their parameters that way as well.)
//!
//! Sources: KAUST CS 380, lecture 14; the lab sheet's part on constant memory.

use cuda_std::{GpuFloat, address_space, gpu_only, kernel};
#[gpu_only]
use cuda_std::{constant::ConstantCell, thread};

/// The degree of the polynomial.
pub const DEGREE: usize = 7;

/// Entries of a table of 8-bit values.
pub const ENTRIES: usize = 256;

/// Coefficients, that of the constant term first. The host sets them.
#[address_space(constant)]
#[unsafe(no_mangle)]
pub static CONSTANT_POLYNOMIAL: ConstantCell<[f32; DEGREE + 1]> = ConstantCell::new([0.0; DEGREE + 1]);

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
pub fn polynomial(coefficients: impl Fn(usize) -> f32, x: f32) -> f32 {
    let mut sum = coefficients(DEGREE);
    for power in (0..DEGREE).rev() {
        sum = GpuFloat::mul_add(sum, x, coefficients(power));
    }
    sum
}

/// A polynomial whose coefficients are constants.
///
/// # Safety
/// `output` has as many elements as `x`, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn constant_polynomial(x: &[f32], output: *mut f32) {
    let i = thread::wide_index_1d();
    if i < x.len() {
        let coefficients = CONSTANT_POLYNOMIAL.as_ptr().cast::<f32>();
        *output.add(i) = polynomial(|power| *coefficients.add(power), *x.get_unchecked(i));
    }
}

/// The same with coefficients in global memory: a load for each.
///
/// # Safety
/// As for [`constant_polynomial`], and `coefficients` holds `DEGREE + 1` elements.
#[kernel]
pub unsafe fn constant_polynomial_global(x: &[f32], output: *mut f32, coefficients: &[f32]) {
    let i = thread::wide_index_1d();
    if i < x.len() {
        *output.add(i) = polynomial(|power| *coefficients.get_unchecked(power), *x.get_unchecked(i));
    }
}

/// Gamma correction, `gain * x^exponent`, whose two parameters are constants.
///
/// # Safety
/// `output` has as many elements as `x`, none of which is negative, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn constant_gamma(x: &[f32], output: *mut f32) {
    let i = thread::wide_index_1d();
    if i < x.len() {
        let [gain, exponent] = CONSTANT_GAMMA.get();
        *output.add(i) = gain * GpuFloat::powf(*x.get_unchecked(i), exponent);
    }
}

/// The same with the parameters in global memory.
///
/// # Safety
/// As for [`constant_gamma`], and `parameters` holds two elements.
#[kernel]
pub unsafe fn constant_gamma_global(x: &[f32], output: *mut f32, parameters: &[f32]) {
    let i = thread::wide_index_1d();
    if i < x.len() {
        let (gain, exponent) = (*parameters.get_unchecked(0), *parameters.get_unchecked(1));
        *output.add(i) = gain * GpuFloat::powf(*x.get_unchecked(i), exponent);
    }
}

/// Looks up each value in a table of constants: the lanes of a warp read different addresses.
///
/// # Safety
/// `output` has as many elements as `values`, and nothing else uses it during the launch.
#[kernel]
pub unsafe fn constant_lookup(values: &[u8], output: *mut f32) {
    let i = thread::wide_index_1d();
    if i < values.len() {
        let table = CONSTANT_TABLE.as_ptr().cast::<f32>();
        *output.add(i) = *table.add(*values.get_unchecked(i) as usize);
    }
}

/// The same with the table in global memory, from where L1 serves all lanes at once.
///
/// # Safety
/// As for [`constant_lookup`], and `table` holds [`ENTRIES`] elements.
#[kernel]
pub unsafe fn constant_lookup_global(values: &[u8], output: *mut f32, table: &[f32]) {
    let i = thread::wide_index_1d();
    if i < values.len() {
        *output.add(i) = *table.get_unchecked(*values.get_unchecked(i) as usize);
    }
}
