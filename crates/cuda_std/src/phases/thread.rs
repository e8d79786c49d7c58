//! A thread within a phase.

use core::marker::PhantomData;

use super::device;
use crate::disjoint::{Position, ThreadIndex};

/// Invariant in `'p`, and neither `Send` nor `Sync`.
type OfThisPhase<'p> = PhantomData<(*const (), fn(&'p ()) -> &'p ())>;

/// A thread of a block of `X` x `Y`, in the phase `'p`.
///
/// It promises that the phase still runs: only the phase makes one, for a lifetime that ends with
/// it. So a reference that was had by a `Thread<'p>` cannot be kept for the next phase.
#[derive(Clone, Copy, Debug)]
pub struct Thread<'p, const X: u32, const Y: u32 = 1> {
    x: u32,
    y: u32,
    phase: OfThisPhase<'p>,
}

impl<const X: u32, const Y: u32> Thread<'_, X, Y> {
    /// The thread's x in the block, below `X`.
    #[inline(always)]
    pub fn x(self) -> u32 {
        self.x
    }

    /// The thread's y in the block, below `Y`.
    #[inline(always)]
    pub fn y(self) -> u32 {
        self.y
    }

    /// The thread's number in the block, `X y + x`, below `X Y`.
    #[inline(always)]
    pub fn number(self) -> u32 {
        X * self.y + self.x
    }

    /// The thread's position in the grid: [`thread::position`](crate::thread::position).
    #[inline(always)]
    pub fn position(self) -> Position {
        device::position()
    }

    /// The thread's index in a linear launch:
    /// [`thread::linear_index`](crate::thread::linear_index).
    #[inline(always)]
    pub fn linear_index(self) -> ThreadIndex {
        device::linear_index()
    }

    /// This thread, in a phase that the caller has begun.
    ///
    /// # Safety
    ///
    /// The block has `X` x `Y` threads, and `'p` ends before the barrier that ends the phase.
    #[inline(always)]
    pub(super) unsafe fn here() -> Self {
        let [x, y] = device::thread_idx();
        // SAFETY: the block has this shape.
        unsafe { core::hint::assert_unchecked(x < X && y < Y) };
        Self { x, y, phase: PhantomData }
    }
}
