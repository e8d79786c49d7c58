//! Which `.target` the modifiers of an instruction need, if [`OLDEST`] does not have them. What its
//! opcode needs is in [`opcodes`](super::opcodes), and what depends on operands in
//! `typing/needs.rs`.
//!
//! What `ptxas` rejects for every target is an error too, even if the manual allows it:
//! `[%rd1-16]`, `[16]` in spaces other than `.local`, and special registers as operands of anything
//! but `mov` and `cvt` between integers.

use super::statement::Statement;

/// `sm_75`, the oldest that NVIDIA's assembler still supports.
pub(crate) const OLDEST: u32 = 75;

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
    // Copies and barriers in shared memory.
    (&["cp"], &["async"], 80),
    (&["cp"], &["bulk"], 90),
    (&["st", "red"], &["async"], 90),
    (&["mbarrier"], &["try_wait"], 90),
    (&["mbarrier"], &["expect_tx"], 90),
    (&["mbarrier"], &["complete_tx"], 90),
    // Clusters.
    (&["barrier"], &["cluster"], 90),
    (&["ld", "st", "atom", "red", "fence", "mbarrier"], &["cluster"], 90),
    (&[], &["shared::cluster"], 90),
    // Memory.
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

/// The oldest target that has the instruction, by its modifiers.
pub(crate) fn of_statement(statement: &Statement<'_>) -> Option<u32> {
    let fits = NEEDS.iter().filter(|(opcodes, modifiers, _)| statement.is_one_of(opcodes, modifiers));
    fits.map(|&(_, _, target)| target).max()
}
