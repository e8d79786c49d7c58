//! What rose or fell from one baseline to another, kernel by kernel, and which lines did it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use goals::metric::PREDICTED;
use wording::number;

use crate::file::{Baseline, Counters, Kernel, LAUNCHES, MORE_IS_BETTER, names, plain};
use crate::lines::pairs;

/// How much predicted times may rise, in percent, unless a bound names them: the model of a GPU is
/// no nearer to it, and an order of instructions is no regression.
const TIMES: f64 = 5.0;

/// How many lines a change names.
const LINES: usize = 3;

/// How much worse counters may become: `1%`, or of one counter `instructions=5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    counter: Option<&'static str>,
    percent: f64,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (counter, percent) = match text.split_once('=') {
            Some((name, percent)) => {
                let known = names().into_iter().find(|known| *known == name.trim());
                let unknown = || format!("there is no counter '{name}'; there are {}", names().join(", "));
                (Some(known.ok_or_else(unknown)?), percent)
            }
            None => (None, text),
        };
        let number = percent.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match number.filter(|number| number.is_finite() && *number >= 0.0) {
            Some(percent) => Ok(Self { counter, percent }),
            None => Err(format!("'{percent}' is no percentage, such as 1%")),
        }
    }
}

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Worse than is allowed.
    Worse,
    /// Worse, as much as is allowed.
    Allowed,
    /// Better.
    Better,
}

impl Verdict {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Allowed => "allowed",
            Self::Better => "better",
        }
    }
}

/// A counter of a kernel that rose or fell.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The kernel, as it is called after.
    pub kernel: String,
    /// The counter.
    pub counter: String,
    /// Its value before.
    pub before: f64,
    /// Its value after.
    pub after: f64,
    /// What that means.
    pub verdict: Verdict,
    /// The lines of the run after that changed most in this way, the first most.
    pub lines: Vec<LineChange>,
}

/// A line's part in a change.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChange {
    /// `FILE:LINE`, of the run after if the line is there.
    pub at: String,
    /// By how much the line's counter rose.
    pub by: f64,
}

impl LineChange {
    /// The file and the line.
    pub fn place(&self) -> Option<(String, u32)> {
        let (file, line) = self.at.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    }
}

impl fmt::Display for LineChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.by > 0.0 { "+" } else { "" };
        write!(f, "{} {sign}{}", self.at, number(self.by))
    }
}

impl Change {
    /// By how much, as a percentage: `+300%`. A rise from 0 has no percentage: `from 0`.
    pub fn percent(&self) -> String {
        let percent = 100.0 * (self.after / self.before - 1.0);
        match (self.before > 0.0, percent.abs() >= 10.0) {
            (false, _) => "from 0".to_owned(),
            (_, true) => format!("{percent:+.0}%"),
            (_, false) => format!("{percent:+.2}%"),
        }
    }

    /// In a sentence without its end: `copy: loads.sectors rose from 4 to 32, a.cu:7 +28`.
    pub fn text(&self) -> String {
        let Self { kernel, counter, before, after, .. } = self;
        let verb = if after > before { "rose" } else { "fell" };
        let line = self.lines.first().map_or(String::new(), |line| format!(", {line}"));
        format!("{kernel}: {counter} {verb} from {} to {}{line}", number(*before), number(*after))
    }
}

/// Two baselines compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// What changed: what is worse first.
    pub changes: Vec<Change>,
    /// Kernels that are there before and after.
    pub compared: usize,
    /// Kernels of the run after alone.
    pub new: Vec<String>,
    /// Kernels of the run before alone.
    pub removed: Vec<String>,
    /// Kernels that are taken for renamed ones: before, and after.
    pub renamed: Vec<[String; 2]>,
    /// Kernels that were launched in other shapes, or otherwise often.
    pub reshaped: Vec<String>,
}

