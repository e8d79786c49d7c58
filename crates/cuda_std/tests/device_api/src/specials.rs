//! Special registers, and the ends of threads.

use cuda_std::{gpu_only, kernel};
#[gpu_only]
use cuda_std::{special, thread};

/// Six counts of where and how the thread runs.
///
/// # Safety
/// `output` has six elements for each thread.
#[kernel]
pub unsafe fn special_registers(output: *mut u32) {
    let numbers = [
        special::clock(),             // ptx: %clock;
        special::smid(),              // ptx: %smid
        special::multiprocessors(),   // ptx: %nsmid
        special::warp_slot(),         // ptx: %warpid
        special::warp_slots(),        // ptx: %nwarpid
        special::total_shared_size(), // ptx: %total_smem_size
    ];
    let start = thread::index_1d() as usize * numbers.len();
    for (place, number) in numbers.into_iter().enumerate() {
        *output.add(start + place) = number;
    }
}

/// Cycles and nanoseconds that a sleep takes: never negative, so never above `i64::MAX`.
///
/// # Safety
/// `output` has two elements for each thread.
#[kernel]
pub unsafe fn special_clocks(output: *mut u64) {
    let cycles = special::clock64(); // ptx: %clock64
    let nanoseconds = special::globaltimer(); // ptx: %globaltimer
    thread::nanosleep(1000);
    let start = 2 * thread::index_1d() as usize;
    *output.add(start) = special::clock64() - cycles;
    *output.add(start + 1) = special::globaltimer() - nanoseconds;
}

/// Odd threads end before they write.
///
/// # Safety
/// `output` has an element for each thread.
#[kernel]
pub unsafe fn special_exit(output: *mut u32) {
    let i = thread::index_1d();
    *output.add(i as usize) = 1;
    if i % 2 == 1 {
        special::exit(); // ptx: exit;
    }
    *output.add(i as usize) = 2;
}

/// Traps in the thread whose number is `victim`: by hand for even ones, by a failed assertion for
/// odd ones.
///
/// # Safety
/// `output` has an element for each thread.
#[kernel]
pub unsafe fn special_trap(output: *mut u32, victim: u32) {
    let i = thread::index_1d();
    if i == victim && i % 2 == 0 {
        special::trap(); // ptx: trap;
    }
    assert!(i != victim);
    *output.add(i as usize) = i;
}
