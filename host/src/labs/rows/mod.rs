//! The lab `rows`: statistics of rows and columns, in global and in shared memory, and as fast as
//! possible. The kernels and what they show are in `kernels::rows` and `kernels::rows_all`. Listed
//! in [`crate::labs::ALL`] and run by [`crate::labs::flow`]; it writes only its own buffers.

use std::rc::Rc;

use best_kernels::rows::{self as best, Best};
use clap::Args;
use cuda_std::launch::{self, Kernel, Pointer, PointerMut, SafeKernel};
use device::flag_values::power_of_two;
use device::peers::Peers;
use device::random::Random;
use device::{Buffer, Device, Error, LaunchConfig, Matrix, Result};
use kernels::{rows as kernel, rows_all as others};
use serde_json::{Value, json};

use super::best::slots;
use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, HostMatrix, MatrixFlags, Room, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::launcher::Launcher;
use super::settings::Settings;
use crate::peers::{self, Peer};
use crate::report::{Cost, LabReport, Subject, Tolerance};
use crate::units::{as_fast, three_digits};

const SIZE: DefaultSize = DefaultSize { on_gpu: 16384, on_simulator: 1024 };

/// The matrix, linear and pitched, and the results on the device; the matrix and results on the
/// host.
const ROOM: Room = Room { what: "the reduction of a matrix", on_device: 3, on_host: 2 };

/// The flags of `host rows`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The sum of each row
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub sum: bool,
    /// The mean of each row
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub mean: bool,
    /// The greatest element of each row
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub max: bool,
    /// The least element of each row
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub min: bool,
    /// The sum of the squares of each row
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub squares: bool,
    /// The mean of each column
    #[arg(long, help_heading = "Statistics (default: sum and column means)")]
    pub column_means: bool,
    /// A thread for each row or column, from global memory
    #[arg(long, help_heading = "Methods (default: all)")]
    pub global: bool,
    /// A block for each row, or eight threads for each column, combined in shared memory
    #[arg(long, help_heading = "Methods (default: all)")]
    pub shared: bool,
    /// The number of lanes or blocks for each row or column that is best for the shape
    #[arg(long, help_heading = "Methods (default: all)")]
    pub best: bool,
    /// Rows directly after each other
    #[arg(long, help_heading = "Layouts (default: linear)")]
    pub linear: bool,
    /// Rows that each start at the device's preferred alignment
    #[arg(long, help_heading = "Layouts (default: linear)")]
    pub pitched: bool,

    /// All statistics and both layouts
    #[arg(long)]
    pub all: bool,
    /// The matrix.
    #[command(flatten)]
    pub matrix: MatrixFlags,
    /// Threads of a block of --global and --shared: a power of two from 32 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = power_of_two(32, 1024))]
    pub block: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    Sum,
    Mean,
    Max,
    Min,
    Squares,
    ColumnMeans,
}

/// A kernel of the course: the matrix, and the results.
type Plain = SafeKernel<(launch::Matrix<f32>, launch::DisjointSlice<f32>)>;
/// A kernel with several lanes per row: the matrix, the results, rows, columns, pitch.
type Lanes = Kernel<(Pointer<f32>, PointerMut<f32>, u32, u32, u32)>;
/// A kernel with several blocks per row: the matrix, the results, columns, pitch, blocks per row, slots.
type Blocks = Kernel<(Pointer<f32>, PointerMut<f32>, u32, u32, u32, PointerMut<u64>)>;

