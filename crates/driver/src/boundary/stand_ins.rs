//! Libraries that come with the driver: small ones, which only need it and lead to its functions.
//! Whoever looks for a library of that name finds it loaded, wherever NVIDIA's is installed.

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::real_nvrtc;

/// The names of nvJitLink.
pub const JIT_LINKERS: [&str; 2] = ["libnvJitLink.so.12", "libnvJitLink.so.13"];

/// The folder in the folder of the others with NVRTC's: only who has NVRTC is to find it.
pub const COMPILERS: &str = "nvrtc";

/// Loads them from the folder that `COALESCE_STAND_INS` names, when the driver is loaded: programs
/// look for nvJitLink before they call the driver.
extern "C" fn load() {
    let Some(folder) = std::env::var_os("COALESCE_STAND_INS") else { return };
    let folder = Path::new(&folder);
    let compiler = real_nvrtc::FOUND.as_ref().map(|(_, name)| folder.join(COMPILERS).join(name));
    for path in JIT_LINKERS.map(|name| folder.join(name)).into_iter().chain(compiler) {
        let Ok(path) = CString::new(path.into_os_string().into_vec()) else { continue };
        // SAFETY: these libraries have no code, and need this one, which is loaded already. What is
        // missing is not loaded.
        unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
    }
}

#[used]
// SAFETY: the loader calls functions of this section, without arguments that they need.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = load;
