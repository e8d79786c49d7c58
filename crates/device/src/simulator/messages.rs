//! What the simulator says of modules that it does not load, and of launches that stop.

use simt::{LoadErrorReason, MemoryError, Trap, TrapKind};
use wording::one_line;

use crate::LaunchConfig;
use crate::error::Error;
use crate::limits::{Limits, memory_note};
use crate::names;

/// The error of a module that the simulator does not load.
pub(super) fn refused(error: &simt::LoadError, limits: &Limits) -> Error {
    let mut problem = one_line(&error.described());
    if let LoadErrorReason::Memory(MemoryError::OutOfMemory { .. })
    | LoadErrorReason::Heap(MemoryError::OutOfMemory { .. }) = error.reason
    {
        problem += &memory_note(limits.memory_flag());
    }
    Error::Ptx { name: format!("{}:{}:{}", error.module, error.line, error.column), problem }
}

/// The trap with the demangled names of kernel and function.
pub(super) fn with_shown_names(trap: &Trap) -> Trap {
    let shown = |symbol: &str| names::shown(symbol).into_owned();
    Trap { kernel: shown(&trap.kernel), function: shown(&trap.function), ..trap.clone() }
}

/// Advice about blocks that wait for each other, for the end of a message.
pub(super) fn waiting_advice(kind: &TrapKind, config: &LaunchConfig) -> &'static str {
    match kind {
        TrapKind::NotCooperative => "; give --cooperative",
        TrapKind::NoProgress { not_begun: 1.., .. } if config.checks.any() => {
            "; with checks, blocks run one after another: give --cooperative, which runs them side by side, or --check none"
        }
        TrapKind::NoProgress { not_begun: 1.., .. } => {
            "; blocks that have not begun may have to write it: launch fewer blocks"
        }
        _ => "",
    }
}
