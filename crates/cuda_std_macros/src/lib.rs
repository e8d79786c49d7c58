//! The attributes of [`cuda_std`]: `#[kernel]`, `#[address_space(..)]` and `#[gpu_only]`.
//!
//! Each has a different effect on the device and on the host, because one source file is compiled for both:
//!
//! | attribute | device (`nvptx64`) | host |
//! | --- | --- | --- |
//! | `#[kernel]` on a function | the entry point of the PTX | `static NAME: cuda_std::launch::Kernel<(..)>`, the typed handle for launching it |
//! | `#[address_space(shared)]` on a static | a static in the section `.shared` | nothing |
//! | `#[address_space(constant)]` on a static | a static in the section `.constant` | nothing, or a handle (see below) |
//! | `#[gpu_only]` on any item | the item | nothing |
//!
//! rustc cannot express shared or constant memory, nor launch bounds. The sections and the marker static that these attributes
//! write are a convention with `cuda_builder`, which rewrites them in the LLVM IR.
//!
//! The crate is used through `cuda_std`, which re-exports everything here.
//!
//! [`cuda_std`]: ../cuda_std/index.html

mod address_space;
mod bounds;
mod gpu_only;
mod kernel;
mod parameter;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point that the host can launch.
///
/// ```
/// use cuda_std::{gpu_only, kernel};
/// #[gpu_only]
/// use cuda_std::thread;
///
/// /// Adds `1.0` to each element.
/// ///
/// /// # Safety
/// /// `output` holds at least `input.len()` elements, and no other thread touches them.
/// #[kernel(launch_bounds(256))]
/// pub unsafe fn increment(input: &[f32], output: *mut f32) {
///     let i = thread::wide_index_1d();
///     if i < input.len() {
///         *output.add(i) = *input.get_unchecked(i) + 1.0;
///     }
/// }
/// ```
///
/// The function must be `pub unsafe fn`, without type parameters, without `async`, `const` or `extern`, and without a
/// result. Its name is the symbol in the PTX, so it must be unique in the whole crate. The body is an unsafe context: `# Safety`
/// says once what the launch must promise, instead of a comment at every access.
///
/// # Parameters
///
/// | parameter | in the PTX | in the type of the host's handle |
/// | --- | --- | --- |
/// | `&[T]` | pointer (`u64`), length in elements (`u64`); loads take the read-only path (`ld.global.nc`) | `Slice<T>` |
/// | `&mut [T]` | pointer, length in elements | `SliceMut<T>` |
/// | `*const T` | pointer | `Pointer<T>` |
/// | `*mut T` | pointer | `PointerMut<T>` |
/// | a number, `bool`, or a struct with `#[repr(C)]` and `#[derive(Clone, Copy, bytemuck::NoUninit)]` | its bytes | the type itself |
///
/// `&mut [T]` promises that nothing else accesses these elements while the thread runs. If the threads of a launch share an
/// output, each writing its own elements, the right type is `*mut T`.
///
/// # Launch bounds
///
/// `#[kernel(launch_bounds(THREADS))]` and `#[kernel(launch_bounds(THREADS, MIN_BLOCKS))]` are CUDA's
/// `__launch_bounds__`: the most threads that a block will have, and how many blocks should fit on one multiprocessor at
/// least. The compiler then chooses the number of registers, and a launch with more threads fails. `THREADS` is a number
/// or a shape, `(32, 8)` or `(32, 8, 1)`. In the PTX they are the directives `.maxntid` and `.minnctapersm`
/// (PTX manual, "Performance-Tuning Directives").
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
/// The static may be in a module or in a function. Shared memory has no initial value: its type must be `SharedCell<T>` (or
/// `MaybeUninit<T>` in a `static mut`). Constant memory has one, and the host may replace it before a launch if the static also
/// has `#[unsafe(no_mangle)]`, which makes the module export it by its name. `(global)` is the default memory of a static.
///
/// In host builds the static is omitted. For an exported `ConstantCell<T>`, the host gets a handle of the same name,
/// `Symbol<T>`, with which it sets and reads the value.
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
