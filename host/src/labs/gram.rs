//! A matrix times its own transpose: tiles read by columns. The kernels and what they show are in
//! `kernels::gram` and `kernels::gram_registers`. It shares its references with `matmul`
//! (`product.rs`).

mod launch;
mod table;

use std::rc::Rc;
use std::sync::OnceLock;

use best_kernels::gram::{self as best, Best};
use best_kernels::product::TileLaunch;
use common::random::Random;
use device::peers::Peers;
use device::{Device, Error, Matrix, Result};
use picture::Counted;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, Step};

use super::best::{SplitWorkspace, gpu};
use super::compare::{Expected, Shape};
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::product::Products;
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use super::variants::meanings;
use crate::peers::{self, Peer};
use crate::report::measures::BANK_CONFLICTS_FIRST;
use crate::report::{Bound, Conclusion, Elements, FirstScreen, Goal, Meaning, Row, Subject, Target, Tolerance};

const SIZE: DefaultSize = DefaultSize { on_gpu: 3072, on_simulator: 256 };

/// The most rows: a grid has 65535 blocks in y, of which the smallest have tiles of 16 rows.
const MOST_ROWS: usize = 65_535 * 16;

/// The lab: a matrix.
pub struct Gram {
    options: Options,
    seed: u64,
    a: HostMatrix,
    expected: OnceLock<Products>,
}

/// What lies on a device.
pub struct Data {
    a: Matrix<f32>,
    c: Matrix<f32>,
    /// The transposed matrix, if the best kernel takes it; else one element.
    transposed: Matrix<f32>,
    /// Of the best kernel.
    workspace: SplitWorkspace,
}

