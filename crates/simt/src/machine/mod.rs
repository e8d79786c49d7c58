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
//! In drawn orders, [`delayed`] has stores that other warps see late, [`stale`] reads that find
//! older values, and [`follow`] records accesses.
//!
//! [`matrix`] executes the instructions of tensor cores, [`copy`] `cp.async`; [`mbarrier`] reads
//! and changes mbarriers in shared memory. [`asynchronous`] executes bulk copies, waits for
//! mbarriers and the barriers of clusters: a folder with a small interface, because most readers
//! need none of it.
//!
//! A program creates a [`state::RunningLaunch`], and `schedule` runs it. The schedule's functions
//! take a worker; the worker has none of them as methods, so that no instruction can call one.
//!
//! # Follow a load
//!
//! How `ld.global.f32` gets from text to a count, a fault, a picture and a time. Paths are relative
//! to `crates/simt/src`.
//!
//! 1. **Text.** `ptx::parse` makes an `Op::Load` of the line (`crates/ptx/src/typing/memory.rs`).
//! 2. **Decoded once.** `program/decode/memory.rs` makes it an `Action::Load`: registers, an
//!    `AddressOperand`, and a `MemoryOperation` (`program/access.rs`): kind, width, memory order,
//!    cache hint. `program/decode/counted.rs` adds which requests `ptxas` makes in its place.
//! 3. **Executed.** `machine/step.rs` calls `machine/transfer.rs`, which serves loads and stores.
//!    It looks up the *shape* of the instruction's last access (`coalesce/shape.rs`): mostly the
//!    addresses have only moved, and all 32 lanes are handled at once.
//! 4. **Observed**, before it is made, if anyone but the counters asks (`machine/observe.rs`). The
//!    sanitizer sees it first and says which lanes may make it. A *fault* begins there, in
//!    `observe/sanitizer.rs`, and is decided in `sanitizer/checker.rs`. The requests of these lanes
//!    go to the model of a GPU (`observe/model.rs`) and to the recorder (`observe/recorder.rs`).
//! 5. **Counted**, in `observe/counters.rs`, by the rules of `coalesce`.
//! 6. **Made**, in `machine/load.rs`; without checks, an address that cannot be read is a trap
//!    here.
//! 7. **A picture** is drawn from a recorded request: `Request::service` (`request/service.rs`)
//!    says what moved in which pass, and `crates/picture` draws it.
//! 8. **A time** is predicted from what the model noted of each request (`observe/trace.rs`),
//!    replayed in `timing/replay.rs` by what each instruction costs (`timing/plan.rs`).
//!
//! Stores go the same way; atomic operations and the accesses of tensor cores call
//! `observe::access`, which has steps 4 and 5. Textures, surfaces and asynchronous copies call the
//! observers one by one.

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
mod stale;
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
