//! Libraries that are loaded at run time.

use std::ffi::OsStr;
use std::mem::ManuallyDrop;

use libloading::Library;

/// A library that is loaded, and stays so: CUDA's libraries leave something with the driver that outlives their handles.
pub(super) struct SharedLibrary(ManuallyDrop<Library>);

impl SharedLibrary {
    /// Loads the library of this name or path. The error is the system's, on one line.
    pub fn open(name: impl AsRef<OsStr>) -> Result<Self, String> {
        // SAFETY: the initialisers of CUDA's libraries may run at any time, on any thread. Those of a library that the user
        // names are the user's own code.
        let library = unsafe { Library::new(name.as_ref()) };
        library
            .map(|library| Self(ManuallyDrop::new(library)))
            .map_err(|error| crate::error::one_line(&error.to_string()))
    }

    /// The function of this name, if there is one.
    ///
    /// # Safety
    ///
    /// `F` is the function's type, as a function pointer.
    pub unsafe fn function<F: Copy>(&self, name: &'static str) -> Option<F> {
        // SAFETY: as above; the library is never unloaded.
        unsafe { self.0.get::<F>(name) }.ok().map(|symbol| *symbol)
    }
}

/// Declares a struct of functions of a library. Each line is a field, the function's name in the library, and the types of
/// its arguments; each returns a number, which is a status unless it says otherwise.
macro_rules! functions {
    ($(#[$doc:meta])* struct $struct:ident { $($field:ident = $name:literal ($($argument:ty),* $(,)?)),* $(,)? }) => {
        $(#[$doc])*
        struct $struct {
            $($field: unsafe extern "C" fn($($argument),*) -> u32,)*
        }

        impl $struct {
            /// The functions of a library, or the name of one that it lacks.
            ///
            /// # Safety
            ///
            /// The library's functions of these names have these types.
            unsafe fn of(library: &$crate::device::gpu::shared_library::SharedLibrary) -> std::result::Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the caller's promise.
                        $field: unsafe { library.function($name) }.ok_or($name)?,
                    )*
                })
            }
        }
    };
}

pub(super) use functions;
