//! A stand-in for NVRTC, NVIDIA's compiler of CUDA C++ at run time, around the real one. A program
//! that asks for machine code (`-arch=sm_90`, a cubin) gets PTX, in a container that this driver
//! loads; all else is NVRTC's.
//!
//! It is loaded with the driver (`boundary::stand_ins`), if the program has NVRTC, under NVRTC's
//! name: who looks for a library of that name from then on finds it.

use std::collections::HashSet;
use std::ffi::{CString, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::boundary::{Done, In, Out, Text, functions, real_nvrtc as real};
use crate::image::wrap;

/// The programs that were to be compiled to machine code.
fn replaced() -> MutexGuard<'static, HashSet<usize>> {
    static REPLACED: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);
    REPLACED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The option, or its part behind another, that asks for PTX where this one asks for machine code.
fn for_ptx(option: &str, before: &str) -> Option<String> {
    let is_architecture = |name: &str| matches!(name, "-arch" | "--gpu-architecture");
    let (name, value) = option.split_once('=').unwrap_or((before, option));
    let number = value.strip_prefix("sm_").filter(|_| is_architecture(name))?;
    Some(if value == option { format!("compute_{number}") } else { format!("{name}=compute_{number}") })
}

/// The options with which PTX is made, and whether they differ. What is compiled for the linker's
/// optimisation is no machine code anyway.
fn options_for_ptx(given: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, bool) {
    if given.iter().any(|option| matches!(&option[..], b"-dlto" | b"--dlink-time-opt")) {
        return (given, false);
    }
    let text = |index: usize| std::str::from_utf8(&given[index]).unwrap_or_default();
    let before = |index: usize| if index > 0 { text(index - 1) } else { "" };
    let changed: Vec<Option<String>> = (0..given.len()).map(|index| for_ptx(text(index), before(index))).collect();
    let differs = changed.iter().any(Option::is_some);
    let all = changed.into_iter().zip(given).map(|(changed, given)| changed.map_or(given, String::into_bytes));
    (all.collect(), differs)
}

/// The machine code of a program: PTX, if that is what was made.
fn machine_code(program: usize) -> Done<Vec<u8>> {
    if !replaced().contains(&program) {
        return real::bytes(program, c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN");
    }
    let text = real::bytes(program, c"nvrtcGetPTXSize", c"nvrtcGetPTX")?;
    Ok(wrap(String::from_utf8_lossy(&text).trim_end_matches('\0')))
}

functions! {
    fn nvrtcCompileProgram(program: usize, count: c_int, options: In<Text>) {
        let given = options.list(count.max(0) as usize).into_iter().map(Text::bytes).collect::<Done<_>>()?;
        let (options, differs) = options_for_ptx(given);
        if differs {
            replaced().insert(program);
        } else {
            replaced().remove(&program);
        }
        // Texts of C have no zero byte inside.
        real::compile(program, &options.into_iter().flat_map(CString::new).collect::<Vec<_>>())
    }

    fn nvrtcGetCUBINSize(program: usize, to: Out<usize>) {
        to.put(machine_code(program)?.len())
    }

    fn nvrtcGetCUBIN(program: usize, to: Out<u8>) {
        to.put_all(machine_code(program)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_machine_code_become_those_for_ptx() {
        let changed = |options: &[&str]| {
            let (options, differs) = options_for_ptx(options.iter().map(|option| option.as_bytes().to_vec()).collect());
            (
                options.into_iter().map(|option| String::from_utf8(option).unwrap()).collect::<Vec<_>>().join(" "),
                differs,
            )
        };
        let same = |text: &str| (text.to_owned(), false);
        assert_eq!(
            changed(&["-G", "--gpu-architecture=sm_90a"]),
            ("-G --gpu-architecture=compute_90a".to_owned(), true)
        );
        assert_eq!(changed(&["-arch", "sm_80"]), ("-arch compute_80".to_owned(), true));
        assert_eq!(changed(&["-arch=compute_80", "-D", "sm_80"]), same("-arch=compute_80 -D sm_80"));
        assert_eq!(changed(&["-arch=sm_90", "-dlto"]), same("-arch=sm_90 -dlto"));
        assert_eq!(changed(&["-DARCH=sm_90"]), same("-DARCH=sm_90"));
        assert_eq!(changed(&[]), same(""));
    }
}
