//! The error for what needs a newer `.target` or `.version`. `typing/mod.rs` raises it for
//! instructions, `names.rs` for special registers.

use super::versions::Version;
use crate::Span;
use crate::errors::{InstructionError, Parsed, fault};

/// Fails if a newer target or a newer version is needed.
pub(super) fn check_supported(
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
