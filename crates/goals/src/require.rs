//! Goals in Rust tests: [`Require`] asks the report of a launch to meet one.

use std::fmt;

use simt::Report;
use simt::prediction::Predicted;

use crate::metric::Launched;
use crate::requirement::{Kernel, Requirement};

/// Why a report does not meet a goal: the goal with the value and the line that contributes most,
/// or what is wrong with the goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed(String);

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missed {}

/// What a launch did can be required to meet a goal.
pub trait Require {
    /// Fails unless the launch meets this goal, `METRIC OPERATOR BOUND`, as in
    /// `loads.sectors <= 1.05 * loads.bytes / 32`.
    ///
    /// # Errors
    ///
    /// [`Missed`], a line: the value, and the line of source that contributes most.
    fn require(&self, goal: &str) -> Result<(), Missed>;
}

impl Require for Report {
    fn require(&self, goal: &str) -> Result<(), Missed> {
        let wrong = |what: String| Missed(format!("{goal}: {what}"));
        let requirement = Requirement::new(goal).map_err(wrong)?;
        requirement.check_of_launch().map_err(wrong)?;
        let launched = Launched { kernel: String::new(), report: self.clone(), counters: self.counters() };
        let kernel = Kernel {
            name: String::new(),
            module: "PTX".to_owned(),
            launched: Some(&launched),
            launches: 1,
            shapes: Vec::new(),
            predicted_us: match self.predicted() {
                Some(Predicted::Time(time)) => Some(time.cold_us),
                _ => None,
            },
            registers: None,
            findings: self.findings().len() as u64 + self.findings_beyond(),
        };
        match requirement.judge(&[kernel]).into_iter().find(|judged| !judged.met) {
            Some(judged) => Err(Missed(judged.text())),
            None => Ok(()),
        }
    }
}
