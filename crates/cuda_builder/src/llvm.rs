//! Runs LLVM's `opt` and `llc`.
//!
//! Loops keep their counters. `llc` would reduce them to running pointers, and 64-bit counters cost
//! two instructions; in both cases `ptxas` does not unroll, and the course's kernels were up to 1.3
//! times as slow as nvcc's. So `llc` gets `-disable-lsr`, and kernels count with `u32`.
//!
//! What the assembler would join, `llc` joins. `ptxas` makes one load of four neighbours in shared
//! memory if it knows their alignment, but the simulator counts PTX. So `infer-alignment` runs
//! first, and the joined loads are in the PTX. Kernels that teach the single loads read with
//! `shared::load`, which is volatile.

use std::path::Path;
use std::process::Command;

use crate::toolchain::DeviceCompiler;
use crate::{CudaBuilder, CudaBuilderError, NvvmArch};

/// What to do when LLVM refuses rewritten IR.
const ADVICE: &str = "look at the intermediate LLVM IR (`cargo xtask build-ptx --emit-llvm DIR`), or take another version of \
                      the compiler";

/// How large a function may be that asks to be inlined, as closures and `#[inline]` functions do. A closure that stays a function
/// of its own takes what it captures by address, and arrays whose address is taken lie in local memory in place of registers:
/// the body of an unrolled loop has to be inlined, however large it is.
const INLINE_CLOSURES: &str = "-inlinehint-threshold=20000";

/// Optimises `input` into `output`, both textual IR.
///
/// Only kernels and what the host may look for are visible, so everything else is inlined or dropped. Behind the usual passes come
/// two for `llc`: what is known to be shared memory is called so, and what is known to stand on 16 bytes as well. Then `llc` joins
/// loads of four neighbours, which `ptxas` would otherwise do behind the back of whoever counts the PTX's loads.
pub(crate) fn optimise(
    compiler: &DeviceCompiler,
    builder: &CudaBuilder,
    input: &Path,
    output: &Path,
) -> Result<(), CudaBuilderError> {
    let mut opt = Command::new(compiler.tool("opt"));
    opt.args(["-S", "-passes=default<O3>,infer-address-spaces,function(infer-alignment)"]);
    opt.arg(INLINE_CLOSURES);
    opt.arg(format!("-mcpu={}", builder.arch)).arg(input).arg("-o").arg(output);
    run(opt, "opt")
}

/// Compiles the IR of `input` to the PTX of `output`.
///
/// Loops keep their counters: `ptxas` unrolls a loop that counts, and finds its addresses itself. Where `llc` has reduced them to
/// pointers that run along (`-disable-lsr` keeps it from that), it does not. nvcc's PTX has counters, too.
pub(crate) fn compile(
    compiler: &DeviceCompiler,
    builder: &CudaBuilder,
    input: &Path,
    output: &Path,
) -> Result<(), CudaBuilderError> {
    let mut llc = Command::new(compiler.tool("llc"));
    llc.args(["-O3", "-filetype=asm", "-disable-lsr"])
        .arg(format!("-mcpu={}", builder.arch))
        .args(ptx_version(builder.arch))
        .args(float_options(builder));
    llc.arg(input).arg("-o").arg(output);
    run(llc, "llc")
}

/// The option of `llc` for the version of PTX. Left alone, it takes the least that the architecture needs; the eviction priorities of
/// `cuda_std::mem` need 7.4 (CUDA 11.4), which architectures from Ada on have anyway.
fn ptx_version(arch: NvvmArch) -> Option<&'static str> {
    (arch < NvvmArch::Compute87).then_some("-mattr=+ptx74")
}

/// The options of `llc` for what the builder says of f32 arithmetic.
fn float_options(builder: &CudaBuilder) -> Vec<&'static str> {
    let mut options = Vec::new();
    if builder.ftz {
        options.push("-denormal-fp-math-f32=preserve-sign");
    }
    if builder.fast_sqrt {
        options.push("-nvptx-prec-sqrtf32=0");
    }
    if builder.fast_div {
        options.push("-nvptx-prec-divf32=0");
    }
    if builder.fma_contraction {
        options.push("-fp-contract=fast");
    }
    options
}

fn run(mut command: Command, tool: &str) -> Result<(), CudaBuilderError> {
    let output = command.output().map_err(CudaBuilderError::io("run", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    // LLVM prints its own stack behind the message.
    let text = String::from_utf8_lossy(&output.stderr);
    let message = text.lines().find(|line| line.contains("error")).or(text.lines().next()).unwrap_or("no message");
    Err(CudaBuilderError::Tool { tool: tool.to_owned(), message: message.trim().to_owned(), advice: ADVICE })
}
