//! Atomic operations on each type, in each scope and in both memories.

use cuda_std::{AtomicSlice, DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, atomic, shared::SharedCell, thread};

/// Every operation on a `u32` in global memory, with the operand `t` in thread `t`. The targets are
/// 10 words, one per operation.
///
/// # Safety
/// `words` has 10 elements.
#[kernel]
pub unsafe fn atomic_words(words: *mut u32) {
    let t = thread::index_1d();
    atomic::add(words, t); // ptx: .global.add.u32
    atomic::min(words.add(1), t); // ptx: .global.min.u32
    atomic::max(words.add(2), t); // ptx: .global.max.u32
    atomic::and(words.add(3), !(1 << t)); // ptx: .global.and.b32
    atomic::or(words.add(4), 1 << t); // ptx: .global.or.b32
    atomic::xor(words.add(5), t); // ptx: .global.xor.b32
    atomic::inc(words.add(6), 7); // ptx: .global.inc.u32
    atomic::dec(words.add(7), 7); // ptx: .global.dec.u32
    atomic::exch(words.add(8), 99); // ptx: .global.exch.b32
    atomic::cas(words.add(9), 5, 6); // ptx: .global.cas.b32
}

/// Every operation of a slice of which threads share the elements; one beyond the end does nothing.
#[kernel(linear)]
pub fn atomic_slice(counts: AtomicSlice<u32>, sums: AtomicSlice<f32>, mut olds: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let t = i.get() as u32;
    counts.add(0, t); // ptx: .global.add.u32
    counts.min(1, t); // ptx: .global.min.u32
    counts.max(2, t); // ptx: .global.max.u32
    counts.exchange(3, 99); // ptx: .global.exch.b32
    sums.add(0, 0.5); // ptx: .global.add.f32
    let (ticket, none) = (counts.add(4, 1), counts.add(counts.len(), 1));
    if let (Some(ticket), None, Some(old)) = (ticket, none, olds.get_mut(i)) {
        *old = ticket;
    }
}

/// The old values: each thread draws a ticket and writes its number.
///
/// # Safety
/// `counter` has one element, `tickets` one for each thread.
#[kernel]
pub unsafe fn atomic_tickets(counter: *mut u32, tickets: *mut u32) {
    let ticket = atomic::add(counter, 1); // ptx: atom.global.add.u32
    *tickets.add(ticket as usize) = thread::index_1d();
}

/// Hands values to the next block: each thread of block 0 leaves its index plus 1, and thread `t`
/// of block 1 takes that of thread `t`. Words of 8 bytes hold flag and value in one.
///
/// # Safety
/// `values` and `taken` have an element for each thread of a block, `flag` is 0, `word` holds 0.
/// There are two blocks.
#[kernel]
pub unsafe fn atomic_hand_over(values: *mut u32, flag: *mut u32, word: *mut u64, taken: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    if thread::block_idx_x() == 0 {
        *values.add(t) = t as u32 + 1;
        thread::sync_threads();
        if t == 0 {
            atomic::store_relaxed(word, 1 << 32 | 100); // ptx: st.relaxed.gpu.global.u64
            atomic::store_release(flag, 1); // ptx: st.release.gpu.global.u32
        }
    } else {
        if t == 0 {
            while atomic::load_acquire(flag) == 0 {} // ptx: ld.acquire.gpu.global.u32
            atomic::store_relaxed(flag, 2); // ptx: st.relaxed.gpu.global.u32
        }
        thread::sync_threads();
        let offset = atomic::load_relaxed(word) as u32; // ptx: ld.relaxed.gpu.global.u64
        *taken.add(t) = *values.add(t) + offset;
    }
}

/// Signed and 64-bit integers, and floats, in global memory.
///
/// # Safety
/// `signed` and `wide` have 5 elements, `wide_signed` 3, `float` and `double` 2.
#[kernel]
pub unsafe fn atomic_types(signed: *mut i32, wide: *mut u64, wide_signed: *mut i64, float: *mut f32, double: *mut f64) {
    let t = thread::index_1d();
    let negative = -t.cast_signed();
    atomic::add(signed, negative);
    atomic::min(signed.add(1), negative); // ptx: .global.min.s32
    atomic::max(signed.add(2), negative); // ptx: .global.max.s32
    atomic::exch(signed.add(3), -99);
    atomic::cas(signed.add(4), -5, -6);
    atomic::add(wide, 1 << 40); // ptx: .global.add.u64
    atomic::max(wide.add(1), u64::from(t) << 32); // ptx: .global.max.u64
    atomic::or(wide.add(2), 1 << t); // ptx: .global.or.b64
    atomic::exch(wide.add(3), 1 << 50); // ptx: .global.exch.b64
    atomic::cas(wide.add(4), 5, 1 << 51); // ptx: .global.cas.b64
    atomic::add(wide_signed, -1);
    atomic::min(wide_signed.add(1), i64::from(negative)); // ptx: .global.min.s64
    atomic::max(wide_signed.add(2), i64::from(negative)); // ptx: .global.max.s64
    atomic::add(float, 0.5); // ptx: .global.add.f32
    atomic::exch(float.add(1), 2.5);
    atomic::add(double, 0.25); // ptx: .global.add.f64
    atomic::cas(double.add(1), 1.5, 3.5);
}

