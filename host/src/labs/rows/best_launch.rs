//! The launch of the best kernels.

use best_kernels::rows::{self as best, Best};
use device::Result;

use super::table::Statistic;
use super::{Data, Rows};
use crate::labs::inputs::HostMatrix;
use crate::labs::launcher::{Launcher, config_of};

impl Rows {
    pub(super) fn launch_best(
        &self,
        data: &mut Data,
        launcher: &mut Launcher<'_>,
        statistic: Statistic,
        best: Best,
        index: usize,
        pitch: u32,
    ) -> Result<()> {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let launch = config_of(best.launch(rows, columns));
        let Data { matrices, of_rows, of_columns, slots } = data;
        let matrix = &matrices[index];
        let (rows, columns) = (rows as u32, columns as u32);
        match (best, statistic.best) {
            (Best::Lanes8, Some((kernel, _, _))) | (Best::Lanes32, Some((_, kernel, _))) => {
                // SAFETY: rows, columns and pitch are those of the matrix; each row has a result.
                unsafe { launcher.launch_unchecked(kernel, &launch, (matrix, of_rows, rows, columns, pitch)) }
            }
            (Best::Blocks(per_row), Some((_, _, kernel))) => {
                let arguments = (matrix, of_rows, columns, pitch, per_row, slots);
                // SAFETY: the same, and the slots are those of the grid, all 0.
                unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
            }
            (Best::Columns(_), _) | (_, None) => {
                let arguments = (matrix, of_columns, rows, columns, pitch, slots);
                // SAFETY: the same; each column has a result.
                unsafe { launcher.launch_unchecked(&best::rows_column_means_best, &launch, arguments) }
            }
        }
    }
}
