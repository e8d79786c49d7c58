//! The transpose of a matrix: naive, in blocks, through shared memory, padded. The kernels and what they show are in
//! `kernels::transpose`. Listed in [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use std::rc::Rc;

use best_kernels::Launch;
use best_kernels::transpose as best;
use clap::Args;
use cuda_std::launch::{self, SafeKernel};
use device::flag_values::{self, block_shape};
use device::peers::Peers;
use device::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, OnDevice, Result};
use kernels::transpose as kernel;
use serde_json::{Value, json};

use super::best::gpu;
use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, MatrixFlags, Room, named};
use super::lab::{Lab, Outcome, Plan, Variant, chosen_for};
use super::settings::Settings;
use crate::peers::{self, Peer};
use crate::report::{Cost, LabReport, Subject};
use crate::units::{percent, three_digits};

const SIZE: DefaultSize = DefaultSize { on_gpu: 16384, on_simulator: 1024 };

/// The input and the transpose on the device, and a third matrix for the copy; the input and one output on the host.
const ROOM: Room = Room { what: "the transpose of a matrix", on_device: 2, on_host: 2 };
const ROOM_WITH_COPY: Room = Room { on_device: 3, ..ROOM };

/// The flags of `host transpose`.
///
/// With no variant named, all of them run and the table compares them.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Both naive kernels: coalesced reads, and coalesced writes
    #[arg(long, help_heading = "Variants (default: all)")]
    pub naive: bool,
    /// Blocks of 16 x 16 threads, one element each, without shared memory
    #[arg(long, help_heading = "Variants (default: all)")]
    pub block16: bool,
    /// Tiles of 32 x 32 in shared memory, read with bank conflicts
    #[arg(long, help_heading = "Variants (default: all)")]
    pub tiled: bool,
    /// Tiles of 32 x 33: the padding ends the bank conflicts
    #[arg(long, help_heading = "Variants (default: all)")]
    pub padded: bool,
    /// The padded tile, with four loads in flight before the first value is used
    #[arg(long, help_heading = "Variants (default: all)")]
    pub batched: bool,
    /// Words of 16 bytes outside of the tiles, which are of 64 x 65, or of 32 x 33 for small matrices
    #[arg(long, help_heading = "Variants (default: all)")]
    pub best: bool,
    /// No transpose but a plain copy: the ceiling
    #[arg(long, help_heading = "Variants (default: all)")]
    pub copy: bool,

    /// The matrix.
    #[command(flatten)]
    pub matrix: MatrixFlags,
    /// Threads of a block of --block16; the other kernels' blocks are their own [default: 16,16]
    #[arg(long, value_name = "X,Y", value_parser = block_shape)]
    pub block: Option<[u32; 2]>,
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pub pitched: bool,
}

impl Default for Options {
    fn default() -> Self {
        flag_values::defaults()
    }
}

/// One kernel, in the order in which they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    NaiveReads,
    NaiveWrites,
    Block16,
    Tiled,
    Padded,
    Batched,
    Best,
    Copy,
}

/// A kernel of the course.
type Plain = SafeKernel<(launch::Matrix<f32>, launch::DisjointMatrix<f32>)>;

