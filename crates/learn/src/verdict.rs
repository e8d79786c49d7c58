//! The verdict on a student's file: all that a report, a mark or a test needs. [`crate::judge`] makes it. Plain data:
//! `report`, `marks` and `check` read it.

use approx::abs_diff_eq;
use simt::{AccessAction, Finding, Site, SourcePosition, Trap, TrapKind};

use crate::compile::SOURCE;
use crate::data::Sizes;
use crate::goal::Goal;
use crate::lines::Lines;
use crate::seen::Seen;

/// What a trap instruction means in a kernel in Rust.
const CHECK_FAILED: &str = "trap: a check of Rust failed, as for an index out of bounds or `unwrap` of `None`";

/// The verdict on a student's file.
#[derive(Debug)]
pub struct Verdict {
    /// What is wrong; `None` if it is right and meets all goals.
    pub failure: Option<Failure>,
    /// The sizes at which the results were right.
    pub right_at: Vec<Sizes>,
    /// The goals, if they were counted.
    pub goals: Vec<GoalResult>,
    /// The predictions, if there are.
    pub predictions: Vec<PredictionResult>,
    /// The seed, with which the run can be repeated.
    pub seed: u64,
    /// The times on a GPU.
    pub times: Option<Times>,
    /// What each line did, if that was asked for and the kernels were right.
    pub lines: Option<Lines>,
}

/// Times on a GPU, in milliseconds: medians of all launches of the exercise.
#[derive(Debug)]
pub struct Times {
    /// The sizes.
    pub sizes: Sizes,
    /// The student's time.
    pub student: f64,
    /// The solution's time.
    pub solution: f64,
}

impl Verdict {
    /// Whether the exercise is solved.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// What is wrong.
#[derive(Debug)]
pub enum Failure {
    /// The file contains something that is unsafe to compile and that no exercise needs.
    Refused(String),
    /// It does not compile: rustc's messages.
    DoesNotCompile(String),
    /// Predictions that cannot be read.
    Unreadable(String),
    /// A kernel is missing, or has other parameters.
    Signature(String),
    /// The kernels have faults at these sizes. Also holds what is wrong with the results, if there are any.
    Faults(Sizes, Vec<Fault>, Option<Box<Wrong>>),
    /// The time was up while the kernels ran at these sizes. Also holds the faults that were found until then.
    OutOfTime(Sizes, Vec<Fault>),
    /// The results are wrong.
    Wrong(Sizes, Box<Wrong>),
    /// The kernels changed their input.
    InputChanged(Sizes, Position),
    /// Goals are missed.
    Goals,
    /// Predictions are wrong.
    Predictions,
}

/// Why a run did not complete.
#[derive(Debug)]
pub enum Problem {
    /// The file lacks a kernel that the exercise launches, or its parameters differ.
    Signature(String),
    /// A fault stopped the kernels: that one, and what had been found before.
    Faults(Vec<Fault>),
    /// The time was up: where the kernels were, and what had been found before.
    OutOfTime(Vec<Fault>),
    /// The exercise is wrong.
    Exercise(String),
    /// The device failed, or cannot run this.
    Device(device::Error),
}

impl Problem {
    /// The same with other faults, if it has any.
    pub fn map_faults(self, change: impl FnOnce(Vec<Fault>) -> Vec<Fault>) -> Self {
        match self {
            Self::Faults(faults) => Self::Faults(change(faults)),
            Self::OutOfTime(faults) => Self::OutOfTime(change(faults)),
            other => other,
        }
    }

    /// Classifies an error of the device.
    pub fn of(error: device::Error) -> Self {
        match error {
            device::Error::Fault { trap: Some(trap), .. } => {
                let found = trap.findings.iter().map(Fault::found);
                let all = std::iter::once(Fault::trapped(&trap)).chain(found).collect();
                match trap.kind {
                    TrapKind::Cancelled => Self::OutOfTime(all),
                    _ => Self::Faults(all),
                }
            }
            device::Error::Fault { fault, .. } => Self::Faults(vec![Fault { message: fault, ..Fault::default() }]),
            device::Error::Launch { kernel, problem } => Self::Signature(format!("kernel `{kernel}` {problem}")),
            other => Self::Device(other),
        }
    }
}

/// A fault of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fault {
    /// Its kind: `memory`, `race`, `init`, `sync`, `undefined`, or `trap` if it stopped the kernel.
    pub kind: String,
    /// The message.
    pub message: String,
    /// The accesses concerned: the line of the student's file, and a sentence.
    pub sites: Vec<(Option<u32>, String)>,
    /// How many times it happened.
    pub count: u64,
    /// The address concerned.
    pub address: Option<u64>,
    /// The address where its allocation begins.
    pub allocation: Option<u64>,
    /// The element at that address.
    pub element: Option<String>,
}

