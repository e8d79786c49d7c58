//! Types copies that run beside the thread, and the barriers that count them.
//!
//! - `asynchronous`: `cp.async`, with which threads copy, and `mbarrier`.
//! - `bulk`: `cp.async.bulk` and its reductions, by the copy engine, and stores to other blocks.
//! - `tensor`: `cp.async.bulk.tensor`, and changes of the maps that describe tensors.

pub(super) mod asynchronous;
pub(super) mod bulk;
pub(super) mod tensor;
