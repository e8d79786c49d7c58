//! Course row 11: the transpose, from naive to padded, with a plain copy as the ceiling. The kernels and what they show are in
//! `kernels::transpose`.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use cuda_std::launch::{Kernel, PointerMut, Slice};
use kernels::transpose as kernel;
use serde_json::{Map, Value, json};

use super::flow::{self, Description, Lab, Settings};
use super::{Entry, check};
use crate::device::{Counters, Device, Matrix, OnDevice};
use crate::error::{Error, Result};
use crate::flag_values::whole_number;
use crate::progress::Progress;
use crate::random::Random;
use crate::report::{Check, LabReport};
use crate::{memory, npy, output_file};

/// This lab in the list.
pub const ENTRY: Entry = Entry {
    name: NAME,
    about: ABOUT,
    kernels: &[
        "transpose_naive_reads",
        "transpose_naive_writes",
        "transpose_block16",
        "transpose_tiled",
        "transpose_padded",
        "transpose_copy",
    ],
    command: || super::command::<Options>(NAME, ABOUT),
    run: |device, matches: &ArgMatches, progress: Progress| {
        let mut options: Options = super::options(matches)?;
        options.settings.progress = progress;
        run(device, &options)
    },
};

const NAME: &str = "transpose";
const ABOUT: &str = "Transpose a matrix: naive, in 16x16 blocks, through shared memory, padded (course row 11)";

/// The flags of `host transpose`.
///
/// With no variant named, all of them run and the table compares them.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Both naive kernels: coalesced reads, and coalesced writes
    #[arg(long, help_heading = "Variants (all of them if none is named)")]
    pub naive: bool,
    /// Blocks of 16 x 16 threads, one element each, without shared memory
    #[arg(long, help_heading = "Variants (all of them if none is named)")]
    pub block16: bool,
    /// Tiles of 32 x 32 in shared memory, read with bank conflicts
    #[arg(long, help_heading = "Variants (all of them if none is named)")]
    pub tiled: bool,
    /// Tiles of 32 x 33: the padding ends the bank conflicts
    #[arg(long, help_heading = "Variants (all of them if none is named)")]
    pub padded: bool,
    /// No transpose but a plain copy: the ceiling
    #[arg(long, help_heading = "Variants (all of them if none is named)")]
    pub copy: bool,

    /// Rows of the input; 1000 is the lab sheet's size
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = whole_number(1, u32::MAX))]
    pub rows: u32,
    /// Columns of the input
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = whole_number(1, u32::MAX))]
    pub cols: u32,
    /// Threads of a block: 32,Y for the tiles (Y from 1 to 32), any shape for --block16 [default: 32,8 and 16,16]
    #[arg(long, value_name = "X,Y", value_parser = block_shape)]
    pub block: Option<[u32; 2]>,
    /// Start each row on the boundary that the device likes
    #[arg(long)]
    pub pitched: bool,
    /// Transpose the float32 matrix in this NumPy file instead of a random one
    #[arg(long, value_name = "M.npy", conflicts_with_all = ["rows", "cols"])]
    pub input: Option<PathBuf>,
    /// Write the result of the last transposing variant that ran to this NumPy file; a wrong one too, with a note
    #[arg(long, value_name = "T.npy")]
    pub output: Option<PathBuf>,

    /// Flags that every lab has.
    #[command(flatten)]
    pub settings: Settings,
}

impl Default for Options {
    fn default() -> Self {
        super::defaults()
    }
}

/// A block's shape from a flag.
fn block_shape(text: &str) -> std::result::Result<[u32; 2], String> {
    let problem = || "give X,Y: two numbers from 1 on, with at most 1024 threads in all".to_owned();
    let (x, y) = text.split_once([',', 'x']).ok_or_else(problem)?;
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&n| n > 0);
    let shape = [number(x).ok_or_else(problem)?, number(y).ok_or_else(problem)?];
    match shape[0].checked_mul(shape[1]) {
        Some(..=1024) => Ok(shape),
        _ => Err(problem()),
    }
}

