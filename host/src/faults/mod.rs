//! The simulator's sanitizer in the host program: the flag that enables it, and its findings as text and as JSON.

mod fault;
mod text;

use std::io::Write;

use clap::Args;
use simt::{Checks, Finding, Report, Trap};

use crate::error::{Error, Result};
use crate::report::Format;

pub use fault::Fault;

/// The flag of every subcommand that launches kernels.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct SanitizerFlags {
    /// On the simulator: the faults to look for, separated by commas: memory, init, race, sync, undefined, or all, or none. strict,
    /// which all does not include, adds what a GPU runs but is often a mistake: barriers that proceed without exited threads, volatile
    /// accesses in place of barriers [default: all for run; none for the labs, whose own kernels have been checked]
    #[arg(long, value_name = "CHECKS")]
    check: Option<Checks>,
}

impl SanitizerFlags {
    /// What to look for, where the flag does not say.
    pub fn or(self, default: Checks) -> Checks {
        self.check.unwrap_or(default)
    }

    /// Checks that there is a simulator to run the checks: the device itself, or one beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Flag`] when there is none, but checks are requested.
    pub fn check_simulated(self, simulated: bool) -> Result<()> {
        match simulated || !self.or(Checks::NONE).any() {
            true => Ok(()),
            false => Err(Error::flag("--check", "only the simulator runs checks; give --device sim or --counters")),
        }
    }
}

/// What the sanitizer found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Each bug once.
    pub list: Vec<Finding>,
    /// Occurrences of further bugs, which were not kept.
    pub beyond: u64,
}

impl Findings {
    /// The findings of a launch.
    pub fn of(report: &Report) -> Self {
        Self { list: report.findings().to_vec(), beyond: report.findings_beyond() }
    }

    /// The findings of a launch before it was stopped.
    pub fn before(trap: Option<&Trap>) -> Self {
        Self { list: trap.map(|trap| trap.findings.clone()).unwrap_or_default(), beyond: 0 }
    }

    /// The findings of several launches: a fault of a kernel in more than one of them counts once.
    pub fn of_all<'a>(launches: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        launches.for_each(|findings| all.add(findings));
        all
    }

    /// Adds those of another launch: what a kernel did in both is one.
    pub fn add(&mut self, launch: &Self) {
        self.beyond += launch.beyond;
        for finding in &launch.list {
            match self.list.iter_mut().find(|known| is_same(known, finding)) {
                Some(known) => known.count += finding.count,
                None => self.list.push(finding.clone()),
            }
        }
    }

    /// Shows them on the standard error: the standard output is for results. JSON has them already.
    pub fn tell(&self, format: Format) {
        if format != Format::Json {
            // Without a standard error there is nowhere to write this.
            let _ = std::io::stderr().write_all(text::of(self).as_bytes());
        }
    }

    /// The findings for the JSON.
    pub fn faults(&self) -> Vec<Fault> {
        self.list.iter().map(Fault::found).collect()
    }

    /// The error that they are, if there are any.
    pub fn error(&self) -> Option<Error> {
        let mut kernels: Vec<String> = Vec::new();
        for finding in &self.list {
            if !kernels.contains(&finding.kernel) {
                kernels.push(finding.kernel.clone());
            }
        }
        (!kernels.is_empty()).then_some(Error::Findings { kernels, count: self.list.len() })
    }
}

/// Whether two findings are of one bug.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let of = |finding: &Finding| {
        let second = finding.second.as_ref().map(|site| site.ptx_line);
        (finding.kind.name(), finding.first.ptx_line, second)
    };
    one.kernel == other.kernel && of(one) == of(other)
}
