//! The state of a launch, a worker, a block and a warp, and how an instruction can end. Nothing
//! here executes one: instructions and the schedule import this layer, never the other way round.
//!
//! - `running_launch`: a running launch, which all workers share; `worker`: what one thread of the
//!   host runs; `block`, `warp`, `barrier`, `local` memory: its parts.
//! - `outcome`: what comes after an instruction, faults, and why a worker stops.
//! - `at`: where an instruction is executed, and by which lanes.
//! - `on_model`: where a block runs on a model.
//! - `tracked`, `unwritten`: what the sanitizer knows of unwritten registers and unwritten local
//!   memory.
//! - `drawn`, `views`: what is drawn in another order, and what warps know of each other's writes.
//! - `copies`: copies that lanes have begun; `held`: registers that products hold; `asynchronous`:
//!   what that folder keeps.

pub(crate) mod asynchronous;
mod at;
mod barrier;
mod block;
pub(crate) mod copies;
mod drawn;
mod footprint;
pub(crate) mod held;
pub(crate) mod local;
mod on_model;
mod outcome;
mod running_launch;
mod tracked;
mod unwritten;
mod views;
mod warp;
mod worker;

pub(crate) use at::{At, AtLane};
pub(crate) use barrier::{Arrival, Barriers, Outcome, WARPS_OF_GROUP};
pub(crate) use block::{Block, RunningBlock, Stage};
pub(crate) use drawn::{AtPoint, Draws, InFlight, Landing, Meeting, Notes, Point, overlap};
pub(crate) use footprint::{Does, Footprint, Span, joined};
pub(crate) use on_model::{BlockLocation, Modelled};
pub(crate) use outcome::{Attempt, Fault, Next, Refused, Stop};
pub(crate) use running_launch::RunningLaunch;
pub(crate) use tracked::{Origin, TrackedRegister};
pub(crate) use unwritten::{Incomplete, LoadedBy, Storing, UnwrittenLoad};
pub(crate) use warp::{Frame, Split, Wait, Warp};
pub(crate) use worker::Worker;
