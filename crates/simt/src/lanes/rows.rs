//! Rows of registers, how operands name them, and the lanes of a mask. Plain types that every part
//! of the machine uses.

/// All 32 lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// A register of 32 bits or fewer, for the 32 lanes of a warp.
pub(crate) type Row = [u32; 32];

/// A 64-bit register.
pub(crate) type WideRow = [u64; 32];

/// Bit of an operand: it names a row of the constants, not of the current frame.
pub(crate) const FIXED: u32 = 1 << 31;

/// Bit of a predicate operand: negated.
pub(crate) const NEGATED: u32 = 1 << 30;

/// The predicate operand that is false in every lane.
pub(crate) const NEVER: u32 = FIXED;

/// The predicate operand that is true in every lane.
pub(crate) const ALWAYS: u32 = FIXED | NEGATED;

/// The operands of an instruction, mostly row numbers. `d` is written, `a`, `b` and `c` are read,
/// and `e` has a meaning of each handler's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) struct Operands {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub e: u32,
}

/// The active lanes, in rising order.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}

/// The lanes of a mask for which something holds.
pub(crate) fn mask_where(mask: u32, holds: impl Fn(usize) -> bool) -> u32 {
    lanes(mask).filter(|&lane| holds(lane)).fold(0, |mask, lane| mask | 1 << lane)
}
