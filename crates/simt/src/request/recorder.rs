//! Keeps the requests of a running launch. `machine/watch.rs` adds them, from several threads; the
//! report takes them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::recorded::{Request, RequestedMemory, Watch};
use crate::model::LoadCaching;

/// The requests of a launch that are kept so far.
pub(crate) struct Recorder {
    watch: Watch,
    caching: LoadCaching,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    requests: Vec<Request>,
    /// How many of `requests` are of each instruction and memory, in each warp of a block.
    counts: HashMap<(u64, u32, u32, RequestedMemory), u32>,
}

impl Recorder {
    pub fn new(watch: Watch, caching: LoadCaching) -> Self {
        Self { watch, caching, kept: Mutex::default() }
    }

    /// Whether this warp of this block is watched.
    pub fn watches(&self, block: u64, warp: u32) -> bool {
        self.watch.blocks.contains(&block) && self.watch.warps.contains(&warp)
    }

    /// Keeps a request of a watched warp, unless enough of its kind are kept.
    pub fn keep(&self, request: Request) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (request.block, request.warp, request.instruction, request.memory);
        let count = kept.counts.entry(key).or_default();
        if *count < self.watch.requests {
            *count += 1;
            kept.requests.push(request);
        }
    }

    /// The requests by instruction, block and warp, each warp's in the order of its execution;
    /// and how the launch caches loads.
    pub fn finish(&self) -> (Vec<Request>, LoadCaching) {
        let mut requests = std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests);
        // Stable, and a warp's own are in order.
        requests.sort_by_key(|request| (request.instruction, request.block, request.warp));
        (requests, self.caching)
    }
}
