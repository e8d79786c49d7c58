//! What an instruction, an operand or a special register needs of `.target` and `.version`.

use super::versions::Version;
use crate::Span;
use crate::errors::{InstructionError, Parsed, fault};

/// Fails for what needs a newer target or a newer version.
pub(super) fn needs_nothing(
    (target, version): (Option<u32>, Option<Version>),
    span: Span,
    name: impl FnOnce() -> String,
) -> Parsed<()> {
    match (target, version) {
        (Some(target), _) => fault(span, InstructionError::NeedsTarget { instruction: name(), target }),
        (_, Some(version)) => fault(span, InstructionError::NeedsVersion { instruction: name(), version }),
        (None, None) => Ok(()),
    }
}