/// The kernels' common parameters: input, output, rows, columns, both pitches.
type Parameters = (Slice<f32>, PointerMut<f32>, u32, u32, u32, u32);

/// One kernel, in the order in which they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Coalesced reads.
    NaiveReads,
    /// Coalesced writes.
    NaiveWrites,
    /// Blocks of 16 x 16.
    Block16,
    /// 32 x 32 in shared memory.
    Tiled,
    /// 32 x 33 in shared memory.
    Padded,
    /// No transpose.
    Copy,
}

impl Variant {
    /// The variants that the flags name.
    fn chosen(options: &Options) -> Vec<Self> {
        let named = [
            (Self::NaiveReads, options.naive),
            (Self::NaiveWrites, options.naive),
            (Self::Block16, options.block16),
            (Self::Tiled, options.tiled),
            (Self::Padded, options.padded),
            (Self::Copy, options.copy),
        ];
        let all = !named.iter().any(|(_, named)| *named);
        named.into_iter().filter(|(_, named)| all || *named).map(|(variant, _)| variant).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::NaiveReads => "naive-reads",
            Self::NaiveWrites => "naive-writes",
            Self::Block16 => "block16",
            Self::Tiled => "tiled",
            Self::Padded => "padded",
            Self::Copy => "copy",
        }
    }

    fn kernel(self) -> &'static Kernel<Parameters> {
        match self {
            Self::NaiveReads => &kernel::transpose_naive_reads,
            Self::NaiveWrites => &kernel::transpose_naive_writes,
            Self::Block16 => &kernel::transpose_block16,
            Self::Tiled => &kernel::transpose_tiled,
            Self::Padded => &kernel::transpose_padded,
            Self::Copy => &kernel::transpose_copy,
        }
    }

    /// The block to launch, which is `wanted` if the kernel allows it.
    fn block(self, wanted: Option<[u32; 2]>) -> Result<[u32; 2]> {
        match (self, wanted) {
            (Self::Block16, None) => Ok([kernel::BLOCK16, kernel::BLOCK16]),
            (Self::Block16, Some(block)) => Ok(block),
            (_, None) => Ok([kernel::TILE, kernel::BLOCK_ROWS]),
            (_, Some([kernel::TILE, y])) => Ok([kernel::TILE, y]),
            (_, Some([x, y])) => Err(Error::flag(
                "--block",
                format!(
                    "{x},{y} does not fit {}, whose blocks are 32 wide; give 32,Y with Y from 1 to 32, or name only --block16",
                    self.name()
                ),
            )),
        }
    }

    /// Elements of the input that a block moves, in x and y.
    fn tile(self, block: [u32; 2]) -> [u32; 2] {
        match self {
            Self::Block16 => block,
            _ => [kernel::TILE, kernel::TILE],
        }
    }
}

/// The lab with its data on a device.
struct Transpose<'a> {
    options: &'a Options,
    rows: usize,
    columns: usize,
    data: &'a [f32],
    input: Matrix<f32>,
    /// As large as the transpose.
    output: Matrix<f32>,
    /// As large as the input, for the plain copy; only if that runs.
    copied: Option<Matrix<f32>>,
    /// What the last transposing variant made.
    result: Option<Vec<f32>>,
}

