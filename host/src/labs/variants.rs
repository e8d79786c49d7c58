//! The variants of a lab, written once: a table of names, helps and what each launches. The flags,
//! the help, the choice and the rows follow from it. Pure.
//!
//! ```text
//! impl Variants for Kind { TABLE }  ──▶  Chosen<Kind>: the flags of `host LAB`  ──▶  chosen()  ──▶  rows
//! ```
//!
//! A lab whose rows differ in several ways has a table for each, such as methods and layouts: each
//! row is a combination.

use std::fmt;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use device::Device;

use crate::report::Meaning;

/// A variant: the flag that chooses it, and what it is to its lab, such as a kernel.
#[derive(Clone, Copy, Debug)]
pub struct VariantSpec<T> {
    /// Its name in a report.
    pub name: &'static str,
    /// Its flag, which is its name unless variants share one.
    pub flag: &'static str,
    /// The flag's help; empty for all but the first variant of a flag.
    pub help: &'static str,
    /// What it is, for those who read the table: the flag's help, unless the flag has several
    /// variants.
    pub means: &'static str,
    /// Whether it runs only where its flag or `--all` is given.
    pub extra: bool,
    /// Whether it differs from others only in time, so that without times it runs only where its
    /// flag is given.
    pub timed: bool,
    /// The lab's payload for this variant.
    pub of: T,
}

/// A variant with a flag of the same name.
pub const fn variant<T: Copy>(name: &'static str, help: &'static str, of: T) -> VariantSpec<T> {
    VariantSpec { name, flag: name, help, means: help, extra: false, timed: false, of }
}

impl<T: Copy> VariantSpec<T> {
    /// Chosen by this flag.
    pub const fn flag(self, flag: &'static str) -> Self {
        Self { flag, ..self }
    }

    /// With this explanation in place of the flag's help.
    pub const fn means(self, means: &'static str) -> Self {
        Self { means, ..self }
    }

    /// Only where its flag or `--all` is given.
    pub const fn extra(self) -> Self {
        Self { extra: true, ..self }
    }

    /// Only where its flag is given or times are taken.
    pub const fn timed(self) -> Self {
        Self { timed: true, ..self }
    }
}

/// Variants that differ in one way.
pub trait Variants: Copy + 'static {
    /// What they are, as a heading of the help.
    const TITLE: &'static str;
    /// The variants, in the order in which they run.
    const TABLE: &'static [VariantSpec<Self>];
}

/// What the names of these variants mean.
pub(super) fn meanings<T: Variants>() -> Vec<Meaning> {
    T::TABLE.iter().map(|spec| (spec.name, spec.means)).collect()
}

/// The variants whose flags are given, of one table.
pub struct Chosen<T> {
    flags: Vec<&'static str>,
    table: PhantomData<T>,
}

// A derive would require `T: Clone` and so on, although no `T` is stored.
impl<T> Clone for Chosen<T> {
    fn clone(&self) -> Self {
        Self { flags: self.flags.clone(), table: PhantomData }
    }
}

impl<T> fmt::Debug for Chosen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chosen").field(&self.flags).finish()
    }
}

impl<T> Default for Chosen<T> {
    fn default() -> Self {
        Self { flags: Vec::new(), table: PhantomData }
    }
}

impl<T: Variants> Chosen<T> {
    /// These variants, as if their flags were given.
    pub fn of(flags: &[&'static str]) -> Self {
        Self { flags: flags.to_vec(), ..Self::default() }
    }

    /// Whether a flag is given.
    pub(super) fn any(&self) -> bool {
        !self.flags.is_empty()
    }

    /// The variants whose flags are given; without any, those that run by default.
    pub(super) fn chosen(&self) -> Vec<&'static VariantSpec<T>> {
        self.chosen_or(false)
    }

