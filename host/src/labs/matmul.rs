//! The matrix product, from global memory and through tiles. The kernels and what they show are in
//! `kernels::matmul`. It shares its references with `gram` (`product.rs`).

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;

use best_kernels::matmul::{self as best, Best};
use best_kernels::product::{Shares, TileLaunch};
use clap::Args;
use cuda_std::launch::{self, SafeKernel};
use device::flag_values::{block_shape, whole_number};
use device::peers::Peers;
use device::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, Result};
use kernels::{matmul as kernel, register_tiles as climb};
use serde_json::{Value, json};

use super::best::{SplitWorkspace, gpu};
use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_matrix, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::product::Products;
use super::settings::Settings;
use super::variants::{Chosen, VariantSpec, Variants, variant};
use crate::peers::{self, Peer};
use crate::report::Gap::{Of, Speedup, Times};
use crate::report::measures::LOAD_REQUESTS;
use crate::report::{Conclusion, Holds, Row, Subject, Tolerance};

const SIZE: DefaultSize = DefaultSize { on_gpu: 3072, on_simulator: 256 };

/// A kernel of the course.
type Plain = SafeKernel<(launch::Matrix<f32>, launch::Matrix<f32>, launch::DisjointMatrix<f32>)>;

/// What a variant launches.
#[derive(Clone, Copy)]
struct Step {
    /// The kernel; for the best one, that of products that are smaller than its tiles.
    kernel: &'static Plain,
    /// The side of the square of elements that a block computes, if it does not depend on the block.
    tile: Option<u32>,
    /// The kernel's shared memory in bytes, if not every GPU has as much.
    shared: u64,
    best: bool,
}

const fn step(kernel: &'static Plain, tile: u32, shared: u64) -> Step {
    Step { kernel, tile: Some(tile), shared, best: false }
}

const REGISTERS: u32 = kernel::REGISTER_TILE;
const MOST: u64 = climb::MOST_SHARED;

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    #[rustfmt::skip]
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("naive", "One thread per element, from global memory", Step { tile: None, ..step(&kernel::matmul_naive, 0, 0) }),
        variant("tiled16", "Tiles of 16 x 16 in shared memory", step(&kernel::matmul_tiled16, kernel::TILE16, 0)),
        variant("tiled32", "Tiles of 32 x 32 in shared memory", step(&kernel::matmul_tiled32, kernel::TILE32, 0)),
        variant("registers", "The same, and 8 x 8 elements in the registers of each thread", step(&kernel::matmul_registers, REGISTERS, 0)),
        variant("wide", "The same with words of 16 bytes", step(&climb::matmul_wide, REGISTERS, 0)),
        variant(
            "async2",
            "The same with asynchronous copies: the next tiles are loaded while these are multiplied",
            step(&climb::matmul_async2, REGISTERS, MOST),
        ),
        variant("async3", "The same with three tiles of each matrix in place of two", step(&climb::matmul_async3, REGISTERS, MOST)),
        variant(
            "best",
            "The same with multiplications in an order that suits the registers",
            Step { best: true, ..step(&climb::matmul_wide, REGISTERS, MOST) },
        ),
    ];
}

/// The flags of `host matmul`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    variants: Chosen<Step>,
    /// Rows of A and of the product; 1000 is the lab sheet's size
    #[arg(long, alias = "rows", value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    m: Option<u32>,
    /// Columns of B and of the product [default: as --m]
    #[arg(long, alias = "cols", value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    n: Option<u32>,
    /// Columns of A and rows of B [default: as --m]
    #[arg(long, alias = "inner", value_name = "NUMBER", conflicts_with = "input", value_parser = whole_number(1, u32::MAX))]
    k: Option<u32>,
    /// Take A from this NumPy file, a float32 matrix, instead of a random one
    #[arg(long, value_name = "A.npy", conflicts_with_all = ["m", "n"])]
    input: Option<PathBuf>,
    /// Take B from this NumPy file; otherwise B is random, and as wide as A is high
    #[arg(long, value_name = "B.npy", requires = "input")]
    input_b: Option<PathBuf>,
    /// Threads of a block of the naive kernel
    #[arg(long, value_name = "X,Y", default_value = "16,16", value_parser = block_shape)]
    block: [u32; 2],
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pitched: bool,
}

const NAIVE: Row = Row::Named("naive");
const TILED32: Row = Row::Named("tiled32");

