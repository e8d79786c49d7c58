//! What came of a student's file: everything that a report, a mark or a test needs to know.

use simt::{AccessAction, Finding, Site, SourcePosition, Trap, TrapKind};

use crate::compile::SOURCE;
use crate::data::Sizes;
use crate::goal::Goal;

/// What came of a student's file.
#[derive(Debug)]
pub struct Verdict {
    /// What is wrong; `None` if it is right and meets all goals.
    pub failure: Option<Failure>,
    /// The sizes at which the results were right.
    pub right_at: Vec<Sizes>,
    /// The goals, as far as they were counted.
    pub goals: Vec<GoalResult>,
    /// The predictions.
    pub answers: Vec<AnswerResult>,
    /// The seed: with it, the same run can be made again.
    pub seed: u64,
    /// How long it took on a GPU.
    pub times: Option<Times>,
}

/// Times on a GPU, in milliseconds: medians of all launches of the exercise.
#[derive(Debug)]
pub struct Times {
    /// At these sizes.
    pub sizes: Sizes,
    /// The student's kernels.
    pub student: f64,
    /// The solution's.
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
    /// The file has something that no exercise needs and that is not safe to compile.
    Refused(String),
    /// It does not compile: rustc's messages.
    DoesNotCompile(String),
    /// Predictions that cannot be read.
    Unreadable(String),
    /// A kernel is missing, or has other parameters.
    Signature(String),
    /// The kernels did something that they must not do, at these sizes, and what is wrong with the results, if they came to an end.
    Faults(Sizes, Vec<Fault>, Option<Wrong>),
    /// The results are wrong.
    Wrong(Sizes, Wrong),
    /// Something that only the input holds was changed.
    InputChanged(Sizes, Place),
    /// Goals are missed.
    Goals,
    /// Predictions are wrong.
    Answers,
}

/// Why a run did not come to its end.
#[derive(Debug)]
pub enum Problem {
    /// The kernels are not those that the exercise launches.
    Signature(String),
    /// The kernels did something that stopped them.
    Fault(Box<Fault>),
    /// The exercise is wrong.
    Exercise(String),
    /// The device failed, or does not run this.
    Device(host::Error),
}

impl Problem {
    /// What an error of the device is.
    pub fn of(error: host::Error) -> Self {
        match error {
            host::Error::Fault { trap: Some(trap), .. } => Self::Fault(Box::new(Fault::trapped(&trap))),
            host::Error::Fault { fault, .. } => Self::Fault(Box::new(Fault { message: fault, ..Fault::default() })),
            host::Error::Launch { kernel, problem } => Self::Signature(format!("kernel `{kernel}` {problem}")),
            other => Self::Device(other),
        }
    }
}

/// A fault: what a kernel did that it must not do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fault {
    /// What it is, in a word: `memory`, `race`, `init`, `sync`, `undefined`; `trap` for what stopped the kernel.
    pub kind: String,
    /// What it is.
    pub message: String,
    /// Who did it, where: the line of the student's file, and a sentence.
    pub sites: Vec<(Option<u32>, String)>,
    /// How many times it happened.
    pub count: u64,
    /// The address that it is about.
    pub address: Option<u64>,
    /// The address where its allocation begins.
    pub allocation: Option<u64>,
    /// Which element of which buffer that is.
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
        Self {
            kind: "trap".to_owned(),
            message: trap.kind.to_string(),
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

/// The line of the student's file, of a place and those that it was inlined into.
fn line(source: &[SourcePosition]) -> Option<u32> {
    source.iter().find(|position| position.file == SOURCE).map(|position| position.line)
}

/// An element of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The buffer's name.
    pub buffer: String,
    /// Row and column; the row only of a matrix.
    pub row: Option<usize>,
    /// Column, or index.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "{}[{row}][{}]", self.buffer, self.column),
            None => write!(f, "{}[{}]", self.buffer, self.column),
        }
    }
}

/// Where results are wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The first wrong element.
    pub first: Place,
    /// What it is; `None` if nothing was written there.
    pub is: Option<String>,
    /// What it should be.
    pub should_be: String,
    /// How many elements of this buffer are wrong.
    pub count: usize,
    /// How many of these were never written.
    pub unwritten: usize,
    /// Of how many.
    pub of: usize,
}

/// A goal and what was counted.
#[derive(Clone, Debug)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// What was counted; `None` where there was nothing to count.
    pub value: Option<f64>,
    /// What it was compared with.
    pub bound: f64,
    /// Whether it is met.
    pub met: bool,
    /// The line to blame, with its own value.
    pub blamed: Option<crate::metric::Blamed>,
    /// What keeps the occupancy from being higher, if that is what was counted.
    pub limiter: Option<String>,
    /// What it means when it is missed.
    pub why: String,
    /// Whether the starter meets it already.
    pub also: bool,
}

/// A prediction and what was counted.
#[derive(Clone, Debug)]
pub struct AnswerResult {
    /// The question's name.
    pub name: String,
    /// The question.
    pub ask: String,
    /// What the student says; `None` where there is no answer yet.
    pub predicted: Option<f64>,
    /// What was counted.
    pub counted: f64,
    /// The reason.
    pub why: String,
}

impl AnswerResult {
    /// Whether it is right, to three digits.
    pub fn right(&self) -> bool {
        self.predicted.is_some_and(|predicted| {
            (predicted - self.counted).abs() <= 0.005 * (1.0 + self.counted.abs()) && {
                // Whole numbers are to be exact.
                self.counted.fract() != 0.0 || predicted == self.counted
            }
        })
    }
}
