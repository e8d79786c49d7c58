//! Sparse matrices on the host, in CSR, and the tables of other formats. Pure.

use common::random::Random;
use kernels::sparse::NO_COLUMN;

use super::table::Kind;

/// A matrix by rows.
pub(super) struct Csr {
    pub rows: usize,
    pub columns: usize,
    /// Where each row begins, and where the last one ends.
    pub starts: Vec<u32>,
    /// The column of each entry.
    pub indices: Vec<u32>,
    /// Its value.
    pub values: Vec<f32>,
}

/// Slices of rows that are all as long as the longest of their slice, column by column.
#[derive(Default)]
pub(super) struct Sliced {
    /// Where each slice begins, and where the last one ends.
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
}

/// What random matrices are made of.
pub(super) struct Shape {
    pub rows: usize,
    /// Entries of a row, on average.
    pub each: usize,
    /// The columns of a row are within so many times its length.
    pub spread: usize,
}

/// The longest row of a power-law matrix, over the mean.
const LONGEST: usize = 16;

impl Csr {
    /// The matrix with these entries: rows, columns and values. At most 2^32 - 1.
    pub fn of(rows: usize, columns: usize, entries: &[(u32, u32, f32)]) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        entries.iter().for_each(|&(row, ..)| starts[row as usize + 1] += 1);
        add_up(&mut starts);
        let mut next = starts.clone();
        let (mut indices, mut values) = (vec![0; entries.len()], vec![0.0; entries.len()]);
        for &(row, column, value) in entries {
            let at = next[row as usize] as usize;
            (indices[at], values[at]) = (column, value);
            next[row as usize] += 1;
        }
        Self { rows, columns, starts, indices, values }
    }

    /// A random square matrix. The columns of a row ascend around the diagonal, as those of a mesh.
    pub fn random(kind: Kind, shape: &Shape, random: &mut Random) -> Self {
        let rows = shape.rows;
        let mut starts = vec![0];
        starts.extend(lengths(kind, shape, random));
        add_up(&mut starts);
        let mut indices = Vec::with_capacity(starts[rows] as usize);
        for row in 0..rows {
            let length = (starts[row + 1] - starts[row]) as usize;
            let width = rows.min(shape.spread * length);
            let first = row.saturating_sub(width / 2).min(rows - width);
            let part = |k: usize| (k * width).checked_div(length).unwrap_or(0);
            indices.extend((0..length).map(|k| {
                let room = (part(k + 1) - part(k)) as u64;
                (first + part(k)) as u32 + (random.next_u64() % room) as u32
            }));
        }
        let values = random.vector(indices.len());
        Self { rows, columns: rows, starts, indices, values }
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// The columns and values of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The row of each entry.
    pub fn rows_of_entries(&self) -> Vec<u32> {
        (0..self.rows).flat_map(|row| std::iter::repeat_n(row as u32, self.length(row))).collect()
    }

    fn length(&self, row: usize) -> usize {
        (self.starts[row + 1] - self.starts[row]) as usize
    }

    /// Entries of the longest row of these.
    fn longest_of(&self, rows: std::ops::Range<usize>) -> usize {
        rows.map(|row| self.length(row)).max().unwrap_or(0)
    }

    /// Entries of the longest row.
    pub fn longest(&self) -> usize {
        self.longest_of(0..self.rows)
    }

    /// The places of all slices of this height, padding included.
    pub fn places(&self, height: usize) -> u64 {
        self.slices(height).map(|rows| height as u64 * self.longest_of(rows) as u64).sum()
    }

    fn slices(&self, height: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..self.rows).step_by(height).map(move |first| first..self.rows.min(first + height))
    }

    /// Slices of this height. The caller has checked that 32 bits can count their places; of a
    /// single slice nobody needs where it begins.
    pub fn sliced(&self, height: usize) -> Sliced {
        let places = self.places(height) as usize;
        let (mut columns, mut values) = (vec![NO_COLUMN; places], vec![0.0; places]);
        let (mut starts, mut start) = (vec![0], 0);
        for rows in self.slices(height) {
            for (within, row) in rows.clone().enumerate() {
                let (of_row, values_of_row) = self.row(row);
                for (k, (&column, &value)) in of_row.iter().zip(values_of_row).enumerate() {
                    let at = start + k * height + within;
                    (columns[at], values[at]) = (column, value);
                }
            }
            start += height * self.longest_of(rows);
            starts.push(start as u32);
        }
        Sliced { starts, columns, values }
    }
}

/// Numbers become the sums of all up to their own.
fn add_up(numbers: &mut [u32]) {
    let mut sum = 0;
    numbers.iter_mut().for_each(|number| {
        sum += *number;
        *number = sum;
    });
}

/// The length of each row. By a power law, the row of rank `k` of `n` has `(n / k)^(3/4)` times a
/// quarter of the mean, which makes most rows shorter than the mean, up to [`LONGEST`] means.
fn lengths(kind: Kind, shape: &Shape, random: &mut Random) -> Vec<u32> {
    let Shape { rows, each, .. } = *shape;
    let mut lengths = vec![each.min(rows) as u32; rows];
    if kind == Kind::PowerLaw {
        for (rank, length) in lengths.iter_mut().enumerate() {
            let root = (rows as f64 / (rank + 1) as f64).sqrt();
            let wanted = (each as f64 / 4.0 * root * root.sqrt()) as usize;
            *length = wanted.clamp(1, LONGEST * each).min(rows) as u32;
        }
        for row in (1..rows).rev() {
            lengths.swap(row, (random.next_u64() % (row as u64 + 1)) as usize);
        }
    }
    lengths
}

#[cfg(test)]
mod tests;
