//! The inputs of labs: their flags, and the data, which is a NumPy file or seeded random numbers.
//! Also checks that memory suffices before anything is allocated. Labs call it in
//! [`Lab::new`](super::lab::Lab::new). Reads files, writes none.

use std::path::{Path, PathBuf};

use crate::flag_values::whole_number;
use clap::{Arg, Args};
use common::random::{Random, Sample};
use device::{Device, Error, Result, memory};
use rayon::prelude::*;
use serde_json::Value;

use crate::npy;

/// The rows of a transpose that a thread computes at a time.
const BAND: usize = 64;

/// The flags of labs on vectors.
#[derive(Args, Clone, Debug, Default)]
pub struct VectorFlags {
    /// Elements of a vector; 1000 is the lab sheet's size
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::MAX))]
    pub size: Option<u64>,
    /// Take the vector in this NumPy file instead of a random one
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    pub input: Option<PathBuf>,
}

/// The flags of labs on a matrix.
#[derive(Args, Clone, Debug, Default)]
pub struct MatrixFlags {
    /// Rows of the matrix; 1000 is the lab sheet's size
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    pub rows: Option<u32>,
    /// Columns of the matrix [default: as --rows]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    pub cols: Option<u32>,
    /// Take the float32 matrix in this NumPy file instead of a random one
    #[arg(long, value_name = "A.npy", conflicts_with_all = ["rows", "cols"])]
    pub input: Option<PathBuf>,
}

/// A default size: far larger than a GPU's caches, and small on the simulator.
#[derive(Clone, Copy, Debug)]
pub struct DefaultSize {
    /// On a GPU.
    pub on_gpu: u64,
    /// On the simulator.
    pub on_simulator: u64,
}

impl DefaultSize {
    /// The flag, with this default in its help.
    pub(super) fn in_help(self, flag: Arg) -> Arg {
        let Self { on_gpu, on_simulator } = self;
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.split(" [default").next().unwrap_or_default();
        match on_gpu == on_simulator {
            true => flag.help(format!("{help} [default: {on_gpu}]")),
            false => flag.help(format!("{help} [default: {on_gpu} on a GPU, {on_simulator} on the simulator]")),
        }
    }

    /// The size for `device`.
    pub fn on(self, device: &Device) -> u64 {
        let properties = device.properties();
        // A driver that predicts times is the simulator.
        let executes = properties.is_gpu() && !properties.has_predicted_times();
        match executes || device.predicts_only() {
            true => self.on_gpu,
            false => self.on_simulator,
        }
    }
}

/// The memory that a lab needs, in arrays as large as its input.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryNeeds {
    /// The task in the singular, as in "adding vectors".
    pub what: &'static str,
    /// Arrays on the device.
    pub on_device: u64,
    /// Arrays on the host at the same time, the input among them.
    pub on_host: u64,
}

impl MemoryNeeds {
    /// Fails unless there is room for arrays of these extents. Called before anything is allocated.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] names the side that has too little.
    pub fn check<T>(self, device: &Device, extents: &[u64]) -> Result<()> {
        let list: Vec<_> = extents.iter().map(u64::to_string).collect();
        let what = format!("{} of {}", self.what, list.join(" x "));
        let each = bytes_of::<T>(extents);
        check_room(device, &what, each.saturating_mul(self.on_device), each.saturating_mul(self.on_host))
    }
}

/// Fails unless there is room for this many bytes on the device, and at the same time on the host.
///
/// # Errors
///
/// [`Error::OutOfMemory`] names the side that has too little.
pub(super) fn check_room(device: &Device, what: &str, on_device: u64, on_host: u64) -> Result<()> {
    // The simulator's memory is the host's memory.
    let simulated = if device.properties().is_gpu() { 0 } else { on_device };
    memory::check_host(what, on_host.saturating_add(simulated))?;
    device.check_room(what, on_device)
}

/// The size in bytes of an array of `T` with these extents; `u64::MAX` if that overflows.
pub(super) fn bytes_of<T>(extents: &[u64]) -> u64 {
    extents.iter().fold(size_of::<T>() as u64, |bytes, &extent| bytes.saturating_mul(extent))
}

impl VectorFlags {
    /// The vector that the flags request.
    ///
    /// # Errors
    ///
    /// [`Error::File`] and [`Error::OutOfMemory`].
    pub(super) fn vector<T: npy::Element + Sample>(
        &self,
        device: &Device,
        default: DefaultSize,
        needs: MemoryNeeds,
        random: &mut Random,
    ) -> Result<Vec<T>> {
        if let Some(path) = &self.input {
            let elements = npy::read::<T>(path, 1)?.data;
            needs.check::<T>(device, &[elements.len() as u64])?;
            return Ok(elements);
        }
        let size = self.size.unwrap_or_else(|| default.on(device));
        needs.check::<T>(device, &[size])?;
        Ok(random.samples(size as usize))
    }
}

/// A matrix on the host, stored row by row.
#[derive(Clone, Debug)]
pub(super) struct HostMatrix {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<f32>,
}

