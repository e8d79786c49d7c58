//! The inputs of the lab: matrices with the formats that run on them and their products, and x.

use common::random::Random;
use device::{Device, Error, Result};
use rayon::prelude::*;

use super::market;
use super::matrix::{Csr, Shape};
use super::table::{Format, Options, ROWS};
use crate::labs::compare::Reference;
use crate::labs::inputs::{check_room, second_vector};
use crate::labs::variants::VariantSpec;

/// Places of ELL, over entries, up to which it runs without its flag.
const MOST_PLACES: u64 = 64;

/// A matrix with its name, its formats and its product.
pub(super) struct Input {
    pub name: &'static str,
    pub matrix: Csr,
    pub formats: Vec<&'static VariantSpec<Format>>,
    pub product: Vec<Reference>,
}

/// What the flags request.
///
/// # Errors
///
/// [`Error::File`], [`Error::Request`] and [`Error::OutOfMemory`].
pub(super) fn read(device: &Device, options: &Options, random: &mut Random) -> Result<(Vec<Input>, Vec<f32>)> {
    let matrices = matrices(device, options, random)?;
    let columns = matrices.first().map_or(0, |(_, matrix)| matrix.columns);
    let why = "x has an element for each column of the matrix";
    let x = second_vector(options.input.as_deref(), columns, why, random)?;
    let input = |(name, matrix): (&'static str, Csr)| {
        let (formats, product) = (formats(options, &matrix)?, product(&matrix, &x));
        Ok(Input { name, matrix, formats, product })
    };
    Ok((matrices.into_iter().map(input).collect::<Result<_>>()?, x))
}

/// The matrix in the file, or a random one of each kind.
fn matrices(device: &Device, options: &Options, random: &mut Random) -> Result<Vec<(&'static str, Csr)>> {
    if let Some(path) = &options.matrix {
        if options.kinds.any() {
            let problem = "the file has the matrix; leave out --uniform and --power-law";
            return Err(Error::request("--matrix", problem));
        }
        return Ok(vec![("file", market::read(path)?)]);
    }
    let rows = options.rows.unwrap_or_else(|| ROWS.on(device));
    let entries = rows.saturating_mul(options.each.min(rows));
    if entries > 1 << 31 {
        return Err(Error::request("--rows", format!("{entries} entries are more than a 32-bit index can count")));
    }
    check_room(device, "a random sparse matrix", 0, entries * 32 + rows * 64)?;
    let shape = Shape { rows: rows as usize, each: options.each as usize, spread: options.spread as usize };
    let kinds = options.kinds.chosen().into_iter();
    Ok(kinds.map(|kind| (kind.name, Csr::random(kind.of, &shape, random))).collect())
}

/// The formats that run on this matrix: ELL only by its flag if nearly all would be padding.
fn formats(options: &Options, matrix: &Csr) -> Result<Vec<&'static VariantSpec<Format>>> {
    let most = MOST_PLACES * matrix.len() as u64;
    let runs = |of| of != Format::Ell || options.formats.any() || matrix.places(matrix.rows) <= most;
    let formats: Vec<_> = options.formats.chosen().into_iter().filter(|format| runs(format.of)).collect();
    let slices = formats.iter().any(|format| format.of == Format::Sliced);
    if slices && matrix.places(1 << options.log_slice) > u32::MAX.into() {
        let problem = "the slices have more places than a 32-bit index can count; give a smaller number";
        return Err(Error::request("--log-slice", problem));
    }
    Ok(formats)
}

/// The product in higher precision. A row's magnitude is that of its terms, by its length over that
/// of the longest: see [`super::Sparse::outcome`].
fn product(matrix: &Csr, x: &[f32]) -> Vec<Reference> {
    let longest = matrix.longest() as f64;
    let of_row = |row| {
        let (columns, values) = matrix.row(row);
        let (value, magnitude) = reference::sparse_dot(columns, values, x);
        Reference { value, magnitude: magnitude * columns.len() as f64 / longest }
    };
    (0..matrix.rows).into_par_iter().map(of_row).collect()
}