const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Tiles of 16 x 16 are {} times as fast as global memory (the lab sheet measured 18.6), register tiles {} times, the best kernel \
         {} times.",
        &[
            Speedup(Row::Named("tiled16"), NAIVE),
            Speedup(Row::Named("registers"), NAIVE),
            Speedup(Row::Named("best"), NAIVE),
        ],
    ),
    Conclusion::new(
        "The naive kernel makes {} load requests to global memory; with tiles of 32 x 32 it is {}, one in {}.",
        &[Of(NAIVE, &LOAD_REQUESTS), Of(TILED32, &LOAD_REQUESTS), Times(NAIVE, TILED32, &LOAD_REQUESTS)],
    )
    .holds(&[Holds::More(0, 1)]),
];

/// The lab: two matrices.
pub struct Matmul {
    options: Options,
    seed: u64,
    a: HostMatrix,
    b: HostMatrix,
    expected: OnceLock<Products>,
}

/// What lies on a device.
pub struct Data {
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    /// Of the best kernel.
    workspace: SplitWorkspace,
}

impl Lab for Matmul {
    const NAME: &'static str = "matmul";
    const ABOUT: &'static str = "Tiles in shared memory and registers: how often each element is loaded";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalRequests, Subject::GlobalLoads, Subject::SharedLoads, Subject::Instructions];
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("m", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let room = |m: u64, n: u64, k: u64| {
            let each = [bytes_of::<f32>(&[m, k]), bytes_of::<f32>(&[k, n]), bytes_of::<f32>(&[m, n])];
            let bytes = each.iter().fold(0_u64, |all, &bytes| all.saturating_add(bytes));
            // On the host the reference, in more precision, and a result.
            let on_host = bytes.saturating_add(each[2].saturating_mul(3));
            check_room(device, &format!("a product of {m} x {k} and {k} x {n}"), bytes, on_host)
        };
        let (a, b) = match &options.input {
            Some(path) => {
                let a = HostMatrix::read(path)?;
                let b = match &options.input_b {
                    Some(path) => Some(HostMatrix::read(path)?),
                    None => None,
                };
                if let (Some(b), Some(path)) = (&b, &options.input_b) {
                    check_matrix(path, b, Some(a.columns), None, "B has as many rows as A has columns")?;
                }
                let columns = b.as_ref().map_or(a.rows, |b| b.columns);
                room(a.rows as u64, columns as u64, a.columns as u64)?;
                let b = b.unwrap_or_else(|| HostMatrix::random(a.columns as u64, a.rows as u64, &mut random));
                (a, b)
            }
            None => {
                let m = options.m.or(options.n).map_or_else(|| SIZE.on(device), u64::from);
                let (n, k) = (options.n.map_or(m, u64::from), options.k.map_or(m, u64::from));
                room(m, n, k)?;
                (HostMatrix::random(m, k, &mut random), HostMatrix::random(k, n, &mut random))
            }
        };
        if a.rows.div_ceil(options.block[1] as usize) > 65_535 {
            let problem = format!("{} rows are more than a grid can have in y; at most 65535 blocks fit", a.rows);
            return Err(Error::flag("--m", problem));
        }
        Ok(Self { options, seed: settings.seed, a, b, expected: OnceLock::new() })
    }

    fn parameters(&self) -> Value {
        let Options { input, input_b, pitched, .. } = &self.options;
        let (input, input_b) = (named(input.as_ref()), named(input_b.as_ref()));
        let (m, n, k) = (self.a.rows, self.b.columns, self.a.columns);
        json!({"m": m, "n": n, "k": k, "pitched": pitched, "input": input, "input_b": input_b})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let pitched = self.options.pitched;
        let (m, n, k) = (self.a.rows, self.b.columns, self.a.columns);
        let matrix = |rows, columns| device.matrix(rows, columns, pitched);
        let workspace = SplitWorkspace::new(device, 0)?;
        let mut data = Data { a: matrix(m, k)?, b: matrix(k, n)?, c: matrix(m, n)?, workspace };
        for (matrix, elements) in [(&mut data.a, &self.a.elements), (&mut data.b, &self.b.elements)] {
            // The padding of a pitched matrix is never right to read.
            matrix.poison()?;
            matrix.write(elements)?;
        }
        let steps =
            self.options.variants.chosen_for(device, |step| (self.block(&step.of).iter().product(), step.of.shared));
        if steps.iter().any(|step| step.of.best)
            && let Some(launch) = self.best(device, &data)
        {
            data.workspace = SplitWorkspace::new(device, launch.sharing)?;
        }
        let variants = steps.iter().map(|step| self.variant(step, device, &data)).collect();
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cublas() else { return Ok(Vec::new()) };
        let peers = Rc::clone(peers);
        let launch = move |data: &mut Data| peers.multiply(&data.a, &data.b, &mut data.c);
        let row = peers::row("cublas-sgemm", library, launch, |data| self.outcome(data));
        Ok(vec![row.bytes(self.bytes()).operations(self.operations())])
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.c.poison()
    }
}

