//! What phases need of the device. Kernels do not run on the host: there, phases are compiled so
//! that rustc finds misuse, and tests can show it.

use crate::disjoint::{Position, ThreadIndex};

macro_rules! device_functions {
    ($($(#[$documentation:meta])* fn $name:ident() -> $result:ty = $value:expr;)*) => {$(
        $(#[$documentation])*
        #[inline(always)]
        pub(super) fn $name() -> $result {
            #[cfg(target_arch = "nvptx64")]
            {
                $value
            }
            #[cfg(not(target_arch = "nvptx64"))]
            unreachable!("phases run on a device")
        }
    )*};
}

device_functions! {
    /// The thread's x and y in its block.
    fn thread_idx() -> [u32; 2] = [crate::thread::thread_idx_x(), crate::thread::thread_idx_y()];
    /// The block's row and column in the grid.
    fn block_place() -> [u32; 2] = [crate::thread::block_row(), crate::thread::block_idx_x()];
    /// The block's number in a linear grid; `None` elsewhere.
    fn linear_block() -> Option<u32> = {
        let block = crate::thread::block_idx();
        (block.y | block.z == 0).then_some(block.x)
    };
    /// The thread's position in the grid.
    fn position() -> Position = crate::thread::position();
    /// The thread's index in a linear launch.
    fn linear_index() -> ThreadIndex = crate::thread::linear_index();
    /// Waits for all threads of the block.
    fn barrier() -> () = crate::thread::sync_threads();
}
