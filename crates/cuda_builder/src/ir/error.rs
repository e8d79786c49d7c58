//! What the rewrite refuses, and the limits of a GPU by which it judges.

/// The maximum size of a kernel's shared variables, in bytes (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability"). A kernel that needs more uses dynamic shared
/// memory.
pub(super) const SHARED_LIMIT: u64 = 48 * 1024;

/// The size of constant memory, in bytes (same table).
pub(super) const CONSTANT_LIMIT: u64 = 64 * 1024;

/// The maximum number of threads in a block (same table).
pub(super) const THREAD_LIMIT: u64 = 1024;

/// The kernel crate contains something impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// A shared variable has an initial value.
    #[error(
        "shared variable `{variable}` has an initial value, and shared memory cannot have one: declare it uninitialised \
         (`SharedCell::uninit()`) and let the kernel write it"
    )]
    SharedInitialised {
        /// The variable's Rust name.
        variable: String,
    },
    /// A shared variable is larger than shared memory.
    #[error(
        "shared variable `{variable}` takes {bytes} bytes, and the variables of a kernel have {SHARED_LIMIT}: make it \
         smaller, or use dynamic shared memory"
    )]
    SharedTooLarge {
        /// The variable's Rust name.
        variable: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The constants are larger than constant memory.
    #[error(
        "the variables in constant memory take {bytes} bytes, but only {CONSTANT_LIMIT} are available: move some to global memory"
    )]
    ConstantTooLarge {
        /// Their size in bytes.
        bytes: u64,
    },
    /// A static names an unknown section.
    #[error(
        "static `{variable}` is put in section `{section}`, which means nothing on a GPU: use `.shared` or `.constant`, \
         or no section for global memory"
    )]
    UnknownSection {
        /// The variable's Rust name.
        variable: String,
        /// The section.
        section: String,
    },
    /// A marker of launch bounds cannot be parsed.
    #[error(
        "launch bounds `{marker}` are wrong: give three block dimensions of at least 1, at most {THREAD_LIMIT} threads \
         together, and the blocks per multiprocessor"
    )]
    LaunchBounds {
        /// The marker's symbol.
        marker: String,
    },
    /// A marker of launch bounds names something that is not a kernel.
    #[error(
        "launch bounds are given for `{kernel}`, which is not a kernel of this crate: mark that function with `#[kernel]`"
    )]
    LaunchBoundsWithoutKernel {
        /// The name in the marker.
        kernel: String,
    },
    /// A function calls what a kernel is called.
    #[error("`{function}` calls the function `{kernel}`, whose name a kernel has taken: give the kernel another name")]
    KernelCalled {
        /// The kernel's name.
        kernel: String,
        /// The function that calls it, by its Rust name.
        function: String,
    },
    /// `global_asm!`, which is safe to write.
    #[error(
        "the crate has `global_asm!`, which no check of barriers can see through: write `asm!` in an `unsafe` block of a function"
    )]
    GlobalAssembly,
    /// A static in the section of signatures does not hold a signature.
    #[error(
        "static `{variable}` is put in section `.signature`, where only `#[kernel]` puts statics: remove the section"
    )]
    Signature {
        /// The variable's symbol.
        variable: String,
    },
    /// The IR has an unknown form.
    #[error(
        "line {line} of rustc's LLVM IR has an unexpected form: `{text}`; use a rustc of a version that is known to work, \
         or report this line"
    )]
    UnexpectedForm {
        /// The line's number, from 1.
        line: usize,
        /// The line, cut to a readable length.
        text: String,
    },
}

impl RewriteError {
    /// The line of this index has an unknown form.
    pub(super) fn unexpected(index: usize, line: &str) -> Self {
        Self::UnexpectedForm { line: index + 1, text: line.chars().take(120).collect() }
    }
}
