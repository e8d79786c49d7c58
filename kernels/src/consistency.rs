//! Memory consistency: a block hands a message to another, and a flag says that it is there.
//!
//! A GPU promises no order between accesses to different words unless a release, an acquire or a
//! fence asks for one. So the flag may be seen before the message is, and the reader finds an old
//! message, in one run of a thousand or in every one.
//!
//! | kernel | the flag is | an old message |
//! | --- | --- | --- |
//! | [`consistency_volatile`] | volatile, as in old code | allowed |
//! | [`consistency_relaxed`] | relaxed | allowed |
//! | [`consistency_block_fence`] | relaxed, between fences for the threads of a block | allowed |
//! | [`consistency_device_fence`] | relaxed, between fences for the device | forbidden |
//! | [`consistency_release`] | released and acquired, for the device | forbidden |
//! | [`consistency_packed`] | in one word with the message, relaxed | forbidden |
//!
//! The *scope* of a fence says whose accesses it orders: with a block's, not those of other blocks.
//! The fastest remedy is one word for both, as in the decoupled look-back of a scan: a block adds
//! the sums of the blocks before it, whose flags say whether their sum is there
//! ([`crate::look_back`]).
//!
//! What to look for: in how many orders of blocks (on a GPU: launches) a message is old. The reader
//! first loads the word beside the message, so L1 has both, and a plain load may find them there
//! again: on an H200 in each of 1000 launches. PTX's memory model says what may be (`host litmus`).
//!
//! # Shapes
//!
//! Blocks of one thread, at most 64, so that all are resident: each may wait for another. Nothing
//! is reset between launches: the launch's number is message and flag.
//!
//! Sources: PTX ISA, chapter "Memory Consistency Model"; Lustig, Sahasrabuddhe, Giroux, "A Formal
//! Analysis of the NVIDIA PTX Memory Consistency Model" (ASPLOS 2019); Merrill, Garland,
//! "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA, 2016).

#[cfg(target_arch = "nvptx64")]
use core::ptr::{read_volatile, write_volatile};

#[cfg(target_arch = "nvptx64")]
use cuda_std::atomic::{load_acquire, load_relaxed, store_relaxed, store_release};
#[gpu_only]
use cuda_std::thread::{self, block_fence, device_fence};
use cuda_std::{gpu_only, kernel};

/// Words from the letter of a pair of blocks to the next: three lines of 128 bytes.
pub const LETTER: usize = 96;

/// Where a pair of blocks has its message and its flag.
#[cfg(target_arch = "nvptx64")]
struct Letter {
    message: *mut u32,
    flag: *mut u32,
}

/// Block 2k sends, and block 2k + 1 receives, once the line of the message is in its L1.
#[gpu_only]
#[inline(always)]
unsafe fn pass(
    letters: *mut u32,
    received: *mut u32,
    number: u32,
    send: impl Fn(Letter),
    receive: impl Fn(Letter) -> u32,
) {
    let (block, pair) = (thread::block_idx().x, thread::block_idx().x as usize / 2);
    // SAFETY: the kernel's caller promises room for each pair.
    unsafe {
        let line = letters.add(LETTER * pair);
        let (letter, ready) = (Letter { message: line.add(2), flag: line.add(32) }, line.add(64));
        if block % 2 == 0 {
            while load_relaxed(ready) != number {}
            send(letter);
        } else {
            // The first word is always 0, which the compiler does not know.
            store_relaxed(ready, number + *line);
            *received.add(pair) = receive(letter);
        }
    }
}

/// The flag is volatile.
///
/// # Safety
/// `letters` points to [`LETTER`] words for each pair of blocks, which earlier launches left or 0;
/// `received` to a word for each pair. Nothing else uses them. The blocks are even in number and
/// resident. No earlier launch had this number.
#[kernel(block(1), linear)]
pub unsafe fn consistency_volatile(letters: *mut u32, received: *mut u32, number: u32) {
    let send = |Letter { message, flag }| {
        *message = number;
        write_volatile(flag, number);
    };
    let receive = |Letter { message, flag }| {
        while read_volatile(flag) != number {}
        *message
    };
    pass(letters, received, number, send, receive);
}

/// The flag is relaxed: an atomic access that orders nothing else.
///
/// # Safety
/// As for [`consistency_volatile`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_relaxed(letters: *mut u32, received: *mut u32, number: u32) {
    let send = |Letter { message, flag }| {
        *message = number;
        store_relaxed(flag, number);
    };
    let receive = |Letter { message, flag }| {
        while load_relaxed(flag) != number {}
        *message
    };
    pass(letters, received, number, send, receive);
}

/// With fences, but for the threads of a block alone.
///
/// # Safety
/// As for [`consistency_volatile`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_block_fence(letters: *mut u32, received: *mut u32, number: u32) {
    let send = |Letter { message, flag }| {
        *message = number;
        block_fence();
        store_relaxed(flag, number);
    };
    let receive = |Letter { message, flag }| {
        while load_relaxed(flag) != number {}
        block_fence();
        *message
    };
    pass(letters, received, number, send, receive);
}

/// With fences for all threads of the device.
///
/// # Safety
/// As for [`consistency_volatile`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_device_fence(letters: *mut u32, received: *mut u32, number: u32) {
    let send = |Letter { message, flag }| {
        *message = number;
        device_fence();
        store_relaxed(flag, number);
    };
    let receive = |Letter { message, flag }| {
        while load_relaxed(flag) != number {}
        device_fence();
        *message
    };
    pass(letters, received, number, send, receive);
}

/// The store of the flag releases what came before, and the load acquires it.
///
/// # Safety
/// As for [`consistency_volatile`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_release(letters: *mut u32, received: *mut u32, number: u32) {
    let send = |Letter { message, flag }| {
        *message = number;
        store_release(flag, number);
    };
    let receive = |Letter { message, flag }| {
        while load_acquire(flag) != number {}
        *message
    };
    pass(letters, received, number, send, receive);
}

/// Message and flag are one word of 64 bits: there is nothing to order.
///
/// # Safety
/// As for [`consistency_volatile`].
#[kernel(block(1), linear)]
pub unsafe fn consistency_packed(letters: *mut u32, received: *mut u32, number: u32) {
    let send =
        |Letter { message, .. }| store_relaxed(message.cast::<u64>(), packed(number, number));
    let receive = |Letter { message, .. }| loop {
        let word = load_relaxed(message.cast::<u64>());
        if (word >> 32) as u32 == number {
            break word as u32;
        }
    };
    pass(letters, received, number, send, receive);
}

/// A flag and a value in one word.
#[gpu_only]
#[inline(always)]
pub(crate) fn packed(flag: u32, value: u32) -> u64 {
    u64::from(flag) << 32 | u64::from(value)
}
