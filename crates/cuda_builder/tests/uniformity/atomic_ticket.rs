//! Each thread draws another number.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;

static TICKETS: AtomicU32 = AtomicU32::new(0);

#[kernel(linear)]
pub fn atomic_ticket(mut output: DisjointSlice<u32>) {
    let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
    if ticket % 2 == 0 {
        thread::sync_threads(); //~ may reach: the branch in line 12 depends on `fetch_add()` in line 11
    }
    if TICKETS.load(Ordering::Relaxed) > 9 {
        thread::sync_threads(); //~ may reach: the branch in line 15 depends on a value in memory that threads may write, read in line 15
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = ticket;
    }
}
