//! The sanitizer: finds faults that need not stop a program, without changing what it computes or what is counted.
//!
//! A launch asks for [`Checks`]; its [`Report`](crate::Report) holds the [`Finding`]s. The machine reports to a
//! [`Checker`] each access before it is made, each barrier, fence and `.sync` instruction, and operands and registers
//! whose use the manual leaves undefined. With all checks off it reports nothing. `docs/SANITIZER.md` says what users
//! see.
//!
//! - `checker`: takes the machine's reports. For an access (`touch`): is it possible, was what it reads written, does it race?
//! - `race`: the race detector, with `clocks` (what the threads of a block know of each other), `releases` (fences and atomic
//!   operations, also between blocks; `history` for blocks that have ended), `shadow` (who accessed each cell last: a `stamp` each, or
//!   one mark for a row), `interval` (shared memory between two barriers) and `quick` (fast paths for accesses that race with nothing).
//! - `copies`: what `cp.async` has begun and no thread has waited for; `underway`: the same for bulk copies and `wgmma`.
//! - `proxies`: writes that bulk copies and `wgmma` may not see; `maps`: writes to tensor maps that copies may not see.
//! - `read_only`: loads that may not see what the launch writes.
//! - `leak`: what kernels allocate and never free.
//! - `finding`, `message`, `findings`, `blame`: the kinds of findings, their words, how occurrences are grouped, and which of two
//!   accesses is blamed.
//!
//! With any check on, the blocks of a grid run in order on one thread of the host, so findings depend on the launch
//! alone, and the shadow of earlier blocks is all that races between blocks need. On a model they do so in a rehearsal
//! before the launch: see `machine/rehearsal.rs`. The blocks of a cluster count as one block whose shared memories are
//! one.
//!
//! Findings do not stop a launch; traps do. With the check `memory`, an impossible access is
//! reported and skipped, so that one run shows several bugs; without it, the access is a trap.
//! Checks are off in the library, off in labs unless requested, and on for `host run`.
//!
//! Nothing but the hooks in `machine/observe.rs` and `machine/inspect.rs` knows of the sanitizer,
//! and each is one branch when checks are off.

mod blame;
mod checker;
mod clocks;
mod copies;
mod finding;
mod findings;
mod history;
mod interval;
mod leak;
mod maps;
mod message;
mod proxies;
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
mod underway;

pub(crate) use checker::Checker;
pub(crate) use copies::Copy;
pub use finding::{Finding, FindingKind, ProductPart, RaceScope, Site};
pub(crate) use findings::{Findings, Found, Party};
pub(crate) use leak::leaks;
pub use maps::MapFence;
pub(crate) use race::Races;
pub(crate) use stamp::MOST_RACING;
pub(crate) use touch::{Coming, Path, Stored, Touch};
pub(crate) use underway::{Operation, Run, Underway};

use std::fmt;
use std::str::FromStr;

/// What the sanitizer looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checks {
    /// Accesses out of bounds, misaligned, to freed memory, writes to read-only memory. Without this check they are traps.
    pub memory: bool,
    /// Reads of memory that nothing wrote, and uses of registers that nothing wrote.
    pub init: bool,
    /// Accesses of several threads, at least one of them a write, that nothing orders.
    pub race: bool,
    /// `.sync` instructions whose lanes do not take part, and barriers that part of a warp exits without. Barriers that threads can never
    /// reach are traps with or without it.
    pub sync: bool,
    /// Operands for which the PTX manual leaves open what an instruction does.
    pub undefined: bool,
    /// What the manual allows but is often a mistake: barriers that proceed without threads which have exited, and volatile accesses in place
    /// of a barrier between the lanes of a warp, or several volatile writes of one place. `all` does not include it.
    pub strict: bool,
}

impl Checks {
    /// No check.
    pub const NONE: Self =
        Self { memory: false, init: false, race: false, sync: false, undefined: false, strict: false };
    /// All but `strict`, which must be named.
    pub const ALL: Self = Self { memory: true, init: true, race: true, sync: true, undefined: true, strict: false };

    /// Their names.
    pub(crate) const NAMES: [&'static str; 5] = ["memory", "init", "race", "sync", "undefined"];

    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Self::NONE
    }
}

/// `none`, or names with commas between them, of which one may be `all`.
impl FromStr for Checks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        let mut checks = Self::NONE;
        for name in text.split(',') {
            match name {
                "memory" => checks.memory = true,
                "init" => checks.init = true,
                "race" => checks.race = true,
                "sync" => checks.sync = true,
                "undefined" => checks.undefined = true,
                "strict" => checks.strict = true,
                "all" => checks = Self { strict: checks.strict, ..Self::ALL },
                _ => {
                    let names = Self::NAMES.join(", ");
                    return Err(format!("unknown check '{name}'; give {names}, strict, all or none"));
                }
            }
        }
        Ok(checks)
    }
}

/// As it is read.
impl fmt::Display for Checks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, init, race, sync, undefined, strict } = *self;
        let named = Self::NAMES.into_iter().zip([memory, init, race, sync, undefined]);
        let mut names: Vec<_> = named.filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect();
        if names.len() == Self::NAMES.len() {
            names = vec!["all"];
        }
        names.extend(strict.then_some("strict"));
        if names.is_empty() {
            names.push("none");
        }
        formatter.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_named_with_commas() {
        assert_eq!("all".parse(), Ok(Checks::ALL));
        assert_eq!("none".parse(), Ok(Checks::NONE));
        assert_eq!("init,race".parse(), Ok(Checks { init: true, race: true, ..Checks::NONE }));
        assert_eq!(Checks::NAMES.join(",").parse(), Ok(Checks::ALL));
        for text in ["all", "none", "init,race", "memory", "strict", "all,strict", "sync,strict"] {
            assert_eq!(text.parse::<Checks>().unwrap().to_string(), text);
        }
        const { assert!(!Checks::ALL.strict) };
        for text in ["", "race,", "races", "none,race"] {
            assert!(text.parse::<Checks>().unwrap_err().starts_with("unknown check"), "{text}");
        }
    }
}
