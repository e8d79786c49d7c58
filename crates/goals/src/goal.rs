//! Parses goals, `[MODEL:] METRIC [of KERNEL] OPERATOR EXPRESSION`, as in
//! `loads.sectors_per_request <= 4.1` or `fermi: transactions of copy == 32`. Whoever judges
//! measures what the goal names. Pure.

use std::fmt;
use std::str::FromStr;

use approx::abs_diff_eq;
use serde::{Deserialize, Deserializer};
use simt::Model;
use wording::number;

use crate::expression::Expression;
use crate::metric::Metric;

/// The name by which an expression refers to the solution's value.
pub const SOLUTION: &str = "solution";

/// A metric of all launches, or of one kernel's.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The metric.
    pub metric: Metric,
    /// The kernel whose launches count.
    pub kernel: Option<String>,
}

/// A parsed goal.
#[derive(Clone, Debug)]
pub struct Goal {
    text: String,
    /// The model on which the kernels run; `None` for the simulator without a model.
    pub model: Option<&'static Model>,
    /// The counted metric.
    pub counted: Counted,
    /// The comparison.
    pub operator: Operator,
    /// The bound.
    pub bound: Expression,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    AtMost,
    Less,
    Equal,
    AtLeast,
    Greater,
}

/// Longer operators first, because `<` is a prefix of `<=`.
const OPERATORS: [(&str, Operator); 5] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Operator {
    /// The comparison in words, as they stand before a bound.
    fn words(self) -> &'static str {
        match self {
            Self::AtMost => "at most ",
            Self::Less => "less than ",
            Self::Equal => "",
            Self::AtLeast => "at least ",
            Self::Greater => "more than ",
        }
    }

    /// Whether `value` satisfies the comparison with `bound`. Ratios are equal within rounding.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        let rounding = 1e-9 * (1.0 + bound.abs());
        match self {
            Self::AtMost => value <= bound + rounding,
            Self::Less => value < bound - rounding,
            Self::Equal => abs_diff_eq!(value, bound, epsilon = rounding),
            Self::AtLeast => value >= bound - rounding,
            Self::Greater => value > bound + rounding,
        }
    }

    /// Whether too small a value fails the comparison.
    pub fn wants_more(self) -> bool {
        matches!(self, Self::AtLeast | Self::Greater)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, _) = OPERATORS.iter().find(|(_, operator)| operator == self).expect("each has a text");
        f.write_str(text)
    }
}

impl FromStr for Counted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, kernel) = match text.trim().split_once(" of ") {
            Some((name, kernel)) => (name.trim(), Some(kernel.trim().to_owned())),
            None => (text.trim(), None),
        };
        let unknown = || format!("unknown metric '{name}'; there are {}", Metric::names());
        Ok(Self { metric: Metric::named(name).ok_or_else(unknown)?, kernel })
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric.name)?;
        self.kernel.iter().try_for_each(|kernel| write!(f, " of {kernel}"))
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (model, rest) = match text.split_once(':') {
            Some((model, rest)) => (Some(model_named(model.trim())?), rest),
            None => (None, text),
        };
        let place = OPERATORS
            .iter()
            .filter_map(|&(sign, operator)| Some((rest.find(sign)?, sign, operator)))
            .min_by_key(|(at, sign, _)| (*at, 2 - sign.len()));
        let (at, sign, operator) = place.ok_or_else(|| format!("'{text}': a goal needs <=, <, ==, >= or >"))?;
        let counted: Counted = rest[..at].parse()?;
        let bound = rest[at + sign.len()..].parse()?;
        Ok(Self { text: text.trim().to_owned(), model, counted, operator, bound })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Goal {
    /// What is counted, as in `fermi: transactions of copy`.
    pub fn subject(&self) -> String {
        let model = self.model.map(|model| format!("{}: ", model.name)).unwrap_or_default();
        format!("{model}{}", self.counted)
    }

    /// What is wanted of it, as in `at most 5.1`; an expression has its value beside it.
    pub fn wanted(&self, bound: f64) -> String {
        let text = self.bound.to_string();
        let value = if text.parse::<f64>().is_ok() { String::new() } else { format!(" = {}", number(bound)) };
        format!("{}{text}{value}", self.operator.words())
    }
}

/// The simulator's model of this name.
pub fn model_named(name: &str) -> Result<&'static Model, String> {
    Model::named(name).ok_or_else(|| {
        let names: Vec<_> = Model::all().iter().map(|model| model.name).collect();
        format!("unknown model '{name}'; there are {}", names.join(", "))
    })
}

impl<'de> Deserialize<'de> for Goal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_read_in_its_parts() {
        let goal: Goal = "fermi: transactions of copy <= 1.5 * n".parse().unwrap();
        assert_eq!(goal.model.unwrap().name, "fermi");
        assert_eq!(goal.counted.to_string(), "transactions of copy");
        assert_eq!((goal.operator, goal.bound.to_string()), (Operator::AtMost, "1.5 * n".to_owned()));
        assert_eq!("instructions < 1".parse::<Goal>().unwrap().operator, Operator::Less);
        assert_eq!("instructions >= 1".parse::<Goal>().unwrap().operator, Operator::AtLeast);
    }

    #[test]
    fn what_is_wanted_is_said_in_words_with_its_value() {
        let said = |text: &str, bound| {
            let goal: Goal = text.parse().unwrap();
            format!("{}; goal: {}", goal.subject(), goal.wanted(bound))
        };
        assert_eq!(said("loads.sectors_per_request <= 5.1", 5.1), "loads.sectors_per_request; goal: at most 5.1");
        assert_eq!(said("fermi: occupancy >= 100", 100.0), "fermi: occupancy; goal: at least 100");
        assert_eq!(said("unsafe of copy == 0", 0.0), "unsafe of copy; goal: 0");
        assert_eq!(said("loads.sectors <= n / 8", 32.0), "loads.sectors; goal: at most n / 8 = 32");
        assert_eq!(said("atomics < 2 * n", 512.0), "atomics; goal: less than 2 * n = 512");
        assert_eq!(said("atomics > 1", 1.0), "atomics; goal: more than 1");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("loads", "'loads': a goal needs <=, <, ==, >= or >"),
            ("instructions <= ", "'': a number or a name is missing at the end"),
            ("intel: instructions <= 1", "unknown model 'intel'; there are g80, tesla, "),
            ("sectors == 1", "unknown metric 'sectors'; there are instructions, "),
        ] {
            let error = text.parse::<Goal>().unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn ratios_are_equal_within_rounding() {
        assert!(Operator::Equal.holds(0.1 + 0.2, 0.3));
        assert!(Operator::AtMost.holds(0.1 + 0.2, 0.3));
        assert!(!Operator::Less.holds(0.1 + 0.2, 0.3));
        assert!(!Operator::Equal.holds(4.001, 4.0));
    }
}
