//! The lab `pitch`: linear against pitched rows. The kernels and what they show are in `kernels::pitch`. Listed in
//! [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use clap::Args;
use device::flag_values::whole_number;
use device::random::Random;
use device::{Device, Error, LaunchConfig, LoadCaching, Matrix, Model, OnDevice as _, Result};
use kernels::pitch as kernel;
use serde_json::{Value, json};

use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, MatrixFlags, Room, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::settings::Settings;
use crate::report::{Cost, LabReport, Subject};
use crate::units::{as_fast, percent, three_digits};

/// The columns of the lecture's matrix.
const COLUMNS: u32 = 120;
const ROWS: DefaultSize = DefaultSize { on_gpu: 1 << 19, on_simulator: 512 };

/// The matrix and its transpose, linear and with a pitch that may be four times as long, and an output for each; the matrix and a
/// result on the host.
const ROOM: Room = Room { what: "copying a matrix", on_device: 12, on_host: 2 };

/// The flags of `host pitch`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Read by rows
    #[arg(long, help_heading = "Accesses (default: all)")]
    pub by_rows: bool,
    /// Read by columns
    #[arg(long, help_heading = "Accesses (default: all)")]
    pub by_columns: bool,
    /// Read the transposed copy by rows
    #[arg(long, help_heading = "Accesses (default: all)")]
    pub transposed: bool,
    /// Copy to and from the device
    #[arg(long, help_heading = "Accesses (default: all)")]
    pub copies: bool,
    /// Rows directly after each other
    #[arg(long, help_heading = "Layouts (default: both)")]
    pub linear: bool,
    /// Rows that each start at the device's preferred alignment
    #[arg(long, help_heading = "Layouts (default: both)")]
    pub pitched: bool,

    /// The matrix.
    #[command(flatten)]
    pub matrix: MatrixFlags,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 128, value_parser = whole_number(1, 1024u32))]
    pub block: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Rows,
    Columns,
    Transposed,
    Copies,
}

/// The lab: a matrix.
pub struct Pitch {
    options: Options,
    matrix: HostMatrix,
    transpose: Vec<f32>,
}

/// The data on each device: on the lab's, and on a model whose cache has lines of 128 bytes.
pub struct Data(Vec<OnDevice>);

/// The data on a device, linear and pitched.
struct OnDevice {
    matrices: [Matrix<f32>; 2],
    transposes: [Matrix<f32>; 2],
    /// The target of the copies to the device.
    targets: [Matrix<f32>; 2],
    /// The outputs, linear: of the matrix, and of its transpose.
    outputs: [Matrix<f32>; 2],
    /// The result of the copies from the device.
    received: Vec<f32>,
}

/// The two layouts: the index in [`OnDevice`], and the name.
const MEMORIES: [(usize, &str); 2] = [(0, "linear"), (1, "pitched")];

