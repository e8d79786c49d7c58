//! Tiles in shared memory, and what they may hold.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use super::thread::Thread;
use crate::vector::{f32x2, f32x4, f64x2, i32x2, i32x4, i64x2, u32x2, u32x4, u64x2};

/// An element of a tile: a number, a vector, or an atomic integer.
///
/// # Safety
///
/// Any bits are a valid value, and the alignment is at most 16.
#[diagnostic::on_unimplemented(
    message = "a tile cannot hold a `{Self}`",
    label = "not a number, a vector or an atomic integer",
    note = "shared memory is never initialised, so any bits must be a valid value"
)]
pub unsafe trait Element: 'static {}

macro_rules! elements {
    ($($ty:ty)*) => {
        // SAFETY: any bits are a valid value of each.
        $(unsafe impl Element for $ty {})*
    };
}

elements!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
elements!(f32x2 f32x4 f64x2 u32x2 u32x4 i32x2 i32x4 u64x2 i64x2);
elements!(AtomicU32 AtomicI32 AtomicU64);

/// What a [`Shared`] may be: an array, or an array of rows.
///
/// # Safety
///
/// It consists of [`Element`]s.
#[diagnostic::on_unimplemented(
    message = "a tile cannot be a `{Self}`",
    note = "a tile is an array of elements, `[T; N]`, or of rows, `[[T; COLS]; ROWS]`"
)]
pub unsafe trait Tile: 'static {}

// SAFETY: it consists of elements.
unsafe impl<T: Element, const N: usize> Tile for [T; N] {}
// SAFETY: it consists of elements.
unsafe impl<T: Element, const COLS: usize, const ROWS: usize> Tile for [[T; COLS]; ROWS] {}

/// A tile in shared memory, which threads access in phases only.
///
/// As a parameter of a kernel it is a static of this block; a launch passes nothing for it. It
/// promises that no other `Shared` of the kernel is the same memory, so that `&mut` is exclusive
/// for the whole block, if all its threads name the same tile. That is what the phase's marker
/// makes `cuda_builder` prove.
#[derive(Debug)]
pub struct Shared<T: Tile> {
    tile: *mut T,
    of: PhantomData<T>,
}

impl<T: Tile> Shared<T> {
    /// The tile at this address. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// A `T` fits there, in shared memory, and nothing but this value accesses it.
    #[inline(always)]
    pub unsafe fn new(tile: *mut T) -> Self {
        Self { tile, of: PhantomData }
    }

    /// The tile, for a thread to read in this phase.
    ///
    /// In a phase that writes the tile this does not compile: the phase has borrowed it.
    #[inline(always)]
    pub fn read<'p, const X: u32, const Y: u32>(&self, thread: Thread<'p, X, Y>) -> &'p T {
        let _ = thread;
        // SAFETY: any bits are a value. No thread writes the tile while the phase `'p` runs: the
        // phase would have borrowed it, and all threads name the same tile there.
        unsafe { &*self.tile }
    }

    /// Exchanges two tiles, so that they take turns: what one phase writes, the next one reads.
    ///
    /// `core::mem::swap` does the same as bytes, which may hide from the optimiser that both are in
    /// shared memory. `cuda_builder` refuses such a kernel, whose accesses would be slow.
    #[inline(always)]
    pub fn swap(&mut self, other: &mut Self) {
        (self.tile, other.tile) = (other.tile, self.tile);
    }

    /// The address of the tile.
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut T {
        self.tile
    }
}
