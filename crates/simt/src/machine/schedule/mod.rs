//! Which block and which warp runs next. A program's launch enters here; this calls
//! [`step`](super::step), and no instruction knows of an order.
//!
//! - `run`: a whole launch, over the host's threads; the report.
//! - `one_thread`: the blocks of a launch on one thread, in order or side by side; `waiting`
//!   notices that none makes progress. `slot` is room for one of several clusters that take turns.
//! - `resident`: blocks side by side on the multiprocessors of a model; `sample`: those of them
//!   whose time is predicted.
//! - `drawn`: blocks and warps in an order that is drawn from a seed.
//! - `stepped`: blocks and warps in an order that a caller chooses step by step.
//! - `turns`: the warps of a cluster, until all have exited; `deadlock`: why none can proceed.
//! - `patience`: lanes that wait to reconverge with lanes that wait for them; `endless`: loops that
//!   never end.

mod deadlock;
mod drawn;
mod endless;
mod late;
pub(crate) mod one_thread;
pub(crate) mod patience;
pub(crate) mod resident;
pub(crate) mod run;
mod sample;
pub(crate) mod slot;
pub(crate) mod stepped;
pub(crate) mod turns;
pub(crate) mod waiting;
