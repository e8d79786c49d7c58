//! An index that is not the thread's own. `tests/compile_fail.rs` expects the compiler to reject it.

//~ E0451

use core::marker::PhantomData;
use cuda_std::disjoint::ThreadIndex;

fn main() {
    let _ = ThreadIndex { index: 5, thread: PhantomData };
}