    /// Likewise; without any, `all` of them.
    pub(super) fn chosen_or(&self, all: bool) -> Vec<&'static VariantSpec<T>> {
        let is_chosen = |spec: &&VariantSpec<T>| match self.any() {
            true => self.flags.contains(&spec.flag),
            false => all || !spec.extra,
        };
        T::TABLE.iter().filter(is_chosen).collect()
    }

    /// The variants whose flags are given; without any, those that run by default with times or
    /// without: see `Settings::predicts`.
    pub(super) fn chosen_where(&self, timed: bool) -> Vec<&'static VariantSpec<T>> {
        self.chosen().into_iter().filter(|spec| self.any() || timed || !spec.timed).collect()
    }

    /// [`Self::chosen_where`]; without any flag, all whose blocks fit the device: `block` has a
    /// variant's threads and bytes of shared memory. A chosen one is never left out: its launch
    /// says why it does not fit.
    pub(super) fn chosen_for(
        &self,
        device: &Device,
        timed: bool,
        block: impl Fn(&VariantSpec<T>) -> (u32, u64),
    ) -> Vec<&'static VariantSpec<T>> {
        let limits = device.properties();
        let fits = |spec: &&VariantSpec<T>| {
            let (threads, shared) = block(spec);
            threads <= limits.max_threads_per_block && shared <= limits.shared_per_block
        };
        self.chosen_where(timed).into_iter().filter(|spec| self.any() || fits(spec)).collect()
    }
}

/// The heading of a table's flags, which says what runs without any.
fn heading<T: Variants>() -> String {
    let flags = || T::TABLE.iter().filter(|spec| !spec.help.is_empty());
    let named = |is: fn(&&VariantSpec<T>) -> bool| {
        flags().filter(is).map(|spec| format!("--{}", spec.flag)).collect::<Vec<_>>()
    };
    let default = named(|spec| !spec.extra && !spec.timed);
    let timed = match named(|spec| spec.timed) {
        timed if timed.is_empty() => String::new(),
        timed => format!("; with times also {}", timed.join(", ")),
    };
    let default = match (default.len() == flags().count(), default.len()) {
        (true, 2) => "both".to_owned(),
        (true, _) => "all".to_owned(),
        (false, _) => default.join(", "),
    };
    format!("{} (default: {default}{timed})", T::TITLE)
}

impl<T: Variants> Args for Chosen<T> {
    fn augment_args(command: Command) -> Command {
        let heading = heading::<T>();
        let flags = T::TABLE.iter().filter(|spec| !spec.help.is_empty()).map(|spec| {
            let flag = Arg::new(spec.flag).long(spec.flag).help(spec.help);
            flag.help_heading(heading.clone()).action(ArgAction::SetTrue)
        });
        command.args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Variants> FromArgMatches for Chosen<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut chosen = Self::default();
        chosen.update_from_arg_matches(matches)?;
        Ok(chosen)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = T::TABLE.iter().filter(|spec| !spec.help.is_empty() && matches.get_flag(spec.flag));
        self.flags = given.map(|spec| spec.flag).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Kind;

    impl Variants for Kind {
        const TITLE: &'static str = "Kinds";
        const TABLE: &'static [VariantSpec<Self>] = &[
            variant("one", "The first", Kind),
            variant("two-a", "Two of them", Kind).flag("two"),
            variant("two-b", "", Kind).flag("two"),
            variant("more", "Another", Kind).extra(),
        ];
    }

    fn parsed(flags: &[&str]) -> Chosen<Kind> {
        let command = Chosen::<Kind>::augment_args(Command::new("kinds").no_binary_name(true));
        Chosen::from_arg_matches(&command.try_get_matches_from(flags).unwrap()).unwrap()
    }

    fn names(specs: Vec<&VariantSpec<Kind>>) -> Vec<&str> {
        specs.into_iter().map(|spec| spec.name).collect()
    }

    #[test]
    fn flags_of_one_table_are_alternatives_and_none_is_the_default() {
        assert_eq!(names(parsed(&["--two"]).chosen()), ["two-a", "two-b"]);
        assert_eq!(names(parsed(&[]).chosen()), ["one", "two-a", "two-b"]);
        assert_eq!(names(parsed(&[]).chosen_or(true)), ["one", "two-a", "two-b", "more"]);
        assert_eq!(names(parsed(&["--more", "--one"]).chosen_or(true)), ["one", "more"]);
        assert_eq!(names(parsed(&["--one"]).chosen()), names(Chosen::of(&["one"]).chosen()));
    }

    #[test]
    fn the_heading_says_what_runs_without_a_flag() {
        assert_eq!(heading::<Kind>(), "Kinds (default: --one, --two)");
    }
}
