//! The order in which blocks take the tiles of a product, and a table that L2 keeps beside a stream.
//! The kernels and what they show are in `kernels::order` and `kernels::order_table`; `product` and
//! `passes` have what each part runs, `table` the variants.

mod passes;
mod product;
mod table;

use std::sync::OnceLock;

use common::random::Random;
use device::{Device, Error, Result};
use serde_json::{Value, json};

use passes::Passes;
use product::Product;
pub use table::Options;
use table::{CONCLUSIONS, FIRST, SHOWCASE, Way};

use super::inputs::{DefaultSize, HostMatrix, bytes_of, check_room, named, read_factors};
use super::lab::{Lab, Plan};
use super::models::{is_plain, stand_in};
use super::settings::Settings;
use super::showcase::Showcase;
use super::variants::{VariantSpec, meanings};
use crate::report::{Conclusion, FirstScreen, Meaning, Subject};

/// B is larger than L2: than the 768 KiB of a C2050 on the simulator, and an H200's 60 MiB.
const M: DefaultSize = DefaultSize { on_gpu: 8192, on_simulator: 256 };
const N: DefaultSize = DefaultSize { on_gpu: 8192, on_simulator: 512 };
const K: DefaultSize = DefaultSize { on_gpu: 2048, on_simulator: 416 };
/// On an H200 264 blocks run at once, in squares of 16; a C2050's L2 has room for eight rows of A's tiles.
const SIDE: DefaultSize = DefaultSize { on_gpu: 16, on_simulator: 8 };
/// With as much of a stream more than L2 has, and alone less: 16 MiB of 24, and of an H200's 28 of 60.
const TABLE: DefaultSize = DefaultSize { on_gpu: 7 << 20, on_simulator: 4 << 20 };
const PASSES: DefaultSize = DefaultSize { on_gpu: 16, on_simulator: 4 };

/// The lab: a product, and a table beside a stream.
pub struct Order {
    options: Options,
    product: Product,
    passes: Passes,
    /// The model that stands in for the product.
    small: &'static str,
    /// Whether launches are shaped for the multiprocessors of the models that stand in.
    as_models: bool,
}

/// The data on a device.
pub struct Data {
    product: product::OnDevice,
    passes: passes::OnDevice,
}

impl Lab for Order {
    const NAME: &'static str = "order";
    const ABOUT: &'static str = "Blocks and L2: which tiles run together, and which lines are kept";
    const SUBJECTS: &'static [Subject] = &[Subject::GlobalLoadTotals, Subject::GlobalLoadRequests];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] =
        &[("m", M), ("n", N), ("k", K), ("side", SIDE), ("entries", TABLE), ("passes", PASSES)];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = SHOWCASE;
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Way>(), MODELS.into()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let chosen = options.ways.chosen();
        let asks = |way: &VariantSpec<Way>| options.ways.any() && matches!(way.of, Way::Passes(..));
        if let Some(way) = chosen.iter().find(|way| asks(way) && !way.of.fits(device)) {
            let flag = format!("--{}", way.flag);
            return Err(Error::request(&flag, "L2 has no priorities before compute capability 8.0; leave it out"));
        }
        let table = options.entries.map_or_else(|| TABLE.on(device), u64::from);
        let passes = options.passes.map_or_else(|| PASSES.on(device), u64::from);
        if !table.is_multiple_of(4) {
            let problem = format!("{table} is not a multiple of 4, as the loads need it");
            return Err(Error::request("--entries", problem));
        }
        let room = |[m, n, k]: [u64; 3]| {
            let factors = bytes_of::<f32>(&[m, k]).saturating_add(bytes_of::<f32>(&[k, n]));
            let result = bytes_of::<f32>(&[m, n]);
            let stream = bytes_of::<u32>(&[table, passes.saturating_add(1)]);
            let on_device = factors.saturating_add(result).saturating_add(stream);
            // On the host the reference, in more precision, and a result.
            let on_host = on_device.saturating_add(result.saturating_mul(3));
            let what = format!("a product of {m} x {k} and {k} x {n}, and {passes} passes over {table} numbers");
            check_room(device, &what, on_device, on_host)
        };
        let files = [options.input.as_deref(), options.input_b.as_deref()];
        let (a, b) = match read_factors(files, &mut random, room)? {
            Some(factors) => factors,
            None => {
                let [m, n, k] = [(options.m, M), (options.n, N), (options.k, K)]
                    .map(|(given, size)| given.map_or_else(|| size.on(device), u64::from));
                room([m, n, k])?;
                (HostMatrix::random(m, k, &mut random), HostMatrix::random(k, n, &mut random))
            }
        };
        let side = options.side.unwrap_or_else(|| SIDE.on(device) as u32);
        let product = Product { a, b, seed: settings.seed, side, expected: OnceLock::new() };
        product.check_grid()?;
        let passes = Passes::random(table as usize, passes as usize, &mut random);
        let as_models = is_plain(device) && device.multiprocessors() == device.shaped_for(None).multiprocessors();
        // A block of the product has 1024 threads, and a C2050's multiprocessor 32 registers for each.
        let small = if settings.predicted.thread_registers > Some(32) { "kepler" } else { "fermi" };
        Ok(Self { options, product, passes, small, as_models })
    }

    fn parameters(&self) -> Value {
        let [m, n, k] = self.product.extents();
        let Options { input, input_b, .. } = &self.options;
        let (input, input_b) = (named(input.as_ref()), named(input_b.as_ref()));
        let (entries, passes) = (self.passes.table.len(), self.passes.count());
        let multiprocessors = self.as_models.then_some("the models'");
        json!({
            "m": m, "n": n, "k": k, "side": self.product.side, "entries": entries, "passes": passes,
            "input": input, "input_b": input_b, "multiprocessors": multiprocessors,
        })
    }

    fn chooses_rows(&self) -> bool {
        self.options.ways.any()
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let (small, keeping) = (stand_in(device, self.small)?, stand_in(device, KEEPING)?);
        let on = |model: &'static str, stand_in: &Option<Device>| match stand_in {
            Some(device) => (device.clone(), Some(model)),
            None => (device.clone(), None),
        };
        let (tiles, table) = (on(self.small, &small), on(KEEPING, &keeping));
        let data = Data { product: self.product.place(&tiles.0)?, passes: self.passes.place(&table.0)? };
        let ways = self.options.ways.chosen().into_iter();
        let ways = ways.filter(|way| self.options.ways.any() || way.of.fits(device));
        let variants = ways.map(|way| {
            let (variant, (on, model)) = match way.of {
                Way::Tiles(tiles_of) => (self.product.variant(way.name, tiles_of, &tiles.0), &tiles),
                Way::Passes(kernel, keeps) => (self.passes.variant(way.name, kernel, keeps), &table),
            };
            match model {
                Some(model) => variant.axis("model", *model).on(on.clone()),
                None => variant,
            }
        });
        Ok(Plan::new(data, variants.collect()))
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.product.c.poison()?;
        data.passes.sums.poison()
    }
}

/// What the models in the column `model` are for: the simulator without a model has no L2.
const MODELS: [Meaning; 2] = [
    ("fermi", "The model of a C2050, whose L2 is small"),
    (KEEPING, "The model of an RTX 4060, whose L2 has priorities"),
];

/// The model that replaces the plain simulator, which has no caches, for the table: the smallest L2 of a GPU
/// that has priorities. For the product a small L2 will do, and the simulator computes it in seconds.
const KEEPING: &str = "rtx4060";
