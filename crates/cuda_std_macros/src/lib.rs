//! The attributes of [`cuda_std`]: `#[kernel]`, `#[address_space(..)]` and `#[gpu_only]`.
//!
//! Each has a different effect on the device and on the host, because one source file is compiled
//! for both:
//!
//! | attribute | device (`nvptx64`) | host |
//! | --- | --- | --- |
//! | `#[kernel]` on a function | the entry point of the PTX | `static NAME`, the typed handle |
//! | `#[address_space(shared)]` on a static | a static in the section `.shared` | nothing |
//! | `#[address_space(constant)]` on a static | a static in the section `.constant` | see below |
//! | `#[gpu_only]` on any item | the item | nothing |
//!
//! ```
//! use cuda_std::{DisjointSlice, kernel};
//!
//! /// Doubles each element.
//! #[kernel(linear)]
//! pub fn double(mut x: DisjointSlice<f32>) {
//!     if let Some(x) = x.get_mut(cuda_std::thread::linear_index()) {
//!         *x *= 2.0;
//!     }
//! }
//! assert_eq!(double.name(), "double");
//! ```
//!
//! The handle of a kernel is a `launch::SafeKernel<(..)>`, or `launch::Kernel<(..)>` for an `unsafe
//! fn`.
//!
//! rustc cannot express shared or constant memory, nor the shape of a block. The sections and the
//! marker static that these attributes write are a convention with `cuda_builder`, which rewrites
//! them in the LLVM IR.
//!
//! The crate is used through `cuda_std`, which re-exports everything here.
//!
//! [`cuda_std`]: ../cuda_std/index.html