impl HostMatrix {
    /// The matrix in a NumPy file, if kernels can index it.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn read(path: &Path) -> Result<Self> {
        let array = npy::read::<f32>(path, 2)?;
        let (rows, columns) = (array.shape[0], array.shape[1]);
        if rows.max(columns) > u32::MAX as usize {
            return Err(Error::file(path, "has more than 4294967295 rows or columns, the limit of the kernels"));
        }
        Ok(Self { rows, columns, elements: array.data })
    }

    /// Random elements. The caller has checked that there is room for them.
    pub fn random(rows: u64, columns: u64, random: &mut Random) -> Self {
        let (rows, columns) = (rows as usize, columns as usize);
        Self { rows, columns, elements: random.samples(rows * columns) }
    }
}

impl HostMatrix {
    /// A row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.elements[row * self.columns..][..self.columns]
    }

    /// Its transpose, computed on all cores.
    pub fn transposed(&self) -> Self {
        let Self { rows, columns, ref elements } = *self;
        let mut transposed = vec![0.0; elements.len()];
        // A chunk of no elements is not possible.
        let bands = transposed.par_chunks_mut((BAND * rows).max(1)).enumerate();
        bands.for_each(|(band, transposed)| reference::transpose(elements, columns, band * BAND, transposed));
        Self { rows: columns, columns: rows, elements: transposed }
    }
}

/// Fails unless a file's matrix has the required numbers of rows and columns, if any.
///
/// # Errors
///
/// [`Error::File`] says what shape is needed.
pub(super) fn check_matrix(
    path: &Path,
    matrix: &HostMatrix,
    rows: Option<usize>,
    columns: Option<usize>,
    why: &str,
) -> Result<()> {
    let needed = [rows.unwrap_or(matrix.rows), columns.unwrap_or(matrix.columns)];
    check_shape(path, &[matrix.rows, matrix.columns], &needed, why)
}

/// The factors of a product: A of `input`, and B of `input_b`, or random and as wide as A is high.
/// `room` is asked about the product's `[m, n, k]` before B is made.
///
/// # Errors
///
/// [`Error::File`] if a file cannot be read or the shapes do not fit, and those of `room`.
pub(super) fn read_factors(
    [input, input_b]: [Option<&Path>; 2],
    random: &mut Random,
    room: impl FnOnce([u64; 3]) -> Result<()>,
) -> Result<Option<(HostMatrix, HostMatrix)>> {
    let Some(input) = input else { return Ok(None) };
    let a = HostMatrix::read(input)?;
    let b = input_b.map(HostMatrix::read).transpose()?;
    if let (Some(b), Some(path)) = (&b, input_b) {
        check_matrix(path, b, Some(a.columns), None, "B has as many rows as A has columns")?;
    }
    let columns = b.as_ref().map_or(a.rows, |b| b.columns);
    room([a.rows, columns, a.columns].map(|extent| extent as u64))?;
    let b = b.unwrap_or_else(|| HostMatrix::random(a.columns as u64, a.rows as u64, random));
    Ok(Some((a, b)))
}

impl MatrixFlags {
    /// The matrix that the flags request.
    ///
    /// # Errors
    ///
    /// [`Error::File`] and [`Error::OutOfMemory`].
    pub(super) fn matrix(
        &self,
        device: &Device,
        default: DefaultSize,
        needs: MemoryNeeds,
        random: &mut Random,
    ) -> Result<HostMatrix> {
        if let Some(path) = &self.input {
            let matrix = HostMatrix::read(path)?;
            needs.check::<f32>(device, &[matrix.rows as u64, matrix.columns as u64])?;
            return Ok(matrix);
        }
        let rows = self.rows.or(self.cols).map_or_else(|| default.on(device), u64::from);
        let columns = self.cols.map_or(rows, u64::from);
        needs.check::<f32>(device, &[rows, columns])?;
        Ok(HostMatrix::random(rows, columns, random))
    }
}

/// The second of two vectors of equal length: from the file, if any, else random. `why` says why it
/// has to be as long.
///
/// # Errors
///
/// [`Error::File`].
pub(super) fn second_vector(file: Option<&Path>, length: usize, why: &str, random: &mut Random) -> Result<Vec<f32>> {
    let Some(path) = file else { return Ok(random.vector(length)) };
    let vector = npy::read::<f32>(path, 1)?;
    check_shape(path, &vector.shape, &[length], why)?;
    Ok(vector.data)
}

/// Fails unless a second input has the shape that the first one requires.
///
/// # Errors
///
/// [`Error::File`] says what shape is needed.
pub(super) fn check_shape(path: &Path, found: &[usize], needed: &[usize], why: &str) -> Result<()> {
    let list = |shape: &[usize]| match shape {
        [length] => format!("a vector of {length}"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
    };
    match found == needed {
        true => Ok(()),
        false => Err(Error::file(path, format!("is {}, but {} is needed: {why}", list(found), list(needed)))),
    }
}

/// A file's name for the report; null without a file.
pub(super) fn named(file: Option<&PathBuf>) -> Value {
    file.map_or(Value::Null, |path| path.display().to_string().into())
}