/// How the results are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Global,
    Shared,
    Best,
}

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
        &[Subject::GlobalLoads, Subject::GlobalRequests, Subject::ActiveLanes, Subject::Instructions];
    const PEERS: &'static [Peer] = &[Peer::Cublas, Peer::Library];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let matrix = options.matrix.matrix(device, SIZE, ROOM, &mut Random::new(settings.seed))?;
        Ok(Self { options, matrix })
    }

    fn parameters(&self) -> Value {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let input = named(self.options.matrix.input.as_ref());
        json!({"rows": rows, "cols": columns, "block": self.options.block, "input": input})
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
        let Options { global, shared, best, .. } = self.options;
        let ways = chosen(&[(Way::Global, global), (Way::Shared, shared), (Way::Best, best)]);
        let layouts = self.options.layouts();
        let mut variants = Vec::new();
        for statistic in self.statistics() {
            for &way in &ways {
                for &(index, layout) in &layouts {
                    let pitch = data.matrices[index].pitch() as u32;
                    variants.push(self.variant(statistic, way, index, layout, pitch, multiprocessors));
                }
            }
        }
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        if !self.statistics().contains(&Statistic::Sum) {
            return Err(Error::flag("--peer", "the libraries only compute sums of rows; add --sum"));
        }
        let columns = self.matrix.columns;
        let mut rows = Vec::new();
        for (index, layout) in self.options.layouts() {
            if let Some(library) = peers.cublas() {
                let peers = Rc::clone(peers);
                let mut ones = device.buffer(columns)?;
                ones.write(&vec![1.0; columns])?;
                let launch = move |Data { matrices, of_rows, .. }: &mut Data| {
                    peers.row_products(&matrices[index], &ones, of_rows)
                };
                rows.push((peers::row(format!("cublas-sgemv-{layout}"), library, launch, self.judge_sums()), layout));
            }
            if let Some(library) = peers.cub() {
                let peers = Rc::clone(peers);
                let scratch = peers.scratch_for_row_sums(&data.matrices[index])?;
                let launch = move |Data { matrices, of_rows, .. }: &mut Data| {
                    peers.sum_rows(&matrices[index], of_rows, &scratch)
                };
                rows.push((peers::row(format!("cub-sum-{layout}"), library, launch, self.judge_sums()), layout));
            }
        }
        let finished = |(row, layout): (Variant<'a, Data>, &str)| {
            let row = row.group(Statistic::Sum.name()).axis("memory", "library").axis("layout", layout);
            row.bytes(self.bytes(Statistic::Sum))
        };
        Ok(rows.into_iter().map(finished).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.of_rows.poison()?;
        data.of_columns.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let loads = |name| Cost::of_loads(report.counters(name)?);
        let rows = || {
            Some(format!(
                "With a thread for each row a load takes {}, with a block for each row {}.",
                loads("sum-global-linear")?,
                three_digits(loads("sum-shared-linear")?.per_request)
            ))
        };
        let columns = || {
            Some(format!(
                "With a thread for each column it takes {}: reading columns is coalesced without shared memory.",
                three_digits(loads("column-means-global-linear")?.per_request)
            ))
        };
        let time = || {
            Some(format!(
                "A block for each row is {} as a thread for each; eight threads for each column are {} as one. The best kernels are {} \
                 and {} as these.",
                as_fast(report.speedup("sum-shared-linear", "sum-global-linear")?),
                as_fast(report.speedup("column-means-shared-linear", "column-means-global-linear")?),
                as_fast(report.speedup("sum-best-linear", "sum-shared-linear")?),
                as_fast(report.speedup("column-means-best-linear", "column-means-shared-linear")?)
            ))
        };
        [time(), rows(), columns()].into_iter().flatten().collect()
    }
}

impl Options {
    /// The layouts, each with the index of its matrix.
    fn layouts(&self) -> Vec<(usize, &'static str)> {
        let linear = self.linear || !self.pitched;
        chosen(&[((0, "linear"), self.all || linear), ((1, "pitched"), self.all || self.pitched)])
    }
}

impl Rows {
    fn statistics(&self) -> Vec<Statistic> {
        let Options { sum, mean, max, min, squares, column_means, all, .. } = self.options;
        let usual = all || ![sum, mean, max, min, squares, column_means].contains(&true);
        let (sum, column_means) = (sum || usual, column_means || usual);
        let (mean, max, min, squares) = (mean || all, max || all, min || all, squares || all);
        chosen(&[
            (Statistic::Sum, sum),
            (Statistic::Mean, mean),
            (Statistic::Max, max),
            (Statistic::Min, min),
            (Statistic::Squares, squares),
            (Statistic::ColumnMeans, column_means),
        ])
    }