impl Matmul {
    fn shape(&self, data: &Data) -> best::Shape {
        best::Shape {
            m: self.a.rows as u32,
            n: self.b.columns as u32,
            k: self.a.columns as u32,
            a_pitch: data.a.pitch() as u32,
            b_pitch: data.b.pitch() as u32,
            c_pitch: data.c.pitch() as u32,
        }
    }

    /// The threads of a block of the step's own kernel.
    fn block(&self, step: &Step) -> [u32; 3] {
        let [x, y] = self.options.block;
        step.kernel.shape().block.unwrap_or([x, y, 1])
    }

    /// The best kernel for this shape. Products that are smaller than a tile are left to [`climb::matmul_wide`].
    fn best(&self, device: &Device, data: &Data) -> Option<TileLaunch<Best>> {
        best::best(gpu(device), self.shape(data))
    }

    fn variant(
        &self,
        &VariantSpec { name, of: ref step, .. }: &VariantSpec<Step>,
        device: &Device,
        data: &Data,
    ) -> Variant<'_, Data> {
        let (m, n) = (self.a.rows, self.b.columns);
        let shape = self.shape(data);
        let block = self.block(step);
        let [across, down] = step.tile.map_or([block[0], block[1]], |side| [side, side]);
        let launch = LaunchConfig::new([shape.n.div_ceil(across), shape.m.div_ceil(down), 1], block);
        let best = if step.best { self.best(device, data) } else { None };
        let (kernel, launch) = match best {
            Some(best) => (Entry::Tiled(best.kernel, best.shares), best.launch().into()),
            None => (Entry::Plain(step.kernel), launch),
        };
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| {
                let Data { a, b, c, workspace } = data;
                match kernel {
                    Entry::Plain(kernel) => launcher.launch(kernel, &launch, (&*a, &*b, c)),
                    // SAFETY: the shape is that of these matrices, and nothing else uses them.
                    Entry::Tiled(Best::Alone(kernel), _) => unsafe {
                        launcher.launch_unchecked(kernel, &launch, (&*a, &*b, c, shape, 1.0_f32))
                    },
                    Entry::Tiled(Best::Split(kernel), shares) => {
                        let SplitWorkspace { ready, sums } = workspace;
                        let arguments = (&*a, &*b, c, shape, 1.0_f32, shares, ready, sums);
                        // SAFETY: the same, and the workspace place is as large as the shares need.
                        unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
                    }
                }
            },
            |data| self.outcome(data),
        )
        .fact("block", json!(launch.block[..2]))
        .fact("grid", json!(launch.grid))
        .bytes(self.bytes())
        .operations(self.operations())
        .computes("the product", (m * n * size_of::<f32>()) as u64);
        if step.best { variant.one_of_several_kernels() } else { variant }
    }

    /// Whether the product is right.
    fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.c.read()?;
        let expected = self.expected.get_or_init(|| Products::of(&self.a, &self.b, self.seed));
        let shape = Shape::Matrix { rows: self.a.rows, columns: self.b.columns };
        // Each product is rounded and each sum: on the way to an element, at most as many as there are terms, and one.
        let tolerance = Tolerance::Roundings(self.a.columns as u64 + 1);
        Ok(Outcome::near_where(shape, found, tolerance, |row, column| expected.of_element(row, column)))
    }

    /// The bytes of the three matrices.
    fn bytes(&self) -> u64 {
        let (m, n, k) = (self.a.rows, self.b.columns, self.a.columns);
        ((m * k + k * n + m * n) * size_of::<f32>()) as u64
    }

    fn operations(&self) -> u64 {
        2 * (self.a.rows * self.b.columns) as u64 * self.a.columns as u64
    }
}

/// A kernel of this lab.
#[derive(Clone, Copy)]
enum Entry {
    Plain(&'static Plain),
    /// With how its tiles are shared out.
    Tiled(Best, Shares),
}
