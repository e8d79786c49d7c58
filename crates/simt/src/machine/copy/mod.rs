//! Copies that run beside the threads.
//!
//! - `by_threads`: `cp.async`. Lanes begin copies, and wait for them later.
//! - `bulk` and `tensor` begin the copies of the copy engine: `cp.async.bulk`, of bytes and of
//!   boxes of tensors. `transit` moves their bytes; `reports` reports them to the sanitizer.
//!
//! What is under way is part of the state: `state/copies`, `state/underway`. A copy completes as
//! late as PTX allows, so that a missing wait shows.

pub(super) mod bulk;
pub(super) mod by_threads;
mod reports;
pub(super) mod tensor;
pub(super) mod transit;