impl Comparison {
    /// Compares two baselines of one device. A counter of which several bounds are given has the
    /// last.
    pub fn of(before: &Baseline, after: &Baseline, allowed: &[Allowed]) -> Self {
        let times = [before, after].into_iter().all(Baseline::predicts);
        let mut all = Self::default();
        for (one, other) in partners(&before.kernels, &after.kernels) {
            match (one, other) {
                (Some(one), Some(other)) => {
                    all.compared += 1;
                    if one.name != other.name {
                        all.renamed.push([one.name.clone(), other.name.clone()]);
                    }
                    if one.shapes != other.shapes {
                        all.reshaped.push(other.name.clone());
                    }
                    all.changes.extend(changes(one, other, (times, allowed)));
                }
                (Some(one), None) => all.removed.push(one.name.clone()),
                (None, other) => all.new.extend(other.map(|other| other.name.clone())),
            }
        }
        all.changes.sort_by_key(|change| change.verdict);
        all
    }

    /// The changes that are worse than is allowed.
    pub fn worse(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.verdict == Verdict::Worse)
    }
}

/// The kernels, each with the one that it was before, in the order of their names after.
fn partners<'k>(before: &'k [Kernel], after: &'k [Kernel]) -> Vec<(Option<&'k Kernel>, Option<&'k Kernel>)> {
    let named = |all: &'k [Kernel], name: &str| all.iter().find(|kernel| kernel.name == name);
    let mut all: Vec<_> = after.iter().map(|kernel| (named(before, &kernel.name), Some(kernel))).collect();
    let mut gone: Vec<&Kernel> = before.iter().filter(|kernel| named(after, &kernel.name).is_none()).collect();
    // The most alike first.
    let mut alike = Vec::new();
    for (index, (_, new)) in all.iter().enumerate().filter(|(_, (before, _))| before.is_none()) {
        let Some(new) = new else { continue };
        alike.extend(gone.iter().filter_map(|old| Some((distance(old, new)?, index, *old))));
    }
    alike.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    for (_, index, old) in alike {
        if all[index].0.is_none()
            && let Some(at) = gone.iter().position(|other| other.name == old.name)
        {
            all[index].0 = Some(gone.remove(at));
        }
    }
    all.extend(gone.into_iter().map(|kernel| (Some(kernel), None)));
    all
}

/// How much a new kernel differs from one that is gone, from 0 to 1. `None` if it is another one.
fn distance(old: &Kernel, new: &Kernel) -> Option<f64> {
    let names: BTreeSet<&String> = old.counters.keys().chain(new.counters.keys()).collect();
    let value = |counters: &Counters, name: &String| counters.get(name).copied().unwrap_or(0.0);
    let apart = |name: &&String| {
        let (one, other) = (value(&old.counters, name), value(&new.counters, name));
        (one - other).abs() / one.max(other).max(1e-9)
    };
    let distance = names.iter().map(apart).sum::<f64>() / names.len().max(1) as f64;
    // `transpose::padded` is `padded`, moved; a new name is most probably not a new kernel if most
    // counters are the same.
    let is_moved = last(&old.name) == last(&new.name);
    (is_moved || (old.shapes == new.shapes && distance < 0.5)).then_some(if is_moved {
        distance / 2.0
    } else {
        distance
    })
}

