//! Kernels whose types differ between host and device. Both sides compile this file: the test as
//! its module, and the crate that the test makes for the device.

#![allow(unused, unexpected_cfgs, missing_docs)]

use cuda_std::{DisjointSlice, Matrix, address_space, kernel};
#[cfg(target_arch = "nvptx64")]
use cuda_std::{constant::ConstantCell, thread};

/// Kernels without a difference.
#[kernel(block(64), linear)]
pub fn doubled(factor: f32, bias: usize, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = factor * x + bias as f32;
    }
}

// The target decides.
#[cfg(not(target_arch = "nvptx64"))]
pub type Real = f32;
#[cfg(target_arch = "nvptx64")]
pub type Real = f64;

#[kernel(linear)]
pub fn element(mut x: DisjointSlice<Real>) {
    if let Some(x) = x.get_mut(thread::linear_index()) {
        *x += 1.0;
    }
}

#[kernel(linear)]
pub fn value(factor: Real, mut x: DisjointSlice<f32>) {}

#[kernel]
pub fn matrix(x: Matrix<[Real; 2]>) {}

/// # Safety
/// `x` has an element.
#[kernel]
pub unsafe fn pointer(x: *mut Real) {
    *x += 1.0;
}

/// Other values, of the same size.
#[cfg(not(target_arch = "nvptx64"))]
pub type Word = f32;
#[cfg(target_arch = "nvptx64")]
pub type Word = u32;

#[kernel(linear)]
pub fn bits(x: &[Word]) {}

/// Two types of one name.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Pair(pub u32, pub u32);
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Pair(pub u64);

#[kernel(linear)]
pub fn pairs(x: &[Pair]) {}

// A cargo feature that only the device has.
#[cfg(not(feature = "wide"))]
pub type Count = u32;
#[cfg(feature = "wide")]
pub type Count = u64;

#[kernel(linear)]
pub fn counts(mut x: DisjointSlice<Count>) {
    if let Some(x) = x.get_mut(thread::linear_index()) {
        *x = 7;
    }
}

#[address_space(constant)]
#[unsafe(no_mangle)]
pub static TABLE: ConstantCell<[f32; 4]> = ConstantCell::new([0.0; 4]);

#[address_space(constant)]
#[unsafe(no_mangle)]
pub static LIMIT: ConstantCell<Word> = ConstantCell::new(0 as Word);

#[kernel(linear)]
pub fn limited(mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::linear_index()) {
        *x = TABLE.get()[1].min(LIMIT.get() as f32);
    }
}

/// Two kernels of one name, one on each side.
#[cfg(not(target_arch = "nvptx64"))]
pub mod of_host {
    use super::*;

    #[kernel(linear)]
    pub fn shape(mut x: DisjointSlice<u32>) {}

    #[kernel]
    pub fn block(mut x: DisjointSlice<u32>) {}

    #[kernel]
    pub fn safety(x: &[u32]) {}

    #[kernel]
    pub fn form(mut x: DisjointSlice<u32>) {}

    #[kernel]
    pub fn count(x: &[u32]) {}

    #[kernel]
    pub fn missing(x: &[u32]) {}
}
#[cfg(target_arch = "nvptx64")]
pub mod of_device {
    use super::*;

    #[kernel]
    pub fn shape(mut x: DisjointSlice<u32>) {}

    #[kernel(block(32, 8))]
    pub fn block(mut x: DisjointSlice<u32>) {}

    /// # Safety
    /// None.
    #[kernel]
    pub unsafe fn safety(x: &[u32]) {}

    #[kernel]
    pub fn form(x: &[u32]) {}

    #[kernel]
    pub fn count(x: &[u32], y: &[u32]) {}

    /// A kernel of another crate has this name.
    #[kernel(linear)]
    pub fn offset_read(a: &[f64], b: &[f64], mut c: DisjointSlice<f64>, offset: usize) {}
}
