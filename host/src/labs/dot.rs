//! The dot product in global and in shared memory. The kernels and what they show are in
//! `kernels::dot`.

mod table;

use std::rc::Rc;

use best_kernels::blocks;
use common::random::Random;
use device::peers::Peers;
use device::{Buffer, Device, LaunchConfig, Result, Tail};
use kernels::dot as kernel;
use picture::Counted;
use serde_json::{Value, json};

pub use table::Options;
use table::{CONCLUSIONS, FIRST, Layout, Method, NEEDS, SIZE};

use super::best::slots;
use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, named, second_vector};
use super::lab::{Lab, Outcome, Plan, Variant};
use super::launcher::config_of;
use super::settings::Settings;
use super::showcase::{Showcase, Steps};
use super::variants::{VariantSpec, meanings};
use crate::peers::{self, Peer};
use crate::report::measures::ALL_REQUESTS;
use crate::report::{Bound, Conclusion, Elements, FirstScreen, Goal, Meaning, Row, Subject, Target, Tolerance};

/// The lab: two vectors.
pub struct Dot {
    options: Options,
    a: Vec<f32>,
    b: Vec<f32>,
    expected: Reference,
}

/// The data on a device.
pub struct Data {
    a: Buffer<f32>,
    b: Buffer<f32>,
    /// Both vectors, one after the other.
    both: Buffer<f32>,
    scratch: Buffer<f32>,
    sums: Buffer<f32>,
    /// Slots for the block sums of the best kernel; empty between launches.
    slots: Buffer<u64>,
}

impl Lab for Dot {
    const NAME: &'static str = "dot";
    const ABOUT: &'static str = "A reduction tree in global and in shared memory; misaligned vectors";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalRequests, Subject::GlobalLoadTotals, Subject::SharedLoads, Subject::Instructions];
    const FIRST: FirstScreen = FIRST;
    const CONCLUSIONS: &'static [Conclusion] = CONCLUSIONS;
    const SIZES: &'static [(&'static str, DefaultSize)] = &[("size", SIZE)];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    const SHOWCASE: Showcase = Showcase {
        start: &[("device", "sim:hopper"), ("size", "4096")],
        row: "global-linear",
        access: "global load",
        charted: Some(("global-linear", "shared-linear")),
        elements: Some(Elements {
            rows: &["global-linear", "shared-linear"],
            arrays: &["A and B", "the partial sums"],
            counted: Counted::Loads,
        }),
        steps: Some(Steps {
            title: "where the sums are",
            rows: &[
                ("global-linear", "global memory"),
                ("shared-linear", "shared memory"),
                ("best-linear", "registers"),
            ],
        }),
        goals: &[Goal {
            ask: "Make at most a third of the requests to global memory.",
            row: Row::Named(""),
            measure: &ALL_REQUESTS,
            unit: " requests",
            bound: Bound::AtMost(Target::Part(1.0 / 3.0, Row::Named("global-linear"))),
            except: &[],
        }],
        ..Showcase::DEFAULTS
    };
    const MEANINGS: fn() -> Vec<Meaning> = || [meanings::<Method>(), meanings::<Layout>()].concat();
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let a: Vec<f32> = options.a.vector(device, SIZE, NEEDS, &mut random)?;
        let b = second_vector(options.input_b.as_deref(), a.len(), "the vectors are multiplied in pairs", &mut random)?;
        let expected = Reference::sum(a.iter().zip(&b).map(|(&a, &b)| f64::from(a) * f64::from(b)));
        Ok(Self { options, a, b, expected })
    }

    fn parameters(&self) -> Value {
        let Options { block, a, input_b, .. } = &self.options;
        let (input, input_b) = (named(a.input.as_ref()), named(input_b.as_ref()));
        json!({"size": self.a.len(), "block": block, "input": input, "input_b": input_b})
    }

    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Data>> {
        let size = self.a.len();
        let threads = size.next_multiple_of(self.options.block as usize);
        let best = config_of(blocks::launch(size, device.multiprocessors()));
        let mut data = Data {
            a: device.buffer(size)?,
            b: device.buffer(size)?,
            both: device.buffer(2 * size)?,
            scratch: device.buffer(threads)?,
            sums: device.buffer(threads / self.options.block as usize)?,
            slots: slots(device, best.grid[0] as usize)?,
        };
        data.a.write(&self.a)?;
        data.b.write(&self.b)?;
        data.both.write_from(0, &self.a)?;
        data.both.write_from(size, &self.b)?;
        let mut variants = Vec::new();
        for method in self.options.methods.chosen() {
            variants.extend(self.options.layouts.chosen().into_iter().map(|layout| self.variant(method, layout, best)));
        }
        Ok(Plan::new(data, variants))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cublas() else { return Ok(Vec::new()) };
        let size = self.a.len();
        let row = |layout: &'static VariantSpec<Layout>| {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| {
                let Data { a, b, both, sums, .. } = data;
                let (a, b) = layout.of.vectors(a, b, both, size);
                peers.dot(a, b, size, sums)
            };
            let roundings = peers::roundings(size);
            let outcome = move |data: &mut Data| self.outcome(data, 1, roundings);
            let row = peers::row(format!("cublas-sdot-{}", layout.name), library, launch, outcome);
            row.bytes(self.bytes()).operations(2 * size as u64)
        };
        Ok(self.options.layouts.chosen().into_iter().map(row).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.scratch.poison()?;
        data.sums.poison()
    }
}

