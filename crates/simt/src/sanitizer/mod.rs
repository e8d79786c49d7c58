//! The sanitizer: finds faults that need not stop a program, without changing what it computes or
//! what is counted.
//!
//! A launch asks for [`Checks`]; its [`Report`](crate::Report) holds the [`Finding`]s. The machine
//! reports to a [`Checker`] each access before it is made, each barrier, fence and `.sync`
//! instruction, and operands and registers whose use the manual leaves undefined. With all checks
//! off it reports nothing. `docs/SANITIZER.md` says what users see.
//!
//! - `checks`: which checks there are. `checker` takes the machine's reports. For an access
//!   (`touch`): is it possible, is what it reads initialised, does it race?
//! - `race`: the race detector, with `clocks` (what the threads of a block know of each other),
//!   `releases` (fences and atomic operations, also between blocks; `history` for blocks that have
//!   ended), `shadow` (who accessed each cell last: a `stamp` each, or one mark for a row),
//!   `interval` (shared memory between two barriers) and `quick` (fast paths for accesses that race
//!   with nothing, by what all threads know: `now`).
//! - `asynchronous`: `copies`: what `cp.async` has begun and no thread has waited for; `underway`:
//!   bulk copies and `wgmma` (`pending` compares accesses with both); `proxies`: writes that these
//!   may not see; `maps`: writes to tensor maps that copies may not see, by the `acquisitions` of
//!   such maps.
//! - `read_only`: loads of memory that the launch also writes.
//! - `leak`: what kernels allocate and never free.
//! - `finding`, `message`, `findings`, `blame`: the kinds of findings, their messages, how
//!   occurrences are grouped, and which of two accesses is blamed.
//!
//! With any check on, the blocks of a grid run in order on one thread of the host, so findings
//! depend on the launch alone, and the shadow of earlier blocks is enough to find races between
//! blocks. On a model, they do so in a dry run before the launch: see `run/dry_run.rs`. The
//! blocks of a cluster count as one block with one shared memory.
//!
//! Findings do not stop a launch; traps do. With the check `memory`, an impossible access is
//! reported and skipped, so that one run shows several bugs; without it, the access is a trap.
//! Checks are off in the library, off in labs unless requested, and on for `host run`.
//!
//! In the machine, only `observe`, `inspect` and `written` know the sanitizer, and each hook is one
//! branch when checks are off.

mod acquisitions;
mod asynchronous;
mod blame;
mod checker;
mod checks;
mod clocks;
mod finding;
mod findings;
mod history;
mod interval;
mod leak;
mod message;
mod now;
mod pending;
mod quick;
mod race;
mod read_only;
#[cfg(test)]
mod reference;
mod releases;
#[cfg(test)]
mod same;
mod shadow;
mod stamp;
mod touch;

pub(crate) use asynchronous::copies::TrackedCopy;
pub(crate) use asynchronous::underway::{Operation, Run, Underway};
pub(crate) use checker::Checker;
pub use checks::Checks;
pub use finding::{Conflict, Finding, FindingKind, MapFence, ProductPart, RaceScope};
pub(crate) use findings::{Findings, Found, Party};
pub(crate) use race::Races;
pub(crate) use stamp::MOST_RACING;
pub(crate) use touch::Touch;
