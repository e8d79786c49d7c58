//! The dot product in global and in shared memory. The kernels and what they show are in `kernels::dot`. Listed in
//! [`super::ALL`] and run by [`super::flow`]; it writes only its own buffers.

use std::path::PathBuf;
use std::rc::Rc;

use best_kernels::blocks;
use clap::Args;
use device::flag_values::power_of_two;
use device::peers::Peers;
use device::random::Random;
use device::{Buffer, Device, LaunchConfig, Result, Tail};
use kernels::dot as kernel;
use serde_json::{Value, json};

use super::best::slots;
use super::compare::{Reference, Shape};
use super::inputs::{DefaultSize, Room, VectorFlags, named, second_vector};
use super::lab::{Lab, Outcome, Plan, Variant, chosen};
use super::settings::Settings;
use crate::peers::{self, Peer};
use crate::report::{Cost, LabReport, Subject, Tolerance};
use crate::units::{as_fast, three_digits};

/// No multiple of 8, so that the second of two linear vectors starts in the middle of a sector.
const SIZE: DefaultSize = DefaultSize { on_gpu: (1 << 27) + 1, on_simulator: (1 << 16) + 1 };

/// Both vectors twice and a product for each thread on the device; the vectors on the host.
const ROOM: Room = Room { what: "the dot product of vectors", on_device: 5, on_host: 2 };

/// A sector has 32 bytes.
const FLOATS_OF_A_SECTOR: usize = 8;

/// The flags of `host dot`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Add up in global memory
    #[arg(long, help_heading = "Methods (default: all)")]
    pub global: bool,
    /// Add up in shared memory
    #[arg(long, help_heading = "Methods (default: all)")]
    pub shared: bool,
    /// Many pairs per thread, then shuffles, in one launch
    #[arg(long, help_heading = "Methods (default: all)")]
    pub best: bool,
    /// The second vector directly after the first, in one allocation
    #[arg(long, help_heading = "Layouts (default: both)")]
    pub linear: bool,
    /// Each vector at the start of an allocation
    #[arg(long, help_heading = "Layouts (default: both)")]
    pub aligned: bool,

    /// The first vector.
    #[command(flatten)]
    pub a: VectorFlags,
    /// Take the second vector from this NumPy file instead of a random one
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub input_b: Option<PathBuf>,
    /// Threads of a block of --global and --shared: a power of two from 32 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = power_of_two(32, 1024))]
    pub block: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Global,
    Shared,
    Best,
}