impl Lab for Pitch {
    const NAME: &'static str = "pitch";
    const ABOUT: &'static str = "Rows padded to the hardware's alignment, and what padding costs";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores];
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        // The lecture's matrix is not square: rows of 120 floats, and many of them.
        let mut flags = options.matrix.clone();
        if flags.input.is_none() {
            flags.cols = flags.cols.or(Some(COLUMNS));
            flags.rows = flags.rows.or(Some(ROWS.on(device) as u32));
        }
        let matrix = flags.matrix(device, ROWS, ROOM, &mut Random::new(settings.seed))?;
        let transpose = matrix.transposed().elements;
        Ok(Self { options, transpose, matrix })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "block": self.options.block, "input": input})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let Options { by_rows, by_columns, transposed, copies, linear, pitched, .. } = self.options;
        let ways = chosen(&[
            (Way::Rows, by_rows),
            (Way::Columns, by_columns),
            (Way::Transposed, transposed),
            (Way::Copies, copies),
        ]);
        let memories = chosen(&[(MEMORIES[0], linear), (MEMORIES[1], pitched)]);
        ways.iter().filter(|&&way| way != Way::Copies).try_for_each(|&way| self.check_block(way))?;
        let mut data = Data(vec![self.on_device(device)?]);
        let mut variants = Vec::new();
        for way in ways {
            for &(index, memory) in &memories {
                match way {
                    Way::Copies => variants.extend(self.copies(&data, index, memory)),
                    _ => variants.push(self.reads(&data, 0, way, index, memory)),
                }
            }
            let properties = device.properties();
            let plain = !properties.is_gpu() && properties.simulates.is_none();
            if let Some(model) = Model::named(LINES).filter(|_| plain && way == Way::Rows) {
                // The lecture's GPU: a cache with lines of 128 bytes.
                let model = device.as_model(model, LoadCaching::Default)?;
                data.0.push(self.on_device(&model)?);
                let on_model = |&(index, memory): &(usize, &'static str)| {
                    self.reads(&data, 1, way, index, memory).axis("model", LINES).on(model.clone())
                };
                variants.extend(memories.iter().map(on_model));
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        for data in &mut data.0 {
            data.received.clear();
            data.targets.iter_mut().try_for_each(Matrix::poison)?;
            data.outputs.iter_mut().try_for_each(Matrix::poison)?;
        }
        Ok(())
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let loads = |name| Cost::of_loads(report.counters(name)?);
        let each = |name| Some(three_digits(loads(name)?.per_request));
        let rows = || {
            let extra = report.variant("rows-pitched")?.fact("extra_memory_%")?.as_f64()?;
            let extra = if extra > 0.0 { percent(extra) } else { "no".to_owned() };
            let (linear, pitched) = (loads("rows-linear")?, each("rows-pitched")?);
            let taken = if three_digits(linear.per_request) == pitched {
                format!("{linear} of either matrix")
            } else {
                format!("{linear} of the linear matrix and {pitched} of the pitched one")
            };
            Some(format!("By rows, a load takes {taken}; the pitched matrix takes {extra} more memory."))
        };
        let lines = || {
            let of = |memory: &str| {
                let counters = report.counters(&format!("rows-{memory} on {LINES}"))?;
                Some(counters.model?.global_load.transactions as f64 / counters.global.load.requests as f64)
            };
            let (linear, pitched) = (three_digits(of("linear")?), three_digits(of("pitched")?));
            Some(if linear == pitched {
                format!("Through Fermi's L1 it takes {linear} lines of 128 bytes either way.")
            } else {
                format!("Through Fermi's L1 it takes {linear} and {pitched} lines of 128 bytes.")
            })
        };
        let columns = || {
            Some(format!(
                "By columns it takes {} either way, and by rows of the transposed copy {}.",
                each("columns-pitched")?,
                each("transposed-pitched")?
            ))
        };
        let time = || {
            Some(format!(
                "By rows the pitched matrix is {} as the linear one; its transposed copy is {} as its columns.",
                as_fast(report.speedup("rows-pitched", "rows-linear")?),
                as_fast(report.speedup("transposed-pitched", "columns-pitched")?)
            ))
        };
        [time(), rows(), lines(), columns()].into_iter().flatten().collect()
    }
}

/// The model whose cache has lines of 128 bytes.
const LINES: &str = "fermi";

impl Pitch {
    fn on_device(&self, device: &Device) -> Result<OnDevice> {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let mut data = OnDevice {
            matrices: [device.matrix(rows, columns, false)?, device.matrix(rows, columns, true)?],
            transposes: [device.matrix(columns, rows, false)?, device.matrix(columns, rows, true)?],
            targets: [device.matrix(rows, columns, false)?, device.matrix(rows, columns, true)?],
            outputs: [device.matrix(rows, columns, false)?, device.matrix(columns, rows, false)?],
            received: Vec::new(),
        };
        for (index, _) in MEMORIES {
            // Poison the padding of a pitched matrix: reading it is a bug.
            data.matrices[index].poison()?;
            data.matrices[index].write(elements)?;
            data.transposes[index].poison()?;
            data.transposes[index].write(&self.transpose)?;
        }
        Ok(data)
    }

