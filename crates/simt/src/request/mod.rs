//! The first requests of each memory instruction, as the machine saw them: which lanes, which
//! addresses. A launch that asks for them ([`Launch::watch`](crate::Launch::watch)) has them in its
//! report, and pictures are drawn from them. One that does not pays
//! nothing for its loads and stores, and a branch for other accesses.
//!
//! ```text
//! observe/recorder ──▶ Request ──service(model)──▶ Service: what is asked for, in which pass; what moves; the cost
//! ```
//!
//! A [`Request`] is what the program did, the same on every GPU. [`Request::service`] is what a GPU
//! makes of it, by the rules that count a launch: `coalesce`, `model/transactions` and
//! `model/banks`. `tests/requests.rs` holds the cost of a request to the counters of a launch that
//! makes this request alone, on every model.
//!
//! Blocks run in parallel, so "the first" are those of each warp: what is kept does not depend on
//! the number of host threads.

mod numbers;
mod recorded;
mod recorder;
mod service;

pub use recorded::{ArrayCounts, Request, RequestedMemory, Watch};
pub(crate) use recorded::{Mechanism, Run};
pub(crate) use recorder::Recorder;
pub use service::{Ask, Piece, Service, Unit};
