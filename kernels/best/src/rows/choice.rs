//! Which kernel is the best for the rows or the columns of a matrix, and its launch. Pure.

use super::{BLOCK_THREADS, COLUMN_THREADS, SHORT_ROWS};
use crate::Launch;

/// The best kernels.
#[derive(Clone, Copy)]
pub enum Best {
    /// Eight lanes for each four rows.
    Lanes8,
    /// A warp for each row.
    Lanes32,
    /// This many blocks for each row.
    Blocks(u32),
    /// This many blocks for each 32 columns.
    Columns(u32),
}

impl Best {
    /// The best kernel for the rows of a matrix: lanes for short rows, warps for many rows, blocks
    /// for long ones, and several blocks a row if there are too few rows to keep half of the
    /// multiprocessors busy. The thresholds were measured on an H200.
    pub fn for_rows(rows: usize, columns: usize, multiprocessors: u32) -> Self {
        let multiprocessors = multiprocessors as usize;
        let are_few = rows <= 4 * multiprocessors;
        match columns {
            ..=128 => Self::Lanes8,
            8192.. => {
                let most = columns.div_ceil(4 * BLOCK_THREADS as usize);
                let shared =
                    if 2 * rows > multiprocessors { 1 } else { 4 * multiprocessors / rows.max(1) };
                Self::Blocks(shared.min(most) as u32)
            }
            2048.. if are_few => Self::Blocks(1),
            _ => Self::Lanes32,
        }
    }

    /// The best kernel for the means of columns: eight blocks on a multiprocessor, but at least 64
    /// rows for each block.
    pub fn for_columns(rows: usize, columns: usize, multiprocessors: u32) -> Self {
        let strips = columns.div_ceil(32).max(1);
        let wanted = 8 * multiprocessors as usize / strips;
        Self::Columns(wanted.clamp(1, (rows / 64).clamp(1, 512)) as u32)
    }

    /// Its launch.
    pub fn launch(self, rows: usize, columns: usize) -> Launch {
        match self {
            // A warp computes four rows at a time, four times.
            Self::Lanes8 => Launch::linear(rows.div_ceil(4 * SHORT_ROWS as usize) * 32, 64),
            Self::Lanes32 => Launch::linear(rows * 32, 128),
            Self::Blocks(per_row) => {
                Launch::new([rows as u32 * per_row, 1, 1], [BLOCK_THREADS, 1, 1])
            }
            Self::Columns(parts) => {
                Launch::new([columns.div_ceil(32) as u32, parts, 1], [32, COLUMN_THREADS, 1])
            }
        }
    }

    /// How many slots its blocks need, for rows or columns that several blocks share.
    pub fn slots(self, rows: usize, columns: usize) -> usize {
        match self {
            Self::Blocks(per_row) if per_row > 1 => rows * per_row as usize,
            Self::Columns(parts) if parts > 1 => columns * parts as usize,
            _ => 0,
        }
    }
}
