//! Who owns which elements of a tile.
//!
//! *Invariant:* the owner of an element depends on the tile's type and the block's shape alone.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use super::marker;
use super::shared::{Element, Shared, Tile};
use super::thread::Thread;

/// The elements of a tile that belong to a thread of a block of `X` x `Y`, in the phase `'p`.
///
/// | tile | what thread (x, y) owns |
/// | --- | --- |
/// | `[T; N]` | elements `t`, `t + X Y`, ... for its number `t` in the block |
/// | `[[T; COLS]; ROWS]` | of column `x`, rows `y`, `y + Y`, ... |
///
/// With `Y` = 1 a thread owns its whole column. Columns from `X` on belong to nobody: they are
/// padding.
///
/// It promises that no other thread reaches these elements in this phase: each has one owner, and a
/// phase makes one `Own` for each thread, which cannot be copied.
#[derive(Debug)]
pub struct Own<'p, T, const X: u32, const Y: u32> {
    tile: *mut T,
    thread: Thread<'p, X, Y>,
    elements: PhantomData<&'p mut T>,
}

impl<'p, T: Element, const N: usize, const X: u32, const Y: u32> Own<'p, [T; N], X, Y> {
    const THREADS: usize = X as usize * Y as usize;

    /// Visits each element that the thread owns, with its index.
    #[inline(always)]
    pub fn each(&mut self, mut visit: impl FnMut(u32, &mut T)) {
        // Whole rounds of the block need no check.
        for step in 0..N / Self::THREADS {
            let index = self.thread.number() as usize + step * Self::THREADS;
            // SAFETY: the array has the element: a thread's number is below `THREADS`.
            visit(index as u32, unsafe { self.element(index) });
        }
        let index = self.thread.number() as usize + N / Self::THREADS * Self::THREADS;
        if index < N {
            // SAFETY: the array has the element.
            visit(index as u32, unsafe { self.element(index) });
        }
    }

    /// The thread's element, of an array with one for each thread.
    #[inline(always)]
    pub fn one(self) -> &'p mut T {
        const { assert!(N == Self::THREADS, "the array has one element for each thread of the block") }
        // SAFETY: a thread's number is below `THREADS`. The reference lives no longer than the
        // phase.
        unsafe { &mut *self.tile.cast::<T>().add(self.thread.number() as usize) }
    }

    /// An element of the thread.
    ///
    /// # Safety
    ///
    /// It is in the array, and the thread's.
    #[inline(always)]
    unsafe fn element(&mut self, index: usize) -> &mut T {
        // SAFETY: the caller says that it is there, and no other thread has it.
        unsafe { &mut *self.tile.cast::<T>().add(index) }
    }
}

impl<'p, T: Element, const COLS: usize, const ROWS: usize, const X: u32, const Y: u32>
    Own<'p, [[T; COLS]; ROWS], X, Y>
{
    const FITS: () = assert!(X as usize <= COLS, "the tile has a column for each x of the block");

    /// Visits each element that the thread owns, with its row.
    #[inline(always)]
    pub fn each(&mut self, mut visit: impl FnMut(u32, &mut T)) {
        // Whole rounds of the block need no check.
        for step in 0..ROWS as u32 / Y {
            let row = self.thread.y() + step * Y;
            // SAFETY: the tile has the row: a thread's y is below `Y`.
            visit(row, unsafe { &mut *self.element(row) });
        }
        let row = self.thread.y() + ROWS as u32 / Y * Y;
        if row < ROWS as u32 {
            // SAFETY: the tile has the row.
            visit(row, unsafe { &mut *self.element(row) });
        }
    }

    /// The thread's element, of a tile with one for each thread.
    #[inline(always)]
    pub fn one(self) -> &'p mut T {
        const { assert!(ROWS == Y as usize, "the tile has a row for each y of the block") }
        const { Self::FITS }
        let (x, y) = (self.thread.x() as usize, self.thread.y() as usize);
        // SAFETY: the tile has the element. The reference lives no longer than the phase.
        unsafe { &mut *self.tile.cast::<[T; COLS]>().add(y).cast::<T>().add(x) }
    }

    /// The thread's element of a row, or `None` if the row is another thread's or beyond the tile.
    ///
    /// An index (`own[row]`) asserts that it is there, which costs nothing where the compiler can
    /// prove it.
    #[inline(always)]
    pub fn get_mut(&mut self, row: u32) -> Option<&mut T> {
        // SAFETY: the tile has the row, and the thread owns it.
        if self.has(row) { Some(unsafe { &mut *self.element(row) }) } else { None }
    }

    /// Whether the row is in the tile, and the thread's.
    #[inline(always)]
    fn has(&self, row: u32) -> bool {
        row < ROWS as u32 && row % Y == self.thread.y()
    }

    /// The thread's element of a row. No other thread has this row of this column.
    ///
    /// # Safety
    ///
    /// The row is in the tile, and the thread's.
    #[inline(always)]
    unsafe fn element(&self, row: u32) -> *mut T {
        const { Self::FITS }
        // SAFETY: the caller says that the row is there, and the tile has the column.
        unsafe { self.tile.cast::<[T; COLS]>().add(row as usize).cast::<T>().add(self.thread.x() as usize) }
    }
}

