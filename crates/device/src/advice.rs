//! What a program tells its users to do about an error: the names of its flags and commands. The
//! library knows none of them; a program that has some gives them in [`Options`](crate::Options).

use simt::TrapKind;
use wording::units;

/// What the ends of errors advise. Each text is appended to a message as it is; the default is in
/// the library's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// For a GPU that does not exist.
    pub no_such_gpu: &'static str,
    /// For a GPU that was asked for where there is no driver.
    pub no_gpu: &'static str,
    /// For a driver that is too old.
    pub old_driver: &'static str,
    /// For a GPU that is too old.
    pub old_gpu: &'static str,
    /// For a fault on a GPU, which does not say where it was.
    pub gpu_fault: &'static str,
    /// What sets [`Limits::memory_limit`](crate::limits::Limits::memory_limit), such as a flag.
    /// Without a name, messages do not mention the limit.
    pub memory_limit: Option<&'static str>,
    /// What sets [`Limits::heap_limit`](crate::limits::Limits::heap_limit), after the words "the
    /// heap's size".
    pub heap_limit: &'static str,
    /// For a launch that exceeds [`Limits::step_limit`](crate::limits::Limits::step_limit).
    pub step_limit: &'static str,
    /// For a launch that exceeds [`Limits::fault_limit`](crate::limits::Limits::fault_limit).
    pub fault_limit: &'static str,
    /// For a kernel that waits for the whole grid in a launch that is not cooperative.
    pub not_cooperative: &'static str,
    /// For blocks that wait for later ones, which checks run one after another.
    pub waits_under_checks: &'static str,
    /// For a launch with checks that exceeds the limit of steps on a model, where it might end
    /// without checks.
    pub endless_under_checks: &'static str,
}

impl Advice {
    /// The library's own words.
    pub const DEFAULT: Self = Self {
        no_such_gpu: "",
        no_gpu: "; the simulator needs none",
        old_driver: ", or use the simulator",
        old_gpu: "; use the simulator",
        gpu_fault: "; the simulator names the line and the address",
        memory_limit: None,
        heap_limit: "",
        step_limit: "",
        fault_limit: "",
        not_cooperative: "; make the launch cooperative",
        waits_under_checks: "; with checks, blocks run one after another: make the launch cooperative, which runs them side by \
                             side, or leave the checks out",
        endless_under_checks: "; with checks, blocks run one after another, and one that waits for a later one never ends: leave \
                               the checks out",
    };

    /// What the limit of memory allows, if there is one that has a name.
    pub(crate) fn memory_note(&self, limit: Option<u64>) -> String {
        let note = self.memory_limit.zip(limit);
        note.map_or(String::new(), |(name, limit)| format!(" ({name} allows {})", units::bytes(limit)))
    }

    /// What to do about a launch that exceeds a limit.
    pub(crate) fn on_limit(&self, kind: &TrapKind) -> &'static str {
        match kind {
            TrapKind::StepLimit { .. } => self.step_limit,
            TrapKind::FaultLimit { .. } => self.fault_limit,
            _ => "",
        }
    }
}

impl Default for Advice {
    fn default() -> Self {
        Self::DEFAULT
    }
}
