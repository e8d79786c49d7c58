//! Which `.target` an instruction or a special register needs, if `sm_75`, the oldest that NVIDIA's
//! assembler still supports, does not have it. `typing/mod.rs` asks after each instruction,
//! `names.rs` for each special register.
//!
//! What `ptxas` rejects for every target is an error too, even if the manual allows it:
//! `[%rd1-16]`, `[16]` in spaces other than `.local`, and special registers as operands of anything
//! but `mov` and `cvt` between integers.

use super::context::Context;
use crate::{Op, Special, TernaryOp, Type};

/// Opcodes (empty: all), modifiers that the instruction has (`!`: lacks), and the number of the
/// oldest target that supports it. Of several rows that match, the newest target counts. Each row
/// states what `ptxas` requires.
const NEEDS: &[(&[&str], &[&str], u32)] = &[
    // Matrix products.
    (&["mma"], &["m16n8k4"], 80),
    (&["mma"], &["m16n8k16"], 80),
    (&["mma"], &["m16n8k32"], 80),
    (&["mma"], &["m16n8k64"], 80),
    (&["mma"], &["m16n8k128"], 80),
    (&["mma"], &["m16n8k256"], 80),
    (&["mma", "wmma"], &["bf16"], 80),
    (&["mma", "wmma"], &["tf32"], 80),
    (&["mma", "wmma"], &["f64"], 80),
    (&["mma", "wmma"], &["and"], 80),
    (&["mma"], &["sp"], 80),
    (&["mma"], &["sp::ordered_metadata"], 80),
    (&["mma"], &["e4m3"], 89),
    (&["mma"], &["e5m2"], 89),
    (&["mma"], &["m16n8k4", "f64"], 90),
    (&["mma"], &["m16n8k8", "f64"], 90),
    (&["mma"], &["m16n8k16", "f64"], 90),
    (&["stmatrix"], &[], 90),
    // Copies and barriers in shared memory.
    (&["cp"], &["async"], 80),
    (&["cp"], &["bulk"], 90),
    (&["tensormap"], &[], 90),
    (&["st", "red"], &["async"], 90),
    (&["mbarrier"], &[], 80),
    (&["mbarrier"], &["try_wait"], 90),
    (&["mbarrier"], &["expect_tx"], 90),
    (&["mbarrier"], &["complete_tx"], 90),
    // Clusters.
    (&["barrier"], &["cluster"], 90),
    (&["mapa", "getctarank", "elect", "griddepcontrol"], &[], 90),
    (&["ld", "st", "atom", "red", "fence", "mbarrier"], &["cluster"], 90),
    (&[], &["shared::cluster"], 90),
    // Memory.
    (&["createpolicy", "applypriority", "discard"], &[], 80),
    (&["ld", "st", "atom", "red"], &["L2::cache_hint"], 80),
    (&["prefetch"], &["L2::evict_last"], 80),
    (&["prefetch"], &["L2::evict_normal"], 80),
    (&["prefetch"], &["tensormap"], 90),
    (&["fence"], &["proxy", "async"], 90),
    (&["fence"], &["async::generic"], 90),
    (&["fence"], &["tensormap::generic"], 90),
    (&["fence"], &["mbarrier_init"], 90),
    (&["fence"], &["acquire"], 90),
    (&["fence"], &["release"], 90),
    (&["atom", "red"], &["bf16"], 90),
    (&["atom", "red"], &["bf16x2"], 90),
    (&["atom", "red"], &["b128"], 90),
    (&["atom", "red"], &["v2"], 90),
    (&["atom", "red"], &["v4"], 90),
    (&["atom", "red"], &["v8"], 90),
    // Across lanes.
    (&["redux"], &[], 80),
    // Arithmetic.
    (&["tanh", "ex2", "add", "sub", "mul", "setp", "set"], &["bf16"], 90),
    (&["tanh", "ex2", "add", "sub", "mul", "setp", "set"], &["bf16x2"], 90),
    (&["abs", "neg", "min", "max", "fma"], &["bf16"], 80),
    (&["abs", "neg", "min", "max", "fma"], &["bf16x2"], 80),
    (&["min", "max"], &["f16"], 80),
    (&["min", "max"], &["f16x2"], 80),
    (&["min", "max"], &["NaN"], 80),
    (&["min", "max"], &["xorsign"], 86),
    (&["add", "min", "max"], &["s16x2"], 90),
    (&["add", "min", "max"], &["u16x2"], 90),
    (&["min", "max"], &["relu"], 90),
    (&["fma"], &["relu"], 80),
    (&["fma"], &["oob"], 90),
    // Conversions.
    (&["cvt"], &["relu"], 80),
    (&["cvt"], &["bf16"], 80),
    (&["cvt"], &["bf16x2"], 80),
    (&["cvt"], &["f16x2"], 80),
    (&["cvt"], &["tf32"], 80),
    (&["cvt"], &["rn", "tf32"], 90),
    (&["cvt"], &["rz", "tf32"], 90),
    (&["cvt"], &["e4m3x2"], 89),
    (&["cvt"], &["e5m2x2"], 89),
    // Blackwell.
    (&["cvt"], &["satfinite", "tf32", "!rna"], 100),
    (&[], &["f32x2"], 100),
];

/// The number of the target that the instruction needs, if it is newer than the module's.
pub(super) fn missing(c: &Context<'_, '_>, op: &Op) -> Option<u32> {
    let fits = NEEDS.iter().filter(|(opcodes, modifiers, _)| c.is_one_of(opcodes, modifiers));
    let rows = fits.map(|&(_, _, target)| target);
    let by_operands = match *op {
        Op::Ternary { op: TernaryOp::Minimum3 { .. } | TernaryOp::Maximum3 { .. }, .. } => Some(100),
        Op::Convert { to: Type::F32, from: Type::Bf16, mode, .. } => mode.flush_subnormals.then_some(90),
        Op::Convert { to: Type::Bf16, from: Type::F32, .. } => None,
        Op::Convert { to: Type::Bf16, .. } | Op::Convert { from: Type::Bf16, .. } => Some(90),
        _ => None,
    };
    let needed = rows.chain(by_operands).max()?;
    (needed > c.environment.module.target).then_some(needed)
}

/// The same for a special register.
pub(super) fn missing_register(special: Special, target: u32) -> Option<u32> {
    use Special::*;
    let needed = match special {
        ClusterIndex(_) | ClusterCount(_) | BlockIndexInCluster(_) | ClusterSize(_) => 90,
        BlockRankInCluster | ClusterBlocks | IsExplicitCluster | AggregateSharedSize => 90,
        ReservedShared => 80,
        _ => 0,
    };
    (needed > target).then_some(needed)
}