#[derive(Clone, Copy)]
enum Layout {
    Linear,
    Aligned,
}

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
    const ABOUT: &'static str = "A tree in global and in shared memory; a vector off a sector's start";
    const SUBJECTS: &'static [Subject] =
        &[Subject::GlobalRequests, Subject::GlobalLoads, Subject::SharedLoads, Subject::Instructions];
    const PEERS: &'static [Peer] = &[Peer::Cublas];
    const SHAPED: bool = true;
    type Options = Options;
    type Data = Data;

    fn new(device: &Device, options: Options, settings: &Settings) -> Result<Self> {
        let mut random = Random::new(settings.seed);
        let a: Vec<f32> = options.a.vector(device, SIZE, ROOM, &mut random)?;
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
        let best = LaunchConfig::from(blocks::launch(size, device.multiprocessors()));
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
        let options = &self.options;
        let memories =
            chosen(&[(Memory::Global, options.global), (Memory::Shared, options.shared), (Memory::Best, options.best)]);
        let places = options.places();
        let variants = memories.into_iter().flat_map(|memory| places.iter().map(move |&place| (memory, place)));
        Ok(Plan::new(data, variants.map(|(memory, place)| self.variant(memory, place, best)).collect()))
    }

    fn peers<'a>(&'a self, _device: &Device, peers: &Rc<Peers>, _data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cublas() else { return Ok(Vec::new()) };
        let size = self.a.len();
        let row = |place: Layout| {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| {
                let Data { a, b, both, sums, .. } = data;
                let (a, b) = place.of(a, b, both, size);
                peers.dot(a, b, size, sums)
            };
            let roundings = peers::roundings(size);
            let outcome = move |data: &mut Data| self.outcome(data, 1, roundings);
            let row = peers::row(format!("cublas-sdot-{}", place.name()), library, launch, outcome);
            row.bytes(self.bytes()).operations(2 * size as u64)
        };
        Ok(self.options.places().into_iter().map(row).collect())
    }

    fn reset(&self, data: &mut Data) -> Result<()> {
        data.scratch.poison()?;
        data.sums.poison()
    }

    fn conclude(&self, report: &LabReport) -> Vec<String> {
        let requests = |name| {
            let global = report.counters(name)?.global;
            Some(global.load.requests + global.store.requests)
        };
        let counted = || {
            let (global, shared) = (requests("global-aligned")?, requests("shared-aligned")?);
            Some(format!(
                "With the tree in global memory there are {global} requests to it; in shared memory {shared} are \
                 left, for the vectors and the blocks' sums."
            ))
        };
        let sectors = || {
            let of = |name| Cost::of_loads(report.counters(name)?);
            let (linear, aligned) = (of("shared-linear")?, of("shared-aligned")?);
            let of_aligned = three_digits(aligned.per_request);
            let same = three_digits(linear.per_request) == of_aligned;
            match (same, self.a.len().is_multiple_of(FLOATS_OF_A_SECTOR)) {
                (false, _) => {
                    Some(format!("A load takes {linear} of linear vectors and {of_aligned} of aligned ones."))
                }
                (true, true) => Some(
                    "Linear vectors of this length end where a sector does, so aligned ones are no better: try a \
                     length that is not a multiple of 8."
                        .to_owned(),
                ),
                // The vectors are too short to tell.
                (true, false) => None,
            }
        };
        let time = || {
            let times = report.speedup("shared-aligned", "global-aligned")?;
            Some(format!("Shared memory is {} as global memory.", as_fast(times)))
        };
        [time(), counted(), sectors()].into_iter().flatten().collect()
    }
}

impl Dot {
    fn variant(&self, memory: Memory, place: Layout, best: LaunchConfig) -> Variant<'_, Data> {
        let size = self.a.len();
        let launch = if memory == Memory::Best { best } else { LaunchConfig::linear(size, self.options.block) };
        // The best kernel leaves one sum.
        let left = if memory == Memory::Best { 1 } else { launch.grid[0] as usize };
        let (memory_name, place_name) = (memory.name(), place.name());
        let tree = u64::from(launch.block[0].ilog2()) + 1;
        let roundings = match memory {
            // Roundings of the product, a thread's sums, a tree, the blocks' sums, and another tree.
            Memory::Best => {
                1 + blocks::numbers_of_a_thread(size, launch.grid[0]) + 2 * tree + u64::from(launch.grid[0])
            }
            // Roundings of the product and a tree. The blocks' sums are added in higher precision.
            Memory::Global | Memory::Shared => 2 + tree,
        };
        Variant::new(
            format!("{memory_name}-{place_name}"),
            move |data: &mut Data, launcher| {
                let Data { a, b, both, scratch, sums, slots } = data;
                let (a, b) = place.of(a, b, both, size);
                let (all_a, all_b) = (a.first(size), b.first(size));
                match memory {
                    Memory::Global => launcher.launch(&kernel::dot_global, &launch, (all_a, all_b, scratch, sums)),
                    Memory::Shared => launcher.launch(&kernel::dot_shared, &launch, (all_a, all_b, sums)),
                    // SAFETY: both vectors have `size` elements, and the slots are those of the grid, all 0.
                    Memory::Best => unsafe {
                        launcher.launch_unchecked(&best_kernels::dot::dot_best, &launch, (a, b, size, sums, slots))
                    },
                }
            },
            move |data| self.outcome(data, left, roundings),
        )
        .axis("memory", memory_name)
        .axis("layout", place_name)
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

impl Memory {
    fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Best => "best",
        }
    }
}

impl Options {
    /// How the vectors are stored.
    fn places(&self) -> Vec<Layout> {
        chosen(&[(Layout::Linear, self.linear), (Layout::Aligned, self.aligned)])
    }
}

impl Layout {
    /// The vectors stored this way.
    fn of<'d>(
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

    fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Aligned => "aligned",
        }
    }
}