/// The best kernel for a matrix, and its launch.
type Best = (&'static best::Transpose, Launch);

/// The lab: a matrix and how to turn it.
pub struct Transpose {
    options: Options,
    matrix: HostMatrix,
    steps: Vec<Step>,
    /// Whether a plain copy is among them, ours or the driver's.
    copies: bool,
}

/// What lies on a device.
pub struct Data {
    input: Matrix<f32>,
    /// As large as the transpose.
    output: Matrix<f32>,
    /// As large as the input, for the plain copy; only if that runs.
    copied: Option<Matrix<f32>>,
}

impl Lab for Transpose {
    const NAME: &'static str = "transpose";
    const ABOUT: &'static str = "Strided stores coalesced through shared memory; bank conflicts, padding";
    const SUBJECTS: &'static [Subject] = &[
        Subject::GlobalLoads,
        Subject::GlobalStores,
        Subject::SharedLoads,
        Subject::SharedStores,
        Subject::ActiveLanes,
    ];
    const PEERS: &'static [Peer] = &[Peer::Driver, Peer::Cublas];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let steps = Step::chosen(device, &options);
        if options.block.is_some() && !steps.contains(&Step::Block16) {
            return Err(Error::flag(
                "--block",
                "only --block16 takes blocks of any shape; the other kernels' are their own",
            ));
        }
        let copies = steps.contains(&Step::Copy) || settings.peer.peer;
        let room = if copies { ROOM_WITH_COPY } else { ROOM };
        let matrix = options.matrix.matrix(device, SIZE, room, &mut Random::new(settings.seed))?;
        Ok(Self { options, matrix, steps, copies })
    }

    fn parameters(&self) -> Value {
        let Options { pitched, matrix, .. } = &self.options;
        let HostMatrix { rows, columns, .. } = self.matrix;
        json!({"rows": rows, "cols": columns, "pitched": pitched, "input": named(matrix.input.as_ref())})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let pitched = self.options.pitched;
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let mut data = Data {
            input: device.matrix(rows, columns, pitched)?,
            output: device.matrix(columns, rows, pitched)?,
            copied: if self.copies { Some(device.matrix(rows, columns, pitched)?) } else { None },
        };
        for matrix in [&data.input, &data.output] {
            u32::try_from(matrix.pitch())
                .map_err(|_| Error::flag("--pitched", "rows of this length are beyond a kernel's 32-bit pitch"))?;
        }
        // The padding of a pitched input is never right to read.
        data.input.poison()?;
        data.input.write(elements)?;
        let pitches = [&data.input, &data.output].map(|matrix| matrix.pitch() as u32);
        let best = best::best(gpu(device), [rows, columns].map(|side| side as u32), pitches);
        let variants = self.steps.iter().map(|&step| self.variant(step, best, &data)).collect();
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let mut rows = Vec::new();
        if let Some(library) = peers.cublas() {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| peers.transpose(&data.input, &mut data.output);
            rows.push(peers::row("cublas-sgeam", library, launch, |data| self.outcome(Step::Best, data)));
        }
        // As one run of bytes, padding and all, and row by row, which the driver does more slowly.
        let (whole, peers) = (device.clone(), Rc::clone(peers));
        let copy = move |Data { input, copied, .. }: &mut Data| match copied {
            Some(copied) => whole.copy(input, copied, input.bytes()),
            None => Ok(()),
        };
        let copy_rows = move |Data { input, copied, .. }: &mut Data| match copied {
            Some(copied) => peers.copy_rows(input, copied),
            None => Ok(()),
        };
        let driver = peers::driver(device);
        rows.push(peers::row("driver-copy", &driver, copy, |data| self.outcome(Step::Copy, data)));
        rows.push(peers::row("driver-copy-2d", &driver, copy_rows, |data| self.outcome(Step::Copy, data)));
        Ok(rows.into_iter().map(|row| row.bytes(2 * self.bytes())).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        if let Some(copied) = &mut data.copied {
            copied.poison()?;
        }
        data.output.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let stores = |name| Cost::of_stores(report.counters(name)?);
        let wavefronts = |name| report.counters(name)?.shared.load.wavefronts_per_request();
        let tile = || {
            let (column, through_shared) = (stores("naive-reads")?, stores("padded").or(stores("tiled"))?);
            Some(format!(
                "A warp's store down a column takes {column}; through shared memory, {}.",
                three_digits(through_shared.per_request)
            ))
        };
        let padding = || {
            let (tiled, padded) = (wavefronts("tiled")?, wavefronts("padded")?);
            Some(format!(
                "Reading a column of the tile takes {} wavefronts, with padding {}.",
                three_digits(tiled),
                three_digits(padded)
            ))
        };
        let time = || {
            Some(format!(
                "padded is {} times as fast as naive-reads and {} times as fast as tiled; a plain copy takes {} of its time.",
                three_digits(report.speedup("padded", "naive-reads")?),
                three_digits(report.speedup("padded", "tiled")?),
                percent(report.speedup("padded", "copy").map(|times| times * 100.0)?)
            ))
        };
        [time(), tile(), padding()].into_iter().flatten().collect()
    }
}

impl Transpose {
    fn variant(&self, step: Step, (best, best_launch): Best, data: &Data) -> Variant<'_, Data> {
        let HostMatrix { rows, columns, .. } = self.matrix;
        let launch = step.launch(self.options.block, rows as u32, columns as u32, best_launch);
        let bytes = self.bytes();
        let output_pitch = match &data.copied {
            Some(copied) if step == Step::Copy => copied.pitch(),
            _ => data.output.pitch(),
        };
        let variant = Variant::new(
            step.name(),
            move |data: &mut Data, launcher| {
                let target = step.target(&mut data.output, &mut data.copied);
                if step != Step::Best {
                    return launcher.launch(step.kernel(), &launch, (&data.input, target));
                }
                let pitches = [data.input.pitch() as u32, target.pitch() as u32];
                let arguments = (&data.input, target, rows as u32, columns as u32, pitches[0], pitches[1]);
                // SAFETY: rows, columns and pitches are those of the two matrices.
                unsafe { launcher.launch_unchecked(best, &launch, arguments) }
            },
            move |data| self.outcome(step, data),
        );
        let variant = variant
            .fact("block", json!(launch.block[..2]))
            .fact("grid", json!(launch.grid))
            .fact("input_pitch_bytes", data.input.pitch() * size_of::<f32>())
            .fact("output_pitch_bytes", output_pitch * size_of::<f32>())
            .bytes(2 * bytes);
        match step {
            Step::Copy => variant,
            _ => variant.computes("the transpose", bytes),
        }
    }
}

