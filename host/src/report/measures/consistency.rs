//! Old messages: whether PTX allows that a reader finds one, and how often it did.

use serde_json::Value;

use crate::report::explanations as explain;
use crate::report::measure::Better::{Lower, Neither};
use crate::report::measure::{Cell, Measure, Section};

/// What PTX's memory model says of an old message.
pub const STALE_ALLOWED: Measure =
    Measure::new(Section::Counter, "old_message", &["PTX: an", "old message is"], Neither, |variant| {
        variant.fact("old_message").and_then(Value::as_str).map(Cell::text)
    })
    .explained(explain::old_messages);

/// How often the message was old, of so many more runs.
pub const STALE_AGAIN: Measure =
    Measure::new(Section::Counter, "runs_with_old_message", &["runs with an", "old message"], Lower, |variant| {
        let again = variant.again?;
        Some(Cell::new(f64::from(again.wrong), format!("{} of {}", again.wrong, again.times)))
    })
    .explained(explain::runs_again);

/// Both.
pub const CONSISTENCY: &[Measure] = &[STALE_ALLOWED, STALE_AGAIN];
