//! How blocks and warps run when [`crate::orders`] compares results, in words for a report.

use std::fmt;

use simt::Model;
use simt::orders::{DrawnOrder, Start, Strategy};

/// How blocks and warps run, other than usual.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// In this order.
    Order(DrawnOrder),
    /// As many blocks at once as this model has room for.
    Model(&'static Model),
}

impl fmt::Display for Way {
    /// In words, and the text form of an order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self {
            Self::Order(order) => order,
            Self::Model(model) => return write!(f, "blocks run at the same time as on the model `{}`", model.name),
        };
        match order.strategy {
            Strategy::Usual => f.write_str("one block after another, and in each one warp after another")?,
            Strategy::Random { every: 1 } => f.write_str("after each access to memory, the next warp is drawn")?,
            Strategy::Random { every } => {
                write!(f, "after about {every} accesses to memory, the next warp is drawn")?;
            }
            Strategy::Priorities { depth, .. } => write!(
                f,
                "warps run in the order of drawn priorities, which {}",
                match depth {
                    1 => "never change".to_owned(),
                    2 => "change once".to_owned(),
                    _ => format!("change {} times", depth - 1),
                }
            )?,
        }
        if order.start == Some(Start::Down) {
            f.write_str(", the last block first")?;
        }
        if order.lanes > 0 {
            f.write_str("; lanes of a warp may run separately")?;
        }
        write!(f, " ({order})")
    }
}
