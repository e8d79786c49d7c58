//! Which `.version` of PTX the modifiers of an instruction, a directive, a target or a variable's
//! type need, according to `ptxas`. What an opcode needs is in [`opcodes`](super::opcodes), and
//! what depends on operands in `typing/needs.rs`.
//!
//! A form that came with the oldest target that has it is not listed here: [`TARGETS`] knows that
//! target's version.

use super::statement::Statement;

/// A version of PTX: major and minor.
pub(crate) type Version = (u32, u32);

/// The last minor version of each major version from 1 on, of those that `ptxas` 13.5 accepts.
const LAST: [u32; 9] = [5, 3, 2, 3, 1, 5, 8, 8, 5];

/// The newest supported version.
pub(crate) const NEWEST: Version = (LAST.len() as u32, LAST[LAST.len() - 1]);

/// Whether this version of PTX exists.
pub(crate) fn is_known((major, minor): Version) -> bool {
    let last = (major as usize).checked_sub(1).and_then(|index| LAST.get(index));
    last.is_some_and(|last| minor <= *last)
}

/// Versions, each with opcodes (empty: all) and modifiers (`!`: absent) that came with it. Of
/// several rows that match, the newest version counts.
const NEEDS: &[(Version, &[&str], &[&str])] = &[
    ((2, 0), &["bar"], &["arrive"]),
    ((2, 0), &["bar"], &["red"]),
    ((2, 0), &["fma"], &["f32"]),
    ((2, 0), &["membar"], &["sys"]),
    ((2, 0), &["vote"], &["ballot"]),
    ((3, 0), &["mad"], &["cc"]),
    ((3, 0), &["pmevent"], &["mask"]),
    ((3, 1), &["ld"], &["nc"]),
    ((3, 1), &["cvta", "isspacep"], &["const"]),
    ((3, 1), &["atom", "red"], &["and", "b64"]),
    ((3, 1), &["atom", "red"], &["or", "b64"]),
    ((3, 1), &["atom", "red"], &["xor", "b64"]),
    ((3, 1), &["atom", "red"], &["min", "u64"]),
    ((3, 1), &["atom", "red"], &["min", "s64"]),
    ((3, 1), &["atom", "red"], &["max", "u64"]),
    ((3, 1), &["atom", "red"], &["max", "s64"]),
    ((4, 0), &["rsqrt"], &["ftz", "f64"]),
    ((4, 2), &["add", "sub", "mul", "fma", "set", "setp"], &["f16"]),
    ((4, 2), &["add", "sub", "mul", "fma", "set", "setp"], &["f16x2"]),
    ((4, 3), &["add", "addc", "sub", "subc", "mad", "madc"], &["cc", "u64"]),
    ((4, 3), &["add", "addc", "sub", "subc", "mad", "madc"], &["cc", "s64"]),
    ((5, 0), &["atom", "red"], &["cta"]),
    ((5, 0), &["atom", "red"], &["gpu"]),
    ((5, 0), &["atom", "red"], &["sys"]),
    ((5, 0), &["atom", "red"], &["add", "f64"]),
    // Volta: independent thread scheduling, a memory model, tensor cores.
    ((6, 0), &["bar"], &["warp"]),
    ((6, 0), &["shfl", "vote"], &["sync"]),
    ((6, 0), &["ld", "st"], &["weak"]),
    ((6, 0), &["ld", "st", "atom", "red"], &["relaxed"]),
    ((6, 0), &["ld", "atom"], &["acquire"]),
    ((6, 0), &["st", "atom", "red"], &["release"]),
    ((6, 0), &["atom"], &["acq_rel"]),
    ((6, 0), &["neg"], &["f16"]),
    ((6, 0), &["neg"], &["f16x2"]),
    ((6, 1), &["wmma"], &["m32n8k16"]),
    ((6, 1), &["wmma"], &["m8n32k16"]),
    ((6, 2), &["atom", "red"], &["add", "f16x2"]),
    ((6, 3), &["wmma"], &["aligned"]),
    ((6, 3), &["atom", "red"], &["add", "f16"]),
    ((6, 3), &["atom"], &["b16"]),
    ((6, 5), &["mma"], &["m16n8k8"]),
    ((6, 5), &["mma"], &["m8n8k16"]),
    ((6, 5), &["mma"], &["m8n8k32"]),
    ((6, 5), &["cvt"], &["pack"]),
    ((6, 5), &["abs"], &["f16"]),
    ((6, 5), &["abs"], &["f16x2"]),
    ((6, 5), &["set"], &["u32", "f16"]),
    ((6, 5), &["set"], &["u32", "f16x2"]),
    ((6, 5), &["set"], &["s32", "f16"]),
    ((6, 5), &["set"], &["s32", "f16x2"]),
    ((6, 5), &["set"], &["u16", "f16"]),
    ((6, 5), &["set"], &["s16", "f16"]),
    ((7, 0), &["mma"], &["m8n8k128"]),
    ((7, 0), &["ex2"], &["f16"]),
    ((7, 0), &["ex2"], &["f16x2"]),
    ((7, 1), &["mma", "wmma"], &["and"]),
    ((7, 1), &["mma"], &["sp"]),
    ((7, 1), &["mbarrier"], &["test_wait", "parity"]),
    ((7, 2), &["min", "max"], &["xorsign"]),
    ((7, 4), &["ld", "st", "atom", "red", "cp"], &["L2::cache_hint"]),
    ((7, 4), &["ld", "cp"], &["L2::64B"]),
    ((7, 4), &["ld", "cp"], &["L2::128B"]),
    ((7, 4), &["ld", "cp"], &["L2::256B"]),
    ((7, 4), &["ld", "st"], &["L1::evict_normal"]),
    ((7, 4), &["ld", "st"], &["L1::evict_unchanged"]),
    ((7, 4), &["ld", "st"], &["L1::evict_first"]),
    ((7, 4), &["ld", "st"], &["L1::evict_last"]),
    ((7, 4), &["ld", "st"], &["L1::no_allocate"]),
    ((7, 4), &["prefetch"], &["L2::evict_last"]),
    ((7, 4), &["prefetch"], &["L2::evict_normal"]),
    ((7, 5), &["fence", "membar"], &["proxy"]),
    ((7, 7), &["cvta", "isspacep"], &["param"]),
    ((7, 8), &["bar", "barrier"], &["cta"]),
    ((7, 8), &[], &["shared::cta"]),
    // Hopper: asynchronous copies and products.
    ((8, 0), &["cp"], &["bulk"]),
    ((8, 0), &["barrier"], &["cluster", "acquire"]),
    ((8, 0), &["barrier"], &["cluster", "release"]),
    ((8, 0), &["barrier"], &["cluster", "relaxed"]),
    ((8, 0), &["fence"], &["mbarrier_init"]),
    ((8, 0), &["fence"], &["proxy", "async"]),
    ((8, 0), &["mbarrier"], &["acquire"]),
    ((8, 0), &["mbarrier"], &["complete_tx"]),
    ((8, 0), &["mbarrier"], &["expect_tx"]),
    ((8, 0), &["mbarrier"], &["release"]),
    ((8, 0), &["mbarrier"], &["arrive", "shared::cluster"]),
    ((8, 0), &["prefetch"], &["tensormap"]),
    ((8, 0), &["add", "min", "max"], &["s16x2"]),
    ((8, 0), &["add", "min", "max"], &["u16x2"]),
    ((8, 0), &["min", "max"], &["relu", "s32"]),
    ((8, 1), &["atom", "red"], &["v2"]),
    ((8, 1), &["atom", "red"], &["v4"]),
    ((8, 1), &["atom", "red"], &["v8"]),
    ((8, 1), &["st", "red"], &["async"]),
    ((8, 1), &["cvt"], &["satfinite", "f16", "f32"]),
    ((8, 1), &["cvt"], &["satfinite", "bf16"]),
    ((8, 1), &["cvt"], &["satfinite", "tf32"]),
    ((8, 1), &["cvt"], &["satfinite", "f16x2", "f32"]),
    ((8, 1), &["cvt"], &["satfinite", "bf16x2"]),
    ((8, 1), &["fma"], &["oob"]),
    ((8, 2), &["ld", "st"], &["mmio"]),
    ((8, 2), &["lop3"], &["and"]),
    ((8, 2), &["lop3"], &["or"]),
    ((8, 2), &["wgmma"], &["sp"]),
    ((8, 3), &["ld", "st", "mov", "atom"], &["b128"]),
    ((8, 3), &["fence"], &["tensormap::generic"]),
    ((8, 3), &[], &["param::entry"]),
    ((8, 3), &[], &["param::func"]),
    ((8, 4), &["mma"], &["e4m3"]),
    ((8, 4), &["mma"], &["e5m2"]),
    ((8, 4), &["wgmma"], &["s8", "u8"]),
    ((8, 5), &["mma"], &["sp::ordered_metadata"]),
    ((8, 6), &["fence"], &["acquire", "!tensormap::generic"]),
    ((8, 6), &["fence"], &["release", "!tensormap::generic", "!mbarrier_init"]),
    ((8, 6), &["mbarrier"], &["arrive", "relaxed"]),
    ((8, 6), &["mbarrier"], &["arrive_drop", "relaxed"]),
    ((8, 6), &["mbarrier"], &["test_wait", "relaxed"]),
    ((8, 6), &["mbarrier"], &["try_wait", "relaxed"]),
    ((8, 6), &["cp"], &["bulk", "tensor", "shared::cta", "mbarrier::complete_tx::bytes"]),
    ((8, 6), &["cp"], &["bulk", "shared::cta", "global", "mbarrier::complete_tx::bytes"]),
    ((8, 7), &["mma"], &["e4m3", "m16n8k16"]),
    ((8, 7), &["mma"], &["e5m2", "m16n8k16"]),
    ((8, 7), &["mma"], &["e4m3", "f16"]),
    ((8, 7), &["mma"], &["e5m2", "f16"]),
];