    /// How many results a statistic has.
    fn results(&self, statistic: Statistic) -> usize {
        if statistic == Statistic::ColumnMeans { self.matrix.columns } else { self.matrix.rows }
    }

    /// The size of the matrix and the results in bytes.
    fn bytes(&self, statistic: Statistic) -> u64 {
        (size_of_val(self.matrix.elements.as_slice()) + self.results(statistic) * size_of::<f32>()) as u64
    }

    /// Compares the sums of the rows with the reference.
    fn judge_sums(&self) -> impl Fn(&mut Data) -> Result<Outcome> {
        |data| Ok(self.outcome(Statistic::Sum, data.of_rows.read()?))
    }

    fn variant(
        &self,
        statistic: Statistic,
        way: Way,
        index: usize,
        layout: &str,
        pitch: u32,
        multiprocessors: u32,
    ) -> Variant<'_, Data> {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let (by_column, block) = (statistic == Statistic::ColumnMeans, self.options.block);
        let best = if by_column { Best::for_columns } else { Best::for_rows }(rows, columns, multiprocessors);
        let plain = statistic.kernel(way == Way::Shared);
        let launch = match (by_column, way) {
            (false, Way::Global) => LaunchConfig::linear(rows, block),
            (false, Way::Shared) => LaunchConfig::new([rows as u32, 1, 1], [block, 1, 1]),
            (true, Way::Global) => LaunchConfig::linear(columns, block),
            (true, Way::Shared) => LaunchConfig::blocks(plain, [columns.div_ceil(32) as u32, 1, 1]),
            (_, Way::Best) => best.launch(rows, columns).into(),
        };
        let (name, way_name) = (statistic.name(), way.name());
        Variant::new(
            format!("{name}-{way_name}-{layout}"),
            move |data: &mut Data, launcher| {
                if way == Way::Best {
                    return self.launch_best(data, launcher, statistic, best, index, pitch);
                }
                let Data { matrices, of_rows, of_columns, .. } = data;
                let results = if by_column { of_columns } else { of_rows };
                launcher.launch(plain, &launch, (&matrices[index], results))
            },
            move |data| {
                let results = if by_column { &data.of_columns } else { &data.of_rows };
                Ok(self.outcome(statistic, results.read()?))
            },
        )
        .group(name)
        .axis("statistic", name)
        .axis("memory", way_name)
        .axis("layout", layout)
        .fact("pitch_bytes", pitch as usize * size_of::<f32>())
        .fact("grid", json!(launch.grid))
        .bytes(self.bytes(statistic))
        .computes(format!("the results of {name}"), (self.results(statistic) * size_of::<f32>()) as u64)
    }

    fn launch_best(
        &self,
        data: &mut Data,
        launcher: &mut Launcher<'_>,
        statistic: Statistic,
        best: Best,
        index: usize,
        pitch: u32,
    ) -> Result<()> {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let launch = best.launch(rows, columns).into();
        let Data { matrices, of_rows, of_columns, slots } = data;
        let matrix = &matrices[index];
        let (rows, columns) = (rows as u32, columns as u32);
        match (best, statistic.best()) {
            (Best::Lanes8, Some((kernel, _, _))) | (Best::Lanes32, Some((_, kernel, _))) => {
                // SAFETY: rows, columns and pitch are those of the matrix; each row has a result.
                unsafe { launcher.launch_unchecked(kernel, &launch, (matrix, of_rows, rows, columns, pitch)) }
            }
            (Best::Blocks(per_row), Some((_, _, kernel))) => {
                let arguments = (matrix, of_rows, columns, pitch, per_row, slots);
                // SAFETY: the same, and the slots are those of the grid, all 0.
                unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
            }
            (Best::Columns(_), _) | (_, None) => {
                let arguments = (matrix, of_columns, rows, columns, pitch, slots);
                // SAFETY: the same; each column has a result.
                unsafe { launcher.launch_unchecked(&best::rows_column_means_best, &launch, arguments) }
            }
        }
    }

    fn outcome(&self, statistic: Statistic, found: Vec<f32>) -> Outcome {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let shape = Shape::Vector(found.len());
        let row = |row: usize| elements[row * columns..][..columns].iter().copied();
        // Roundings of a sum of this many terms, a square and a quotient.
        let tolerance =
            Tolerance::Roundings(if statistic == Statistic::ColumnMeans { rows } else { columns } as u64 + 2);
        match statistic {
            Statistic::Max => Outcome::exact(shape, found, |_, i| row(i).fold(f32::NEG_INFINITY, f32::max)),
            Statistic::Min => Outcome::exact(shape, found, |_, i| row(i).fold(f32::INFINITY, f32::min)),
            Statistic::Sum => Outcome::near(shape, found, tolerance, |_, i| Reference::sum(row(i).map(f64::from))),
            Statistic::Mean => Outcome::near(shape, found, tolerance, |_, i| {
                Reference::sum(row(i).map(|element| f64::from(element) / columns as f64))
            }),
            Statistic::Squares => Outcome::near(shape, found, tolerance, |_, i| {
                Reference::sum(row(i).map(|element| f64::from(element) * f64::from(element)))
            }),
            Statistic::ColumnMeans => {
                // Along the rows, in the order of the memory.
                let mut means = vec![Reference { value: 0.0, magnitude: 0.0 }; columns];
                for row in elements.chunks(columns) {
                    for (mean, &element) in means.iter_mut().zip(row) {
                        mean.value += f64::from(element) / rows as f64;
                        mean.magnitude += f64::from(element).abs() / rows as f64;
                    }
                }
                Outcome::near(shape, found, tolerance, |_, i| means[i])
            }
        }
    }
}

