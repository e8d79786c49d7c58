//! The block, and the phases that it runs.

use core::marker::PhantomData;

use super::own::Tiles;
use super::shared::{Element, Shared};
use super::thread::Thread;
use super::{device, marker};

/// The block of a kernel, of `X` x `Y` threads: the shape that `#[kernel(block(X, Y))]` declares.
///
/// As a parameter of a kernel it is made by `#[kernel]`, once; a launch passes nothing for it. It
/// promises that phases do not overlap: a phase borrows it mutably for as long as it runs.
///
/// Code between phases runs in every thread of the block, and has to run in all of them alike: a
/// phase in a branch or a loop that depends on the thread is an error of `cuda_builder`.
#[derive(Debug)]
pub struct Block<const X: u32, const Y: u32 = 1>(PhantomData<*mut ()>);

impl<const X: u32, const Y: u32> Block<X, Y> {
    /// The block. `#[kernel]` calls this.
    ///
    /// # Safety
    ///
    /// A kernel calls this once, in all threads of a block of `X` x `Y`.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self(PhantomData)
    }

    /// A phase in which each thread reads and writes what it owns of some tiles, and may read
    /// others. Then all wait.
    ///
    /// The closure cannot read the tiles that it writes, but for what the thread owns: they are
    /// borrowed.
    #[inline(always)]
    pub fn update<W: Tiles>(&mut self, mut tiles: W, run: impl for<'p> FnOnce(Thread<'p, X, Y>, W::Own<'p, X, Y>)) {
        tiles.mark();
        self.phase(|thread| {
            // SAFETY: this is a phase, and the tiles are marked.
            run(thread, unsafe { tiles.own(thread) });
        });
    }

    /// A phase in which each thread gives the value of every element of an array that it owns, from
    /// the element's index. Then all wait.
    #[inline(always)]
    pub fn fill<T: Element, const N: usize>(
        &mut self,
        array: &mut Shared<[T; N]>,
        mut value: impl for<'p> FnMut(Thread<'p, X, Y>, u32) -> T,
    ) {
        self.update(array, |thread, mut own| own.each(|index, element| *element = value(thread, index)));
    }

    /// A phase in which the first thread of each warp gives the value of the warp's element of an
    /// array. Then all wait.
    #[inline(always)]
    pub fn fill_by_warp<T: Element, const WARPS: usize>(
        &mut self,
        array: &mut Shared<[T; WARPS]>,
        value: impl for<'p> FnOnce(Thread<'p, X, Y>) -> T,
    ) {
        const { assert!(WARPS * 32 == X as usize * Y as usize, "the array has one element for each warp of the block") }
        let start = array.as_mut_ptr().cast::<T>();
        marker::uniform(start.cast_const().cast());
        self.phase(|thread| {
            let (warp, lane) = (thread.number() as usize / 32, thread.number() % 32);
            if lane == 0 {
                // SAFETY: the array has an element for each warp, and only the warp's first thread
                // is here.
                unsafe { *start.add(warp) = value(thread) };
            }
        });
    }

    /// A phase in which all threads read tiles. Then all wait, so that the next phase may write
    /// them.
    #[inline(always)]
    pub fn each(&mut self, run: impl for<'p> FnOnce(Thread<'p, X, Y>)) {
        self.phase(run);
    }

    /// A phase of a reduction: the first `distance` threads own a pair of elements each, `distance`
    /// apart. Then all wait.
    ///
    /// Thread `t` gets elements `t` and `t + distance`, for `t < distance`; threads without a pair
    /// in the array do nothing. No element is in two pairs.
    #[inline(always)]
    pub fn pairs<T: Element, const N: usize>(
        &mut self,
        array: &mut Shared<[T; N]>,
        distance: u32,
        run: impl for<'p> FnOnce(&'p mut T, &'p T),
    ) {
        let start = array.as_mut_ptr().cast::<T>();
        marker::uniform(start.cast_const().cast());
        marker::uniform_number(distance);
        self.phase(|thread| {
            let (first, distance) = (thread.number() as usize, distance as usize);
            if first < distance && first + distance < N {
                // SAFETY: the array has both. As all threads have the same distance, `first` is
                // below it and `first + distance` is not, no element is in the pairs of two
                // threads. `run` cannot keep the references.
                run(unsafe { &mut *start.add(first) }, unsafe { &*start.add(first + distance) });
            }
        });
    }

    /// The last phase, in which all threads read tiles. Nobody waits: no phase follows.
    #[inline(always)]
    pub fn finish(self, run: impl for<'p> FnOnce(Thread<'p, X, Y>)) {
        marker::reached();
        // SAFETY: the block has this shape. No phase follows, so what `run` reads is not written
        // any more.
        run(unsafe { Thread::here() });
    }

    /// A phase: `run`, and the barrier.
    #[inline(always)]
    fn phase(&mut self, run: impl for<'p> FnOnce(Thread<'p, X, Y>)) {
        marker::reached();
        // SAFETY: the block has this shape, and `run` has returned before the barrier.
        run(unsafe { Thread::here() });
        device::barrier();
    }
}
