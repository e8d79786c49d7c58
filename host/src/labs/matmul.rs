//! The matrix product, from global memory and through tiles. The kernels and what they show are in
//! `kernels::matmul`. It shares its references with `gram` (`product.rs`).

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;

use best_kernels::matmul::{self as best, Best};
use best_kernels::product::{Shares, TileLaunch};
use clap::Args;
use cuda_std::launch::{self, SafeKernel};
use device::flag_values::{block_shape, each_once, whole_number};
use device::peers::Peers;
use device::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, Result};
use kernels::{matmul as kernel, register_tiles as climb};
use picture::Scale;
use serde_json::{Value, json};

use super::best::{Meeting, gpu};
use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_matrix, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::product::Products;
use super::settings::Settings;
use super::variants::{Chosen, VariantSpec, Variants, variant};
use crate::peers::{self, Peer};
use crate::report::Gap::{Of, Speedup, Times};
use crate::report::measures::{GFLOPS, LOAD_REQUESTS};
use crate::report::{Conclusion, Holds, Row, Rows, Subject, Sweep, Tolerance};

/// The smallest size of a plot.
const LEAST_PLOTTED: u64 = 32;

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
            "The same with asynchronous copies: the next tiles come while these are multiplied",
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
    /// Rows of A and of the product, or several numbers of them, separated by commas; 1000 is the lab sheet's size
    #[arg(long, alias = "rows", value_name = "NUMBER,...", value_delimiter = ',', value_parser = whole_number(1, u32::MAX))]
    m: Vec<u32>,
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

/// The lab: products of two matrices.
pub struct Matmul {
    options: Options,
    products: Vec<Product>,
}

/// A product.
struct Product {
    /// Where its data is.
    index: usize,
    a: HostMatrix,
    b: HostMatrix,
    seed: u64,
    /// Threads of a block of the naive kernel.
    block: [u32; 2],
    /// Whether its rows say which product they are of.
    named: bool,
    expected: OnceLock<Products>,
}

/// What lies on a device, for each product.
pub struct Data(Vec<OnDevice>);

/// A product on a device.
struct OnDevice {
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    /// Of the best kernel.
    meeting: Meeting,
}

impl Lab for Matmul {
    const NAME: &'static str = "matmul";
    const ABOUT: &'static str = "Tiles in shared memory and registers: how often each element is loaded";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalRequests, Subject::GlobalLoads, Subject::SharedLoads, Subject::Instructions];
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = &[Sweep {
        x: "m",
        title: "m, the rows of the product",
        scale: Scale::Log,
        series: &["step"],
        rows: Rows::All,
        timed: (&GFLOPS, Scale::Log),
        counted: (&[&LOAD_REQUESTS], Scale::Log),
    }];
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("m", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let room = |sizes: &[[u64; 3]]| {
            let (mut on_device, mut on_host) = (0_u64, 0_u64);
            let mut largest = (0, [1; 3]);
            for &[m, n, k] in sizes {
                let each = [bytes_of::<f32>(&[m, k]), bytes_of::<f32>(&[k, n]), bytes_of::<f32>(&[m, n])];
                let bytes = each.iter().fold(0_u64, |all, &bytes| all.saturating_add(bytes));
                on_device = on_device.saturating_add(bytes);
                // On the host the reference, in more precision, and a result.
                on_host = on_host.saturating_add(bytes).saturating_add(each[2].saturating_mul(3));
                largest = largest.max((bytes, [m, n, k]));
            }
            let [m, n, k] = largest.1;
            let others = if sizes.len() > 1 { " and smaller ones" } else { "" };
            check_room(device, &format!("a product of {m} x {k} and {k} x {n}{others}"), on_device, on_host)
        };
        let pairs = match &options.input {
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
                room(&[[a.rows as u64, columns as u64, a.columns as u64]])?;
                let b = b.unwrap_or_else(|| HostMatrix::random(a.columns as u64, a.rows as u64, &mut random));
                vec![(a, b)]
            }
            None => {
                let sizes: Vec<[u64; 3]> = rows(device, &options, settings.plot)
                    .into_iter()
                    .map(|m| [m, options.n.map_or(m, u64::from), options.k.map_or(m, u64::from)])
                    .collect();
                room(&sizes)?;
                let random_pair = |&[m, n, k]: &[u64; 3]| {
                    (HostMatrix::random(m, k, &mut random), HostMatrix::random(k, n, &mut random))
                };
                sizes.iter().map(random_pair).collect()
            }
        };
        let named = pairs.len() > 1;
        let product = |(index, (a, b))| {
            let (seed, block) = (settings.seed, options.block);
            Product { index, a, b, seed, block, named, expected: OnceLock::new() }
        };
        let products: Vec<Product> = pairs.into_iter().enumerate().map(product).collect();
        let most = products.iter().map(|product| product.a.rows).max().unwrap_or(1);
        if most.div_ceil(options.block[1] as usize) > 65_535 {
            let problem = format!("{most} rows are more than a grid can have in y; at most 65535 blocks fit");
            return Err(Error::flag("--m", problem));
        }
        Ok(Self { options, products })
    }

    fn parameters(&self) -> Value {
        let Options { input, input_b, pitched, .. } = &self.options;
        let (input, input_b) = (named(input.as_ref()), named(input_b.as_ref()));
        let [m, n, k] = match self.products.as_slice() {
            [only] => only.extents().map(Value::from),
            _ => [Value::Null, self.options.n.into(), self.options.k.into()],
        };
        json!({"m": m, "n": n, "k": k, "pitched": pitched, "input": input, "input_b": input_b})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let mut plan = Plan::new(Data(Vec::new()), Vec::new());
        for product in &self.products {
            let mut data = product.place(device, self.options.pitched)?;
            let steps = self
                .options
                .variants
                .chosen_for(device, |step| (product.block(&step.of).iter().product(), step.of.shared));
            if steps.iter().any(|step| step.of.best)
                && let Some(launch) = product.best(device, &data)
            {
                data.meeting = Meeting::new(device, launch.sharing)?;
            }
            plan.variants.extend(steps.iter().map(|step| product.variant(step, device, &data)));
            plan.data.0.push(data);
        }
        Ok(plan)
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cublas() else { return Ok(Vec::new()) };
        let row = |product: &'a Product| {
            let (peers, index) = (Rc::clone(peers), product.index);
            let launch = move |data: &mut Data| {
                let OnDevice { a, b, c, .. } = &mut data.0[index];
                peers.multiply(a, b, c)
            };
            let row = peers::row(product.name("cublas-sgemm"), library, launch, |data| product.outcome(data));
            product.described("cublas-sgemm", row)
        };
        Ok(self.products.iter().map(row).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.0.iter_mut().try_for_each(|data| data.c.poison())
    }
}

