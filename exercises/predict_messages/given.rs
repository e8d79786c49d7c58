//! Which messages may be stale?
//!
//! Block 0 stores a message, 1 in place of 0, and then a flag. Block 1 loads the flag, and then the
//! message. If the flag is 1 and the message is still 0, the message is *stale*. PTX's memory model
//! says which outcomes are possible. No order of all accesses is seen by all threads; it says only
//! which accesses must come before which.
//!
//! - Accesses of a thread to different words have no order for others, unless something asks for
//!   one: a release, an acquire, or a fence.
//! - A release and an acquire of the same flag order what came before the one and what comes after
//!   the other. Both sides are needed. So do fences before the flag's store and after its load.
//! - Each has a scope, which both threads must be in: `.cta` is the block, `.gpu` the device.
//! - Accesses to one word, if they are relaxed or stronger, are seen in one order by everyone. A
//!   word is read as a whole.
//!
//! # Task
//!
//! For each kernel: write 1 if PTX allows block 1 to find the flag set and the message stale, and 0
//! if not. `cargo run -p host -- litmus` answers such questions for any small program.

use cuda_std::prelude::*;

/// The flag is relaxed.
///
/// # Safety
/// `words` has four: message, flag, and what block 1 finds. Two blocks of a thread.
#[kernel(block(1))]
pub unsafe fn relaxed(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        *words = 1;
        atomic::store_relaxed(words.add(1), 1);
    } else {
        *words.add(2) = atomic::load_relaxed(words.add(1));
        *words.add(3) = *words;
    }
}

/// The flag is released, and loaded relaxed.
///
/// # Safety
/// As for [`relaxed`].
#[kernel(block(1))]
pub unsafe fn released(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        *words = 1;
        atomic::store_release(words.add(1), 1);
    } else {
        *words.add(2) = atomic::load_relaxed(words.add(1));
        *words.add(3) = *words;
    }
}

/// The flag is released and acquired.
///
/// # Safety
/// As for [`relaxed`].
#[kernel(block(1))]
pub unsafe fn both_sides(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        *words = 1;
        atomic::store_release(words.add(1), 1);
    } else {
        *words.add(2) = atomic::load_acquire(words.add(1));
        *words.add(3) = *words;
    }
}

/// Two fences for the device.
///
/// # Safety
/// As for [`relaxed`].
#[kernel(block(1))]
pub unsafe fn device_fences(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        *words = 1;
        thread::device_fence();
        atomic::store_relaxed(words.add(1), 1);
    } else {
        *words.add(2) = atomic::load_relaxed(words.add(1));
        thread::device_fence();
        *words.add(3) = *words;
    }
}

/// Two fences for a block.
///
/// # Safety
/// As for [`relaxed`].
#[kernel(block(1))]
pub unsafe fn block_fences(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        *words = 1;
        thread::block_fence();
        atomic::store_relaxed(words.add(1), 1);
    } else {
        *words.add(2) = atomic::load_relaxed(words.add(1));
        thread::block_fence();
        *words.add(3) = *words;
    }
}

/// One word is both: its first bit is the message, its second the flag.
///
/// # Safety
/// As for [`relaxed`].
#[kernel(block(1))]
pub unsafe fn one_word(words: *mut u32) {
    if thread::block_idx_x() == 0 {
        atomic::store_relaxed(words, 3);
    } else {
        let both = atomic::load_relaxed(words);
        *words.add(2) = both >> 1;
        *words.add(3) = both & 1;
    }
}
