//! Phases of warps: lanes that combine their values by shuffles.

use super::block::Block;
use super::marker;
use super::thread::Thread;
use crate::warp::{WarpShuffleValue, warp_reduce_first};

impl<const X: u32, const Y: u32> Block<X, Y> {
    const WHOLE_WARPS: () = assert!((X * Y).is_multiple_of(32), "the block consists of whole warps");

    /// Combines the `value`s of each warp's lanes. Lane 0 gets the result; the other lanes get
    /// partial results. Lanes wait for each other, warps do not.
    ///
    /// Safe, since all threads of the block come here.
    #[inline(always)]
    pub fn warp_reduce<T: WarpShuffleValue>(&mut self, value: T, combine: impl Fn(T, T) -> T) -> T {
        const { Self::WHOLE_WARPS }
        marker::reached();
        // SAFETY: all threads of the block are here, in whole warps. `cuda_builder` refuses a
        // `combine` that ends some of them.
        unsafe { warp_reduce_first(value, combine) }
    }

    /// The last phase, in which only the first warp works: its lanes read tiles for a `value` each,
    /// which they combine. `run` gets the result in lane 0, and partial results in the other lanes.
    #[inline(always)]
    pub fn finish_in_warp<T: WarpShuffleValue>(
        self,
        value: impl for<'p> FnOnce(Thread<'p, X, Y>) -> T,
        combine: impl Fn(T, T) -> T,
        run: impl for<'p> FnOnce(Thread<'p, X, Y>, T),
    ) {
        const { Self::WHOLE_WARPS }
        self.finish(|thread| {
            if thread.number() < 32 {
                let value = value(thread);
                // SAFETY: all lanes of the first warp are here. `cuda_builder` refuses a `value` or
                // `combine` that ends some of them.
                run(thread, unsafe { warp_reduce_first(value, combine) });
            }
        });
    }
}
