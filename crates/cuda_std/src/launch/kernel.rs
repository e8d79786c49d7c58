//! The handle of a kernel, and the names of its parameters' types.

use core::fmt;
use core::marker::PhantomData;

/// The host's handle of a kernel: its name in the PTX, and the types of its parameters.
///
/// `P` is a tuple with one type for each parameter: [`Slice<T>`] for `&[T]`, [`SliceMut<T>`] for `&mut [T]`, [`Pointer<T>`]
/// for `*const T`, [`PointerMut<T>`] for `*mut T`, and `T` itself for a value.
pub struct Kernel<P> {
    name: &'static str,
    launch_bounds: Option<LaunchBounds>,
    // A function of `P`: the handle can be shared between threads whatever `P` is.
    parameters: PhantomData<fn(P)>,
}

/// The largest block that a kernel was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// The extents of the largest block, in threads. A block of any shape is allowed if it has at most as many threads as their
    /// product.
    pub threads: [u32; 3],
    /// How many blocks the compiler made room for on one multiprocessor; 0 if the kernel does not specify it.
    pub minimum_blocks: u32,
}

impl<P> Kernel<P> {
    /// The handle of the kernel called `name` in the PTX. `#[kernel]` calls this.
    pub const fn new(name: &'static str, launch_bounds: Option<LaunchBounds>) -> Self {
        Self { name, launch_bounds, parameters: PhantomData }
    }

    /// The name of the entry point in the PTX.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The largest block, if the kernel has launch bounds.
    pub const fn launch_bounds(&self) -> Option<LaunchBounds> {
        self.launch_bounds
    }
}

impl LaunchBounds {
    /// The most threads that a block may have.
    pub const fn max_threads(&self) -> u32 {
        self.threads[0] * self.threads[1] * self.threads[2]
    }
}

impl<P> fmt::Debug for Kernel<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Kernel")
            .field("name", &self.name)
            .field("launch_bounds", &self.launch_bounds)
            .finish_non_exhaustive()
    }
}

/// A parameter `&[T]`: in the PTX a pointer and a length in elements.
pub struct Slice<T>(PhantomData<fn(T)>);

/// A parameter `&mut [T]`: in the PTX a pointer and a length in elements.
pub struct SliceMut<T>(PhantomData<fn(T)>);

/// A parameter `*const T`.
pub struct Pointer<T>(PhantomData<fn(T)>);

/// A parameter `*mut T`.
pub struct PointerMut<T>(PhantomData<fn(T)>);