/// Versions, and the targets that came with each.
const TARGETS: &[(Version, &[u32])] = &[
    ((1, 2), &[12, 13]),
    ((2, 0), &[20, 21]),
    ((3, 0), &[30]),
    ((3, 1), &[35]),
    ((4, 0), &[32, 50]),
    ((4, 1), &[37, 52]),
    ((4, 2), &[53]),
    ((5, 0), &[60, 61, 62]),
    ((6, 0), &[70]),
    ((6, 1), &[72]),
    ((6, 3), &[75]),
    ((7, 0), &[80]),
    ((7, 1), &[86]),
    ((7, 4), &[87]),
    ((7, 8), &[89, 90]),
    ((8, 6), &[100, 101]),
    ((8, 7), &[120]),
    ((8, 8), &[103, 121]),
    ((9, 0), &[88, 110]),
];

/// Versions, and the directives and variable types that came with each.
const DIRECTIVES: &[(Version, &[&str])] = &[
    ((2, 0), &["minnctapersm", "pragma"]),
    ((2, 1), &["callprototype", "reqntid"]),
    ((2, 3), &["address_size"]),
    ((3, 1), &["weak"]),
    ((5, 0), &["common"]),
    ((6, 0), &["branchtargets"]),
    ((6, 3), &["alias"]),
    ((6, 4), &["noreturn"]),
    ((8, 3), &["b128"]),
    ((9, 0), &["abi_preserve", "abi_preserve_control", "blocksareclusters"]),
];

