//! Faults and findings of a launch on the standard error, and the statuses that a GPU would give.

use simt::faults::FindingKind;
use simt::{Finding, Trap, TrapKind};

use crate::boundary::{Status, say};

/// Shows what the checks found. Returns the status with which a GPU would have ended.
pub fn findings(found: &[Finding], beyond: u64) -> Option<Status> {
    for finding in found {
        say(&finding.to_string());
    }
    if beyond > 0 {
        say(&format!("and {beyond} more"));
    }
    found.iter().find_map(|finding| match &finding.kind {
        FindingKind::Access { fault: simt::faults::AccessFaultKind::Misaligned { .. }, .. } => {
            Some(Status::MISALIGNED_ADDRESS)
        }
        FindingKind::Access { .. } | FindingKind::Free { .. } => Some(Status::ILLEGAL_ADDRESS),
        _ => None,
    })
}

/// Shows a fault. Returns the status that a GPU would give.
pub fn trap(trap: &Trap) -> Status {
    findings(&trap.findings, 0);
    say(&trap.to_string());
    match &trap.kind {
        TrapKind::Access { fault: simt::faults::AccessFaultKind::Misaligned { .. }, .. } => Status::MISALIGNED_ADDRESS,
        TrapKind::Access { .. } | TrapKind::Free { .. } | TrapKind::FaultLimit { .. } => Status::ILLEGAL_ADDRESS,
        TrapKind::Assertion { .. } => Status::ASSERT,
        TrapKind::StepLimit { .. } | TrapKind::NoProgress { .. } | TrapKind::Cancelled => Status::LAUNCH_TIMEOUT,
        _ => Status::LAUNCH_FAILED,
    }
}
