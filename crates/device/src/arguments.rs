//! What the host passes for a kernel's parameters: borrows of buffers and matrices. A shared borrow
//! stands for an input, an exclusive one for an output, so that one launch cannot take a buffer as
//! both.
//!
//! The implementations are `unsafe` because the kernel believes them. Each is right for the same
//! reasons: the memory is there, and a device frees it only after the launches before have ended;
//! `T: Pod` allows any bits; allocations are aligned to 256 bytes; and the borrow excludes other
//! uses in the same launch. Other launches run before or after.

use bytemuck::Pod;
use cuda_std::launch::{self, Argument, Arguments, DisjointSlice, Pointer, PointerMut, Slice};

use super::buffer::{View, ViewMut};
use super::on_device::Owned;
use super::{Buffer, Matrix, OnDevice, PitchedBuffer, Tail};

/// Implements [`Argument`] for borrows: the parameter, the borrow that stands for it, and what it
/// adds to the launch.
macro_rules! arguments {
    ($($parameter:ty, $argument:ty: |$value:ident, $arguments:ident| $push:expr;)*) => {$(
        // SAFETY: see the module. A launch refuses memory of another device.
        unsafe impl<T: Pod> Argument<$parameter> for $argument {
            fn push(self, $arguments: &mut Arguments) {
                let $value = self;
                $arguments.point_to($value.owner().0);
                $push;
            }
        }
    )*};
}

arguments! {
    Slice<T>, &Buffer<T>: |buffer, all| all.push_slice(buffer.address(), buffer.len());
    DisjointSlice<T>, &mut Buffer<T>: |buffer, all| all.push_slice(buffer.address(), buffer.len());
    Slice<T>, View<'_, T>: |view, all| all.push_slice(view.address, view.length);
    DisjointSlice<T>, ViewMut<'_, T>: |view, all| all.push_slice(view.address, view.length);
    // The padding counts, since kernels index through it.
    Slice<T>, &PitchedBuffer<T>: |buffer, all| all.push_slice(buffer.address(), buffer.rows() * buffer.pitch());
    Slice<T>, &Matrix<T>: |matrix, all| match matrix {
        Matrix::Linear { buffer, .. } => Argument::<Slice<T>>::push(buffer, all),
        Matrix::Pitched(buffer) => Argument::<Slice<T>>::push(buffer, all),
    };
    DisjointSlice<T>, &mut Matrix<T>: |matrix, all| match matrix {
        Matrix::Linear { buffer, .. } => Argument::<DisjointSlice<T>>::push(buffer, all),
        Matrix::Pitched(buffer) => all.push_slice(buffer.address(), buffer.rows() * buffer.pitch()),
    };
    launch::Matrix<T>, &Matrix<T>: |matrix, all| push_matrix(matrix, all);
    launch::DisjointMatrix<T>, &mut Matrix<T>: |matrix, all| push_matrix(matrix, all);
    Pointer<T>, &Buffer<T>: |buffer, all| all.push_pointer(buffer.address());
    PointerMut<T>, &mut Buffer<T>: |buffer, all| all.push_pointer(buffer.address());
    Pointer<T>, Tail<'_, T>: |tail, all| all.push_pointer(tail.address());
    Pointer<T>, &PitchedBuffer<T>: |buffer, all| all.push_pointer(buffer.address());
    PointerMut<T>, &mut PitchedBuffer<T>: |buffer, all| all.push_pointer(buffer.address());
    Pointer<T>, &Matrix<T>: |matrix, all| all.push_pointer(matrix.address());
    PointerMut<T>, &mut Matrix<T>: |matrix, all| all.push_pointer(matrix.address());
}

/// Extents fit 32 bits, or rows and pitch are cut alike: a pitched buffer has no larger ones, and a
/// linear matrix has its columns as its pitch, so rows never overlap.
fn push_matrix<T: Pod>(matrix: &Matrix<T>, arguments: &mut Arguments) {
    let [rows, cols, pitch] = [matrix.rows(), matrix.columns(), matrix.pitch()].map(|extent| extent as u32);
    arguments.push_matrix(matrix.address(), rows, cols, pitch);
}