impl<T: Element, const COLS: usize, const ROWS: usize, const X: u32, const Y: u32> Index<u32>
    for Own<'_, [[T; COLS]; ROWS], X, Y>
{
    type Output = T;

    /// The thread's element of a row.
    ///
    /// # Panics
    ///
    /// If the row is another thread's or beyond the tile.
    #[inline(always)]
    fn index(&self, row: u32) -> &T {
        assert!(self.has(row), "not the thread's row");
        // SAFETY: the tile has the row, and the thread owns it.
        unsafe { &*self.element(row) }
    }
}

impl<T: Element, const COLS: usize, const ROWS: usize, const X: u32, const Y: u32> IndexMut<u32>
    for Own<'_, [[T; COLS]; ROWS], X, Y>
{
    #[inline(always)]
    fn index_mut(&mut self, row: u32) -> &mut T {
        assert!(self.has(row), "not the thread's row");
        // SAFETY: the tile has the row, and the thread owns it.
        unsafe { &mut *self.element(row) }
    }
}

/// The tiles that one phase writes: `&mut a`, `(&mut a, &mut b)`, or three.
pub trait Tiles: private::Sealed {
    /// What a thread owns of them.
    type Own<'p, const X: u32, const Y: u32>;

    /// Says to the builder that all threads name the same tiles.
    #[doc(hidden)]
    fn mark(&mut self);

    /// What this thread owns of them.
    ///
    /// # Safety
    ///
    /// A phase calls this once in each thread, after [`mark`](Self::mark).
    #[doc(hidden)]
    unsafe fn own<const X: u32, const Y: u32>(self, thread: Thread<'_, X, Y>) -> Self::Own<'_, X, Y>;
}

impl<T: Tile> Tiles for &mut Shared<T> {
    type Own<'p, const X: u32, const Y: u32> = Own<'p, T, X, Y>;

    #[inline(always)]
    fn mark(&mut self) {
        marker::uniform(self.as_mut_ptr().cast_const().cast());
    }

    #[inline(always)]
    unsafe fn own<'p, const X: u32, const Y: u32>(self, thread: Thread<'p, X, Y>) -> Own<'p, T, X, Y> {
        Own { tile: self.as_mut_ptr(), thread, elements: PhantomData }
    }
}

macro_rules! several {
    ($($tiles:ident $place:tt)*) => {
        impl<$($tiles: Tiles),*> Tiles for ($($tiles,)*) {
            type Own<'p, const X: u32, const Y: u32> = ($($tiles::Own<'p, X, Y>,)*);

            #[inline(always)]
            fn mark(&mut self) {
                $(self.$place.mark();)*
            }

            #[inline(always)]
            unsafe fn own<'p, const X: u32, const Y: u32>(self, thread: Thread<'p, X, Y>) -> Self::Own<'p, X, Y> {
                // SAFETY: the same promise.
                unsafe { ($(self.$place.own(thread),)*) }
            }
        }

        impl<$($tiles: Tiles),*> private::Sealed for ($($tiles,)*) {}
    };
}

several!(A 0 B 1);
several!(A 0 B 1 C 2);

mod private {
    pub trait Sealed {}

    impl<T: super::Tile> Sealed for &mut super::Shared<T> {}
}
