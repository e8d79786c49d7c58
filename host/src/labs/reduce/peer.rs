//! CUB's reductions of the same values. [`super`] calls it with `--peer`; it reads the lab's input
//! and writes a separate result.

use std::rc::Rc;

use device::Result;
use device::peers::{Peers, Reduction};

use super::number::Number;
use super::on_device::OnDevice;
use super::table::{Operation, Type};
use super::{Data, Reduce, Values};
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};
use crate::peers::{self};

impl Reduce {
    /// CUB's rows for each type and operation, if CUB is there.
    pub(super) fn rows_of<'a>(&'a self, peers: &Rc<Peers>) -> Result<Vec<Variant<'a, Data>>> {
        let mut rows = Vec::new();
        for ty in &self.options.types {
            for &operation in &self.options.operation {
                for &size in &self.sizes {
                    let what = (size, operation);
                    match (ty, &self.f32, &self.i32) {
                        (Type::F32, Some(values), _) => {
                            rows.extend(self.peer(peers, values, what, |data: &mut Data| data.f32.as_mut())?);
                        }
                        (Type::I32, _, Some(values)) => {
                            rows.extend(self.peer(peers, values, what, |data: &mut Data| data.i32.as_mut())?);
                        }
                        _ => continue,
                    }
                }
            }
        }
        Ok(rows)
    }

    /// CUB's row for an operation, if CUB is there.
    fn peer<'a, T: Number>(
        &'a self,
        peers: &Rc<Peers>,
        values: &'a Values<T>,
        (size, operation): (usize, Operation),
        of: impl Fn(&mut Data) -> Option<&mut OnDevice<T>> + Copy + 'a,
    ) -> Result<Option<Variant<'a, Data>>> {
        let Some(library) = peers.cub() else { return Ok(None) };
        let call = (operation.of_library(), T::NUMBER);
        let scratch = peers.scratch_for_reduce(call.0, call.1, size)?;
        let what = self.named(format!("{} of {}", operation.name(), T::TYPE), size);
        let handle = Rc::clone(peers);
        let launch = move |data: &mut Data| match of(data) {
            Some(OnDevice { values, factors, partials: [result, _], left, .. }) => {
                *left = (0, 1);
                let values = if operation == Operation::Product { factors } else { values };
                handle.reduce(call, (values, size), result, &scratch)
            }
            None => Ok(()),
        };
        let outcome = move |data: &mut Data| match of(data) {
            Some(data) => data.outcome(operation, values, size, peers::roundings(size)),
            None => Ok(Outcome::unchecked(Shape::Scalar, vec![T::zeroed()])),
        };
        let name = self.named(format!("cub-{}-{}", operation.name(), T::TYPE), size);
        let row = peers::row(name, library, launch, outcome);
        let row = row.group(what).axis("step", "cub").fact("operation", operation.name()).fact("type", T::TYPE);
        let row = if self.sizes.len() > 1 { row.axis("size", size) } else { row };
        Ok(Some(row.bytes((size * size_of::<T>()) as u64)))
    }
}

impl Operation {
    fn of_library(self) -> Reduction {
        match self {
            Self::Sum => Reduction::Sum,
            Self::Product => Reduction::Product,
            Self::Min => Reduction::Min,
            Self::Max => Reduction::Max,
        }
    }
}
