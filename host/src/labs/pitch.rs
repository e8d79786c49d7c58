//! The lab `pitch`: linear against pitched rows. The kernels and what they show are in
//! `kernels::pitch`.

mod copies;
mod on_device;
mod table;

use common::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, OnDevice as _, Result};
use kernels::pitch as kernel;
use serde_json::{Value, json};

use on_device::OnDevice;
pub use table::Options;
use table::{Access, COLUMNS, CONCLUSIONS, FIRST, LINES, Layout, MODELS, MOVES, NEEDS, NEWER, ROWS, SHOWCASE};

use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::models::{is_plain, stand_in};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::measures::MOVED_A_LOAD;
use crate::report::{Best, Conclusion, FirstScreen, Grid, Meaning, Subject};

/// The lab: a matrix.
pub struct Pitch {
    options: Options,
    matrix: HostMatrix,
    transpose: Vec<f32>,
    predicts: bool,
}

/// The data on each device: on the lab's, and on a model whose cache has lines of 128 bytes.
pub struct Data(Vec<OnDevice>);

impl Lab for Pitch {
    const NAME: &'static str = "pitch";
    const ABOUT: &'static str = "Rows padded to the hardware's alignment, and what padding costs";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalBytes];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", ROWS), ("cols", COLUMNS)];
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Access>(), meanings::<Layout>(), MODELS.to_vec()].concat();
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
        Ok(Self { options, transpose, matrix, predicts: settings.predicts() })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "block": self.options.block, "input": input})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let timed = device.properties().is_gpu() || self.predicts;
        let (accesses, layouts) = (self.options.accesses.chosen_where(timed), self.options.layouts.chosen());
        accesses.iter().try_for_each(|access| self.check_block(access.of))?;
        let compact = !timed && is_plain(device) && accesses.iter().all(|access| access.of == Access::Rows);
        let mut data = Data(vec![OnDevice::new(device, &self.matrix, &self.transpose)?]);
        let own = (0, is_plain(device).then_some(NEWER));
        let mut variants = Vec::new();
        for access in accesses {
            for layout in &layouts {
                match access.of {
                    Access::Copies => variants.extend(self.copies(&data, layout)),
                    _ => variants.push(self.reads(&data, own, access, layout)),
                }
            }
            // The lecture's GPU: a cache with lines of 128 bytes. It gains, so a first screen begins with it.
            if let (Access::Rows, Some(model)) = (access.of, stand_in(device, LINES)?) {
                data.0.push(OnDevice::new(&model, &self.matrix, &self.transpose)?);
                let on_model = |layout| self.reads(&data, (1, Some(LINES)), access, layout).on(model.clone());
                let at = if compact { 0 } else { variants.len() };
                variants.splice(at..at, layouts.iter().map(|layout| on_model(layout)));
            }
        }
        let by_model = Grid {
            title: "by rows".to_owned(),
            rows: GPU,
            columns: ROW,
            group: "rows".to_owned(),
            best: Best::OfRow,
            measures: &[&MOVED_A_LOAD],
        };
        let plan = Plan::new(data, variants);
        Ok(if compact { plan.grid(by_model).compact() } else { plan })
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

/// The facts that say what padding gains: what the GPU moves, and the bytes of a row.
const GPU: &str = "GPU";
const ROW: &str = "row";

impl Pitch {
    /// Adds a matrix's parameters.
    fn described<'a>(
        &self,
        variant: Variant<'a, Data>,
        [access, memory]: [&str; 2],
        model: Option<&str>,
        matrix: &Matrix<f32>,
    ) -> Variant<'a, Data> {
        let linear_bytes = size_of_val(self.matrix.elements.as_slice()) as f64;
        let extra = (matrix.bytes() as f64 / linear_bytes - 1.0) * 100.0;
        let row = format!("{memory}: {} bytes", matrix.pitch() * size_of::<f32>());
        variant
            .axis("access", access)
            .axis("layout", memory)
            .fact(ROW, row)
            .fact(GPU, model.and_then(|model| Some(MOVES.iter().find(|(of, _)| *of == model)?.1)))
            .axis("model", model)
            .axis("pitch_bytes", matrix.pitch() * size_of::<f32>())
            .axis("row_alignment_bytes", 1_u64 << (matrix.pitch() * size_of::<f32>()).trailing_zeros())
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
            return Err(Error::request("--block", problem));
        }
        Ok(())
    }

    /// Reads the matrix, or its transposed copy.
    fn reads(
        &self,
        data: &Data,
        (place, model): (usize, Option<&str>),
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
        self.described(variant, [name, memory], model, matrix)
    }
}

/// A launch with a row of blocks for each of `lines` rows of `along` elements.
fn covering(along: usize, lines: usize, block: u32) -> LaunchConfig {
    let mut launch = LaunchConfig::linear(along, block);
    let layers = lines.div_ceil(65_535);
    launch.grid[1] = lines.div_ceil(layers) as u32;
    launch.grid[2] = layers as u32;
    // The first row is aligned in any matrix: the second shows what padding does.
    launch.watched_block = if lines > 1 { u64::from(launch.grid[0]) } else { 0 };
    launch
}
