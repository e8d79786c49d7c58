//! Calls through registers, until all functions are known.

use crate::arena::Handle;
use crate::environment::Signature;
use crate::{Function, Span};

/// A call through a register whose candidates are all functions that fit.
pub(super) struct IndirectCall {
    pub function: Handle<Function>,
    pub at: usize,
    pub signature: Signature,
    pub span: Span,
}
