//! Instructions of PTX that this crate does not represent.

use crate::errors::InstructionError;
use crate::parser::cursor::Word;

/// Opcodes that are PTX, but have no operation here.
const OPCODES: [&str; 44] = [
    "clusterlaunchcontrol",
    "cp",
    "elect",
    "getctarank",
    "griddepcontrol",
    "istypep",
    "ldmatrix",
    "mapa",
    "mbarrier",
    "mma",
    "movmatrix",
    "multimem",
    "pmevent",
    "setmaxnreg",
    "stmatrix",
    "tcgen05",
    "tensormap",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wgmma",
    "wmma",
    "bpt",
    "nop",
];

/// Opcodes with a modifier that makes them another instruction, one that has no operation here.
const FORMS: [(&str, &str); 10] = [
    ("barrier", "cluster"),
    ("cvt", "pack"),
    ("fence", "proxy"),
    ("fence", "mbarrier_init"),
    ("membar", "proxy"),
    ("red", "async"),
    ("st", "async"),
    ("st", "bulk"),
    ("mov", "shared::cluster"),
    ("prefetch", "tensormap"),
];

/// Types of PTX that this crate does not represent.
const TYPES: [&str; 16] = [
    "u16x2", "s16x2", "u8x4", "s8x4", "f32x2", "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2",
    "e3m2x2", "ue8m0x2", "f32x4", "b1024",
];

/// Why an instruction is not supported, if it is PTX but has no operation here.
pub(crate) fn refuse(opcode: &str, modifiers: &[Word<'_>]) -> Option<InstructionError> {
    let has = |name: &str| modifiers.iter().any(|modifier| modifier.text == name);
    let first = modifiers.first().map_or("", |modifier| modifier.text);
    let refused = OPCODES.contains(&opcode)
        || FORMS.iter().any(|&(of, form)| of == opcode && has(form))
        || modifiers.iter().any(|modifier| TYPES.contains(&modifier.text) || modifier.text == "shared::cluster")
        || matches!(opcode, "shfl" | "vote") && first != "sync";
    refused.then(|| {
        let mut text = opcode.to_owned();
        for modifier in modifiers {
            text.push('.');
            text.push_str(modifier.text);
        }
        InstructionError::Unsupported(text)
    })
}
