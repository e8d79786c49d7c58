//! The driver that runs on the simulator, and the runtime library on it: where they are, and the
//! variables of the environment that make a program load them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use coalesce_driver::installed::{DRIVER, newest};
use coalesce_driver::{COMPILER_NAMES, COMPILERS, JIT_LINKERS};

use crate::shim;

/// The runtime library's name where cargo builds it.
const RUNTIME: &str = "libcoalesce_cudart";
/// The names under which programs look for the driver, and for the runtime library.
const DRIVERS: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
const RUNTIMES: [&str; 2] = ["libcudart.so.12", "libcudart.so.13"];
/// The stand-in for `ptxas`.
const PTXAS: &str = "coalesce-ptxas";

/// The libraries and the stand-in.
pub struct Library {
    driver: PathBuf,
    runtime: Option<PathBuf>,
    ptxas: Option<PathBuf>,
}

/// Finds them: where `COALESCE_LIBRARY` says, beside this program, or where it was built.
pub fn find() -> Result<Library, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let beside = program.parent().unwrap_or(Path::new(""));
    let built = Path::new(env!("COALESCE_BUILT_IN"));
    // The program depends on the libraries, so cargo builds them, but copies them only on demand.
    let folders = [beside.join("deps"), beside.to_owned(), built.join("deps"), built.to_owned()];
    let driver = match std::env::var_os("COALESCE_LIBRARY") {
        Some(named) => Some(PathBuf::from(named)).filter(|file| file.is_file()),
        None => newest(DRIVER, &folders),
    };
    let runtime = newest(RUNTIME, &folders).and_then(|file| file.canonicalize().ok());
    let driver = driver.and_then(|file| file.canonicalize().ok()).ok_or_else(|| {
        format!("there is no {DRIVER}.so beside this program; build it with `cargo build -p driver`, or name it in COALESCE_LIBRARY")
    })?;
    let ptxas = [beside, built].map(|folder| folder.join(PTXAS)).into_iter().find(|file| file.is_file());
    Ok(Library { driver, runtime, ptxas })
}

impl Library {
    /// Links the libraries into a folder, under the names that programs look for: the driver
    /// itself, which linkers read, too, and for the others small libraries that need the real ones.
    pub fn link_into(&self, folder: &Path) -> Result<(), String> {
        let replaced = |folder: &Path, name: &str| {
            let file = folder.join(name);
            let _ = std::fs::remove_file(&file);
            file
        };
        for name in DRIVERS {
            let link = replaced(folder, name);
            symlink(&self.driver, &link).map_err(|error| format!("{}: {error}", link.display()))?;
        }
        let compilers = folder.join(COMPILERS);
        std::fs::create_dir_all(&compilers).map_err(|error| format!("{}: {error}", compilers.display()))?;
        let of_driver = |name| (name, folder, Some(&self.driver));
        let compilers = COMPILER_NAMES.map(|name| (name, compilers.as_path(), Some(&self.driver)));
        let runtimes = RUNTIMES.map(|name| (name, folder, self.runtime.as_ref()));
        for (name, folder, needed) in JIT_LINKERS.map(of_driver).into_iter().chain(compilers).chain(runtimes) {
            let (file, Some(needed)) = (replaced(folder, name), needed) else { continue };
            let written = std::fs::write(&file, shim::library(name, needed.as_os_str()));
            written.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(())
    }

    /// The variables that make a program load the library from this folder. Lists come before what
    /// they have already.
    pub fn variables(&self, folder: &Path) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("LD_LIBRARY_PATH", folder.into()),
            // Where linkers look, of programs that are built there and link the driver.
            ("LIBRARY_PATH", folder.into()),
            ("TRITON_LIBCUDA_PATH", folder.into()),
            // The driver loads the stand-ins for nvJitLink and NVRTC from there: whoever looks for
            // those finds them loaded.
            ("COALESCE_STAND_INS", folder.into()),
        ];
        if let Some(ptxas) = &self.ptxas {
            // Triton takes the second for Hopper, too.
            variables.push(("TRITON_PTXAS_PATH", ptxas.into()));
            variables.push(("TRITON_PTXAS_BLACKWELL_PATH", ptxas.into()));
        }
        variables
    }

    /// The files that programs load and run.
    pub fn files(&self) -> Vec<PathBuf> {
        [Some(&self.driver), self.runtime.as_ref(), self.ptxas.as_ref()].into_iter().flatten().cloned().collect()
    }

    /// Whether there is a runtime library.
    pub fn has_runtime(&self) -> bool {
        self.runtime.is_some()
    }

    /// Whether there is a stand-in for `ptxas`.
    pub fn has_ptxas(&self) -> bool {
        self.ptxas.is_some()
    }
}

/// Whether a variable is a list of folders.
pub fn is_list(name: &str) -> bool {
    name.ends_with("LIBRARY_PATH")
}

/// A list of folders with one before it.
pub fn before(folder: &OsStr, others: Option<OsString>) -> OsString {
    let mut all = folder.to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}
