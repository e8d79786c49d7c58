//! `coalesce doctor PROGRAM`: what a program will meet when it runs with the simulator's driver,
//! and the remedy. It only looks at files.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use coalesce_driver::image::contents;

use crate::library;

/// Say what a program will meet on the simulator's driver, and the remedy
#[derive(Args, Debug)]
pub struct Options {
    /// A program or library, or a Python script
    #[arg(value_name = "PROGRAM")]
    program: OsString,
}

/// Something to know about the program.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Fine(String),
    Note(String),
    /// The program will not run.
    Blocks(String),
}

/// Prints the findings. Returns 1 if the program will not run.
pub fn main(options: &Options) -> Result<u8, String> {
    let path = found(Path::new(&options.program))?;
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut findings = match library::find() {
        Ok(library) => {
            let lacks = |what: &str| Finding::Note(format!("there is no {what}: `cargo build -p coalesce`"));
            let ptxas = "`coalesce-ptxas` beside this program, which Triton needs";
            let runtime = "`libcoalesce_cudart.so` beside this program, which programs of nvcc need";
            let missing = [(library.has_ptxas(), ptxas), (library.has_runtime(), runtime)];
            missing.into_iter().filter(|(has, _)| !has).map(|(_, what)| lacks(what)).collect()
        }
        Err(error) => vec![Finding::Blocks(error)],
    };
    findings.extend(if bytes.starts_with(b"\x7fELF") { of_binary(&bytes) } else { of_script(&bytes) });
    let mut text = String::new();
    for finding in &findings {
        let (what, say) = match finding {
            Finding::Fine(say) => ("ok", say),
            Finding::Note(say) => ("note", say),
            Finding::Blocks(say) => ("problem", say),
        };
        let _ = writeln!(text, "{}", wording::wrapped(say, wording::WIDTH, &format!("{what}: "), "  "));
    }
    crate::run::print(&text)?;
    Ok(findings.iter().any(|finding| matches!(finding, Finding::Blocks(_))).into())
}

