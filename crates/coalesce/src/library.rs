//! The driver that runs on the simulator: where it is, and the variables of the environment that
//! make a program load it.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The library's name where cargo builds it.
const NAME: &str = "libcoalesce_driver.so";
/// The names under which programs look for it.
const LINKS: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
/// The stand-in for `ptxas`.
const PTXAS: &str = "coalesce-ptxas";

/// The driver and the stand-in.
pub struct Library {
    driver: PathBuf,
    ptxas: Option<PathBuf>,
}

/// Finds them: where `COALESCE_LIBRARY` says, beside this program, or where it was built.
pub fn find() -> Result<Library, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let beside = program.parent().unwrap_or(Path::new(""));
    let built = Path::new(env!("COALESCE_BUILT_IN"));
    let driver = match std::env::var_os("COALESCE_LIBRARY") {
        Some(named) => Some(PathBuf::from(named)).filter(|file| file.is_file()),
        // The program depends on the library, so cargo builds it, but copies it only on demand.
        None => newest(&[beside.join("deps"), beside.to_owned(), built.join("deps"), built.to_owned()]),
    };
    let driver = driver.and_then(|file| file.canonicalize().ok()).ok_or_else(|| {
        format!("there is no {NAME} beside this program; build it with `cargo build -p driver`, or name it in COALESCE_LIBRARY")
    })?;
    let ptxas = [beside, built].map(|folder| folder.join(PTXAS)).into_iter().find(|file| file.is_file());
    Ok(Library { driver, ptxas })
}

/// The first of these folders that has the library decides; of several builds there, the newest.
fn newest(folders: &[PathBuf]) -> Option<PathBuf> {
    let is_library = |name: &OsStr| {
        let name = name.to_string_lossy();
        name == NAME || name.starts_with("libcoalesce_driver-") && name.ends_with(".so")
    };
    folders.iter().find_map(|folder| {
        let files = std::fs::read_dir(folder).ok()?.flatten().filter(|file| is_library(&file.file_name()));
        let modified =
            |file: &std::fs::DirEntry| file.metadata().and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        files.max_by_key(modified).map(|file| file.path())
    })
}

impl Library {
    /// Links the library into a folder, under the names that programs look for.
    pub fn link_into(&self, folder: &Path) -> Result<(), String> {
        for name in LINKS {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            symlink(&self.driver, &link).map_err(|error| format!("{}: {error}", link.display()))?;
        }
        Ok(())
    }

    /// The variables that make a program load the library from this folder. The first comes before
    /// what it has already.
    pub fn variables(&self, folder: &Path) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![("LD_LIBRARY_PATH", folder.into()), ("TRITON_LIBCUDA_PATH", folder.into())];
        if let Some(ptxas) = &self.ptxas {
            // Triton takes the second for Hopper, too.
            variables.push(("TRITON_PTXAS_PATH", ptxas.into()));
            variables.push(("TRITON_PTXAS_BLACKWELL_PATH", ptxas.into()));
        }
        variables
    }

    /// Whether there is a stand-in for `ptxas`.
    pub fn has_ptxas(&self) -> bool {
        self.ptxas.is_some()
    }
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
