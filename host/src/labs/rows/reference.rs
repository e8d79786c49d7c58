//! What is right: each statistic, computed on the CPU in higher precision. Pure.

use device::Result;

use super::table::Task;
use super::{Data, Rows};
use crate::labs::compare::{Reference, Shape};
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::Outcome;
use crate::report::Tolerance;

impl Rows {
    /// Compares the sums of the rows with the reference.
    pub(super) fn judge_sums(&self) -> impl Fn(&mut Data) -> Result<Outcome> {
        |data| Ok(self.outcome(Task::Sum, data.of_rows.read()?))
    }

    pub(super) fn outcome(&self, task: Task, found: Vec<f32>) -> Outcome {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let shape = Shape::Vector(found.len());
        let row = |row: usize| elements[row * columns..][..columns].iter().copied();
        // Roundings of a sum of this many terms, a square and a quotient.
        let tolerance = Tolerance::Roundings(if task == Task::ColumnMeans { rows } else { columns } as u64 + 2);
        match task {
            Task::Max => Outcome::exact(shape, found, |_, i| row(i).fold(f32::NEG_INFINITY, f32::max)),
            Task::Min => Outcome::exact(shape, found, |_, i| row(i).fold(f32::INFINITY, f32::min)),
            Task::Sum => Outcome::near(shape, found, tolerance, |_, i| Reference::sum(row(i).map(f64::from))),
            Task::Mean => Outcome::near(shape, found, tolerance, |_, i| {
                Reference::sum(row(i).map(|element| f64::from(element) / columns as f64))
            }),
            Task::Squares => Outcome::near(shape, found, tolerance, |_, i| {
                Reference::sum(row(i).map(|element| f64::from(element) * f64::from(element)))
            }),
            Task::ColumnMeans => {
                // Along the rows, in the order of the memory.
                let mut means = vec![Reference { value: 0.0, magnitude: 0.0 }; columns];
                for row in elements.chunks(columns) {
                    for (mean, &element) in means.iter_mut().zip(row) {
                        mean.value += f64::from(element) / rows as f64;
                        mean.magnitude += f64::from(element).abs() / rows as f64;
                    }
                }
                Outcome::near(shape, found, tolerance, |_, i| means[i])
            }
        }
    }
}
