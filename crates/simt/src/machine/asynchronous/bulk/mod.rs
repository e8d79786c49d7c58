//! The copies of the copy engine, which completes them as late as PTX allows, so that a missing
//! wait shows.
//!
//! `rows` and `tensor` begin copies of bytes and of boxes of tensors, `transit` moves their bytes,
//! and `reports` reports them to the sanitizer. What is under way is in `state/asynchronous`.

mod reports;
pub(super) mod rows;
pub(super) mod tensor;
pub(super) mod transit;
