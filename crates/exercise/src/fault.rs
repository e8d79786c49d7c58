//! What goes wrong in a run: the faults of kernels, in the words that students read, and why a run
//! ended early. [`crate::run`] makes them. Plain data.

use simt::faults::{AccessAction, Site, SourcePosition};
use simt::{Finding, Trap, TrapKind};

use crate::SOURCE;
use crate::goals_file::Launch;

/// What a trap instruction means in a kernel in Rust.
const CHECK_FAILED: &str = "trap: a check of Rust failed, as for an index out of bounds or `unwrap` of `None`";

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

    /// The same of a launch that the student's file asks for: what is wrong with its numbers is the
    /// student's mistake.
    pub fn of_launch(self, launch: &Launch) -> Self {
        match (self, launch.line) {
            (Self::Exercise(text), Some(_)) => Self::Signature(text).in_line(launch.line),
            (other, line) => other.in_line(line),
        }
    }

    /// The same with the line of the student's file that asks for the launch, if there is one.
    pub fn in_line(self, line: Option<u32>) -> Self {
        match (self, line) {
            (Self::Signature(text), Some(line)) => Self::Signature(format!("line {line}: {text}")),
            (other, _) => other,
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

/// The line of the student's file, from an instruction's position and those that it was inlined
/// into.
fn line(source: &[SourcePosition]) -> Option<u32> {
    source.iter().find(|position| position.file == SOURCE).map(|position| position.line)
}
