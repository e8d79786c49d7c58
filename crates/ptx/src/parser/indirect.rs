//! A call through a register whose candidates are known only when all functions are.
//! `parser/function.rs` records such calls and resolves them at the end of the module.

use crate::arena::Handle;
use crate::environment::Signature;
use crate::{Function, Span};

/// A call through a register whose candidates are all functions with a matching signature.
pub(super) struct IndirectCall {
    pub function: Handle<Function>,
    pub at: usize,
    pub signature: Signature,
    pub span: Span,
}
