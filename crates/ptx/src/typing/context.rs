//! The instruction being typed: what every family of instructions reads from.
//!
//! Its methods are in [`modifiers`](super::modifiers), [`mode`](super::mode),
//! [`names`](super::names), [`operands`](super::operands) and [`addresses`](super::addresses). It
//! marks modifiers as taken, and may add registers and pending branches to the function being read;
//! the module's declarations stay as they are.

use crate::environment::Environment;
use crate::syntax::statement::Statement;

/// An instruction that is being typed.
pub(crate) struct Context<'s, 't> {
    pub(super) statement: &'s Statement<'t>,
    pub(super) environment: &'s mut Environment<'t>,
    /// The modifiers that have been taken, a bit for each.
    pub(super) taken: u64,
    /// The index of the modifier that was taken last.
    pub(super) last: usize,
}
