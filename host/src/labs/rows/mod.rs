//! The lab `rows`: statistics of rows and columns, in global and in shared memory, and as fast as
//! possible. The kernels and what they show are in `kernels::rows` and `kernels::rows_all`. Listed
//! in [`crate::labs::ALL`] and run by [`crate::labs::flow`]; it writes only its own buffers.
//! `table` has the variants, `reference` what is right, `peer` the libraries' rows.

mod best_launch;
mod peer;
mod reference;
mod table;

use std::rc::Rc;

use best_kernels::rows::Best;
use common::random::Random;
use device::peers::Peers;
use device::{Buffer, Device, LaunchConfig, Matrix, Result};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, Layout, Method, SHOWCASE, Statistic, Task};

use super::best::slots;
use super::inputs::{DefaultSize, HostMatrix, MemoryNeeds, named};
use super::lab::{Lab, Plan, Variant};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::labs::launcher::config_of;
use crate::peers::Peer;
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

const SIZE: DefaultSize = DefaultSize { on_gpu: 16384, on_simulator: 1024 };

/// The matrix, linear and pitched, and the results on the device; the matrix and results on the
/// host.
const NEEDS: MemoryNeeds = MemoryNeeds { what: "the reduction of a matrix", on_device: 3, on_host: 2 };

/// The lab: a matrix.
pub struct Rows {
    options: Options,
    matrix: HostMatrix,
}

/// The data on a device.
pub struct Data {
    /// The matrix, linear and pitched.
    matrices: [Matrix<f32>; 2],
    /// A result for each row.
    of_rows: Buffer<f32>,
    /// A result for each column.
    of_columns: Buffer<f32>,
    /// Slots for the block results of the best kernels; empty between launches.
    slots: Buffer<u64>,
}

impl Lab for Rows {
    const NAME: &'static str = "rows";
    const ABOUT: &'static str = "A thread or a block for each row: reductions along and across the memory";
    const SUBJECTS: &'static [Subject] =
        &[Subject::Threads, Subject::GlobalLoadsOverIdeal, Subject::GlobalLoadTotals, Subject::GlobalLoadRequests];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas, Peer::Library];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> =
        || [meanings::<Statistic>(), meanings::<Method>(), meanings::<Layout>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let matrix = options.matrix.matrix(device, SIZE, NEEDS, &mut Random::new(settings.seed))?;
        Ok(Self { options, matrix })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "block": self.options.block, "input": input})
    }

    fn chooses_rows(&self) -> bool {
        self.options.statistics.any() || self.options.methods.any() || self.options.all
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let multiprocessors = device.multiprocessors();
        let counts =
            [Best::for_rows, Best::for_columns].map(|best| best(rows, columns, multiprocessors).slots(rows, columns));
        let mut data = Data {
            slots: slots(device, counts.into_iter().max().unwrap_or(0))?,
            matrices: [device.matrix(rows, columns, false)?, device.matrix(rows, columns, true)?],
            of_rows: device.buffer(rows)?,
            of_columns: device.buffer(columns)?,
        };
        for matrix in &mut data.matrices {
            // Poison the padding of a pitched matrix: reading it is a bug.
            matrix.poison()?;
            matrix.write(elements)?;
        }
        let mut variants = Vec::new();
        for statistic in self.statistics() {
            for method in self.options.methods.chosen() {
                for layout in self.layouts() {
                    let pitch = data.matrices[layout.of.0].pitch() as u32;
                    variants.push(self.variant(statistic, method, layout, pitch, multiprocessors));
                }
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        self.library_rows(device, peers, data)
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.of_rows.poison()?;
        data.of_columns.poison()
    }
}

impl Rows {
    fn statistics(&self) -> Vec<&'static VariantSpec<Statistic>> {
        self.options.statistics.chosen_or(self.options.all)
    }

    fn layouts(&self) -> Vec<&'static VariantSpec<Layout>> {
        self.options.layouts.chosen_or(self.options.all)
    }

    /// How many results a statistic has.
    fn results(&self, task: Task) -> usize {
        if task == Task::ColumnMeans { self.matrix.columns } else { self.matrix.rows }
    }

    /// The size of the matrix and the results in bytes.
    fn bytes(&self, task: Task) -> u64 {
        (size_of_val(self.matrix.elements.as_slice()) + self.results(task) * size_of::<f32>()) as u64
    }

    fn variant(
        &self,
        &VariantSpec { name, of: statistic, .. }: &VariantSpec<Statistic>,
        method: &VariantSpec<Method>,
        layout: &VariantSpec<Layout>,
        pitch: u32,
        multiprocessors: u32,
    ) -> Variant<'_, Data> {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let (Statistic { task, .. }, Layout(index), block) = (statistic, layout.of, self.options.block);
        let by_column = task == Task::ColumnMeans;
        let best = if by_column { Best::for_columns } else { Best::for_rows }(rows, columns, multiprocessors);
        // A block for each row, or for 32 columns.
        let blocks = if by_column { columns.div_ceil(32) } else { rows };
        let grid = [blocks as u32, 1, 1];
        let (kernel, launch) = match method.of {
            Method::Best => (None, config_of(best.launch(rows, columns))),
            Method::Global => {
                (Some(statistic.global), LaunchConfig::linear(if by_column { columns } else { rows }, block))
            }
            Method::Shared if by_column => (Some(statistic.shared), LaunchConfig::blocks(statistic.shared, grid)),
            Method::Shared => (Some(statistic.shared), LaunchConfig::new(grid, [block, 1, 1])),
            Method::Phased => (Some(statistic.phased), LaunchConfig::blocks(statistic.phased, grid)),
        };
        let variant = Variant::new(
            format!("{name}-{}-{}", method.name, layout.name),
            move |data: &mut Data, launcher| {
                let Some(kernel) = kernel else {
                    return self.launch_best(data, launcher, statistic, best, index, pitch);
                };
                let Data { matrices, of_rows, of_columns, .. } = data;
                let results = if by_column { of_columns } else { of_rows };
                launcher.launch(kernel, &launch, (&matrices[index], results))
            },
            move |data| {
                let results = if by_column { &data.of_columns } else { &data.of_rows };
                Ok(self.outcome(task, results.read()?))
            },
        )
        .group(name)
        .axis("statistic", name)
        .axis("method", method.name)
        .axis("layout", layout.name)
        .fact("pitch_bytes", pitch as usize * size_of::<f32>())
        .fact("grid", json!(launch.grid))
        .fact("threads", launch.grid.iter().chain(&launch.block).map(|&extent| u64::from(extent)).product::<u64>())
        .bytes(self.bytes(task))
        .computes(format!("the results of {name}"), (self.results(task) * size_of::<f32>()) as u64);
        if kernel.is_none() && !by_column { variant.one_of_several_kernels() } else { variant }
    }
}
