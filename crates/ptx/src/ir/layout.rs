//! How the parameters of a function lie in memory.

use super::{Function, Module};

/// Where the parameters of a function lie, one after the other, each at its alignment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterLayout {
    /// A slot for each parameter, in order.
    pub slots: Vec<ParameterSlot>,
    /// Bytes of all of them together.
    pub total: u64,
}

/// The place of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSlot {
    /// Bytes from the start of the parameters.
    pub offset: u64,
    /// Size in bytes (0 for a last parameter `[]`, whose size the caller sets).
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

impl Module {
    /// The layout of the parameters of one of this module's functions. For a kernel this is the layout of the bytes
    /// that a launch passes.
    pub fn parameter_layout(&self, function: &Function) -> ParameterLayout {
        let mut layout = ParameterLayout::default();
        for &parameter in &function.parameters {
            let variable = &self.variables[parameter];
            let (align, size) = (variable.align.max(1), variable.size.unwrap_or(0));
            let offset = layout.total.checked_next_multiple_of(u64::from(align)).unwrap_or(u64::MAX);
            layout.slots.push(ParameterSlot { offset, size, align });
            layout.total = offset.saturating_add(size);
        }
        layout
    }
}