impl Transpose {
    /// The bytes of the matrix.
    fn bytes(&self) -> u64 {
        size_of_val(self.matrix.elements.as_slice()) as u64
    }

    /// Whether what a step wrote is right.
    fn outcome(&self, step: Step, data: &mut Data) -> Result<Outcome> {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let found = step.target(&mut data.output, &mut data.copied).read()?;
        Ok(match step {
            Step::Copy => {
                Outcome::exact(Shape::Matrix { rows, columns }, found, |row, column| elements[row * columns + column])
            }
            _ => Outcome::exact(Shape::Matrix { rows: columns, columns: rows }, found, |row, column| {
                elements[column * columns + row]
            }),
        })
    }
}

impl Step {
    /// The steps that the flags name; without flags all that fit. Before compute capability 2.0 a block has no room for the best one's tile.
    fn chosen(device: &Device, options: &Options) -> Vec<Self> {
        let steps = [
            (Self::NaiveReads, options.naive),
            (Self::NaiveWrites, options.naive),
            (Self::Block16, options.block16),
            (Self::Tiled, options.tiled),
            (Self::Padded, options.padded),
            (Self::Batched, options.batched),
            (Self::Best, options.best),
            (Self::Copy, options.copy),
        ];
        chosen_for(device, &steps, |step| match step {
            Self::Best => (best::THREADS, best::SHARED_BYTES.into()),
            _ => (0, 0),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::NaiveReads => "naive-reads",
            Self::NaiveWrites => "naive-writes",
            Self::Block16 => "block16",
            Self::Tiled => "tiled",
            Self::Padded => "padded",
            Self::Batched => "batched",
            Self::Best => "best",
            Self::Copy => "copy",
        }
    }

    /// The launch for a matrix, of blocks of the wanted shape if the kernel takes any. The best one has its own.
    fn launch(self, wanted: Option<[u32; 2]>, rows: u32, columns: u32, best: Launch) -> LaunchConfig {
        let tiles = kernel::grid(rows, columns, [kernel::TILE, kernel::TILE]);
        match self {
            Self::Best => best.into(),
            Self::Block16 => {
                let [x, y] = wanted.unwrap_or([kernel::BLOCK16, kernel::BLOCK16]);
                LaunchConfig::new(kernel::grid(rows, columns, [x, y]), [x, y, 1])
            }
            Self::Copy | Self::NaiveReads | Self::NaiveWrites | Self::Tiled | Self::Padded | Self::Batched => {
                LaunchConfig::blocks(self.kernel(), tiles)
            }
        }
    }

    /// The kernel, but for the best one, which depends on the matrix.
    fn kernel(self) -> &'static Plain {
        match self {
            Self::NaiveReads => &kernel::transpose_naive_reads,
            Self::NaiveWrites => &kernel::transpose_naive_writes,
            Self::Block16 => &kernel::transpose_block16,
            Self::Tiled => &kernel::transpose_tiled,
            Self::Padded => &kernel::transpose_padded,
            Self::Batched => &kernel::transpose_batched,
            Self::Copy | Self::Best => &kernel::transpose_copy,
        }
    }

    /// Where it writes to.
    fn target<'d>(self, output: &'d mut Matrix<f32>, copied: &'d mut Option<Matrix<f32>>) -> &'d mut Matrix<f32> {
        match (self, copied) {
            (Self::Copy, Some(copied)) => copied,
            _ => output,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::DeviceChoice;

    fn steps(options: &Options) -> Vec<Step> {
        Step::chosen(&device::open(DeviceChoice::Simulator, &device::Options::default()).unwrap(), options)
    }

    #[test]
    fn by_default_tiles_and_warps_are_full_and_all_variants_run() {
        assert!(
            SIZE.on_simulator.is_multiple_of(kernel::TILE.into()) && SIZE.on_gpu.is_multiple_of(kernel::TILE.into())
        );
        let names: Vec<_> = steps(&Options::default()).iter().map(|step| step.name()).collect();
        assert_eq!(names, ["naive-reads", "naive-writes", "block16", "tiled", "padded", "batched", "best", "copy"]);
    }

    #[test]
    fn flags_choose_variants() {
        let options = Options { naive: true, padded: true, ..Options::default() };
        assert_eq!(steps(&options), [Step::NaiveReads, Step::NaiveWrites, Step::Padded]);
    }
}
