//! Libraries that are loaded by name at run time: cuBLAS, cuSPARSE, CUB's and NVML. `cublas`,
//! `cusparse`, `peers` and `clock` load theirs with it. A library stays loaded until the program ends.

use std::ffi::{OsStr, OsString};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::Library;

use crate::error::{Error, Result as DeviceResult};

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

/// The major versions of NVIDIA's libraries to look for, in this order.
const RELEASES: [u32; 3] = [13, 12, 11];

/// The first library of this name that loads, with its path: the one that is named, else the newest
/// that the system's loader finds, else one in a toolkit's folder, after the one that it needs.
pub(super) fn find(
    named: Option<(&Path, &str)>,
    name: &str,
    needs: &str,
) -> DeviceResult<Option<(SharedLibrary, PathBuf)>> {
    if let Some((path, by)) = named {
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let problem = |why: String| Error::file(path, format!("{by} names this file, but it does not load: {why}"));
        return Ok(Some((SharedLibrary::open(path).map_err(problem)?, path.to_owned())));
    }
    let load = |path: PathBuf| SharedLibrary::open(&path).ok().map(|library| (library, path));
    let by_name = RELEASES.iter().map(|&release| PathBuf::from(file_name(name, release)));
    Ok(by_name.into_iter().find_map(load).or_else(|| {
        toolkits().into_iter().find_map(|folder| {
            let of = |name: &str| RELEASES.map(|release| folder.join(file_name(name, release)));
            let path = of(name).into_iter().find(|path| path.exists())?;
            of(needs).into_iter().filter(|path| path.exists()).for_each(|needed| drop(SharedLibrary::open(needed)));
            load(path)
        })
    }))
}

fn file_name(library: &str, release: u32) -> OsString {
    match cfg!(windows) {
        true => format!("{library}64_{release}.dll").into(),
        false => format!("lib{library}.so.{release}").into(),
    }
}

/// The folders of installed toolkits' libraries.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let roots = named.chain([PathBuf::from("/usr/local/cuda")]);
    let folders = if cfg!(windows) { ["bin", "bin/x64"] } else { ["lib64", "lib"] };
    roots.flat_map(|root| folders.map(|folder| root.join(folder))).collect()
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