/// The rows of the flag, those of a plot, or the default.
fn rows(device: &Device, options: &Options, plot: bool) -> Vec<u64> {
    match (options.m.as_slice(), options.n) {
        ([], Some(n)) => vec![n.into()],
        ([], None) if plot => {
            let grow = |rows: &u64| Some(rows * 2).filter(|&rows| rows <= SIZE.on(device));
            std::iter::successors(Some(LEAST_PLOTTED), grow).collect()
        }
        ([], None) => vec![SIZE.on(device)],
        (rows, _) => each_once(rows.to_vec()).into_iter().map(u64::from).collect(),
    }
}

impl Product {
    /// Rows, columns, and what is summed for each element.
    fn extents(&self) -> [usize; 3] {
        [self.a.rows, self.b.columns, self.a.columns]
    }

    /// The name of a row.
    fn name(&self, name: &str) -> String {
        if self.named { format!("{name} of {}", self.a.rows) } else { name.to_owned() }
    }

    /// The matrices on a device.
    fn place(&self, device: &Device, pitched: bool) -> Result<OnDevice> {
        let [m, n, k] = self.extents();
        let matrix = |rows, columns| device.matrix(rows, columns, pitched);
        let meeting = Meeting::new(device, 0)?;
        let mut data = OnDevice { a: matrix(m, k)?, b: matrix(k, n)?, c: matrix(m, n)?, meeting };
        for (matrix, elements) in [(&mut data.a, &self.a.elements), (&mut data.b, &self.b.elements)] {
            // The padding of a pitched matrix is never right to read.
            matrix.poison()?;
            matrix.write(elements)?;
        }
        Ok(data)
    }

    fn shape(&self, data: &OnDevice) -> best::Shape {
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
        let [x, y] = self.block;
        step.kernel.shape().block.unwrap_or([x, y, 1])
    }

    /// The best kernel for this shape. Products that are smaller than a tile are left to [`climb::matmul_wide`].
    fn best(&self, device: &Device, data: &OnDevice) -> Option<TileLaunch<Best>> {
        best::best(gpu(device), self.shape(data))
    }

    fn variant(
        &self,
        &VariantSpec { name, of: ref step, .. }: &VariantSpec<Step>,
        device: &Device,
        data: &OnDevice,
    ) -> Variant<'_, Data> {
        let ([m, n, _], index) = (self.extents(), self.index);
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
            self.name(name),
            move |data: &mut Data, launcher| {
                let OnDevice { a, b, c, meeting } = &mut data.0[index];
                match kernel {
                    Entry::Plain(kernel) => launcher.launch(kernel, &launch, (&*a, &*b, c)),
                    // SAFETY: the shape is that of these matrices, and nothing else uses them.
                    Entry::Tiled(Best::Alone(kernel), _) => unsafe {
                        launcher.launch_unchecked(kernel, &launch, (&*a, &*b, c, shape, 1.0_f32))
                    },
                    Entry::Tiled(Best::Split(kernel), shares) => {
                        let Meeting { ready, room } = meeting;
                        let arguments = (&*a, &*b, c, shape, 1.0_f32, shares, ready, room);
                        // SAFETY: the same, and the meeting place is as large as the shares need.
                        unsafe { launcher.launch_unchecked(kernel, &launch, arguments) }
                    }
                }
            },
            |data| self.outcome(data),
        )
        .fact("block", json!(launch.block[..2]))
        .fact("grid", json!(launch.grid))
        .computes(self.name("the product"), (m * n * size_of::<f32>()) as u64);
        let variant = self.described(name, variant);
        if step.best { variant.one_of_several_kernels() } else { variant }
    }

    /// A row with what it moves and computes, and which product it is of.
    fn described<'v>(&self, step: &'static str, variant: Variant<'v, Data>) -> Variant<'v, Data> {
        let variant = variant.bytes(self.bytes()).operations(self.operations());
        match self.named {
            true => variant.axis("step", step).axis("m", self.a.rows).group(format!("m {}", self.a.rows)),
            false => variant,
        }
    }

    /// Whether the product is right.
    fn outcome(&self, data: &mut Data) -> Result<Outcome> {
        let found = data.0[self.index].c.read()?;
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
