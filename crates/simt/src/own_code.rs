//! Which frame of a chain of inlined calls is the user's own code: counts of lines and faults are
//! reported there. Pure.
//!
//! `atomicAdd(p, 1)` is code of a header of the toolkit, inlined into the kernel; the line to
//! change is the kernel's. So an instruction belongs to the innermost frame that is not a
//! library's. What a library is depends on the kernel: a header in a project's own folder `include`
//! belongs to that project's kernels, and a kernel of a library is that library's own code.
//!
//! Paths are all that PTX says of its files. A path is a library's if it goes through a folder that
//! holds libraries, and the kernel's file is outside the library:
//!
//! | path | the library |
//! | --- | --- |
//! | `A/include/...` | all of `A`: the toolkit, a compiler, a system's headers, a vendored library |
//! | `A/site-packages/B/...`, `A/dist-packages/B/...` | the Python package |
//! | `A/triton/language/...` | Triton's own functions |
//! | `A/rustlib/...`, `/rustc/...`, `rust/...` | Rust's own crates |
//! | `A/registry/src/...`, `registry/...` | crates from a registry |
//!
//! Our builder of PTX from Rust already keeps the line of the kernel crate alone.

/// Whether `file` belongs to a library of which the kernel in the file `kernels` is no part.
pub(crate) fn is_library(file: &str, kernels: &str) -> bool {
    let (file, kernels) = (parts(file), parts(kernels));
    let is_inside = |library: &[&str]| library.iter().all(|part| *part == "..") || kernels.starts_with(library);
    (0..file.len()).filter_map(|at| library(&file, at)).any(|library| !is_inside(library))
}

/// The folder of the library that the folder at this place of a path says there is.
fn library<'f, 'p>(file: &'f [&'p str], at: usize) -> Option<&'f [&'p str]> {
    // The last part is the file's own name.
    let (name, next) = (file[at], file.get(at + 1)?);
    let end = match name {
        "include" => at,
        "site-packages" | "dist-packages" => at + 2,
        "triton" if *next == "language" => at + 1,
        "rustlib" => at + 1,
        "rustc" | "rust" if at == 0 => at + 1,
        "registry" if at == 0 || *next == "src" => at + 1,
        _ => return None,
    };
    file.get(..end)
}

/// The folders of a path and the file's name, without `.` and with `..` resolved where possible.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::is_library;

    #[test]
    fn headers_of_others_are_libraries() {
        for (file, kernels) in [
            ("/usr/local/cuda-13.0/targets/x86_64-linux/include/crt/sm_70_rt.hpp", "/home/me/lab/k.cu"),
            ("/venv/lib/python3.11/site-packages/nvidia/cu13/bin/..//include/cuda_fp16.hpp", "/home/me/k.cu"),
            ("/usr/lib/llvm-18/lib/clang/18/include/__clang_cuda_builtin_vars.h", "./k.cu"),
            ("/home/me/lab/third_party/cutlass/include/cute/tensor.hpp", "/home/me/lab/k.cu"),
            ("C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v13.0\\include\\x.hpp", "C:\\lab\\k.cu"),
            ("cuda/include/device_atomic_functions.hpp", "atomics.cu"),
            ("/venv/lib/python3.12/site-packages/triton/language/standard.py", "/home/me/k.py"),
            ("/home/me/triton/python/triton/language/standard.py", "/home/me/k.py"),
            ("/home/me/.rustup/toolchains/x/lib/rustlib/src/rust/library/core/src/num/mod.rs", "/home/me/src/lib.rs"),
            ("/rustc/abc/library/core/src/num/mod.rs", "src/lib.rs"),
            ("rust/core/src/num/mod.rs", "kernels/src/lib.rs"),
            ("/home/me/.cargo/registry/src/index.crates.io-1/half-2.4.1/src/lib.rs", "/home/me/k/src/lib.rs"),
        ] {
            assert!(is_library(file, kernels), "{file}");
            assert!(!is_library(kernels, kernels) && !is_library(file, file), "{file}");
        }
    }

    #[test]
    fn the_kernels_own_project_is_no_library() {
        for (file, kernels) in [
            ("/home/me/lab/include/tile.cuh", "/home/me/lab/src/k.cu"),
            ("/home/me/lab/src/../include/tile.cuh", "/home/me/lab/src/k.cu"),
            ("include/tile.cuh", "src/k.cu"),
            ("../include/tile.cuh", "k.cu"),
            ("/home/me/lab/helpers.cuh", "/home/me/lab/k.cu"),
            ("/home/me/common/helpers.cuh", "/home/me/lab/k.cu"),
            ("/home/me/lab/include", "/home/me/k.cu"),
            ("/venv/site-packages/flash/b.py", "/venv/site-packages/flash/a.py"),
            ("/opt/cub/include/cub/block.cuh", "/opt/cub/include/cub/device.cuh"),
            ("kernels/src/tile.rs", "kernels/src/lib.rs"),
            ("", ""),
        ] {
            assert!(!is_library(file, kernels), "{file}");
        }
    }
}