/// In shared memory: a histogram of four bins, and a sum of floats.
///
/// # Safety
/// Blocks of at least 32 threads; `input` has an element for each thread, `bins` 4 and `sum` one
/// for each block.
#[kernel]
pub unsafe fn atomic_shared(input: *const u32, bins: *mut u32, sum: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let block = thread::block_idx_x() as usize;
    #[address_space(shared)]
    static COUNTS: SharedCell<[u32; 4]> = SharedCell::uninit();
    let counts = COUNTS.as_mut_ptr().cast::<u32>();
    #[address_space(shared)]
    static TOTAL: SharedCell<f32> = SharedCell::uninit();
    let total = TOTAL.as_mut_ptr();
    if t < 4 {
        *counts.add(t) = 0;
        *total = 0.0;
    }
    thread::sync_threads();
    let value = *input.add(thread::index_1d() as usize);
    atomic::add(counts.add((value % 4) as usize), 1); // ptx: .shared.add.u32
    atomic::add(total, value as f32); // ptx: .shared.add.f32
    thread::sync_threads();
    if t < 4 {
        *bins.add(4 * block + t) = *counts.add(t);
        *sum.add(block) = *total;
    }
}

/// Every operation for the block and for the system: the same 8 words as those of [`atomic_words`],
/// without the counters, first for the one and then for the other; and a double each.
///
/// # Safety
/// `words` has 16 elements, `doubles` 2.
#[kernel]
pub unsafe fn atomic_scopes(words: *mut u32, doubles: *mut f64) {
    let t = thread::index_1d();
    {
        use atomic::block::{add, and, cas, exch, max, min, or, xor};
        add(words, t); // ptx: atom.cta.global.add.u32
        min(words.add(1), t); // ptx: atom.cta.global.min.u32
        max(words.add(2), t); // ptx: atom.cta.global.max.u32
        and(words.add(3), !(1 << t)); // ptx: atom.cta.global.and.b32
        or(words.add(4), 1 << t); // ptx: atom.cta.global.or.b32
        xor(words.add(5), t); // ptx: atom.cta.global.xor.b32
        exch(words.add(6), 99); // ptx: atom.cta.global.exch.b32
        cas(words.add(7), 5, 6); // ptx: atom.cta.global.cas.b32
        add(doubles, 0.25); // ptx: atom.cta.global.add.f64
    }
    let words = words.add(8);
    {
        use atomic::system::{add, and, cas, exch, max, min, or, xor};
        add(words, t); // ptx: atom.sys.global.add.u32
        min(words.add(1), t); // ptx: atom.sys.global.min.u32
        max(words.add(2), t); // ptx: atom.sys.global.max.u32
        and(words.add(3), !(1 << t)); // ptx: atom.sys.global.and.b32
        or(words.add(4), 1 << t); // ptx: atom.sys.global.or.b32
        xor(words.add(5), t); // ptx: atom.sys.global.xor.b32
        exch(words.add(6), 99); // ptx: atom.sys.global.exch.b32
        cas(words.add(7), 5, 6); // ptx: atom.sys.global.cas.b32
        add(doubles.add(1), 0.25); // ptx: atom.sys.global.add.f64
    }
}

/// A sum in the module's own memory, which stays 0.
#[gpu_only]
static TOTAL: atomic::AtomicF32 = atomic::AtomicF32::new(0.0);

/// Floats as atomic types: adds a half to one and takes a quarter from the other, counts with both
/// fences, and copies a flag.
///
/// # Safety
/// `floats` has 3 elements, `doubles` 1.
#[kernel]
pub unsafe fn atomic_float_types(floats: *mut f32, doubles: *mut f64) {
    use atomic::{AtomicF32, AtomicF64};
    use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
    AtomicF32::from_ptr(floats).fetch_add(0.5, Relaxed); // ptx: atom.global.add.f32
    AtomicF64::from_ptr(doubles).fetch_sub(0.25, AcqRel); // ptx: membar.gl
    let flag = AtomicF32::from_ptr(floats.add(1)).swap(3.0, Relaxed);
    AtomicF32::from_ptr(floats.add(2)).store(flag.max(3.0), Release);
    assert!(AtomicF32::from_ptr(floats.add(2)).load(Acquire) >= TOTAL.fetch_add(0.0, Relaxed));
}