impl Dot {
    fn variant(
        &self,
        method: &VariantSpec<Method>,
        layout: &VariantSpec<Layout>,
        best: LaunchConfig,
    ) -> Variant<'_, Data> {
        let size = self.a.len();
        let (of, place) = (method.of, layout.of);
        let launch = if of == Method::Best { best } else { LaunchConfig::linear(size, self.options.block) };
        // The best kernel leaves one sum.
        let left = if of == Method::Best { 1 } else { launch.grid[0] as usize };
        let tree = u64::from(launch.block[0].ilog2()) + 1;
        let roundings = match of {
            // Roundings of the product, a thread's sums, a tree, the blocks' sums, and another
            // tree.
            Method::Best => {
                1 + blocks::numbers_of_a_thread(size, launch.grid[0]) + 2 * tree + u64::from(launch.grid[0])
            }
            // Roundings of the product and a tree. The blocks' sums are added in higher precision.
            Method::Global | Method::Shared => 2 + tree,
        };
        Variant::new(
            format!("{}-{}", method.name, layout.name),
            move |data: &mut Data, launcher| {
                let Data { a, b, both, scratch, sums, slots } = data;
                let (a, b) = place.vectors(a, b, both, size);
                let (all_a, all_b) = (a.first(size), b.first(size));
                match of {
                    Method::Global => launcher.launch(&kernel::dot_global, &launch, (all_a, all_b, scratch, sums)),
                    Method::Shared => launcher.launch(&kernel::dot_shared, &launch, (all_a, all_b, sums)),
                    // SAFETY: both vectors have `size` elements, and the slots are those of the
                    // grid, all 0.
                    Method::Best => unsafe {
                        launcher.launch_unchecked(&best_kernels::dot::dot_best, &launch, (a, b, size, sums, slots))
                    },
                }
            },
            move |data| self.outcome(data, left, roundings),
        )
        .axis("tree_in", method.name)
        .axis("layout", layout.name)
        .fact("grid", json!(launch.grid))
        .bytes(self.bytes())
        .operations(2 * size as u64)
        .computes("the product", size_of::<f32>() as u64)
    }

    /// Compares the sum of this many blocks' results with the reference.
    fn outcome(&self, data: &mut Data, blocks: usize, roundings: u64) -> Result<Outcome> {
        let sums = data.sums.read()?;
        let sum: f64 = sums[..blocks].iter().copied().map(f64::from).sum();
        let expected = self.expected;
        Ok(Outcome::near(Shape::Scalar, vec![sum as f32], Tolerance::Roundings(roundings), |_, _| expected))
    }

    /// The size of both vectors in bytes.
    fn bytes(&self) -> u64 {
        2 * size_of_val(self.a.as_slice()) as u64
    }
}

impl Layout {
    /// The vectors stored this way.
    fn vectors<'d>(
        self,
        a: &'d Buffer<f32>,
        b: &'d Buffer<f32>,
        both: &'d Buffer<f32>,
        size: usize,
    ) -> (Tail<'d, f32>, Tail<'d, f32>) {
        match self {
            Self::Linear => (both.tail(0), both.tail(size)),
            Self::Aligned => (a.tail(0), b.tail(0)),
        }
    }
}
