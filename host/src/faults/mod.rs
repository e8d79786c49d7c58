//! The simulator's sanitizer in the host program: the flag `--check` that enables it, and its
//! findings as text and as JSON. Labs and `host run` use it after each launch on the simulator.

mod fault;

use std::path::PathBuf;

use clap::{Arg, Args};
use device::{Error, Result};
use simt::{Checks, Finding, Report, Trap};

use crate::report::Format;
use crate::terminal;

pub use fault::{Allocation, Fault, Frame, Other};

/// The flag of every subcommand that launches kernels.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct SanitizerFlags {
    /// On the simulator: the faults to look for, separated by commas: memory, init, race, sync,
    /// undefined; or all, or none. strict, which all does not include, adds what a GPU runs but is
    /// often a mistake
    #[arg(long, value_name = "CHECKS")]
    check: Option<Checks>,
}

/// The flag `--check`, whose help says what a subcommand checks without it.
pub fn checks_by_default(flag: Arg, checks: &str) -> Arg {
    let help = flag.get_help().cloned().unwrap_or_default();
    flag.help(format!("{help} [default: {checks}]"))
}

impl SanitizerFlags {
    /// The requested checks, or this default.
    pub fn or(self, default: Checks) -> Checks {
        self.check.unwrap_or(default)
    }

    /// These checks, but not for races.
    pub fn without_races(self) -> Self {
        Self { check: self.check.map(|checks| Checks { race: false, ..checks }) }
    }

    /// Fails if checks are requested and there is no simulator to run them: neither the device
    /// itself nor one beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub fn check_simulated(self, simulated: bool) -> Result<()> {
        match simulated || !self.or(Checks::NONE).any() {
            true => Ok(()),
            false => Err(Error::request("--check", "only the simulator runs checks; give --device sim or --counters")),
        }
    }
}

/// What the sanitizer found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The findings, each bug once.
    pub list: Vec<Finding>,
    /// How many occurrences of further bugs were not kept.
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

    /// The findings of several launches. A kernel's fault counts once, however many launches it
    /// occurs in.
    pub fn of_all<'a>(launches: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        launches.for_each(|findings| all.add(findings));
        all
    }

    /// Adds the findings of another launch. A finding of the same kernel in both counts once.
    pub fn add(&mut self, launch: &Self) {
        self.beyond += launch.beyond;
        for finding in &launch.list {
            match self.list.iter_mut().find(|known| is_same(known, finding)) {
                Some(known) => known.count += finding.count,
                None => self.list.push(finding.clone()),
            }
        }
    }

    /// Writes them to the standard error, because the standard output is for results. JSON has them
    /// already. `sources` are further folders of sources.
    pub fn print(&self, format: Format, sources: &[PathBuf]) {
        if format != Format::Json {
            crate::messages::write(&fault_text::findings(
                &self.list,
                self.beyond,
                terminal::width_of_messages(),
                sources,
            ));
        }
    }

    /// The findings for the JSON.
    pub fn faults(&self) -> Vec<Fault> {
        self.list.iter().map(Fault::found).collect()
    }

    /// The error for them, if there are any.
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

/// The message of a trap on the simulator, in lines, with its source, which may also be in these
/// folders; `None` for other errors.
pub(crate) fn trap_text(error: &Error, sources: &[PathBuf]) -> Option<String> {
    match error {
        Error::Fault { fault, trap: Some(trap), .. } => {
            let around = fault::around(trap, fault);
            Some(fault_text::trap(trap, around, terminal::width_of_messages(), sources))
        }
        _ => None,
    }
}

/// Whether two findings are the same bug.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let of = |finding: &Finding| {
        let second = finding.second.as_ref().map(|site| site.ptx_line);
        (finding.kind.name(), finding.first.ptx_line, second)
    };
    one.kernel == other.kernel && of(one) == of(other)
}