impl Fault {
    /// What the sanitizer found.
    pub fn found(finding: &Finding) -> Self {
        let site = |site: &Site, before: &str| {
            let does = match site.action {
                Some(AccessAction::Read) => "reads here",
                Some(AccessAction::Write) => "writes here",
                Some(AccessAction::Atomic) => "updates here",
                None => "is here",
            };
            (
                line(&site.source),
                format!("{before}thread {} of block {} {does}", triple(site.thread), triple(site.block)),
            )
        };
        let mut sites = vec![site(&finding.first, "")];
        sites.extend(finding.second.as_ref().map(|second| site(second, "before that, ")));
        Self {
            kind: finding.kind.check().to_string(),
            message: finding.kind.to_string(),
            sites,
            count: finding.count,
            address: finding.kind.address(),
            allocation: finding.kind.allocation().map(|allocation| allocation.address),
            element: None,
        }
    }

    /// What stopped a kernel.
    pub fn trapped(trap: &Trap) -> Self {
        let who = format!("thread {} of block {} is here", triple(trap.thread), triple(trap.block));
        let address = match trap.kind {
            TrapKind::Access { address, .. } | TrapKind::Free { address, .. } => Some(address),
            _ => None,
        };
        let message = match trap.kind {
            TrapKind::TrapInstruction => CHECK_FAILED.to_owned(),
            TrapKind::Cancelled => "the time was up here".to_owned(),
            _ => trap.kind.to_string(),
        };
        Self {
            kind: "trap".to_owned(),
            message,
            sites: vec![(line(&trap.source), who)],
            count: 1,
            address,
            ..Self::default()
        }
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => x.to_string(),
        (_, 0) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}

/// The line of the student's file, from an instruction's position and those that it was inlined into.
fn line(source: &[SourcePosition]) -> Option<u32> {
    source.iter().find(|position| position.file == SOURCE).map(|position| position.line)
}

/// An element of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// The buffer's name.
    pub buffer: String,
    /// The row, if it is a matrix.
    pub row: Option<usize>,
    /// The column, or the index.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "{}[{row}][{}]", self.buffer, self.column),
            None => write!(f, "{}[{}]", self.buffer, self.column),
        }
    }
}

/// Wrong results in one buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The first wrong element.
    pub first: Position,
    /// Its value; `None` if nothing was written there.
    pub is: Option<String>,
    /// The expected value.
    pub should_be: String,
    /// How many elements of this buffer are wrong.
    pub count: usize,
    /// How many of these were never written.
    pub unwritten: usize,
    /// The number of elements.
    pub of: usize,
}

/// The result of a goal.
#[derive(Clone, Debug)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// The counted value; `None` if there was nothing to count.
    pub value: Option<f64>,
    /// The bound's value.
    pub bound: f64,
    /// Whether it is met.
    pub met: bool,
    /// The line to blame, with its share.
    pub blamed: Option<crate::metric::Blamed>,
    /// The dearest access there, if it is missed.
    pub seen: Option<Seen>,
    /// The dearest access of the solution that is counted as this, if the goal compares with it.
    pub solution_seen: Option<Seen>,
    /// What limits the occupancy, if that was counted.
    pub limiter: Option<String>,
    /// The explanation if it is missed.
    pub why: String,
    /// Whether the starter meets it already.
    pub also: bool,
}

/// The result of a prediction.
#[derive(Clone, Debug)]
pub struct PredictionResult {
    /// The question's name.
    pub name: String,
    /// The question.
    pub ask: String,
    /// The student's number; `None` if there is none yet.
    pub predicted: Option<f64>,
    /// What was counted.
    pub counted: f64,
    /// The dearest access that is counted, if there is one.
    pub seen: Option<Seen>,
    /// The explanation.
    pub why: String,
}

impl PredictionResult {
    /// The access in question: with its cost once the answer is known, before that only what the lanes ask for.
    pub fn drawn(&self, explain: bool) -> Option<Seen> {
        let seen = self.seen.as_ref()?;
        let known = self.right() || explain && self.predicted.is_some();
        Some(if known { seen.clone() } else { Seen { scene: seen.scene.without_cost(), ..seen.clone() } })
    }

    /// Whether it is right, to three digits.
    pub fn right(&self) -> bool {
        self.predicted.is_some_and(|predicted| {
            abs_diff_eq!(predicted, self.counted, epsilon = 0.005 * (1.0 + self.counted.abs())) && {
                // Integers must be exact.
                self.counted.fract() != 0.0 || predicted == self.counted
            }
        })
    }
}
