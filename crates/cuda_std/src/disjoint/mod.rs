//! Outputs that safe kernels write: each thread reaches only the elements that belong to it.
//!
//! All threads of a launch run the same function, so an output cannot be a `&mut [T]`: every thread
//! would hold the same exclusive reference. A [`DisjointSlice`] gives out references one at a time,
//! and only for an index that no other thread has:
//!
//! ```
//! use cuda_std::{DisjointSlice, gpu_only, kernel};
//! #[gpu_only]
//! use cuda_std::thread;
//!
//! /// Adds two vectors.
//! #[kernel(linear)]
//! pub fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
//!     let i = thread::linear_index();
//!     if let (Some(a), Some(b), Some(c)) = (a.get(i.get()), b.get(i.get()), c.get_mut(i)) {
//!         *c = a + b;
//!     }
//! }
//! ```
//!
//! | output | indexed by | made by |
//! | --- | --- | --- |
//! | [`DisjointSlice`] | [`ThreadIndex`] | [`linear_index`], [`grid_stride`], `ahead` |
//! | [`DisjointMatrix`] | [`Position`] | [`position`] |
//!
//! The bounds checks are the guards that a kernel needs anyway: the last block has more threads
//! than elements are left.
//!
//! # Why it is sound
//!
//! Two threads never get a reference to the same element, whatever the kernel does:
//!
//! * Only this crate makes a [`ThreadIndex`] or a [`Position`], and it makes them from the thread's
//!   own special registers. They are neither `Send` nor `Sync`, and no shuffle or parameter takes
//!   them.
//! * Every index belongs to one thread. In a launch of `n` threads in x, thread `t` has the indices
//!   `t`, `t + n`, `t + 2n` and so on. Threads whose y or z is not 0 have none: they get one that
//!   is out of bounds everywhere. A [`Position`] is the thread's x and y in the grid; threads whose
//!   z in their block is not 0 have none.
//! * One slice has one way to map an index to an element, and a matrix one to map a position: its
//!   shape and pitch come from the launch, which are the same for all threads. So words of 8 and 16
//!   bytes are slices of their own (`DisjointSlice<f32x4>`), which the host makes from a buffer,
//!   and not a view that some threads might take and others not.
//! * A thread's own references follow Rust's rules: `get_mut` borrows the slice.
//! * The host borrows an output mutably for a launch, so nothing else in the launch reads or writes
//!   it. Safe launches also check that x and y of the grid's threads stay below 2^32.
//!
//! [`linear_index`]: crate::thread::linear_index
//! [`grid_stride`]: crate::thread::grid_stride
//! [`position`]: crate::thread::position

mod index;
mod matrix;
mod slice;

pub use index::{GridStride, Position, ThreadIndex};
pub(crate) use matrix::Layout;
pub use matrix::{DisjointMatrix, Matrix};
pub use slice::DisjointSlice;
