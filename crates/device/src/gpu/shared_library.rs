//! Libraries that are loaded by name at run time: cuBLAS, CUB's and NVML. `cublas`, `peers` and
//! `clock` load theirs with it. A library stays loaded until the program ends.

use std::ffi::OsStr;
use std::mem::ManuallyDrop;

use libloading::Library;

/// A loaded library. It is never unloaded: CUDA's libraries leave state with the driver that
/// outlives their handles.
pub(super) struct SharedLibrary(ManuallyDrop<Library>);

impl SharedLibrary {
    /// Loads the library of this name or path. The error is the system's, on one line.
    pub fn open(name: impl AsRef<OsStr>) -> Result<Self, String> {
        // SAFETY: the initialisers of CUDA's libraries may run at any time, on any thread. Those of
        // a library that the user names are the user's own code.
        let library = unsafe { Library::new(name.as_ref()) };
        library.map(|library| Self(ManuallyDrop::new(library))).map_err(|error| wording::one_line(&error.to_string()))
    }

    /// The function of this name, if there is one.
    ///
    /// # Safety
    ///
    /// `F` is the function's type, as a function pointer.
    pub unsafe fn function<F: Copy>(&self, name: &'static str) -> Option<F> {
        // SAFETY: the caller's promise; the library is never unloaded.
        unsafe { self.0.get::<F>(name) }.ok().map(|symbol| *symbol)
    }
}

/// The status of a library's function that failed: not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LibraryStatus(pub u32);

impl LibraryStatus {
    /// The one place where a library's status becomes a result.
    pub fn of(status: u32) -> Result<(), Self> {
        match status {
            0 => Ok(()),
            status => Err(Self(status)),
        }
    }
}

/// Declares the functions of a library: a struct of function pointers, and a method for each. A
/// method after `status` returns `Err` for any number but 0; one after `number` returns the number.
macro_rules! functions {
    (
        $(#[$doc:meta])*
        struct $struct:ident {
            $($kind:ident $field:ident = $name:literal ($($argument:ident: $type:ty),* $(,)?);)*
        }
    ) => {
        $(#[$doc])*
        struct $struct {
            $($field: unsafe extern "C" fn($($type),*) -> u32,)*
        }

        impl $struct {
            /// The functions of a library, or the name of one that it lacks.
            ///
            /// # Safety
            ///
            /// The library's functions of these names have these types.
            unsafe fn of(
                library: &$crate::gpu::shared_library::SharedLibrary,
            ) -> std::result::Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the caller's promise.
                        $field: unsafe { library.function($name) }.ok_or($name)?,
                    )*
                })
            }

            $($crate::gpu::shared_library::method! { $kind $field $name ($($argument: $type),*) })*
        }
    };
}

/// One method of [`functions!`].
macro_rules! method {
    (status $field:ident $name:literal ($($argument:ident: $type:ty),*)) => {
        #[doc = concat!("`", $name, "`")]
        ///
        /// # Safety
        ///
        /// As the library's documentation says.
        #[allow(clippy::too_many_arguments, reason = "the library's function has them")]
        unsafe fn $field(
            &self,
            $($argument: $type),*
        ) -> std::result::Result<(), $crate::gpu::shared_library::LibraryStatus> {
            // SAFETY: the caller's promise.
            $crate::gpu::shared_library::LibraryStatus::of(unsafe { (self.$field)($($argument),*) })
        }
    };
    (number $field:ident $name:literal ()) => {
        #[doc = concat!("`", $name, "`, which takes nothing and returns a number")]
        fn $field(&self) -> u32 {
            // SAFETY: whoever made this has promised that the function has this type.
            unsafe { (self.$field)() }
        }
    };
}

pub(super) use {functions, method};
