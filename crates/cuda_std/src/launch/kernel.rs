//! The handle of a kernel, and the names of its parameters' types.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use crate::signature::Signature;

/// The host's handle of a kernel: its name in the PTX, the launches that it allows, and the types
/// of its parameters.
///
/// `P` is a tuple with one type for each parameter: [`Slice<T>`] for `&[T]`, [`DisjointSlice<T>`],
/// [`Matrix<T>`] and [`DisjointMatrix<T>`] for the types of those names, [`Pointer<T>`] for
/// `*const T`, [`PointerMut<T>`] for `*mut T`, and `T` itself for a value.
///
/// What such a kernel requires beyond its types stands under its `# Safety`, and whoever launches
/// it promises that. A kernel that is a safe function has a [`SafeKernel`].
pub struct Kernel<P> {
    name: &'static str,
    shape: LaunchShape,
    signature: &'static Signature,
    // A function of `P`: the handle can be shared between threads whatever `P` is.
    parameters: PhantomData<fn(P)>,
}

/// The handle of a kernel that is a safe function: no launch that its handle allows has undefined
/// behaviour.
pub struct SafeKernel<P>(Kernel<P>);

/// The launches that a kernel allows, as its `#[kernel(..)]` declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchShape {
    /// The block's extents, if it must have exactly these.
    pub block: Option<[u32; 3]>,
    /// Whether grid and block extend in x only.
    pub linear: bool,
    /// The largest block, if there is one.
    pub bounds: Option<LaunchBounds>,
}

/// The largest block that a kernel was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// The extents of the largest block, in threads. A block of any shape is allowed if it has at
    /// most as many threads as their product.
    pub threads: [u32; 3],
    /// How many blocks the compiler made room for on one multiprocessor; 0 if the kernel does not
    /// specify it.
    pub minimum_blocks: u32,
}

impl<P> Kernel<P> {
    /// The handle of the kernel called `name` in the PTX. `#[kernel]` calls this.
    pub const fn new(name: &'static str, shape: LaunchShape, signature: &'static Signature) -> Self {
        Self { name, shape, signature, parameters: PhantomData }
    }

    /// The name of the entry point in the PTX.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The launches that it allows.
    pub const fn shape(&self) -> LaunchShape {
        self.shape
    }

    /// What the host takes its parameters for. The PTX has what the device takes them for.
    pub const fn signature(&self) -> &'static Signature {
        self.signature
    }

    /// The extents of its block.
    ///
    /// # Panics
    ///
    /// If the kernel does not declare them by `#[kernel(block(..))]`: a bug of the caller.
    pub const fn block(&self) -> [u32; 3] {
        self.shape.block.expect("the kernel declares its block")
    }
}

impl<P> SafeKernel<P> {
    /// The handle of a kernel that is a safe function. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// A kernel of this name, which PTX has with this signature, takes the parameters `P` and is
    /// compiled from a safe function.
    pub const unsafe fn new(kernel: Kernel<P>) -> Self {
        Self(kernel)
    }
}

impl<P> Deref for SafeKernel<P> {
    type Target = Kernel<P>;

    fn deref(&self) -> &Kernel<P> {
        &self.0
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
        formatter.debug_struct("Kernel").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for SafeKernel<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SafeKernel").field(&self.0).finish()
    }
}

/// A parameter `&[T]`: in the PTX a pointer and a length in elements.
pub struct Slice<T>(PhantomData<fn(T)>);

/// A parameter [`DisjointSlice<T>`](crate::DisjointSlice): in the PTX a pointer and a length in
/// elements.
pub struct DisjointSlice<T>(PhantomData<fn(T)>);

/// A parameter [`Matrix<T>`](crate::Matrix): in the PTX a pointer, rows, columns, and the pitch in
/// elements.
pub struct Matrix<T>(PhantomData<fn(T)>);

/// A parameter [`DisjointMatrix<T>`](crate::DisjointMatrix): in the PTX a pointer, rows, columns,
/// and the pitch in elements.
pub struct DisjointMatrix<T>(PhantomData<fn(T)>);

/// A parameter `*const T`.
pub struct Pointer<T>(PhantomData<fn(T)>);

/// A parameter `*mut T`.
pub struct PointerMut<T>(PhantomData<fn(T)>);
