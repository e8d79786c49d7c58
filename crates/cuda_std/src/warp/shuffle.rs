//! Shuffles: a lane reads a register of another lane (PTX manual, `shfl.sync`).

use crate::intrinsics;

/// Gives each lane the `value` of the lane `delta` below it (`shfl.sync.up`).
///
/// `width`, a power of two up to 32, divides the warp into parts that shuffle among themselves.
/// Returns the value and whether the lane to read from is in the same part; if not, the lane gets
/// its own value.
///
/// # Panics
/// Traps if `width` is not a power of two or is above 32.
///
/// # Safety
/// Every lane of `mask` executes this call with this mask, and the lane read from is among them.
#[inline(always)]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    // The lower bound of the lane to read from, which for `up` is the first of the part.
    let clamp = segment(width);
    value.shuffle(|word| intrinsics::shfl_up(mask, word, delta, clamp))
}

/// Gives each lane the `value` of the lane `delta` above it (`shfl.sync.down`).
///
/// `width`, a power of two up to 32, divides the warp into parts that shuffle among themselves.
/// Returns the value and whether the lane to read from is in the same part; if not, the lane gets
/// its own value.
///
/// # Panics
/// Traps if `width` is not a power of two or is above 32.
///
/// # Safety
/// Every lane of `mask` executes this call with this mask, and the lane read from is among them.
#[inline(always)]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    let clamp = segment(width) | LAST;
    value.shuffle(|word| intrinsics::shfl_down(mask, word, delta, clamp))
}

/// Gives each lane the `value` of lane `index` of its part (`shfl.sync.idx`).
///
/// `width`, a power of two up to 32, divides the warp into parts that shuffle among themselves; the
/// index counts modulo `width`. Returns the value and whether the index was below `width`.
///
/// # Panics
/// Traps if `width` is not a power of two or is above 32.
///
/// # Safety
/// Every lane of `mask` executes this call with this mask, and the lane read from is among them.
#[inline(always)]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(mask: u32, value: T, index: u32, width: u32) -> (T, bool) {
    let clamp = segment(width) | LAST;
    value.shuffle(|word| intrinsics::shfl_idx(mask, word, index, clamp))
}

/// Gives each lane the `value` of the lane whose number differs in exactly the bits of `lane_mask`
/// (`shfl.sync.bfly`).
///
/// `width`, a power of two up to 32, divides the warp into parts; a lane may read from its own part
/// and those below. Returns the value and whether it may; if not, the lane gets its own value.
///
/// # Panics
/// Traps if `width` is not a power of two or is above 32.
///
/// # Safety
/// Every lane of `mask` executes this call with this mask, and the lane read from is among them.
#[inline(always)]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    let clamp = segment(width) | LAST;
    value.shuffle(|word| intrinsics::shfl_xor(mask, word, lane_mask, clamp))
}

/// The clamp of `shfl` for its last lane: bits 0 to 4 of operand c.
const LAST: u32 = 31;

/// The mask of the lane bits that stay fixed if the warp is divided into parts of `width`: bits 8
/// to 12 of operand c.
#[inline(always)]
fn segment(width: u32) -> u32 {
    assert!(width.is_power_of_two() && width <= 32);
    (32 - width) << 8
}

/// A value that lanes can shuffle: any number of up to 64 bits. Those of 64 bits take two shuffles,
/// smaller ones one.
///
/// # Safety
///
/// [`shuffle`](Self::shuffle) calls `word` as often in each lane, and not in a branch that depends
/// on the lane: all lanes wait for each other there.
pub unsafe trait WarpShuffleValue: Copy {
    /// Shuffles the words of this value with `word`, which returns a word of the other lane and
    /// whether there was one.
    fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool);
}

macro_rules! shuffle_words {
    ($($ty:ty)*) => {$(
        // SAFETY: each lane shuffles the same words.
        unsafe impl WarpShuffleValue for $ty {
            #[inline(always)]
            fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
                let (other, inside) = word(self as u32);
                (other as $ty, inside)
            }
        }
    )*};
}

shuffle_words!(u8 i8 u16 i16 u32 i32);

macro_rules! shuffle_pairs {
    ($($ty:ty)*) => {$(
        // SAFETY: each lane shuffles the same words.
        unsafe impl WarpShuffleValue for $ty {
            #[inline(always)]
            fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
                let (low, inside) = word(self as u32);
                let (high, _) = word((self as u64 >> 32) as u32);
                ((u64::from(high) << 32 | u64::from(low)) as $ty, inside)
            }
        }
    )*};
}

shuffle_pairs!(u64 i64 usize isize);

// SAFETY: as for its bits.
unsafe impl WarpShuffleValue for f32 {
    #[inline(always)]
    fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
        let (bits, inside) = self.to_bits().shuffle(word);
        (Self::from_bits(bits), inside)
    }
}

// SAFETY: as for its bits.
unsafe impl WarpShuffleValue for f64 {
    #[inline(always)]
    fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
        let (bits, inside) = self.to_bits().shuffle(word);
        (Self::from_bits(bits), inside)
    }
}