/// A name without its modules and parameters.
fn last(name: &str) -> &str {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

fn changes(before: &Kernel, after: &Kernel, (times, allowed): (bool, &[Allowed])) -> Vec<Change> {
    let names: BTreeSet<&String> = before.counters.keys().chain(after.counters.keys()).collect();
    let value = |counters: &Counters, name: &String| counters.get(name).copied().unwrap_or(0.0);
    let paired = pairs(&before.lines, &after.lines);
    let change = |name: &String| {
        let (one, other) = (value(&before.counters, name), value(&after.counters, name));
        let (rises, plain) = (other > one, plain(name.as_str()));
        if (other - one).abs() <= 1e-9 * one.max(other) || (plain == PREDICTED && !times) {
            return None;
        }
        let is_worse = rises != MORE_IS_BETTER.contains(&plain);
        let bound = allowed.iter().rev().find(|bound| bound.counter.is_some_and(|counter| counter == plain));
        let all = allowed.iter().rev().find(|bound| bound.counter.is_none() && plain != PREDICTED);
        let usual = if plain == PREDICTED { TIMES } else { 0.0 };
        let most = one * bound.or(all).map_or(usual, |bound| bound.percent) / 100.0 * (1.0 + 1e-9);
        let verdict = match (is_worse, (other - one).abs() <= most) {
            (true, false) => Verdict::Worse,
            (true, true) => Verdict::Allowed,
            (false, _) => Verdict::Better,
        };
        let mut lines: Vec<LineChange> = paired
            .iter()
            .filter_map(|(i, j)| {
                let [one, other] = [i.map(|i| &before.lines[i]), j.map(|j| &after.lines[j])];
                let of = |line: Option<&(String, Counters)>| line.map_or(0.0, |(_, counters)| value(counters, name));
                let by = of(other) - of(one);
                let (at, _) = other.or(one)?;
                ((by > 0.0) == rises && by != 0.0).then(|| LineChange { at: at.clone(), by })
            })
            .collect();
        lines.sort_by(|one, other| other.by.abs().total_cmp(&one.by.abs()));
        lines.truncate(LINES);
        let (kernel, counter) = (after.name.clone(), name.clone());
        Some(Change { kernel, counter, before: one, after: other, verdict, lines })
    };
    let mut all: Vec<Change> = names.into_iter().filter_map(change).collect();
    // More launches explain the rest, which explains times.
    all.sort_by_key(|change| match plain(&change.counter) {
        LAUNCHES => Ordering::Less,
        PREDICTED => Ordering::Greater,
        _ => Ordering::Equal,
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::{baseline, kernel};

    const COPY: &[(&str, &[(&str, f64)])] =
        &[("a.cu:7", &[("instructions", 4.0), ("loads.sectors", 16.0)]), ("a.cu:8", &[("instructions", 4.0)])];
    const SLOW: &[(&str, &[(&str, f64)])] =
        &[("a.cu:9", &[("instructions", 4.0), ("loads.sectors", 128.0)]), ("a.cu:10", &[("instructions", 4.0)])];

    fn compared(before: &[Kernel], after: &[Kernel], allowed: &[&str]) -> Comparison {
        let allowed: Vec<Allowed> = allowed.iter().map(|text| text.parse().unwrap()).collect();
        Comparison::of(&baseline(before), &baseline(after), &allowed)
    }

    fn texts(all: &Comparison) -> Vec<String> {
        all.changes.iter().map(|change| format!("{} {}", change.verdict.word(), change.text())).collect()
    }

    #[test]
    fn a_rise_is_worse_and_has_its_line() {
        let (copy, slow) = ([kernel("copy", COPY)], [kernel("copy", SLOW)]);
        let all = compared(&copy, &slow, &[]);
        assert_eq!(texts(&all), ["worse copy: loads.sectors rose from 16 to 128, a.cu:9 +112"]);
        assert_eq!((all.changes[0].percent(), all.compared), ("+700%".to_owned(), 1));
        let all = compared(&slow, &copy, &[]);
        assert_eq!(texts(&all), ["better copy: loads.sectors fell from 128 to 16, a.cu:7 -112"]);
        assert_eq!(compared(&copy, &copy, &[]), Comparison { compared: 1, ..Comparison::default() });
    }

    #[test]
    fn bounds_are_for_all_counters_or_one() {
        let (copy, slow) = ([kernel("copy", COPY)], [kernel("copy", SLOW)]);
        for (allowed, verdict) in [
            (&["700%"][..], "allowed"),
            (&["699.9%"], "worse"),
            (&["0.5%", "loads.sectors=700%"], "allowed"),
            (&["loads.sectors=0%", "900%"], "worse"),
            (&["stores.sectors=900%"], "worse"),
            (&["1%", "loads.sectors=1%", "loads.sectors=900%"], "allowed"),
        ] {
            assert!(texts(&compared(&copy, &slow, allowed))[0].starts_with(verdict), "{allowed:?}");
        }
        // From 0 no percentage is enough.
        let (none, some) = (kernel("k", &[]), kernel("k", &[("a.cu:1", &[("shared.bank_conflicts", 1.0)])]));
        let all = compared(&[none], &[some], &["900%"]);
        assert_eq!(texts(&all), ["worse k: shared.bank_conflicts rose from 0 to 1, a.cu:1 +1"]);
        assert_eq!(all.changes[0].percent(), "from 0");
        for wrong in ["1", "x%", "-1%", "inf%", "sectors=1%", "=1%", "%"] {
            assert_eq!(wrong.parse::<Allowed>().unwrap_err().lines().count(), 1, "{wrong}");
        }
    }

    #[test]
    fn occupancy_is_better_if_it_is_more() {
        let with = |percent: f64| {
            let mut kernel = kernel("k", &[]);
            kernel.counters.insert("occupancy".to_owned(), percent);
            [kernel]
        };
        assert_eq!(texts(&compared(&with(100.0), &with(50.0), &[])), ["worse k: occupancy fell from 100 to 50"]);
        assert_eq!(texts(&compared(&with(50.0), &with(100.0), &[])), ["better k: occupancy rose from 50 to 100"]);
        assert!(texts(&compared(&with(100.0), &with(50.0), &["occupancy=50%"]))[0].starts_with("allowed"));
    }

    #[test]
    fn times_are_compared_if_both_have_them() {
        let mut timed = kernel("k", &[]);
        timed.counters.insert("hopper: predicted.us".to_owned(), 2.5);
        let mut longer = timed.clone();
        longer.counters.insert("hopper: predicted.us".to_owned(), 2.55);
        let mut long = timed.clone();
        long.counters.insert("hopper: predicted.us".to_owned(), 3.0);
        assert!(compared(&[kernel("k", &[])], &[timed.clone()], &[]).changes.is_empty());
        assert!(compared(&[timed.clone()], &[kernel("k", &[])], &[]).changes.is_empty());
        let all = compared(&[timed.clone()], &[longer.clone()], &["1%"]);
        assert_eq!(texts(&all), ["allowed k: hopper: predicted.us rose from 2.50 to 2.55"]);
        assert_eq!(compared(&[timed.clone()], &[longer], &["predicted.us=1%"]).worse().count(), 1);
        let all = compared(&[timed], &[long], &["50%"]);
        assert_eq!(texts(&all), ["worse k: hopper: predicted.us rose from 2.50 to 3"]);
    }

    #[test]
    fn renamed_kernels_are_found_and_others_are_new() {
        let before = [kernel("a::copy(int)", COPY), kernel("gone", &[]), kernel("kept", COPY)];
        let slow = [kernel("b::copy(float)", SLOW), kernel("kept", COPY), kernel("other", SLOW)];
        let all = compared(&before, &slow, &[]);
        assert_eq!(all.renamed, [["a::copy(int)".to_owned(), "b::copy(float)".to_owned()]]);
        assert_eq!((&all.new[..], &all.removed[..]), (&["other".to_owned()][..], &["gone".to_owned()][..]));
        assert_eq!(texts(&all), ["worse b::copy(float): loads.sectors rose from 16 to 128, a.cu:9 +112"]);
        // By what it counts, even if it became worse.
        let all = compared(&[kernel("old", COPY)], &[kernel("new", SLOW)], &[]);
        assert_eq!(all.renamed, [["old".to_owned(), "new".to_owned()]]);
        assert_eq!(all.worse().count(), 1);
    }

    #[test]
    fn more_launches_are_named_first() {
        let mut twice = kernel("copy", COPY);
        twice.counters.values_mut().for_each(|value| *value *= 2.0);
        twice.shapes.values_mut().for_each(|count| *count *= 2);
        let all = compared(&[kernel("copy", COPY)], &[twice], &[]);
        assert_eq!(all.reshaped, ["copy"]);
        assert_eq!(all.changes[0].counter, "launches");
    }
}