/// Runs the variants that the options name.
///
/// # Errors
///
/// [`Error::Flag`], [`Error::File`] and [`Error::OutOfMemory`] before anything runs; those of the device after.
pub fn run(device: &Device, options: &Options) -> Result<LabReport> {
    let variants = Variant::chosen(options);
    for variant in &variants {
        variant.block(options.block)?;
    }
    if let Some(path) = &options.output {
        output_file::check(path)?;
        if variants == [Variant::Copy] {
            return Err(Error::flag("--output", "--copy transposes nothing; name another variant"));
        }
    }
    let (rows, columns, data) = input(device, options)?;
    if options.output.is_some() {
        device.limits().check_output("the matrix of --output", (data.len() * size_of::<f32>()) as u64)?;
    }

    let (report, lab) = flow::run(NAME, device, &options.settings, |device| {
        let mut lab = Transpose {
            options,
            rows,
            columns,
            data: &data,
            input: device.matrix(rows, columns, options.pitched)?,
            output: device.matrix(columns, rows, options.pitched)?,
            copied: match variants.contains(&Variant::Copy) {
                true => Some(device.matrix(rows, columns, options.pitched)?),
                false => None,
            },
            result: None,
        };
        for matrix in [&lab.input, &lab.output] {
            u32::try_from(matrix.pitch())
                .map_err(|_| Error::flag("--pitched", "rows of this length are beyond a kernel's 32-bit pitch"))?;
        }
        // The padding of a pitched input is never right to read.
        lab.input.poison()?;
        lab.input.write(&data)?;
        Ok((lab, variants.clone()))
    })?;
    flow::save(options.output.as_deref(), &[columns, rows], lab.result.as_deref(), &report, &options.settings)?;
    Ok(report)
}

/// The matrix to transpose: its rows, its columns, and its elements row by row.
fn input(device: &Device, options: &Options) -> Result<(usize, usize, Vec<f32>)> {
    // The input and the transpose on the device, and a third matrix for the copy; the input and one output on the host.
    let matrices = if Variant::chosen(options).contains(&Variant::Copy) { 3 } else { 2 };
    let room = |rows: usize, columns: usize, on_host: u64| {
        let bytes = (rows as u64).saturating_mul(columns as u64).saturating_mul(size_of::<f32>() as u64);
        let what = format!("a {rows} x {columns} transpose");
        let on_device = bytes.saturating_mul(matrices);
        let simulated = if device.properties().is_gpu() { 0 } else { on_device };
        memory::check_host(&what, bytes.saturating_mul(on_host).saturating_add(simulated))?;
        device.check_room(&what, on_device)
    };
    if let Some(path) = &options.input {
        let array = npy::read::<f32>(path, 2)?;
        let (rows, columns) = (array.shape[0], array.shape[1]);
        if rows.max(columns) > u32::MAX as usize {
            return Err(Error::file(path, "is longer or wider than 4294967295, the most that the kernels take"));
        }
        room(rows, columns, 1)?;
        return Ok((rows, columns, array.data));
    }
    let (rows, columns) = (options.rows as usize, options.cols as usize);
    room(rows, columns, 2)?;
    let data = Random::new(options.settings.seed).vector(rows * columns);
    Ok((rows, columns, data))
}

