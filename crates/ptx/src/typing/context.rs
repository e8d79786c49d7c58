//! An instruction while it is typed. Its methods are in [`modifiers`](super::modifiers) and [`operands`](super::operands).

use crate::environment::Environment;
use crate::parser::statement::Statement;

/// An instruction that is being typed.
pub(crate) struct Context<'s, 't> {
    pub(super) statement: &'s Statement<'t>,
    pub(super) environment: &'s mut Environment<'t>,
    /// The modifiers that are taken, a bit for each.
    pub(super) taken: u64,
    /// The one that was taken last.
    pub(super) last: usize,
}