impl Lab for Gram {
    const NAME: &'static str = "gram";
    const ABOUT: &'static str = "A matrix times its transpose: bank conflicts of a tile read by columns, padding";
    const SUBJECTS: &'static [Subject] = &[
        Subject::Blocks,
        Subject::SharedLoads,
        Subject::SharedStores,
        Subject::SharedTotals,
        Subject::GlobalLoadTotals,
        Subject::Instructions,
    ];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("rows", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = Showcase {
        start: &[
            ("device", "sim:hopper"),
            ("rows", "64"),
            ("tiled16", ""),
            ("padded16", ""),
            ("tiled32", ""),
            ("padded32", ""),
        ],
        row: "tiled32",
        beside: "padded32",
        access: "shared load",
        charted: Some(("tiled32", "padded32")),
        elements: Some(Elements { rows: &["tiled16", "tiled32"], arrays: &["A"], counted: Counted::Loads }),
        steps: Some(Steps {
            title: "floats in a row of the tile",
            rows: &[("tiled16", "16"), ("padded16", "17"), ("tiled32", "32"), ("padded32", "33")],
        }),
        goals: &[Goal {
            ask: "Choose the row of the tile such that neither loads nor stores conflict.",
            row: Row::Named(""),
            measure: &BANK_CONFLICTS_FIRST,
            unit: " bank conflicts",
            bound: Bound::AtMost(Target::Number(0.0)),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Step>;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let best = options.variants.chosen().iter().any(|step| step.of.best);
        let room = |rows: u64, columns: u64| {
            let (a, c) = (bytes_of::<f32>(&[rows, columns]), bytes_of::<f32>(&[rows, rows]));
            let transposed = match best && rows >= u64::from(best::LARGE.rows) {
                // Its rows are whole pieces of 512 bytes.
                true => bytes_of::<f32>(&[columns, rows.saturating_add(127) / 128 * 128]),
                false => 0,
            };
            // On the host the transpose and the reference, in more precision, and a result.
            let on_host = a.saturating_mul(4).saturating_add(c.saturating_mul(3));
            let what = format!("the product of a {rows} x {columns} matrix and its transpose");
            check_room(device, &what, a.saturating_add(c).saturating_add(transposed), on_host)
        };
        let a = match &options.a.input {
            Some(path) => {
                let a = HostMatrix::read(path)?;
                room(a.rows as u64, a.columns as u64)?;
                a
            }
            None => {
                let rows = options.a.rows.or(options.a.cols).map_or_else(|| SIZE.on(device), u64::from);
                let columns = options.a.cols.map_or(rows, u64::from);
                room(rows, columns)?;
                HostMatrix::random(rows, columns, &mut Random::new(settings.seed))
            }
        };
        if a.rows > MOST_ROWS {
            return Err(Error::request(
                "--rows",
                format!("{} rows are more than the {MOST_ROWS} that fit a grid", a.rows),
            ));
        }
        Ok(Self { options, seed: settings.seed, a, expected: OnceLock::new() })
    }

    fn parameters(&self) -> Value {
        let input = named(self.options.a.input.as_ref());
        json!({"rows": self.a.rows, "cols": self.a.columns, "pitched": self.options.pitched, "input": input})
    }

    fn chooses_rows(&self) -> bool {
        self.options.variants.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let pitched = self.options.pitched;
        let HostMatrix { rows, columns, ref elements } = self.a;
        let (a, c) = (device.matrix(rows, columns, pitched)?, device.matrix(rows, rows, pitched)?);
        let mut data =
            Data { a, c, transposed: device.matrix(1, 1, true)?, workspace: SplitWorkspace::new(device, 0)? };
        // The padding of a pitched matrix is never right to read.
        data.a.poison()?;
        data.a.write(elements)?;
        // The tiles in shared memory fit every GPU.
        let steps = self.options.variants.chosen_for(device, true, |step| (step.of.kernel.block().iter().product(), 0));
        if steps.iter().any(|step| step.of.best)
            && let Some(launch) = self.best(device)
        {
            data.workspace = SplitWorkspace::new(device, launch.sharing)?;
            if let Best::Transposed(_) = launch.kernel {
                // Its rows start on whole words.
                data.transposed = device.matrix(columns, rows, true)?;
            }
        }
        let variants = steps.into_iter().map(|step| self.variant(step, device, &data)).collect();
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cublas() else { return Ok(Vec::new()) };
        let row = |name, half| {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| peers.gram(&data.a, &mut data.c, half);
            let row = peers::row(name, library, launch, move |data| self.outcome(data, half));
            row.bytes(self.bytes()).operations(self.operations())
        };
        Ok(vec![row("cublas-sgemm", false), row("cublas-ssyrk-half", true)])
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.transposed.poison()?;
        data.c.poison()
    }
}

impl Gram {
    /// The best kernel for this matrix, and its blocks. Matrices that are smaller than a tile are
    /// left to the mirrored tiles.
    fn best(&self, device: &Device) -> Option<TileLaunch<Best>> {
        best::best(gpu(device), self.a.rows as u32, self.a.columns as u32)
    }

    /// Whether the product is right: all of it, or the half on and below the diagonal.
    fn outcome(&self, data: &mut Data, half: bool) -> Result<Outcome> {
        let HostMatrix { rows, columns, .. } = self.a;
        let found = data.c.read()?;
        let expected = self.expected.get_or_init(|| Products::with_itself(&self.a, self.seed));
        let shape = Shape::Matrix { rows, columns: rows };
        let tolerance = Tolerance::Roundings(columns as u64 + 1);
        Ok(Outcome::near_where(shape, found, tolerance, |row, column| match half && row < column {
            true => Expected::Anything,
            false => expected.of_element(row, column),
        }))
    }

    /// The bytes of both matrices.
    fn bytes(&self) -> u64 {
        let HostMatrix { rows, columns, .. } = self.a;
        ((rows * columns + rows * rows) * size_of::<f32>()) as u64
    }

    /// Those of the whole product, by its definition. A kernel that makes half of it needs half.
    fn operations(&self) -> u64 {
        2 * (self.a.rows * self.a.rows) as u64 * self.a.columns as u64
    }
}