impl Lab for Transpose<'_> {
    type Variant = Variant;

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("rows".into(), self.rows.into());
        parameters.insert("cols".into(), self.columns.into());
        parameters.insert("pitched".into(), self.options.pitched.into());
        match &self.options.input {
            Some(path) => parameters.insert("input".into(), path.display().to_string().into()),
            None => parameters.insert("seed".into(), self.options.settings.seed.into()),
        };
        parameters
    }

    fn describe(&self, variant: &Variant) -> Description {
        let block = self.block(*variant);
        let mut parameters = Map::new();
        parameters.insert("block".into(), json!(block));
        parameters.insert("grid".into(), json!(self.grid(*variant)));
        parameters.insert("input_pitch_bytes".into(), (self.input.pitch() * 4).into());
        parameters.insert("output_pitch_bytes".into(), (self.target(*variant).pitch() * 4).into());
        Description {
            name: variant.name().to_owned(),
            kernels: vec![variant.kernel().name()],
            parameters,
            useful_bytes: 2 * (self.rows * self.columns * size_of::<f32>()) as u64,
        }
    }

    fn poison(&mut self) -> Result<()> {
        if let Some(copied) = &mut self.copied {
            copied.poison()?;
        }
        self.output.poison()
    }

    fn launch(&mut self, device: &Device, variant: &Variant) -> Result<Option<Counters>> {
        let [block_x, block_y] = self.block(*variant);
        let launch = self.options.settings.launch(self.grid(*variant), [block_x, block_y, 1]);
        let (rows, columns) = (self.rows as u32, self.columns as u32);
        let input_pitch = self.input.pitch() as u32;
        let output = match (variant, &mut self.copied) {
            (Variant::Copy, Some(copied)) => copied,
            _ => &mut self.output,
        };
        let output_pitch = output.pitch() as u32;
        device.launch(variant.kernel(), &launch, (&self.input, output, rows, columns, input_pitch, output_pitch))
    }

    fn check(&mut self, variant: &Variant) -> Result<Check> {
        let found = self.target(*variant).read()?;
        if *variant == Variant::Copy {
            return Ok(check::exact(self.rows, self.columns, &found, |row, column| {
                self.data[row * self.columns + column]
            }));
        }
        let check = check::exact(self.columns, self.rows, &found, |row, column| self.data[column * self.columns + row]);
        if self.options.output.is_some() {
            self.result = Some(found);
        }
        Ok(check)
    }

    fn copy(&mut self, device: &Device) -> Result<u64> {
        let bytes = self.input.bytes().min(self.output.bytes());
        device.copy(&self.input, &mut self.output, bytes)?;
        Ok(bytes)
    }
}

impl Transpose<'_> {
    /// Where a variant writes to.
    fn target(&self, variant: Variant) -> &Matrix<f32> {
        match (variant, &self.copied) {
            (Variant::Copy, Some(copied)) => copied,
            _ => &self.output,
        }
    }

    fn block(&self, variant: Variant) -> [u32; 2] {
        // `run` has checked that the block fits every variant.
        variant.block(self.options.block).unwrap_or([kernel::TILE, kernel::BLOCK_ROWS])
    }

    fn grid(&self, variant: Variant) -> [u32; 3] {
        let tile = variant.tile(self.block(variant));
        kernel::grid(self.rows as u32, self.columns as u32, tile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_lab_sheet_s_size_and_all_variants() {
        let options = Options::default();
        assert_eq!((options.rows, options.cols), (1000, 1000));
        let names: Vec<_> = Variant::chosen(&options).iter().map(|v| v.name()).collect();
        assert_eq!(names, ["naive-reads", "naive-writes", "block16", "tiled", "padded", "copy"]);
    }

    #[test]
    fn flags_choose_variants() {
        let options = Options { naive: true, padded: true, ..Options::default() };
        assert_eq!(Variant::chosen(&options), [Variant::NaiveReads, Variant::NaiveWrites, Variant::Padded]);
    }

    #[test]
    fn the_list_names_every_kernel() {
        let all = Variant::chosen(&Options::default());
        let kernels: Vec<_> = all.iter().map(|variant| variant.kernel().name()).collect();
        assert_eq!(kernels, ENTRY.kernels);
    }

    #[test]
    fn blocks_fit_their_kernels_or_are_refused() {
        assert_eq!(Variant::Tiled.block(Some([32, 16])).unwrap(), [32, 16]);
        assert_eq!(Variant::Block16.block(Some([64, 4])).unwrap(), [64, 4]);
        assert_eq!(
            Variant::Padded.block(Some([16, 16])).unwrap_err().to_string(),
            "--block: 16,16 does not fit padded, whose blocks are 32 wide; give 32,Y with Y from 1 to 32, or name only --block16"
        );
    }

    #[test]
    fn block_shapes_are_read() {
        assert_eq!(block_shape("32,8"), Ok([32, 8]));
        assert_eq!(block_shape("16x16"), Ok([16, 16]));
        for text in ["", "32", "0,8", "32,0", "64,32", "-1,2", "a,b", "1,2,3", "4294967295,2"] {
            assert!(block_shape(text).is_err(), "{text}");
        }
    }
}
