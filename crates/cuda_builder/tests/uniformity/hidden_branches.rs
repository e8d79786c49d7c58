//! Barriers behind what the source does not show as a branch on the thread: operators, closures,
//! traits, destructors, addresses, statics.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;

trait Run {
    fn run(&self);
}

struct Waits;
struct Passes;

impl Run for Waits {
    fn run(&self) {
        thread::sync_threads();
    }
}

impl Run for Passes {
    fn run(&self) {}
}

fn waits() {
    thread::sync_threads();
}

#[inline(never)]
fn passes() {}

#[kernel]
pub fn hidden_dynamic() {
    let what: &dyn Run = if thread::thread_idx_x() > 3 { &Waits } else { &Passes };
    what.run(); //~ cannot be inlined
}

#[kernel]
pub fn hidden_table() {
    static TABLE: [fn(); 2] = [waits, passes];
    TABLE[(thread::thread_idx_x() & 1) as usize](); //~ cannot be inlined
}

#[kernel]
pub fn hidden_question_mark() {
    let run = || -> Option<u32> {
        let x = thread::thread_idx_x().checked_sub(3)?;
        thread::sync_threads(); //~ not all threads of a block may reach
        Some(x)
    };
    let _ = run();
}

#[kernel]
pub fn hidden_match() {
    let value = match thread::thread_idx_x() {
        0 => Some(1_u32),
        7 => Some(2),
        _ => None,
    };
    if let Some(1) | None = value {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
}

#[kernel]
pub fn hidden_iterator() {
    let odd = |i: &u32| i % 2 == thread::thread_idx_x() % 2;
    (0..10_u32).filter(odd).for_each(|_| thread::sync_threads()); //~ not all threads of a block may reach
}

#[kernel]
pub fn hidden_short_circuit() {
    let _ = thread::thread_idx_x() > 3 && {
        thread::sync_threads(); //~ not all threads of a block may reach
        true
    };
}

#[kernel]
pub fn hidden_destructor() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            thread::sync_threads(); //~ not all threads of a block may reach
        }
    }
    let last = Last;
    if thread::thread_idx_x() == 0 {
        core::mem::forget(last);
    }
}

#[kernel]
pub fn hidden_address() {
    let value = thread::thread_idx_x();
    let place = &raw const value as usize;
    if (place / 64).is_multiple_of(2) {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
    let _ = core::hint::black_box(&value);
}

#[kernel]
pub fn hidden_static() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if COUNT.load(Ordering::Relaxed) == 0 {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
    COUNT.store(thread::thread_idx_x(), Ordering::Relaxed);
}

#[kernel]
pub fn hidden_cell() {
    let cell = RefCell::new(0_u32);
    *cell.borrow_mut() = thread::thread_idx_x();
    if *cell.borrow() > 1 {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
}

#[kernel]
pub fn hidden_multiprocessor() {
    if special::smid().is_multiple_of(2) {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
}

#[kernel]
pub fn hidden_black_box() {
    if core::hint::black_box(1_u32) == 1 {
        thread::sync_threads(); //~ not all threads of a block may reach
    }
}

#[kernel]
pub fn hidden_associated_constant() {
    trait Rounds {
        const ROUNDS: u32;
        fn run() {
            for _ in 0..Self::ROUNDS + thread::thread_idx_x() {
                thread::sync_threads(); //~ not all threads of a block may reach
            }
        }
    }
    struct Two;
    impl Rounds for Two {
        const ROUNDS: u32 = 2;
    }
    Two::run();
}

#[kernel]
pub fn hidden_length(mut output: DisjointSlice<u32>) {
    for i in thread::grid_stride(output.len()) {
        thread::sync_threads(); //~ not all threads of a block may reach
        if let Some(output) = output.get_mut(i) {
            *output = 1;
        }
    }
}