/// The version that the modifiers of an instruction came with.
pub(crate) fn of_statement(statement: &Statement<'_>) -> Option<Version> {
    let fits = NEEDS.iter().filter(|(_, opcodes, modifiers)| statement.is_one_of(opcodes, modifiers));
    fits.map(|row| row.0).max()
}

/// The version that a directive needs, if it is newer than the module's.
pub(crate) fn missing_directive(name: &str, version: Version) -> Option<Version> {
    let row = DIRECTIVES.iter().find(|(_, names)| names.contains(&name));
    newer(row.map(|row| row.0), version)
}

/// The same for the mask of an address in an initialiser: `0xff(name)`.
pub(crate) fn missing_mask(version: Version) -> Option<Version> {
    newer(Some((7, 1)), version)
}

/// The same for a target, by its number and what follows it.
pub(crate) fn missing_target(number: u32, suffix: &str, version: Version) -> Option<Version> {
    let of_suffix = match (number, suffix) {
        (90, "a") => Some((8, 0)),
        (_, "f") => Some((8, 8)),
        _ => None,
    };
    newer(of_target(number).max(of_suffix), version)
}

/// The version that came with a target.
pub(crate) fn of_target(number: u32) -> Option<Version> {
    TARGETS.iter().find(|(_, targets)| targets.contains(&number)).map(|row| row.0)
}

/// The needed version, if it is newer than the module's. A module without a version has an error of
/// its own.
pub(crate) fn newer(needed: Option<Version>, version: Version) -> Option<Version> {
    needed.filter(|&needed| version < needed && version != (0, 0))
}