/// The file, looked for as a shell does.
fn found(program: &Path) -> Result<PathBuf, String> {
    if program.is_file() {
        return Ok(program.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders).map(|folder| folder.join(program));
    let found = in_path.into_iter().find(|file| program.components().count() == 1 && file.is_file());
    found.ok_or_else(|| format!("{}: there is no such file", program.display()))
}

fn has(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// A program or library.
fn of_binary(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let contents = contents(bytes);
    let targets = |targets: &std::collections::BTreeSet<u64>| {
        targets.iter().map(|target| format!("sm_{target}")).collect::<Vec<_>>().join(", ")
    };
    if !contents.ptx.is_empty() {
        findings.push(Finding::Fine(format!("it has PTX for {}", targets(&contents.ptx))));
    } else if !contents.machine_code.is_empty() {
        findings.push(Finding::Blocks(format!(
            "its kernels are machine code (SASS) for {} alone, which the simulator cannot run; compile it with PTX, too: nvcc \
             -gencode arch=compute_75,code=compute_75",
            targets(&contents.machine_code)
        )));
    }
    // The runtime library looks for the driver itself, so a program that has it inside names the
    // driver.
    let registers = has(bytes, "__cudaRegisterFatBinary");
    if registers && has(bytes, "libcudart.so") {
        findings.push(Finding::Fine(
            "it links the runtime library (libcudart) dynamically; `coalesce run` puts one of its own in its place"
                .to_owned(),
        ));
    } else if registers && has(bytes, "libcuda.so.1") {
        findings.push(Finding::Blocks(
            "NVIDIA's runtime library (cudart) is linked into it. It asks the driver to prove by a keyed hash that it is \
             NVIDIA's; this driver does not answer, ever. Compile with `nvcc -cudart shared`, which links it \
             dynamically, and with PTX; or run the kernels' PTX with `host run`"
                .to_owned(),
        ));
    } else if has(bytes, "libcuda.so") || has(bytes, "cuInit") {
        findings
            .push(Finding::Fine("it loads the driver (libcuda), which the simulator's takes the place of".to_owned()));
    }
    if findings.is_empty() {
        findings.push(Finding::Note(
            "it names no part of CUDA; if it loads a library or a script that does, ask for that".to_owned(),
        ));
    }
    findings
}

/// What is known of Python's packages.
const PACKAGES: [(&str, bool, &str); 8] = [
    ("numba", true, "numba-cuda runs; `coalesce run` puts a stand-in for nvJitLink into its place"),
    ("triton", true, "Triton runs; `coalesce run` puts a stand-in for ptxas into its place"),
    ("tinygrad", true, "tinygrad runs with CUDA=1; its compiler needs CUDA_PATH for kernels that include cuda_fp16.h"),
    (
        "cuda.core",
        true,
        "cuda.core runs; `coalesce run` puts stand-ins for NVRTC's machine code and nvJitLink into place",
    ),
    ("pycuda", false, "PyCUDA compiles with nvcc to machine code (SASS); give SourceModule PTX"),
    ("cupy", false, CUDART),
    ("torch", false, CUDART),
    ("jax", false, CUDART),
];

const CUDART: &str = "has NVIDIA's runtime library (cudart) linked into it, which asks the driver to prove by a keyed hash \
                      that it is NVIDIA's; this driver does not answer, ever";

/// A script.
fn of_script(bytes: &[u8]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(bytes);
    let imports = |package: &str| {
        text.lines().map(str::trim_start).any(|line| {
            let rest = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "));
            let of = |name: &str| {
                name.strip_prefix(package)
                    .is_some_and(|more| !more.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            rest.is_some_and(|rest| rest.split(',').any(|name| of(name.trim_start())))
        })
    };
    let mut findings: Vec<Finding> = PACKAGES
        .iter()
        .filter(|(package, ..)| imports(package))
        .map(|&(package, runs, say)| match (runs, say) {
            (true, _) => Finding::Fine(say.to_owned()),
            (false, CUDART) => Finding::Blocks(format!("{package} {say}")),
            (false, _) => Finding::Blocks(say.to_owned()),
        })
        .collect();
    if findings.is_empty() {
        findings.push(Finding::Note("it imports no package that is known to use CUDA".to_owned()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_judged_by_their_imports() {
        let said = |text: &str| of_script(text.as_bytes());
        assert!(
            matches!(&said("import numpy as np\nfrom numba import cuda\n")[..], [Finding::Fine(say)] if say.contains("nvJitLink"))
        );
        assert!(matches!(&said("  import os, torch")[..], [Finding::Blocks(say)] if say.contains("keyed hash")));
        assert!(matches!(&said("import torchless\n# import cupy")[..], [Finding::Note(_)]));
    }

    #[test]
    fn programs_are_judged_by_what_is_in_them() {
        let fixed = of_binary(b"\x7fELF libcuda.so.1 __cudaRegisterFatBinary");
        assert!(matches!(&fixed[..], [Finding::Blocks(say)] if say.contains("keyed hash")));
        let shared = of_binary(b"\x7fELF libcudart.so.12 __cudaRegisterFatBinary");
        assert!(matches!(&shared[..], [Finding::Fine(say)] if say.contains("one of its own")));
        assert!(matches!(&of_binary(b"\x7fELF libcuda.so.1")[..], [Finding::Fine(_)]));
        assert!(matches!(&of_binary(b"\x7fELF")[..], [Finding::Note(_)]));
        // Machine code alone: a fat binary with one file of it.
        let mut machine = b"\x7fELF\x50\xed\x55\xba\x01\0\x10\0".to_vec();
        let mut file = [0u8; 68];
        (file[0], file[4], file[8], file[28]) = (2, 64, 4, 90);
        machine.extend(68u64.to_le_bytes());
        machine.extend(file);
        assert!(matches!(&of_binary(&machine)[..], [Finding::Blocks(say)] if say.contains("sm_90")));
    }
}
