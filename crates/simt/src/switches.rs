//! Orders that a list of switches describes: [`SplitId`] names a split, a [`Switch`] is a point
//! where the order departs from the default, and [`Switches`] is the list, with its text form.
//! Data: `machine/schedule` runs them.
//!
//! All blocks are resident. By default, a split runs until it waits or ends, and then the first
//! split that can run does. A switch is named by the access before which it happens, counted for
//! each split, so that one switch can be removed without moving the others.

use std::fmt;
use std::str::FromStr;

/// A warp; or, while its lanes are on different sides of a branch, those on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SplitId {
    /// The number of the block in the grid.
    pub block: u32,
    /// The warp in its block.
    pub warp: u8,
    /// The lowest of its lanes.
    pub lane: u8,
}

/// A place where another split runs than by the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switch {
    /// The split that would run by the rule.
    pub split: SplitId,
    /// With which of its accesses that other threads may see, from 1.
    pub access: u32,
    /// The split that runs instead.
    pub to: SplitId,
}

/// The most switches that an order can name.
pub const MOST_SWITCHES: usize = 16;

/// The switches of an order, in the order in which they happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Switches {
    list: [Option<Switch>; MOST_SWITCHES],
}

impl Switches {
    /// These switches; `None` if there are more than [`MOST_SWITCHES`].
    pub fn new(switches: &[Switch]) -> Option<Self> {
        let fits = switches.len() <= MOST_SWITCHES;
        fits.then(|| Self { list: std::array::from_fn(|index| switches.get(index).copied()) })
    }

    /// The switches.
    pub fn iter(&self) -> impl Iterator<Item = Switch> {
        self.list.iter().copied().flatten()
    }
}

impl fmt::Debug for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for SplitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, warp, lane } = self;
        write!(f, "{block}.{warp}")?;
        if *lane > 0 { write!(f, ".{lane}") } else { Ok(()) }
    }
}

impl fmt::Display for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Switch { split, access, to }) in self.iter().enumerate() {
            let before = if index == 0 { "" } else { "+" };
            write!(f, "{before}{split}@{access}-{to}")?;
        }
        Ok(())
    }
}

/// A number of digits alone.
fn number<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
}

impl SplitId {
    fn parsed(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split('.').collect();
        let (block, warp, lane) = match *words.as_slice() {
            [block, warp] => (block, warp, "0"),
            [block, warp, lane] => (block, warp, lane),
            _ => return None,
        };
        let below_32 = |word| number(word).filter(|&number: &u8| number < 32);
        Some(Self { block: number(block)?, warp: below_32(warp)?, lane: below_32(lane)? })
    }
}

impl FromStr for Switches {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let switch = |text: &str| {
            let (split, rest) = text.split_once('@')?;
            let (access, to) = rest.split_once('-')?;
            let access = number(access).filter(|&access| access > 0)?;
            Some(Switch { split: SplitId::parsed(split)?, access, to: SplitId::parsed(to)? })
        };
        let none = text.is_empty();
        let list: Option<Vec<Switch>> = text.split('+').filter(|_| !none).map(switch).collect();
        list.and_then(|list| Self::new(&list)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_as_they_are_written() {
        for text in ["", "0.0@1-3.0", "0.0@3-1.0+1.0@2-0.0", "7.31@4294967295-6.2.16"] {
            let switches: Switches = text.parse().unwrap();
            assert_eq!(switches.to_string(), text);
        }
        for text in ["+", "0.0", "0.0@0-1.0", "0@1-1.0", "0.32@1-1.0", "0.0@1-1.0+", "0.0@1>1.0", "0.0@+1-1.0"] {
            assert!(text.parse::<Switches>().is_err(), "{text}");
        }
        let one: Vec<Switch> = "0.0@1-1.0".parse::<Switches>().unwrap().iter().collect();
        assert!(Switches::new(&one.repeat(16)).is_some() && Switches::new(&one.repeat(17)).is_none());
    }
}
