//! How blocks and warps run when [`crate::orders`] compares results, in words for a report.

use std::fmt;

use simt::Model;
use simt::orders::DrawnOrder;

/// How blocks and warps run, other than usual.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are a few at a time")]
pub enum Schedule {
    /// In this order.
    Order(DrawnOrder),
    /// As many blocks at once as this model has room for.
    Model(&'static Model),
}

impl Schedule {
    /// Whether it is this order.
    pub fn is(&self, order: &DrawnOrder) -> bool {
        matches!(self, Self::Order(own) if own == order)
    }
}

impl fmt::Display for Schedule {
    /// In words, and the text form of an order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self {
            Self::Order(order) => order,
            Self::Model(model) => return write!(f, "blocks run at the same time as on the model `{}`", model.name),
        };
        write!(f, "{} ({order})", order.described())
    }
}
