//! The matrix product, from global memory and through tiles. The kernels and what they show are in
//! `kernels::matmul`. It shares its references with `gram` (`product.rs`).

mod table;

use std::rc::Rc;
use std::sync::OnceLock;

use best_kernels::matmul::{self as best, Best};
use best_kernels::product::{Shares, TileLaunch};
use device::peers::Peers;
use device::random::Random;
use device::{Device, Error, LaunchConfig, Matrix, Result};
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, Plain, Step};

use super::best::{SplitWorkspace, gpu};
use super::compare::Shape;
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_matrix, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::product::Products;
use super::settings::Settings;
use super::variants::VariantSpec;
use crate::peers::{self, Peer};
use crate::report::{Conclusion, Subject, Tolerance};

const SIZE: DefaultSize = DefaultSize { on_gpu: 3072, on_simulator: 256 };

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

    /// The best kernel for this shape. Products that are smaller than a tile are left to `matmul_wide`.
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
                        // SAFETY: the same, and the workspace is as large as the shares need.
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
