//! The machine that runs decoded kernels.
//!
//! Three layers, each of which knows those below it and none above:
//!
//! - [`schedule`] runs a launch: it spreads blocks over the host's threads, gives blocks and warps
//!   their turns, and decides what happens when nothing can proceed.
//! - [`step`] executes instructions, one warp at a time. Arithmetic is in [`crate::lanes`];
//!   everything else is a file here: [`load`] and [`store`] (with [`transfer`] for what they
//!   share), [`atomic`], [`access`] for the addresses of all three, [`texture`] and [`surface`],
//!   [`across`] and [`meeting`] for what lanes do together, [`barriers`], [`calls`], [`system`] and
//!   [`heap`].
//! - [`state`] is what a launch, a worker, a block and a warp are made of, and how an instruction
//!   can end.
//!
//! Instructions show what they do to [`observe`], which has the counters, the model of a GPU, the
//! recorder of requests and the hooks of the sanitizer; [`inspect`] and [`written`] track
//! uninitialised values, [`held`] registers that products hold.
//!
//! In drawn orders, [`delayed`] has stores that other warps see late, and [`follow`] records
//! accesses.
//!
//! [`matrix`] executes the instructions of tensor cores, [`copy`] `cp.async`; [`mbarrier`] reads
//! and changes mbarriers in shared memory. [`asynchronous`] executes bulk copies, waits for
//! mbarriers and the barriers of clusters: a folder with a small interface, because most readers
//! need none of it.
//!
//! A program creates a [`state::RunningLaunch`], and `schedule` runs it. The schedule's functions
//! take a worker; the worker has none of them as methods, so that no instruction can call one.

mod access;
mod across;
mod asynchronous;
mod atomic;
mod barriers;
mod calls;
mod copy;
mod delayed;
mod follow;
mod heap;
mod held;
mod inspect;
mod load;
mod matrix;
mod mbarrier;
mod meeting;
mod observe;
mod schedule;
mod state;
mod step;
mod store;
mod surface;
mod system;
mod texture;
mod transfer;
mod written;

pub(crate) use schedule::resident::Placement;
pub(crate) use schedule::run::run as run_launch;
pub(crate) use schedule::stepped::{Stepped, follow_on};
pub(crate) use state::{Footprint, Meeting, RunningLaunch};
