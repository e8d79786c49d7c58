//! Which block and which warp runs next. A program's launch enters here; this calls
//! [`step`](super::step), and no instruction knows of an order.
//!
//! - `run`: a whole launch, over the host's threads; the report.
//! - `together`: the blocks of a launch on one thread, in order or side by side; `waiting` notices
//!   that none makes progress. `slot` is room for one of several clusters that take turns.
//! - `resident`: blocks side by side on the multiprocessors of a model; `rehearsal`: the checks of
//!   such a launch; `beside`: the time of a launch without a model; `sample`: the blocks for it.
//! - `turns`: the warps of a cluster, until all have exited; `deadlock`: why none can proceed.
//! - `patience`: lanes that wait to reconverge with lanes that wait for them.

pub(crate) mod beside;
mod deadlock;
pub(crate) mod patience;
pub(crate) mod rehearsal;
pub(crate) mod resident;
pub(crate) mod run;
mod sample;
pub(crate) mod slot;
pub(crate) mod together;
pub(crate) mod turns;
pub(crate) mod waiting;
