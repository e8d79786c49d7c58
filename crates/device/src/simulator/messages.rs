//! What the simulator says of modules that it does not load, and of launches that stop.

use simt::faults::LoadErrorReason;
use simt::{MemoryError, Trap, TrapKind};
use wording::one_line;

use crate::LaunchConfig;
use crate::advice::Advice;
use crate::error::Error;
use crate::names;

/// The error of a module that the simulator does not load; `note` is about the limit of memory.
pub(super) fn refused(error: &simt::LoadError, note: &str) -> Error {
    let mut problem = one_line(&error.described());
    if let LoadErrorReason::Memory(MemoryError::OutOfMemory { .. })
    | LoadErrorReason::Heap(MemoryError::OutOfMemory { .. }) = error.reason
    {
        problem += note;
    }
    Error::Ptx { name: format!("{}:{}:{}", error.module, error.line, error.column), problem }
}

/// The trap with the demangled names of kernel and function.
pub(super) fn with_shown_names(trap: &Trap) -> Trap {
    let shown = |symbol: &str| names::shown(symbol).into_owned();
    Trap { kernel: shown(&trap.kernel), function: shown(&trap.function), ..trap.clone() }
}

/// Advice about blocks that wait for each other, for the end of a message.
pub(super) fn waiting_advice(kind: &TrapKind, config: &LaunchConfig, advice: &Advice) -> &'static str {
    match kind {
        TrapKind::NotCooperative => advice.not_cooperative,
        TrapKind::NoProgress { not_begun: 1.., .. } if config.checks.any() => advice.waits_under_checks,
        TrapKind::NoProgress { not_begun: 1.., .. } => {
            "; blocks that have not begun may have to write it: launch fewer blocks"
        }
        _ => "",
    }
}
