//! Every opcode, with the `.version` of PTX that it came with and the oldest `.target` that has it.
//! An opcode without a row is unknown, whatever `typing` makes of it; what its modifiers need is in
//! [`targets`](super::targets) and [`versions`](super::versions).

use super::targets::OLDEST;
use super::versions::{self, Version};

/// Versions, targets ([`OLDEST`] stands for older ones, too) and opcodes.
pub(crate) const OPCODES: &[(Version, u32, &[&str])] = &[
    ((1, 0), OLDEST, &["abs", "add", "addc", "and", "cnot", "cos", "div", "ex2", "fma", "lg2", "mad", "mad24", "max"]),
    ((1, 0), OLDEST, &["min", "mul", "mul24", "neg", "not", "or", "rcp", "rem", "rsqrt", "sad", "shl", "shr", "sin"]),
    ((1, 0), OLDEST, &["sqrt", "sub", "subc", "xor", "selp", "set", "setp", "slct", "cvt", "mov"]),
    (
        (1, 0),
        OLDEST,
        &["atom", "bar", "ld", "membar", "red", "st", "suld", "suq", "sust", "tex", "tld4", "txq", "vote"],
    ),
    ((1, 0), OLDEST, &["bra", "brkpt", "call", "cp", "exit", "pmevent", "ret", "trap"]),
    ((2, 0), OLDEST, &["bfe", "bfi", "bfind", "brev", "clz", "copysign", "popc", "prmt", "testp"]),
    ((2, 0), OLDEST, &["cvta", "isspacep", "ldu", "prefetch", "prefetchu", "sured"]),
    ((2, 0), OLDEST, &["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"]),
    ((3, 0), OLDEST, &["vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2"]),
    ((3, 0), OLDEST, &["vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4"]),
    ((3, 0), OLDEST, &["madc", "shfl"]),
    ((3, 1), OLDEST, &["shf"]),
    ((4, 0), OLDEST, &["istypep"]),
    ((4, 3), OLDEST, &["lop3"]),
    ((5, 0), OLDEST, &["dp2a", "dp4a"]),
    ((6, 0), OLDEST, &["barrier", "brx", "fence", "fns", "match", "wmma"]),
    ((6, 2), OLDEST, &["activemask", "nanosleep"]),
    ((6, 4), OLDEST, &["mma"]),
    ((6, 5), OLDEST, &["ldmatrix"]),
    ((7, 0), OLDEST, &["tanh"]),
    ((7, 0), 80, &["mbarrier", "redux"]),
    ((7, 3), OLDEST, &["alloca", "stackrestore", "stacksave"]),
    ((7, 4), 80, &["applypriority", "createpolicy", "discard"]),
    ((7, 6), OLDEST, &["bmsk", "szext"]),
    ((7, 8), OLDEST, &["movmatrix"]),
    ((7, 8), 90, &["getctarank", "griddepcontrol", "mapa", "stmatrix"]),
    ((8, 0), 90, &["elect", "setmaxnreg", "wgmma"]),
    ((8, 3), 90, &["tensormap"]),
];

/// The version and the target that an opcode needs; `None` if it is unknown. The version is left
/// out if each module with such a target has it.
pub(crate) fn needs(opcode: &str) -> Option<(Option<Version>, Option<u32>)> {
    let &(version, target, _) = OPCODES.iter().find(|(.., opcodes)| opcodes.contains(&opcode))?;
    let target = Some(target).filter(|&target| target > OLDEST);
    let implied = target.and_then(versions::of_target);
    Some((Some(version).filter(|&version| Some(version) > implied), target))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each opcode, `tests/data/instructions.ptx` (or `instructions_100.ptx`, for sm_100) has an
    /// instruction, and `versions.txt` what NVIDIA's assembler says, if PTX 2.3 does not have it.
    /// Other tests read these files.
    #[test]
    fn every_opcode_has_an_example_and_the_assemblers_answer() {
        let examples = concat!(
            include_str!("../../tests/data/instructions.ptx"),
            include_str!("../../tests/data/instructions_100.ptx")
        );
        let answers = include_str!("../../tests/data/versions.txt");
        let is_of = |text: &str, opcode: &str| {
            let instruction = text.rsplit("; ").next().and_then(|last| last.split_whitespace().next());
            instruction.and_then(|name| name.split(['.', ';']).next()) == Some(opcode)
        };
        let has = |text: &str, columns: usize, opcode: &str| {
            let mut lines = text.lines().filter_map(|line| line.trim().splitn(columns, ' ').last());
            lines.any(|line| is_of(line, opcode))
        };
        let mut missing = String::new();
        for &(version, _, opcodes) in OPCODES {
            for opcode in opcodes {
                if !has(examples, 1, opcode) {
                    missing += &format!("`{opcode}` is not in tests/data/instructions.ptx\n");
                }
                if version > (2, 3) && !has(answers, 3, opcode) {
                    missing += &format!("`{opcode}` is not in tests/data/versions.txt\n");
                }
            }
        }
        assert!(missing.is_empty(), "{missing}");
    }
}
