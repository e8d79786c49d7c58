//! The lab `pitch`: linear against pitched rows. The kernels and what they show are in
//! `kernels::pitch`.

mod table;

use device::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, OnDevice as _, Result};
use kernels::pitch as kernel;
use serde_json::{Value, json};

pub use table::Options;
use table::{Access, CONCLUSIONS, GOALS, Layout};

use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, MemoryNeeds, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::models::stand_in;
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::VariantSpec;
use crate::report::{Conclusion, Subject};

/// The columns of the lecture's matrix.
const COLUMNS: DefaultSize = DefaultSize { on_gpu: 120, on_simulator: 120 };
const ROWS: DefaultSize = DefaultSize { on_gpu: 1 << 19, on_simulator: 512 };

/// The matrix and its transpose, linear and with a pitch that may be four times as long, and an output for each; the matrix and a
/// result on the host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "copying a matrix", on_device: 12, on_host: 2 };

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

impl Lab for Pitch {
    const NAME: &'static str = "pitch";
    const ABOUT: &'static str = "Rows padded to the hardware's alignment, and what padding costs";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoads, Subject::GlobalStores];
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", ROWS), ("cols", COLUMNS)];
    const SHOWCASE: Showcase = Showcase {
        start: &[("rows", "64")],
        row: "rows-linear",
        beside: "columns-linear",
        access: "global load",
        goals: GOALS,
        ..Showcase::DEFAULTS
    };
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        // The lecture's matrix is not square: rows of 120 floats, and many of them.
        let mut flags = options.matrix.clone();
        if flags.input.is_none() {
            flags.cols = flags.cols.or(Some(COLUMNS.on(device) as u32));
            flags.rows = flags.rows.or(Some(ROWS.on(device) as u32));
        }
        let matrix = flags.matrix(device, ROWS, NEEDS, &mut Random::new(settings.seed))?;
        let transpose = matrix.transposed().elements;
        Ok(Self { options, transpose, matrix })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "block": self.options.block, "input": input})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let (accesses, layouts) = (self.options.accesses.chosen(), self.options.layouts.chosen());
        accesses.iter().try_for_each(|access| self.check_block(access.of))?;
        let mut data = Data(vec![self.on_device(device)?]);
        let mut variants = Vec::new();
        for access in accesses {
            for layout in &layouts {
                match access.of {
                    Access::Copies => variants.extend(self.copies(&data, layout)),
                    _ => variants.push(self.reads(&data, 0, access, layout)),
                }
            }
            // The lecture's GPU: a cache with lines of 128 bytes.
            if let (Access::Rows, Some(model)) = (access.of, stand_in(device, LINES)?) {
                data.0.push(self.on_device(&model)?);
                let on_model = |layout| self.reads(&data, 1, access, layout).axis("model", LINES).on(model.clone());
                variants.extend(layouts.iter().map(|layout| on_model(layout)));
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
        for index in 0..2 {
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
    fn output(&self, access: Access) -> [usize; 2] {
        let HostMatrix { rows, columns, .. } = self.matrix;
        if access == Access::Rows { [rows, columns] } else { [columns, rows] }
    }

    /// Fails if the block's threads times the grid's rows do not fit 32 bits, as a launch demands.
    fn check_block(&self, access: Access) -> Result<()> {
        let ([lines, along], block) = (self.output(access), self.options.block);
        let [_, y, z] = covering(along, lines, block).grid.map(u64::from);
        let most = (1 << 32) / (y * z).max(1);
        if access != Access::Copies && u64::from(block) > most {
            let HostMatrix { rows, columns, .. } = self.matrix;
            let problem = format!("for a matrix of {rows} x {columns} a block can have at most {most} threads");
            return Err(Error::flag("--block", problem));
        }
        Ok(())
    }

    /// Reads the matrix, or its transposed copy.
    fn reads(
        &self,
        data: &Data,
        place: usize,
        &VariantSpec { name, of: access, .. }: &VariantSpec<Access>,
        &VariantSpec { name: memory, of: Layout(index), .. }: &VariantSpec<Layout>,
    ) -> Variant<'_, Data> {
        let source = if access == Access::Rows { &self.matrix.elements } else { &self.transpose };
        let output = usize::from(access != Access::Rows);
        let [lines, along] = self.output(access);
        let launch = covering(along, lines, self.options.block);
        let bytes = size_of_val(source.as_slice()) as u64;
        let on_model = if place == 0 { String::new() } else { format!(" on {LINES}") };
        let variant = Variant::new(
            format!("{name}-{memory}{on_model}"),
            move |data: &mut Data, launcher| {
                let OnDevice { matrices, transposes, outputs, .. } = &mut data.0[place];
                let matrix = if access == Access::Transposed { &transposes[index] } else { &matrices[index] };
                let kernel = if access == Access::Columns { &kernel::pitch_columns } else { &kernel::pitch_rows };
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
        .computes(if access == Access::Rows { "the doubled matrix" } else { "the doubled transpose" }, bytes);
        let data = &data.0[place];
        let matrix = if access == Access::Transposed { &data.transposes[index] } else { &data.matrices[index] };
        self.described(variant, matrix, memory)
    }

    /// Copies the matrix to the device, and from it.
    fn copies(
        &self,
        data: &Data,
        &VariantSpec { name: memory, of: Layout(index), .. }: &VariantSpec<Layout>,
    ) -> [Variant<'_, Data>; 2] {
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
