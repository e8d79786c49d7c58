//! What the sanitizer looks for in a launch: [`Checks`], and their names on command lines.

use std::fmt;
use std::str::FromStr;

/// What the sanitizer looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checks {
    /// Accesses out of bounds, misaligned or to freed memory, and writes to read-only memory.
    /// Without this check, they are traps.
    pub memory: bool,
    /// Reads of uninitialised memory, and uses of uninitialised registers, or of values from lanes
    /// that do not take part in a shuffle.
    pub init: bool,
    /// Accesses of several threads, at least one of them a write, that nothing orders.
    pub race: bool,
    /// `.sync` instructions in which named lanes do not take part, and barriers that part of a warp
    /// exits without. Barriers that threads never reach are traps with or without this check.
    pub sync: bool,
    /// Operands for which the PTX manual leaves an instruction's result undefined.
    pub undefined: bool,
    /// What runs on a GPU but is often a mistake: barriers that proceed without threads that have
    /// exited, or that different instructions complete; volatile accesses instead of a barrier,
    /// several volatile writes to one location, and accumulators of `wgmma` unpacked before the
    /// wait. `all` does not include it.
    pub strict: bool,
}

impl Checks {
    /// No check.
    pub const NONE: Self =
        Self { memory: false, init: false, race: false, sync: false, undefined: false, strict: false };
    /// All checks but `strict`, which must be named.
    pub const ALL: Self = Self { memory: true, init: true, race: true, sync: true, undefined: true, strict: false };

    /// The names of the checks of `all`.
    pub(crate) const NAMES: [&'static str; 5] = ["memory", "init", "race", "sync", "undefined"];

    /// Whether any check is on.
    pub fn any(self) -> bool {
        self != Self::NONE
    }
}

/// Parses `none`, or names separated by commas, one of which may be `all`.
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

/// Prints what [`FromStr`] parses.
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
