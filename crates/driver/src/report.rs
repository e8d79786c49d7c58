//! Faults and findings of a launch on the standard error, with their lines of source, and the
//! statuses that a GPU would give.

use std::sync::Once;

use device::names;
use simt::faults::{AccessFaultKind, FindingKind};
use simt::{Finding, Trap, TrapKind};

use crate::boundary::{Status, say, show};
use crate::settings::SETTINGS;

/// Shows what the checks found. Returns the status with which a GPU would have ended.
pub fn findings(found: &[Finding], beyond: u64) -> Option<Status> {
    if !found.is_empty() || beyond > 0 {
        show(&fault_text::findings(found, beyond, SETTINGS.width, &SETTINGS.sources));
    }
    found.iter().find_map(|finding| match &finding.kind {
        FindingKind::Access { fault, .. } => Some(access(fault)),
        FindingKind::Free { .. } => Some(Status::ILLEGAL_ADDRESS),
        _ => None,
    })
}

/// Shows a fault. Returns the status that a GPU would give.
pub fn trap(trap: &Trap) -> Status {
    findings(&trap.findings, 0);
    show(&fault_text::trap(trap, ("", ""), SETTINGS.width, &SETTINGS.sources));
    match &trap.kind {
        TrapKind::Access { fault, .. } => access(fault),
        TrapKind::Free { .. } | TrapKind::FaultLimit { .. } => Status::ILLEGAL_ADDRESS,
        TrapKind::Assertion { .. } => Status::ASSERT,
        TrapKind::StepLimit { .. } | TrapKind::NoProgress { .. } => Status::LAUNCH_TIMEOUT,
        _ => Status::LAUNCH_FAILED,
    }
}

/// Says, once, that a launch cannot run again, since it waits for what the host writes.
pub fn waits_for_host(kernel: &str) {
    static SAID: Once = Once::new();
    let kernel = names::shown(kernel);
    SAID.call_once(|| {
        say(&format!(
            "kernel `{kernel}` waits for the host: it has no predicted time, no counters of a model, and no other orders"
        ))
    });
}

/// The status of an access that cannot be made.
fn access(fault: &AccessFaultKind) -> Status {
    match fault {
        AccessFaultKind::Misaligned { .. } => Status::MISALIGNED_ADDRESS,
        AccessFaultKind::WrongSpace { .. } => Status::INVALID_ADDRESS_SPACE,
        _ => Status::ILLEGAL_ADDRESS,
    }
}
