//! The verdict: data, which is written as JSON or as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use wording::{WIDTH, number, one_line, paragraph, printable, printable_lines, several, wrapped};

use super::contract::Sizes;

/// What became of a candidate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Verdict {
    pub verdict: Status,
    pub reference: String,
    pub candidate: String,
    pub seed: u64,
    pub problems: Vec<Problem>,
    /// The sizes that were tried.
    pub sizes: Vec<Sizes>,
    /// At which of them nothing is wrong.
    pub right_at: Vec<Sizes>,
    /// How many calls were compared.
    pub calls: u64,
    /// How many launches in drawn orders were compared.
    pub orders: u64,
    /// The sizes at which counters and times were taken.
    pub measured_at: Sizes,
    pub kernels: Kernels,
    /// The candidate's predicted time by the reference's.
    pub times_as_fast: Option<f64>,
    pub sure: Sure,
    /// Where the candidate's cost arises, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<String>,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Right,
    Wrong,
    /// It is wrong, or right by a trick.
    Refused,
}

/// What is wrong.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Problem {
    /// A word that programs can compare.
    pub rule: String,
    /// Whether it is a trick.
    pub trick: bool,
    /// As it was first seen.
    pub text: String,
    /// At which sizes, the first first.
    pub sizes: Vec<Sizes>,
}

/// The kernels of both sides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kernels {
    pub reference: Vec<Measured>,
    pub candidate: Vec<Measured>,
}

/// What a kernel counted in one call.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Measured {
    pub kernel: String,
    pub launches: u64,
    /// By the names of goals.
    pub counters: BTreeMap<String, f64>,
    pub predicted_us: Option<f64>,
}

/// How sure each part of the verdict is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sure {
    pub result: String,
    pub counters: String,
    pub predicted: String,
}

/// Counters of the text, of which those that are 0 on both sides are left out.
const SHOWN: [&str; 8] = [
    "loads.sectors",
    "stores.sectors",
    "shared.wavefronts",
    "shared.bank_conflicts",
    "local.sectors",
    "atomics.sectors",
    "instructions",
    "launches",
];

impl Verdict {
    /// Adds a problem, each once: later ones of a rule add sizes.
    pub fn add(&mut self, rule: &str, trick: bool, text: String, sizes: Option<&Sizes>) {
        let known = self.problems.iter_mut().find(|problem| problem.rule == rule);
        match (known, sizes) {
            (Some(known), Some(sizes)) if !known.sizes.contains(sizes) => known.sizes.push(sizes.clone()),
            (Some(_), _) => {}
            (None, sizes) => {
                let sizes = sizes.into_iter().cloned().collect();
                self.problems.push(Problem { rule: rule.to_owned(), trick, text, sizes });
            }
        }
        self.verdict = match self.problems.iter().any(|problem| problem.trick) {
            true => Status::Refused,
            false => Status::Wrong,
        };
    }

    /// Sets what follows from the rest, for this model of a GPU.
    pub fn complete(&mut self, model: &str) {
        let time = |kernels: &[Measured]| {
            let all: Option<Vec<f64>> = kernels.iter().map(|kernel| kernel.predicted_us).collect();
            all.map(|all| all.iter().sum::<f64>()).filter(|&time| time > 0.0)
        };
        let Kernels { reference, candidate } = &self.kernels;
        self.times_as_fast = time(reference).zip(time(candidate)).map(|(reference, candidate)| reference / candidate);
        self.sure = Sure {
            result: match self.verdict {
                Status::Right => format!(
                    "no counterexample in {} with {} of sizes and {} in drawn orders; not a proof",
                    several(self.calls as usize, "call"),
                    several(self.sizes.len(), "combination"),
                    several(self.orders as usize, "run"),
                ),
                _ => "certain: the seed shows each problem again".to_owned(),
            },
            counters: "exact for these sizes and this data, the same on every machine".to_owned(),
            predicted: match candidate.iter().chain(reference).any(|kernel| kernel.predicted_us.is_some()) {
                true => format!("a model of {model}, not a measurement; small differences mean nothing"),
                false => "no time is predicted".to_owned(),
            },
        };
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        u8::from(self.verdict != Status::Right)
    }

    /// The verdict for people.
    pub fn text(&self) -> String {
        let status = match self.verdict {
            Status::Right => "right",
            Status::Wrong => "wrong",
            Status::Refused => "refused",
        };
        let mut text = format!("{}: {status}\n", printable(&self.candidate));
        for problem in &self.problems {
            let at = match &problem.sizes[..] {
                [] => String::new(),
                [one] => format!(" (at {})", shown(one)),
                [first, others @ ..] => format!(" (at {}, and at {} more)", shown(first), others.len()),
            };
            let words = printable(&one_line(&format!("{}{at}", problem.text)));
            text += &wrapped(&words, WIDTH, &format!("  {}: ", problem.rule), "    ");
            text.push('\n');
        }
        if !self.problems.is_empty() && !self.right_at.is_empty() {
            let all: Vec<String> = self.right_at.iter().map(shown).collect();
            let words = format!("Right at {} of {}: {}.", all.len(), self.sizes.len(), all.join("; "));
            let _ = writeln!(text, "{}", wrapped(&words, WIDTH, "  ", "    "));
        }
        self.write_kernels(&mut text);
        let Sure { result, counters, predicted } = &self.sure;
        let sure = format!("Result: {result}. Counters: {counters}. Time: {predicted}. Seed: {}.", self.seed);
        let _ = writeln!(text, "\n{}", paragraph(&printable(&sure)));
        if let Some(explanation) = &self.explanation {
            let _ = write!(text, "\n{}", printable_lines(explanation));
        }
        text
    }

    /// Counters and times of both sides.
    fn write_kernels(&self, text: &mut String) {
        let Kernels { reference, candidate } = &self.kernels;
        if reference.is_empty() && candidate.is_empty() {
            return;
        }
        let _ = writeln!(text, "\nAll kernels of one call at {}:", shown(&self.measured_at));
        let sum = |kernels: &[Measured], name: &str| {
            let value = |kernel: &Measured| match name {
                "launches" => Some(kernel.launches as f64),
                "predicted us" => kernel.predicted_us,
                _ => kernel.counters.get(name).copied(),
            };
            kernels.iter().filter_map(value).reduce(|one, other| one + other)
        };
        let _ = writeln!(text, "{:24} {:>14} {:>14}", "", "reference", "candidate");
        for name in SHOWN.into_iter().chain(["predicted us"]) {
            let values = [sum(reference, name), sum(candidate, name)];
            if values.iter().all(|value| value.is_none_or(|value| value == 0.0)) {
                continue;
            }
            let [reference, candidate] = values.map(|value| value.map_or("-".to_owned(), number));
            let _ = writeln!(text, "{name:24} {reference:>14} {candidate:>14}");
        }
    }
}

/// Sizes in a line.
pub fn shown(sizes: &Sizes) -> String {
    sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect::<Vec<_>>().join(", ")
}
