//! The data on a device, and the launches of each row.

use device::{Buffer, Device, LaunchConfig, Result};
use kernels::sparse::{self as kernel, BLOCK};

use super::input::Input;
use super::matrix::{Csr, Sliced};
use super::table::Format;
use crate::labs::Launcher;
use crate::labs::variants::VariantSpec;

/// The matrices in their formats, x and y.
pub struct Data {
    pub(super) matrices: Vec<Formats>,
    pub(super) x: Buffer<f32>,
    pub(super) y: Buffer<f32>,
}

/// A matrix in the formats that run; the others are empty.
pub(super) struct Formats {
    /// The row of each entry, for COO.
    rows: Buffer<u32>,
    pub(super) csr: Table,
    ell: Table,
    sliced: Table,
}

/// Where parts begin, and their columns and values.
pub(super) struct Table {
    pub(super) starts: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
    pub(super) values: Buffer<f32>,
}

/// What the formats of a matrix take on a device.
pub(super) fn bytes_on_device(matrix: &Csr, formats: &[&VariantSpec<Format>], log_slice: u32) -> u64 {
    let entries = matrix.len() as u64;
    let of = |format: &&VariantSpec<Format>| match format.of {
        Format::Coo | Format::Segments => 4 * entries,
        Format::Threads | Format::Warps => 0,
        Format::Ell => matrix.places(matrix.rows).saturating_mul(8),
        Format::Sliced => matrix.places(1 << log_slice).saturating_mul(8),
    };
    let tables = formats.iter().map(of).fold(0, u64::saturating_add);
    tables.saturating_add(8 * entries + 12 * (matrix.rows + matrix.columns) as u64)
}

impl Data {
    pub(super) fn new(device: &Device, inputs: &[Input], x: &[f32], log_slice: u32) -> Result<Self> {
        let formats = |Input { matrix, formats, .. }: &Input| {
            let has = |wanted: &[Format]| formats.iter().any(|format| wanted.contains(&format.of));
            let rows = has(&[Format::Coo, Format::Segments]);
            let slices = |format, height| if has(&[format]) { matrix.sliced(height) } else { Sliced::default() };
            Ok(Formats {
                rows: match rows {
                    true => filled(device, &matrix.rows_of_entries())?,
                    false => device.buffer(0)?,
                },
                csr: Table::new(device, &matrix.starts, &matrix.indices, &matrix.values)?,
                ell: Table::of(device, &slices(Format::Ell, matrix.rows))?,
                sliced: Table::of(device, &slices(Format::Sliced, 1 << log_slice))?,
            })
        };
        let matrices: Vec<Formats> = inputs.iter().map(formats).collect::<Result<_>>()?;
        let rows = inputs.first().map_or(0, |input| input.matrix.rows);
        Ok(Self { matrices, x: filled(device, x)?, y: device.buffer(rows)? })
    }

    pub(super) fn launch(
        &mut self,
        launcher: &mut Launcher<'_>,
        index: usize,
        format: Format,
        log_slice: u32,
    ) -> Result<()> {
        let Self { matrices, x, y } = self;
        let Formats { rows, csr, ell, sliced } = &matrices[index];
        let Table { starts, columns, values } = csr;
        let a_row = LaunchConfig::linear(y.len(), BLOCK);
        match format {
            Format::Coo | Format::Segments => {
                launcher.launch(&kernel::sparse_coo_zero, &a_row, (&mut *y,))?;
                let an_entry = LaunchConfig::linear(rows.len(), BLOCK);
                let kernel = if format == Format::Coo { &kernel::sparse_coo } else { &kernel::sparse_coo_segments };
                launcher.launch(kernel, &an_entry, (rows, columns, values, &*x, y))
            }
            Format::Threads => launcher.launch(&kernel::sparse_csr_threads, &a_row, (starts, columns, values, &*x, y)),
            Format::Warps => {
                let a_warp = LaunchConfig::linear(32 * y.len(), BLOCK);
                launcher.launch(&kernel::sparse_csr_warps, &a_warp, (starts, columns, values, &*x, y))
            }
            Format::Ell => launcher.launch(&kernel::sparse_ell, &a_row, (&ell.columns, &ell.values, &*x, y)),
            Format::Sliced => {
                let Table { starts, columns, values } = sliced;
                let arguments = (starts, columns, values, &*x, y, log_slice);
                launcher.launch(&kernel::sparse_sliced, &a_row, arguments)
            }
        }
    }
}

impl Table {
    fn new(device: &Device, starts: &[u32], columns: &[u32], values: &[f32]) -> Result<Self> {
        Ok(Self { starts: filled(device, starts)?, columns: filled(device, columns)?, values: filled(device, values)? })
    }

    fn of(device: &Device, Sliced { starts, columns, values }: &Sliced) -> Result<Self> {
        Self::new(device, starts, columns, values)
    }
}

/// A buffer with these elements.
fn filled<T: bytemuck::Pod>(device: &Device, elements: &[T]) -> Result<Buffer<T>> {
    let mut buffer = device.buffer(elements.len())?;
    buffer.write(elements)?;
    Ok(buffer)
}
