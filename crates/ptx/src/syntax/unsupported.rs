//! Instructions of PTX that this crate does not represent. They are refused before their
//! operands are read, so that the error says "not supported" and not "unknown" or a complaint about
//! an operand.
//!
//! Other PTX is refused elsewhere, each with an error that names it:
//!
//! - `cudaLaunchDevice`, `cudaGetParameterBuffer`, `__cudaCDP2...` (launches by kernels, "dynamic
//!   parallelism"): functions of CUDA's device runtime, which a driver does not link either
//! - `array[%r1]` as an address: no compiler writes an index in a register; constant indices are
//!   supported
//! - `.tile::gather4`, `.tile::scatter4`, `.im2col::w`, `.cta_group` and `.swizzle_atomicity` of
//!   tensor copies and maps, which need sm_100, as do most instructions below; `multimem` is memory
//!   of several GPUs

use super::cursor::Word;
use crate::errors::InstructionError;

/// Opcodes of PTX that have no operation here.
const OPCODES: &[&str] = &["clusterlaunchcontrol", "multimem", "tcgen05"];

/// Opcodes with a modifier that makes them a different instruction, which has no operation here.
const FORMS: &[(&str, &str)] =
    &[("cp", "cp_mask"), ("mma", "block_scale"), ("mma", "kind::f8f6f4"), ("mma", "kind::mxf8f6f4"), ("st", "bulk")];

/// Types of PTX that this crate does not represent.
const TYPES: &[&str] = &["u8x4", "s8x4", "e4m3", "e5m2", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "f32x4"];

/// Why an instruction is not supported, if it is PTX but has no operation here.
pub(crate) fn refuse(opcode: &str, modifiers: &[Word<'_>]) -> Option<InstructionError> {
    let has = |name: &str| modifiers.iter().any(|modifier| modifier.text == name);
    let refused = OPCODES.contains(&opcode)
        || FORMS.iter().any(|&(of, form)| of == opcode && has(form))
        || modifiers.iter().any(|modifier| TYPES.contains(&modifier.text))
            && !matches!(opcode, "mma" | "wmma" | "wgmma")
        || opcode == "cvt" && has("rs");
    refused.then(|| {
        let mut text = opcode.to_owned();
        for modifier in modifiers {
            text.push('.');
            text.push_str(modifier.text);
        }
        InstructionError::Unsupported(text)
    })
}
