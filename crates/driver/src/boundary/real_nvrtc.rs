//! NVIDIA's NVRTC, where the program has it: the stand-in (`crate::nvrtc`) hands all calls on to it.
//! Functions that need no change are here.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::call::say;
use super::status::{Done, Status};

/// `NVRTC_ERROR_INTERNAL_ERROR`.
const INTERNAL_ERROR: Status = Status(11);

/// The stand-in has these names, each for another version of CUDA.
pub const NAMES: [&str; 2] = ["libnvrtc.so.12", "libnvrtc.so.13"];

/// The library's file and name: of those that this process has loaded, or may load, the first of
/// the driver's version of CUDA, or else of the other.
pub static FOUND: LazyLock<Option<(PathBuf, &str)>> = LazyLock::new(|| {
    let [older, newer] = NAMES;
    let is_newer = std::env::var("COALESCE_CUDA").is_ok_and(|version| version.starts_with("13"));
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let loaded: Vec<&Path> = maps.lines().filter_map(|line| Some(Path::new(&line[line.find('/')?..]))).collect();
    let folders = folders(&loaded);
    let mut names = if is_newer { [newer, older] } else { [older, newer] }.into_iter();
    names.find_map(|name| {
        let is_it = |path: &&Path| path.file_name() == Some(OsStr::new(name));
        let files = folders.iter().map(|folder| folder.join(name));
        let file = loaded
            .iter()
            .copied()
            .find(is_it)
            .map(Path::to_owned)
            .or_else(|| files.clone().find(|file| file.is_file()));
        Some((file?, name))
    })
});

/// Where NVRTC may be: in the loader's folders, in the packages of the Python that has loaded
/// something of its packages, in a toolkit.
fn folders(loaded: &[&Path]) -> Vec<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut all: Vec<PathBuf> = of("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths).collect();
    let is_packages = |folder: &&Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
    let mut packages: Vec<&Path> = loaded.iter().filter_map(|file| file.ancestors().find(is_packages)).collect();
    packages.dedup();
    for packages in packages {
        all.extend(["nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"].map(|folder| packages.join(folder)));
    }
    all.extend(of("CONDA_PREFIX").map(|folder| Path::new(&folder).join("lib")));
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        all.extend(of(name).map(|folder| Path::new(&folder).join("lib64")));
    }
    let system = ["/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    all.extend(system.map(PathBuf::from));
    all
}

/// The address of a function of it.
fn function(name: &CStr) -> Done<*mut c_void> {
    static HANDLE: LazyLock<Option<usize>> = LazyLock::new(|| {
        let (file, _) = FOUND.as_ref()?;
        let path = CString::new(file.as_os_str().as_bytes()).ok()?;
        // SAFETY: the path is a C string, and it is NVIDIA's library.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
        if handle.is_null() {
            say(&format!("{} cannot be loaded", file.display()));
        }
        Some(handle as usize).filter(|&handle| handle != 0)
    });
    let handle = HANDLE.ok_or(INTERNAL_ERROR)?;
    // SAFETY: the library stays loaded, and the name is a C string.
    let found = unsafe { libc::dlsym(handle as *mut c_void, name.as_ptr()) };
    if found.is_null() { Err(INTERNAL_ERROR) } else { Ok(found) }
}

fn done(status: u32) -> Done {
    if status == 0 { Ok(()) } else { Err(Status(status)) }
}

/// `nvrtcCompileProgram`.
pub fn compile(program: usize, options: &[CString]) -> Done {
    type Compile = unsafe extern "C" fn(usize, c_int, *const *const c_char) -> u32;
    let found = function(c"nvrtcCompileProgram")?;
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: the function has this type; the options live until it returns.
    done(unsafe {
        std::mem::transmute::<*mut c_void, Compile>(found)(program, pointers.len() as c_int, pointers.as_ptr())
    })
}

/// The bytes that two functions hand out: how many there are, and the bytes.
pub fn bytes(program: usize, size: &CStr, get: &CStr) -> Done<Vec<u8>> {
    type Size = unsafe extern "C" fn(usize, *mut usize) -> u32;
    type Get = unsafe extern "C" fn(usize, *mut u8) -> u32;
    let (size, get) = (function(size)?, function(get)?);
    let mut length = 0;
    // SAFETY: the function has this type, and writes a number.
    done(unsafe { std::mem::transmute::<*mut c_void, Size>(size)(program, &mut length) })?;
    let mut bytes = vec![0; length];
    // SAFETY: the function has this type, and writes as many bytes as the other said.
    done(unsafe { std::mem::transmute::<*mut c_void, Get>(get)(program, bytes.as_mut_ptr()) })?;
    Ok(bytes)
}

/// Functions that are NVIDIA's alone. Arguments are numbers and pointers, which take a register
/// each; so does what comes back.
macro_rules! handed_on {
    ($($name:ident($($argument:ident)*))*) => {
        $(
            #[allow(missing_docs)]
            // SAFETY: the name is one of NVRTC's, which hands on to NVRTC.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($argument: usize),*) -> usize {
                type Function = unsafe extern "C" fn($(handed_on!(@number $argument)),*) -> usize;
                let name = const { name_of(concat!(stringify!($name), "\0")) };
                match function(name) {
                    // SAFETY: the caller calls the function with these arguments.
                    Ok(found) => unsafe { std::mem::transmute::<*mut c_void, Function>(found)($($argument),*) },
                    Err(status) => status.0 as usize,
                }
            }
        )*
    };
    (@number $argument:ident) => { usize };
}

const fn name_of(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

handed_on! {
    nvrtcVersion(major minor)
    nvrtcGetNumSupportedArchs(to)
    nvrtcGetSupportedArchs(to)
    nvrtcCreateProgram(to source name count headers names)
    nvrtcDestroyProgram(program)
    nvrtcGetPTXSize(program to)
    nvrtcGetPTX(program to)
    nvrtcGetLTOIRSize(program to)
    nvrtcGetLTOIR(program to)
    nvrtcGetNVVMSize(program to)
    nvrtcGetNVVM(program to)
    nvrtcGetOptiXIRSize(program to)
    nvrtcGetOptiXIR(program to)
    nvrtcGetTileIRSize(program to)
    nvrtcGetTileIR(program to)
    nvrtcGetProgramLogSize(program to)
    nvrtcGetProgramLog(program to)
    nvrtcAddNameExpression(program name)
    nvrtcGetLoweredName(program name to)
    nvrtcSetFlowCallback(program callback data)
    nvrtcGetPCHHeapSize(to)
    nvrtcSetPCHHeapSize(bytes)
    nvrtcGetPCHCreateStatus(program)
    nvrtcGetPCHHeapSizeRequired(program to)
    nvrtcInstallBundledHeaders(folder errors)
    nvrtcGetBundledHeadersInfo(to)
    nvrtcRemoveBundledHeaders(folder errors)
}

/// The text of a status: NVRTC's own, or, without NVRTC, that the library is missing.
// SAFETY: the name is one of NVRTC's, which hands on to NVRTC.
#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(status: u32) -> *const c_char {
    type Text = unsafe extern "C" fn(u32) -> *const c_char;
    match function(c"nvrtcGetErrorString") {
        // SAFETY: the function has this type.
        Ok(found) => unsafe { std::mem::transmute::<*mut c_void, Text>(found)(status) },
        Err(_) => c"NVRTC cannot be loaded".as_ptr(),
    }
}
