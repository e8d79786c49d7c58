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

use crate::builder::Runner;
use crate::toolchain::DeviceCompiler;
use crate::{CudaBuilder, CudaBuilderError, NvvmArch};

/// The advice if LLVM rejects rewritten IR.
const ADVICE: &str = "look at the intermediate LLVM IR (`CudaBuilder::emit_llvm_to`), or take another version of the \
                      compiler";

/// The inlining threshold of functions with an inline hint, such as closures and `#[inline]`
/// functions. A closure that is not inlined takes its captures by address, and arrays whose address
/// is taken are in local memory instead of registers, so the body of an unrolled loop must be
/// inlined however large it is.
const INLINE_CLOSURES: &str = "-inlinehint-threshold=20000";

/// Optimises `input` into `output`, both textual IR.
///
/// Only kernels and the symbols that the host may look up are visible, so everything else is
/// inlined or dropped. After the usual passes come two for `llc`, which infer address spaces and
/// alignment. Then `llc` joins loads of four neighbours. Otherwise `ptxas` would, and the loads in
/// the PTX, which the simulator counts, would not be those of the GPU.
pub(crate) fn optimise(
    compiler: &DeviceCompiler,
    builder: &CudaBuilder,
    input: &Path,
    output: &Path,
    runner: Runner<'_>,
) -> Result<(), CudaBuilderError> {
    let mut opt = Command::new(compiler.tool("opt"));
    opt.args(["-S", "-passes=default<O3>,infer-address-spaces,function(infer-alignment)"]);
    opt.arg(INLINE_CLOSURES);
    opt.arg(format!("-mcpu={}", builder.arch)).arg(input).arg("-o").arg(output);
    run(opt, "opt", runner)
}

/// Inlines functions in `input` and keeps local variables in values, for the check of barriers.
/// None of these passes joins or copies blocks.
pub(crate) fn inline(
    compiler: &DeviceCompiler,
    builder: &CudaBuilder,
    input: &Path,
    output: &Path,
    runner: Runner<'_>,
) -> Result<(), CudaBuilderError> {
    let mut opt = Command::new(compiler.tool("opt"));
    let simplify = "function(sroa,instcombine<no-verify-fixpoint>,sroa)";
    opt.arg("-S").arg(format!("-passes=always-inline,cgscc(inline),{simplify},globaldce")).arg(INLINE_CLOSURES);
    opt.arg(format!("-mcpu={}", builder.arch)).arg(input).arg("-o").arg(output);
    run(opt, "opt", runner)
}

/// Compiles the IR of `input` to the PTX of `output`.
///
/// Loops keep their counters (`-disable-lsr`), as in nvcc's PTX: `ptxas` unrolls a loop with a
/// counter, and computes its addresses itself. It does not unroll loops that `llc` has reduced to
/// running pointers.
pub(crate) fn compile(
    compiler: &DeviceCompiler,
    builder: &CudaBuilder,
    input: &Path,
    output: &Path,
    runner: Runner<'_>,
) -> Result<(), CudaBuilderError> {
    let mut llc = Command::new(compiler.tool("llc"));
    llc.args(["-O3", "-filetype=asm", "-disable-lsr"])
        .arg(format!("-mcpu={}", builder.arch))
        .args(ptx_version(builder.arch))
        .args(float_options(builder));
    llc.arg(input).arg("-o").arg(output);
    run(llc, "llc", runner)
}

/// The option of `llc` for the PTX version. By default it is the oldest that the architecture
/// needs; the eviction priorities of `cuda_std::mem` need 7.4 (CUDA 11.4), which is the default
/// from Ada on, and the copies of `cuda_std::bulk` 8.0 (CUDA 12.0).
fn ptx_version(arch: NvvmArch) -> Option<&'static str> {
    match arch {
        NvvmArch::Compute90 => Some("-mattr=+ptx80"),
        _ => (arch < NvvmArch::Compute87).then_some("-mattr=+ptx74"),
    }
}

/// The options of `llc` for the builder's settings of f32 arithmetic.
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

fn run(mut command: Command, tool: &str, runner: Runner<'_>) -> Result<(), CudaBuilderError> {
    let output = runner(&mut command).map_err(CudaBuilderError::io("run", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    // LLVM prints its own stack trace after the message.
    let text = String::from_utf8_lossy(&output.stderr);
    let message = text.lines().find(|line| line.contains("error")).or(text.lines().next()).unwrap_or("no message");
    Err(CudaBuilderError::Tool { tool: tool.to_owned(), message: message.trim().to_owned(), advice: ADVICE })
}