mod address_space;
mod bounds;
mod gpu_only;
mod kernel;
mod library;
mod parameter;
mod signature;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point that the host can launch.
///
/// ```
/// use cuda_std::{DisjointSlice, gpu_only, kernel};
/// #[gpu_only]
/// use cuda_std::thread;
///
/// /// Adds `1.0` to each element.
/// #[kernel(linear)]
/// pub fn increment(input: &[f32], mut output: DisjointSlice<f32>) {
///     let i = thread::linear_index();
///     if let (Some(input), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
///         *output = input + 1.0;
///     }
/// }
/// ```
///
/// The function is `pub`, without type parameters, without `async`, `const` or `extern`, and
/// without a result. Its name is the symbol in the PTX, so it must be unique in the whole crate.
///
/// A kernel that is a safe function can be launched by safe code: its inputs are `&[T]` or
/// `Matrix<T>`, its outputs [`DisjointSlice<T>`] or [`DisjointMatrix<T>`]. A kernel whose launch
/// has to promise more is an `unsafe fn`, and says under `# Safety` what. Its body is an unsafe
/// context, so that the promise stands once and not at every access.
///
/// # Parameters
///
/// | parameter | in the PTX |
/// | --- | --- |
/// | `&[T]` | pointer and length in elements (`u64`); read-only loads (`ld.global.nc`) |
/// | `Matrix<T>` | pointer, rows, columns and pitch (`u32`); read-only loads |
/// | `DisjointSlice<T>` | pointer, length in elements |
/// | `DisjointMatrix<T>` | pointer, rows, columns and pitch |
/// | `phases::BlockSlice<T>`, `AtomicSlice<T>` | as `DisjointSlice<T>` |
/// | `phases::TransposedMatrix<T, SIDE>` | as `DisjointMatrix<T>` |
/// | `phases::Block<X, Y>`, `phases::Shared<T>` | nothing: the block, and a tile in shared memory |
/// | `*const T`, `*mut T` | pointer; only in an `unsafe fn` |
/// | a number, `bool`, or a struct | its bytes |
///
/// A struct needs `#[repr(C)]` and `#[derive(Clone, Copy, bytemuck::NoUninit)]`. In a safe kernel
/// elements are plain data (`bytemuck::Pod`), as in the host's buffers, and a struct has no field of
/// which not all bits are a value, such as a `bool` or an enum.
///
/// Host and device compile the parameters' types each for themselves. A launch compares what both
/// make of them (`cuda_std::signature`), and fails if they differ.
///
/// In the type of the host's handle, the first five are the types of these names in
/// `cuda_std::launch` (`Slice`, `Matrix`, `DisjointSlice`, `DisjointMatrix`, `Pointer` and
/// `PointerMut`).
///
/// # The launches it allows
///
/// `#[kernel(block(32, 8))]` says that blocks have exactly this shape: a launch of another one
/// fails (`.reqntid`). The compiler then knows the range of each thread index, and removes the
/// bounds checks that it proves. `#[kernel(block(256), min_blocks(2))]` also asks for so few
/// registers that at least two blocks fit on one multiprocessor.
///
/// `#[kernel(linear)]` says that grid and block extend in x only. Safe launches check it; whoever
/// launches in another way promises it. Both may be given: `#[kernel(block(256), linear)]`.
///
/// `#[kernel(launch_bounds(THREADS))]` and `#[kernel(launch_bounds(THREADS, MIN_BLOCKS))]` are
/// CUDA's `__launch_bounds__`: the most threads that a block will have, and how many blocks should
/// fit on one multiprocessor at least. The compiler then chooses the number of registers, and a
/// launch with more threads fails. `THREADS` is a number or a shape, `(32, 8)` or `(32, 8, 1)`. In
/// the PTX they are the directives `.maxntid` and `.minnctapersm` (PTX manual, "Performance-Tuning
/// Directives").
///
/// # Barriers
///
/// All threads of a block have to reach a barrier. `cuda_builder` proves that they do: a barrier in
/// control flow that depends on the thread is an error in a safe kernel, and a warning in an
/// `unsafe fn`. `#[kernel(allow(divergent_barrier))]` on an `unsafe fn` says that its author knows
/// better.
///
/// [`DisjointSlice<T>`]: ../cuda_std/disjoint/struct.DisjointSlice.html
/// [`DisjointMatrix<T>`]: ../cuda_std/disjoint/struct.DisjointMatrix.html
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Places a static in a memory of the GPU: `#[address_space(shared)]`, `(constant)` or `(global)`.
///
/// ```
/// use cuda_std::{address_space, gpu_only};
/// #[gpu_only]
/// use cuda_std::{constant::ConstantCell, shared::SharedCell};
///
/// #[address_space(shared)]
/// static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
///
/// #[address_space(constant)]
/// static COEFFICIENTS: ConstantCell<[f32; 4]> = ConstantCell::new([1.0, 0.5, 0.25, 0.125]);
/// ```
///
/// The static may be in a module or in a function. Shared memory has no initial value: its type
/// must be `SharedCell<T>` (or `MaybeUninit<T>` in a `static mut`). Constant memory has one, and
/// the host may replace it before a launch if the static also has `#[unsafe(no_mangle)]`, which
/// makes the module export it by its name. `(global)` is the default memory of a static.
///
/// In host builds the static is omitted. For an exported `ConstantCell<T>`, the host gets a handle
/// of the same name, `Symbol<T>`, with which it sets and reads the value.
#[proc_macro_attribute]
pub fn address_space(arguments: TokenStream, item: TokenStream) -> TokenStream {
    address_space::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Omits an item from host builds: a helper function of kernels, or an import.
///
/// ```
/// use cuda_std::gpu_only;
/// #[gpu_only]
/// use cuda_std::thread;
///
/// /// The thread's place in a row of blocks that overlap by two threads.
/// #[gpu_only]
/// fn overlapping_index() -> u32 {
///     thread::block_idx_x() * (thread::block_dim_x() - 2) + thread::thread_idx_x()
/// }
/// ```
#[proc_macro_attribute]
pub fn gpu_only(arguments: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
