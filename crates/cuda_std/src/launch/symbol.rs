//! The handle of a static that the PTX exports.

use core::fmt;
use core::marker::PhantomData;

/// The host's handle of a static: its name in the PTX, and the type of its value.
/// `#[address_space(constant)]` makes one for each `ConstantCell<T>` with `#[unsafe(no_mangle)]`.
pub struct Symbol<T> {
    name: &'static str,
    // A function of `T`: the handle can be shared between threads whatever `T` is.
    value: PhantomData<fn(T)>,
}

impl<T> Symbol<T> {
    /// The handle of the static called `name` in the PTX. `#[address_space]` calls this.
    ///
    /// # Safety
    ///
    /// The PTX exports a static of this name for the host to set, and any `T` is a value of it. The
    /// kernels' other statics are theirs alone: they may hold an address, or what a lock guards.
    pub const unsafe fn new(name: &'static str) -> Self {
        Self { name, value: PhantomData }
    }

    /// Its name in the PTX.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T> fmt::Debug for Symbol<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Symbol").field("name", &self.name).finish_non_exhaustive()
    }
}