impl Way {
    fn name(self) -> &'static str {
        ["global", "shared", "best"][self as usize]
    }
}

impl Statistic {
    fn name(self) -> &'static str {
        ["sum", "mean", "max", "min", "squares", "column-means"][self as usize]
    }

    /// The kernel with a thread for each row or column, or with a block or eight threads.
    fn kernel(self, shared: bool) -> &'static Plain {
        match (self, shared) {
            (Self::Sum, false) => &kernel::rows_sum_global,
            (Self::Sum, true) => &kernel::rows_sum_shared,
            (Self::Mean, false) => &others::rows_mean_global,
            (Self::Mean, true) => &others::rows_mean_shared,
            (Self::Max, false) => &others::rows_max_global,
            (Self::Max, true) => &others::rows_max_shared,
            (Self::Min, false) => &others::rows_min_global,
            (Self::Min, true) => &others::rows_min_shared,
            (Self::Squares, false) => &others::rows_squares_global,
            (Self::Squares, true) => &others::rows_squares_shared,
            (Self::ColumnMeans, false) => &kernel::rows_column_means_global,
            (Self::ColumnMeans, true) => &kernel::rows_column_means_shared,
        }
    }

    /// The best kernels: with 8 and 32 lanes per row, and with blocks.
    fn best(self) -> Option<(&'static Lanes, &'static Lanes, &'static Blocks)> {
        Some(match self {
            Self::Sum => (&best::rows_sum_lanes8, &best::rows_sum_lanes32, &best::rows_sum_blocks),
            Self::Mean => (&best::rows_mean_lanes8, &best::rows_mean_lanes32, &best::rows_mean_blocks),
            Self::Max => (&best::rows_max_lanes8, &best::rows_max_lanes32, &best::rows_max_blocks),
            Self::Min => (&best::rows_min_lanes8, &best::rows_min_lanes32, &best::rows_min_blocks),
            Self::Squares => (&best::rows_squares_lanes8, &best::rows_squares_lanes32, &best::rows_squares_blocks),
            Self::ColumnMeans => return None,
        })
    }
}
