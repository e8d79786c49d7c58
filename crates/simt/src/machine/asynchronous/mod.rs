//! What threads start and others wait for: the copies of the copy engine ([`bulk`]), phases of
//! barriers in shared memory ([`phases`]) and the barrier of a cluster of blocks ([`cluster`]).
//!
//! This is the only folder that knows of bulk copies, phases and clusters' barriers. [`step`] calls
//! what is re-exported here to [`execute`] an instruction, and the schedule calls [`turns`] when
//! blocks begin and end and when nothing can proceed. A kernel with none of these instructions
//! never gets further than a test of an empty list. What the parts keep is in `state/asynchronous`,
//! and nobody else reads it. (`cp.async`, which lanes begin and wait for by themselves, is
//! [`copy`](super::copy).)
//!
//! [`step`]: super::step

mod bulk;
pub(super) mod cluster;
mod execute;
mod phases;
pub(super) mod turns;

pub(super) use execute::execute;
