//! The matrix product, from global memory and through tiles. The kernels and what they show are in
//! `kernels::matmul`. It shares its references with `gram` (`labs::product`);
//! `product` has what each size runs, `table` the variants.

mod product;
mod table;

use std::rc::Rc;
use std::sync::OnceLock;

use crate::flag_values::each_once;
use common::random::Random;
use device::peers::Peers;
use device::{Device, Error, Result};
use picture::Counted;
use serde_json::{Value, json};

pub use product::Data;
use product::{OnDevice, Product};
pub use table::Options;
use table::{CONCLUSIONS, FIRST, LOADS_OF_AN_ELEMENT, SWEEPS, Step};

use super::best::SplitWorkspace;
use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named, read_factors};
use super::lab::{Lab, Plan, Variant};
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use super::variants::meanings;
use crate::peers::{self, Peer};
use crate::report::{Bound, Conclusion, Elements, FirstScreen, Goal, Meaning, Row, Subject, Sweep, Target};

/// The smallest size of a plot.
const LEAST_PLOTTED: u64 = 32;

const SIZE: DefaultSize = DefaultSize { on_gpu: 3072, on_simulator: 256 };

/// The lab: products of two matrices.
pub struct Matmul {
    options: Options,
    products: Vec<Product>,
    predicts: bool,
}

impl Lab for Matmul {
    const NAME: &'static str = "matmul";
    const ABOUT: &'static str = "Tiles in shared memory and registers: how often each element is loaded";
    const SUBJECTS: &'static [Subject] = &[
        Subject::Blocks,
        Subject::GlobalLoadTotals,
        Subject::GlobalRequests,
        Subject::SharedTotals,
        Subject::Instructions,
    ];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SWEEPS: &'static [Sweep] = SWEEPS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("m", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    const COUNTS_WORDS: bool = true;
    const SHOWCASE: Showcase = Showcase {
        start: &[("device", "sim:hopper"), ("m", "64"), ("naive", ""), ("tiled16", ""), ("tiled32", "")],
        row: "naive",
        beside: "tiled32",
        access: "global load",
        charted: Some(("naive", "tiled32")),
        elements: Some(Elements {
            rows: &["naive", "tiled16", "tiled32"],
            arrays: &["A", "B"],
            counted: Counted::Loads,
        }),
        steps: Some(Steps {
            title: "tile",
            rows: &[("naive", "none"), ("tiled16", "16 x 16"), ("tiled32", "32 x 32")],
        }),
        goals: &[Goal {
            ask: "Load each element from global memory at most twice.",
            row: Row::Named(""),
            measure: &LOADS_OF_AN_ELEMENT,
            unit: " loads of each element",
            bound: Bound::AtMost(Target::Number(2.0)),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = meanings::<Step>;
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
        let files = [options.input.as_deref(), options.input_b.as_deref()];
        let pairs = match read_factors(files, &mut random, |size| room(&[size]))? {
            Some(factors) => vec![factors],
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
            return Err(Error::request("--m", problem));
        }
        Ok(Self { options, products, predicts: settings.predicts() })
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

    fn chooses_rows(&self) -> bool {
        self.options.variants.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let mut plan = Plan::new(Data(Vec::new()), Vec::new());
        let timed = device.properties().is_gpu() || self.predicts;
        for product in &self.products {
            let mut data = product.place(device, self.options.pitched)?;
            let steps = self
                .options
                .variants
                .chosen_for(device, timed, |step| (product.block(&step.of).iter().product(), step.of.shared));
            if steps.iter().any(|step| step.of.best)
                && let Some(launch) = product.best(device, &data)
            {
                data.workspace = SplitWorkspace::new(device, launch.sharing)?;
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
