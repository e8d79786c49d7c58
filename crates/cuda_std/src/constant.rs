//! Constant memory: up to 64 KB that a launch only reads, with a cache that is fast if all lanes
//! read the same address.
//!
//! ```
//! use cuda_std::{DisjointSlice, address_space, gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::{constant::ConstantCell, thread};
//!
//! #[address_space(constant)]
//! #[unsafe(no_mangle)]
//! pub static COEFFICIENTS: ConstantCell<[f32; 4]> = ConstantCell::new([1.0, 0.5, 0.25, 0.125]);
//!
//! /// Evaluates a polynomial at each element.
//! #[kernel(linear)]
//! pub fn polynomial(mut data: DisjointSlice<f32>) {
//!     if let Some(x) = data.get_mut(thread::linear_index()) {
//!         let [a, b, c, d] = COEFFICIENTS.get();
//!         *x = ((d * *x + c) * *x + b) * *x + a;
//!     }
//! }
//! ```
//!
//! `COEFFICIENTS[i]` reads one of them.
//!
//! With `#[unsafe(no_mangle)]` the PTX exports the static by its name, and the host may set it
//! between launches, with a handle of the same name (`cuda_std::launch::Symbol`). Without, nothing
//! can change it, and the compiler uses the known values.

use core::cell::UnsafeCell;
use core::ops::Deref;

/// A value in constant memory, for statics with `#[address_space(constant)]`.
///
/// It is a cell because the host may replace the value between launches: the one in the source is
/// only the initial value.
#[repr(transparent)]
pub struct ConstantCell<T>(UnsafeCell<T>);

// SAFETY: kernels only read the value, and the host writes it only while no kernel runs.
unsafe impl<T: Sync> Sync for ConstantCell<T> {}

impl<T: Copy> ConstantCell<T> {
    /// A cell with this value until the host sets another.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The whole value.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: nothing writes to constant memory while the kernel runs.
        unsafe { *self.0.get() }
    }

    /// The address of the value, to read a part of it.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *const T {
        self.0.get()
    }
}

impl<T> Deref for ConstantCell<T> {
    type Target = T;

    /// The value in its place, to read a part of it.
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nothing writes to constant memory while the kernel runs.
        unsafe { &*self.0.get() }
    }
}

/// The types that a static in constant memory may have: a [`ConstantCell`], or a value that is
/// `Copy`, such as an array of numbers.
///
/// # Safety
///
/// Nothing writes to the static through a shared reference: constant memory is read by
/// instructions that see no write.
#[diagnostic::on_unimplemented(
    message = "a static in constant memory cannot be a `{Self}`: kernels only read constant memory",
    note = "write `static NAME: ConstantCell<..> = ConstantCell::new(..);`, and keep atomics in global memory"
)]
pub unsafe trait ConstantStatic {}

// SAFETY: what is `Copy` has no interior mutability, since `UnsafeCell` is not.
unsafe impl<T: Copy> ConstantStatic for T {}
// SAFETY: the cell gives out shared references and copies; its value is `Copy`.
unsafe impl<T: Copy> ConstantStatic for ConstantCell<T> {}