    /// Adds a matrix's parameters.
    fn described<'a>(&self, variant: Variant<'a, Data>, matrix: &Matrix<f32>, memory: &str) -> Variant<'a, Data> {
        let linear_bytes = size_of_val(self.matrix.elements.as_slice()) as f64;
        let extra = (matrix.bytes() as f64 / linear_bytes - 1.0) * 100.0;
        variant
            .axis("memory", memory)
            .axis("pitch_bytes", matrix.pitch() * size_of::<f32>())
            .axis("extra_memory_%", (extra * 100.0).round() / 100.0)
    }

    /// The rows of the output, and their elements.
    fn output(&self, way: Way) -> [usize; 2] {
        let HostMatrix { rows, columns, .. } = self.matrix;
        if way == Way::Rows { [rows, columns] } else { [columns, rows] }
    }

    /// Fails if the block's threads times the grid's rows do not fit 32 bits, as a launch demands.
    fn check_block(&self, way: Way) -> Result<()> {
        let ([lines, along], block) = (self.output(way), self.options.block);
        let [_, y, z] = covering(along, lines, block).grid.map(u64::from);
        let most = (1 << 32) / (y * z).max(1);
        if u64::from(block) > most {
            let HostMatrix { rows, columns, .. } = self.matrix;
            let problem = format!("for a matrix of {rows} x {columns} a block can have at most {most} threads");
            return Err(Error::flag("--block", problem));
        }
        Ok(())
    }

    /// Reads the matrix, or its transposed copy.
    fn reads(&self, data: &Data, place: usize, way: Way, index: usize, memory: &str) -> Variant<'_, Data> {
        let (name, source) = match way {
            Way::Columns => ("columns", &self.transpose),
            Way::Transposed => ("transposed", &self.transpose),
            _ => ("rows", &self.matrix.elements),
        };
        let output = usize::from(way != Way::Rows);
        let [lines, along] = self.output(way);
        let launch = covering(along, lines, self.options.block);
        let bytes = size_of_val(source.as_slice()) as u64;
        let on_model = if place == 0 { String::new() } else { format!(" on {LINES}") };
        let variant = Variant::new(
            format!("{name}-{memory}{on_model}"),
            move |data: &mut Data, launcher| {
                let OnDevice { matrices, transposes, outputs, .. } = &mut data.0[place];
                let matrix = if way == Way::Transposed { &transposes[index] } else { &matrices[index] };
                let kernel = if way == Way::Columns { &kernel::pitch_columns } else { &kernel::pitch_rows };
                launcher.launch(kernel, &launch, (matrix, &mut outputs[output]))
            },
            move |data| {
                let shape = Shape::Matrix { rows: lines, columns: along };
                let found = data.0[place].outputs[output].read()?;
                Ok(Outcome::exact(shape, found, |row, column| 2.0 * source[row * along + column]))
            },
        )
        .group(name)
        .bytes(2 * bytes)
        .computes(if way == Way::Rows { "the doubled matrix" } else { "the doubled transpose" }, bytes);
        let data = &data.0[place];
        let matrix = if way == Way::Transposed { &data.transposes[index] } else { &data.matrices[index] };
        self.described(variant, matrix, memory)
    }

    /// Copies the matrix to the device, and from it.
    fn copies(&self, data: &Data, index: usize, memory: &str) -> [Variant<'_, Data>; 2] {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let shape = Shape::Matrix { rows, columns };
        let bytes = size_of_val(elements.as_slice()) as u64;
        let to = Variant::new(
            format!("to-device-{memory}"),
            move |data: &mut Data, _launcher| data.0[0].targets[index].write(elements),
            move |data| Ok(Outcome::exact(shape, data.0[0].targets[index].read()?, |r, c| elements[r * columns + c])),
        );
        let from = Variant::new(
            format!("from-device-{memory}"),
            move |data: &mut Data, _launcher| {
                data.0[0].received = data.0[0].matrices[index].read()?;
                Ok(())
            },
            move |data| {
                let received = std::mem::take(&mut data.0[0].received);
                Ok(Outcome::exact(shape, received, |r, c| elements[r * columns + c]))
            },
        );
        let matrix = &data.0[0].matrices[index];
        [to.group("to device"), from.group("from device")]
            .map(|variant| self.described(variant.bytes(bytes), matrix, memory))
    }
}

/// A launch with a row of blocks for each of `lines` rows of `along` elements.
fn covering(along: usize, lines: usize, block: u32) -> LaunchConfig {
    let mut launch = LaunchConfig::linear(along, block);
    let layers = lines.div_ceil(65_535);
    launch.grid[1] = lines.div_ceil(layers) as u32;
    launch.grid[2] = layers as u32;
    launch
}
